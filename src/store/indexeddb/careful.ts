import { ALL, type Key, type Range, type Rows, type Table } from '../tables/layout.ts';
import { answerTo, isOfValue, read, TransactionRows, write } from './connection.ts';

/**
 * Transactions that skip unreadable records. Chromium keeps large values in files; if one is missing or cut short, every
 * request fails that would return it together with others. So the keys are read, and then each record by itself; one that fails
 * is `undefined`. Chromium also commits no transaction that met such a record, so the transaction is repeated without asking
 * for it.
 *
 * Loaded where a second connection failed for such a value.
 */
export function readCarefully<T>(db: IDBDatabase, work: (rows: Rows) => Promise<T>): Promise<T> {
  const lost = new Set<string>();
  return read(db, work, (tx) => new CarefulRows(tx, lost));
}

export async function writeCarefully<T>(
  db: IDBDatabase,
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
      return await write(db, whole, isRelaxed, (tx) => new CarefulRows(tx, lost));
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

  override async last<T>(table: Table, index: string): Promise<T | undefined> {
    return (await this.all<T>(table, ALL, index)).at(-1);
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
