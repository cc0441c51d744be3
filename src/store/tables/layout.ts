import { type MessageRecord, sumOfText } from '../../graph/graph.ts';
import type { Totals } from './totals.ts';

/**
 * What lies where.
 *
 * A database has one counter. Each changed record takes the next number, and a message lies at its number: its topology
 * in `nodes` and its words in `bodies`, both at `[chatId, seq]`. A message that changes moves to its new number. So what
 * changed after a number is a range of keys, and there is nothing to keep beside the records: no change rows, no index.
 *
 * Older messages are sealed, sixty-four in a record (`pack.ts`): their topology in `topologies`, their words in `packs`,
 * both at `[chatId, last]`, where `last` is the greatest number in it. So the record that holds a number is the first one
 * from that number on. What changes after it was sealed is written as a row of its own; the old place stays, and
 * counts for nothing, because of two places of one key the greater number counts.
 *
 * Ends and marks are `facts`, one row each. The row of a chat tells the number of its last change, so the greatest of those
 * is the counter, and `changesSince` knows which chats to look at.
 *
 * What a chat had before it was deleted lies at numbers up to that of the deletion, and what began anew under its id
 * behind it. So a deleted chat is a number in the row of the chat ({@link StoredChat.from}), to restore it is another
 * number, and to forget it is to delete a range.
 */
export const LAYOUT: Readonly<Record<Table, Shape>> = {
  /** {@link Meta} at 'self'. */
  meta: {},
  /** {@link StoredChat}. */
  chats: { keyPath: 'id', indexes: { seq: 'seq' } },
  /** {@link summed} text of a {@link StoredMessage}, at `[chatId, seq]`. */
  nodes: {},
  /** Text of a {@link StoredBody}, at `[chatId, seq]`. */
  bodies: {},
  /** {@link StoredTopology}, at `[chatId, last]`. */
  topologies: {},
  /** {@link StoredPack}, at `[chatId, last]`. */
  packs: {},
  /** {@link StoredFact}: ends and marks. */
  facts: { keyPath: ['chatId', 'kind', 'id', 'chat'], indexes: { seq: ['chatId', 'seq'] } },
  /** Local records as they are, at `[chatId, name]`. */
  local: {},
  /** `drafts.ts`, at `[chatId, key, n]`. */
  drafts: {},
  /** Text of a {@link Revision}, at `[chatId, key, rev, by, sum]`. */
  revisions: {},
  /** Values of the app, and ours, by key. */
  values: {},
  /** Bytes by their hash. */
  blobs: {},
  /** {@link StoredUse}: which chat refers to which bytes. */
  uses: { keyPath: ['chatId', 'hash'], indexes: { hash: 'hash' } },
};

/** What a table is made of. */
export interface Shape {
  readonly keyPath?: string | readonly string[];
  readonly indexes?: Readonly<Record<string, string | readonly string[]>>;
}

/** A table of the database. */
export type Table = (typeof TABLES)[number];

/** All tables. */
export const TABLES = [
  'meta',
  'chats',
  'nodes',
  'bodies',
  'topologies',
  'packs',
  'facts',
  'local',
  'drafts',
  'revisions',
  'values',
  'blobs',
  'uses',
] as const;

/** What a database knows of itself. */
export interface Meta {
  /** Its random id, made with it. */
  readonly database: string;
  readonly generation: number;
  /** The counter is at least here: what was there before `clear()`, or before a loss. */
  readonly seq: number;
  /** A random id of this device, for those who join databases one day. */
  readonly deviceId: string;
}

/** The row of a chat; a deleted chat has one without totals. */
export interface StoredChat {
  readonly id: string;
  /** The number of its last change. */
  readonly seq: number;
  /** What lies at this number, or below it, is of a deleted chat. */
  readonly from: number;
  readonly totals?: Totals;
  /** The chat keys of its records. */
  readonly keys: readonly string[];
  /** Chat keys of this id that were deleted for good: a set that only grows. */
  readonly deleted: readonly string[];
  /** What can be restored, the last deleted at the end. */
  readonly kept?: readonly Kept[];
  /** The number at which it was restored: a reader that has read less reads all. */
  readonly restored?: number;
}

/** A deleted chat that can be restored until then, ms since epoch. Its records lie between two numbers. */
export interface Kept {
  readonly until: number;
  readonly from: number;
  readonly to: number;
  readonly keys: readonly string[];
  readonly totals: Totals;
  /** Its local records: they have no number. */
  readonly local: readonly (readonly [name: string, value: unknown])[];
}

/** So many messages are sealed in a record. */
export const PACK = 64;

/** A message as it lies in a database: of what is shown, without words. */
export interface StoredMessage extends MessageRecord {
  readonly seq: number;
  /** Whether its words are not there, though it has some: nobody who wrote it had them, or they were lost. */
  readonly isBare?: true;
}

/** A body as it lies in a database; `message` has names in place of its files (`files.ts`). */
export interface StoredBody {
  /** The number of its message. */
  readonly seq: number;
  readonly key: string;
  readonly rev: number;
  readonly by: string;
  readonly sum: string;
  readonly message: unknown;
}

/** An end or a mark: `text` is a {@link summed} JSON text. */
export interface StoredFact {
  readonly chatId: string;
  readonly kind: 'ends' | 'mark';
  readonly id: string;
  /** The chat key: a chat that begins anew has a branch record `main` beside that of the deleted one. */
  readonly chat: string;
  readonly seq: number;
  readonly text: string;
}

/**
 * Which chat refers to which bytes, and the number of the last message that did. No chat (''): bytes that wait for a
 * message, `until` then (ms since epoch).
 */
export interface StoredUse {
  readonly chatId: string;
  readonly hash: string;
  readonly seq: number;
  readonly until?: number;
}

// --- Texts ------------------------------------------------------------------------------------------------------------

/**
 * Records as text.
 *
 * A database reads JSON text several times faster than the same as objects. In front of each text stands its sum, so that
 * one which the disk has changed is known, and left out.
 */
export function summed(json: string): string {
  const text = narrowed(json);
  return sumOfText(text) + text;
}

/** How many characters a sum has. */
export const SUM_LENGTH = 6;

/** What a text says; undefined where it is not what was written. */
export function readText(record: unknown): object | undefined {
  if (typeof record !== 'string') return undefined;
  const json = record.slice(SUM_LENGTH);
  return sumOfText(json) === record.slice(0, SUM_LENGTH) ? parsed(json) : undefined;
}

/** An object that some JSON stands for; undefined where it stands for none. */
export function parsed(json: unknown): object | undefined {
  try {
    const value: unknown = JSON.parse(json as string);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** What the row of a message says; undefined for a damaged one. */
export function messageIn(text: string | undefined): StoredMessage | undefined {
  return asMessage(readText(text));
}

/** The key that a damaged text of a message tells; undefined where it tells none. */
export function keyIn(text: unknown): string | undefined {
  return /"key":"(key:[^"]*)"/.exec(String(text))?.[1];
}

/** A message, where something is one. */
export function asMessage(value: object | undefined): StoredMessage | undefined {
  const { key, parent, seq, versions } = Object(value) as Partial<StoredMessage>;
  const isPlaced =
    typeof key === 'string' && typeof seq === 'number' && (parent === null || typeof parent === 'string');
  return isPlaced && Array.isArray(versions) && versions.length > 0 ? (value as StoredMessage) : undefined;
}

/** The body that a text holds. Where the disk changed a letter of it, that is shown, and `examine()` tells. */
export function bodyIn(text: unknown): StoredBody | undefined {
  return typeof text === 'string' ? asBody(parsed(text.slice(SUM_LENGTH))) : undefined;
}

/** A body, where something is one. */
export function asBody(item: unknown): StoredBody | undefined {
  const { key, seq, message } = Object(item) as Partial<StoredBody>;
  const { parts } = Object(message) as { readonly parts?: unknown };
  return typeof key === 'string' && typeof seq === 'number' && Array.isArray(parts)
    ? (item as StoredBody)
    : undefined;
}

/**
 * A JSON text whose characters take a byte each, where that makes it shorter.
 *
 * Browsers keep a text either in one byte a character or in two, and it is two for all as soon as one is not among the
 * first 256. One emoji, one dash or one curly quote among sixty-four messages would so double what is written and read.
 * Escaped, such a character takes six bytes and reads as the same. Where they are many, as in Chinese, all stays as it
 * is.
 */
export function narrowed(json: string): string {
  if (!WIDE.test(json) || wideIn(json) * 5 >= json.length) return json;
  // What is made of a text that took two bytes a character still takes two, whatever is in it. JSON makes it anew, in one.
  return JSON.parse(JSON.stringify(json.replaceAll(ALL_WIDE, escaped))) as string;
}

/** That a text has no such character is told by how it is kept, without a look at it. */
const WIDE = /[\u0100-\uffff]/;
const ALL_WIDE = /[\u0100-\uffff]/g;

/** How many wide characters there are. */
function wideIn(text: string): number {
  let count = 0;
  for (let i = 0; i < text.length; i += 1) if (text.charCodeAt(i) > 0xff) count += 1;
  return count;
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

// --- Keys -------------------------------------------------------------------------------------------------------------

/** A key, in the order that IndexedDB has: numbers, then texts, then lists, which are compared item by item. */
export type Key = string | number | readonly Key[];

/** Keys from one to another; with `isAfter` without the first. */
export interface Range {
  readonly from: Key;
  readonly to: Key;
  readonly isAfter?: boolean;
}

/** All keys that begin so: strings and numbers come before lists. */
export function within(...prefix: Key[]): Range {
  return { from: prefix, to: [...prefix, []] };
}

/** This key alone. */
export function only(key: Key): Range {
  return { from: key, to: key };
}

/** Places of a chat after a number, up to another one. */
export function after(chatId: string, seq: number, to: number = Infinity): Range {
  return { from: [chatId, seq], to: [chatId, to], isAfter: true };
}

// --- What holds the tables --------------------------------------------------------------------------------------------

/** Where tables lie: in IndexedDB (`connection.ts`), or in memory (`memoryTables.ts`). */
export interface Database {
  readonly persistence: 'indexeddb' | 'memory';
  /** Reads of one moment. */
  read<T>(tables: readonly Table[], work: (rows: Rows) => Promise<T>): Promise<T>;
  /** A transaction, whole or not at all: strict, or `isRelaxed` where a power cut may take it along. */
  write<T>(tables: readonly Table[], work: (rows: Rows) => Promise<T>, isRelaxed?: boolean): Promise<T>;
  /** Begins to put a row in this very step; false where it can't. Nobody hears how it ends. */
  putNow(table: Table, value: unknown, key: Key): boolean;
  /** Takes the lock of a message; call the result to let go. */
  hold(chatId: string, key: string): Promise<() => void>;
  /** The keys of the chat's messages that some tab holds. */
  held(chatId: string): Promise<ReadonlySet<string>>;
  /** Notes elsewhere what there is, so that a loss will be noticed. */
  keepNote?(): Promise<void>;
  /** What has begun runs to its end; nothing else begins until {@link reopen}. */
  close(): void;
  reopen(): void;
}

/** What a transaction reads and writes. Records that can't be read are left out, or undefined. */
export interface Rows {
  /** The record at a key, or the first one in a range. */
  get<T>(table: Table, key: Key | Range): Promise<T | undefined>;
  /** Records of a range. */
  all<T>(table: Table, range?: Range, index?: string, limit?: number): Promise<T[]>;
  /** Records of a range at their keys. */
  entries<T>(table: Table, range: Range): Promise<[Key, T | undefined][]>;
  /** The keys of records, in the order of the table or of an index. */
  keys(table: Table, range?: Range, index?: string, limit?: number): Promise<Key[]>;
  count(table: Table, key?: Key | Range): Promise<number>;
  /** The greatest key of an index; undefined for an empty one. */
  last(table: Table, index: string): Promise<Key | undefined>;
  put(table: Table, value: unknown, key?: Key): void;
  delete(table: Table, key: Key | Range): void;
  clear(table: Table): void;
}

/** Whether this is a range, and no key. */
export function isRange(key: Key | Range): key is Range {
  return typeof key === 'object' && !Array.isArray(key);
}
