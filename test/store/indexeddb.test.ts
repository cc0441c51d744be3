import 'fake-indexeddb/auto';
import { IndexedDBContextStore } from '../../src/store/indexeddb/store.ts';
import { faultSuite } from '../support/faultSuite.ts';
import { packSuite } from '../support/packSuite.ts';
import { storeSuite } from '../support/storeSuite.ts';

let made = 0;
const freshName = (): string => `suite-${(made += 1)}`;

storeSuite('IndexedDBContextStore', async () => {
  const name = freshName();
  return { store: new IndexedDBContextStore(name), other: async () => new IndexedDBContextStore(name) };
});
packSuite(freshName);
faultSuite(freshName);
