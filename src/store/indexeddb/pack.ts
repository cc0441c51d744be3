import type { UIMessage } from 'ai';
import { ContextError } from '../../errors.ts';
import type { NodeInfo } from '../../graph/graph.ts';
import { createDeviceId } from '../device.ts';
import { BLOCK, type Pack, type Topology } from '../layout.ts';

/**
 * What a sealed block looks like.
 *
 * Sixty-four messages of a chat are much alike: one device wrote them, they are complete, each follows the one before.
 * So the topology of a block is kept as columns, not as rows. What all have in common is kept once; a parent is kept
 * only where the chain jumps, that is where it is not the message before; a field that few have is kept with their
 * places; the rest is a list with an item for each. No column is known by name but those that have a rule of their own,
 * so a field that a later version adds to its records survives.
 *
 * Columns and bodies are JSON text, which a database reads several times faster than the same as objects. The two are
 * records of their own: the graph of a chat is read without touching a word of it.
 */
const VERSION = 1;

/** A sealed message without its body, and the number of its last change. */
export interface Sealed {
  readonly info: NodeInfo;
  readonly changed: number;
}

/** The sealed messages of a block, in the order of `seq`. */
export interface Block {
  readonly chatId: string;
  readonly block: number;
  readonly sealed: readonly Sealed[];
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

/** What a sealed message is found by in the index: its chat and its id, told apart by the length of the first. */
export function keyOf(chatId: string, id: string): string {
  return prefixOf(chatId) + id;
}

function prefixOf(chatId: string): string {
  return `${chatId.length}:${chatId}`;
}

// --- Topologies -----------------------------------------------------------------------------------------------------

/** The columns of a block: a field is in one of the first three. */
interface Columns {
  /** What all messages have in common. */
  readonly same: Readonly<Record<string, unknown>>;
  /** A value for each message. */
  readonly each: Readonly<Record<string, readonly unknown[]>>;
  /** The values of some messages, by place. */
  readonly some: Readonly<Record<string, readonly (readonly [place: number, value: unknown])[]>>;
  /** The messages that do not follow the one before: place, parent and depth. The first one is always among them. */
  readonly jumps: readonly (readonly [place: number, parentId: string | null, depth: number])[];
  readonly changed: readonly number[];
}

/** Fields that are not among the columns, because they are told by the record, its keys or the jumps. */
const TOLD: ReadonlySet<string> = new Set(['chatId', 'id', 'parentId', 'depth']);

/** The record that keeps a block's topology. */
export function encodeTopology({ chatId, block, sealed }: Block): Topology {
  const infos = sealed.map(({ info }) => info);
  const changed = sealed.map((one) => one.changed);
  const columns = { ...columnsOf(infos), jumps: jumpsOf(infos), changed };
  return {
    chatId,
    block,
    v: VERSION,
    stamp: createDeviceId(),
    keys: infos.map(({ id }) => keyOf(chatId, id)),
    last: Math.max(...changed),
    text: JSON.stringify(columns),
  };
}

function columnsOf(infos: readonly NodeInfo[]): Pick<Columns, 'same' | 'each' | 'some'> {
  const same: Record<string, unknown> = {};
  const each: Record<string, unknown[]> = {};
  const some: Record<string, [number, unknown][]> = {};
  const rows = infos as unknown as readonly Readonly<Record<string, unknown>>[];
  for (const field of new Set(rows.flatMap((row) => Object.keys(row)))) {
    if (TOLD.has(field)) continue;
    const values = rows.map((row) => row[field]);
    if (values.includes(undefined))
      some[field] = [...values.entries()].filter(([, value]) => value !== undefined);
    else if (values.every((value) => isEqual(value, values[0]))) same[field] = values[0];
    else each[field] = values;
  }
  return { same, each, some };
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

/** The block that a record keeps. Rejects with `newer-format` what a later version wrote. */
export function decodeTopology({ chatId, block, v, keys, text }: Topology): Block {
  if (v > VERSION) throw newerFormat(chatId, v);
  const { same, each, some, jumps, changed } = JSON.parse(text) as Columns;
  const columns = Object.entries(each);
  const from = prefixOf(chatId).length;
  const infos = keys.map((key, place) => {
    const info: Record<string, unknown> = { id: key.slice(from), chatId, parentId: null, depth: 1, ...same };
    for (const [field, values] of columns) info[field] = values[place];
    return info;
  });
  for (const [field, values] of Object.entries(some))
    for (const [place, value] of values) (infos[place] as Record<string, unknown>)[field] = value;
  const chained = chain(infos as unknown as Writable<NodeInfo>[], jumps);
  return { chatId, block, sealed: chained.map((info, place) => ({ info, changed: changed[place] ?? 0 })) };
}

type Writable<T> = { -readonly [Field in keyof T]: T[Field] };

/** Gives the messages their parents and depths: they follow the message before, unless they jump. */
function chain(infos: readonly Writable<NodeInfo>[], jumps: Columns['jumps']): readonly NodeInfo[] {
  const jumpAt = new Map(jumps.map(([place, parentId, depth]) => [place, { parentId, depth }]));
  for (const [place, info] of infos.entries()) {
    const before = infos[place - 1];
    Object.assign(info, jumpAt.get(place) ?? (before && { parentId: before.id, depth: before.depth + 1 }));
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

/** The record that keeps a block's bodies, given by `seq`. */
export function encodePack(chatId: string, block: number, bodies: ReadonlyMap<number, UIMessage>): Pack {
  const places = Array.from({ length: BLOCK }, (_, place) => bodies.get(block * BLOCK + place) ?? null);
  return { chatId, block, text: JSON.stringify(places) };
}

/** The bodies that a record keeps. One that is damaged keeps none: its messages read as messages without parts. */
export function decodePack({ text }: Pick<Pack, 'text'>): Bodies {
  try {
    const bodies: unknown = JSON.parse(text);
    return Array.isArray(bodies) ? (bodies as Bodies) : [];
  } catch {
    return [];
  }
}
