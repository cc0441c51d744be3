import { IDBFactory } from 'fake-indexeddb';
import 'fake-indexeddb/auto';
import { beforeEach } from 'vitest';
import { indexedDBSuite } from '../support/indexedDBSuite.ts';
import { IndexedDBContextStore } from '../../src/store/indexeddb/store.ts';
import { packSuite } from '../support/packSuite.ts';
import { storeSuite } from '../support/storeSuite.ts';

beforeEach(() => {
  globalThis.indexedDB = new IDBFactory();
});

storeSuite('IndexedDBContextStore', async () => new IndexedDBContextStore());

let databases = 0;
const freshName = (): string => `test-${(databases += 1)}`;
indexedDBSuite(freshName);
packSuite(freshName);
