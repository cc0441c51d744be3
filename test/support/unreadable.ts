import type { Table } from '../../src/store/tables/layout.ts';

/**
 * Records that a browser has and does not give out.
 *
 * Chromium keeps values of more than 64 KiB in files of their own. Where such a file is gone, or is not as long as it
 * was, each request fails that would bring the record: a `getAll` of a thousand as much as a `get` of this one. The keys
 * are there, the record can be replaced and deleted, and a transaction that met it is aborted when it is to be
 * committed, whatever the page makes of the error. Measured in Chromium 156; `test/e2e/loss.spec.ts` does it there. Here
 * it is done to fake-indexeddb, whose values are cloned when they are read: these throw.
 */
export class Unreadable {
  /** How many requests have failed so far. */
  failed = 0;
  /** Whether the records can be read again on another connection. */
  isPassing = false;
  readonly #back: (() => void)[] = [];
  readonly #open = Reflect.get(IDBDatabase.prototype, 'transaction') as Open;
  readonly #close = Reflect.get(IDBDatabase.prototype, 'close');

  constructor() {
    const [open, close] = [this.#open, this.#close];
    const doom = (tx: IDBTransaction): void => this.#doom(tx);
    const pass = (): void => {
      if (this.isPassing && this.failed > 0) this.giveBack();
    };
    IDBDatabase.prototype.transaction = function (...args): IDBTransaction {
      const tx = open.apply(this, args);
      doom(tx);
      return tx;
    };
    IDBDatabase.prototype.close = function (): void {
      close.apply(this);
      pass();
    };
  }

  #doom(tx: IDBTransaction): void {
    tx.addEventListener('error', (event) => {
      const { error } = event.target as IDBRequest;
      const why = WHYS.find((one) => SAID[one][0] === error?.message);
      if (why === undefined) return;
      this.failed += 1;
      if (why === 'connection') return;
      tx.commit = () => {
        tx.abort();
        Object.defineProperty(tx, 'error', { get: () => new DOMException('', 'UnknownError') });
      };
    });
  }

  /** Makes records of a table unreadable, those with these keys. */
  lose(db: IDBDatabase, table: Table, keys: readonly IDBValidKey[], why: Why = 'gone'): void {
    const wanted = new Set(keys.map((key) => JSON.stringify(key)));
    for (const record of recordsOf(db, table)) {
      if (!wanted.has(JSON.stringify(record.key))) continue;
      const { value } = record;
      const fail = (): never => {
        throw new DOMException(...SAID[why]);
      };
      this.#back.push(() => void (record.value = value));
      const fields = typeof value === 'object' ? value : {};
      record.value = Object.defineProperty({ ...fields }, 'rest', { enumerable: true, get: fail });
    }
  }

  /** From here on all can be read again. */
  giveBack(): void {
    for (const back of this.#back.splice(0)) back();
  }

  remove(): void {
    IDBDatabase.prototype.transaction = this.#open;
    IDBDatabase.prototype.close = this.#close;
  }
}

/** The file of a record is gone, or is too short; or nothing is wrong with it, only with whoever was asked for it. */
type Why = 'gone' | 'short' | 'connection';

const SAID: Readonly<Record<Why, readonly [message: string, name: string]>> = {
  gone: [
    'Data lost due to missing file. Affected record should be considered irrecoverable',
    'NotReadableError',
  ],
  short: ['Failed to read large IndexedDB value', 'UnknownError'],
  connection: ['Internal error.', 'UnknownError'],
};
const WHYS = Object.keys(SAID) as Why[];

type Open = (this: IDBDatabase, ...args: Parameters<IDBDatabase['transaction']>) => IDBTransaction;

interface RawRecord {
  readonly key: IDBValidKey;
  value: unknown;
}

interface RawDatabase {
  readonly rawObjectStores: ReadonlyMap<string, { readonly records: { values(): Iterable<RawRecord> } }>;
}

/** The records of a table as fake-indexeddb keeps them. */
function recordsOf(db: IDBDatabase, table: Table): Iterable<RawRecord> {
  const { _rawDatabase } = db as unknown as { readonly _rawDatabase: RawDatabase };
  return _rawDatabase.rawObjectStores.get(table)?.records.values() ?? [];
}
