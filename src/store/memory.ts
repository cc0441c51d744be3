import { refuseToLoad } from '../errors.ts';
import { StoreFace } from './face.ts';
import type { ContextStore, Persistence, StoreNotice } from './store.ts';
import type { Access } from './tables/access.ts';

/**
 * A store that forgets with the page: for tests, for servers, and for what is not worth keeping.
 *
 * It keeps the whole contract except durability. A body that is read is the same object as long as the version is the
 * same, so that lists of messages stay equal where nothing changed; treat it as read-only.
 */
export class InMemoryContextStore extends StoreFace implements ContextStore {
  readonly persistence: Persistence = 'memory';

  protected override async open(hear: (notice: StoreNotice) => void): Promise<Access> {
    const { createMemory } = await import('./memoryTables.ts').catch(refuseToLoad);
    return createMemory(hear);
  }
}
