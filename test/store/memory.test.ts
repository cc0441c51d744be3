import { InMemoryContextStore } from '../../src/store/memory.ts';
import { storeSuite } from '../support/storeSuite.ts';

storeSuite('InMemoryContextStore', async () => {
  const store = new InMemoryContextStore();
  return { store, other: async () => store };
});
