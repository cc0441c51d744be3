import type { IDBPIndex, IDBPObjectStore, IDBPTransaction } from 'idb';
import { isContextError } from '../../errors.ts';
import type { Key, Span, Table, Tables } from '../layout.ts';
import type { Records } from '../rows.ts';
import { narrowed, textOf } from '../texts.ts';
import type { Database } from './connection.ts';
import { type Damage, isText, readRecord } from './damage.ts';

/**
 * Transactions that are whole or not at all.
 *
 * IndexedDB commits a transaction as soon as nobody asks anything of it, whatever went wrong in between. A value that
 * it can't clone makes `put` throw, and the puts before it are committed all the same: a pointer without its message.
 * So every throw aborts. And a put that succeeded proves nothing: a full disk says no at the commit. So nothing is
 * reported before `complete`. `strict` makes the browser wait for the disk; without it a power cut takes the last
 * seconds along.
 *
 * A database waits after the last answer for what might still be asked. So it is told when that was all, with the last
 * put and not a way there and back later: a third less time for an append, and a page that goes has no time for
 * another.
 */
export async function write<T>(
  db: Database,
  tables: readonly Table[],
  durability: IDBTransactionDurability,
  work: (rows: Records) => Promise<T>,
): Promise<T> {
  const tx = db.transaction(tables, 'readwrite', { durability });
  const ended = tx.done.catch(() => undefined);
  try {
    const result = await work(new DatabaseRows(tx));
    commit(tx);
    await tx.done;
    return result;
  } catch (error) {
    abort(tx);
    await ended;
    throw isContextError(error) ? error : (tx.error ?? error);
  }
}

function commit(tx: { commit(): void }): void {
  try {
    tx.commit();
  } catch {
    // It has ended already.
  }
}

function abort(tx: { abort(): void }): void {
  try {
    tx.abort();
  } catch {
    // It has ended already.
  }
}

/** Reads of one moment. */
export async function read<T>(
  db: Database,
  tables: readonly Table[],
  work: (rows: Records) => Promise<T>,
): Promise<T> {
  const tx = db.transaction(tables);
  tx.done.catch(() => undefined);
  return work(new DatabaseRows(tx));
}

type Mode = 'readonly' | 'readwrite';

/**
 * Rows of a database. Messages are kept as JSON text: a structured clone costs several times as much to read, and text
 * is what an export, a hash or a cipher wants.
 */
class DatabaseRows implements Records {
  readonly damage: Damage[] = [];
  readonly #tx: IDBPTransaction<unknown, Table[], Mode>;

  constructor(tx: IDBPTransaction<unknown, Table[], Mode>) {
    this.#tx = tx;
  }

  async get<T extends Table>(table: T, key: Key, index?: string): Promise<Tables[T] | undefined> {
    return this.#read(table, await this.#source(table, index).get(key as IDBValidKey));
  }

  async list<T extends Table>(table: T, span?: Span, index?: string, limit?: number): Promise<Tables[T][]> {
    const records: unknown[] = await this.#source(table, index).getAll(span && rangeOf(span), limit);
    return records.map((record) => this.#read(table, record)).filter((row) => row !== undefined);
  }

  async keys(table: Table, span?: Span, index?: string): Promise<Key[]> {
    return (await this.#source(table, index).getAllKeys(span && rangeOf(span))) as Key[];
  }

  #read<T extends Table>(table: T, record: unknown): Tables[T] | undefined {
    if (record === undefined) return undefined;
    const row = readRecord(table, record);
    if (row === undefined || (row !== record && !isText(table))) this.damage.push({ table, record, row });
    return row;
  }

  put<T extends Table>(table: T, row: Tables[T], key?: Key): void {
    sent(
      this.#tx
        .objectStore(table)
        .put?.(isText(table) ? narrowed(textOf(row as object)) : row, key as IDBValidKey),
    );
  }

  delete(table: Table, span?: Span): void {
    const store = this.#tx.objectStore(table);
    sent(span ? store.delete?.(rangeOf(span)) : store.clear?.());
  }

  #source(table: Table, index?: string): Source {
    const store = this.#tx.objectStore(table);
    return index === undefined ? store : store.index(index);
  }
}

type Source =
  | IDBPObjectStore<unknown, Table[], Table, Mode>
  | IDBPIndex<unknown, Table[], Table, string, Mode>;

function rangeOf({ from, to }: Span): IDBKeyRange {
  return IDBKeyRange.bound(from, to);
}

/** A request whose answer is the transaction's: a failure aborts it, and that is where it is heard of. */
function sent(request: Promise<unknown> | undefined): void {
  request?.catch(() => undefined);
}
