import { IDBFactory } from 'fake-indexeddb';
import 'fake-indexeddb/auto';
import { beforeEach, vi } from 'vitest';
import { campaign } from '../support/campaign.ts';
import { damageSuite } from '../support/damage.ts';

// Blocks of four, so that a chat that a test can look through is sealed, too, all but its end.
vi.mock('../../src/store/layout.ts', async (original) => ({ ...(await original<object>()), BLOCK: 4 }));

beforeEach(() => {
  globalThis.indexedDB = new IDBFactory();
});

// `CONTEXTREE_FUZZ=80` tries 9,600 mutants, `CONTEXTREE_SEED` repeats them.
damageSuite(campaign(120));
