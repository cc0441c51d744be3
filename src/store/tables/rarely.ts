import type { UIMessage } from 'ai';
import { isContextError, refuseToLoad } from '../../errors.ts';
import * as door from '../door.ts';
import type { Change, ChatFilter, ChatRow, Damage, Revision, StorageFigures } from '../store.ts';
import {
  ALL,
  type Meta,
  readText,
  type Rows,
  type StoredChat,
  type Table,
  TABLES,
  within,
} from './layout.ts';
import {
  loadPacks,
  putFile,
  readChat,
  readFactRows,
  readMessages,
  readMeta,
  shownRow,
  startOf,
} from './records.ts';
import { purge, remove, restore } from './removal.ts';
import type { Access } from './usual.ts';

// The calls of a store that an app does not need for its first answer: see `ContextStore`.

export async function revisions(access: Access, chatId: string, key: string): Promise<readonly Revision[]> {
  const texts = await access.db.read(async (rows) =>
    (await readChat(rows, chatId)).totals ? rows.all<string>('revisions', within(chatId, key)) : [],
  );
  const revisions = texts.flatMap((text) => (readText(text) as Revision | undefined) ?? []);
  const messages = await access.attach(revisions.map(({ message }) => message));
  return revisions.map((revision, i) => ({ ...revision, message: messages[i] as UIMessage }));
}

export async function changesSince(
  { db }: Access,
  seq: number,
  limit: number = Infinity,
): Promise<readonly Change[]> {
  door.expect('number', 'change number', seq);
  door.expect('count?', 'limit', limit);
  const after = { from: seq, to: Infinity, isAfter: true };
  const lists = await db.read(async (rows) => {
    const chats = await rows.all<StoredChat>('chats', after, 'seq');
    return Promise.all(chats.map((chat) => changesOf(rows, chat, seq)));
  });
  const changes = lists.flat().toSorted((a, b) => a.seq - b.seq);
  return changes.slice(0, Math.max(limit, 0));
}

async function changesOf(rows: Rows, chat: StoredChat, since: number): Promise<Change[]> {
  const { id: chatId, seq, totals } = chat;
  const own: Change = { seq, kind: 'chat', op: totals ? 'put' : 'delete', chatId, id: chatId };
  if (!totals) return [own];
  const from = startOf(chat, since);
  const [messages, facts] = await Promise.all([
    readMessages(rows, chatId, from),
    readFactRows(rows, chatId, from),
  ]);
  const put = (kind: Change['kind'], id: string, seq: number): Change => ({
    seq,
    kind,
    op: 'put',
    chatId,
    id,
  });
  const puts = messages.map(({ key, seq }) => put('message', key, seq));
  return [...puts, ...facts.map(({ kind, id, seq }) => put(kind, id, seq)), own];
}

export async function listChats({ db }: Access, filter?: ChatFilter): Promise<readonly ChatRow[]> {
  const { userId, metadata, limit = Infinity, offset = 0 } = door.readOptions(filter, LIST);
  const from = Math.max(offset, 0);
  const end = from + Math.max(limit, 0);
  return db.read(async (rows) => {
    const found: ChatRow[] = [];
    const add = (chat: StoredChat | undefined): void => {
      const row = chat && shownRow(chat);
      const isAsked = userId === undefined || row?.userId === userId;
      if (row && isAsked && (!metadata || hasField(row, metadata))) found.push(row);
    };
    if (end === Infinity)
      for (const chat of (await rows.all<StoredChat>('chats', undefined, 'seq')).toReversed()) add(chat);
    else
      for (const id of (await rows.keys('chats', undefined, 'seq')).toReversed()) {
        if (found.length >= end) break;
        add(await rows.get<StoredChat>('chats', id));
      }
    return found.slice(from, end);
  });
}

const LIST: door.Fields = { userId: 'text?', metadata: 'filter?', limit: 'count?', offset: 'count?' };

function hasField({ metadata }: ChatRow, { key, value }: NonNullable<ChatFilter['metadata']>): boolean {
  return metadata !== undefined && Object.hasOwn(metadata, key) && metadata[key] === value;
}

export async function deleteChat(
  access: Access,
  chatId: string,
  options?: { readonly userId?: string; readonly keepFor?: number },
): Promise<boolean> {
  const { userId, keepFor = 0 } = door.readOptions(options, REMOVAL);
  const now = Date.now();
  const write = () =>
    access.db.write(async (rows) => {
      const chat = await readChat(rows, chatId);
      const gone = await remove(rows, chat, userId, Math.max(keepFor, 0), now);
      return gone && { seq: chat.totals && gone.seq };
    });
  const done = await write().catch(async (error: unknown) => {
    if (keepFor > 0 || !isContextError(error, 'quota-exceeded')) throw error;
    // Deleting a chat without a row that remembers it works on a full disk, and makes room.
    await access.db.write(async (rows) => {
      const { totals } = await readChat(rows, chatId);
      if (userId === undefined || totals?.userId === userId) await purge(rows, chatId);
    });
    return write();
  });
  if (done?.seq !== undefined) access.tell({ kind: 'change', chatId, seq: done.seq });
  if (done) access.tidyLater(keepFor);
  return done !== undefined;
}

const REMOVAL: door.Fields = { userId: 'text?', keepFor: 'number?' };

export async function restoreChat(access: Access, chatId: string): Promise<boolean> {
  const chat = await access.db.write(async (rows) => restore(rows, await readChat(rows, chatId), Date.now()));
  if (chat) access.tell({ kind: 'change', chatId, seq: chat.seq });
  return chat !== undefined;
}

export async function putBlob(access: Access, handed: Uint8Array): Promise<string> {
  door.expect('bytes', 'bytes', handed);
  // A copy, without the rest of the buffer.
  const bytes = handed.slice();
  const { hashOf } = await import('./files.ts').catch(refuseToLoad);
  const hash = await hashOf(bytes);
  await access.db.write((rows) => putFile(rows, hash, bytes));
  access.tidyLater();
  return hash;
}

export async function getBlob({ db }: Access, hash: string): Promise<Uint8Array | undefined> {
  const bytes = await db.read((rows) => rows.get('blobs', hash));
  if (!(bytes instanceof Uint8Array)) return undefined;
  const copy = bytes.slice();
  const { hashOf } = await import('./files.ts').catch(refuseToLoad);
  return (await hashOf(copy)) === hash ? copy : undefined;
}

export async function clear(access: Access): Promise<void> {
  const write = (tables: readonly Table[]): Promise<number> =>
    access.db.write(async (rows) => {
      const meta = await readMeta(rows);
      const next: Meta = { ...meta, generation: meta.generation + 1, seq: meta.seq + 1 };
      for (const table of tables) rows.delete(table, ALL);
      if (tables.includes('meta')) rows.put('meta', next, 'self');
      return next.seq;
    });
  const seq = await write(TABLES).catch(async (error: unknown) => {
    if (!isContextError(error, 'quota-exceeded')) throw error;
    await write(TABLES.filter((table) => table !== 'meta'));
    return write(TABLES);
  });
  access.tell({ kind: 'clear', seq });
}

export async function examine(
  access: Access,
  chatId: string,
  options?: { readonly repair?: boolean },
): Promise<readonly Damage[]> {
  const repair = options?.repair === true;
  const how = { repair, now: Date.now() };
  const [{ examineChat }] = await Promise.all([import('./examine.ts').catch(refuseToLoad), loadPacks()]);
  const work = async (rows: Rows) => examineChat(rows, await readChat(rows, chatId), how);
  if (!repair) return access.db.read(work);
  const damages = await access.db.write(work);
  if (damages.length > 0) access.tell({ kind: 'change', chatId, seq: 0 });
  return damages;
}

export async function storage(
  { db }: Access,
  options?: { readonly weigh?: boolean },
): Promise<StorageFigures> {
  const { figuresOf, weigh } = await import('./figures.ts').catch(refuseToLoad);
  const figures = await figuresOf(db);
  return options?.weigh === true ? { ...figures, kinds: await weigh(db) } : figures;
}
