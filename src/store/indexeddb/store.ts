import { DeferredStore } from '../deferred.ts';
import type { DataLoss } from '../loss.ts';

/** How a store waits, and how it takes precautions. */
export interface IndexedDBOptions {
  /** How long a call waits for the database to open before it fails with `store-blocked`, ms. Default 5000. */
  readonly patience?: number;
  /**
   * Whether each commit is written down a second time, in files of the site's own (OPFS), from which the chats can be
   * restored if the browser loses the database. Default false. It takes about as much space again. Where the browser has
   * no such files, there is none; if it can't be written, a warning is logged once, and no turn fails by it. What the app
   * keeps with `set()` is part of it where JSON holds it as it is: no dates, maps or bytes.
   */
  readonly journal?: boolean;
  /**
   * Called when the database turns out to have lost what it held, once for each store and loss. To restore without
   * asking: `onDataLoss: (loss) => loss.canRestore && loss.restore()`.
   */
  readonly onDataLoss?: (loss: DataLoss) => void;
}

/**
 * A store that lasts: one IndexedDB database, shared by all tabs of the site.
 *
 * Nothing is opened before the first use, so it can be made anywhere, also on a server. Where there is no database, or
 * the browser refuses it, the store is memory, and `persistence` says so from the first answer on. It stays memory until
 * the page is loaded again: what was said meanwhile must not seem to be gone.
 */
export class IndexedDBContextStore extends DeferredStore {
  constructor(name: string = 'contextree', options: IndexedDBOptions = {}) {
    super('indexeddb', async () => {
      const { openIndexedDB } = await import('../open.ts');
      return openIndexedDB(name, options);
    });
  }
}
