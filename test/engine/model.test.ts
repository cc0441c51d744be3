import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { SEED, tryAll } from '../support/campaign.ts';
import { longScripts, playSteps, shortScripts, type Step } from '../support/modelSteps.ts';

/**
 * Engines against a chat on paper: whatever two tabs do, in whatever order, each step must leave both looking alike.
 *
 * 6,000 sequences each time, in memory; `test/store/engines.test.ts` plays them over a database. `CONTEXTREE_FUZZ=20` runs
 * twenty times as many, `CONTEXTREE_SEED` repeats a campaign, `CONTEXTREE_STEPS` (the steps that a failure printed) one
 * sequence. A failure that is mended goes to `KEPT`.
 */
const TIMES = Number(process.env['CONTEXTREE_FUZZ'] ?? 1);
const STEPS = process.env['CONTEXTREE_STEPS'];

const step = (does: Step['does'], desk: number, pick = 0, way = 0): Step => ({ does, desk, pick, way });

/** Failures that were found, as they were printed: the smallest that found each bug. */
const KEPT: readonly (readonly Step[])[] = [
  // Two tabs ask in one moment, and the head is moved from wherever it is by then.
  [step('open', 0), step('ask', 1), step('ask', 0, 31, 1)],
  // A tab is not told where a branch ends since another one wrote.
  [step('open', 0), step('ask', 0), step('btw', 0)],
  // A save() that the disk refused was still told of when its messages had been taken back.
  [step('refuse', 0), step('set', 0, 0, 4), step('save', 0), step('unset', 0)],
  // An answer was taken back while another tab could not read.
  [step('open', 0), step('ask', 0), step('finish', 0, 0, 7), step('ask', 1)],
  // Something was asked before a save() was repeated that the disk had refused: it went where the branch had ended before.
  [
    step('set', 0),
    step('save', 0),
    step('set', 0, 0, 4),
    step('set', 0, 0, 2),
    step('refuse', 0),
    step('save', 0, 0, 4),
    step('ask', 0),
  ],
  // "Saving" was told twice, where a save() that the disk had refused was followed by what was set since.
  [step('refuse', 0), step('set', 0, 0, 4), step('save', 0), step('set', 0), step('save', 0)],
  // New words for an answer that the disk had refused became a version of it.
  [
    step('set', 0, 0, 7),
    step('set', 0, 0, 6),
    step('refuse', 0),
    step('save', 0),
    step('set', 0),
    step('save', 0, 0, 1),
  ],
  // New words for the last answer went to the one that had been the last when the disk refused them.
  [
    step('refuse', 0),
    step('ask', 0),
    step('ask', 0),
    step('set', 0),
    step('set', 0, 0, 4),
    step('finish', 0),
    step('save', 0),
    step('finish', 0),
  ],
  // A question got other words before a save() was repeated that had known it by its first ones.
  [
    step('refuse', 0),
    step('set', 0, 0, 4),
    step('ask', 0),
    step('set', 0, 0, 1),
    step('save', 0),
    step('amend', 0),
  ],
  // Words that were set for an answer by its id became a version beside those that were set for the last answer, and refused.
  [
    step('set', 0, 0, 4),
    step('refuse', 0),
    step('ask', 0),
    step('set', 0),
    step('save', 0),
    step('finish', 0),
    step('set', 0, 7, 1),
    step('save', 0, 0, 1),
  ],
];

describe('engines against a chat on paper', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  test.each([
    [1000, 4, shortScripts],
    [5000, 40, longScripts],
  ])('any steps at any tabs: %i times up to %i', { timeout: 240_000 * TIMES }, async (runs, _, scripts) => {
    expect.hasAssertions();
    await tryAll(scripts, (script) => playSteps(script), {
      numRuns: runs * TIMES,
      endOnFailure: process.env['CONTEXTREE_SHRINK'] === '0',
      ...(SEED === undefined ? {} : { seed: Number(SEED) }),
    });
  });

  test.each(KEPT.map((steps) => [steps]))('what was found once: %#', async (steps) => {
    await expect(playSteps(steps)).resolves.toBeUndefined();
  });

  test.runIf(STEPS)('the steps given', async () => {
    expect.hasAssertions();
    await playSteps(JSON.parse(STEPS ?? '[]') as Step[]);
  });
});
