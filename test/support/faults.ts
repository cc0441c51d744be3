/**
 * Failures of a database, on order.
 *
 * It patches the public prototypes of IndexedDB, so the same faults happen in fake-indexeddb and in a browser. Requests of
 * readwrite transactions that write (`put`, `add`, `delete`, `clear`) are counted, and so are transactions; the fault
 * strikes at the k-th. What can go wrong:
 * - `throw`: the request throws at once, as for a value that can't be cloned. What was put before it would be committed.
 * - `refuse`: the transaction is aborted as on a full disk (`QuotaExceededError`).
 * - `blobs`: the same, as Chromium says it of large values, which it writes beside the database (`DataError`).
 * - `abort`: the request succeeds, and then the transaction is aborted.
 * - `dead`: opening the transaction fails, as on a lost connection (`InvalidStateError`).
 * - `late`: all requests succeed, and the commit fails.
 * - `unheard`: the transaction is committed, and its answer gets lost with the connection.
 * - `killed`: the page goes in the midst of a transaction: it is undone, and no answer comes any more.
 * - `silent`: the page goes when all is asked: the transaction is committed, and no answer comes any more.
 * - `closed`: the browser closes the connection in the midst of a transaction: it is undone, and a `close` event comes.
 * - `newer`: another tab begins to upgrade the database (`versionchange`), and gives it up.
 * - `torn`: a readonly transaction is aborted while it reads.
 * - `shut`: the database does not open (`UnknownError`).
 * - `upgrade`: the upgrade is aborted at its k-th table or index.
 */
export type Fault =
  | 'throw'
  | 'refuse'
  | 'blobs'
  | 'abort'
  | 'dead'
  | 'late'
  | 'unheard'
  | 'killed'
  | 'silent'
  | 'closed'
  | 'newer'
  | 'torn'
  | 'shut'
  | 'upgrade';

/** Those that strike writes. */
export const WRITE_FAULTS: readonly Fault[] = ['throw', 'refuse', 'abort', 'dead', 'late'];

/** Which points of a write are made to fail, one after another: the first of them, and how far apart they are. */
export interface Points {
  readonly first: number;
  readonly every: number;
}

/** Each request of a write. */
export const ALL_POINTS: Points = { first: 1, every: 1 };

/** The points of a fault: those that strike whole transactions have few, and are not thinned out. */
export function pointsOf(fault: Fault, points: Points): Points {
  return fault === 'dead' || fault === 'late' ? ALL_POINTS : points;
}

interface Plan {
  readonly fault: Fault;
  readonly at: number;
  /** Whether every later one fails, too. */
  readonly forEver: boolean;
  /** Whether it strikes whoever asks right now; others are not counted. */
  readonly isMeant: () => boolean;
}

const anybody = (): boolean => true;

/** What was ordered and how far it is. */
export class Faults {
  count = 0;
  struck = false;
  #plan: Plan | undefined;
  readonly #undo: (() => void)[] = [];
  readonly #close: (db: IDBDatabase) => void;

  /** `close`: closes a connection by force, as a browser does of its own; none of its own calls can. */
  constructor(close: (db: IDBDatabase) => void = (db) => db.close()) {
    this.#close = close;
    this.#patchRequests();
    this.#patchTransactions();
    this.#patchOpening();
  }

  order(fault: Fault, at: number, forEver = false, isMeant: () => boolean = anybody): void {
    this.#plan = { fault, at, forEver, isMeant };
    this.count = 0;
    this.struck = false;
  }

  /** From here on everything works. */
  cease(): void {
    this.#plan = undefined;
  }

  /** Takes the patches off again. */
  remove(): void {
    for (const undo of this.#undo) undo();
  }

  #strikes(fault: Fault): boolean {
    const plan = this.#plan;
    if (plan?.fault !== fault || !plan.isMeant()) return false;
    this.count += 1;
    const strikes = this.count === plan.at || (plan.forEver && this.count > plan.at);
    this.struck ||= strikes;
    return strikes;
  }

  #patchRequests(): void {
    const strikes = (fault: Fault): boolean => this.#strikes(fault);
    const close = this.#close;
    for (const name of ['put', 'add', 'delete', 'clear'] as const) {
      this.#patch(IDBObjectStore.prototype, name, (original) => {
        return function patched(this: IDBObjectStore, ...args: unknown[]): unknown {
          if (this.transaction.mode !== 'readwrite') return original.apply(this, args);
          if (strikes('throw')) throw new DOMException('injected', 'DataCloneError');
          const request = original.apply(this, args) as IDBRequest;
          if (strikes('killed')) kill(this.transaction);
          if (strikes('closed')) {
            abortAs(this.transaction, 'AbortError', 'injected: closed');
            close(this.transaction.db);
          }
          if (strikes('newer')) upgradeInVain(this.transaction.db);
          if (strikes('refuse')) abortAs(this.transaction, 'QuotaExceededError');
          if (strikes('blobs')) abortAs(this.transaction, 'DataError', 'Failed to write blobs (IOError)');
          if (strikes('abort')) {
            // One that was told to commit can't be aborted any more.
            this.transaction.commit = () => undefined;
            request.addEventListener('success', () =>
              abortAs(this.transaction, 'UnknownError', 'injected: abort'),
            );
          }
          return request;
        };
      });
    }
  }

  #patchTransactions(): void {
    const strikes = (fault: Fault): boolean => this.#strikes(fault);
    const mayDie = (): boolean => this.#plan?.fault === 'killed';
    this.#patch(IDBDatabase.prototype, 'transaction', (original) => {
      return function patched(this: IDBDatabase, ...args: unknown[]): unknown {
        if (args[1] === 'readwrite' && strikes('dead'))
          throw new DOMException('injected', 'InvalidStateError');
        const tx = original.apply(this, args) as IDBTransaction;
        if (args[1] === 'readwrite' && strikes('late')) failAtCommit(tx);
        if (args[1] === 'readwrite' && strikes('unheard')) loseAnswer(tx);
        if (args[1] === 'readwrite' && mayDie()) muffle(tx);
        if (args[1] === 'readwrite' && strikes('silent')) silence(tx);
        if (tx.mode === 'readonly' && strikes('torn'))
          queueMicrotask(() => abortAs(tx, 'UnknownError', 'injected: torn'));
        return tx;
      };
    });
  }

  #patchOpening(): void {
    const strikes = (fault: Fault): boolean => this.#strikes(fault);
    this.#patch(IDBFactory.prototype, 'open', (original) => {
      return function patched(this: IDBFactory, ...args: unknown[]): unknown {
        const request = original.apply(this, args) as IDBOpenDBRequest;
        if (strikes('shut')) failToOpen(request);
        return request;
      };
    });
    this.#patch(IDBDatabase.prototype, 'createObjectStore', (original) => {
      return function patched(this: IDBDatabase, ...args: unknown[]): unknown {
        const store = original.apply(this, args) as IDBObjectStore;
        if (strikes('upgrade')) abortAs(store.transaction, 'QuotaExceededError');
        return store;
      };
    });
    this.#patch(IDBObjectStore.prototype, 'createIndex', (original) => {
      return function patched(this: IDBObjectStore, ...args: unknown[]): unknown {
        const index = original.apply(this, args);
        if (strikes('upgrade')) abortAs(this.transaction, 'QuotaExceededError');
        return index;
      };
    });
  }

  #patch<T extends object>(prototype: T, name: keyof T, replace: (original: Method) => unknown): void {
    const original = prototype[name];
    prototype[name] = replace(original as Method) as T[keyof T];
    this.#undo.push(() => {
      prototype[name] = original;
    });
  }
}

type Method = (...args: unknown[]) => unknown;

function abortAs(tx: IDBTransaction, name: string, words = 'injected'): void {
  try {
    tx.abort();
  } catch {
    return; // It has ended already.
  }
  Object.defineProperty(tx, 'error', { configurable: true, get: () => new DOMException(words, name) });
}

/** Aborts after the last request has succeeded: keeps asking until nobody else does. */
function failAtCommit(tx: IDBTransaction): void {
  tx.commit = () => abortAs(tx, 'QuotaExceededError');
  const store = tx.objectStore(tx.objectStoreNames[0] ?? '');
  let quiet = 0;
  const ask = (): void => {
    quiet += 1;
    if (quiet > 50) abortAs(tx, 'QuotaExceededError');
    else store.count().addEventListener('success', ask);
  };
  ask();
}

/** Whoever waits for the end hears of a lost connection when the transaction is complete. */
function loseAnswer(tx: IDBTransaction): void {
  const listen = tx.addEventListener.bind(tx);
  forThePage(tx, (type, listener) => {
    if (type === 'abort') listen('complete', listener);
    if (type !== 'complete') listen(type, listener);
  });
}

/** Transactions of which nobody hears any more. */
const dead = new WeakSet<IDBTransaction>();

/** Lets a transaction be heard only until it is dead. */
function muffle(tx: IDBTransaction): void {
  const listen = tx.addEventListener.bind(tx);
  forThePage(tx, (type, listener) => {
    listen(type, (event) => {
      if (dead.has(tx)) return;
      if (typeof listener === 'function') listener.call(tx, event);
      else listener.handleEvent(event);
    });
  });
}

function kill(tx: IDBTransaction): void {
  dead.add(tx);
  abortAs(tx, 'AbortError');
}

/** Whoever has a connection is asked to close it; then nothing is upgraded. */
function upgradeInVain({ name, version }: IDBDatabase): void {
  const request = indexedDB.open(name, version + 1);
  request.addEventListener('upgradeneeded', () => {
    request.transaction?.abort();
    // In fake-indexeddb, the connection of an upgrade that failed stays open, in the way of the next one.
    request.result.close();
  });
  request.addEventListener('error', (event) => event.preventDefault());
}

function silence(tx: IDBTransaction): void {
  forThePage(tx, () => undefined);
}

/** Stands between a transaction and whoever listens to it from the start: the page. A database listens to its own later. */
function forThePage(tx: IDBTransaction, listen: (...args: Parameters<Listen>) => void): void {
  Object.defineProperty(tx, 'addEventListener', { configurable: true, value: listen });
  // Whoever takes away what was never there takes the last one in fake-indexeddb: its own, which wakes who waits.
  Object.defineProperty(tx, 'removeEventListener', { configurable: true, value: () => undefined });
  queueMicrotask(() => Reflect.deleteProperty(tx, 'addEventListener'));
}

type Listen = (type: string, listener: EventListenerOrEventListenerObject) => void;

/** Whoever waits for the database hears that it can't be opened. */
function failToOpen(request: IDBOpenDBRequest): void {
  const listen = request.addEventListener.bind(request);
  const error = new DOMException('injected: shut', 'UnknownError');
  listen('success', () => {
    request.result.close();
    Object.defineProperty(request, 'error', { configurable: true, get: () => error });
  });
  request.removeEventListener = () => undefined;
  request.addEventListener = (type: string, listener: EventListenerOrEventListenerObject): void => {
    if (type === 'error') listen('success', listener);
    else if (type !== 'success') listen(type, listener);
  };
}
