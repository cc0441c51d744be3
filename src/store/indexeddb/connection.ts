import { type IDBPDatabase, openDB } from 'idb';
import { ContextError, isContextError } from '../../errors.ts';
import { DATABASE_VERSION, upgrade } from './migration.ts';

/**
 * The one connection of a store to its database, and what to do when it breaks.
 *
 * A connection is lost in more ways than one closes it. Another tab wants to upgrade, and every open connection stands
 * in its way: ours steps aside at once. A browser drops connections of pages that were in the background, and every
 * later call on them fails in the same way for ever. So a call that finds the connection dead opens a new one and is
 * made again, once. That is safe because a transaction that did not complete did nothing, and one whose answer got lost
 * finds its messages there. Where it fails again, for another reason, nobody knows whether the first one was carried out,
 * and the error says so (`details.mayBeSaved`). A database that does not open is asked for once more, too.
 *
 * Whoever closes it wants it closed, and may delete the database next: what was still under way must not open it again.
 * It is refused with `store-closed`, until somebody uses the store again.
 *
 * An open request can hang, behind a tab that does not step aside. Nobody waits for ever: after some seconds the call
 * fails with `store-blocked`. The request stays, and the next call waits for the same one.
 */
export class Connection {
  readonly #name: string;
  readonly #patience: number;
  readonly #examine: Examine | undefined;
  readonly #unreadable: Set<string> = new Set();
  /** Connections on which a call failed, and which it closed. */
  readonly #failed: WeakSet<Database> = new WeakSet();
  #opening: Promise<Database> | undefined;
  #db: Database | undefined;
  #isClosed = false;
  /** Whether there is a database of an older version, with what somebody wrote. */
  #isOld = false;

  /** `patience`: how long a call waits for the database to open, ms. `examine` looks at it before anybody uses it. */
  constructor(name: string, patience: number, examine?: Examine) {
    this.#name = name;
    this.#patience = patience;
    this.#examine = examine;
  }

  /** Does some work on the database. What the database refuses becomes a `ContextError`. */
  async run<T>(work: Work<T>): Promise<T> {
    try {
      return await this.#attempt(work, false);
    } catch (error) {
      throw explain(error, this.#name);
    }
  }

  async #attempt<T>(work: Work<T>, isRepeat: boolean): Promise<T> {
    const db = this.#db ?? (await this.#opened());
    try {
      return await work(db, { isRepeat, unreadable: this.#unreadable });
    } catch (error) {
      if (!isDead(error)) throw error;
      // Another call that failed on it closed it in the middle of this one: that is no second failure of this one.
      const isTaken = this.#failed.has(db);
      this.#failed.add(db);
      this.#forget(db);
      if (isRepeat && !isTaken) throw error;
    }
    return this.#attempt(work, true).catch((error: unknown) => {
      throw doubtful(explain(error, this.#name));
    });
  }

  /** Lets the next call open a connection, after one was closed. */
  open(): void {
    this.#isClosed = false;
  }

  /** Closes the connection. Transactions that have begun run to their end; no call opens another one until {@link open}. */
  close(): void {
    this.#isClosed = true;
    this.#db?.close();
    this.#db = undefined;
    this.#opening = undefined;
  }

  #forget(db: Database): void {
    db.close();
    if (this.#db !== db) return;
    this.#opening = undefined;
    this.#db = undefined;
  }

  async #opened(): Promise<Database> {
    if (this.#isClosed) throw closed(this.#name);
    const opening = (this.#opening ??= this.#begin());
    const db = await new Promise<Database>((resolve, reject) => {
      const timer = setTimeout(() => reject(blocked(this.#name)), this.#patience);
      opening.then(resolve, reject).finally(() => clearTimeout(timer));
    });
    if (this.#isClosed) throw closed(this.#name);
    return db;
  }

  /** Opens a connection. It is kept, unless it was closed while it opened. */
  #begin(): Promise<Database> {
    const opening = this.#connect();
    const isWanted = (): boolean => this.#opening === opening;
    opening.then(
      (db) => (isWanted() ? (this.#db = db) : db.close()),
      () => isWanted() && (this.#opening = undefined),
    );
    return opening;
  }

  /** A request that fails says little about the next one; only one that fails twice is believed. */
  async #connect(): Promise<Database> {
    try {
      return await this.#request().catch((error: unknown) => {
        if (isDead(error)) return this.#request();
        throw error;
      });
    } catch (error) {
      throw refused(error, this.#name, this.#isOld);
    }
  }

  async #request(): Promise<Database> {
    const stepAside = (): void => db && this.#forget(db);
    let db: Database | undefined;
    let loss: string | undefined;
    let reason: unknown;
    const opening = openDB(this.#name, DATABASE_VERSION, {
      upgrade: (database, from, _to, tx, event) => {
        // Where it fails, the request says so, but not why.
        tx.done.catch((error: unknown) => (reason = error));
        this.#isOld = from > 0;
        loss = lossToldBy(event);
        upgrade(database, tx);
      },
      blocking: stepAside,
      terminated: stepAside,
    });
    db = await opening.catch((error: unknown) => {
      throw reason ?? error;
    });
    await this.#examine?.(db, loss);
    return db;
  }
}

/** An open database. */
export type Database = IDBPDatabase;

/** Some work on a database. */
type Work<T> = (db: Database, attempt: Attempt) => Promise<T>;

/** What is known when some work is done. */
export interface Attempt {
  /** Whether the same failed on another connection just now, so that it can't have been for the connection. */
  readonly isRepeat: boolean;
  /** The names of records that could not be read on two connections. */
  readonly unreadable: Set<string>;
}

/** Looks at a database that has just been opened; `loss` is what the browser said if it found damaged files. */
export type Examine = (db: Database, loss: string | undefined) => Promise<void>;

/** Chromium begins a new database where it can't read the old one, and says so here, and only here. */
function lossToldBy(event: IDBVersionChangeEvent): string | undefined {
  const { dataLoss, dataLossMessage } = event as { dataLoss?: string; dataLossMessage?: string };
  return dataLoss === 'total' ? (dataLossMessage ?? '') : undefined;
}

/** The names of failures that say nothing about the call, only about the connection that it was made on. */
const DEAD = ['InvalidStateError', 'AbortError', 'UnknownError'];

function isDead(error: unknown): boolean {
  return !isTooLarge(error) && (DEAD.includes(nameOf(error)) || isOfValue(error));
}

/** Chromium takes no value above 127 MB; it says so under a name that it has for many things. */
function isTooLarge(error: unknown): boolean {
  return /value (?:is|are) too large/.test(String(error));
}

/**
 * Whether a request failed for what it would bring. Chromium has a name for a file that is gone; of one that it can't read
 * it speaks under names that it has for many things, and always in these words.
 */
export function isOfValue(error: unknown): boolean {
  return nameOf(error) === 'NotReadableError' || /Failed to read large IndexedDB value/.test(String(error));
}

function nameOf(error: unknown): string {
  return error instanceof Error || error instanceof DOMException ? error.name : '';
}

/** A full disk says so in two ways: by its name, and by failing to write large values beside the database. */
function isFull(error: unknown): boolean {
  return nameOf(error) === 'QuotaExceededError' || /Failed to write blobs/.test(String(error));
}

/** The first attempt may have been carried out, and only its answer lost: whoever asks again is told. */
function doubtful({ code, message, details, cause }: ContextError): ContextError {
  return new ContextError(code, message, { cause, details: { ...details, mayBeSaved: true } });
}

function explain(error: unknown, name: string): ContextError {
  if (isContextError(error)) return error;
  const cause = { cause: error, details: { database: name } };
  if (isFull(error)) {
    return new ContextError(
      'quota-exceeded',
      `The disk is full, or this site's share of it: nothing was saved.`,
      cause,
    );
  }
  if (isTooLarge(error)) {
    return new ContextError(
      'quota-exceeded',
      `A message, a file or a value is larger than this browser takes: nothing was saved.`,
      cause,
    );
  }
  if (isDead(error)) {
    return new ContextError(
      'store-closed',
      `Database "${name}" lost its connection twice. Try again.`,
      cause,
    );
  }
  return new ContextError(
    'invariant',
    `Database "${name}" refused what it should take: ${String(error)}`,
    cause,
  );
}

/** Why a database does not open. One that is there must not seem to be none: it is opened later, when that works. */
function refused(error: unknown, name: string, isOld: boolean): ContextError {
  const cause = { cause: error, details: { database: name } };
  if (isFull(error) || (isOld && isDead(error))) return explain(error, name);
  if (nameOf(error) === 'VersionError') {
    const message = `Database "${name}" was written by a newer version of contextree. Reload the page to get it.`;
    return new ContextError('newer-format', message, cause);
  }
  return new ContextError('store-unavailable', `Database "${name}" can't be opened: ${String(error)}`, cause);
}

function closed(name: string): ContextError {
  const message = 'The store was closed. Use it again to open it.';
  return new ContextError('store-closed', message, { details: { database: name } });
}

function blocked(name: string): ContextError {
  const message = `Database "${name}" does not open: another tab keeps it busy. Close other tabs of this site.`;
  return new ContextError('store-blocked', message, { details: { database: name } });
}
