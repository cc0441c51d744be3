import { ContextError, isContextError, refuseToLoad } from '../../errors.ts';
import type { StoreNotice } from '../store.ts';
import {
  createMeta,
  type Database,
  isRange,
  type Key,
  LAYOUT,
  type Range,
  type Rows,
  type Shape,
  type Table,
  TABLES,
} from '../tables/layout.ts';
import { lacksPacks, loadPacks, readMeta } from '../tables/records.ts';
import { Access, usual } from '../tables/usual.ts';
import type * as Careful from './careful.ts';
import { held, hold } from './locks.ts';
import { renewLog } from './log.ts';
import { readNote } from './marker.ts';
import type { IndexedDBOptions } from './store.ts';

/** The tables of a database, which is opened on first use; `opened` is called at each opening. */
export function openDatabase(
  name: string,
  options: IndexedDBOptions,
  hear: (notice: StoreNotice) => void,
  opened: () => void,
): Access {
  const onOpen = (): void => {
    opened();
    access.tidyLater();
  };
  const access = new Access(new Connection(name, options, onOpen), { ...usual }, hear, name);
  return access;
}

/** Whether a database of this name existed, according to its note. */
export function hasBeenHere(name: string): boolean {
  return readNote(name) !== undefined;
}

/**
 * The one connection of a store to its database, and the recovery when it breaks.
 *
 * It closes when another tab wants to upgrade. A browser may drop it, after which every call fails, or close it by force, after
 * which a transaction may never be answered. So work that finds it dead, or hears that it was closed, is repeated on a new one,
 * once: a transaction that did not complete did nothing, and joining the records of one whose answer got lost changes nothing.
 *
 * An open request that fails is repeated for some seconds. One that hangs, because another tab does not close its connection,
 * fails after `patience` with `store-blocked`; the next call waits for the same request. `close()` refuses running work with
 * `store-closed`, because the database may be deleted next; a store that is used again has a new connection.
 */
class Connection implements Database {
  readonly persistence = 'indexeddb';
  readonly #name: string;
  readonly #options: IndexedDBOptions;
  readonly #onOpen: () => void;
  #opening: Promise<Open> | undefined;
  #open: Open | undefined;
  #isClosed = false;

  constructor(name: string, options: IndexedDBOptions, onOpen: () => void) {
    this.#name = name;
    this.#options = options;
    this.#onOpen = onOpen;
  }

  read<T>(work: (rows: Rows) => Promise<T>): Promise<T> {
    return this.#run((db, careful) => (careful?.readCarefully ?? read)(db, work));
  }

  write<T>(work: (rows: Rows) => Promise<T>, isRelaxed = false): Promise<T> {
    return this.#run((db, careful) => (careful?.writeCarefully ?? write)(db, work, isRelaxed));
  }

  putNow(table: Table, value: unknown, key: Key): boolean {
    try {
      const tx = this.#open?.db.transaction(table, 'readwrite', { durability: 'relaxed' });
      tx?.objectStore(table).put(value, key as IDBValidKey);
      tx?.commit();
      return tx !== undefined;
    } catch {
      return false;
    }
  }

  hold(chatId: string, key: string): Promise<() => void> {
    return hold(this.#name, this, chatId, key);
  }

  held(chatId: string): Promise<ReadonlySet<string>> {
    return held(this.#name, this, chatId);
  }

  async keepNote(): Promise<void> {
    const { keepNote } = await import('./loss.ts').catch(refuseToLoad);
    await keepNote(this.#name, this);
  }

  /** Transactions that have begun run to their end. */
  close(): void {
    this.#isClosed = true;
    this.#open?.db.close();
    this.#open = undefined;
    this.#opening = undefined;
  }

  /** `careful`: on a second connection, after a record could not be read. */
  async #run<T>(work: Work<T>, isRepeat = false, careful?: typeof Careful): Promise<T> {
    const open = this.#open ?? (await this.#opened());
    try {
      return await Promise.race([work(open.db, careful), open.gone]);
    } catch (error) {
      if (lacksPacks(error)) {
        await loadPacks();
        return this.#run(work, isRepeat, careful);
      }
      const isLost = isDead(error);
      if (isLost) this.#forget(open);
      if (!isLost || isRepeat) {
        const { explain } = await import('./refusal.ts').catch(refuseToLoad);
        throw explain(error, this.#name);
      }
      const code = isOfValue(error) ? await import('./careful.ts').catch(refuseToLoad) : undefined;
      return this.#run(work, true, code);
    }
  }

  #forget(open: Open): void {
    open.db.close();
    if (this.#open !== open) return;
    this.#opening = undefined;
    this.#open = undefined;
  }

  async #opened(): Promise<Open> {
    if (this.#isClosed) throw closed(this.#name);
    const opening = (this.#opening ??= this.#begin());
    return new Promise<Open>((resolve, reject) => {
      const { patience = 5000 } = this.#options;
      const timer = setTimeout(() => reject(blocked(this.#name)), patience);
      opening.then(resolve, reject).finally(() => clearTimeout(timer));
    });
  }

  async #begin(): Promise<Open> {
    const start = Date.now();
    for (let pause = 25; ; pause *= 2) {
      try {
        const open = await this.#request();
        if (!this.#isClosed) return (this.#open = open);
        open.db.close();
        throw closed(this.#name);
      } catch (error) {
        const isTime = Date.now() - start + pause < INSIST;
        if (this.#isClosed || !isTime || !isPassing(error)) {
          this.#opening = undefined;
          const { refused } = await import('./refusal.ts').catch(refuseToLoad);
          throw refused(error, this.#name);
        }
        await new Promise((resolve) => setTimeout(resolve, pause));
      }
    }
  }

  async #request(): Promise<Open> {
    // A database with a note probably has long chats: load their code while it opens.
    const note = readNote(this.#name);
    if (note) void loadPacks().catch(() => undefined);
    let leave: (() => void) | undefined;
    const gone = new Promise<never>((_, reject) => {
      leave = () => reject(new DOMException('The browser closed the database.', 'AbortError'));
    });
    gone.catch(() => undefined);
    const [db, reason] = await requestDatabase(this.#name);
    const open: Open = { db, gone };
    renewLog();
    db.onversionchange = () => this.#forget(open);
    db.onclose = () => {
      this.#forget(open);
      leave?.();
    };
    const meta = note && (await read(db, readMeta));
    if (reason !== undefined || (note && meta && (note.database !== meta.database || note.seq > meta.seq))) {
      const { noteLoss } = await import('./loss.ts').catch(refuseToLoad);
      this.#options.onDataLoss?.(await noteLoss(this.#name, db, note, reason));
    }
    this.#onOpen();
    return open;
  }
}

/** How long a failing open request is repeated, in ms. */
const INSIST = 3000;

type Work<T> = (db: IDBDatabase, careful: typeof Careful | undefined) => Promise<T>;

/** An open database, and a promise that rejects when the browser closes it by force. */
interface Open {
  readonly db: IDBDatabase;
  readonly gone: Promise<never>;
}

const DATABASE_VERSION = 1;

/** Opens a database, with the tables of a new one; also returns what the browser said of damaged files. */
function requestDatabase(name: string): Promise<[db: IDBDatabase, loss: string | undefined]> {
  return new Promise((resolve, reject) => {
    let loss: string | undefined;
    const request = indexedDB.open(name, DATABASE_VERSION);
    request.onupgradeneeded = (event) => {
      // Chromium begins a new database where it can't read the old one, and says so only here.
      const { dataLoss, dataLossMessage = '' } = event as { dataLoss?: string; dataLossMessage?: string };
      if (dataLoss === 'total') loss = dataLossMessage;
      const { result, transaction } = request;
      // Only the transaction has the reason of a failure.
      transaction?.addEventListener('abort', () => reject(transaction.error ?? request.error));
      createTables(result, transaction as IDBTransaction);
    };
    request.onerror = () => reject(request.error);
    request.onsuccess = () => resolve([request.result, loss]);
  });
}

function createTables(db: IDBDatabase, tx: IDBTransaction): void {
  for (const [table, { keyPath, indexes = {} }] of Object.entries<Shape>(LAYOUT)) {
    const store = db.createObjectStore(table, keyPath === undefined ? {} : { keyPath: keyPath as string });
    for (const [index, path] of Object.entries(indexes)) store.createIndex(index, path as string);
  }
  tx.objectStore('meta').put(createMeta(), 'self');
}

/** Failures of the connection, not of the call. */
const DEAD = ['InvalidStateError', 'AbortError', 'UnknownError'];

export function isDead(error: unknown): boolean {
  return !isTooLarge(error) && (DEAD.includes(nameOf(error)) || isOfValue(error));
}

/** Whether a database may open at a later try. */
function isPassing(error: unknown): boolean {
  return /^(?:Unknown|Abort|Data|Timeout|NotReadable)Error$/.test(nameOf(error)) && !isFull(error);
}

/** Whether a value is above the limit of 127 MB that Chromium has before version 150. */
export function isTooLarge(error: unknown): boolean {
  return /value (?:is|are) too large/.test(String(error));
}

export function nameOf(error: unknown): string {
  return error instanceof Error || error instanceof DOMException ? error.name : '';
}

/** Whether the disk is full: the error has that name, or large values can't be written. */
export function isFull(error: unknown): boolean {
  return nameOf(error) === 'QuotaExceededError' || /Failed to write blobs/.test(String(error));
}

function closed(name: string): ContextError {
  const message = 'The store was closed. Use it again to open it.';
  return new ContextError('store-closed', message, { details: { database: name } });
}

function blocked(name: string): ContextError {
  const message = `Database "${name}" does not open: another tab keeps it busy. Close other tabs of this site.`;
  return new ContextError('store-blocked', message, { details: { database: name } });
}

// ------------------------------------------------------------------ transactions

/**
 * Runs a transaction, all or nothing.
 *
 * IndexedDB commits a transaction even after errors, so every throw aborts it. A put that succeeded proves nothing, because a
 * full disk refuses the commit, so nothing is reported before `complete`. `commit()` after the last put makes an append a third
 * faster; but with it Chromium before 150 commits without values above 127 MB, so it is not called where a value may be as
 * large.
 */
export async function write<T>(
  db: IDBDatabase,
  work: (rows: Rows) => Promise<T>,
  isRelaxed: boolean,
  makeRows?: (tx: IDBTransaction) => TransactionRows,
): Promise<T> {
  const tx = db.transaction(TABLES, 'readwrite', { durability: isRelaxed ? 'relaxed' : 'strict' });
  const completion = new Promise<unknown>((resolve, reject) => {
    tx.addEventListener('complete', resolve);
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

/** Runs reads in one transaction. */
export async function read<T>(
  db: IDBDatabase,
  work: (rows: Rows) => Promise<T>,
  makeRows?: (tx: IDBTransaction) => TransactionRows,
): Promise<T> {
  const tx = db.transaction(TABLES);
  return work(makeRows?.(tx) ?? new TransactionRows(tx));
}

function end(tx: IDBTransaction, how: 'commit' | 'abort'): void {
  try {
    tx[how]();
  } catch {
    // The transaction has ended.
  }
}

/** The reads and writes of a transaction. */
export class TransactionRows implements Rows {
  /** Whether a written value may be too large for a browser. */
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

  async last<T>(table: Table, index: string): Promise<T | undefined> {
    const request = this.#tx.objectStore(table).index(index).openCursor(undefined, 'prev');
    return (await answerTo(request))?.value as T | undefined;
  }

  /** No caller waits for the answer: a failure aborts the transaction. */
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

  /** A table or its index, and a query, which is undefined for all records. */
  protected source(
    table: Table,
    key?: Key | Range,
    index?: string,
  ): {
    readonly store: IDBObjectStore;
    readonly source: IDBObjectStore | IDBIndex;
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
 * Whether an error means that a value could not be read. Chromium has a name for a missing file, and these words for an
 * unreadable one.
 */
export function isOfValue(error: unknown): boolean {
  const { name } = Object(error) as { readonly name?: unknown };
  return name === 'NotReadableError' || /Failed to read large IndexedDB value/.test(String(error));
}

/** A length of a text, or of bytes, that no browser refuses. */
const NEVER_REFUSED = 2 ** 24;

/** The result of a request. A failing read does not abort its transaction. */
export function answerTo<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = (event) => {
      event.preventDefault();
      reject(request.error);
    };
  });
}
