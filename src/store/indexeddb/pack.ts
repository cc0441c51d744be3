import type { UIMessage } from 'ai';
import { ContextError } from '../../errors.ts';
import type { NodeInfo } from '../../graph/graph.ts';
import { createHexId } from '../hexId.ts';
import { BLOCK, type Lost, type Pack, type Topology } from '../layout.ts';
import { inOrder } from '../order.ts';
import { sumOf, textSum } from '../sum.ts';
import { narrowed, takeText, textOf } from '../texts.ts';
import { INFO, mended, readBody } from './damage.ts';
import { marksOf } from './marks.ts';

/**
 * What a sealed block looks like.
 *
 * Sixty-four messages of a chat are much alike: one device wrote them, they are complete, each follows the one before.
 * So the topology of a block is kept as columns, not as rows. What all have in common is kept once; a parent is kept
 * only where the chain jumps, that is where it is not the message before; a field that few have is kept with their
 * places; of one that has few values, as of who speaks, each is kept once, and which it is takes a digit a message; short texts
 * are joined; the rest is a list with an item for each. No column is known by name but those that have a rule of their
 * own, so a field that a later version adds to its records survives.
 *
 * Columns and bodies are JSON text, which a database reads several times faster than the same as objects. The two are
 * records of their own: the graph of a chat is read without touching a word of it.
 *
 * A record of sixty-four messages must not be lost because of one character. Each body has a line of its own in the
 * text of its pack, and tells its id: if the text as a whole can't be read, the lines can. The columns have no such
 * lines, but what they say can mostly be told from the bodies: who spoke, in which order. Neither is ever written over
 * without keeping the text that could not be read.
 */
const VERSION = 5;

/** A sealed message without its body, and the number of its last change. */
export interface Sealed {
  readonly info: NodeInfo;
  readonly changed: number;
}

/** The sealed messages of a block, in the order of `seq`: two lists, because most ask only for one. */
export interface Block {
  readonly chatId: string;
  readonly block: number;
  readonly infos: readonly NodeInfo[];
  /** The number of the last change of each. */
  readonly changed: readonly number[];
  /** Set when its topology is not what was written: what can be told of it. */
  readonly damage?: Lost;
}

/** A block of these messages, which may come in any order. */
export function blockFrom(
  { chatId, block, damage }: Pick<Block, 'chatId' | 'block' | 'damage'>,
  sealed: readonly Sealed[],
): Block {
  const sorted = inOrder(sealed, ({ info }) => info.seq);
  const infos = sorted.map(({ info }) => info);
  return { chatId, block, infos, changed: sorted.map((one) => one.changed), ...(damage ? { damage } : {}) };
}

/** The messages of a block one by one, by `seq`. */
export function sealedIn({ infos, changed }: Pick<Block, 'infos' | 'changed'>): Map<number, Sealed> {
  return new Map(infos.map((info, i) => [info.seq, { info, changed: changed[i] ?? 0 }]));
}

/** The number of the block that a message lies in. */
export function blockOf(seq: number): number {
  return Math.floor(seq / BLOCK);
}

/**
 * The number of blocks that are to be sealed, of a chat whose next message is `nextSeq`: those that are full, and have
 * as many messages again behind them. What a conversation still changes is among its newest messages.
 */
export function blocksDue(nextSeq: number): number {
  return Math.max(blockOf(nextSeq) - 1, 0);
}

/**
 * So many characters of bodies are packed together at most. A pack is written and read as a whole: that spares small
 * messages the time that a record takes, and large ones it would only make wait for each other. Nor does a browser take a
 * record of any size.
 */
export const LARGEST_PACK: number = 2 ** 24;

/** The characters that bodies take in a pack. */
export function sizeOf(bodies: Iterable<UIMessage | undefined>): number {
  let size = 0;
  for (const body of bodies) if (body) size += textOf(body).length;
  return size;
}

/** What a sealed message was found by up to version 3, in an index: a number that few others share. */
export function numberOf(chatId: string, id: string): number {
  return sumOf(keyOf(chatId, id)) >>> 2;
}

/** What it was found by in format 2: its chat and its id, told apart by the length of the first. */
export function keyOf(chatId: string, id: string): string {
  return prefixOf(chatId) + id;
}

function prefixOf(chatId: string): string {
  return `${chatId.length}:${chatId}`;
}

// --- Topologies -----------------------------------------------------------------------------------------------------

/** The columns of a block: a field is in one of `same`, `few`, `texts`, `each` and `some`. */
interface Columns {
  /** The number of the block, so that a record that lies in another one's place is known. Older ones do not have it. */
  readonly block?: number;
  /** In the order of `seq`; from version 5 on {@link joined} where they are short. In format 2 they are told by the keys. */
  readonly ids?: string | readonly string[];
  /** The places of the messages in the block; absent when there is one at each. */
  readonly places?: readonly number[];
  /** What all messages have in common. */
  readonly same: Readonly<Record<string, unknown>>;
  /** Up to ten values, and a digit for each message that says which is its own. From version 3 on. */
  readonly few?: Readonly<Record<string, readonly [values: readonly unknown[], digits: string]>>;
  /** A short text for each message, {@link joined}. From version 5 on. */
  readonly texts?: Readonly<Record<string, string>>;
  /** A value for each message. */
  readonly each: Readonly<Record<string, readonly unknown[]>>;
  /** The values of some messages, by place. */
  readonly some: Readonly<Record<string, readonly (readonly [place: number, value: unknown])[]>>;
  /** The messages that do not follow the one before: place, parent and depth. The first one is always among them. */
  readonly jumps: readonly (readonly [place: number, parentId: string | null, depth: number])[];
  /**
   * The numbers of the last changes, each told by how far it is from the one before. Those at the end that are one are left
   * out. In format 2, `changed` as it is.
   */
  readonly steps?: readonly number[];
  readonly changed?: readonly number[];
}

/** Fields that are not among the columns, because they are told by the record, its keys or the jumps. */
const TOLD: ReadonlySet<string> = new Set(['chatId', 'id', 'seq', 'parentId', 'depth']);

/** The record that keeps a block's topology. */
export function encodeTopology({ chatId, block, infos, changed, damage }: Block): Topology {
  const ids = infos.map(({ id }) => id);
  const places = infos.length === BLOCK ? {} : { places: infos.map(({ seq }) => seq % BLOCK) };
  const told = { block, ids: joined(ids) ?? ids, ...places, jumps: jumpsOf(infos), steps: stepsOf(changed) };
  const text = narrowed([JSON.stringify({ ...told, ...columnsOf(infos) })]);
  return {
    chatId,
    block,
    v: VERSION,
    stamp: createStamp(),
    first: Math.min(...changed),
    last: Math.max(...changed),
    text,
    sum: sumOfText(VERSION, text),
    ...(damage ? { lost: damage } : {}),
  };
}

/** A name that no other writing has: this page's, and a number. One from the system for each block would take longer. */
function createStamp(): string {
  pageId ??= createHexId();
  stamps += 1;
  return pageId + stamps.toString(36);
}

let pageId: string | undefined;
let stamps = 0;

/** How far each number is from the one before. Steps of one at the end are left out, but not the first step. */
function stepsOf(numbers: readonly number[]): number[] {
  const steps = numbers.map((number, i) => number - (numbers[i - 1] ?? 0));
  const end = steps.findLastIndex((step, i) => i === 0 || step !== 1) + 1;
  return steps.slice(0, end);
}

/** The numbers that these steps lead to. Where there are none at all, nothing is known of any. */
function numbersOf(steps: readonly number[], count: number): number[] {
  let number = 0;
  return Array.from({ length: steps.length > 0 ? count : 0 }, (_, i) => (number += steps[i] ?? 1));
}

type Fields = Pick<Columns, 'same' | 'few' | 'texts' | 'each' | 'some'>;

function columnsOf(infos: readonly NodeInfo[]): Fields {
  const same: Record<string, unknown> = {};
  const few: Record<string, [unknown[], string]> = {};
  const texts: Record<string, string> = {};
  const each: Record<string, unknown[]> = {};
  const some: Record<string, [number, unknown][]> = {};
  const rows = infos as unknown as readonly Readonly<Record<string, unknown>>[];
  for (const field of fieldsOf(rows)) {
    if (TOLD.has(field)) continue;
    const values = rows.map((row) => row[field]);
    if (values.includes(undefined))
      some[field] = [...values.entries()].filter(([, value]) => value !== undefined);
    else if (values.every((value) => isEqual(value, values[0]))) same[field] = values[0];
    else {
      const known = fewOf(values);
      const text = known ? undefined : joined(values);
      if (known) few[field] = [known, values.map((value) => known.indexOf(value)).join('')];
      else if (text === undefined) each[field] = values;
      else texts[field] = text;
    }
  }
  return { same, few, texts, each, some };
}

/** The fields that some rows have. Mostly all have the same in the same order, so each is looked for in its place first. */
function fieldsOf(rows: readonly object[]): string[] {
  const fields: string[] = [];
  for (const row of rows) {
    let place = 0;
    for (const field in row) {
      if (fields[place] !== field && !fields.includes(field)) fields.push(field);
      place += 1;
    }
  }
  return fields;
}

/** So many values of a field have a digit each. */
const MOST = 10;

/** The values that there are; undefined where there are more. */
function fewOf(values: readonly unknown[]): unknown[] | undefined {
  const known: unknown[] = [];
  for (const value of values) {
    if (known.includes(value)) continue;
    if (known.length === MOST) return undefined;
    known.push(value);
  }
  return known;
}

/**
 * The texts of a column as one, where all are short: those of one length need nothing between them. Undefined for others.
 *
 * Browsers enter a short text in a table as they parse it, which takes longer than to cut it out of a long one. What is
 * longer than this they do not cut out, but keep all that it lies in.
 */
function joined(values: readonly unknown[]): string | undefined {
  const isShort = (value: unknown): boolean =>
    isString(value) && value.length <= SHORT && !value.includes(END);
  if (!values.every(isShort)) return undefined;
  const width = (values[0] as string | undefined)?.length ?? 0;
  const isEven = width > 0 && values.every((value) => (value as string).length === width);
  return values.join(isEven ? '' : END);
}

const SHORT = 12;

/** Between two texts: JSON does not escape it, and nobody types it. */
const END = '\u007f';

/** The texts that were joined; throws where they can't be so many. */
function split(text: string, count: number): string[] {
  const texts = text.includes(END) ? text.split(END) : evenParts(text, count);
  if (texts.length !== count) throw new RangeError(`not ${count} texts: ${text}`);
  return texts;
}

function evenParts(text: string, count: number): string[] {
  const width = text.length / count;
  const texts: string[] = [];
  if (!Number.isInteger(width)) return texts;
  for (let at = 0; at < text.length; at += width) texts.push(text.slice(at, at + width));
  return texts;
}

function isString(value: unknown): value is string {
  return typeof value === 'string';
}

function isEqual(a: unknown, b: unknown): boolean {
  return a === b || (typeof a === 'object' && JSON.stringify(a) === JSON.stringify(b));
}

function jumpsOf(infos: readonly NodeInfo[]): Columns['jumps'] {
  return infos.flatMap((info, place) => {
    const before = infos[place - 1];
    const follows = before !== undefined && info.parentId === before.id && info.depth === before.depth + 1;
    return follows ? [] : [[place, info.parentId, info.depth] as const];
  });
}

/**
 * The block that a record keeps; undefined where that can't be told. Throws `newer-format` for what a later version
 * wrote.
 */
export function decodeTopology(record: Topology): Block | undefined {
  const { chatId, block, v, text, lost } = record;
  // The one look that goes over every character is taken once.
  const isSummed = record.sum === sumOfText(v, text);
  if (v > VERSION && isSummed) throw newerFormat(chatId, v);
  try {
    const columns = JSON.parse(text) as Columns;
    if (columns.block !== undefined && columns.block !== block) return undefined;
    const { infos, changed } = decodeColumns(record, columns, isSummed);
    if (!isInPlace(block, infos)) return undefined;
    const damage = isAsWritten(record, changed, isSummed) ? lost : [...(lost ?? []), text];
    return { chatId, block, infos, changed, ...(damage ? { damage } : {}) };
  } catch {
    return undefined;
  }
}

/** The sum of a text and its version; in a damaged record, either may be anything. Every later version has to keep it so. */
function sumOfText(v: unknown, text: unknown): number {
  const isOld = !(Number(v) >= QUICK);
  return isOld ? sumOf(String(text), sumOf(`${String(v)} `)) : textSum(String(text), Number(v));
}

/** The first version that is summed quickly. */
const QUICK = 5;

function isInPlace(block: number, infos: readonly NodeInfo[]): boolean {
  let before = block * BLOCK - 1;
  for (const { seq } of infos) {
    if (seq <= before) return false;
    before = seq;
  }
  return before < (block + 1) * BLOCK;
}

/**
 * Whether the text is the one that was written. Format 2 knew no sums. `isSummed`: whether version and text have their
 * sum.
 */
function isAsWritten(record: Topology, changed: readonly number[], isSummed: boolean): boolean {
  const { keys, first, last, sum } = record;
  if (sum === undefined) return typeof keys?.[0] === 'string';
  const isFirst = first === undefined || first === Math.min(...changed);
  return isSummed && isFirst && last === Math.max(...changed);
}

/**
 * Whether the messages of a block are found by their ids: by `marks`, those of the block, or as they were up to version 3,
 * by the keys of its record.
 */
export function isFound({ chatId, keys, sum }: Topology, block: Block, marks: string): boolean {
  const { infos } = block;
  const found: readonly unknown[] = Array.isArray(keys) ? keys : [];
  return (
    sum === undefined ||
    marks === marksOf(block) ||
    (infos.length > 0 && infos.every(({ id }, i) => found[i] === numberOf(chatId, id)))
  );
}

function decodeColumns(
  record: Topology,
  columns: Columns,
  isSummed: boolean,
): Pick<Block, 'infos' | 'changed'> {
  const infos = chain(rowsOf(record, columns), columns.jumps);
  const { steps = [], changed = numbersOf(steps, infos.length) } = columns;
  // What has its sum needs no looking at.
  return isSummed ? { infos, changed } : readable(infos, changed);
}

/**
 * The columns as rows, but for what is told by the jumps. Ten thousand are made when a chat opens, so they are copies of
 * one row that has all fields already: an object to which they are added one by one takes many times as long.
 */
function rowsOf({ chatId, block, keys }: Topology, columns: Columns): Writable<NodeInfo>[] {
  const { same, few = {}, texts = {}, each, some, places, ids: known = idsOf(chatId, keys) } = columns;
  const ids = isString(known) ? split(known, places?.length ?? BLOCK) : known;
  const blank = Object.fromEntries(
    Object.keys({ ...few, ...texts, ...each }).map((field) => [field, undefined]),
  );
  const row: Record<string, unknown> = {
    id: '',
    chatId,
    seq: 0,
    parentId: null,
    depth: 1,
    ...same,
    ...blank,
  };
  const rows = ids.map((id, i) => ({ ...row, id, seq: block * BLOCK + (places?.[i] ?? i) }));
  // Counted loops, here and in `chain`: a chat is opened by code that nothing has run yet.
  for (const [field, [values, digits]] of Object.entries(few))
    for (let i = 0; i < rows.length; i += 1)
      (rows[i] as Record<string, unknown>)[field] = values[digits.charCodeAt(i) - ZERO];
  const told = Object.entries(texts).map(([field, text]) => [field, split(text, rows.length)] as const);
  for (const [field, values] of [...Object.entries(each), ...told])
    for (let i = 0; i < rows.length; i += 1) (rows[i] as Record<string, unknown>)[field] = values[i];
  for (const [field, values] of Object.entries(some))
    for (const [i, value] of values) (rows[i] as Record<string, unknown>)[field] = value;
  return rows as unknown as Writable<NodeInfo>[];
}

const ZERO = '0'.charCodeAt(0);

function readable(infos: readonly NodeInfo[], changed: readonly number[]): Pick<Block, 'infos' | 'changed'> {
  const known = infos.flatMap((info, i) => {
    const better = mended(info as unknown as Readonly<Record<string, unknown>>, INFO);
    const number = changed[i] ?? 0;
    return better
      ? [{ info: better as unknown as NodeInfo, changed: Number.isFinite(number) ? number : 0 }]
      : [];
  });
  return { infos: known.map(({ info }) => info), changed: known.map((one) => one.changed) };
}

function idsOf(chatId: string, keys: Topology['keys'] = []): string[] {
  const from = prefixOf(chatId).length;
  return keys.map((key) => (key as string).slice(from));
}

type Writable<T> = { -readonly [Field in keyof T]: T[Field] };

/** Gives the messages their parents and depths: they follow the message before, unless they jump. */
function chain(infos: readonly Writable<NodeInfo>[], jumps: Columns['jumps']): readonly NodeInfo[] {
  const jumpAt = new Map(jumps.map(([place, ...jump]) => [place, jump]));
  let before: NodeInfo | undefined;
  for (let place = 0; place < infos.length; place += 1) {
    const info = infos[place] as Writable<NodeInfo>;
    const jump = jumpAt.get(place);
    if (jump) {
      info.parentId = jump[0];
      info.depth = jump[1];
    } else if (before) {
      info.parentId = before.id;
      info.depth = before.depth + 1;
    }
    before = info;
  }
  return infos;
}

function newerFormat(chatId: string, v: number): ContextError {
  const message = `Chat "${chatId}" was written by a newer version of contextree. Reload the page to get it.`;
  return new ContextError('newer-format', message, { details: { chatId, format: v, known: VERSION } });
}

// --- Packs ----------------------------------------------------------------------------------------------------------

/** The bodies of a block, by their place in it; null where there is none. */
export type Bodies = readonly (UIMessage | null)[];

/** The record that keeps a block's bodies. */
export function encodePack(chatId: string, block: number, bodies: Bodies, lost: Lost | undefined): Pack {
  const lines = Array.from({ length: BLOCK }, (_, place) => {
    const body = bodies[place];
    return body ? takeText(body) : 'null';
  });
  // Brackets are added to lines, not to the text of them all: an engine would copy it once more.
  lines[0] = `[\n${lines[0] ?? ''}`;
  lines[BLOCK - 1] += '\n]';
  // JSON has line breaks only between two bodies, because those in texts are escaped.
  const text = narrowed(lines, ',\n');
  return { chatId, block, text, ...(lost ? { lost } : {}) };
}

/** What a record keeps. */
export interface PackContent {
  readonly bodies: Bodies;
  /** Set when some of it can't be read. */
  readonly damage?: Lost;
}

/** The bodies that a record keeps. Where some are damaged, the others are found; `ids` tells their places. */
export function decodePack({ text, lost }: Pick<Pack, 'text' | 'lost'>, ids: Ids): PackContent {
  const items = parsed(text);
  const bodies = Array.isArray(items) ? items.map(bodyOf) : inPlace(linesOf(text), ids);
  const isWhole = Array.isArray(items) && bodies.every((body, i) => body === items[i]);
  const damage = isWhole ? lost : [...(lost ?? []), text];
  return damage ? { bodies, damage } : { bodies };
}

/** The ids of a block's messages and their places in it, where they are known. */
export type Ids = ReadonlyMap<string, number>;

function bodyOf(item: unknown): UIMessage | null {
  return (readBody(item) as UIMessage | undefined) ?? null;
}

function parsed(text: unknown): unknown {
  try {
    return JSON.parse(text as string);
  } catch {
    return undefined;
  }
}

function linesOf(text: unknown): (UIMessage | null)[] {
  if (typeof text !== 'string') return [];
  return text.split('\n').map((line) => bodyOf(parsed(line.replace(/,$/, ''))));
}

/** Lines without those that tell of no message that is known; the first line holds only the bracket. */
function inPlace(lines: readonly (UIMessage | null)[], ids: Ids): Bodies {
  const bodies: (UIMessage | null)[] = Array.from({ length: BLOCK }, () => null);
  for (const [i, body] of lines.entries()) {
    const place = (body && ids.get(body.id)) ?? (ids.size === 0 ? i - 1 : -1);
    if (body && place >= 0 && place < BLOCK) bodies[place] = body;
  }
  return bodies;
}
