import { shownVersion, type Version, sumOfText } from '../../graph/graph.ts';
import { ContextError } from '../../errors.ts';
import { columnsOf, type Fields, joined, split, valuesOf } from './columns.ts';
import {
  type Key,
  type Rows,
  type StoredBody,
  type StoredMessage,
  asBody,
  narrowed,
  parsed,
  SUM_LENGTH,
} from './layout.ts';
import { readSingles, runsOf, TOPOLOGIES } from './records.ts';

/**
 * The form of packed messages.
 *
 * Sixty-four messages of a chat are similar, so their topology is stored as columns (`columns.ts`): a parent only where it is
 * not the message before, numbers as steps. The bodies are a record of their own, so that the graph is read without them. Each
 * body is a line, with its key: where the text as a whole can't be read, the lines can, and they tell which messages there
 * were.
 */
export interface StoredTopology {
  readonly v: number;
  /** The least and the greatest number in it. */
  readonly first: number;
  readonly last: number;
  readonly text: string;
  /** The checksum of all fields above. */
  readonly sum: string;
}

/** The record of packed bodies. */
export interface StoredPack {
  /** A JSON list with a line for each message: its body, or null if that lies in a row of its own, or is missing. */
  readonly text: string;
  /** The checksums of the lines, joined. */
  readonly sums: string;
}

/** The format of {@link StoredTopology.text}. */
export const TOPOLOGY_VERSION = 1;

/** The content of a topology's text. */
interface Columns {
  readonly keys: string | readonly string[];
  /** Index and parent of messages that do not follow the one before; the first message is always among them. */
  readonly jumps: readonly (readonly [place: number, parent: string | null])[];
  readonly seqs: readonly number[];
  readonly ats: readonly number[];
  /** `createdAt` minus `at`; one number if all are equal. */
  readonly lags: number | readonly number[];
  readonly fields: Fields;
  /** The version of messages with one. */
  readonly versions: Fields;
  /** The versions of messages with several, by index. */
  readonly more?: readonly (readonly [place: number, versions: readonly Version[]])[];
}

/** The fields that are not in {@link Columns.fields}. */
const APART: ReadonlySet<string> = new Set(['key', 'parent', 'seq', 'at', 'createdAt', 'versions']);

/** The record of these messages, which are in the order of their numbers. */
export function encodeTopology(messages: readonly StoredMessage[]): StoredTopology {
  const keys = messages.map(({ key }) => key);
  const more = [...messages.entries()].flatMap(([place, { versions }]) =>
    versions.length === 1 ? [] : [[place, versions] as const],
  );
  const lags = messages.map(({ at, createdAt }) => createdAt - at);
  const columns: Columns = {
    keys: joined(keys, Infinity) ?? keys,
    jumps: jumpsOf(messages),
    seqs: stepsOf(messages.map(({ seq }) => seq)),
    ats: stepsOf(messages.map(({ at }) => at)),
    lags: lags.every((lag) => lag === lags[0]) ? (lags[0] ?? 0) : lags,
    fields: columnsOf(messages, APART),
    versions: columnsOf(messages.map(({ versions }) => versions.at(-1) as Version)),
    ...(more.length > 0 ? { more } : {}),
  };
  const range = { v: TOPOLOGY_VERSION, first: messages[0]?.seq ?? 0, last: messages.at(-1)?.seq ?? 0 };
  const record = { ...range, text: narrowed(JSON.stringify(columns)) };
  return { ...record, sum: sumOf(record) };
}

function sumOf({ v, first, last, text }: Omit<StoredTopology, 'sum'>): string {
  return sumOfText(text) + sumOfText(`${v} ${first} ${last}`);
}

/** The messages of a record; undefined for a damaged one. Throws `newer-format` for one of a later version. */
export function readTopology(chatId: string, record: unknown): StoredMessage[] | undefined {
  const { text, sum } = Object(record) as Partial<StoredTopology>;
  if (typeof text !== 'string') return undefined;
  const topology = record as StoredTopology;
  if (sum !== sumOf(topology)) return undefined;
  if (topology.v > TOPOLOGY_VERSION) {
    const message = `Chat "${chatId}" was written by a newer version of contextree. Reload the page to get it.`;
    const details = { chatId, format: topology.v, known: TOPOLOGY_VERSION };
    throw new ContextError('newer-format', message, { details });
  }
  return decodeTopology(topology);
}

/**
 * The messages of a record, in order; undefined for a damaged one. Each object is made in one step: ten thousand are made when
 * a chat opens, and adding field by field takes many times as long.
 */
function decodeTopology({ text }: StoredTopology): StoredMessage[] | undefined {
  try {
    const { keys: list, jumps, seqs, ats, lags, fields, versions, more = [] } = JSON.parse(text) as Columns;
    const keys = typeof list === 'string' ? split(list) : list;
    const parents = new Map(jumps);
    const values = valuesOf(fields, keys.length);
    const ofVersions = valuesOf(versions, keys.length);
    const [ids, roles, chats] = take(values, 'id', 'role', 'chat') as string[][];
    const [bys, statuses, sums, previews] = take(ofVersions, 'by', 'status', 'sum', 'preview') as string[][];
    const [revs, parts] = take(ofVersions, 'rev', 'parts') as number[][];
    let [seq, at] = [0, 0];
    const messages = keys.map((key, i): StoredMessage => {
      const parent = parents.get(i);
      at += ats[i] ?? 1;
      return {
        key,
        id: ids?.[i] as string,
        parent: parent === undefined ? (keys[i - 1] as string) : parent,
        role: roles?.[i] as string,
        at,
        createdAt: at + (typeof lags === 'number' ? lags : (lags[i] as number)),
        chat: chats?.[i] as string,
        seq: (seq += seqs[i] ?? 1),
        versions: [
          {
            rev: revs?.[i] as number,
            by: bys?.[i] as string,
            status: statuses?.[i] as Version['status'],
            sum: sums?.[i] as string,
            parts: parts?.[i] as number,
            preview: previews?.[i] as string,
          },
        ],
      };
    });
    addTo(messages, values);
    if (ofVersions.size > 0) addTo(messages.map(shownVersion), ofVersions);
    for (const [place, all] of more) (messages[place] as Writable<StoredMessage>).versions = all;
    return messages;
  } catch {
    return undefined;
  }
}

type Writable<T> = { -readonly [Field in keyof T]: T[Field] };

/** Removes and returns the values of fields that all rows have. Throws if one is missing. */
function take(values: Map<string, readonly unknown[]>, ...fields: readonly string[]): (readonly unknown[])[] {
  return fields.map((field) => {
    const list = values.get(field);
    if (!list) throw new TypeError(`no ${field}`);
    values.delete(field);
    return list;
  });
}

/** Adds the fields that some rows have. */
function addTo(rows: readonly object[], values: ReadonlyMap<string, readonly unknown[]>): void {
  for (const [field, list] of values)
    for (const [i, value] of list.entries())
      if (value !== undefined) (rows[i] as Record<string, unknown>)[field] = value;
}

function jumpsOf(messages: readonly StoredMessage[]): Columns['jumps'] {
  return messages.flatMap(({ parent }, place) =>
    place > 0 && parent === messages[place - 1]?.key ? [] : [[place, parent] as const],
  );
}

/** The differences between neighbours, without ones at the end. */
function stepsOf(numbers: readonly number[]): number[] {
  const steps = numbers.map((number, i) => number - (numbers[i - 1] ?? 0));
  return steps.slice(0, steps.findLastIndex((step) => step !== 1) + 1);
}

/** The record of these bodies: {@link summed} texts, in the order of their messages, undefined for none. */
export function encodePack(bodies: readonly (string | undefined)[]): StoredPack {
  const lines = bodies.map((body) => body?.slice(SUM_LENGTH) ?? 'null');
  const sums = bodies.map((body) => body?.slice(0, SUM_LENGTH) ?? NO_SUM).join('');
  // Texts in JSON contain no line breaks, which are escaped.
  return { text: `[\n${lines.join(',\n')}\n]`, sums };
}

const NO_SUM: string = '-'.repeat(SUM_LENGTH);

/** The bodies of a record, by index; undefined for unreadable ones. */
export function decodePack(record: StoredPack | undefined): readonly (StoredBody | undefined)[] {
  const items = parsed(record?.text);
  if (Array.isArray(items)) return items.map((item) => asBody(item));
  return linesOf(record).map((line) => asBody(parsed(line)));
}

/** The bodies of a record as {@link summed} texts. */
export function summedLines(record: StoredPack | undefined): readonly (string | undefined)[] {
  return linesOf(record).map((line, i) =>
    line === 'null' ? undefined : String(record?.sums).slice(i * SUM_LENGTH, (i + 1) * SUM_LENGTH) + line,
  );
}

function linesOf(record: StoredPack | undefined): string[] {
  const { text } = Object(record) as Partial<StoredPack>;
  if (typeof text !== 'string') return [];
  return text
    .split('\n')
    .slice(1, -1)
    .map((line) => line.replace(/,$/, ''));
}

/** Writes a pack of messages, in order, with their bodies. Large bodies get rows of their own. */
export function putPack(
  rows: Rows,
  chatId: string,
  messages: readonly StoredMessage[],
  bodies: readonly (string | undefined)[],
): void {
  const topology = encodeTopology(messages);
  const key = [chatId, topology.last];
  rows.put('topologies', topology, key);
  rows.put('packs', encodePack(bodies.map((text) => (isLarge(text) ? undefined : text))), key);
  for (const [i, text] of bodies.entries())
    if (isLarge(text)) rows.put('bodies', text, [chatId, messages[i]?.seq ?? 0]);
}

/** The length above which a body is not packed, in characters. */
const LARGE = 2 ** 17;

function isLarge(text: string | undefined): boolean {
  return text !== undefined && text.length > LARGE;
}

/**
 * Calls back with the records at these places; `first`: those that were read already, {@link TOPOLOGIES} at most. They are read a
 * few at a time and decoded as they come: decoding all at the end would be one long task.
 */
export async function eachTopology(
  rows: Rows,
  places: readonly Key[],
  first: readonly StoredTopology[],
  take: (record: StoredTopology) => void,
): Promise<void> {
  const reading: Promise<void>[] = [];
  const readStretch = async (from: Key, to: Key): Promise<void> => {
    for (const record of await rows.all<StoredTopology>('topologies', { from, to })) take(record);
  };
  for (let at = TOPOLOGIES; at < places.length; at += TOPOLOGIES) {
    const stretch = places.slice(at, at + TOPOLOGIES);
    reading.push(readStretch(stretch[0] as Key, stretch.at(-1) as Key));
  }
  for (const record of first) take(record);
  await Promise.all(reading);
}

/** Calls back with the packed bodies at these numbers, which are in order. Returns the numbers that no pack has. */
export async function readPacked(
  rows: Rows,
  chatId: string,
  seqs: readonly number[],
  places: readonly Key[],
  add: (body: StoredBody | undefined) => void,
): Promise<readonly number[]> {
  const lasts = (places as readonly [string, number][]).map(([, last]) => last);
  const packed = seqs.filter((seq) => seq <= (lasts.at(-1) ?? -1));
  const found = new Set<number>();
  await Promise.all([
    readSingles(rows, chatId, seqs.slice(packed.length), add),
    ...runsOf(holders(lasts, packed), 1, TOGETHER).map(async ([first, last]) => {
      const range = { from: [chatId, lasts[first] as number], to: [chatId, lasts[last] as number] };
      for (const pack of await rows.all<StoredPack>('packs', range))
        for (const body of decodePack(pack)) {
          if (body) found.add(body.seq);
          add(body);
        }
    }),
  ]);
  return packed.filter((seq) => !found.has(seq));
}

/** How many packs are read at once. */
const TOGETHER = 8;

/** The indexes of the packs that may contain these numbers; both lists are in order. */
function holders(lasts: readonly number[], seqs: readonly number[]): number[] {
  const held = new Set<number>();
  let at = 0;
  for (const seq of seqs) {
    while ((lasts[at] ?? Infinity) < seq) at += 1;
    held.add(at);
  }
  return [...held];
}
