import { refuseToLoad } from '../errors.ts';
import { StoreFace } from './face.ts';
import type { ContextStore, Persistence, StoreNotice } from './store.ts';
import type { Access } from './tables/usual.ts';

/**
 * A store that lives as long as the page: for tests and servers. It keeps the whole contract but durability. Reading a body
 * again returns the same object while its version is the same; treat it as read-only.
 */
export class InMemoryContextStore extends StoreFace implements ContextStore {
  readonly persistence: Persistence = 'memory';

  protected override async open(hear: (notice: StoreNotice) => void): Promise<Access> {
    const { createMemory } = await import('./memoryTables.ts').catch(refuseToLoad);
    return createMemory(hear);
  }
}
