import { type Channel } from '../../src/store/channel.ts';
import { TopologyCache } from '../../src/store/indexeddb/cache.ts';
import { ChangedRows } from '../../src/store/indexeddb/changedRows.ts';
import type { Database } from '../../src/store/indexeddb/connection.ts';
import { PackedRows } from '../../src/store/indexeddb/packedRows.ts';
import { read, write } from '../../src/store/indexeddb/transaction.ts';
import type { Table } from '../../src/store/layout.ts';
import type { Backing, Rows } from '../../src/store/rows.ts';
import type { DatabaseDump } from './dump.ts';

/**
 * A database in sorted lists, for campaigns of ten thousand databases that each live for a millisecond or two.
 *
 * fake-indexeddb takes eight times as long, nearly all of it for what these campaigns are not about: events, clones, and
 * the making of a database. So this answers in its place where our own transactions ask, and no sooner: what a record is
 * read as, what a pack is, when a write is undone, is the code that runs in browsers. Rows that no database would take
 * (two of one key in a unique index) are refused here, too.
 */
export class ListBacking implements Backing {
  readonly persistence = 'indexeddb';
  readonly #lists: Lists;
  readonly #cache = new TopologyCache();
  readonly #holds = new Set<string>();
  #queue: Promise<unknown> = Promise.resolve();

  constructor(dump: DatabaseDump) {
    this.#lists = new Lists(dump);
  }

  read<T>(tables: readonly Table[], work: (rows: Rows) => Promise<T>): Promise<T> {
    return this.#inTurn(() =>
      read(this.#lists as unknown as Database, tables, (rows) =>
        work(new PackedRows(new ChangedRows(rows), this.#cache)),
      ),
    );
  }

  write<T>(tables: readonly Table[], work: (rows: Rows) => Promise<T>): Promise<T> {
    return this.#inTurn(() =>
      write(this.#lists as unknown as Database, tables, 'strict', async (rows) => {
        const changed = new ChangedRows(rows);
        const packed = new PackedRows(changed, this.#cache);
        const result = await work(packed);
        await packed.flush();
        changed.flush();
        return result;
      }),
    );
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#queue.then(work);
    this.#queue = result.catch(() => undefined);
    return result;
  }

  dump(): DatabaseDump {
    return this.#lists.dump();
  }

  tend(): void {}

  async hold(_chatId: string, id: string): Promise<() => void> {
    this.#holds.add(id);
    return () => this.#holds.delete(id);
  }

  async held(): Promise<ReadonlySet<string>> {
    return new Set(this.#holds);
  }

  join(): Channel | undefined {
    return undefined;
  }

  close(): void {}
}

type StoreDump = DatabaseDump['stores'][number];
type Row = StoreDump['rows'][number];
type Index = StoreDump['indexes'][number];
type Path = string | readonly string[] | null;

/** As much of a database as transactions ask of it. Lists are never changed: a write puts others in their place. */
class Lists {
  readonly #version: number;
  #stores: ReadonlyMap<string, StoreDump>;

  constructor({ version, stores }: DatabaseDump) {
    this.#version = version;
    this.#stores = new Map(stores.map((store) => [store.name, inOrder(store)]));
  }

  dump(): DatabaseDump {
    return { version: this.#version, stores: [...this.#stores.values()] };
  }

  transaction(): unknown {
    const before = this.#stores;
    const changed = new Map<string, StoreDump>();
    let error: Error | null = null;
    return {
      get done(): Promise<void> {
        return error === null ? Promise.resolve() : Promise.reject(error);
      },
      get error(): unknown {
        return error;
      },
      commit: () => {
        try {
          for (const store of changed.values()) expectUnique(store);
        } catch (reason) {
          error = reason as Error;
        }
      },
      abort: () => void (this.#stores = before),
      objectStore: (name: string) =>
        new ListStore(
          () => this.#stores.get(name) as StoreDump,
          (store) => {
            changed.set(name, store);
            this.#stores = new Map([...this.#stores, [name, store]]);
          },
        ),
    };
  }
}

/** One table in a transaction, or an index of it. */
class ListStore {
  readonly #store: () => StoreDump;
  readonly #put: (store: StoreDump) => void;
  readonly #index: Index | undefined;

  constructor(store: () => StoreDump, put: (store: StoreDump) => void, index?: Index) {
    this.#store = store;
    this.#put = put;
    this.#index = index;
  }

  index(name: string): ListStore {
    return new ListStore(
      this.#store,
      this.#put,
      this.#store().indexes.find((index) => index.name === name),
    );
  }

  async get(key: Key): Promise<unknown> {
    return this.#within({ lower: key, upper: key })[0]?.value;
  }

  async getAll(span?: Span, limit?: number): Promise<unknown[]> {
    return this.#within(span)
      .slice(0, limit)
      .map(({ value }) => value);
  }

  async getAllKeys(span?: Span): Promise<unknown[]> {
    return this.#within(span).map(({ key }) => key);
  }

  async put(value: unknown, key?: Key): Promise<void> {
    const store = this.#store();
    const own = store.keyPath === null ? key : keyAt(value, store.keyPath);
    if (!isKey(own)) throw new DOMException('No key.', 'DataError');
    const others = store.rows.filter((row) => compare(row.key as Key, own) !== 0);
    const at = others.findIndex((row) => compare(row.key as Key, own) > 0);
    const row = { key: own as IDBValidKey, value: structuredClone(value) };
    this.#put({ ...store, rows: at < 0 ? [...others, row] : others.toSpliced(at, 0, row) });
  }

  async delete({ lower, upper }: Span): Promise<void> {
    const store = this.#store();
    const rows = store.rows.filter((row) => !isWithin(row.key as Key, lower, upper));
    this.#put({ ...store, rows });
  }

  #within(span: Span | undefined): readonly Row[] {
    const { rows } = this.#store();
    const index = this.#index;
    if (!index) return span ? rows.filter(({ key }) => isWithin(key as Key, span.lower, span.upper)) : rows;
    const found: { readonly at: Key; readonly row: Row }[] = [];
    for (const row of rows)
      for (const at of keysIn(row.value, index))
        if (!span || isWithin(at, span.lower, span.upper)) found.push({ at, row });
    return found.toSorted((a, b) => compare(a.at, b.at)).map(({ row }) => row);
  }
}

type Key = number | string | readonly Key[];

interface Span {
  readonly lower: Key;
  readonly upper: Key;
}

/** The rows in the order of their keys. Throws where a database would refuse them. */
function inOrder(store: StoreDump): StoreDump {
  expectUnique(store);
  return { ...store, rows: store.rows.toSorted((a, b) => compare(a.key as Key, b.key as Key)) };
}

function expectUnique({ rows, indexes }: StoreDump): void {
  for (const index of indexes.filter(({ unique }) => unique)) {
    const keys = rows.flatMap((row) => keysIn(row.value, index).map((key) => JSON.stringify(key)));
    if (new Set(keys).size < keys.length) throw new DOMException('Not unique.', 'ConstraintError');
  }
}

function keysIn(value: unknown, { keyPath, multiEntry }: Index): Key[] {
  const key = keyAt(value, keyPath);
  if (multiEntry && Array.isArray(key)) return [...new Set(key.filter(isKey))];
  return isKey(key) ? [key] : [];
}

function keyAt(value: unknown, path: Path): unknown {
  const fields = Object(value) as Readonly<Record<string, unknown>>;
  return typeof path === 'string' ? fields[path] : path?.map((field) => fields[field]);
}

function isKey(value: unknown): value is Key {
  if (Array.isArray(value)) return value.every(isKey);
  return typeof value === 'string' || (typeof value === 'number' && !Number.isNaN(value));
}

function isWithin(key: Key, lower: Key, upper: Key): boolean {
  return compare(key, lower) >= 0 && compare(key, upper) <= 0;
}

/** Numbers come before strings, and strings before lists, which are compared item by item. */
function compare(a: Key, b: Key): number {
  if (typeof a !== typeof b) return rankOf(a) - rankOf(b);
  if (typeof a !== 'object' || typeof b !== 'object') return a < b ? -1 : Number(a > b);
  for (let i = 0; i < Math.min(a.length, b.length); i += 1) {
    const order = compare(a[i] as Key, b[i] as Key);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

function rankOf(key: Key): number {
  return typeof key === 'number' ? 0 : typeof key === 'string' ? 1 : 2;
}
