import { type Channel, openChannel } from '../channel.ts';
import type { Table } from '../layout.ts';
import { RecordStore } from '../recordStore.ts';
import type { Backing, Rows } from '../rows.ts';
import type { Persistence, StoreNotice } from '../store.ts';
import { Connection } from './connection.ts';
import { NodeLocks } from './locks.ts';
import { read, write } from './transaction.ts';

/** How a store waits. */
export interface IndexedDBOptions {
  /** How long a call waits for the database to open before it fails with `store-blocked`, ms. Default 5000. */
  readonly patience?: number;
}

/**
 * A store that lasts: one IndexedDB database, shared by all tabs of the site.
 *
 * Nothing is opened before the first use, so it can be made anywhere, also on a server. Where the browser has no
 * database, or refuses it, each call rejects with `store-unavailable`.
 */
export class IndexedDBContextStore extends RecordStore {
  constructor(name: string = 'contextree', { patience = 5000 }: IndexedDBOptions = {}) {
    super(new IndexedDBBacking(name, patience));
  }
}

class IndexedDBBacking implements Backing {
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
