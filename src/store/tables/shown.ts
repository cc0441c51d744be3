import type { UIMessage } from 'ai';
import { hasWords, type MessageRecord, shownVersion } from '../../graph/graph.ts';
import type { Body, ChatRecords } from '../store.ts';
import { type Rows, type StoredBody, within } from './layout.ts';
import {
  answer,
  findLiving,
  growingIn,
  readBodies,
  readChat,
  readFacts,
  readMessages,
  readPlace,
  startOf,
} from './records.ts';

// The records of a chat, and its shown bodies, with those of drafts.

/** The records that changed after a number; without one all of them, and the local records. */
export async function recordsAfter(rows: Rows, chatId: string, since?: number): Promise<ChatRecords> {
  const readFrom = (seq: number) =>
    Promise.all([readMessages(rows, chatId, seq), readFacts(rows, chatId, seq)]);
  const [{ chat, meta }, read, local] = await Promise.all([
    readPlace(rows, chatId),
    readFrom(since ?? 0),
    since === undefined ? rows.entries<unknown>('local', within(chatId)) : [],
  ]);
  const from = startOf(chat, since ?? 0);
  const [messages, { ends, marks }] = from === (since ?? 0) ? read : await readFrom(from);
  const names = local.map(([key, value]) => [(key as [string, string])[1], value] as const);
  const own = since === undefined && chat.totals ? { local: Object.fromEntries(names) } : {};
  return { ...(await answer(rows, meta, chat, { messages, ends, marks }, messages)), ...own };
}

/**
 * The shown bodies of these keys, with names in place of their files; `records` tell where some lie, the others are looked up.
 */
export async function wordsOf(
  rows: Rows,
  chatId: string,
  keys: ReadonlySet<string>,
  records: readonly MessageRecord[],
): Promise<Map<string, Body>> {
  const found = new Map<string, StoredBody>();
  const take = async (seqs: readonly number[]): Promise<void> => {
    for (const body of (await readBodies(rows, chatId, seqs)).values())
      if (keys.has(body.key)) found.set(body.key, body);
  };
  const [chat] = await Promise.all([
    readChat(rows, chatId),
    take(records.flatMap(({ key, seq }) => (seq !== undefined && keys.has(key) ? [seq] : []))),
  ]);
  const growing = await growingIn(rows, chat, [], keys);
  const silent = new Set<string>();
  for (const record of records)
    if (record.seq !== undefined && !hasWords(shownVersion(record))) silent.add(record.key);
  const others = [...keys].filter((key) => !found.has(key) && !silent.has(key));
  if (others.length > 0)
    await take([...(await findLiving(rows, chat, others)).values()].map(({ seq }) => seq));
  const words = new Map<string, Body>();
  for (const { seq, key, rev, by, sum, message } of found.values())
    if (seq > chat.from) words.set(key, { rev, by, sum, message: message as UIMessage });
  for (const { draft, record } of growing) {
    const { rev, by, sum } = shownVersion(record);
    words.set(draft.key, { rev, by, sum, message: draft.message, isDraft: true });
  }
  return words;
}
