import {
  after,
  type Kept,
  type Key,
  only,
  type Rows,
  type StoredChat,
  type StoredUse,
  type Table,
  within,
} from './layout.ts';
import { readFacts, readMessages, readMeta, type Totals, totalsOf } from './records.ts';

// Deleting and restoring chats. A deleted chat leaves its row, with its chat keys. The records of a restorable one stay where
// they are, at numbers up to that of the deletion: nothing is moved when it is restored or deleted for good.

/**
 * Deletes a chat, and returns its new row; undefined when there is none, or it is another user's. `keepFor`: for how many ms it
 * can be restored. `now`: ms since epoch.
 */
export async function remove(
  rows: Rows,
  chat: StoredChat,
  userId: string | undefined,
  keepFor: number,
  now: number,
): Promise<StoredChat | undefined> {
  const waiting = (chat.kept ?? []).filter(({ until }) => until > now);
  const totals = chat.totals ?? (keepFor > 0 ? undefined : waiting.at(-1)?.totals);
  if (!totals || (userId !== undefined && totals.userId !== userId)) return undefined;
  const meta = await readMeta(rows);
  const seq = chat.totals ? meta.seq + 1 : chat.seq;
  const { id, from, keys } = chat;
  const next: StoredChat = { ...meta, id, seq, from: seq, keys: [], deleted: chat.deleted };
  if (keepFor > 0) {
    const entries = await rows.entries<unknown>('local', within(id));
    const local = entries.map(([key, value]) => [(key as [string, string])[1], value] as const);
    rows.delete('local', within(id));
    const last: Kept = { until: now + keepFor, from, to: seq, keys, totals, local };
    const kept = await forgetLate(rows, { ...next, kept: [...(chat.kept ?? []), last] }, now);
    rows.put('chats', kept);
    return kept;
  }
  const gone = (chat.kept ?? []).flatMap((one) => one.keys);
  await purge(rows, id);
  rows.put('chats', { ...next, deleted: [...new Set([...chat.deleted, ...gone, ...keys])] });
  return next;
}

/** Restores the chat deleted last; undefined when it is too late, or another user has begun a chat of that id. */
export async function restore(rows: Rows, chat: StoredChat, now: number): Promise<StoredChat | undefined> {
  const last = chat.kept?.findLast(({ until }) => until > now);
  if (!last || (chat.totals && chat.totals.userId !== last.totals.userId)) return undefined;
  const { kept = [], id } = chat;
  const meta = await readMeta(rows);
  const seq = meta.seq + 1;
  const both = chat.totals && (await totalsOfBoth(rows, id, last, chat.totals));
  const totals = both ?? last.totals;
  const keys = [...new Set([...last.keys, ...chat.keys])];
  const others = kept.filter((one) => one !== last);
  const back = withKept({ ...chat, ...meta, seq, from: last.from, totals, keys, restored: seq }, others);
  for (const [name, value] of last.local)
    if ((await rows.keys('local', only([id, name]))).length === 0) rows.put('local', value, [id, name]);
  rows.put('chats', back);
  return back;
}

async function totalsOfBoth(rows: Rows, id: string, { from, totals }: Kept, other: Totals): Promise<Totals> {
  const [messages, { marks }] = await Promise.all([readMessages(rows, id, from), readFacts(rows, id, from)]);
  const { userId, branches } = totals;
  const change = { userId, now: other.updatedAt, branchCount: branches + other.branches };
  return totalsOf(messages, marks, change);
}

function withKept({ kept: _kept, ...chat }: StoredChat, kept: readonly Kept[]): StoredChat {
  return kept.length > 0 ? { ...chat, kept } : chat;
}

/** Deletes chats that can't be restored any more, and bytes that no message refers to. */
export async function sweep(rows: Rows, now: number): Promise<void> {
  for (const chat of await rows.all<StoredChat>('chats'))
    if (chat.kept?.some(({ until }) => until <= now)) rows.put('chats', await forgetLate(rows, chat, now));
  const waiting = await rows.all<StoredUse>('uses', within(''));
  await forgetBlobs(
    rows,
    waiting.filter(({ until = 0 }) => until <= now),
  );
}

async function forgetLate(rows: Rows, chat: StoredChat, now: number): Promise<StoredChat> {
  const { kept = [] } = chat;
  const late = kept.filter(({ until }) => until <= now);
  const stays = kept.filter((one) => !late.includes(one));
  if (stays.length === 0 && !chat.totals) await purge(rows, chat.id);
  else for (const one of late) await purgePart(rows, chat.id, one);
  const deleted = new Set([...chat.deleted, ...late.flatMap(({ keys }) => keys)]);
  return withKept({ ...chat, deleted: [...deleted] }, stays);
}

/** Deletes everything under an id. */
export async function purge(rows: Rows, id: string): Promise<void> {
  const uses = await rows.all<StoredUse>('uses', within(id));
  for (const table of [...NUMBERED, ...UNNUMBERED] as const) rows.delete(table, within(id));
  await forgetBlobs(rows, uses);
}

const NUMBERED: readonly Table[] = ['nodes', 'bodies', 'topologies', 'packs'];
const UNNUMBERED: readonly Table[] = ['facts', 'local', 'drafts', 'revisions'];

/** Deletes the records of a deleted chat, not those behind them: no pack contains both. */
async function purgePart(rows: Rows, id: string, { from, to }: Kept): Promise<void> {
  const part = after(id, from, to);
  const [messages, facts, uses] = await Promise.all([
    readMessages(rows, id, from),
    rows.keys('facts', part, 'seq'),
    rows.all<StoredUse>('uses', within(id)),
  ]);
  for (const table of NUMBERED) rows.delete(table, part);
  for (const key of facts) rows.delete('facts', key);
  for (const { key, seq } of messages)
    if (seq <= to) for (const table of ['drafts', 'revisions'] as const) rows.delete(table, within(id, key));
  await forgetBlobs(
    rows,
    uses.filter(({ seq }) => seq > from && seq <= to),
  );
}

/** Deletes references to bytes, and the bytes without references. */
async function forgetBlobs(rows: Rows, uses: readonly StoredUse[]): Promise<void> {
  for (const { chatId, hash } of uses) rows.delete('uses', [chatId, hash]);
  const users = await Promise.all(
    uses.map(({ hash }): Promise<Key[]> => rows.keys('uses', only(hash), 'hash', 1)),
  );
  for (const [i, { hash }] of uses.entries()) if (users[i]?.length === 0) rows.delete('blobs', hash);
}
