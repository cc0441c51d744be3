import { DeferredStore } from './deferred.ts';

/**
 * A store that forgets with the page: for tests, for servers, and for what is not worth keeping.
 *
 * It keeps the whole contract except durability. A body that is read is the same object as long as the message has the
 * same revision, so that lists of messages stay equal where nothing changed; treat it as read-only.
 */
export class InMemoryContextStore extends DeferredStore {
  constructor() {
    super('memory', async () => {
      const { openMemory } = await import('./open.ts');
      return openMemory();
    });
  }
}
