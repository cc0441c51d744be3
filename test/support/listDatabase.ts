import type { Channel } from '../../src/store/channel.ts';
import { TopologyCache } from '../../src/store/indexeddb/cache.ts';
import { ChangedRows } from '../../src/store/indexeddb/changedRows.ts';
import { type Damage, isText, readRecord } from '../../src/store/indexeddb/damage.ts';
import { PackedRows } from '../../src/store/indexeddb/packedRows.ts';
import type { Key, Span, Table, Tables } from '../../src/store/layout.ts';
import type { Backing, Records, Rows } from '../../src/store/rows.ts';
import { textOf } from '../../src/store/texts.ts';
import type { DatabaseDump } from './dump.ts';

/**
 * A database in sorted lists, for campaigns of ten thousand databases that each live for some milliseconds.
 *
 * fake-indexeddb takes several times as long, for what these campaigns are not about: events, clones, and the making of
 * a database. So this stands where a transaction would: what a record is read as, how changes and packs are told, and
 * all above that is the code that runs in browsers. Rows that no database would take (two of one key in a unique index)
 * are refused here, too, and what a write that throws has put is undone.
 */
export class ListBacking implements Backing {
  readonly persistence = 'indexeddb';
  readonly #version: number;
  #stores: Stores;
  readonly #cache = new TopologyCache();
  readonly #holds = new Set<string>();
  #queue: Promise<unknown> = Promise.resolve();

  /** Throws where no database would take these rows. */
  constructor({ version, stores }: DatabaseDump) {
    this.#version = version;
    this.#stores = new Map(stores.map((store) => [store.name as Table, inOrder(store)]));
  }

  read<T>(_tables: readonly Table[], work: (rows: Rows) => Promise<T>): Promise<T> {
    return this.#inTurn(() => work(this.#rows(new ChangedRows(new ListRows(this.#stores)))));
  }

  write<T>(_tables: readonly Table[], work: (rows: Rows) => Promise<T>): Promise<T> {
    return this.#inTurn(async () => {
      const rows = new ListRows(this.#stores);
      const changed = new ChangedRows(rows);
      const packed = this.#rows(changed);
      const result = await work(packed);
      await packed.flush();
      changed.flush();
      this.#stores = rows.committed();
      return result;
    });
  }

  #rows(records: Records): PackedRows {
    return new PackedRows(records, this.#cache);
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#queue.then(work);
    this.#queue = result.catch(() => undefined);
    return result;
  }

  dump(): DatabaseDump {
    return { version: this.#version, stores: [...this.#stores.values()] };
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

type Stores = ReadonlyMap<Table, StoreDump>;
type StoreDump = DatabaseDump['stores'][number];
type Row = StoreDump['rows'][number];
type Index = StoreDump['indexes'][number];
type Path = string | readonly string[] | null;

/** The records of one transaction. Lists are never changed: a write puts others in their place. */
class ListRows implements Records {
  readonly damage: Damage[] = [];
  readonly #stores: Map<Table, StoreDump>;

  constructor(stores: Stores) {
    this.#stores = new Map(stores);
  }

  /** What is there now. Throws where no database would take it. */
  committed(): Stores {
    for (const store of this.#stores.values()) expectUnique(store);
    return this.#stores;
  }

  send(): void {}

  async get<T extends Table>(table: T, key: Key, index?: string): Promise<Tables[T] | undefined> {
    const [found] = this.#within(table, { from: key, to: key }, index);
    return this.#read(table, found?.value);
  }

  async list<T extends Table>(table: T, span?: Span, index?: string, limit?: number): Promise<Tables[T][]> {
    const found = this.#within(table, span, index).slice(0, limit);
    return found.map(({ value }) => this.#read(table, value)).filter((row) => row !== undefined);
  }

  async lastChats(span: Span, many: number): Promise<Tables['chats'][]> {
    const found = this.#within('chats', span, 'recent');
    const first = found.at(-many)?.value as Tables['chats'] | undefined;
    return this.list(
      'chats',
      { from: first ? [first.userId, first.updatedAt] : span.from, to: span.to },
      'recent',
    );
  }

  async keys(table: Table, span?: Span, index?: string): Promise<Key[]> {
    return this.#within(table, span, index).map(({ key }) => key as Key);
  }

  #read<T extends Table>(table: T, record: unknown): Tables[T] | undefined {
    if (record === undefined) return undefined;
    const row = readRecord(table, record);
    if (row === undefined || (row !== record && !isText(table))) this.damage.push({ table, record, row });
    return row;
  }

  put<T extends Table>(table: T, row: Tables[T], key?: Key): void {
    const store = this.#store(table);
    const own = store.keyPath === null ? key : keyAt(row, store.keyPath);
    if (!isKey(own)) throw new DOMException('No key.', 'DataError');
    const others = store.rows.filter((one) => compare(one.key as Key, own) !== 0);
    const at = others.findIndex((one) => compare(one.key as Key, own) > 0);
    const value: unknown = isText(table) ? textOf(row as object) : structuredClone(row);
    const one = { key: own as IDBValidKey, value };
    this.#stores.set(table, { ...store, rows: others.toSpliced(at < 0 ? others.length : at, 0, one) });
  }

  delete(table: Table, span?: Span): void {
    const store = this.#store(table);
    const rows = span ? store.rows.filter(({ key }) => !isWithin(key as Key, span)) : [];
    this.#stores.set(table, { ...store, rows });
  }

  #within(table: Table, span: Span | undefined, index?: string): readonly Row[] {
    const { rows, indexes } = this.#store(table);
    if (index === undefined) return span ? rows.filter(({ key }) => isWithin(key as Key, span)) : rows;
    const own = indexes.find(({ name }) => name === index) as Index;
    const found: { readonly at: Key; readonly row: Row }[] = [];
    for (const row of rows)
      for (const at of keysIn(row.value, own)) if (!span || isWithin(at, span)) found.push({ at, row });
    return found.toSorted((a, b) => compare(a.at, b.at)).map(({ row }) => row);
  }

  #store(table: Table): StoreDump {
    return this.#stores.get(table) as StoreDump;
  }
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

function isWithin(key: Key, { from, to }: Span): boolean {
  return compare(key, from) >= 0 && compare(key, to) <= 0;
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
