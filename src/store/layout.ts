import type { UIMessage } from 'ai';
import type { Branch, Checkpoint, MessageNode, NodeInfo } from '../graph/graph.ts';
import type { RemovedChat } from './removal.ts';
import type { Change } from './store.ts';

/**
 * Where things lie.
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
 * `changes` has one row per thing, the last change of it, found by its number. A log would grow with every word ever
 * changed; this grows with what there is.
 */
export interface Tables {
  /** Also those of deleted chats. The index `due` holds those whose content has yet to go. */
  readonly chats: RemovedChat;
  readonly nodes: NodeInfo;
  readonly bodies: UIMessage;
  /** What streaming messages have said since they were stored. */
  readonly drafts: UIMessage;
  /** Messages as they were before they were replaced. */
  readonly revisions: MessageNode;
  readonly branches: Branch;
  readonly checkpoints: Checkpoint;
  readonly changes: Change;
  /** The app's own. */
  readonly values: unknown;
  readonly leases: Lease;
  /** One row, about the database itself. */
  readonly meta: Meta;
}

export type Table = keyof Tables;

/** Until when a node is held, ms since epoch; used where the platform has no locks. */
interface Lease {
  readonly chatId: string;
  readonly id: string;
  readonly until: number;
}

/** The last number of the change sequence, and who this is. */
export interface Meta {
  readonly seq: number;
  readonly deviceId: string;
  readonly databaseId: string;
}

/** Numbers come before strings, and strings before lists; lists are compared item by item. */
export type Key = number | string | readonly Key[];

/** The keys of a table and of its indexes: names of fields. A table without a key is told it with each row. */
export interface Shape {
  readonly key?: string | readonly string[];
  readonly indexes?: Readonly<Record<string, string | readonly string[]>>;
}

const byId: Shape = { key: ['chatId', 'id'] };

/** All tables. */
export const LAYOUT: Readonly<Record<Table, Shape>> = {
  chats: { key: 'id', indexes: { user: 'userId', due: 'purgeAt' } },
  nodes: { key: ['chatId', 'seq'], indexes: { id: ['chatId', 'id'] } },
  bodies: {},
  drafts: {},
  revisions: {},
  branches: byId,
  checkpoints: byId,
  changes: { key: ['chatId', 'kind', 'id'], indexes: { seq: 'seq', chat: ['chatId', 'seq'] } },
  values: {},
  leases: byId,
  meta: {},
};

/** The version of this layout. Later ones add tables and indexes; rows are brought up to date chat by chat. */
export const LAYOUT_VERSION = 1;

export const ALL_TABLES: readonly Table[] = Object.keys(LAYOUT) as Table[];

/** What is in chats, beside their rows: what a deleted chat loses. */
export const CONTENT: readonly Table[] = ALL_TABLES.filter(
  (table) => !['chats', 'values', 'meta'].includes(table),
);

/** Keys from one to another, both included. */
export interface Span {
  readonly from: Key;
  readonly to: Key;
}

/** Just this key. */
export function only(key: Key): Span {
  return { from: key, to: key };
}

/** All keys of one chat: a list sorts behind every number and string. */
export function ofChat(chatId: string): Span {
  return { from: [chatId], to: [chatId, []] };
}

/** The keys of one chat from one number to another, both included. */
export function between(chatId: string, from: number, to: number): Span {
  return { from: [chatId, from], to: [chatId, to] };
}
