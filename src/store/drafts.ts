import type { UIMessage } from 'ai';
import { readBody } from './indexeddb/damage.ts';
import { type Key, ofChat, type Span, type Table } from './layout.ts';
import { SELF } from './meta.ts';
import { readChat, TRACES } from './rebuild.ts';
import { isBuried, type RemovedChat } from './removal.ts';
import type { Rows } from './rows.ts';

/**
 * What a growing answer has said so far.
 *
 * Twice a second its words are kept, and at each step. Written whole each time, an answer of a minute would be written
 * sixty times over. But what is new is mostly a few characters in one place: more words, more of what a tool is asked,
 * one more part. So the first draft is a row, and each later one says behind it only what is other in the JSON of the
 * message than it was before. Where that is most of it, and from time to time, the draft is written whole again, in
 * place of them all.
 *
 * The draft of a page that goes is a whole row behind all others, since that page can't read what there is.
 */
export type DraftRow = UIMessage | Patch | Tail;

/** From here to there, what the JSON of a message says instead. */
interface Patch {
  /** How many characters it had: what follows a lost row can't be told. */
  readonly of: number;
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** More of the last text, as earlier versions wrote it. */
interface Tail {
  readonly tail: string;
}

/** The draft of a message, put together; undefined where there is none. */
export async function readDraft(rows: Rows, chatId: string, id: string): Promise<UIMessage | undefined> {
  return whole(await rows.list('drafts', draftOf(chatId, id)));
}

/** Makes this the draft of a message, with as few words as it takes. */
export async function writeDraft(rows: Rows, chatId: string, draft: UIMessage): Promise<void> {
  const kept = await rows.list('drafts', draftOf(chatId, draft.id));
  // What lies behind the row of a page that has gone would count for nothing.
  const isGoingOn = wholeAt(kept) === 0 && (await rows.get('drafts', [chatId, draft.id])) !== undefined;
  const before = isGoingOn ? jsonOf(kept) : '';
  const patches = patchesOf(before, JSON.stringify(draft));
  const size = patches.reduce((sum, { text }) => sum + text.length, 0);
  if (size * 2 > before.length || kept.length > MANY) {
    if (kept.length > 0) rows.delete('drafts', draftOf(chatId, draft.id));
    rows.put('drafts', draft, [chatId, draft.id]);
  } else {
    for (const [i, patch] of patches.entries()) {
      const key: Key = [chatId, draft.id, kept.length + i];
      rows.put('drafts', patch, key);
    }
  }
}

/** Makes this the draft of a message, and reads nothing. What it leaves behind a settled message counts for nothing. */
export function writeLastDraft(rows: Rows, chatId: string, draft: UIMessage): void {
  rows.put('drafts', draft, [chatId, draft.id, LAST]);
}

/** The tables that {@link leftDrafts} looks into. */
export const LEFT: readonly Table[] = [...TRACES, 'drafts', 'meta'];

/**
 * The chats of which there are drafts and which are gone, deleted or cleared: a page that goes does not know it. What was
 * drafted in a chat that a disk lost stays.
 */
export async function leftDrafts(rows: Rows): Promise<string[]> {
  const keys = ((await rows.keys?.('drafts')) ?? []) as [chatId: string][];
  if (keys.length === 0) return [];
  const chatIds = [...new Set(keys.map(([chatId]) => chatId))];
  const [meta, ...chats] = await Promise.all([
    rows.get('meta', SELF),
    ...chatIds.map((chatId) => readChat(rows, chatId)),
  ]);
  return chatIds.filter((_, i) => {
    const chat: RemovedChat | undefined = chats[i];
    return chat ? isBuried(chat) : meta?.clearedSeq !== undefined;
  });
}

/** Takes these drafts away. */
export async function sweepDrafts(rows: Rows): Promise<void> {
  for (const chatId of await leftDrafts(rows)) rows.delete('drafts', ofChat(chatId));
}

/** Behind the numbers, as the order of keys has it. */
const LAST = 'last';

/** So many rows are read again with each draft at most; then the draft is written whole. */
const MANY = 256;

/** The keys of all that was drafted of a message. */
export function draftOf(chatId: string, id: string): Span {
  return { from: [chatId, id], to: [chatId, id, []] };
}

/** Where rows make no message any more, what the first of them says counts. */
function whole(rows: readonly DraftRow[]): UIMessage | undefined {
  const first = rows[wholeAt(rows)];
  if (!first || !isWhole(first)) return undefined;
  return rows.length === 1 ? first : (messageIn(jsonOf(rows), first.id) ?? first);
}

/** The draft as JSON: the last whole row, and what the rows behind it say. */
function jsonOf(rows: readonly DraftRow[]): string {
  const [first, ...more] = rows.slice(Math.max(0, wholeAt(rows)));
  let json = JSON.stringify(first);
  for (const row of more) {
    if ('tail' in row) json = withMore(json, row.tail);
    else if ('of' in row && row.of === json.length)
      json = json.slice(0, row.from) + row.text + json.slice(row.to);
  }
  return json;
}

function messageIn(json: string, id: string): UIMessage | undefined {
  try {
    const message = readBody(JSON.parse(json)) as UIMessage | undefined;
    return message?.id === id ? message : undefined;
  } catch {
    return undefined;
  }
}

/** Where the last row stands that is whole; -1 where there is none. */
function wholeAt(rows: readonly DraftRow[]): number {
  return rows.findLastIndex(isWhole);
}

function isWhole(row: DraftRow): row is UIMessage {
  return 'parts' in row;
}

/**
 * What makes one text another, one after the other: what is other before a piece that stands in both, and behind it. What a
 * tool is asked grows in two places at once, as it is said and as it is read; when it is asked for good, one of them goes,
 * and a word before the other changes.
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

/** What is looked for in both: behind a word that is another one by now, and longer than it takes to say where it stands. */
const PIECE = [16, 96] as const;

/** All between what two texts begin with and what they end with, for a text of so many characters in which one stands there. */
function patchOf(before: string, after: string, at: number, of: number): Patch {
  const from = sameFrom(before, after);
  const rest = sameTo(before, after, Math.min(before.length, after.length) - from);
  const text = after.slice(from, after.length - rest);
  return { of, from: at + from, to: at + before.length - rest, text };
}

/** How many characters two texts begin with. */
function sameFrom(a: string, b: string): number {
  let count = 0;
  while (count < a.length && count < b.length && a[count] === b[count]) count += 1;
  return count;
}

/** How many characters two texts end with, at most so many. */
function sameTo(a: string, b: string, most: number): number {
  let count = 0;
  while (count < most && a.at(-1 - count) === b.at(-1 - count)) count += 1;
  return count;
}

function withMore(json: string, tail: string): string {
  const message = JSON.parse(json) as UIMessage;
  const last = message.parts.at(-1);
  if (last?.type !== 'text' && last?.type !== 'reasoning') return json;
  return JSON.stringify({
    ...message,
    parts: [...message.parts.slice(0, -1), { ...last, text: last.text + tail }],
  });
}
