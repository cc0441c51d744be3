import { IDBFactory } from 'fake-indexeddb';
import fc from 'fast-check';
import { afterAll, beforeAll, expect } from 'vitest';
import { isContextError } from '../../src/errors.ts';
import { IndexedDBContextStore } from '../../src/store/indexeddb/store.ts';
import { BLOCK, type Table, type Topology } from '../../src/store/layout.ts';
import { RecordStore } from '../../src/store/recordStore.ts';
import type { ContextStore } from '../../src/store/store.ts';
import { sumOf, textSum } from '../../src/store/sum.ts';
import { type DatabaseDump, dumpDatabase, loadDatabase } from './dump.ts';
import { engineOn } from './engine.ts';
import { given, givenChat, line, me, message, insert, head } from './graph.ts';
import { ListBacking } from './listDatabase.ts';
import { sealAll } from './sealing.ts';

/**
 * Damaged records: one record of a chat is deleted, cut off, swapped with another, given a wrong type or a wrong
 * character, copied to another place, pointed at something else that is there, or said to be of a later version.
 * Whatever that does, every call answers or fails in our words, a repair brings every message into reach whose words are
 * still on the disk, those that are gone are named, the chat can be written on, and the other chats are as they were.
 */
export interface Mutant {
  readonly kind: (typeof KINDS)[number];
  /** Which record, and which of the ways to damage it: any numbers, taken as far as there is something to choose from. */
  readonly pick: readonly [number, number, number, number];
}

const KINDS = [
  'delete',
  'cut',
  'swap',
  'wrong type',
  'wrong character',
  'copy',
  'retarget',
  'future version',
] as const;

export const mutants: fc.Arbitrary<Mutant> = fc.record<Mutant>({
  kind: fc.constantFrom(...KINDS),
  pick: fc.tuple(fc.nat(9999), fc.nat(9999), fc.nat(9999), fc.nat(9999)),
});

/** Mutants without end, all kinds in turn: the same ones for the same seed. */
export function* drawn(seed: number): Generator<Mutant> {
  let state = seed;
  const draw = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    const mixed = Math.imul(state ^ (state >>> 15), state | 1);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  for (;;) for (const kind of KINDS) yield { kind, pick: [draw(), draw(), draw(), draw()] };
}

/**
 * Damage that was found once to cost more than itself, and is mended. Each is told by what it is and tried in every run: the
 * numbers that drew it mean something else as soon as a record lies elsewhere, or has a field more.
 */
export interface Kept {
  readonly kind: 'kept';
  readonly what: string;
  /** The database with this damage; a record that is not there makes it fail. */
  readonly harm: (whole: DatabaseDump) => DatabaseDump;
}

export const KEPT: readonly Kept[] = [
  laid('a topology behind all others, too', 'topologies', ['c', 1], ['c', 29]),
  laid('a topology in the place of another one', 'topologies', ['c', 1], ['c', 2]),
  laid('the words of a block in the place of others', 'packs', ['c', 1], ['c', 4]),
  laid('the words of a block where single messages are', 'packs', ['c', 4], ['c', 5]),
  laid('single words where a block is', 'bodies', ['c', 22], ['c', 5]),
  laid('a file where a block is', 'bodies', ['c', 21], ['c', 7]),
  changed('an id that a sealed message has', 'nodes', ['c', 22], ['id'], 'm5'),
  changed('an id that another sealed message has', 'nodes', ['c', 21], ['id'], 'm16'),
  changed('a chat that counts a billion messages', 'chats', 'c', ['nextSeq'], 1e9),
  changed('the words of a growing answer without an id', 'bodies', ['c', 23], ['id'], ''),
  changed('single words without an id', 'bodies', ['c', 20], ['id'], ''),
  changed('the first words of a block without an id', 'packs', ['c', 3], ['text', 0, 'id'], ''),
  changed('words in the midst of a block without an id', 'packs', ['c', 2], ['text', 2, 'id'], ''),
  changed('the last words of a block without an id', 'packs', ['c', 3], ['text', 3, 'id'], ''),
  changed('two messages of one id in a block', 'topologies', ['c', 2], ['text', 'ids', 0], 'm9'),
  changed('the second with the id of the third', 'topologies', ['c', 0], ['text', 'ids', 1], 'm2'),
  changed('the second with the id of the last', 'topologies', ['c', 4], ['text', 'ids', 1], 'v4'),
  changed('the first with the id of the last', 'topologies', ['c', 4], ['text', 'ids', 0], 'v4'),
  changed('the same, as a disk changes it', 'topologies', ['c', 0], ['text', 'ids', 0], 'm3', false),
  changed('a sum of words that is null', 'topologies', ['c', 3], ['text', 'few', 'bodyHash', 0, 1], null),
];

/** A record that lies in another place, too. */
function laid(what: string, table: Table, from: IDBValidKey, to: IDBValidKey): Kept {
  return keptOf(what, table, (rows, keyPath) => {
    const { value } = rowAt(rows, from);
    return [...rows, { key: to, value: withKey(value, keyPath, to) }];
  });
}

/** A record of which one field, at any depth, says something else. `isSummed`: as a program with a fault would write it. */
function changed(
  what: string,
  table: Table,
  key: IDBValidKey,
  path: Path,
  leaf: unknown,
  isSummed = true,
): Kept {
  return keptOf(what, table, (rows) => {
    const { value } = rowAt(rows, key);
    const whole = opened(value);
    expect([what, ...pathsOf(whole)]).toContainEqual(path);
    return [
      ...rows,
      {
        key,
        value: closed(
          value,
          replacedAt(whole, path, () => leaf),
          isSummed,
        ),
      },
    ];
  });
}

function keptOf(
  what: string,
  table: Table,
  change: (rows: readonly Row[], keyPath: string | string[] | null) => readonly Row[],
): Kept {
  const harm = ({ version, stores }: DatabaseDump): DatabaseDump => ({
    version,
    stores: stores.map((one) =>
      one.name === table ? { ...one, rows: unique(change(one.rows, one.keyPath)) } : one,
    ),
  });
  return { kind: 'kept', what, harm };
}

function rowAt(rows: readonly Row[], key: IDBValidKey): Row {
  const row = rows.find((one) => JSON.stringify(one.key) === JSON.stringify(key));
  return row ?? expect.unreachable(`there is nothing at ${JSON.stringify(key)}`);
}

/** No promise may be rejected without being heard while these tests run; tells of those that were. */
export function noteUnhandled(): readonly unknown[] {
  const unhandled: unknown[] = [];
  const note = (reason: unknown): unknown => unhandled.push(reason);
  beforeAll(() => void process.on('unhandledRejection', note));
  afterAll(() => void process.off('unhandledRejection', note));
  return unhandled;
}

/** A chat with forks, a checkpoint, a growing answer and a file, sealed but for its end, and another chat. */
export async function givenDatabase(): Promise<DatabaseDump> {
  globalThis.indexedDB = new IDBFactory();
  const store = new IndexedDBContextStore('damaged');
  await given(store, line(18), 'm0 > m1 > m2 > v3 > v4', 'm0 > m1 > m2 > m3 > m4 > w5');
  await store.append('c', [{ op: 'replace', id: 'm7', data: message('m7', 'better') }], me);
  await store.append('c', [{ op: 'checkpoint', id: 'k', name: 'here', messageId: 'm9' }], me);
  const hash = await store.putBlob(new Uint8Array([1, 2, 3]));
  const data = {
    ...message('file'),
    parts: [{ type: 'file', mediaType: 'image/png', url: `contextree-blob:${hash}` }],
  } as const;
  await store.append(
    'c',
    [
      {
        op: 'insert',
        id: 'file',
        parentId: 'm17',
        status: 'complete',
        data: { ...data, parts: [...data.parts] },
      },
    ],
    me,
  );
  await store.append('c', [insert('last', 'file'), head('m17', 'last')], me);
  await store.append('c', [insert('grows', 'last', 'so far', 'streaming'), head('last', 'grows')], me);
  await store.saveDraft('c', 'grows', message('grows', 'so far and'));
  await store.saveDraft('c', 'grows', message('grows', 'so far and further'));
  await givenChat(store, 'other', line(10));
  await sealAll('damaged');
  await store.close();
  return dumpDatabase('damaged');
}

// --- Mutants --------------------------------------------------------------------------------------------------------

type Row = { readonly key: IDBValidKey; readonly value: unknown };

/** The database with one record changed. */
export function mutated(whole: DatabaseDump, mutant: Mutant | Kept): DatabaseDump {
  if (mutant.kind === 'kept') return mutant.harm(whole);
  const { version, stores } = whole;
  const {
    kind,
    pick: [a, b, c, d],
  } = mutant;
  const at = rowsOfChat(stores);
  const { name, row } = at[a % at.length] ?? { name: '', row: { key: '', value: undefined } };
  const change = (rows: readonly Row[], keyPath: string | string[] | null): readonly Row[] => {
    const others = rows.filter((one) => one !== row);
    const own = others.filter((one) => isOfChat(name, one));
    const other = own[b % Math.max(own.length, 1)];
    if (kind === 'delete') return others;
    if (kind === 'copy')
      return [
        ...others,
        row,
        { key: beside(row.key, c), value: withKey(row.value, keyPath, beside(row.key, c)) },
      ];
    if (kind === 'swap' && other) {
      return [
        ...others.filter((one) => one !== other),
        { key: row.key, value: withKey(other.value, keyPath, row.key) },
        { key: other.key, value: withKey(row.value, keyPath, other.key) },
      ];
    }
    const value =
      kind === 'retarget'
        ? retargeted(row.value, keyPath, [b, c, d])
        : kind === 'future version'
          ? ofLaterVersion(row.value, c, d)
          : garbled(row.value, keyPath, kind, [b, c, d]);
    return [...others, { key: row.key, value }];
  };
  return {
    version,
    stores: stores.map((one) =>
      one.name === name ? { ...one, rows: unique(change(one.rows, one.keyPath)) } : one,
    ),
  };
}

/** The rows that may be damaged; the same ones for every mutant of a database. */
function rowsOfChat(stores: DatabaseDump['stores']): readonly { readonly name: string; readonly row: Row }[] {
  const known = ofChat.get(stores);
  const rows =
    known ??
    stores.flatMap(({ name, rows }) =>
      rows.filter((row) => isOfChat(name, row)).map((row) => ({ name, row })),
    );
  ofChat.set(stores, rows);
  return rows;
}

const ofChat = new WeakMap<object, readonly { readonly name: string; readonly row: Row }[]>();

function isOfChat(table: string, { key, value }: Row): boolean {
  if (table === 'meta' || table === 'blobs') return true;
  if (table === 'values' || table === 'leases' || table === 'fresh') return false;
  return JSON.stringify([key, (value as { id?: unknown } | undefined)?.id]).includes('"c"');
}

/** Keys are unique in a database: the later row counts. */
function unique(rows: readonly Row[]): readonly Row[] {
  return [...new Map(rows.map((row) => [JSON.stringify(row.key), row])).values()];
}

function beside(key: IDBValidKey, by: number): IDBValidKey {
  if (!Array.isArray(key)) return `${JSON.stringify(key)}${by}`;
  const last: unknown = key.at(-1);
  return [...key.slice(0, -1), typeof last === 'number' ? (last + 1 + by) % 30 : `${String(last)}${by % 3}`];
}

/** A value with the key that its table reads from it. */
function withKey(value: unknown, keyPath: string | string[] | null, key: IDBValidKey): unknown {
  if (keyPath === null) return value;
  const fields =
    typeof keyPath === 'string'
      ? [[keyPath, key]]
      : keyPath.map((field, i) => [field, (key as unknown[])[i]]);
  return { ...(value as object), ...Object.fromEntries(fields) };
}

function garbled(
  value: unknown,
  keyPath: string | string[] | null,
  kind: Mutant['kind'],
  [a, b, c]: readonly number[],
): unknown {
  if (typeof value === 'string') return garbledText(value, kind, b ?? 0, c ?? 0);
  if (typeof value !== 'object' || value === null) return [null, 'odd', -1][(b ?? 0) % 3];
  const fields = Object.keys(value).filter((field) => !keyPath?.includes(field));
  const field = fields[(a ?? 0) % Math.max(fields.length, 1)];
  if (field === undefined) return value;
  const before: unknown = (value as Record<string, unknown>)[field];
  const after =
    typeof before === 'string' ? garbledText(before, kind, b ?? 0, c ?? 0) : ODD[(b ?? 0) % ODD.length];
  const { [field]: _gone, ...rest } = value as Record<string, unknown>;
  return kind === 'cut' && typeof before !== 'string' ? rest : { ...rest, [field]: after };
}

const ODD = [null, 'odd', -1, Number.NaN, 1e300, [], {}, true, ['x', 1], { id: 1 }, 7] as const;

function garbledText(text: string, kind: Mutant['kind'], at: number, by: number): unknown {
  const place = at % Math.max(text.length, 1);
  if (kind === 'cut') return text.slice(0, place);
  if (kind === 'wrong type') return ODD[at % ODD.length];
  return text.slice(0, place) + String.fromCharCode(32 + (by % 90)) + text.slice(place + 1);
}

/** A value of which one id or number, at any depth, is another one that there is. */
function retargeted(
  value: unknown,
  keyPath: string | string[] | null,
  [a = 0, b = 0, c = 0]: readonly number[],
): unknown {
  const whole = opened(value);
  const paths = pathsOf(whole).filter(([field]) => !(keyPath ?? []).includes(String(field)));
  const path = paths[a % Math.max(paths.length, 1)];
  if (!path) return value;
  return closed(
    value,
    replacedAt(whole, path, (leaf) => otherThan(leaf, b)),
    c % 3 > 0,
  );
}

function ofLaterVersion(value: unknown, by: number, whether: number): unknown {
  const whole = opened(value);
  if (typeof whole !== 'object' || whole === null || Array.isArray(whole)) return value;
  return closed(value, { ...whole, v: 2 + (by % 7) }, whether % 2 > 0);
}

const IDS: readonly unknown[] = [
  ...line(18).split(' > '),
  ...'v3 v4 w5 file last grows b-main b-v4 b-w5 k c other me'.split(' '),
  '',
  null,
];

function otherThan(leaf: unknown, by: number): unknown {
  if (typeof leaf === 'boolean') return !leaf;
  if (typeof leaf === 'number') return [...Array(26).keys(), leaf + 1, leaf - 1, leaf + 4, 1e9][by % 30];
  return IDS[by % IDS.length];
}

/** A value with the JSON that it is, or has in it, parsed; texts that are joined in it are taken apart. */
function opened(value: unknown): unknown {
  if (typeof value === 'string') return parsed(value) ?? value;
  const { text } = Object(value) as { text?: unknown };
  return typeof text === 'string' ? { ...(value as object), text: apart(parsed(text)) ?? text } : value;
}

/** The way back. `isSummed`: as a program with a fault would write it, not as a disk would change it. */
function closed(before: unknown, value: unknown, isSummed: boolean): unknown {
  if (typeof before === 'string') return typeof value === 'string' ? value : JSON.stringify(value);
  const { text, v, ...rest } = Object(value) as { text?: unknown; v?: unknown };
  if (typeof text !== 'object' || text === null) return value;
  const json = Array.isArray(text)
    ? `[\n${text.map((item) => JSON.stringify(item)).join(',\n')}\n]`
    : JSON.stringify(together(text));
  const summed = isSummed && 'sum' in rest ? { sum: sumOfColumns(v, json) } : {};
  return { ...rest, ...(v === undefined ? {} : { v }), text: json, ...summed };
}

/** As `pack.ts` sums topologies. */
function sumOfColumns(v: unknown, json: string): number {
  return Number(v) >= 5 ? textSum(json, Number(v)) : sumOf(json, sumOf(`${String(v)} `));
}

/** The columns of a block: each is a list here, also where its texts are joined. */
interface Columns {
  readonly ids?: unknown;
  readonly places?: readonly unknown[];
  readonly texts?: Readonly<Record<string, unknown>>;
  readonly each?: object;
}

function apart(columns: unknown): unknown {
  const { ids, places, texts } = Object(columns) as Columns;
  if (typeof ids !== 'string') return columns;
  const split = (text: unknown): unknown => {
    const [joined, many] = [String(text), places?.length ?? BLOCK];
    const width = joined.length / many;
    return joined.includes(BETWEEN)
      ? joined.split(BETWEEN)
      : Array.from({ length: many }, (_, i) => joined.slice(i * width, (i + 1) * width));
  };
  return { ...Object(columns), ids: split(ids), texts: mapped(texts, split) };
}

/** What no text can be joined of stays a list. */
function together(columns: Columns): unknown {
  const { ids, texts, each } = columns;
  if (!texts) return columns;
  const isJoined = (items: unknown): items is string[] =>
    Array.isArray(items) && items.every((item) => typeof item === 'string');
  const join = (items: unknown): unknown => {
    if (!isJoined(items)) return items;
    const isEven = items.every((item) => item !== '' && item.length === items[0]?.length);
    return items.join(isEven ? '' : BETWEEN);
  };
  const lists = Object.entries(texts).filter(([, items]) => !isJoined(items));
  const joined = Object.entries(texts).filter(([, items]) => isJoined(items));
  return {
    ...columns,
    ids: join(ids),
    texts: mapped(Object.fromEntries(joined), join),
    each: { ...each, ...Object.fromEntries(lists) },
  };
}

/** What stands between two texts that are joined and not of one length. */
const BETWEEN = '\u007f';

function mapped(record: object = {}, by: (value: unknown) => unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, by(value)]));
}

type Path = readonly (string | number)[];

/** Where the leaves of a value are. */
function pathsOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array)
    return path.length > 0 ? [path] : [];
  return Object.entries(value).flatMap(([field, item]) =>
    pathsOf(item, [...path, Array.isArray(value) ? Number(field) : field]),
  );
}

function replacedAt(value: unknown, [field, ...rest]: Path, by: (leaf: unknown) => unknown): unknown {
  if (field === undefined) return by(value);
  if (Array.isArray(value)) return value.map((item, i) => (i === field ? replacedAt(item, rest, by) : item));
  const record = value as Readonly<Record<string, unknown>>;
  return { ...record, [field]: replacedAt(record[field], rest, by) };
}

function parsed(text: unknown): unknown {
  try {
    return JSON.parse(text as string);
  } catch {
    return undefined;
  }
}

/** Whether a topology says something else and looks as it was written: it has its sum, as if a program had done it. */
export function isPassedOff(whole: DatabaseDump, damaged: DatabaseDump): boolean {
  const [before, after] = [whole, damaged].map(
    ({ stores }) => stores.find(({ name }) => name === 'topologies')?.rows ?? [],
  ) as [readonly Row[], readonly Row[]];
  const known = new Set(before.map(({ value }) => (value as Topology).text));
  return after.some(({ value }) => {
    const { v, text, sum } = value as Partial<Topology>;
    return typeof text === 'string' && !known.has(text) && sum === sumOfColumns(v, text);
  });
}

/** What a mutant makes of a database: the same text for the same records. */
export function contentOf(whole: DatabaseDump, damaged: DatabaseDump): string {
  return JSON.stringify(
    damaged.stores.map(({ name, rows }, i) => {
      const before = whole.stores[i]?.rows;
      if (rows === before) return [];
      const [known, now] = [new Set(before), new Set(rows)];
      const gone = before?.filter((row) => !now.has(row)).map(({ key }) => key);
      return [name, gone, rows.filter((row) => !known.has(row))];
    }),
    (_, value: unknown) => (Number.isNaN(value) ? 'NaN' : value),
  );
}

// --- Where it lies --------------------------------------------------------------------------------------------------

/** What keeps a database, and opens a store on it. */
export type Disk = (damaged: DatabaseDump) => Promise<Opened | undefined>;

interface Opened {
  readonly store: ContextStore;
  /** What lies there, once the store is closed. */
  readonly dump: () => Promise<DatabaseDump>;
}

/** A database of fake-indexeddb, with all that a browser's store does about one. */
export const fakeDisk: Disk = async (damaged) => {
  globalThis.indexedDB = new IDBFactory();
  const isPossible = await loadDatabase('damaged', damaged).then(
    () => true,
    () => false,
  );
  if (!isPossible) return undefined;
  return { store: new IndexedDBContextStore('damaged'), dump: () => dumpDatabase('damaged') };
};

/** The same records in lists: a fifth of the time. */
export const listDisk: Disk = async (damaged) => {
  try {
    const backing = new ListBacking(damaged);
    return { store: new RecordStore(backing), dump: async () => backing.dump() };
  } catch {
    return undefined;
  }
};

// --- What has to hold -----------------------------------------------------------------------------------------------

/** What became of a mutant: nothing, where no database takes such rows or the chat is somebody else's by now. */
export type Told = 'impossible' | 'harmless' | 'named';

/** Plays one mutant. `isThorough`: whether all is read in all ways before it is repaired. */
export async function tell(
  whole: DatabaseDump,
  mutant: Mutant | Kept,
  disk: Disk,
  isThorough = true,
): Promise<Told> {
  const damaged = mutated(whole, mutant);
  const opened = await disk(damaged);
  if (!opened) return 'impossible';
  const { store, dump } = opened;
  const engine = engineOn(store, { userId: 'me' });
  try {
    // A name that is another one is as good as any.
    const owner = (await store.getChat('c'))?.userId;
    if (owner !== undefined && !['me', ''].includes(owner)) return 'impossible';
    // What messages are found by says nothing that the messages do not say: not one is lost with it, not for a moment.
    if (isOnlyIn('marks', whole, damaged))
      await expectFound(store, [...survivors(whole, damaged).there.keys()]);
    await ours(() => engine.ready());
    await ours(() => engine.resolve());
    const reads: readonly (() => Promise<unknown>)[] = [
      () => store.load('c'),
      () => store.load('c', 5),
      () => store.getMessages('c'),
      () => store.getMessageChain('c', 'm17', { limit: 5 }),
      () => store.getNodes('c', ['m1', 'm9', 'm17']),
      () => store.listBranches('c'),
      () => store.listCheckpoints('c'),
      () => store.getGraph('c'),
      () => store.listChats(),
      () => store.listChats({ limit: 1 }),
      () => store.listChats({ userId: 'me', limit: 2 }),
      () => store.changesSince(0),
      () => store.searchMessages('c', 'm1 better'),
      () => store.getMessage('c', 'grows'),
      () => engine.inspect(),
    ];
    if (isThorough) for (const read of reads) await ours(read);
    // What `verify()` says is what a preview finds.
    const plan = isThorough ? await ours(() => engine.repair({ preview: true })) : undefined;
    const repair = await ours(() => engine.repair());
    if (!repair) {
      // What a later version wrote is left alone.
      expect(await codeOf(() => engine.repair())).toBe('newer-format');
      await store.close();
      expect(rowsOf(await dump(), 'c')).toEqual(rowsOf(damaged, 'c'));
      return 'named';
    }
    const { findings } = repair;
    if (isThorough) expect(plan?.messages.toSorted()).toEqual(repair.messages.toSorted());
    if (findings.some(({ mends }) => mends))
      expect((await engine.verify()).filter(({ mends }) => mends)).toEqual([]);
    await ours(() => engine.continue(message('q-next', 'more'), { id: 'a-next' }));
    const named = [...(plan?.findings ?? []), ...findings].map(({ id, text }) => `${id} ${text}`);
    expect(await expectWords(store, survivors(whole, damaged), named)).toContain('q-next');
    await store.close();
    expect(rowsOf(await dump(), 'other')).toEqual(rowsOf(damaged, 'other'));
    return findings.length > 0 ? 'named' : 'harmless';
  } catch (error) {
    throw new Error(`With ${JSON.stringify(mutant)}, ${differenceOf(whole, damaged)}: ${String(error)}`, {
      cause: error,
    });
  } finally {
    await store.close();
  }
}

/** Whether all that is damaged lies in one table. */
function isOnlyIn(table: Table, whole: DatabaseDump, damaged: DatabaseDump): boolean {
  return damaged.stores.some(({ name, rows }, i) => name === table && rows !== whole.stores[i]?.rows);
}

/** Each of these messages is found by its id, which nobody can take. */
async function expectFound(store: ContextStore, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    expect([id, (await store.getMessage('c', id))?.id]).toEqual([id, id]);
    const again = store.append('c', [insert(id, 'last', 'words of another one')], me);
    expect([id, await codeOf(() => again)]).toEqual([id, 'head-moved']);
  }
}

/** The result of a call; undefined where it failed in our words. Anything else it throws is ours to mend. */
async function ours<T>(call: () => Promise<T>): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('It hangs.')), 10_000);
  });
  try {
    return await Promise.race([call(), late]);
  } catch (error) {
    if (!isContextError(error) || error.code === 'invariant') throw error;
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

/** The code that a call is refused with. */
async function codeOf(call: () => Promise<unknown>): Promise<string | undefined> {
  return call().then(
    () => undefined,
    (error: unknown) => (isContextError(error) ? error.code : String(error)),
  );
}

/** The messages whose words are on the disk as they were, and those whose are not, by id. */
function survivors(
  whole: DatabaseDump,
  damaged: DatabaseDump,
): { there: Map<string, unknown>; gone: Map<string, unknown> } {
  const before = bodiesBefore.get(whole) ?? bodiesOf(whole);
  bodiesBefore.set(whole, before);
  const after = bodiesOf(damaged);
  const [there, gone] = [new Map<string, unknown>(), new Map<string, unknown>()];
  for (const [id, text] of before) (after.get(id) === text ? there : gone).set(id, JSON.parse(text));
  return { there, gone };
}

const bodiesBefore = new WeakMap<DatabaseDump, Map<string, string>>();

/** The bodies of the chat that can be read in some line of some record. */
function bodiesOf({ stores }: DatabaseDump): Map<string, string> {
  const texts = stores.flatMap(({ name, rows }) => {
    const own = rows.filter(({ key }) => (key as unknown[])[0] === 'c').map(({ value }) => value);
    if (name === 'bodies') return own;
    if (name !== 'packs') return [];
    return own.flatMap((value) =>
      String((value as { text: unknown }).text)
        .split('\n')
        .map((each) => each.replace(/,$/, '')),
    );
  });
  const bodies = new Map<string, string>();
  for (const text of texts) {
    const id = idOf(text);
    if (id !== undefined) bodies.set(id, text as string);
  }
  return bodies;
}

/** The id of the message that a text is; of most it is asked again for the next mutant. */
function idOf(text: unknown): string | undefined {
  if (!ids.has(text)) {
    const body = parsed(text) as { id?: unknown; parts?: unknown } | null | undefined;
    ids.set(text, typeof body?.id === 'string' && Array.isArray(body.parts) ? body.id : undefined);
  }
  return ids.get(text);
}

const ids = new Map<unknown, string | undefined>();

/** Every message that is on the disk can be read and reached, and every other one is named. Gives the ids of the former. */
async function expectWords(
  store: ContextStore,
  { there, gone }: { there: Map<string, unknown>; gone: Map<string, unknown> },
  named: readonly string[],
): Promise<string[]> {
  const chains = await Promise.all(
    (await store.listBranches('c')).map(({ headMessageId }) =>
      store.getMessageChain('c', headMessageId ?? ''),
    ),
  );
  const reached = new Map(chains.flat().map((node) => [node.id, node.data]));
  // A growing answer has its words in two places, and what can be guessed may be right.
  const isReadable = (id: string, data: unknown): boolean =>
    id === 'grows' ? reached.has(id) : JSON.stringify(reached.get(id)) === JSON.stringify(data);
  expect([...there].filter(([id, data]) => !isReadable(id, data))).toEqual([]);
  const unnamed = [...gone]
    .filter(([id, data]) => !isReadable(id, data) && !named.some((words) => words.includes(id)))
    .map(([id]) => id);
  expect(unnamed).toEqual([]);
  return [...reached.keys()];
}

/** The record that was changed, for someone who reads of a failure. */
function differenceOf(whole: DatabaseDump, damaged: DatabaseDump): string {
  const known = new Set(
    whole.stores.flatMap(({ name, rows }) => rows.map((row) => JSON.stringify([name, row]))),
  );
  const now = damaged.stores.flatMap(({ name, rows }) => rows.map((row) => JSON.stringify([name, row])));
  const there = new Set(now);
  const gone = [...known].filter((row) => !there.has(row));
  return `${gone.join(' and ')} changed to ${now.filter((row) => !known.has(row)).join(' and ')}`;
}

/** What lies there of a chat, whatever order it was given in. */
function rowsOf({ stores }: DatabaseDump, chatId: string): unknown {
  return stores.map(({ name, rows }) => [
    name,
    new Map(
      rows
        .filter(({ key }) => (key as unknown[])[0] === chatId)
        .map(({ key, value }) => [JSON.stringify(key), value]),
    ),
  ]);
}
