import { refuseToLoad } from '../errors.ts';
import { StoreFace } from './face.ts';
import type { ContextStore, Persistence, StoreNotice } from './store.ts';
import type { Access } from './tables/usual.ts';

/**
 * A store that lives as long as the page: for tests and servers. It keeps the whole contract but durability.
 */
export class InMemoryContextStore extends StoreFace implements ContextStore {
  readonly persistence: Persistence = 'memory';
  #memory: Promise<Access> | undefined;

  protected override open(hear: (notice: StoreNotice) => void): Promise<Access> {
    this.#memory ??= import('./memoryTables.ts').then(({ createMemory }) => createMemory(hear), refuseToLoad);
    return this.#memory;
  }
}
