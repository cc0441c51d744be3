import { DeferredStore } from '../deferred.ts';

/** How a store waits. */
export interface IndexedDBOptions {
  /** How long a call waits for the database to open before it fails with `store-blocked`, ms. Default 5000. */
  readonly patience?: number;
}

/**
 * A store that lasts: one IndexedDB database, shared by all tabs of the site.
 *
 * Nothing is opened before the first use, so it can be made anywhere, also on a server. Where there is no database, or
 * the browser refuses it, the store is memory, and `persistence` says so from the first answer on.
 */
export class IndexedDBContextStore extends DeferredStore {
  constructor(name: string = 'contextree', { patience = 5000 }: IndexedDBOptions = {}) {
    super('indexeddb', async () => {
      const { openIndexedDB } = await import('../open.ts');
      return openIndexedDB(name, patience);
    });
  }
}
