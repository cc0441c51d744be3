import { IDBFactory } from 'fake-indexeddb';
import 'fake-indexeddb/auto';
import { beforeEach } from 'vitest';
import { IndexedDBContextStore } from '../../src/store/indexeddb/store.ts';
import { storeSuite } from '../support/storeSuite.ts';

beforeEach(() => {
  globalThis.indexedDB = new IDBFactory();
});

storeSuite('IndexedDBContextStore', async () => new IndexedDBContextStore());
