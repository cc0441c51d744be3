import { ContextError, isContextError, refuseToLoad } from '../../errors.ts';
import { createHexId } from '../hexId.ts';
import type { StoreNotice } from '../store.ts';
import { Access } from '../tables/access.ts';
import {
  type Database,
  type Key,
  LAYOUT,
  type Meta,
  type Rows,
  type Shape,
  type Table,
} from '../tables/layout.ts';
import { loadPacks, readMeta } from '../tables/records.ts';
import * as usual from '../tables/usual.ts';
import type * as Careful from './careful.ts';
import { MessageLocks } from './locks.ts';
import { renewLog } from './log.ts';
import { type DataLoss, readMark } from './marker.ts';
import type { IndexedDBOptions } from './store.ts';
import { isOfValue, read, write } from './transaction.ts';

/** The tables of a database, which is opened when it is first used; `opened` is called each time that it is. */
export function openDatabase(
  name: string,
  { patience = 5000, onDataLoss }: IndexedDBOptions,
  hear: (notice: StoreNotice) => void,
  opened: () => void,
): Access {
  const onOpen = (): void => {
    opened();
    // Sooner or later there is something to tidy up.
    access.tidyLater();
  };
  const access = new Access(new Connection(name, { patience, onDataLoss, onOpen }), { ...usual }, hear, name);
  return access;
}

/** Whether there was a database of this name, as far as is noted. */
export function hasBeenHere(name: string): boolean {
  return readMark(name) !== undefined;
}

/**
 * The one connection of a store to its database, and what to do when it breaks.
 *
 * A connection is lost in more ways than one closes it. Another tab wants to upgrade, and every open connection stands
 * in its way: ours steps aside at once. A browser drops connections of pages that were in the background, and every
 * later call on them fails in the same way for ever; or it closes one by force, and a transaction that is under way then
 * may never be answered. So work that finds the connection dead, or hears that it was closed, is done again on a new one,
 * once. That is safe, because a transaction that did not complete did nothing, and one whose answer got lost joins with
 * itself.
 *
 * An open request that fails says little about the next one: it is made again for some seconds. One can also hang, behind
 * a tab that does not step aside. Nobody waits for ever: after `patience` the call fails with `store-blocked`. The
 * request stays, and the next call waits for the same one.
 *
 * A caller that closes the connection may delete the database next: work still under way must not open it again.
 * It is refused with `store-closed`, until somebody uses the store again.
 */
class Connection implements Database {
  readonly persistence = 'indexeddb';
  readonly #name: string;
  readonly #options: ConnectionOptions;
  readonly #locks: MessageLocks;
  /** Connections on which some work failed, and which it closed. */
  readonly #failed: WeakSet<IDBDatabase> = new WeakSet();
  #opening: Promise<Open> | undefined;
  #open: Open | undefined;
  #isClosed = false;

  constructor(name: string, options: ConnectionOptions) {
    this.#name = name;
    this.#options = options;
    this.#locks = new MessageLocks(name, this);
  }

  read<T>(tables: readonly Table[], work: (rows: Rows) => Promise<T>): Promise<T> {
    return this.#run((db, careful) => (careful?.readCarefully ?? read)(db, tables, work));
  }

  write<T>(tables: readonly Table[], work: (rows: Rows) => Promise<T>, isRelaxed = false): Promise<T> {
    return this.#run((db, careful) => (careful?.writeCarefully ?? write)(db, tables, work, isRelaxed));
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
    return this.#locks.hold(chatId, key);
  }

  held(chatId: string): Promise<ReadonlySet<string>> {
    return this.#locks.held(chatId);
  }

  async keepNote(): Promise<void> {
    const { keepNote } = await import('./loss.ts').catch(refuseToLoad);
    await keepNote(this.#name, this);
  }

  /** Lets the next call open a connection, after one was closed. */
  reopen(): void {
    this.#isClosed = false;
  }

  /** Closes the connection. Transactions that have begun run to their end; no call opens another one until {@link reopen}. */
  close(): void {
    this.#isClosed = true;
    this.#open?.db.close();
    this.#open = undefined;
    this.#opening = undefined;
  }

  /** Does some work on the database. What the database refuses becomes a `ContextError`. */
  async #run<T>(work: Work<T>): Promise<T> {
    try {
      return await this.#attempt(work);
    } catch (error) {
      if (isContextError(error)) throw error;
      const { explain } = await import('./refusal.ts').catch(refuseToLoad);
      throw explain(error, this.#name);
    }
  }

  /** `careful`: on a second connection, after the first one failed for what lies there. */
  async #attempt<T>(work: Work<T>, isRepeat = false, careful?: typeof Careful): Promise<T> {
    const open = this.#open ?? (await this.#opened());
    let isOfRecord: boolean;
    try {
      return await Promise.race([work(open.db, careful), open.gone]);
    } catch (error) {
      if (!isDead(error)) throw error;
      // Another call that failed on it closed it in the middle of this one: that is no second failure of this one.
      const isTaken = this.#failed.has(open.db);
      this.#failed.add(open.db);
      this.#forget(open);
      if (isRepeat && !isTaken) throw error;
      isOfRecord = isOfValue(error);
    }
    const code = isOfRecord ? await import('./careful.ts').catch(refuseToLoad) : careful;
    return this.#attempt(work, true, code);
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
    const open = await new Promise<Open>((resolve, reject) => {
      const timer = setTimeout(() => reject(blocked(this.#name)), this.#options.patience);
      opening.then(resolve, reject).finally(() => clearTimeout(timer));
    });
    if (this.#isClosed) throw closed(this.#name);
    return open;
  }

  /** Opens a connection. It is kept, unless it was closed while it opened. */
  #begin(): Promise<Open> {
    const opening = this.#persist();
    const isWanted = (): boolean => this.#opening === opening;
    opening.then(
      (open) => (isWanted() ? (this.#open = open) : open.db.close()),
      () => isWanted() && (this.#opening = undefined),
    );
    return opening;
  }

  /** Asks again until it opens, for some seconds, where the reason may pass. */
  async #persist(): Promise<Open> {
    const start = Date.now();
    for (let pause = 25; ; pause *= 2) {
      try {
        return await this.#request();
      } catch (error) {
        const isTime = Date.now() - start + pause < INSIST;
        if (this.#isClosed || !isTime || !isPassing(error)) {
          const { refused } = await import('./refusal.ts').catch(refuseToLoad);
          throw refused(error, this.#name);
        }
        await new Promise((resolve) => setTimeout(resolve, pause));
      }
    }
  }

  async #request(): Promise<Open> {
    // A database that has been here probably holds long chats: their code comes while it opens.
    const mark = readMark(this.#name);
    if (mark) void loadPacks().catch(() => undefined);
    const here: { open?: Open; leave?: () => void } = {};
    const gone = new Promise<never>((_, reject) => {
      here.leave = () => reject(new DOMException('The browser closed the database.', 'AbortError'));
    });
    gone.catch(() => undefined);
    const [db, reason] = await requestDatabase(this.#name);
    const open: Open = { db, gone };
    renewLog();
    db.onversionchange = () => this.#forget(open);
    db.onclose = () => {
      this.#forget(open);
      here.leave?.();
    };
    const meta = mark && (await read(db, ['meta', 'chats'], readMeta));
    if (reason !== undefined || (mark && meta && (mark.database !== meta.database || mark.seq > meta.seq))) {
      const { noteLoss } = await import('./loss.ts').catch(refuseToLoad);
      this.#options.onDataLoss?.(await noteLoss(this.#name, db, mark, reason));
    }
    this.#options.onOpen?.();
    return open;
  }
}

/** How a connection waits, and who is told. */
interface ConnectionOptions {
  /** How long a call waits for the database to open, ms. */
  readonly patience: number;
  /** Called when the database turns out to have lost what it held. */
  readonly onDataLoss?: ((loss: DataLoss) => void) | undefined;
  /** Called when it is open. */
  readonly onOpen?: () => void;
}

/** How long an open request that fails is made again, ms. */
const INSIST = 3000;

/** Some work on a database; `careful` where the same failed for what lies there. */
type Work<T> = (db: IDBDatabase, careful: typeof Careful | undefined) => Promise<T>;

/** An open database, and what rejects when the browser closes it by force. */
interface Open {
  readonly db: IDBDatabase;
  readonly gone: Promise<never>;
}

/** The version of the database, and of every record in it that names none of its own. */
const DATABASE_VERSION = 1;

/** Opens a database, and makes its tables in a new one. With what the browser said, if it found damaged files. */
function requestDatabase(name: string): Promise<[db: IDBDatabase, loss: string | undefined]> {
  return new Promise((resolve, reject) => {
    let loss: string | undefined;
    const request = indexedDB.open(name, DATABASE_VERSION);
    request.onupgradeneeded = (event) => {
      loss = lossToldBy(event);
      const { result, transaction } = request;
      // Where it fails, the request says so, but not why.
      transaction?.addEventListener('abort', () => reject(transaction.error ?? request.error));
      createTables(result, transaction as IDBTransaction);
    };
    request.onerror = () => reject(request.error);
    request.onsuccess = () => resolve([request.result, loss]);
  });
}

/** A new database learns its names when it is made. */
function createTables(db: IDBDatabase, tx: IDBTransaction): void {
  for (const [table, { keyPath, indexes = {} }] of Object.entries<Shape>(LAYOUT)) {
    const store = db.createObjectStore(table, keyPath === undefined ? {} : { keyPath: keyPath as string });
    for (const [index, path] of Object.entries(indexes)) store.createIndex(index, path as string);
  }
  const meta: Meta = { database: createHexId(), generation: 0, seq: 0, deviceId: createHexId() };
  tx.objectStore('meta').put(meta, 'self');
}

/** Chromium begins a new database where it can't read the old one, and says so here, and only here. */
function lossToldBy(event: IDBVersionChangeEvent): string | undefined {
  const { dataLoss, dataLossMessage } = event as { dataLoss?: string; dataLossMessage?: string };
  return dataLoss === 'total' ? (dataLossMessage ?? '') : undefined;
}

/** The names of failures that say nothing about the call, only about the connection that it was made on. */
const DEAD = ['InvalidStateError', 'AbortError', 'UnknownError'];

export function isDead(error: unknown): boolean {
  return !isTooLarge(error) && (DEAD.includes(nameOf(error)) || isOfValue(error));
}

/** Why a database may not open now, and open a moment later. */
function isPassing(error: unknown): boolean {
  return (
    ['UnknownError', 'AbortError', 'DataError', 'TimeoutError', 'NotReadableError'].includes(nameOf(error)) &&
    !isFull(error)
  );
}

/** Chromium takes no value above 127 MB; it says so under a name that it has for many things. */
export function isTooLarge(error: unknown): boolean {
  return /value (?:is|are) too large/.test(String(error));
}

export function nameOf(error: unknown): string {
  return error instanceof Error || error instanceof DOMException ? error.name : '';
}

/** A full disk says so in two ways: by its name, and by failing to write large values beside the database. */
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
