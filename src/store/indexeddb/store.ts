import { isContextError, refuseToLoad } from '../../errors.ts';
import { StoreFace } from '../face.ts';
import type { ContextStore, Persistence, StoreNotice } from '../store.ts';
import type { Access } from '../tables/usual.ts';
import type { DataLoss } from './marker.ts';

/** Options of {@link IndexedDBContextStore}. */
export interface IndexedDBOptions {
  /** How long a call waits for the database to open before it fails with `store-blocked`, in ms. Default 5000. */
  readonly patience?: number;
  /** Called when the database has lost data, once for each store and loss. */
  readonly onDataLoss?: (loss: DataLoss) => void;
}

/**
 * The durable store: one IndexedDB database, shared by all tabs of the site. Nothing is opened before the first use, so it can
 * be made anywhere, also on a server.
 *
 * Where the browser refuses a database and there was none before, the store is memory until the page is loaded again, and
 * `persistence` says so. Where there was one, calls reject with `store-unavailable` until it opens, or until the person chooses
 * memory ({@link useMemory}).
 */
export class IndexedDBContextStore extends StoreFace implements ContextStore {
  readonly #name: string;
  readonly #options: IndexedDBOptions;
  #memory: Promise<Access> | undefined;
  /** Whether the database was ever open: then the store never becomes memory by itself. */
  #isKnown = false;

  constructor(name: string = 'contextree', options: IndexedDBOptions = {}) {
    super();
    this.#name = name;
    this.#options = options;
  }

  get persistence(): Persistence {
    return this.#memory ? 'memory' : 'indexeddb';
  }

  /** Keeps everything in memory from now on: for a person who was told that the database can't be opened. */
  async useMemory(): Promise<void> {
    this.#memory ??= import('../memoryTables.ts').then(({ createMemory }) => {
      this.access?.close();
      return (this.access = createMemory(this.hear));
    }, refuseToLoad);
    await this.#memory;
  }

  override subscribe(listener: (notice: StoreNotice) => void): () => void {
    // A listener also needs the notices of other tabs, from now on.
    if (typeof indexedDB !== 'undefined') void this.arrive().catch(() => undefined);
    return super.subscribe(listener);
  }

  async persist(): Promise<boolean> {
    const { askToPersist } = await import('../tables/figures.ts').catch(refuseToLoad);
    return askToPersist();
  }

  protected override async open(hear: (notice: StoreNotice) => void): Promise<Access> {
    if (this.#memory) return this.#memory;
    const { hasBeenHere, openDatabase } = await import('./connection.ts').catch(refuseToLoad);
    this.#isKnown ||= hasBeenHere(this.#name);
    return openDatabase(this.#name, this.#options, hear, () => (this.#isKnown = true));
  }

  protected override async instead(error: unknown): Promise<Access> {
    if (this.#isKnown || !isContextError(error, 'store-unavailable')) throw error;
    await this.useMemory();
    return this.access as Access;
  }
}
