import 'fake-indexeddb/auto';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { campaign, tellCases } from '../support/campaign.ts';
import {
  contentOf,
  drawn,
  givenDatabase,
  isPassedOff,
  KEPT,
  listDisk,
  mutated,
  noteUnhandled,
  tell,
} from '../support/damage.ts';
import { quickenDisk } from '../support/quickDisk.ts';

// Blocks of four, so that a chat that a test can look through is sealed, too, all but its end.
vi.mock('../../src/store/layout.ts', async (original) => ({
  ...(await original<object>()),
  BLOCK: 4,
  GROUP: 2,
}));

afterAll(quickenDisk());

// `CONTEXTREE_FUZZ=10` tries 100,000, `CONTEXTREE_SEED` repeats a campaign. A failure prints what was changed to what: that
// goes to `KEPT`.
describe('a chat of which one record is damaged', () => {
  const unhandled = noteUnhandled();

  it(
    'loses no more than that record, in 10,000 ways of which no two are alike',
    { timeout: 3_600_000 },
    async () => {
      const whole = await givenDatabase();
      // A list needs no more of a span than its two ends.
      vi.stubGlobal('IDBKeyRange', { bound: (lower: unknown, upper: unknown) => ({ lower, upper }) });
      const { numRuns, seed = Date.now() } = campaign(10_000);
      const seen = new Set([contentOf(whole, whole)]);
      let passedOff = 0;
      const told = { named: 0, harmless: 0, impossible: 0 };
      for (const mutant of KEPT) await tell(whole, mutant, listDisk);
      for (const mutant of drawn(seed)) {
        const before = seen.size;
        const damaged = mutated(whole, mutant);
        if (seen.add(contentOf(whole, damaged)).size === before) continue;
        const tried = told.named + told.harmless;
        if (tried === numRuns) break;
        if (isPassedOff(whole, damaged)) passedOff += 1;
        // What only reads is asked of every fourth one: it takes as long as all the rest.
        told[await tell(whole, mutant, listDisk, tried % 4 === 0)] += 1;
      }
      expect(unhandled).toEqual([]);
      expect([told.named + told.harmless, seen.size > numRuns]).toEqual([numRuns, true]);
      tellCases(numRuns);
      // What never does any harm proves nothing.
      expect(told.named).toBeGreaterThan(numRuns / 2);
      // Nor does what every sum tells of: it only shows that there are sums.
      expect(passedOff).toBeGreaterThan(numRuns / 200);
    },
  );
});
