import { IndexedDBContextStore } from '../../src/store/indexeddb/store.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import { indexedDBSuite } from '../support/indexedDBSuite.ts';
import { lossSuite } from '../support/lossSuite.ts';
import { packSuite } from '../support/packSuite.ts';
import { storeSuite } from '../support/storeSuite.ts';

const freshName = (): string => `test-${crypto.randomUUID()}`;

storeSuite('InMemoryContextStore', async () => new InMemoryContextStore());
storeSuite('IndexedDBContextStore', async () => new IndexedDBContextStore(freshName()));
indexedDBSuite(freshName);
packSuite(freshName);
lossSuite(freshName);
