import { IDBFactory } from 'fake-indexeddb';
import 'fake-indexeddb/auto';
import { afterAll, beforeEach, vi } from 'vitest';
import { IndexedDBContextStore } from '../../src/store/indexeddb/store.ts';
import { packModelSuite, type PackStory } from '../support/packModel.ts';
import { quickenDisk } from '../support/quickDisk.ts';
import { sealingAlways } from '../support/sealing.ts';
import { campaign } from '../support/campaign.ts';
import { storeSuite } from '../support/storeSuite.ts';

// Blocks of two, so that the short chats of tests are sealed, too, all but their last messages.
vi.mock('../../src/store/layout.ts', async (original) => ({
  ...(await original<object>()),
  BLOCK: 2,
  GROUP: 2,
}));

afterAll(quickenDisk());
beforeEach(() => {
  globalThis.indexedDB = new IDBFactory();
});

storeSuite('IndexedDBContextStore, sealed after every write,', async () =>
  sealingAlways(new IndexedDBContextStore('packed'), 'packed'),
);

/** Failures that were found, as they were printed: the smallest that found each planted bug. */
const KEPT: readonly PackStory[] = [
  // A write in two transactions.
  [
    { kind: 'turn', chat: 'c', tab: 0, pick: [0, 0, 0] },
    { kind: 'clear', chat: 'c', tab: 0, pick: [0, 0, 0] },
    { kind: 'delete', chat: 'c', tab: 0, pick: [0, 0, 0] },
    { kind: 'delete branch', chat: 'c', tab: 0, pick: [0, 0, 0] },
  ],
  // A write that is not undone when something throws.
  [
    { kind: 'turn', chat: 'c', tab: 1, pick: [0, 0, 0] },
    { kind: 'turn', chat: 'c', tab: 0, pick: [0, 0, 0] },
    { kind: 'turn', chat: 'c', tab: 1, pick: [0, 0, 5] },
  ],
  // A tab that believes what it remembers.
  [
    { kind: 'turn', chat: 'c', tab: 1, pick: [0, 0, 0] },
    { kind: 'turn', chat: 'c', tab: 0, pick: [0, 0, 0] },
    { kind: 'turn', chat: 'c', tab: 1, pick: [0, 0, 0] },
  ],
];

// `CONTEXTREE_FUZZ=20` plays twenty times as many stories, `CONTEXTREE_SEED` repeats them. What a failure printed, put into
// `KEPT`, is played each time from then on.
packModelSuite(() => 'packed', campaign(100), KEPT);
