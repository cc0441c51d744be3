import type { UIMessage } from 'ai';
import type { Key, Span } from './layout.ts';
import type { Rows } from './rows.ts';

/**
 * What a growing answer has said so far.
 *
 * Twice a second its words are kept. Written whole each time, an answer of a minute would be written sixty times over.
 * But an answer grows at its end: so its first words are a row, and what was said since the row before is another one,
 * behind it. Only a draft that differs in anything else is written whole again, in place of them all.
 *
 * The draft of a page that goes is a whole row behind all others, since that page can't read what there is.
 */
export type DraftRow = UIMessage | Tail;

/** More of the last text. */
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
  const tail = wholeAt(kept) === 0 ? tailOf(whole(kept), draft) : undefined;
  if (tail === '') return;
  if (tail === undefined) {
    rows.delete('drafts', draftOf(chatId, draft.id));
    rows.put('drafts', draft, [chatId, draft.id]);
  } else {
    const key: Key = [chatId, draft.id, kept.length];
    rows.put('drafts', { tail }, key);
  }
}

/** Makes this the draft of a message, and reads nothing. What it leaves behind a settled message counts for nothing. */
export function writeLastDraft(rows: Rows, chatId: string, draft: UIMessage): void {
  rows.put('drafts', draft, [chatId, draft.id, LAST]);
}

/** Behind the numbers, as the order of keys has it. */
const LAST = 'last';

/** The keys of all that was drafted of a message. */
export function draftOf(chatId: string, id: string): Span {
  return { from: [chatId, id], to: [chatId, id, []] };
}

function whole(rows: readonly DraftRow[]): UIMessage | undefined {
  const [first, ...more] = rows.slice(Math.max(0, wholeAt(rows)));
  if (!first || 'tail' in first) return undefined;
  const said = more.map((row) => ('tail' in row ? row.tail : '')).join('');
  return said === '' ? first : withEnd(first, textAtEnd(first) + said);
}

/** Where the last row stands that is no tail; -1 where there is none. */
function wholeAt(rows: readonly DraftRow[]): number {
  return rows.findLastIndex((row) => !('tail' in row));
}

/** What a draft says beyond another one; undefined where that is not all in which they differ. */
function tailOf(before: UIMessage | undefined, after: UIMessage): string | undefined {
  if (!before) return undefined;
  const [old, now] = [textAtEnd(before), textAtEnd(after)];
  const isMore = now.startsWith(old) && sameButForEnd(before, after);
  return isMore ? now.slice(old.length) : undefined;
}

function sameButForEnd(a: UIMessage, b: UIMessage): boolean {
  return JSON.stringify(withEnd(a, '')) === JSON.stringify(withEnd(b, ''));
}

function textAtEnd(message: UIMessage): string {
  return lastText(message)?.text ?? '';
}

/** The message with another text at its end, where a text is; itself elsewhere. */
function withEnd(message: UIMessage, text: string): UIMessage {
  const last = lastText(message);
  return last ? { ...message, parts: [...message.parts.slice(0, -1), { ...last, text }] } : message;
}

function lastText({ parts }: UIMessage): Extract<UIMessage['parts'][number], { text: string }> | undefined {
  const last = parts.at(-1);
  return last?.type === 'text' || last?.type === 'reasoning' ? last : undefined;
}
