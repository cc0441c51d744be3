import type { StoreNotice } from './store.ts';
import {
  ALL,
  createMeta,
  type Database,
  isRange,
  type Key,
  LAYOUT,
  only,
  type Range,
  type Rows,
  type Shape,
  type Table,
} from './tables/layout.ts';
import * as rarely from './tables/rarely.ts';
import { Access, usual } from './tables/usual.ts';

/** The access of a store in memory. */
export function createMemory(hear: (notice: StoreNotice) => void): Access {
  return new Access(new MemoryTables(), { ...usual, ...rarely }, hear);
}

/** Tables in memory: keys in order, one transaction at a time, and a failed transaction is rolled back. */
class MemoryTables implements Database {
  readonly persistence = 'memory';
  readonly #rows: MemoryRows = new MemoryRows();
  readonly #holds = new Set<{ readonly chatId: string; readonly key: string }>();
  #last: Promise<unknown> = Promise.resolve();

  constructor() {
    this.#rows.put('meta', createMeta(), 'self');
  }

  read<T>(work: (rows: Rows) => Promise<T>): Promise<T> {
    return this.write(work);
  }

  write<T>(work: (rows: Rows) => Promise<T>): Promise<T> {
    const done = this.#last.then(() => this.#rows.transact(work));
    this.#last = done.catch(() => undefined);
    return done;
  }

  putNow(table: Table, value: unknown, key: Key): boolean {
    this.#rows.put(table, value, key);
    return true;
  }

  async hold(chatId: string, key: string): Promise<() => void> {
    const hold = { chatId, key };
    this.#holds.add(hold);
    return () => void this.#holds.delete(hold);
  }

  async held(chatId: string): Promise<ReadonlySet<string>> {
    return new Set([...this.#holds].filter((hold) => hold.chatId === chatId).map(({ key }) => key));
  }

  close(): void {}
}

class MemoryRows implements Rows {
  readonly #tables = new Map<Table, Sorted>();
  /** Undoes the changes of the current transaction, in their order. */
  #undo: (() => void)[] = [];

  async transact<T>(work: (rows: Rows) => Promise<T>): Promise<T> {
    this.#undo = [];
    try {
      return await work(this);
    } catch (error) {
      for (const undo of this.#undo.toReversed()) undo();
      throw error;
    }
  }

  async get<T>(table: Table, key: Key | Range): Promise<T | undefined> {
    const value = this.#table(table).within(isRange(key) ? key : only(key), 1)[0]?.[1];
    // The app may change its own values.
    return (table === 'values' ? structuredClone(value) : value) as T | undefined;
  }

  async all<T>(table: Table, range?: Range, index?: string, limit?: number): Promise<T[]> {
    return this.#found(table, range, index, limit).map(([, value]) => value as T);
  }

  async entries<T>(table: Table, range: Range): Promise<[Key, T | undefined][]> {
    return this.#found(table, range) as [Key, T][];
  }

  async keys(table: Table, range?: Range, index?: string, limit?: number): Promise<Key[]> {
    return this.#found(table, range, index, limit).map(([key]) => key);
  }

  async last<T>(table: Table, index: string): Promise<T | undefined> {
    return this.#found(table, ALL, index).at(-1)?.[1] as T | undefined;
  }

  put(table: Table, value: unknown, key: Key = itemsIn(value, SHAPES[table].keyPath)[0] as Key): void {
    const rows = this.#table(table);
    const before = rows.within(only(key), 1)[0]?.[1];
    this.#undo.push(() => rows.put(key, before));
    rows.put(key, value);
  }

  delete(table: Table, key: Key | Range): void {
    const range = isRange(key) ? key : only(key);
    for (const [one] of this.#table(table).within(range)) this.put(table, undefined, one);
  }

  /** Records in the order of the table, or of an index: sorted when asked for, because few calls do, and tables are small. */
  #found(table: Table, range: Range = ALL, index?: string, limit?: number): Entry[] {
    if (index === undefined) return this.#table(table).within(range, limit);
    const path = SHAPES[table].indexes?.[index];
    const isIn = (item: Key): boolean =>
      compareKeys(item, range.from) >= (range.isAfter ? 1 : 0) && compareKeys(item, range.to) <= 0;
    const found = this.#table(table)
      .within(ALL)
      .flatMap((entry) => itemsIn(entry[1], path).map((item) => ({ item, entry })))
      .filter(({ item }) => isIn(item));
    const sorted = found.toSorted((a, b) => compareKeys(a.item, b.item));
    return sorted.slice(0, limit).map(({ entry }) => entry);
  }

  #table(table: Table): Sorted {
    const rows = this.#tables.get(table) ?? new Sorted();
    this.#tables.set(table, rows);
    return rows;
  }
}

const SHAPES: Readonly<Record<Table, Shape>> = LAYOUT;

/** The value at a key path, if there is one. */
function itemsIn(value: unknown, path: Shape['keyPath']): readonly Key[] {
  const fields = Object(value) as Readonly<Record<string, Key>>;
  if (path === undefined || value === undefined) return [];
  if (typeof path !== 'string') return [path.map((name) => fields[name] as Key)];
  const item = fields[path];
  return item === undefined ? [] : [item];
}

type Entry = readonly [key: Key, value: unknown];

class Sorted {
  readonly #entries: Entry[] = [];

  within({ from, to, isAfter = false }: Range, limit = Infinity): Entry[] {
    const start = this.#placeOf(from, isAfter);
    return this.#entries.slice(start, Math.min(this.#placeOf(to, true), start + limit));
  }

  /** Replaces a value; undefined removes it. */
  put(key: Key, value: unknown): void {
    const at = this.#placeOf(key, false);
    const there = this.#placeOf(key, true) - at;
    this.#entries.splice(at, there, ...(value === undefined ? [] : [[key, value] as const]));
  }

  /** The index of the first key that is not less than this one, or, with `isBehind`, of the one after it. */
  #placeOf(key: Key, isBehind: boolean): number {
    let [from, to] = [0, this.#entries.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      const order = compareKeys((this.#entries[middle] as Entry)[0], key);
      if (order < 0 || (order === 0 && isBehind)) from = middle + 1;
      else to = middle;
    }
    return to;
  }
}

/** The key order of IndexedDB: numbers, texts, lists. */
function compareKeys(a: Key, b: Key): number {
  if (typeof a === 'object' && typeof b === 'object') {
    for (let i = 0; i < a.length && i < b.length; i += 1) {
      const order = compareKeys(a[i] as Key, b[i] as Key);
      if (order !== 0) return order;
    }
    return a.length - b.length;
  }
  if (typeof a !== typeof b) return KINDS.indexOf(typeof a) - KINDS.indexOf(typeof b);
  return a < b ? -1 : a > b ? 1 : 0;
}

const KINDS: readonly string[] = ['number', 'string', 'object'];
