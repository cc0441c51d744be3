import { ContextError } from '../../errors.ts';
import type { Key, Range, Rows, Table } from '../tables/layout.ts';
import {
  answerTo,
  isDead,
  isFull,
  isOfValue,
  isTooLarge,
  nameOf,
  read,
  TransactionRows,
  write,
} from './connection.ts';

// What is done, and said, where a database fails. Loaded when it does.

/** What the browser said of some work. */
export function explain(error: unknown, name: string): ContextError {
  const cause = { cause: error, details: { database: name } };
  if (isFull(error)) {
    const message = `The disk is full, or this site's share of it: nothing was saved.`;
    return new ContextError('quota-exceeded', message, cause);
  }
  if (isTooLarge(error)) {
    const message = 'A message, a file or a value is larger than this browser takes: nothing was saved.';
    return new ContextError('quota-exceeded', message, cause);
  }
  if (isDead(error)) {
    const message = `Database "${name}" lost its connection twice. Try again.`;
    return new ContextError('store-closed', message, cause);
  }
  const message = `Database "${name}" refused what it should take: ${String(error)}`;
  return new ContextError('invariant', message, cause);
}

/** Why a database does not open. */
export function refused(error: unknown, name: string): ContextError {
  const cause = { cause: error, details: { database: name } };
  if (isFull(error)) return explain(error, name);
  if (nameOf(error) === 'VersionError') {
    const message = `Database "${name}" was written by a newer version of contextree. Reload the page to get it.`;
    return new ContextError('newer-format', message, cause);
  }
  return new ContextError('store-unavailable', `Database "${name}" can't be opened: ${String(error)}`, cause);
}

// ------------------------------------------------------------------ what can't be read

/**
 * Transactions that pass over what can't be read. Chromium keeps large values in files; where one is gone or cut short, every
 * request fails that would bring it along with others. So the keys are read, and then each record by itself; one that fails is
 * `undefined`. Chromium commits no transaction that met such a record: done again, it does not ask for that one.
 */
export function readCarefully<T>(
  db: IDBDatabase,
  tables: readonly Table[],
  work: (rows: Rows) => Promise<T>,
): Promise<T> {
  const lost = new Set<string>();
  return read(db, tables, work, (tx) => new CarefulRows(tx, lost));
}

export async function writeCarefully<T>(
  db: IDBDatabase,
  tables: readonly Table[],
  work: (rows: Rows) => Promise<T>,
  isRelaxed: boolean,
): Promise<T> {
  const lost = new Set<string>();
  for (;;) {
    const { size } = lost;
    const whole = async (rows: Rows): Promise<T> => {
      const result = await work(rows);
      if (lost.size > size) throw new Error('A record could not be read.');
      return result;
    };
    try {
      return await write(db, tables, whole, isRelaxed, (tx) => new CarefulRows(tx, lost));
    } catch (error) {
      if (lost.size === size) throw error;
    }
  }
}

class CarefulRows extends TransactionRows {
  /** The names of records that could not be read. */
  readonly #lost: Set<string>;

  constructor(tx: IDBTransaction, lost: Set<string>) {
    super(tx);
    this.#lost = lost;
  }

  override async get<T>(table: Table, key: Key | Range): Promise<T | undefined> {
    const { store, query } = this.source(table, key);
    return (await this.#oneByOne(store.getAllKeys(query, 1), table))[0]?.[1] as T | undefined;
  }

  override async all<T>(table: Table, range?: Range, index?: string, limit?: number): Promise<T[]> {
    const { source, query } = this.source(table, range, index);
    const entries = await this.#oneByOne(source.getAllKeys(query, limit), table);
    return entries.flatMap(([, value]) => (value === undefined ? [] : [value as T]));
  }

  override async entries<T>(table: Table, range: Range): Promise<[Key, T | undefined][]> {
    const { store, query } = this.source(table, range);
    return (await this.#oneByOne(store.getAllKeys(query), table)) as [Key, T | undefined][];
  }

  async #oneByOne(keys: IDBRequest<IDBValidKey[]>, table: Table): Promise<[Key, unknown][]> {
    return Promise.all(
      (await answerTo(keys)).map(async (key): Promise<[Key, unknown]> => {
        const name = `${table} ${JSON.stringify(key)}`;
        if (this.#lost.has(name)) return [key as Key, undefined];
        try {
          return [key as Key, await super.get(table, key as Key)];
        } catch (error) {
          if (!isOfValue(error)) throw error;
          this.#lost.add(name);
          return [key as Key, undefined];
        }
      }),
    );
  }
}
