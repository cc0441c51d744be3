import type { UIMessage } from 'ai';
import { previewOf, sumOfBody } from '../../src/graph/graph.ts';
import { markId } from '../../src/graph/marks.ts';
import type { ChatRecords, CommitOptions, ContextStore, StoreDelta } from '../../src/store/store.ts';

/** Messages in a row, as a store is handed them: with the key `key:ID`, behind the message of the id `after`, if any. */
export function lineOf(
  messages: readonly UIMessage[],
  after?: string,
  { record = 'main', parents, at = Date.now() }: LineOptions = {},
): StoreDelta {
  const key = (id: string): string => `key:${id}`;
  const rows = messages.map((body, i) => {
    const { id, role, parts } = body;
    const before = parents ? (parents[i] ?? undefined) : i === 0 ? after : messages[i - 1]?.id;
    const version = { rev: 1, by: 'author', status: 'complete', parts: parts.length } as const;
    return {
      key: key(id),
      id,
      parent: before === undefined ? null : key(before),
      role,
      at: at + i,
      createdAt: at + i,
      chat: 'chat:1',
      versions: [{ ...version, sum: sumOfBody(body), preview: previewOf(body), body }],
    };
  });
  const last = messages.at(-1)?.id ?? after ?? '';
  const ends = [{ id: record, at: 1, createdAt: 1, chat: 'chat:1', keys: [key(last)] }];
  const begun = { userId: 'u', createdAt: 1 };
  const marks = [{ id: markId.beginning('chat:1'), rev: 1, by: 'author', chat: 'chat:1', value: begun }];
  return { messages: rows, ends, marks: after === undefined ? marks : [] };
}

interface LineOptions {
  readonly record?: string;
  readonly parents?: readonly (string | null)[];
  /** The time of the first message; the others follow, a millisecond each. */
  readonly at?: number;
}

/** Who writes, of user `u`: nobody who has read the chat, or who last read this of it. */
export function writer(read?: ChatRecords): CommitOptions {
  const { database = '', generation = 0, seq: since = 0 } = read ?? {};
  return { userId: 'u', database, generation, since };
}

/** Writes chat `c` of user `u`, a thousand messages at a time; gives what the last commit answered. */
export async function writeLine(
  store: ContextStore,
  messages: readonly UIMessage[],
): Promise<ChatRecords | undefined> {
  let last: ChatRecords | undefined;
  const at = Date.now();
  for (let from = 0; from < messages.length; from += 1000) {
    const delta = lineOf(messages.slice(from, from + 1000), messages[from - 1]?.id, { at: at + from });
    last = await store.commit('c', delta, writer(last));
  }
  return last;
}
