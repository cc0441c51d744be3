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
 * - `closed`: the browser closes the connection in the midst of a transaction: it is undone, and a `close` event comes.
 */
export type Fault = 'throw' | 'refuse' | 'blobs' | 'abort' | 'dead' | 'late' | 'unheard' | 'closed';

interface Plan {
  readonly fault: Fault;
  readonly at: number;
  /** Whether every later request fails, too. */
  readonly forEver: boolean;
}

/** The state of an ordered fault. */
export class Faults {
  count = 0;
  struck = false;
  #plan: Plan | undefined;
  readonly #undo: (() => void)[] = [];

  constructor() {
    this.#patchRequests();
    this.#patchTransactions();
  }

  order(fault: Fault, at: number, forEver = false): void {
    this.#plan = { fault, at, forEver };
    this.count = 0;
    this.struck = false;
  }

  /** Ends the faults: from here on everything works. */
  cease(): void {
    this.#plan = undefined;
  }

  /** Takes the patches off again. */
  remove(): void {
    for (const undo of this.#undo) undo();
  }

  #strikes(fault: Fault): boolean {
    const plan = this.#plan;
    if (plan?.fault !== fault) return false;
    this.count += 1;
    const strikes = this.count === plan.at || (plan.forEver && this.count > plan.at);
    this.struck ||= strikes;
    return strikes;
  }

  #patchRequests(): void {
    const strikes = (fault: Fault): boolean => this.#strikes(fault);
    for (const name of ['put', 'add', 'delete', 'clear'] as const) {
      this.#patch(IDBObjectStore.prototype, name, (original) => {
        return function patched(this: IDBObjectStore, ...args: unknown[]): unknown {
          if (this.transaction.mode !== 'readwrite') return original.apply(this, args);
          if (strikes('throw')) throw new DOMException('injected', 'DataCloneError');
          const request = original.apply(this, args) as IDBRequest;
          if (strikes('closed')) {
            abortAs(this.transaction, 'AbortError', 'injected: closed');
            this.transaction.db.close();
          }
          if (strikes('refuse')) abortAs(this.transaction, 'QuotaExceededError');
          if (strikes('blobs')) abortAs(this.transaction, 'DataError', 'Failed to write blobs (IOError)');
          if (strikes('abort')) {
            // A transaction that was told to commit can't be aborted any more.
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
    this.#patch(IDBDatabase.prototype, 'transaction', (original) => {
      return function patched(this: IDBDatabase, ...args: unknown[]): unknown {
        if (args[1] === 'readwrite' && strikes('dead'))
          throw new DOMException('injected', 'InvalidStateError');
        const tx = original.apply(this, args) as IDBTransaction;
        if (args[1] === 'readwrite' && strikes('late')) failAtCommit(tx);
        if (args[1] === 'readwrite' && strikes('unheard')) loseAnswer(tx);
        return tx;
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

/** Aborts after the last request has succeeded: repeats a request until nobody else makes one. */
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

/** Reports a lost connection to the listeners of a transaction when it is complete. */
function loseAnswer(tx: IDBTransaction): void {
  const listen = tx.addEventListener.bind(tx);
  forThePage(tx, (type, listener) => {
    if (type === 'abort') listen('complete', listener);
    if (type !== 'complete') listen(type, listener);
  });
}

/** Intercepts the listeners that the page adds to a transaction first; a database adds its own later. */
function forThePage(tx: IDBTransaction, listen: (...args: Parameters<Listen>) => void): void {
  Object.defineProperty(tx, 'addEventListener', { configurable: true, value: listen });
  // In fake-indexeddb, removing a listener that was never added removes the last one: its own, which wakes waiting
  // transactions.
  Object.defineProperty(tx, 'removeEventListener', { configurable: true, value: () => undefined });
  queueMicrotask(() => Reflect.deleteProperty(tx, 'addEventListener'));
}

type Listen = (type: string, listener: EventListenerOrEventListenerObject) => void;
