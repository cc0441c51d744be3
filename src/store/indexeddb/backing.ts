import { type Channel, openChannel } from '../channel.ts';
import type { Table } from '../layout.ts';
import type { Backing, Records, Rows } from '../rows.ts';
import type { Persistence, StoreNotice } from '../store.ts';
import { TopologyCache } from './cache.ts';
import { CHANGES, ChangedRows } from './changedRows.ts';
import type { BackingFigures } from '../figures.ts';
import { Connection, type Examine } from './connection.ts';
import { NodeLocks } from './locks.ts';
import { renewLog } from './log.ts';
import { PackedRows } from './packedRows.ts';
import { Sealer } from './seal.ts';
import { read, write } from './transaction.ts';

/** Rows in one IndexedDB database, shared by all tabs of the site. `patience`: how long a call waits for it to open, ms. */
export class IndexedDBBacking implements Backing {
  readonly persistence: Persistence = 'indexeddb';
  readonly #name: string;
  readonly #connection: Connection;
  readonly #locks: NodeLocks;
  readonly #cache = new TopologyCache();
  readonly #sealer: Sealer;

  constructor(name: string, patience: number, examine?: Examine) {
    this.#name = name;
    this.#connection = new Connection(name, patience, async (db, loss) => {
      this.#cache.reset();
      await examine?.(db, loss);
      renewLog();
    });
    this.#locks = new NodeLocks(name, this);
    this.#sealer = new Sealer(name, this.#connection, this.#cache);
  }

  read<T>(tables: readonly Table[], work: (rows: Rows) => Promise<T>): Promise<T> {
    return this.#connection.run((db, attempt) =>
      read(
        db,
        withPacks(tables),
        (rows) => work(new PackedRows(new ChangedRows(rows), this.#cache)),
        attempt,
      ),
    );
  }

  write<T>(tables: readonly Table[], work: (rows: Rows) => Promise<T>, isRelaxed = false): Promise<T> {
    const durability = isRelaxed ? 'relaxed' : 'strict';
    const packing = async (rows: Records): Promise<T> => {
      const changed = new ChangedRows(rows);
      const packed = new PackedRows(changed, this.#cache);
      const result = await work(packed);
      await packed.flush();
      changed.flush();
      return result;
    };
    return this.#connection.run((db, attempt) => write(db, withPacks(tables), durability, packing, attempt));
  }

  tend(chatId: string, nextSeq: number): void {
    this.#sealer.note(chatId, nextSeq);
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

  figures(): Promise<BackingFigures> {
    return this.#connection.run(async (db) => {
      const tx = db.transaction(['packs', 'nodes']);
      tx.done.catch(() => undefined);
      const counts = (['packs', 'nodes'] as const).map((table) => tx.objectStore(table).count());
      const [packs = 0, singles = 0] = await Promise.all(counts);
      return { packs, singles };
    });
  }

  open(): void {
    this.#connection.open();
  }

  close(): void {
    this.#sealer.stop();
    this.#connection.close();
  }
}

/** The tables in which the rows of these tables lie. */
function withPacks(tables: readonly Table[]): Table[] {
  const packed = new Set<Table>(tables);
  if (tables.includes('changes')) for (const table of CHANGES) packed.add(table);
  // Where a topology is damaged, it is told from the bodies.
  if (tables.some((table) => ['nodes', 'bodies', 'changes'].includes(table)))
    for (const table of ['nodes', 'topologies', 'packs', 'marks'] as const) packed.add(table);
  return [...packed];
}
