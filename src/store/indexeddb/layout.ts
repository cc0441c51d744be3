import type { DBSchema, IDBPDatabase, IDBPTransaction, StoreNames } from 'idb';
import type { Branch, Checkpoint, NodeInfo } from '../../graph/graph.ts';
import { createDeviceId } from '../device.ts';
import type { RemovedChat } from '../removal.ts';
import type { Change } from '../store.ts';

/**
 * Where things lie in the database.
 *
 * Most questions about a chat are about its shape: what is the chain of this head, where are the forks, how does the
 * list begin? They need ids, parents and a line of text. Bodies are a hundred times larger, and a screen shows only the
 * last few. So a message is kept in two places: its topology in `nodes`, its body in `bodies`, both under
 * `[chatId, seq]`. `seq` counts the messages of a chat, so messages that were written one after the other lie one after
 * the other, and a conversation is read in a few ranges instead of one request per message.
 *
 * The key begins with the chat everywhere, so nothing of one chat can be met in another, and a chat is forgotten by
 * deleting ranges. An id is only unique within its chat; the index `id` says which `seq` it has.
 *
 * Bodies are JSON text. A structured clone costs several times as much to read, and text is what an export, a hash or
 * a cipher wants.
 *
 * `changes` has one row per thing, the last change of it, found by its number. A log would grow with every word ever
 * changed; this grows with what there is. `meta` counts the numbers, and names the database and the device.
 */
export interface Layout extends DBSchema {
  /** The rows, also those of deleted chats. The index `due` holds those whose content has yet to go. */
  readonly chats: {
    readonly key: string;
    readonly value: RemovedChat;
    readonly indexes: { readonly user: string; readonly due: number };
  };
  readonly nodes: { readonly key: Place; readonly value: NodeInfo; readonly indexes: { readonly id: Name } };
  readonly bodies: { readonly key: Place; readonly value: string };
  /** What streaming messages have said since they were stored. */
  readonly drafts: { readonly key: Name; readonly value: string };
  /** Bodies that were replaced, with the topology of their time. */
  readonly revisions: {
    readonly key: [chatId: string, id: string, rev: number];
    readonly value: NodeInfo & { readonly body: string };
  };
  readonly branches: { readonly key: Name; readonly value: Branch & Made };
  readonly checkpoints: { readonly key: Name; readonly value: Checkpoint & Made };
  readonly changes: {
    readonly key: [chatId: string, kind: string, id: string];
    readonly value: Change;
    readonly indexes: { readonly seq: number; readonly chat: Place };
  };
  /** The app's own. */
  readonly values: { readonly key: string; readonly value: unknown };
  /** Until when a node is held, ms since epoch; used where the platform has no locks. */
  readonly leases: { readonly key: Name; readonly value: number };
  readonly meta: { readonly key: 'seq' | 'deviceId' | 'databaseId'; readonly value: number | string };
}

/** Where a message or a change lies: the chat, and a number. */
export type Place = [chatId: string, seq: number];

/** A thing by its id within its chat. */
export type Name = [chatId: string, id: string];

/** Order among its like: the number of the change that made it. */
export interface Made {
  readonly made?: number;
}

export type Store = StoreNames<Layout>;
export type Database = IDBPDatabase<Layout>;

/** The version of this layout. Later ones add stores and indexes; rows are brought up to date chat by chat. */
export const LAYOUT_VERSION = 1;

/** The stores that hold what is in chats, beside their rows: what a deleted chat loses. */
export const CONTENT = [
  'nodes',
  'bodies',
  'drafts',
  'revisions',
  'branches',
  'checkpoints',
  'changes',
  'leases',
] as const;

/** Makes the stores of a new database. */
export function createLayout(db: Database, tx: IDBPTransaction<Layout, Store[], 'versionchange'>): void {
  const chats = db.createObjectStore('chats', { keyPath: 'id' });
  chats.createIndex('user', 'userId');
  chats.createIndex('due', 'purgeAt');
  db.createObjectStore('nodes', { keyPath: ['chatId', 'seq'] }).createIndex('id', ['chatId', 'id'], {
    unique: true,
  });
  for (const name of ['bodies', 'drafts', 'values', 'leases', 'meta'] as const) db.createObjectStore(name);
  db.createObjectStore('revisions', { keyPath: ['chatId', 'id', 'rev'] });
  for (const name of ['branches', 'checkpoints'] as const)
    db.createObjectStore(name, { keyPath: ['chatId', 'id'] });
  const changes = db.createObjectStore('changes', { keyPath: ['chatId', 'kind', 'id'] });
  changes.createIndex('seq', 'seq', { unique: true });
  changes.createIndex('chat', ['chatId', 'seq']);
  const meta = tx.objectStore('meta');
  const entries = [
    [0, 'seq'],
    [createDeviceId(), 'deviceId'],
    [createDeviceId(), 'databaseId'],
  ] as const;
  // Should the disk refuse, the upgrade fails as a whole, and that is where it is heard of.
  for (const [value, key] of entries) meta.put(value, key).catch(() => undefined);
}

/** All keys of one chat: arrays sort behind every string and number. */
export function ofChat(chatId: string): IDBKeyRange {
  return IDBKeyRange.bound([chatId], [chatId, []]);
}

/** The keys of one chat from one number to another, both included. */
export function between(chatId: string, from: number, to: number): IDBKeyRange {
  return IDBKeyRange.bound([chatId, from], [chatId, to]);
}

/** In the order in which they were made. */
export function byAge<T extends Made>(rows: readonly T[]): T[] {
  return rows.toSorted((a, b) => (a.made ?? 0) - (b.made ?? 0));
}
