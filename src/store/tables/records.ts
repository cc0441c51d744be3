import { ContextError, isContextError, refuseToLoad } from '../../errors.ts';
import {
  hasWords,
  shownVersion,
  type ChatDelta,
  type EndsRecord,
  type Mark,
  type MessageRecord,
} from '../../graph/graph.ts';
import { compareMarks } from '../../graph/join.ts';
import { chatFacts } from '../../graph/marks.ts';
import type { ChatRecords, ChatRow, Draft } from '../store.ts';
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
  only,
  within,
  bodyIn,
  messageIn,
  readText,
} from './layout.ts';
import type * as Packs from './pack.ts';
import type { StoredTopology } from './pack.ts';

/**
 * The messages that changed after a number, from rows and packs, in the order of their numbers. Of two records with one key the
 * greater number counts; damaged ones are left out (`examine.ts` names them). Costs what it returns.
 */
export async function readMessages(
  rows: Rows,
  chatId: string,
  since: number,
): Promise<readonly StoredMessage[]> {
  const found: StoredMessage[] = [];
  const range = after(chatId, since);
  const [single, topologies, places] = await Promise.all([
    rows.all<string>('nodes', range),
    rows.all<StoredTopology>('topologies', range, undefined, TOPOLOGIES),
    rows.keys('topologies', range),
  ]);
  if (topologies.length > 0)
    await packs().eachTopology(rows, places, topologies, (record) => {
      for (const message of packs().readTopology(chatId, record) ?? [])
        if (message.seq > since) found.push(message);
    });
  for (const text of single) {
    const message = messageIn(text);
    if (message) found.push(message);
  }
  return latestOf(found.toSorted((a, b) => a.seq - b.seq));
}

/**
 * The last record of each message, of records in the order in which they were written. A record that is not younger (`at`) than
 * all before it is that of a message written again, and only those need a map: one of all keys takes as long as reading them.
 */
function latestOf(messages: readonly StoredMessage[]): readonly StoredMessage[] {
  const again = new Map<string, StoredMessage>();
  let youngest = -1;
  for (const message of messages) {
    if (message.at > youngest) youngest = message.at;
    else again.set(message.key, message);
  }
  if (again.size === 0) return messages;
  return messages.filter((message) => (again.get(message.key) ?? message) === message);
}

/** How many topologies of packs are read at once. */
export const TOPOLOGIES = 32;

let here: typeof Packs | undefined;

/** The code of packs. Most chats have none. While the code is not loaded, this throws, and the transaction is repeated. */
export function packs(): typeof Packs {
  if (here) return here;
  throw new ContextError('invariant', NO_PACKS);
}

const NO_PACKS = 'The code of packs is not there yet.';

/** Whether some work met the first pack. */
export function lacksPacks(error: unknown): boolean {
  return isContextError(error) && error.message === NO_PACKS;
}

export async function loadPacks(): Promise<typeof Packs> {
  return (here ??= await import('./pack.ts').catch(refuseToLoad));
}

/**
 * Those of these messages that exist, by key. `seqOf` tells where some may lie: for a few, that reads one row or pack each. For
 * the others the topology is read.
 */
export async function findMessages(
  rows: Rows,
  chatId: string,
  keys: readonly string[],
  seqOf: (key: string) => number | undefined = () => undefined,
): Promise<Map<string, StoredMessage>> {
  const found = new Map<string, StoredMessage>();
  if (keys.length <= FEW)
    await Promise.all(
      keys.map(async (key) => {
        const seq = seqOf(key);
        const message = seq === undefined ? undefined : await messageAt(rows, chatId, seq);
        if (message?.key === key) found.set(key, message);
      }),
    );
  const others = keys.filter((key) => !found.has(key));
  if (others.length === 0) return found;
  const wanted = new Set(others);
  for (const message of await readMessages(rows, chatId, 0))
    if (wanted.has(message.key)) found.set(message.key, message);
  return found;
}

const FEW = 8;

/** The message at a number. */
async function messageAt(rows: Rows, chatId: string, seq: number): Promise<StoredMessage | undefined> {
  const text = await rows.get<string>('nodes', [chatId, seq]);
  if (text !== undefined) return messageIn(text);
  const topology = await rows.get<StoredTopology>('topologies', placesFrom(chatId, seq));
  if (!topology || topology.first > seq) return undefined;
  return packs()
    .readTopology(chatId, topology)
    ?.find((message) => message.seq === seq);
}

/** The bodies at these numbers that exist, by number. */
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
  const left = places.length > 0 ? await packs().readPacked(rows, chatId, sorted, places, add) : sorted;
  await readSingles(rows, chatId, left, add);
  return found;
}

/** Calls back with the unpacked bodies at these numbers, which are in order. */
export async function readSingles(
  rows: Rows,
  chatId: string,
  seqs: readonly number[],
  add: (body: StoredBody | undefined) => void,
): Promise<void> {
  await Promise.all(
    runsOf(seqs, CLOSE).map(async ([first, last]) => {
      const range = { from: [chatId, first], to: [chatId, last] };
      for (const text of await rows.all<string>('bodies', range)) add(bodyIn(text));
    }),
  );
}

/** The places of a chat from a number on: only the first pack there may contain it. */
function placesFrom(chatId: string, seq: number): Range {
  return { from: [chatId, seq], to: [chatId, []] };
}

/** Ranges of numbers, which are in order: with gaps of less than `close`, and at most `long`. */
export function runsOf(
  numbers: readonly number[],
  close: number,
  long: number = Infinity,
): [first: number, last: number][] {
  const runs: [number, number][] = [];
  for (const number of numbers) {
    const run = runs.at(-1);
    if (run && number - run[1] <= close && number - run[0] < long) run[1] = number;
    else runs.push([number, number]);
  }
  return runs;
}

const CLOSE = 8;

/** Ends and marks. */
export type Facts = Pick<ChatDelta, 'ends' | 'marks'>;

/** The ends and marks of a chat that changed after a number. */
export async function readFacts(rows: Rows, chatId: string, since: number): Promise<Facts> {
  return factsOf((await readFactRows(rows, chatId, since)).map(factIn));
}

/** The rows of the ends and marks of a chat that changed after a number. */
export function readFactRows(rows: Rows, chatId: string, since: number): Promise<StoredFact[]> {
  return since > 0 ? rows.all('facts', after(chatId, since), 'seq') : rows.all('facts', within(chatId));
}

/** The ends and the marks among some facts. */
export function factsOf(facts: Iterable<Fact | undefined>): Facts {
  const [ends, marks]: [EndsRecord[], Mark[]] = [[], []];
  for (const fact of facts)
    if (fact?.kind === 'ends') ends.push(fact.record as EndsRecord);
    else if (fact) marks.push(fact.record as Mark);
  return { ends, marks };
}

/** An end or a mark. */
export interface Fact {
  readonly kind: StoredFact['kind'];
  readonly record: EndsRecord | Mark;
}

/** The fact in a row, with its number; undefined for a damaged one. */
export function factIn(row: StoredFact | undefined): Fact | undefined {
  const record = readText(row?.text) as Fact['record'] | undefined;
  return row && record?.id === row.id ? { kind: row.kind, record: { ...record, seq: row.seq } } : undefined;
}

/** The state of the database. */
export async function readMeta(rows: Rows): Promise<Meta> {
  const last = await rows.last<StoredChat>('chats', 'seq');
  const { database = '', generation = 0, seq = 0 } = last ?? (await rows.get<Meta>('meta', 'self')) ?? {};
  return { database, generation, seq };
}

/** The row of a chat; a row with number 0 where it is missing or can't be read. */
export async function readChat(rows: Rows, id: string): Promise<StoredChat> {
  return asChat(id, await rows.get('chats', id));
}

function asChat(id: string, row: unknown): StoredChat {
  const { seq, from, keys, deleted } = Object(row) as Partial<StoredChat>;
  const isOne =
    Number.isFinite(seq) && Number.isFinite(from) && Array.isArray(keys) && Array.isArray(deleted);
  const none = { database: '', generation: 0, seq: 0, from: 0, keys: [], deleted: [] };
  return isOne ? (row as StoredChat) : { id, ...none };
}

/** The row of a chat, and the state of the database: one request where no other chat changed since. */
export async function readPlace(
  rows: Rows,
  id: string,
): Promise<{ readonly chat: StoredChat; readonly meta: Meta }> {
  const last = await rows.last<StoredChat>('chats', 'seq');
  if (last?.id === id) return { chat: asChat(id, last), meta: last };
  const [chat, meta] = await Promise.all([readChat(rows, id), readMeta(rows)]);
  return { chat, meta };
}

/**
 * The number from which a reader has to continue that has read up to `since`: 0 in a restored chat, the deletion in a deleted
 * one.
 */
export function startOf({ from, restored = 0 }: StoredChat, since: number): number {
  return Math.max(from, since < restored ? 0 : since);
}

/** The deleted chat keys, for good or restorable. */
export function deadKeys({ deleted, kept }: StoredChat): string[] {
  return [...new Set([...deleted, ...(kept?.keys ?? [])])];
}

/** Records in the form that callers get. `known`: messages that were read, of which some may grow. */
export async function answer(
  rows: Rows,
  { seq, database, generation }: Meta,
  chat: StoredChat,
  records: ChatDelta,
  known?: Iterable<StoredMessage>,
): Promise<ChatRecords> {
  const grown = known ? await growingIn(rows, chat, known) : [];
  const growing = grown.map(({ draft }) => growingOf(draft));
  return { ...records, seq, database, generation, growing, deleted: deadKeys(chat) };
}

/** The drafts of shown versions, with their messages; only of these keys. `read`: messages that were read already. */
export async function growingIn(
  rows: Rows,
  chat: StoredChat,
  read: Iterable<StoredMessage>,
  keys?: ReadonlySet<string>,
): Promise<{ readonly draft: Draft; readonly record: MessageRecord }[]> {
  const drafts = await readDrafts(rows, chat.id);
  const asked = [...drafts.keys()].filter((key) => keys?.has(key) ?? true);
  if (asked.length === 0) return [];
  const known = new Map<string, StoredMessage>();
  for (const message of read) known.set(message.key, message);
  const others = asked.filter((key) => !known.has(key));
  const found = await findLiving(rows, chat, others, (key) => drafts.get(key)?.seq);
  return asked.flatMap((key) => {
    const [draft, record] = [drafts.get(key) as Draft, known.get(key) ?? found.get(key)];
    return isDraftOf(draft, record) ? [{ draft, record }] : [];
  });
}

/** Whether a draft belongs to the shown version. */
export function isDraftOf({ rev, by }: Draft, record: MessageRecord | undefined): record is MessageRecord {
  const shown = record && shownVersion(record);
  return shown?.rev === rev && shown.by === by;
}

/** Those of these messages that do not belong to a deleted chat. */
export async function findLiving(
  rows: Rows,
  { id, from }: StoredChat,
  keys: readonly string[],
  seqOf?: (key: string) => number | undefined,
): Promise<ReadonlyMap<string, StoredMessage>> {
  const found = await findMessages(rows, id, keys, seqOf);
  return new Map([...found].filter(([, { seq }]) => seq > from));
}

/** Saves bytes under their hash, for at least a day. */
export async function putFile(rows: Rows, hash: string, bytes: Uint8Array): Promise<void> {
  const waiting: StoredUse = { chatId: '', hash, seq: 0, until: Date.now() + DAY };
  if ((await rows.keys('blobs', only(hash))).length === 0) rows.put('blobs', bytes, hash);
  rows.put('uses', waiting);
}

const DAY = 24 * 60 * 60 * 1000;

/** Notes that a chat refers to the bytes that a message names. */
export function referToBlobs(rows: Rows, chatId: string, json: string, seq: number): void {
  for (const hash of blobsIn(json)) {
    const use: StoredUse = { chatId, hash, seq };
    rows.put('uses', use);
    rows.delete('uses', ['', hash]);
  }
}

/** The hashes that a message, as JSON, refers to. */
export function blobsIn(json: string): string[] {
  return (json.match(/"contextree-blob:[^"]{64}/g) ?? []).map((url) => url.slice(-64));
}

// --- Rows of chat lists ------------------------------------------------------------------------------------------------

/**
 * What a list shows of a chat, without reading its records: the marks of the chat as a whole are stored in its row, and each
 * commit updates its counts. The number of branches is what the last page reported: a store derives none.
 */
export interface Totals {
  readonly userId: string;
  /** The values of title, fields, usage and beginnings, by the ids of their marks. */
  readonly said: readonly (readonly [id: string, value: unknown])[];
  /** The times of the first and the last write, in ms since epoch. */
  readonly begunAt: number;
  readonly updatedAt: number;
  readonly messages: number;
  readonly branches: number;
}

/** A record before a commit (undefined for a new one) and after it. */
export interface Changed<T, Next = T> {
  readonly before: T | undefined;
  readonly after: Next;
}

/** What a commit changed of a chat; `now`: ms since epoch. */
export interface TotalsChange {
  readonly userId: string;
  readonly now: number;
  readonly messages: readonly Changed<MessageRecord>[];
  readonly marks: readonly Mark[];
  /** How many branches the author shows, if reported. */
  readonly branchCount?: number | undefined;
}

/** The totals after a commit; without earlier ones those of a new chat. */
export function movedTotals(totals: Totals | undefined, change: TotalsChange): Totals {
  const said = new Map(totals?.said);
  for (const { id, value } of change.marks) {
    if (!OF_CHAT.test(id)) continue;
    // The last written mark stands last.
    said.delete(id);
    said.set(id, value);
  }
  let messages = totals?.messages ?? 0;
  for (const { before, after } of change.messages) {
    if (hasWords(shownVersion(after))) messages += 1;
    if (before && hasWords(shownVersion(before))) messages -= 1;
  }
  return {
    userId: totals?.userId ?? change.userId,
    said: [...said],
    begunAt: totals?.begunAt ?? change.now,
    updatedAt: change.now,
    messages,
    branches: change.branchCount ?? totals?.branches ?? 1,
  };
}

/** The marks of the chat as a whole. */
const OF_CHAT = /^(?:title$|(?:field|usage|beginning) )/;

/** The totals of all records of a chat. */
export function totalsOf(
  messages: readonly MessageRecord[],
  marks: readonly Mark[],
  change: Omit<TotalsChange, 'messages' | 'marks'>,
): Totals {
  return movedTotals(undefined, {
    ...change,
    messages: messages.map((after) => ({ before: undefined, after })),
    marks: marks.toSorted(compareMarks),
  });
}

/** The row of a chat in a list; undefined for a deleted one. */
export function shownRow({ id, totals }: StoredChat): ChatRow | undefined {
  if (!totals) return undefined;
  const { userId, said, messages, branches, begunAt, updatedAt } = totals;
  const { title, metadata, beginning } = chatFacts(said);
  return {
    id,
    userId,
    title,
    metadata: Object.keys(metadata).length > 0 ? metadata : undefined,
    messageCount: messages,
    branchCount: branches,
    createdAt: beginning?.createdAt ?? begunAt,
    updatedAt,
  };
}
