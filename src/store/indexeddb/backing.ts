import { type Channel, openChannel } from '../channel.ts';
import type { Table } from '../layout.ts';
import type { Backing, Rows } from '../rows.ts';
import type { Persistence, StoreNotice } from '../store.ts';
import { Connection } from './connection.ts';
import { NodeLocks } from './locks.ts';
import { read, write } from './transaction.ts';

/** Rows in one IndexedDB database, shared by all tabs of the site. `patience`: how long a call waits for it to open, ms. */
export class IndexedDBBacking implements Backing {
  readonly persistence: Persistence = 'indexeddb';
  readonly #name: string;
  readonly #connection: Connection;
  readonly #locks: NodeLocks;

  constructor(name: string, patience: number) {
    this.#name = name;
    this.#connection = new Connection(name, patience);
    this.#locks = new NodeLocks(name, this);
  }

  read<T>(tables: readonly Table[], work: (rows: Rows) => Promise<T>): Promise<T> {
    return this.#connection.run((db) => read(db, tables, work));
  }

  write<T>(tables: readonly Table[], work: (rows: Rows) => Promise<T>, isRelaxed = false): Promise<T> {
    return this.#connection.run((db) => write(db, tables, isRelaxed ? 'relaxed' : 'strict', work));
  }

  hold(chatId: string, id: string): Promise<() => void> {
    return this.#locks.hold(chatId, id);
  }

  held(chatId: string): Promise<ReadonlySet<string>> {
    return this.#locks.held(chatId);
  }

  join(hear: (notice: StoreNotice) => void): Channel | undefined {
    return openChannel(this.#name, hear);
  }

  close(): void {
    this.#connection.close();
  }
}
