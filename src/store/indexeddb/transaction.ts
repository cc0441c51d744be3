import { isContextError } from '../../errors.ts';
import { isRange, type Key, type Range, type Rows, type Table } from '../tables/layout.ts';

/**
 * Transactions that are whole or not at all.
 *
 * IndexedDB commits a transaction as soon as nobody asks anything of it, whatever went wrong in between. A value that
 * it can't clone makes `put` throw, and the puts before it are committed all the same. So every throw aborts. And a put
 * that succeeded proves nothing: a full disk says no at the commit. So nothing is reported before `complete`. `strict`
 * makes the browser wait for the disk; without it a power cut takes the last seconds along.
 *
 * A database waits after the last answer for what might still be asked. So it is told when that was all, with the last
 * put and not a way there and back later: a third less time for an append. But where a value is so large that the browser
 * may refuse it, it is not told: Chromium refuses those above 127 MB in the page, and a transaction that was told to
 * commit is committed without them, and says that it is complete.
 */
export async function write<T>(
  db: IDBDatabase,
  tables: readonly Table[],
  work: (rows: Rows) => Promise<T>,
  isRelaxed: boolean,
  makeRows?: (tx: IDBTransaction) => TransactionRows,
): Promise<T> {
  const tx = db.transaction([...tables], 'readwrite', { durability: isRelaxed ? 'relaxed' : 'strict' });
  const completion = new Promise<void>((resolve, reject) => {
    tx.addEventListener('complete', () => resolve());
    tx.addEventListener('abort', () => reject(tx.error ?? new DOMException('', 'AbortError')));
  });
  completion.catch(() => undefined);
  const rows = makeRows?.(tx) ?? new TransactionRows(tx);
  try {
    const result = await work(rows);
    if (!rows.mayBeRefused) end(tx, 'commit');
    await completion;
    return result;
  } catch (error) {
    end(tx, 'abort');
    await completion.catch(() => undefined);
    throw isContextError(error) ? error : (tx.error ?? error);
  }
}

/** Reads of one moment. */
export async function read<T>(
  db: IDBDatabase,
  tables: readonly Table[],
  work: (rows: Rows) => Promise<T>,
  makeRows?: (tx: IDBTransaction) => TransactionRows,
): Promise<T> {
  const tx = db.transaction([...tables]);
  return work(makeRows?.(tx) ?? new TransactionRows(tx));
}

function end(tx: IDBTransaction, how: 'commit' | 'abort'): void {
  try {
    tx[how]();
  } catch {
    // It has ended.
  }
}

/** What a transaction reads and writes. */
export class TransactionRows implements Rows {
  /** Whether something was put that may be too large for a browser. */
  mayBeRefused = false;
  readonly #tx: IDBTransaction;

  constructor(tx: IDBTransaction) {
    this.#tx = tx;
  }

  async get<T>(table: Table, key: Key | Range): Promise<T | undefined> {
    const { store, query } = this.source(table, key);
    return (await answerTo(store.get(query))) as T | undefined;
  }

  async all<T>(table: Table, range?: Range, index?: string, limit?: number): Promise<T[]> {
    const { source, query } = this.source(table, range, index);
    return (await answerTo(source.getAll(query, limit))) as T[];
  }

  async entries<T>(table: Table, range: Range): Promise<[Key, T | undefined][]> {
    const { store, query } = this.source(table, range);
    const requests = [answerTo(store.getAllKeys(query)), answerTo(store.getAll(query))] as const;
    const [keys, values] = await Promise.all(requests);
    return keys.map((key, i) => [key as Key, values[i] as T]);
  }

  async keys(table: Table, range?: Range, index?: string, limit?: number): Promise<Key[]> {
    const { source, query } = this.source(table, range, index);
    return (await answerTo(source.getAllKeys(query, limit))) as Key[];
  }

  count(table: Table, key?: Key | Range): Promise<number> {
    const { store, query } = this.source(table, key);
    return answerTo(store.count(query));
  }

  async last(table: Table, index: string): Promise<Key | undefined> {
    const request = this.#tx.objectStore(table).index(index).openKeyCursor(undefined, 'prev');
    return (await answerTo(request))?.key as Key | undefined;
  }

  /** Nobody waits for the answer, which is the transaction's: a failure aborts it, and that is where it is heard of. */
  put(table: Table, value: unknown, key?: Key): void {
    const { text = value } = Object(value) as { readonly text?: unknown };
    const { length = 0 } = Object(text) as { readonly length?: number };
    this.mayBeRefused ||= table === 'values' || table === 'local' || length > NEVER_REFUSED;
    this.#tx.objectStore(table).put(value, key as IDBValidKey);
  }

  delete(table: Table, key: Key | Range): void {
    const { store, query } = this.source(table, key);
    store.delete(query);
  }

  /** By a range of all keys: a private window of WebKitGTK 2.50 crashes on `clear()`. */
  clear(table: Table): void {
    this.#tx.objectStore(table).delete(IDBKeyRange.lowerBound(-Infinity));
  }

  protected source(
    table: Table,
    key?: Key | Range,
    index?: string,
  ): {
    readonly store: IDBObjectStore;
    readonly source: IDBObjectStore | IDBIndex;
    /** May be none where all is asked for. */
    readonly query: IDBKeyRange;
  } {
    const store = this.#tx.objectStore(table);
    const source = index === undefined ? store : store.index(index);
    const isOne = key === undefined || !isRange(key);
    const query = isOne ? key : IDBKeyRange.bound(key.from, key.to, key.isAfter);
    return { store, source, query: query as IDBKeyRange };
  }
}

/**
 * Whether a request failed because the value can't be read. Chromium has an error name for a file that is gone; for a file
 * that it can't read it uses general names, and always this message.
 */
export function isOfValue(error: unknown): boolean {
  const { name } = Object(error) as { readonly name?: unknown };
  return name === 'NotReadableError' || /Failed to read large IndexedDB value/.test(String(error));
}

/** No browser refuses a text or bytes of this length: not by far. */
const NEVER_REFUSED = 2 ** 24;

/** A read that fails does not abort its transaction: the caller decides. */
export function answerTo<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = (event) => {
      event.preventDefault();
      reject(request.error);
    };
  });
}
