import type { UIMessage } from 'ai';
import { previewOf } from '../../graph/graph.ts';
import type { Draft, Growing } from '../store.ts';
import { type Rows, within } from './layout.ts';

/**
 * The draft of a growing answer. It is saved twice a second, and what is new is mostly a few characters in one place. So the
 * first draft is a row, and each later one is only the difference in the draft's JSON. If that is most of the draft, and every
 * so often, the draft is written whole again.
 *
 * The draft of a page that goes is a whole row behind the others, because that page can't read them. A draft belongs to one
 * version of its message, and is ignored when another one is shown.
 */
type DraftRow = string | Patch;

/** A replaced range of a draft's JSON. */
interface Patch {
  /** The length of the text before, in characters: a patch of another text is skipped. */
  readonly of: number;
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** All drafts of a chat, by the key of their message. */
export async function readDrafts(rows: Rows, chatId: string): Promise<Map<string, Draft>> {
  const lists = new Map<string, DraftRow[]>();
  for (const [place, row] of await rows.entries<DraftRow>('drafts', within(chatId))) {
    const key = (place as [string, string])[1];
    const list = lists.get(key) ?? [];
    if (row !== undefined) lists.set(key, [...list, row]);
  }
  const drafts = new Map<string, Draft>();
  for (const [key, list] of lists) {
    const draft = draftIn(list, key);
    if (draft) drafts.set(key, draft);
  }
  return drafts;
}

/** What a draft adds to its message, without the body. */
export function growingOf({ key, rev, by, message }: Draft): Growing {
  return { key, rev, by, parts: message.parts.length, preview: previewOf(message) };
}

/** Writes the draft of a message, in few characters. */
export async function writeDraft(rows: Rows, chatId: string, draft: Draft): Promise<void> {
  const entries = await rows.entries<DraftRow>('drafts', within(chatId, draft.key));
  const kept = entries.map(([, row]) => row);
  const isWhole = kept.every((row) => row !== undefined);
  const isGoingOn = isWhole && kept.findLastIndex((row) => typeof row === 'string') === 0;
  const before = isGoingOn ? jsonOf(kept) : '';
  const after = JSON.stringify(draft);
  const patches = patchesOf(before, after);
  const size = patches.reduce((sum, { text }) => sum + text.length, 0);
  if (size * 2 > before.length || kept.length > MANY) {
    if (kept.length > 0) forgetDraft(rows, chatId, draft.key);
    rows.put('drafts', after, [chatId, draft.key, 0]);
  } else
    for (const [i, patch] of patches.entries())
      rows.put('drafts', patch, [chatId, draft.key, kept.length + i]);
}

/** Removes the draft of a message. */
export function forgetDraft(rows: Rows, chatId: string, key: string): void {
  rows.delete('drafts', within(chatId, key));
}

/** The row name for the draft of a page that goes: as a text it comes after all numbers. */
export const LAST_DRAFT = 'last';

/** The most patches before the draft is written whole again. */
const MANY = 256;

/** The draft from its rows, or else from the last whole row. */
function draftIn(rows: readonly DraftRow[], key: string): Draft | undefined {
  const first = rows.findLast((row) => typeof row === 'string');
  return asDraft(jsonOf(rows), key) ?? asDraft(first, key);
}

function asDraft(json: string | undefined, key: string): Draft | undefined {
  try {
    const draft = JSON.parse(String(json)) as Draft;
    const { parts } = Object(draft.message) as Partial<UIMessage>;
    return draft.key === key && Array.isArray(parts) ? draft : undefined;
  } catch {
    return undefined;
  }
}

/** The draft as JSON: the last whole row, with the patches behind it. */
function jsonOf(rows: readonly DraftRow[]): string {
  const at = rows.findLastIndex((row) => typeof row === 'string');
  const first = rows[at];
  let json = typeof first === 'string' ? first : '';
  for (const row of rows.slice(at + 1)) {
    const { of, from, to, text } = row as Patch;
    if (of === json.length) json = json.slice(0, from) + text + json.slice(to);
  }
  return json;
}

/**
 * The patches from one text to another: the difference before a piece that both contain, and the one behind it. A tool call
 * grows in two places at once, its input as text and as a value.
 */
function patchesOf(before: string, after: string): Patch[] {
  const patch = patchOf(before, after, 0, before.length);
  const { of, from, to, text } = patch;
  const gone = before.slice(from, to);
  const isLonger = text.length > gone.length;
  const [long, short] = isLonger ? [text, gone] : [gone, text];
  const found = short.length < PIECE[1] ? -1 : long.indexOf(short.slice(...PIECE));
  const [inGone, inText] = isLonger ? [PIECE[0], found] : [found, PIECE[0]];
  const patches =
    found === -1
      ? [patch]
      : [
          patchOf(gone.slice(0, inGone), text.slice(0, inText), from, of),
          patchOf(gone.slice(inGone), text.slice(inText), from + inText, of + inText - inGone),
        ];
  return patches.filter((one) => one.from < one.to || one.text !== '');
}

/** The range of the piece, in characters: it skips the first word, which may change. */
const PIECE = [16, 96] as const;

/** The part between the equal beginning and the equal end of two texts, at an index in a text of that length. */
function patchOf(before: string, after: string, at: number, of: number): Patch {
  const most = Math.min(before.length, after.length);
  let [from, rest] = [0, 0];
  while (from < most && before[from] === after[from]) from += 1;
  while (rest < most - from && before.at(-1 - rest) === after.at(-1 - rest)) rest += 1;
  const text = after.slice(from, after.length - rest);
  return { of, from: at + from, to: at + before.length - rest, text };
}
