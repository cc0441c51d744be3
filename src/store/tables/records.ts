import { ContextError, refuseToLoad } from '../../errors.ts';
import { shownVersion, type EndsRecord, type Mark, type MessageRecord } from '../../graph/graph.ts';
import type { ChatRecords, Draft } from '../store.ts';
import { growingOf, readDrafts } from './drafts.ts';
import {
  after,
  type Meta,
  type Range,
  type Rows,
  type StoredBody,
  type StoredChat,
  type StoredFact,
  type StoredMessage,
  type StoredUse,
  within,
  bodyIn,
  keyIn,
  messageIn,
  readText,
} from './layout.ts';
import type * as Packs from './pack.ts';
import type { StoredTopology } from './pack.ts';

/**
 * The records of a chat, read from rows and packs alike.
 *
 * A message may lie in two places: it was sealed, and changed later. The greater number counts. A record that can't be
 * read is left out and named; nothing is put right here (`examine.ts` does).
 */
export interface Messages {
  /** By key, in the order of their numbers. */
  readonly byKey: Map<string, StoredMessage>;
  /** The greatest number among them; 0 for none. */
  readonly last: number;
  /** What could not be read. */
  readonly damaged: readonly string[];
}

/** The messages of a chat that changed after a number; only of records whose text is `isAsked`. Costs those. */
export async function readMessages(
  rows: Rows,
  chatId: string,
  since: number,
  isAsked: (text: unknown) => boolean = () => true,
): Promise<Messages> {
  const byKey = new Map<string, StoredMessage>();
  const damaged: string[] = [];
  const range = after(chatId, since);
  const take = (message: StoredMessage): void => {
    const known = byKey.get(message.key);
    if (!known || known.seq < message.seq) byKey.set(message.key, message);
  };
  const [single, topologies, places] = await Promise.all([
    rows.all<string>('nodes', range),
    rows.all<StoredTopology>('topologies', range, undefined, TOPOLOGIES),
    rows.keys('topologies', range),
  ]);
  if (topologies.length > 0)
    await packs().eachTopology(rows, places, topologies, (record) => {
      if (!isAsked(record.text)) return;
      const messages = packs().readTopology(chatId, record);
      if (!messages) damaged.push(nameOfTopology(record));
      else for (const message of messages) if (message.seq > since) take(message);
    });
  for (const text of single) {
    if (!isAsked(text)) continue;
    const message = messageIn(text);
    if (message) take(message);
    else damaged.push(keyIn(text) ?? 'message');
  }
  let last = 0;
  for (const { seq } of byKey.values()) last = Math.max(last, seq);
  return { byKey, last, damaged };
}

/** So many records of sealed messages are asked for at once. */
export const TOPOLOGIES = 32;

/** A message without what only the store notes of it. */
export function withoutNote(message: StoredMessage): MessageRecord {
  if (!message.isBare) return message;
  const { isBare: _isBare, ...record } = message;
  return record;
}

/** What a damaged record is called. */
function nameOfTopology(record: unknown): string {
  const { first, last } = Object(record) as Partial<StoredTopology>;
  return `messages ${String(first)} to ${String(last)}`;
}

// --- Code that comes later --------------------------------------------------------------------------------------------

let here: typeof Packs | undefined;

/** How packs are read and written. Most chats have none: so it comes with the first, and the work is done again. */
export function packs(): typeof Packs {
  if (here) return here;
  throw new ContextError('invariant', NO_PACKS);
}

const NO_PACKS = 'The code of packs is not there yet.';

/** Does some work, and again where it met a pack and the code for that was not there. */
export async function withPacks<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (Object(error).message !== NO_PACKS) throw error;
  }
  await loadPacks();
  return work();
}

export async function loadPacks(): Promise<typeof Packs> {
  return (here ??= await import('./pack.ts').catch(refuseToLoad));
}

// --- By key -----------------------------------------------------------------------------------------------------------

/**
 * Some messages of a chat by their keys; those that are not there are left out. `seqOf` tells where some may lie: where that
 * is right, one of a few costs one row or one pack. Otherwise the topology is looked through, whose text tells all keys: for
 * a few, only packs that have one of them are made sense of.
 */
export async function findMessages(
  rows: Rows,
  chatId: string,
  keys: readonly string[],
  seqOf: (key: string) => number | undefined = () => undefined,
): Promise<Map<string, StoredMessage>> {
  const found = new Map<string, StoredMessage>();
  const isFew = keys.length <= FEW;
  if (isFew)
    await Promise.all(
      keys.map(async (key) => {
        const seq = seqOf(key);
        const message = seq === undefined ? undefined : await messageAt(rows, chatId, seq);
        if (message?.key === key) found.set(key, message);
      }),
    );
  const others = keys.filter((key) => !found.has(key));
  if (others.length === 0) return found;
  const isPlain = isFew && others.every((key) => PLAIN.test(key));
  const isAsked = (text: unknown): boolean =>
    !isPlain || (typeof text === 'string' && others.some((key) => text.includes(key)));
  const { byKey } = await readMessages(rows, chatId, 0, isAsked);
  for (const key of others) {
    const message = byKey.get(key);
    if (message) found.set(key, message);
  }
  return found;
}

/** So many are looked for in texts. */
const FEW = 8;

/** Keys that stand in JSON as they are. */
const PLAIN = /^[\w:-]+$/;

/** The message that lies at a number; one that was sealed may have changed since, and lie elsewhere, too. */
async function messageAt(rows: Rows, chatId: string, seq: number): Promise<StoredMessage | undefined> {
  const text = await rows.get<string>('nodes', [chatId, seq]);
  if (text !== undefined) return messageIn(text);
  const sealed = await rows.get<StoredTopology>('topologies', placesFrom(chatId, seq));
  if (!sealed || sealed.first > seq) return undefined;
  return packs()
    .readTopology(chatId, sealed)
    ?.find((message) => message.seq === seq);
}

// --- Words ----------------------------------------------------------------------------------------------------------

/** The bodies that lie at these numbers, those that are there, by number. */
export async function readBodies(
  rows: Rows,
  chatId: string,
  seqs: readonly number[],
): Promise<ReadonlyMap<number, StoredBody>> {
  const found = new Map<number, StoredBody>();
  if (seqs.length === 0) return found;
  const wanted = new Set(seqs);
  const add = (body: StoredBody | undefined): void => {
    if (body && wanted.has(body.seq)) found.set(body.seq, body);
  };
  const sorted = seqs.toSorted((a, b) => a - b);
  const places = await rows.keys('packs', placesFrom(chatId, sorted[0] as number));
  const left = places.length > 0 ? await packs().readSealed(rows, chatId, sorted, places, add) : sorted;
  await readSingles(rows, chatId, left, add);
  return found;
}

/** Hands on the bodies that lie by themselves at these numbers, which are in order. */
export async function readSingles(
  rows: Rows,
  chatId: string,
  seqs: readonly number[],
  add: (body: StoredBody | undefined) => void,
): Promise<void> {
  await Promise.all(
    runsOf(seqs).map(async ([first, last]) => {
      const range = { from: [chatId, first], to: [chatId, last] };
      for (const text of await rows.all<string>('bodies', range)) add(bodyIn(text));
    }),
  );
}

/** The places of a chat from a number on: the first pack there is the one that may hold it. */
function placesFrom(chatId: string, seq: number): Range {
  return { from: [chatId, seq], to: [chatId, []] };
}

/** Numbers as ranges of those that lie close together: in between are those of ends, marks and chats. */
function runsOf(seqs: readonly number[]): [first: number, last: number][] {
  const runs: [number, number][] = [];
  for (const seq of seqs) {
    const run = runs.at(-1);
    if (run && seq - run[1] <= CLOSE) run[1] = seq;
    else runs.push([seq, seq]);
  }
  return runs;
}

const CLOSE = 8;

// --- Facts ----------------------------------------------------------------------------------------------------------

/** Ends and marks. */
export interface Facts {
  readonly ends: readonly EndsRecord[];
  readonly marks: readonly Mark[];
  readonly damaged: readonly string[];
}

/** The ends and marks of a chat that changed after a number. */
export async function readFacts(rows: Rows, chatId: string, since: number): Promise<Facts> {
  return factsOf(await readFactRows(rows, chatId, since));
}

/** The same as rows. */
export function readFactRows(rows: Rows, chatId: string, since: number): Promise<StoredFact[]> {
  return since > 0 ? rows.all('facts', after(chatId, since), 'seq') : rows.all('facts', within(chatId));
}

/** What rows of facts say. */
export function factsOf(facts: readonly (StoredFact | undefined)[]): Facts {
  const [ends, marks, damaged]: [EndsRecord[], Mark[], string[]] = [[], [], []];
  for (const fact of facts) {
    const record = factIn(fact);
    if (!fact) continue;
    if (!record) damaged.push(fact.id);
    else if (fact.kind === 'ends') ends.push(record as EndsRecord);
    else marks.push(record as Mark);
  }
  return { ends, marks, damaged };
}

/** What a row says, with its number; undefined for a damaged one. */
export function factIn(fact: StoredFact | undefined): EndsRecord | Mark | undefined {
  const record = readText(fact?.text) as EndsRecord | Mark | undefined;
  return fact && record?.id === fact.id ? { ...record, seq: fact.seq } : undefined;
}

// --- The database ---------------------------------------------------------------------------------------------------

/** What a database knows of itself, with its counter as it is: the greatest number that was given out. */
export async function readMeta(rows: Rows): Promise<Meta> {
  const [meta, last] = await Promise.all([
    rows.get<Meta>('meta', 'self'),
    rows.last('chats', 'seq') as Promise<number | undefined>,
  ]);
  const { database = '', generation = 0, seq = 0, deviceId = '' } = meta ?? {};
  return { database, generation, deviceId, seq: Math.max(seq, last ?? 0) };
}

/** The row of a chat; where there is none that can be read, an empty one with the number 0. */
export async function readChat(rows: Rows, id: string): Promise<StoredChat> {
  const row = await rows.get<Partial<StoredChat>>('chats', id);
  const { seq, from, keys, deleted } = Object(row) as Partial<StoredChat>;
  const isOne =
    Number.isFinite(seq) && Number.isFinite(from) && Array.isArray(keys) && Array.isArray(deleted);
  return isOne ? (row as StoredChat) : { id, seq: 0, from: 0, keys: [], deleted: [] };
}

/** The number after which a reader of `since` reads on: a restored chat is read whole, a deleted one not at all. */
export function startOf({ from, restored = 0 }: StoredChat, since: number): number {
  return Math.max(from, since < restored ? 0 : since);
}

/** The chat keys that are not taken any more: those that were deleted for good, and those that can be restored. */
export function deadKeys({ deleted, kept = [] }: StoredChat): string[] {
  return [...new Set([...deleted, ...kept.flatMap(({ keys }) => keys)])];
}

// --- What is told ----------------------------------------------------------------------------------------------------

/** Records as they are told: where they come from, and what grows among them. `known`: messages that were read. */
export async function answer(
  rows: Rows,
  { seq, database, generation }: Meta,
  chat: StoredChat,
  { damaged = [], ...records }: Pick<ChatRecords, 'messages' | 'ends' | 'marks' | 'damaged'>,
  known?: ReadonlyMap<string, StoredMessage>,
): Promise<ChatRecords> {
  const grown = known ? await growingIn(rows, chat, known) : [];
  const growing = grown.map(({ draft }) => growingOf(draft));
  const told = { ...records, seq, database, generation, growing, deleted: deadKeys(chat) };
  return damaged.length > 0 ? { ...told, damaged } : told;
}

/** The drafts that are of the version which is shown, with their messages; `keys`: only of these. */
export async function growingIn(
  rows: Rows,
  chat: StoredChat,
  known: ReadonlyMap<string, StoredMessage>,
  keys?: ReadonlySet<string>,
): Promise<{ readonly draft: Draft; readonly record: MessageRecord }[]> {
  const drafts = await readDrafts(rows, chat.id);
  const asked = [...drafts.keys()].filter((key) => keys?.has(key) ?? true);
  if (asked.length === 0) return [];
  const others = asked.filter((key) => !known.has(key));
  const found = await findLiving(rows, chat, others, (key) => drafts.get(key)?.seq);
  return asked.flatMap((key) => {
    const [draft, record] = [drafts.get(key) as Draft, known.get(key) ?? found.get(key)];
    return isDraftOf(draft, record) ? [{ draft, record }] : [];
  });
}

/** Whether a draft is of the version that is shown. */
export function isDraftOf({ rev, by }: Draft, record: MessageRecord | undefined): record is MessageRecord {
  const shown = record && shownVersion(record);
  return shown?.rev === rev && shown.by === by;
}

/** The messages of these keys that are not of a deleted chat; `seqOf` tells where they may lie. */
export async function findLiving(
  rows: Rows,
  { id, from }: StoredChat,
  keys: readonly string[],
  seqOf?: (key: string) => number | undefined,
): Promise<ReadonlyMap<string, StoredMessage>> {
  const found = await findMessages(rows, id, keys, seqOf);
  return new Map([...found].filter(([, { seq }]) => seq > from));
}

// --- Which chats refer to which bytes: see `files.ts` -----------------------------------------------------------------

/** Keeps bytes under their hash: for a day at least, without a message that names them. */
export async function putFile(rows: Rows, hash: string, bytes: Uint8Array): Promise<void> {
  const waiting: StoredUse = { chatId: '', hash, seq: 0, until: Date.now() + DAY };
  if ((await rows.count('blobs', hash)) === 0) rows.put('blobs', bytes, hash);
  rows.put('uses', waiting);
}

/** ms. */
const DAY = 24 * 60 * 60 * 1000;

/** Notes that a chat refers to the bytes that a message names. */
export function referToBlobs(rows: Rows, chatId: string, json: string, seq: number): void {
  for (const hash of blobsIn(json)) {
    const use: StoredUse = { chatId, hash, seq };
    rows.put('uses', use);
    rows.delete('uses', ['', hash]);
  }
}

/** The hashes that a message refers to, by URLs anywhere in it; `json`: the message as JSON. */
export function blobsIn(json: string): string[] {
  return (json.match(/"contextree-blob:[^"]{64}/g) ?? []).map((url) => url.slice(-64));
}
