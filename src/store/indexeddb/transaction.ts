import { unwrap } from 'idb';
import { isContextError } from '../../errors.ts';
import { type Key, type Meta, only, type Span, type Table, type Tables } from '../layout.ts';
import type { Records } from '../rows.ts';
import { narrowed, textOf } from '../texts.ts';
import { type Attempt, type Database, isOfValue } from './connection.ts';
import { type Damage, isText, readRecord, remainsOf } from './damage.ts';

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
 *
 * Where a value is so large that the browser may refuse it, it is not told. Chromium refuses those above 127 MB in the page,
 * and a transaction that was told to commit is committed without them, with all else, and says that it is complete.
 *
 * It is done again, too, where a record could not be read: Chromium commits no transaction that met one. The next one
 * does not ask for it.
 */
export async function write<T>(
  db: Database,
  tables: readonly Table[],
  durability: IDBTransactionDurability,
  work: (rows: Records) => Promise<T>,
  attempt: Attempt = FIRST,
  before: Before = {},
): Promise<T> {
  const tx = unwrap(db).transaction([...tables], 'readwrite', { durability });
  const completion = completionOf(tx);
  const rows = new DatabaseRows(tx, attempt, before);
  try {
    // What was refused, too, may have been refused by mistake.
    const result = await work(rows).finally(() => rows.settle());
    if (!rows.mayBeRefused) commit(tx);
    await completion;
    return result;
  } catch (error) {
    abort(tx);
    await completion.catch(() => undefined);
    if (error === MISTAKEN) return write(db, tables, durability, work, attempt, SURE);
    if (error === UNREADABLE) return write(db, tables, durability, work, attempt, rows.without);
    throw isContextError(error) ? error : (tx.error ?? error);
  }
}

/** Says that something was taken for true which is not. */
const MISTAKEN: unique symbol = Symbol('mistaken');

/** Says that a record could not be read. */
const UNREADABLE: unique symbol = Symbol('unreadable');

const FIRST: Attempt = { isRepeat: false, unreadable: new Set() };

/** What is known from the transactions in which some work was undone. */
interface Before {
  /** Whether nothing is to be taken for true. */
  readonly isSure?: boolean;
  /** The names of records that are not asked for, and what the database said of itself when they could not be read. */
  readonly lost?: ReadonlySet<string>;
  readonly meta?: Meta | undefined;
}

const SURE: Before = { isSure: true };

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
  attempt: Attempt = FIRST,
): Promise<T> {
  return work(new DatabaseRows(unwrap(db).transaction([...tables]), attempt, SURE));
}

/**
 * Rows of a database. Messages are kept as JSON text: a structured clone costs several times as much to read, and text
 * is what an export, a hash or a cipher wants.
 *
 * What is written is kept until all of it is there, and handed over in one go: each thing that is handed over by itself
 * wakes the database up, which takes longer than to tell it all.
 *
 * A record may be there and not be given out. Chromium keeps large values in files of their own, and where one of those
 * is gone or cut short, every request fails that would bring it, and brings none of the others. So the keys are asked
 * for, which lie elsewhere, and then each record by itself. The one that still fails counts as not there, and is noted
 * as damage. Only a failure that speaks of a value says so, and only on a second connection: one that speaks of the
 * transaction or the connection tells nothing of what lies there, and a chat whose row is taken for lost is begun anew.
 */
class DatabaseRows implements Records {
  readonly damage: Damage[] = [];
  readonly assume: Records['assume'];
  /** Whether something was put that may be too large for a browser. */
  mayBeRefused = false;
  readonly #tx: IDBTransaction;
  readonly #attempt: Attempt;
  readonly #before: Before;
  /** The names of records that can't be read. */
  readonly #lost: Set<string>;
  /** What the database said of itself when it was first asked. */
  #meta: Meta | undefined;
  #writes: (() => void)[] = [];
  readonly #checks: Promise<boolean>[] = [];

  constructor(tx: IDBTransaction, attempt: Attempt, before: Before) {
    this.#tx = tx;
    this.#attempt = attempt;
    this.#before = before;
    this.#lost = new Set(before.lost);
    if (!before.isSure) this.assume = (check) => this.#assume(check);
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

  /**
   * Sends all there is, and waits until it is known that all is as it was assumed. Throws {@link MISTAKEN} if not, and
   * {@link UNREADABLE} if it has to be done without some records.
   */
  async settle(): Promise<void> {
    this.send();
    const checks = await Promise.all(this.#checks);
    const { lost = NONE, meta } = this.#before;
    // Where somebody wrote meanwhile, what could not be read then may be there anew.
    const isAsThen = lost.size === 0 || JSON.stringify(meta) === JSON.stringify(this.#meta);
    if (!checks.every(Boolean) || !isAsThen) throw MISTAKEN;
    if (this.#lost.size > lost.size) throw UNREADABLE;
  }

  /** What is known for the next try: what can't be read. */
  get without(): Before {
    return { isSure: true, lost: this.#lost, meta: this.#meta };
  }

  async get<T extends Table>(table: T, key: Key, index?: string): Promise<Tables[T] | undefined> {
    const [record] = await this.#around(table, { span: only(key), index, limit: 1 }, async (source) => [
      await answerTo(source.get(key as IDBValidKey)),
    ]);
    const row = this.#read(table, record);
    if (table === 'meta') this.#meta ??= row as Meta | undefined;
    return row;
  }

  async list<T extends Table>(table: T, span?: Span, index?: string, limit?: number): Promise<Tables[T][]> {
    const records = await this.#around(table, { span, index, limit }, (source) =>
      answerTo<unknown[]>(source.getAll(span && rangeOf(span), limit)),
    );
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

  /** Asks for some records, and one by one for those around what can't be read. */
  async #around(table: Table, where: Where, ask: (source: Source) => Promise<unknown[]>): Promise<unknown[]> {
    if ([...this.#lost].some((name) => name.startsWith(nameOf(table)))) return this.#oneByOne(table, where);
    try {
      return await ask(this.#source(table, where.index));
    } catch (error) {
      const { isRepeat, unreadable } = this.#attempt;
      if (!isOfValue(error) || (!isRepeat && unreadable.size === 0)) throw error;
      const before = this.damage.length;
      const records = await this.#oneByOne(table, where).catch(() => undefined);
      // Where all can be read, it was for something else. What only reads has them all the same.
      const isTold = this.damage.length > before || this.#tx.mode === 'readonly';
      if (!records || !isTold) throw error;
      return records;
    }
  }

  async #oneByOne(table: Table, { span, index, limit }: Where): Promise<unknown[]> {
    const source = this.#source(table, index);
    const keys = await answerTo(source.getAllKeys(span && rangeOf(span), limit));
    const store = this.#tx.objectStore(table);
    const records = await Promise.all(keys.map((key) => this.#one(store, table, key as Key)));
    return records.filter((record) => record !== undefined);
  }

  async #one(store: IDBObjectStore, table: Table, key: Key): Promise<unknown> {
    const name = nameOf(table, key);
    const { isRepeat, unreadable } = this.#attempt;
    if (!this.#lost.has(name)) {
      try {
        return await answerTo(store.get(key as IDBValidKey));
      } catch (error) {
        if (!isOfValue(error) || (!isRepeat && !unreadable.has(name))) throw error;
        unreadable.add(name);
        this.#lost.add(name);
      }
    }
    this.damage.push({ table, record: undefined, row: undefined });
    return remainsOf(table, key);
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
    const record = isText(table) ? narrowed([textOf(row as object)]) : row;
    this.mayBeRefused ||= roomBehind(record, NEVER_REFUSED) < 0;
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
  #source(table: Table, index?: string): Source {
    this.send();
    const store = this.#tx.objectStore(table);
    return index === undefined ? store : store.index(index);
  }
}

type Source = IDBObjectStore | IDBIndex;

/** Which records are asked for. */
interface Where {
  readonly span: Span | undefined;
  readonly index: string | undefined;
  readonly limit: number | undefined;
}

const NONE: ReadonlySet<string> = new Set();

/** No browser refuses a value of this size, in characters of two bytes each, or in bytes: not by far. */
const NEVER_REFUSED = 2 ** 24;

/** Deeper than this nobody looks. */
const DEPTH = 64;

/** What is left of some room behind a value, below zero where it may be larger: nobody knows what is in a `Blob` or a `Map`. */
function roomBehind(value: unknown, room: number, depth: number = 0): number {
  if (typeof value === 'string') return room - value.length;
  if (value instanceof Uint8Array) return room - value.length;
  if (typeof value !== 'object' || value === null) return room - 8;
  if (depth > DEPTH || !(Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype))
    return -1;
  let left = room;
  for (const each of Object.values(value)) if (left >= 0) left = roomBehind(each, left, depth + 1);
  return left;
}

/** The name of a record, or what those of a table begin with. */
function nameOf(table: Table, key?: Key): string {
  return `${table} ${JSON.stringify(key) ?? ''}`;
}

function rangeOf({ from, to }: Span): IDBKeyRange {
  return IDBKeyRange.bound(from, to);
}

/** A read that fails leaves its transaction as it is: whoever asked knows what to do. */
function answerTo<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result));
    request.addEventListener('error', (event) => {
      event.preventDefault();
      reject(request.error);
    });
  });
}
