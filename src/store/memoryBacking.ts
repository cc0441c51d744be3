import { type Key, LAYOUT, type Span, type Table, type Tables } from './layout.ts';
import type { Backing, Rows } from './rows.ts';
import type { Persistence } from './store.ts';

/**
 * Rows in sorted lists. Transactions queue behind each other, so a reader never sees half a write; writes come after the
 * last read and without waiting, so there is nothing to undo.
 */
export class MemoryBacking implements Backing {
  readonly persistence: Persistence = 'memory';
  readonly #rows = new MemoryRows();
  readonly #holds = new Set<{ readonly chatId: string; readonly id: string }>();
  #queue: Promise<unknown> = Promise.resolve();

  read<T>(_tables: readonly Table[], work: (rows: Rows) => Promise<T>): Promise<T> {
    const result = this.#queue.then(() => work(this.#rows));
    this.#queue = result.catch(() => undefined);
    return result;
  }

  write<T>(tables: readonly Table[], work: (rows: Rows) => Promise<T>): Promise<T> {
    return this.read(tables, work);
  }

  tend(): void {}

  async hold(chatId: string, id: string): Promise<() => void> {
    const hold = { chatId, id };
    this.#holds.add(hold);
    return () => this.#holds.delete(hold);
  }

  async held(chatId: string): Promise<ReadonlySet<string>> {
    return new Set([...this.#holds].filter((hold) => hold.chatId === chatId).map(({ id }) => id));
  }

  join(): undefined {
    return undefined;
  }

  close(): void {}
}

class MemoryRows implements Rows {
  /** A list per table and index. In an index, the key of the row stands behind its own, so that no two are equal. */
  readonly #lists = new Map<string, SortedList>();

  async get<T extends Table>(table: T, key: Key, index?: string): Promise<Tables[T] | undefined> {
    return (await this.list(table, { from: key, to: key }, index))[0];
  }

  async list<T extends Table>(table: T, span?: Span, index?: string, limit?: number): Promise<Tables[T][]> {
    const { from, to } = span ?? { from: -Infinity, to: LAST };
    const list = this.#list(table, index);
    const entries = index === undefined ? list.within(from, to) : list.within([from], [to, LAST]);
    return entries.slice(0, limit).map(({ row }) => row as Tables[T]);
  }

  async lastChats({ from, to }: Span, many: number): Promise<Tables['chats'][]> {
    return this.#list('chats', 'recent')
      .last([from], [to, LAST], many)
      .map(({ row }) => row as Tables['chats']);
  }

  put<T extends Table>(table: T, row: Tables[T], key?: Key): void {
    const own = key ?? keyOf(row, LAYOUT[table].key);
    if (own === undefined) return;
    this.delete(table, { from: own, to: own });
    this.#list(table).add(own, row);
    for (const [index, indexed] of indexedKeys(table, row)) this.#list(table, index).add([indexed, own], row);
  }

  delete(table: Table, { from, to }: Span = { from: -Infinity, to: LAST }): void {
    const gone = this.#list(table).remove(from, to);
    if (gone.length > FEW) return this.#dropFromIndexes(table, new Set(gone.map(({ row }) => row)));
    for (const { key, row } of gone) {
      for (const [index, indexed] of indexedKeys(table, row)) {
        this.#list(table, index).remove([indexed, key], [indexed, key]);
      }
    }
  }

  /** Each row that is taken out alone moves all that are behind it: a whole chat would take seconds. */
  #dropFromIndexes(table: Table, rows: ReadonlySet<unknown>): void {
    for (const index in LAYOUT[table].indexes) this.#list(table, index).drop(rows);
  }

  #list(table: Table, index = ''): SortedList {
    const name = `${table} ${index}`;
    const list = this.#lists.get(name) ?? new SortedList();
    this.#lists.set(name, list);
    return list;
  }
}

/** Up to so many rows are put into an index or taken out one by one; for more the whole index is gone through, once. */
const FEW = 32;

/** A key behind all others: a list that begins with a list. */
const LAST: Key = [[]];

/** The keys that a row has in the indexes of its table. */
function indexedKeys(table: Table, row: unknown): [index: string, key: Key][] {
  const indexes = Object.entries(LAYOUT[table].indexes ?? {});
  return indexes.flatMap(([index, path]) => {
    const key = keyOf(row, path);
    return key === undefined ? [] : [[index, key]];
  });
}

function keyOf(row: unknown, path: string | readonly string[] = []): Key | undefined {
  const fields = row as Readonly<Record<string, Key>>;
  if (typeof path === 'string') return fields[path];
  const keys = path.map((field) => fields[field]);
  return keys.includes(undefined) ? undefined : (keys as Key[]);
}

interface Entry {
  readonly key: Key;
  readonly row: unknown;
}

/**
 * Entries in the order of their keys. Most are added at the end. Others wait until somebody looks: each that is put in its
 * place moves all that are behind it, and an import brings thousands.
 */
class SortedList {
  #sorted: Entry[] = [];
  /** By their keys as JSON. */
  readonly #waiting = new Map<string, Entry>();

  get #entries(): Entry[] {
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    if (waiting.length > FEW) this.#sorted = [...this.#sorted, ...waiting].toSorted(byKey);
    else for (const entry of waiting) this.#sorted.splice(this.#place(entry.key, 0), 0, entry);
    return this.#sorted;
  }

  within(from: Key, to: Key): Entry[] {
    return this.#entries.slice(this.#place(from, 0), this.#place(to, 1));
  }

  /** The last so many entries of an index, and those with the same key as the first of them. */
  last(from: Key, to: Key, many: number): Entry[] {
    const entries = this.#entries;
    const end = this.#place(to, 1);
    const first = entries[Math.max(this.#place(from, 0), end - many)];
    return first ? entries.slice(this.#place([(first.key as readonly Key[])[0] as Key], 0), end) : [];
  }

  add(key: Key, row: unknown): void {
    const last = this.#sorted.at(-1);
    const isLast = !last || compareKeys(last.key, key) < 0;
    if (isLast) this.#sorted.push({ key, row });
    else this.#waiting.set(JSON.stringify(key), { key, row });
  }

  /** For a single key nothing is sorted: each row that is put asks for the one that it replaces. */
  remove(from: Key, to: Key): Entry[] {
    const isOne = compareKeys(from, to) === 0;
    const waiting = isOne ? this.#take(from) : undefined;
    if (waiting) return [waiting];
    const entries = isOne ? this.#sorted : this.#entries;
    const [start, end] = [this.#place(from, 0), this.#place(to, 1)];
    return start === end ? [] : entries.splice(start, end - start);
  }

  #take(key: Key): Entry | undefined {
    if (this.#waiting.size === 0) return undefined;
    const name = JSON.stringify(key);
    const entry = this.#waiting.get(name);
    this.#waiting.delete(name);
    return entry;
  }

  drop(rows: ReadonlySet<unknown>): void {
    this.#sorted = this.#entries.filter(({ row }) => !rows.has(row));
  }

  /** How many entries come before a key; with `reach` 1, those equal to it are counted, too. */
  #place(key: Key, reach: 0 | 1): number {
    let [low, high] = [0, this.#sorted.length];
    const last = this.#sorted.at(-1);
    if (last && compareKeys(last.key, key) < reach) return high;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compareKeys((this.#sorted[middle] as Entry).key, key) < reach) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function byKey(a: Entry, b: Entry): number {
  return compareKeys(a.key, b.key);
}

/** Below, at or above zero, as `a` comes before, at or behind `b`: numbers, then strings, then lists item by item. */
function compareKeys(a: Key, b: Key): number {
  if (typeof a !== 'object' || typeof b !== 'object')
    return typeof a === typeof b ? (a < b ? -1 : Number(a > b)) : rankOf(a) - rankOf(b);
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i += 1) {
    const order = compareKeys(a[i] as Key, b[i] as Key);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

function rankOf(key: Key): number {
  return typeof key === 'number' ? 0 : typeof key === 'string' ? 1 : 2;
}
