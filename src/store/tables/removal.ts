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
import { deadKeys, readFacts, readMessages, readMeta, type Totals, totalsOf } from './records.ts';

// Deleting and restoring chats. A deleted chat leaves its row, with its chat keys. The records of a restorable one stay where
// they are, at numbers up to that of the deletion: nothing is moved when it is restored or deleted for good.

/**
 * Deletes a chat, and returns its new row; undefined when there is none, or it is another user's. `keepFor`: for how many ms it
 * can be restored; one of the same id that was deleted before can't be any more. `now`: ms since epoch.
 */
export async function remove(
  rows: Rows,
  chat: StoredChat,
  userId: string | undefined,
  keepFor: number,
  now: number,
): Promise<StoredChat | undefined> {
  const { id, from, keys, kept } = chat;
  const totals = chat.totals ?? (keepFor > 0 || !isInTime(kept, now) ? undefined : kept.totals);
  if (!totals || (userId !== undefined && totals.userId !== userId)) return undefined;
  const meta = await readMeta(rows);
  const seq = chat.totals ? meta.seq + 1 : chat.seq;
  const next: StoredChat = { ...meta, id, seq, from: seq, keys: [], deleted: deadKeys(chat) };
  if (keepFor > 0) {
    const entries = await rows.entries<unknown>('local', within(id));
    const local = entries.map(([key, value]) => [(key as [string, string])[1], value] as const);
    rows.delete('local', within(id));
    if (kept) await purgePart(rows, id, kept);
    rows.put('chats', { ...next, kept: { until: now + keepFor, from, to: seq, keys, totals, local } });
  } else {
    await purge(rows, id);
    rows.put('chats', { ...next, deleted: [...new Set([...next.deleted, ...keys])] });
  }
  return next;
}

/** Restores a deleted chat; undefined when it is too late, or another user has begun a chat of that id. */
export async function restore(
  rows: Rows,
  { kept, ...chat }: StoredChat,
  now: number,
): Promise<StoredChat | undefined> {
  if (!isInTime(kept, now) || (chat.totals && chat.totals.userId !== kept.totals.userId)) return undefined;
  const { id } = chat;
  const meta = await readMeta(rows);
  const seq = meta.seq + 1;
  const totals = chat.totals ? await totalsOfBoth(rows, id, kept, chat.totals) : kept.totals;
  const keys = [...new Set([...kept.keys, ...chat.keys])];
  const back: StoredChat = { ...chat, ...meta, seq, from: kept.from, totals, keys, restored: seq };
  for (const [name, value] of kept.local)
    if ((await rows.keys('local', only([id, name]))).length === 0) rows.put('local', value, [id, name]);
  rows.put('chats', back);
  return back;
}

function isInTime(kept: Kept | undefined, now: number): kept is Kept {
  return kept !== undefined && kept.until > now;
}

async function totalsOfBoth(rows: Rows, id: string, { from, totals }: Kept, other: Totals): Promise<Totals> {
  const [messages, { marks }] = await Promise.all([readMessages(rows, id, from), readFacts(rows, id, from)]);
  const { userId, branches } = totals;
  const change = { userId, now: other.updatedAt, branchCount: branches + other.branches };
  return totalsOf(messages, marks, change);
}

/** Deletes chats that can't be restored any more, and bytes that no message refers to. */
export async function sweep(rows: Rows, now: number): Promise<void> {
  for (const { kept, ...chat } of await rows.all<StoredChat>('chats')) {
    if (!kept || isInTime(kept, now)) continue;
    await (chat.totals ? purgePart(rows, chat.id, kept) : purge(rows, chat.id));
    rows.put('chats', { ...chat, deleted: deadKeys({ ...chat, kept }) });
  }
  const waiting = await rows.all<StoredUse>('uses', within(''));
  await forgetBlobs(
    rows,
    waiting.filter(({ until = 0 }) => until <= now),
  );
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
