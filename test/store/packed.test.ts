import { IDBFactory } from 'fake-indexeddb';
import 'fake-indexeddb/auto';
import { afterAll, beforeEach, vi } from 'vitest';
import { IndexedDBContextStore } from '../../src/store/indexeddb/store.ts';
import { packModelSuite } from '../support/packModel.ts';
import { quickenDisk } from '../support/quickDisk.ts';
import { sealingAlways } from '../support/sealing.ts';
import { campaign } from '../support/campaign.ts';
import { storeSuite } from '../support/storeSuite.ts';

// Blocks of two, so that the short chats of tests are sealed, too, all but their last messages.
vi.mock('../../src/store/layout.ts', async (original) => ({
  ...(await original<object>()),
  BLOCK: 2,
}));

afterAll(quickenDisk());
beforeEach(() => {
  globalThis.indexedDB = new IDBFactory();
});

storeSuite('IndexedDBContextStore, sealed after every write,', async () =>
  sealingAlways(new IndexedDBContextStore('packed'), 'packed'),
);

// `CONTEXTREE_FUZZ=20` plays twenty times as many stories, `CONTEXTREE_SEED` repeats them.
packModelSuite(() => 'packed', campaign(100));
