import { isContextError, refuseToLoad } from '../../errors.ts';
import { StoreFace } from '../face.ts';
import type { ContextStore, Persistence, StoreNotice } from '../store.ts';
import type { Access } from '../tables/usual.ts';
import type { DataLoss } from './marker.ts';

/** How a store waits, and whom it tells. */
export interface IndexedDBOptions {
  /** How long a call waits for the database to open before it fails with `store-blocked`, ms. Default 5000. */
  readonly patience?: number;
  /** Called when the database turns out to have lost what it held, once for each store and loss. */
  readonly onDataLoss?: (loss: DataLoss) => void;
}

/**
 * A store that lasts: one IndexedDB database, shared by all tabs of the site. Nothing is opened before the first use, so it can
 * be made anywhere, also on a server.
 *
 * Where the browser refuses a database and none of ours is known, the store is memory until the page is loaded again, and
 * `persistence` says so. Where one is known, calls reject with `store-unavailable` until it opens, or until somebody chooses
 * memory ({@link useMemory}).
 */
export class IndexedDBContextStore extends StoreFace implements ContextStore {
  readonly #name: string;
  readonly #options: IndexedDBOptions;
  #memory: Promise<Access> | undefined;
  /** Whether the database was ever open: the store never becomes memory by itself then. */
  #isKnown: () => boolean = () => false;

  constructor(name: string = 'contextree', options: IndexedDBOptions = {}) {
    super();
    this.#name = name;
    this.#options = options;
  }

  get persistence(): Persistence {
    return this.access?.db.persistence ?? 'indexeddb';
  }

  /** Keeps what is said from now on in memory: for a person who was told that the database can't be opened. */
  async useMemory(): Promise<void> {
    await this.#useMemory();
  }

  override subscribe(listener: (notice: StoreNotice) => void): () => void {
    // A listener hears other tabs at once.
    if (typeof indexedDB !== 'undefined') void this.arrive().catch(() => undefined);
    return super.subscribe(listener);
  }

  async persist(): Promise<boolean> {
    const { askToPersist } = await import('../tables/figures.ts').catch(refuseToLoad);
    return askToPersist();
  }

  protected override async open(hear: (notice: StoreNotice) => void): Promise<Access> {
    const { hasBeenHere, openDatabase } = await import('./connection.ts').catch(refuseToLoad);
    this.#isKnown = () => hasBeenHere(this.#name);
    return openDatabase(this.#name, this.#options, hear, () => (this.#isKnown = () => true));
  }

  protected override async use(access: Access, name: string, args: readonly unknown[]): Promise<unknown> {
    try {
      return await super.use(access, name, args);
    } catch (error) {
      if (this.#isKnown() || !isContextError(error, 'store-unavailable')) throw error;
    }
    return super.use(await this.#useMemory(), name, args);
  }

  /** Memory in place of this store. */
  #useMemory(): Promise<Access> {
    const { access } = this;
    this.#memory ??= import('../memoryTables.ts').then(({ createMemory }) => {
      const memory = this.putBehind(createMemory(this.hear));
      access?.close();
      return memory;
    }, refuseToLoad);
    return this.#memory;
  }
}
