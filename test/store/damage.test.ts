import { IDBFactory } from 'fake-indexeddb';
import 'fake-indexeddb/auto';
import fc from 'fast-check';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { campaign } from '../support/campaign.ts';
import { fakeDisk, givenDatabase, KEPT, mutants, noteUnhandled, tell } from '../support/damage.ts';
import { quickenDisk } from '../support/quickDisk.ts';

// Blocks of four, so that a chat that a test can look through is sealed, too, all but its end.
vi.mock('../../src/store/layout.ts', async (original) => ({
  ...(await original<object>()),
  BLOCK: 4,
  GROUP: 2,
}));

afterAll(quickenDisk());
beforeEach(() => {
  globalThis.indexedDB = new IDBFactory();
});

// `CONTEXTREE_FUZZ=80` tries 9,600 mutants, `CONTEXTREE_SEED` repeats them. Ten thousand are tried in `mutants.test.ts`,
// where the database is a list; these have all of a browser's store around them.
describe('a chat of which one record is damaged', () => {
  const unhandled = noteUnhandled();

  it('loses no more than that record', { timeout: 3_600_000 }, async () => {
    const whole = await givenDatabase();
    const { numRuns, ...options } = campaign(120);
    let named = 0;
    for (const mutant of KEPT) await tell(whole, mutant, fakeDisk);
    await fc.assert(
      fc.asyncProperty(mutants, async (mutant) => {
        if ((await tell(whole, mutant, fakeDisk)) === 'named') named += 1;
        expect(unhandled).toEqual([]);
      }),
      { ...options, numRuns },
    );
    // What never does any harm proves nothing.
    expect(named).toBeGreaterThan(numRuns / 3);
  });
});
