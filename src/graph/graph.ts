import type { UIMessage } from 'ai';
import { textOf } from '../reminded.ts';

/**
 * A chat as a value that can be joined.
 *
 * Two tabs, a database that the browser cleared, a write whose answer got lost, a file, another device: each has a copy of a
 * chat, and each copy is valid. So a chat consists of records of which any two copies can be joined, in any order and any
 * number of times: messages under random keys, the versions of each message, for each branch record the keys of its last
 * messages, and marks, of which the greatest counts. `join.ts` alone decides what two copies mean together; `branches.ts`
 * derives what is shown.
 *
 * Records are values and never change. A {@link ChatValue} is the one thing that changes in place, by `join()` only: records by
 * their keys, messages linked with their parents and children. So a turn costs the same in a chat of ten messages and in one of
 * a hundred thousand.
 *
 * A missing record is no error. A message may come before its parent, an end before its message, and a damaged disk may link
 * parents into a ring: a chain then begins at its first known message, and the oldest message of a ring has no parent. All
 * walks are loops, and end.
 */

/** The state of a message: still growing, complete, or cut off (stopped, failed, reloaded). */
export type MessageStatus = 'complete' | 'streaming' | 'interrupted';

/** The content of a message at one time. Two versions are the same if all fields that order them are: see `compareVersions`. */
export interface Version {
  /** An integer from 1 on, below 2^52: greater than that of the version that its author replaced. */
  readonly rev: number;
  /** The author: a random id for each engine, in memory only. */
  readonly by: string;
  readonly status: MessageStatus;
  /** A short checksum of the body's JSON; '' for a version without content: reserved, or removed. */
  readonly sum: string;
  /** The message's id at that time, if it differs from the first one: a server gave its answer another. */
  readonly id?: string;
  /** Removes a reserved message: it counts only while no version of the message has content. */
  readonly gone?: true;
  /** How many parts the body has. */
  readonly parts: number;
  /** The first words on one line, as `previewOf` gives them. */
  readonly preview: string;
  /** The body, if this page or this file has it. */
  readonly body?: UIMessage;
}

/** A message: its place, which never changes, and its versions. */
export interface MessageRecord {
  /** `key:` and a random UUID: unique. */
  readonly key: string;
  /** The app's id, or a UUID: shown and sent as it was given. It need not be unique. See also {@link Version.id}. */
  readonly id: string;
  /** The key of its parent; null for a first message. */
  readonly parent: string | null;
  readonly role: string;
  /** Orders siblings and branches: max(clock, greatest seen + 1), an integer below 2^52. */
  readonly at: number;
  /** The author's clock, in ms since epoch, for people. */
  readonly createdAt: number;
  /** The chat key of its beginning, the same as its parent's. */
  readonly chat: string;
  /** Keys of further parents: the messages that a merge or a copy was made from. */
  readonly sources?: readonly string[];
  /** Local to one database, never joined: the number of its last change there, which is also its place. */
  readonly seq?: number;
  /** At least one, the greatest last; those without content only as long as none has content. */
  readonly versions: readonly Version[];
}

/** The ends that a branch record was seen to have. */
export interface EndsRecord {
  /** Random. */
  readonly id: string;
  /** The time of its making, as {@link MessageRecord.at}. */
  readonly at: number;
  /** ms since epoch. */
  readonly createdAt: number;
  /** The chat key of its beginning. */
  readonly chat: string;
  /** Keys of messages: a set, in any order. None for an empty branch. */
  readonly keys: readonly string[];
  /** Local to one database, never joined. */
  readonly seq?: number;
}

/** Any other fact about a chat; of two with one id the greatest (`rev`, `by`, canonical JSON) counts. */
export interface Mark {
  /** The subject; begins with the mark's kind, see `marks.ts`. */
  readonly id: string;
  /** An integer below 2^52: greater than that of any mark that its author knew. */
  readonly rev: number;
  readonly by: string;
  /** The chat key of its subject. */
  readonly chat: string;
  /** JSON. */
  readonly value: unknown;
  /** Local to one database, never joined. */
  readonly seq?: number;
}

/** Some records of a chat: what is joined, written, read and sent. */
export interface ChatDelta {
  readonly messages: readonly MessageRecord[];
  readonly ends: readonly EndsRecord[];
  readonly marks: readonly Mark[];
}

/** No records. */
export const NOTHING: ChatDelta = { messages: [], ends: [], marks: [] };

/** A known message, linked with those before and behind it. */
export interface LinkedMessage {
  readonly record: MessageRecord;
  /** Undefined for a first message, for one whose parent is not known, and where a ring is cut. */
  readonly parent: LinkedMessage | undefined;
  /** In the order of `(at, key)`. */
  readonly children: readonly LinkedMessage[];
  /** How many messages its chain has, itself included: 1 without a parent. */
  readonly depth: number;
}

/** All known records of a chat. Only `join()` changes it. */
export interface ChatValue {
  /** By key. */
  readonly messages: ReadonlyMap<string, LinkedMessage>;
  readonly ends: ReadonlyMap<string, EndsRecord>;
  readonly marks: ReadonlyMap<string, Mark>;
  /** The first messages of the chat, in the order of `(at, key)`. */
  readonly first: readonly LinkedMessage[];
  /** Messages whose parent is not known, by its key, in the same order. */
  readonly orphans: ReadonlyMap<string, readonly LinkedMessage[]>;
  /** The index of {@link keysWithId}, once it is made. */
  ids: Map<string, string[]> | undefined;
  /** Messages of which two copies with different places met here: the disk of one of them is damaged. */
  readonly twoPlaces: ReadonlySet<string>;
  /** The ids of the marks about a branch record, by its id. */
  readonly marksOf: ReadonlyMap<string, ReadonlySet<string>>;
  /** The greatest `at` among messages and ends, and the greatest `rev` among marks; 0 for none. */
  readonly lastAt: number;
  readonly lastRev: number;
  /** The greatest `createdAt` among messages; 0 for none. */
  readonly updatedAt: number;
  /** How many messages show, by {@link isVisible} without drafts. */
  readonly visibleCount: number;
}

/** The shown version: the greatest with content, else the greatest. */
export function shownVersion({ versions }: MessageRecord): Version {
  return versions.at(-1) as Version;
}

/** Whether a message was reserved, never got content, and was removed. */
export function isGone(record: MessageRecord): boolean {
  return !hasWords(shownVersion(record)) && record.versions.some(({ gone }) => gone);
}

/** Whether a version has content. */
export function hasWords({ sum }: Version): boolean {
  return sum !== '';
}

/** The greatest revision of a message. */
export function lastRev({ versions }: MessageRecord): number {
  return versions.reduce((max, { rev }) => Math.max(max, rev), 0);
}

/** The message with a key; undefined for an unknown one. */
export function recordAt({ messages }: ChatValue, key: string | null | undefined): MessageRecord | undefined {
  return messages.get(key ?? '')?.record;
}

/** The messages of a chat, in no particular order. */
export function* eachRecord({ messages }: ChatValue): Generator<MessageRecord> {
  for (const { record } of messages.values()) yield record;
}

/** The parent of a message; undefined for a first one, for one whose parent is not known, and where a ring is cut. */
export function parentOf({ messages }: ChatValue, { key }: MessageRecord): MessageRecord | undefined {
  return messages.get(key)?.parent?.record;
}

/** Whether a message would close a ring, and its parent is ignored for that. */
export function isCut({ messages }: ChatValue, { key, parent }: MessageRecord): boolean {
  return parent !== null && messages.has(parent) && !messages.get(key)?.parent;
}

/** The children of a message, or of one that is not known; for null the first messages. */
export function childrenOf(
  { messages, first, orphans }: ChatValue,
  parent: string | null,
): readonly LinkedMessage[] {
  return parent === null ? first : (messages.get(parent)?.children ?? orphans.get(parent) ?? []);
}

/** The length of a chain, from its first known message to the one with this key; 0 for none. */
export function depthOf({ messages }: ChatValue, key: string | null | undefined): number {
  return messages.get(key ?? '')?.depth ?? 0;
}

/** The messages from `key` up to the first known one; none for null or an unknown key. */
export function* upward({ messages }: ChatValue, key: string | null): Generator<MessageRecord> {
  for (let at = messages.get(key ?? ''); at; at = at.parent) yield at.record;
}

/** The keys from the first known message to `key`, both included; `from` and all before it are left out. */
export function chainOf(chat: ChatValue, key: string | null, from: string | null = null): string[] {
  const keys: string[] = [];
  for (const record of upward(chat, key)) {
    if (record.key === from) break;
    keys.push(record.key);
  }
  return keys.toReversed();
}

/** Whether `key` is on the chain of `head`, both included. Costs the distance; with one `passed` no message is visited twice. */
export function holds(chat: ChatValue, head: string | null, key: string, passed?: Set<string>): boolean {
  const wanted = chat.messages.get(key);
  if (!wanted) return false;
  let at = chat.messages.get(head ?? '');
  while (at && at.depth > wanted.depth && !passed?.has(at.record.key)) {
    passed?.add(at.record.key);
    at = at.parent;
  }
  return at === wanted;
}

/** Those of these ends that are no ancestor of another, in any order; unknown ends are kept. */
export function lastOnes(chat: ChatValue, ends: readonly string[]): ReadonlySet<string> {
  return new Set(ends.filter((key) => !ends.some((end) => end !== key && holds(chat, end, key))));
}

/** Whether the first comes before the second: by `at`, then by key. */
export function compareAt(a: Pick<MessageRecord, 'at' | 'key'>, b: typeof a): number {
  return a.at - b.at || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);
}

/** A key itself, or for an id its message on the chain of `head`, else the newest; undefined for none, or a removed one. */
export function findKey(chat: ChatValue, idOrKey: string, head: string | null): string | undefined {
  if (idOrKey.startsWith('key:')) return chat.messages.has(idOrKey) ? idOrKey : undefined;
  const all = keysWithId(chat, idOrKey).map((key) => chat.messages.get(key) as LinkedMessage);
  const known = all.filter(({ record }) => !isGone(record));
  const onChain = known.filter(({ record }) => holds(chat, head, record.key));
  const nearest = onChain.toSorted((a, b) => a.depth - b.depth).at(-1);
  return (nearest ?? known.toSorted((a, b) => compareAt(a.record, b.record)).at(-1))?.record.key;
}

/** The keys of the messages that have or had an id. The first question makes the index, `join()` continues it. */
export function keysWithId(chat: ChatValue, id: string): readonly string[] {
  if (!chat.ids) for (const record of eachRecord(chat)) addIds((chat.ids ??= new Map()), record);
  return chat.ids?.get(id) ?? [];
}

/** Adds a message to the index of {@link keysWithId}. */
export function addIds(ids: Map<string, string[]>, { key, id, versions }: MessageRecord): void {
  for (const one of [id, ...versions.map((version) => version.id ?? id)]) {
    const keys = ids.get(one);
    if (!keys) ids.set(one, [key]);
    else if (!keys.includes(key)) keys.push(key);
  }
}

// ------------------------------------------------------------------ growing messages

/** The draft of a growing message, by its key; undefined for all others. */
export type GrowingOf = (key: string) => GrowingVersion | undefined;

/** What a draft adds; counts only for the version that it grows from. */
export interface GrowingVersion extends Pick<Version, 'id' | 'rev' | 'by' | 'parts' | 'preview'> {}

export const NO_GROWTH: GrowingOf = () => undefined;

/** The shown version, with its draft. */
export function grownVersion(record: MessageRecord, growingOf: GrowingOf): Version {
  const version = shownVersion(record);
  const grown = growingOf(record.key);
  if (!grown || grown.rev !== version.rev || grown.by !== version.by) return version;
  const { id, parts, preview } = grown;
  return { ...version, ...(id === undefined ? {} : { id }), parts, preview };
}

/** The id under which a message is shown: a server may have given its answer another than the first one. */
export function idOf(record: MessageRecord, growingOf: GrowingOf = NO_GROWTH): string {
  return grownVersion(record, growingOf).id ?? record.id;
}

/** Whether a message shows: not a reserved answer without content, nor a removed one. */
export function isVisible(record: MessageRecord, growingOf: GrowingOf = NO_GROWTH): boolean {
  return shows(grownVersion(record, growingOf));
}

/** Whether a message shows that has this version: not a reserved or removed one. */
export function shows(version: Version): boolean {
  return version.parts > 0 || (version.status === 'complete' && hasWords(version));
}

// ------------------------------------------------------------------ content

/** The first 50 characters of a message's own text on one line, for lists and graphs. No character is cut in two. */
export function previewOf(message: UIMessage): string {
  const text = textOf(message);
  const begin = text.slice(0, 50);
  // Usually nothing is to be replaced, and testing takes half the time.
  const start = /[^\S ]/.test(begin) ? begin.replaceAll(/[^\S ]/g, ' ') : begin;
  const isCut = start.charCodeAt(49) >> 10 === 0xd800 >> 10;
  return text.length > 50 ? `${isCut ? start.slice(0, 49) : start}...` : start;
}

/**
 * A short checksum of a message's body: six characters, equal for equal JSON and different for nearly every other. Never '',
 * which is that of a message without content. It tells versions apart and detects damage; it is no cryptographic hash.
 */
export function sumOfBody(message: UIMessage): string {
  return sumOfText(JSON.stringify(message));
}

/** The checksum of any text, such as a record in a database: six characters. Computed on its bytes, four at a step. */
export function sumOfText(text: string): string {
  let sum = text.length;
  for (let at = 0; at < text.length;) {
    // Pass no more than fits: a browser copies the whole argument each time.
    const { read, written } = encoder.encodeInto(text.slice(at, at + bytes.length), bytes);
    // The buffer holds bytes of an earlier text behind the written ones.
    bytes.fill(0, written, written + 3);
    for (let i = 0; i * 4 < written; i += 1) {
      sum = Math.imul(sum ^ (words[i] as number), 0x9e3779b1);
      sum ^= sum >>> 15;
    }
    at += read;
  }
  sum >>>= 0;
  return pairOf(sum >>> 20) + pairOf((sum >>> 8) & 0xfff) + pairOf(((sum & 0xff) << 4) | (text.length & 15));
}

const encoder: TextEncoder = /* @__PURE__ */ new TextEncoder();
const bytes: Uint8Array<ArrayBuffer> = /* @__PURE__ */ new Uint8Array(16_384);
const words: Uint32Array = /* @__PURE__ */ new Uint32Array(bytes.buffer);

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const pairs: string[] = [];

/** Twelve bits as two characters. */
function pairOf(bits: number): string {
  return (pairs[bits] ??= DIGITS.charAt(bits >> 6) + DIGITS.charAt(bits & 63));
}
