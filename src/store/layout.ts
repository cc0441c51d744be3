import type { UIMessage } from 'ai';
import type { Branch, Checkpoint, MessageNode, NodeInfo } from '../graph/graph.ts';
import type { DraftRow } from './drafts.ts';
import type { RemovedChat } from './removal.ts';
import type { Change } from './store.ts';

/**
 * Where things lie.
 *
 * Most questions about a chat are about its shape: what is the chain of this head, where are the forks, how does the
 * list begin? They need ids, parents and a line of text. Bodies are a hundred times larger, and a screen shows only the
 * last few. So a message is kept in two places: its topology and its body, both found by `[chatId, seq]`. `seq` counts
 * the messages of a chat, so messages that were written one after the other lie one after the other, and a
 * conversation is read in a few ranges instead of one request per message.
 *
 * One record per message is not enough. A database charges by the record: to read ten thousand bodies of a kilobyte as
 * ten thousand records takes as long as to clone ten thousand objects, four fifths of it for the records and one for
 * the bytes; the graph without bodies costs nearly as much as the graph with them; and writing ten thousand messages of
 * an import, each with its topology, its body, its change and their six entries in indexes, takes seconds. Yet a
 * message that stands still has no need of a record of its own. It will not change any more, and it will always be
 * read together with its neighbours.
 *
 * So there are two lives. The newest messages, the tail, are single records in `nodes` and `bodies`: an append touches
 * nothing but its own. When a block of {@link BLOCK} has at least {@link BLOCK} others behind it, it is sealed: its
 * topology becomes one record in `topologies`, its bodies one in `packs`, and the single records go. Parents are not
 * kept there where they are the message before; only the places where a chain jumps are, and those are few. What the
 * tables mean to the rest of the store does not change: `indexeddb/packedRows.ts` reads and writes both lives as if all
 * were single records, `indexeddb/pack.ts` says what a packed record looks like, `indexeddb/seal.ts` when and how.
 * Memory charges nothing by the record, so there everything stays single.
 *
 * The key begins with the chat everywhere, so nothing of one chat can be met in another, and a chat is forgotten by
 * deleting ranges. An id is only unique within its chat; where it is, the index `id` says of the tail, and `marks` of
 * sealed messages, a short text for thousands of them (`indexeddb/marks.ts`).
 *
 * What a sync would need is here from the first day: revisions, tombstones, the device that wrote, a number for each
 * change. What it can tell by itself is not kept: what has to be sent is what changed after the number that was sent
 * last (that number, and how far was read, are values under `contextree:`), so an outbox would say the same twice, and
 * be wrong after a crash once. `bodyHash` is a short sum that notices what the disk does to words; a hash for strangers
 * is made when something is sent, because making it for every message would cost every message its time. Whether bytes
 * are there is told by asking for them.
 *
 * `changes` has one row per thing, the last change of it, found by its number. A log would grow with every word ever
 * changed; this grows with what there is. In a database the number lies in the row of the thing (`changedRows.ts`), that
 * of a sealed message with its topology.
 */
export interface Tables {
  /**
   * Also those of deleted chats. The index `due` holds those whose content has yet to go, `recent` those of a user in the
   * order in which a list shows them, last to first.
   */
  readonly chats: RemovedChat;
  /** Topology of the tail; as the store sees it, of all messages. */
  readonly nodes: NodeInfo;
  /** Bodies of the tail; as the store sees it, of all messages. */
  readonly bodies: UIMessage;
  /** Topology of sealed messages, a block each. */
  readonly topologies: Topology;
  /** Bodies of sealed messages, a block each. */
  readonly packs: Pack;
  /** What sealed messages are found by, a group of blocks each. */
  readonly marks: MarkRecord;
  /** What streaming messages have said since they were stored, in pieces: under `[chatId, id]`, and behind it. */
  readonly drafts: DraftRow;
  /** Messages as they were before they were replaced. */
  readonly revisions: MessageNode;
  readonly branches: Branch;
  readonly checkpoints: Checkpoint;
  readonly changes: Change;
  /** Bytes that messages refer to, by their hash. */
  readonly blobs: { readonly hash: string; readonly bytes: Uint8Array };
  /** Which chat refers to which bytes. */
  readonly uses: { readonly chatId: string; readonly hash: string };
  /** Bytes that no message refers to yet, and until when they wait for one, ms since epoch. */
  readonly fresh: { readonly hash: string; readonly until: number };
  /** The app's own. */
  readonly values: unknown;
  readonly leases: Lease;
  /** One row, about the database itself. */
  readonly meta: Meta;
}

export type Table = keyof Tables;

/** How many messages are sealed together: those whose `seq` divided by it is the block's number. */
export const BLOCK = 64;

/** How many blocks are found by one record: those whose number divided by it is the group's number. */
export const GROUP = 64;

/** The topology of a block of messages. */
export interface Topology {
  readonly chatId: string;
  readonly block: number;
  /** Format version of `text`. */
  readonly v: number;
  /** A new one with each writing, so that who has decoded it before need not do so again. */
  readonly stamp: string;
  /** What the messages were found by up to version 3: short numbers made of chat and id. In format 2, both as a text. */
  readonly keys?: readonly (number | string)[];
  /** The smallest change number in it; older ones do not have it. */
  readonly first?: number;
  /** The largest change number in it. */
  readonly last: number;
  /** The rest, as JSON. */
  readonly text: string;
  /** The sum of `v` and `text` (`indexeddb/pack.ts`); from format 3 on. */
  readonly sum?: number;
  readonly lost?: Lost;
}

/** The bodies of a block of messages: JSON of a list with a place for each `seq`, null where there is no message. */
export interface Pack {
  readonly chatId: string;
  readonly block: number;
  readonly text: string;
  readonly lost?: Lost;
}

/** What the messages in a group of blocks are found by. */
export interface MarkRecord {
  readonly chatId: string;
  readonly group: number;
  /** A mark for each `seq`, blank where there is no message (`indexeddb/marks.ts`). */
  readonly text: string;
  /** The sum of all that. */
  readonly sum: number;
}

/** Damaged texts in whose place this record was written: what can't be read is kept, for someone who can. */
export type Lost = readonly unknown[];

/** Until when a node is held, ms since epoch; used where the platform has no locks. */
interface Lease {
  readonly chatId: string;
  readonly id: string;
  readonly until: number;
}

/** The last number of the change sequence, and who this is. */
export interface Meta {
  readonly seq: number;
  /** The number that everything was cleared at: a chat that somebody read before is gone on purpose, not lost. */
  readonly clearedSeq?: number;
  /** The moment of the last write, ms since epoch. */
  readonly at?: number;
  /** The call that wrote last: one whose answer got lost finds that it was carried out. */
  readonly by?: string;
  readonly deviceId: string;
  readonly databaseId: string;
}

/** Numbers come before strings, and strings before lists; lists are compared item by item. */
export type Key = number | string | readonly Key[];

/** The keys of a table and of its indexes: names of fields. A table without a key is told it with each row. */
export interface Shape {
  readonly key?: string | readonly string[];
  readonly indexes?: Readonly<Record<string, string | readonly string[]>>;
  /** The index whose field is a list, and that finds a row by each item of it. */
  readonly multiple?: string;
}

const byId: Shape = { key: ['chatId', 'id'] };

/** In a database, a row also has the number of its last change. */
const byChange = { changed: 'changed', chat: ['chatId', 'changed'] };

/** All tables. */
export const LAYOUT: Readonly<Record<Table, Shape>> = {
  chats: {
    key: 'id',
    indexes: { user: 'userId', recent: ['userId', 'updatedAt'], due: 'purgeAt', changed: 'changed' },
  },
  nodes: { key: ['chatId', 'seq'], indexes: { id: ['chatId', 'id'], ...byChange } },
  bodies: {},
  topologies: {
    key: ['chatId', 'block'],
    indexes: { id: 'keys', first: 'first', last: 'last', chat: ['chatId', 'last'] },
    multiple: 'id',
  },
  packs: { key: ['chatId', 'block'] },
  marks: { key: ['chatId', 'group'] },
  drafts: {},
  revisions: {},
  branches: { ...byId, indexes: byChange },
  checkpoints: { ...byId, indexes: byChange },
  changes: { key: ['chatId', 'kind', 'id'], indexes: { seq: 'seq', chat: ['chatId', 'seq'] } },
  blobs: { key: 'hash' },
  uses: { key: ['chatId', 'hash'], indexes: { hash: 'hash' } },
  fresh: { key: 'hash' },
  values: {},
  leases: byId,
  meta: {},
};

export const ALL_TABLES: readonly Table[] = Object.keys(LAYOUT) as Table[];

/** What is in chats, beside their rows: what a deleted chat loses. Bytes that it shared with others stay. */
export const CONTENT: readonly Table[] = ALL_TABLES.filter(
  (table) => !['chats', 'blobs', 'uses', 'fresh', 'values', 'meta'].includes(table),
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
