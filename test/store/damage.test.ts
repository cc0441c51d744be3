import { IDBFactory } from 'fake-indexeddb';
import 'fake-indexeddb/auto';
import { afterAll, beforeEach, vi } from 'vitest';
import { campaign } from '../support/campaign.ts';
import { damageSuite, type Mutant } from '../support/damage.ts';
import { quickenDisk } from '../support/quickDisk.ts';

// Blocks of four, so that a chat that a test can look through is sealed, too, all but its end.
vi.mock('../../src/store/layout.ts', async (original) => ({ ...(await original<object>()), BLOCK: 4 }));

afterAll(quickenDisk());
beforeEach(() => {
  globalThis.indexedDB = new IDBFactory();
});

/** Failures that were found, as they were printed: records copied over others, or to where none is, and one cut. */
const KEPT: readonly Mutant[] = [
  { kind: 'copy', pick: [8318, 0, 2487, 0] },
  { kind: 'copy', pick: [4745, 0, 2, 0] },
  { kind: 'copy', pick: [6905, 3, 3702, 6557] },
  { kind: 'copy', pick: [4700, 3143, 8835, 6425] },
  { kind: 'copy', pick: [9997, 3149, 0, 4441] },
  { kind: 'cut', pick: [9999, 9991, 9357, 154] },
];

// `CONTEXTREE_FUZZ=80` tries 9,600 mutants, `CONTEXTREE_SEED` repeats them.
damageSuite({ ...campaign(120), examples: KEPT.map((mutant) => [mutant]) });
