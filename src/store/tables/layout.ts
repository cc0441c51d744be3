import { type MessageRecord, sumOfText, type Version } from '../../graph/graph.ts';
import type { Totals } from './records.ts';

/**
 * The layout of the database.
 *
 * A database has one counter. Each changed record takes the next number, and a message lies at its number: its topology in
 * `nodes`, its body in `bodies`, both at `[chatId, seq]`. So what changed after a number is a range of keys.
 *
 * Older messages are packed, sixty-four in a record (`pack.ts`), at `[chatId, last]`, where `last` is the greatest number in
 * it: the record for a number is the first one from that number on. A packed message that changes is written as a row of its
 * own; of two rows with one key the greater number counts.
 *
 * Ends and marks are `facts`, one row each. The row of a chat has the number of its last change: the greatest of these is the
 * counter, and `changesSince` knows which chats to look at. The records of a deleted chat lie at numbers up to that of the
 * deletion ({@link StoredChat.from}), those of a chat that began anew under its id behind it: deleting the chat for good
 * deletes a range.
 */
export const LAYOUT = {
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
  /** Values of the app, and our own, by key. */
  values: {},
  /** Bytes by their hash. */
  blobs: {},
  /** {@link StoredUse}: which chat refers to which bytes. */
  uses: { keyPath: ['chatId', 'hash'], indexes: { hash: 'hash' } },
} as const;

/** The keys and indexes of a table. */
export interface Shape {
  readonly keyPath?: string | readonly string[];
  readonly indexes?: Readonly<Record<string, string | readonly string[]>>;
}

/** A table of the database. */
export type Table = keyof typeof LAYOUT;

/** All tables. */
export const TABLES = Object.keys(LAYOUT) as Table[];

/** The state of the database: its record at 'self' counts as long as it has no chat, and then the last changed row of a chat. */
export interface Meta {
  /** Its random id, made with it. */
  readonly database: string;
  readonly generation: number;
  /** The counter. */
  readonly seq: number;
}

/** The record of a new database. */
export function createMeta(): Meta {
  return { database: createHexId(), generation: 0, seq: 0 };
}

/** 32 random hexadecimal digits. `randomUUID` takes a tenth of the time of random numbers, but needs a secure context. */
export function createHexId(): string {
  if (typeof crypto.randomUUID === 'function') return crypto.randomUUID().replaceAll('-', '');
  const words = crypto.getRandomValues(new Uint32Array(4));
  return Array.from(words, (word) => word.toString(16).padStart(8, '0')).join('');
}

/** The row of a chat, with the state of the database at its last change; that of a deleted chat has no totals. */
export interface StoredChat extends Meta {
  readonly id: string;
  /** Records up to this number belong to a deleted chat. */
  readonly from: number;
  readonly totals?: Totals;
  /** The chat keys of its records. */
  readonly keys: readonly string[];
  /** Chat keys of this id that were deleted for good: a set that only grows. */
  readonly deleted: readonly string[];
  /** A deleted chat of this id that can be restored. */
  readonly kept?: Kept;
  /** The number at which the chat was restored: a reader that has read less reads everything. */
  readonly restored?: number;
}

/** A deleted chat that can be restored until then, in ms since epoch. Its records have the numbers `from` to `to`. */
export interface Kept {
  readonly until: number;
  readonly from: number;
  readonly to: number;
  readonly keys: readonly string[];
  readonly totals: Totals;
  /** Its local records, which have no number. */
  readonly local: readonly (readonly [name: string, value: unknown])[];
}

/** How many messages a pack has. */
export const PACK = 64;

/** A message in the database: the shown version, without its body. */
export interface StoredMessage extends MessageRecord {
  readonly seq: number;
}

/** A body in the database; `message` has names in place of its files (`files.ts`). */
export interface StoredBody extends Pick<Version, 'rev' | 'by' | 'sum'> {
  /** The number of its message. */
  readonly seq: number;
  readonly key: string;
  readonly message: unknown;
}

/** An end or a mark: `text` is a {@link summed} JSON text. */
export interface StoredFact {
  readonly chatId: string;
  readonly kind: 'ends' | 'mark';
  readonly id: string;
  /** The chat key: a chat that begins anew has a `main` of its own. */
  readonly chat: string;
  readonly seq: number;
  readonly text: string;
}

/**
 * Which chat refers to which bytes, with the number of its last message that did. Without a chat (''): kept `until` then, in ms
 * since epoch.
 */
export interface StoredUse {
  readonly chatId: string;
  readonly hash: string;
  readonly seq: number;
  readonly until?: number;
}

/** JSON as a record: a database reads text several times faster than objects. A checksum in front reveals damage. */
export function summed(json: string): string {
  const text = narrowed(json);
  return sumOfText(text) + text;
}

export const SUM_LENGTH = 6;

/** The object in a text; undefined where its checksum is wrong. */
export function readText(record: unknown): object | undefined {
  if (typeof record !== 'string') return undefined;
  const json = record.slice(SUM_LENGTH);
  return sumOfText(json) === record.slice(0, SUM_LENGTH) ? parsed(json) : undefined;
}

/** An object of JSON; undefined for anything else. */
export function parsed(json: unknown): object | undefined {
  try {
    const value: unknown = JSON.parse(json as string);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The message in a row; undefined for a damaged one. */
export function messageIn(text: string | undefined): StoredMessage | undefined {
  return asMessage(readText(text));
}

/** The key in the damaged text of a message, if it can be read. */
export function keyIn(text: unknown): string | undefined {
  return /"key":"(key:[^"]*)"/.exec(String(text))?.[1];
}

/** The value as a message, if it is one. */
export function asMessage(value: object | undefined): StoredMessage | undefined {
  const { key, parent, seq, versions } = Object(value) as Partial<StoredMessage>;
  const isPlaced =
    typeof key === 'string' && typeof seq === 'number' && (parent === null || typeof parent === 'string');
  return isPlaced && Array.isArray(versions) && versions.length > 0 ? (value as StoredMessage) : undefined;
}

/** The body in a text. A body that the disk has changed is shown; `examine()` reports it. */
export function bodyIn(text: unknown): StoredBody | undefined {
  return typeof text === 'string' ? asBody(parsed(text.slice(SUM_LENGTH))) : undefined;
}

/** The value as a body, if it is one. */
export function asBody(item: unknown): StoredBody | undefined {
  const { key, seq, message } = Object(item) as Partial<StoredBody>;
  const { parts } = Object(message) as { readonly parts?: unknown };
  return typeof key === 'string' && typeof seq === 'number' && Array.isArray(parts)
    ? (item as StoredBody)
    : undefined;
}

/**
 * JSON with one byte a character, where that makes it shorter. Browsers store a text with two bytes a character as soon as one
 * is not among the first 256, so a single emoji doubles a pack. Escaped, the emoji takes six bytes more and reads as the same.
 */
export function narrowed(json: string): string {
  if (!WIDE.test(json) || wideIn(json) * 5 >= json.length) return json;
  // Only JSON makes a new text: one that is derived from a two-byte text keeps two bytes.
  const escaped = json.replaceAll(ALL_WIDE, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return JSON.parse(JSON.stringify(escaped)) as string;
}

const WIDE = /[\u0100-\uffff]/;
const ALL_WIDE = /[\u0100-\uffff]/g;

function wideIn(text: string): number {
  let count = 0;
  for (let i = 0; i < text.length; i += 1) if (text.charCodeAt(i) > 0xff) count += 1;
  return count;
}

/** A key in IndexedDB's order: numbers, then texts, then lists, compared item by item. */
export type Key = string | number | readonly Key[];

/** All keys. */
export const ALL: Range = { from: -Infinity, to: [[]] };

/** The keys from one to another; with `isAfter` without the first. */
export interface Range {
  readonly from: Key;
  readonly to: Key;
  readonly isAfter?: boolean;
}

/** All keys with this prefix: strings and numbers come before lists. */
export function within(...prefix: Key[]): Range {
  return { from: prefix, to: [...prefix, []] };
}

/** One key. */
export function only(key: Key): Range {
  return { from: key, to: key };
}

/** The places of a chat after a number, up to another one. */
export function after(chatId: string, seq: number, to: number = Infinity): Range {
  return { from: [chatId, seq], to: [chatId, to], isAfter: true };
}

/** The tables: in IndexedDB (`connection.ts`), or in memory (`memoryTables.ts`). */
export interface Database {
  readonly persistence: 'indexeddb' | 'memory';
  /** Runs reads in one transaction. */
  read<T>(work: (rows: Rows) => Promise<T>): Promise<T>;
  /** Runs a transaction, all or nothing: strict, or `isRelaxed`, where a power cut may undo it. */
  write<T>(work: (rows: Rows) => Promise<T>, isRelaxed?: boolean): Promise<T>;
  /** Begins to write a row synchronously; false where it can't. */
  putNow(table: Table, value: unknown, key: Key): boolean;
  /** Takes the lock of a message; call the result to release it. */
  hold(chatId: string, key: string): Promise<() => void>;
  /** The keys of the chat's messages that some tab holds. */
  held(chatId: string): Promise<ReadonlySet<string>>;
  /** Writes the note beside the database that reveals a loss. */
  keepNote?(): Promise<void>;
  /** Closes the connection for good: running transactions end, and none begins any more. */
  close(): void;
}

/** The reads and writes of a transaction. Unreadable records are left out, or undefined. */
export interface Rows {
  /** The record at a key, or the first one in a range. */
  get<T>(table: Table, key: Key | Range): Promise<T | undefined>;
  /** Records of a range. */
  all<T>(table: Table, range?: Range, index?: string, limit?: number): Promise<T[]>;
  /** The records of a range with their keys. */
  entries<T>(table: Table, range: Range): Promise<[Key, T | undefined][]>;
  /** The keys of records, in the order of the table or of an index. */
  keys(table: Table, range?: Range, index?: string, limit?: number): Promise<Key[]>;
  /** The record with the greatest key of an index; undefined for an empty one. */
  last<T>(table: Table, index: string): Promise<T | undefined>;
  put(table: Table, value: unknown, key?: Key): void;
  /** {@link ALL} deletes a whole table: a private window of WebKitGTK 2.50 crashes on `clear()`. */
  delete(table: Table, key: Key | Range): void;
}

export function isRange(key: Key | Range): key is Range {
  return typeof key === 'object' && !Array.isArray(key);
}
