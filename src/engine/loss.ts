import { ContextError } from '../errors.ts';
import {
  hasWords,
  shownVersion,
  upward,
  type ChatDelta,
  type EndsRecord,
  type MessageRecord,
} from '../graph/graph.ts';
import { recordsOf } from '../graph/join.ts';
import { vouched } from '../store/door.ts';
import type { Body, CommitOptions } from '../store/store.ts';
import type { Writer } from './writer.ts';

// What to do when the browser cleared the database under an open page. Loaded when that happened.

/** Counts the messages that exist only here; another page may have written its own copy already. */
export async function countLoss({ desk, line, replica }: Writer): Promise<void> {
  const { chatId, store } = desk;
  const { messages, ends, marks } = recordsOf(replica.chat);
  const worded = messages.filter((record) => hasWords(shownVersion(record)));
  const read = worded.filter((record) => !isHere(record) && shownVersion(record).body);
  const keys = read.map(({ key }) => key);
  const none: ReadonlyMap<string, Body> = new Map();
  const there = keys.length > 0 ? await store.bodies(chatId, keys, read) : none;
  // The store may hold an earlier version.
  const isThere = (record: MessageRecord): boolean => {
    const [{ rev, by, sum }, body] = [shownVersion(record), there.get(record.key)];
    return body?.rev === rev && body.by === by && body.sum === sum;
  };
  const lost = worded.filter(isHere).length + read.filter((record) => !isThere(record)).length;
  const message =
    `The browser cleared what was saved of chat "${chatId}". It is still open here: say something, or call ` +
    'retry(), and it is written again.';
  line.lose(lost, new ContextError('data-loss', message, { details: { chatId, messages: lost } }));
  if (lost > 0) return;
  line.keep({
    messages: messages.filter(isHere).map(({ key }) => key),
    ends: ends.filter(isHere).map(({ id }) => id),
    marks: marks.filter(isHere).map(({ id }) => id),
  });
}

/** Whether a record exists only on this page. */
function isHere({ seq }: { readonly seq?: number }): boolean {
  return seq === undefined;
}

/**
 * Writes all that this page knows, in pieces, parents first, marks last. First settles the answers of dead tabs: their drafts
 * were lost with the database.
 */
export async function writeWhole(writer: Writer, options: () => CommitOptions): Promise<void> {
  const { chatId, store } = writer.desk;
  writer.others.take(await store.load(chatId));
  await writer.recover();
  for (const piece of piecesOf(writer)) {
    const delta = { ...piece, local: writer.local() };
    vouched.add(delta);
    writer.others.take(await store.commit(chatId, delta, options()));
  }
}

/** A whole replica in pieces, each with the ends that it makes reachable. */
function piecesOf({ replica: { chat } }: Writer): ChatDelta[] {
  const { messages, ends, marks } = recordsOf(chat);
  const pieces: ChatDelta[] = [];
  const written = new Set<string>();
  const reachedOf = (record: EndsRecord): EndsRecord => {
    const keys = record.keys.flatMap((end) => {
      for (const { key } of upward(chat, end)) if (written.has(key)) return [key];
      return [];
    });
    return { ...record, keys: [...new Set(keys)] };
  };
  for (let at = 0; at === 0 || at < messages.length; at += PIECE) {
    const piece = messages.slice(at, at + PIECE);
    for (const { key } of piece) written.add(key);
    const isLast = at + PIECE >= messages.length;
    pieces.push({ messages: piece, ends: isLast ? ends : ends.map(reachedOf), marks: isLast ? marks : [] });
  }
  return pieces;
}

/** How many messages one transaction takes. */
const PIECE = 1000;
