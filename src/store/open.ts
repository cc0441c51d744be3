import { isContextError } from '../errors.ts';
import type { Channel } from './channel.ts';
import type { BackingFigures } from './figures.ts';
import { GuardedBacking } from './indexeddb/guard.ts';
import type { IndexedDBOptions } from './indexeddb/store.ts';
import type { Table } from './layout.ts';
import { MemoryBacking } from './memoryBacking.ts';
import type { DataLoss } from './loss.ts';
import { type Kept, NOTHING_KEPT } from './rebuild.ts';
import { RecordStore } from './recordStore.ts';
import type { Backing, Rows } from './rows.ts';
import type { Persistence, StoreNotice } from './store.ts';

// The stores themselves, apart from the classes that people make: those are small, and load this file when first used.

/** A store in memory. */
export function openMemory(): RecordStore {
  return new RecordStore(new MemoryBacking());
}

/** A store in a database; in memory where the browser refuses it. */
export function openIndexedDB(name: string, options: IndexedDBOptions): RecordStore {
  return new RecordStore(new BackingOrMemory(new GuardedBacking(name, options)));
}

/**
 * Rows where they last, or in memory where that is refused from the start: a private window, a site without storage, a
 * server. Once the database has answered it is never left again, because what is in it must not seem to be gone.
 */
class BackingOrMemory implements Backing {
  #backing: Backing;
  /** The one that has brought rows. */
  #proven: Backing | undefined;

  constructor(backing: Backing) {
    this.#backing = backing;
  }

  get persistence(): Persistence {
    return this.#backing.persistence;
  }

  read<T>(tables: readonly Table[], work: (rows: Rows) => Promise<T>): Promise<T> {
    return this.#ask((backing) => backing.read(tables, work));
  }

  write<T>(tables: readonly Table[], work: (rows: Rows) => Promise<T>, isRelaxed?: boolean): Promise<T> {
    return this.#ask((backing) => backing.write(tables, work, isRelaxed));
  }

  tend(chatId: string, nextSeq: number): void {
    this.#backing.tend(chatId, nextSeq);
  }

  hold(chatId: string, id: string): Promise<() => void> {
    return this.#orInMemory((backing) => backing.hold(chatId, id));
  }

  held(chatId: string): Promise<ReadonlySet<string>> {
    return this.#orInMemory((backing) => backing.held(chatId));
  }

  /** Who fell back to memory has left the tabs of the database: what happens here is no news there, nor the other way. */
  join(hear: (notice: StoreNotice) => void): Channel | undefined {
    const joined = this.#backing;
    const channel = joined.join((notice) => this.#backing === joined && hear(notice));
    return (
      channel && {
        tell: (notice) => this.#backing === joined && channel.tell(notice),
        close: () => channel.close(),
      }
    );
  }

  async recall(chatId: string): Promise<Kept> {
    return (await this.#backing.recall?.(chatId)) ?? NOTHING_KEPT;
  }

  get dataLoss(): DataLoss | undefined {
    return this.#backing.dataLoss;
  }

  figures(): Promise<BackingFigures> {
    return this.#ask(async (backing) => (await backing.figures?.()) ?? {});
  }

  async forget(): Promise<void> {
    await this.#backing.forget?.();
  }

  open(): void {
    this.#backing.open?.();
  }

  close(): void {
    this.#backing.close();
  }

  /** Asks for rows, and who brings them has proved that it can. */
  #ask<T>(call: (backing: Backing) => Promise<T>): Promise<T> {
    return this.#orInMemory(async (backing) => {
      const answer = await call(backing);
      this.#proven = backing;
      return answer;
    });
  }

  /** Locks prove nothing: most browsers keep them elsewhere, and a lease counts as taken in any case. */
  async #orInMemory<T>(call: (backing: Backing) => Promise<T>): Promise<T> {
    const backing = this.#backing;
    try {
      return await call(backing);
    } catch (error) {
      if (backing === this.#proven || !isContextError(error, 'store-unavailable')) throw error;
      if (backing === this.#backing) this.#backing = new MemoryBacking();
      return call(this.#backing);
    }
  }
}
