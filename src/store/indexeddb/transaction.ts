import { unwrap } from 'idb';
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
 *
 * Nor need puts wait for an answer that is nearly always yes (`assume` of the rows). They are sent behind the question,
 * and committed when it is answered. Where the answer is no, they are undone, and the work is done again in a
 * transaction that takes nothing for true.
 */
export async function write<T>(
  db: Database,
  tables: readonly Table[],
  durability: IDBTransactionDurability,
  work: (rows: Records) => Promise<T>,
  mayAssume = true,
): Promise<T> {
  const tx = unwrap(db).transaction([...tables], 'readwrite', { durability });
  const completion = completionOf(tx);
  const rows = new DatabaseRows(tx, mayAssume);
  try {
    // What was refused, too, may have been refused by mistake.
    const result = await work(rows).finally(() => rows.settle());
    commit(tx);
    await completion;
    return result;
  } catch (error) {
    abort(tx);
    await completion.catch(() => undefined);
    if (error === MISTAKEN) return write(db, tables, durability, work, false);
    throw isContextError(error) ? error : (tx.error ?? error);
  }
}

/** Says that something was taken for true which is not. */
const MISTAKEN: unique symbol = Symbol('mistaken');

/** Resolves when a transaction is complete; rejects when it was undone, whether or not anybody waits for that. */
function completionOf(tx: IDBTransaction): Promise<void> {
  const completion = new Promise<void>((resolve, reject) => {
    tx.addEventListener('complete', () => resolve());
    tx.addEventListener('abort', () => reject(tx.error ?? new DOMException('', 'AbortError')));
  });
  completion.catch(() => undefined);
  return completion;
}

function commit(tx: IDBTransaction): void {
  try {
    tx.commit();
  } catch {
    // It has ended already.
  }
}

function abort(tx: IDBTransaction): void {
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
  return work(new DatabaseRows(unwrap(db).transaction([...tables])));
}

/**
 * Rows of a database. Messages are kept as JSON text: a structured clone costs several times as much to read, and text
 * is what an export, a hash or a cipher wants.
 *
 * What is written is kept until all of it is there, and handed over in one go: each thing that is handed over by itself
 * wakes the database up, which takes longer than to tell it all.
 */
class DatabaseRows implements Records {
  readonly damage: Damage[] = [];
  readonly assume: Records['assume'];
  readonly #tx: IDBTransaction;
  #writes: (() => void)[] = [];
  readonly #checks: Promise<boolean>[] = [];

  constructor(tx: IDBTransaction, mayAssume = false) {
    this.#tx = tx;
    if (mayAssume) this.assume = (check) => this.#assume(check);
  }

  #assume(check: Promise<boolean>): void {
    // Where something throws meanwhile, nobody waits for it any more.
    check.catch(() => undefined);
    this.#checks.push(check);
  }

  send(): void {
    const writes = this.#writes;
    this.#writes = [];
    for (const write of writes) write();
  }

  /** Sends all there is, and waits until it is known that all is as it was assumed. Throws {@link MISTAKEN} if not. */
  async settle(): Promise<void> {
    this.send();
    const checks = await Promise.all(this.#checks);
    if (!checks.every(Boolean)) throw MISTAKEN;
  }

  async get<T extends Table>(table: T, key: Key, index?: string): Promise<Tables[T] | undefined> {
    return this.#read(table, await answerTo(this.#source(table, index).get(key as IDBValidKey)));
  }

  async list<T extends Table>(table: T, span?: Span, index?: string, limit?: number): Promise<Tables[T][]> {
    const source = this.#source(table, index);
    const records: unknown[] = await answerTo(source.getAll(span && rangeOf(span), limit));
    return records.map((record) => this.#read(table, record)).filter((row) => row !== undefined);
  }

  /** Finds the first of them from the end, which costs two answers, and then reads all in one. */
  async lastChats(span: Span, many: number): Promise<Tables['chats'][]> {
    const request = (this.#source('chats', 'recent') as IDBIndex).openKeyCursor(rangeOf(span), 'prev');
    let cursor = await answerTo(request);
    if (cursor && many > 1) {
      cursor.advance(many - 1);
      cursor = await answerTo(request);
    }
    return this.list('chats', { from: (cursor?.key as Key | undefined) ?? span.from, to: span.to }, 'recent');
  }

  async keys(table: Table, span?: Span, index?: string): Promise<Key[]> {
    return (await answerTo(this.#source(table, index).getAllKeys(span && rangeOf(span)))) as Key[];
  }

  #read<T extends Table>(table: T, record: unknown): Tables[T] | undefined {
    if (record === undefined) return undefined;
    const row = readRecord(table, record);
    if (row === undefined || (row !== record && !isText(table))) this.damage.push({ table, record, row });
    return row;
  }

  /** Nobody waits for the answer, which is the transaction's: a failure aborts it, and that is where it is heard of. */
  put<T extends Table>(table: T, row: Tables[T], key?: Key): void {
    const record = isText(table) ? narrowed(textOf(row as object)) : row;
    this.#writes.push(() => this.#tx.objectStore(table).put(record, key as IDBValidKey));
  }

  delete(table: Table, span?: Span): void {
    this.#writes.push(() => {
      const store = this.#tx.objectStore(table);
      if (span) store.delete(rangeOf(span));
      else store.clear();
    });
  }

  /** Where something is read from. Whoever reads finds what was written before. */
  #source(table: Table, index?: string): IDBObjectStore | IDBIndex {
    this.send();
    const store = this.#tx.objectStore(table);
    return index === undefined ? store : store.index(index);
  }
}

function rangeOf({ from, to }: Span): IDBKeyRange {
  return IDBKeyRange.bound(from, to);
}

function answerTo<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result));
    request.addEventListener('error', () => reject(request.error as DOMException));
  });
}
