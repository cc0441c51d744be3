import fc from 'fast-check';
import 'fake-indexeddb/auto';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Fault } from '../support/faults.ts';
import { type Bug, plant } from '../support/planted.ts';
import { playRace, stories } from '../support/race.ts';
import { sweepForSuite } from '../support/sweep.ts';

// The nets of `races.test.ts` and `faults.test.ts`, over a store with a bug: each must be caught, by name.

vi.mock('../../src/store/layout.ts', async (original) => ({
  ...(await original<object>()),
  BLOCK: 4,
  GROUP: 2,
}));
vi.mock('../../src/store/indexeddb/transaction.ts', async (original) =>
  (await import('../support/planted.ts')).brokenTransactions(await original()),
);
vi.mock('../../src/store/apply.ts', async (original) =>
  (await import('../support/planted.ts')).brokenApply(await original()),
);
vi.mock('../../src/store/channel.ts', async (original) =>
  (await import('../support/planted.ts')).brokenChannels(await original()),
);

/** So many stories a race may need to find a bug; `npm test` plays fifty times as many. */
const STORIES = 60;

describe('a planted bug', () => {
  const { faults, sweep } = sweepForSuite();
  afterEach(() => plant(undefined));

  /** What the first story in which the tabs lose something says; undefined when there is none. */
  async function racing(): Promise<string | undefined> {
    const property = fc.asyncProperty(stories(2, 6), (story) => playRace(story, faults));
    const { errorInstance } = await fc.check(property, { numRuns: STORIES, seed: 1, endOnFailure: true });
    if (!(errorInstance instanceof Error)) return undefined;
    return `${errorInstance.message} ${JSON.stringify(Reflect.get(errorInstance, 'actual'))}`;
  }

  /** What the first fault says that a turn is not proof against. */
  function sweeping(kinds: readonly Fault[]): Promise<string | undefined> {
    return sweep.try('a turn', kinds).then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
  }

  it.each<[Bug, RegExp]>([
    ['reads in one transaction, writes in another', /lost|out of reach/],
    ['reads what it remembers', /came back|lost|out of reach|old words|without its parent/],
    ['believes what it remembers', /came back|lost|out of reach|told of change|without its parent/],
    ['moves a head without comparing it', /lost|out of reach/],
    ['says nothing when it is refused', /a tab hangs/],
  ])('%s: a race of two tabs finds it', { timeout: 120_000 }, async (bug, words) => {
    plant(bug);
    expect(await racing()).toMatch(words);
  });

  it.each<[Bug, Fault, RegExp]>([
    ['writes in two transactions', 'throw', /throw at \d+', '(?:refused', false|throw', \d)/],
    ['does not abort when something throws', 'throw', /throw at \d+', '(?:refused', false|throw', \d)/],
    ['tells success before the transaction is complete', 'late', /late at 1', 'kept', false/],
    ['takes an abort for success', 'late', /late at 1', 'kept', false/],
    ['tells the other tabs before the transaction is complete', 'late', /late at 1: 1 rumours/],
  ])('%s: a fault at each request finds it (%s)', { timeout: 120_000 }, async (bug, fault, words) => {
    plant(bug);
    expect(await sweeping([fault])).toMatch(words);
  });

  it('that is none is not found', { timeout: 120_000 }, async () => {
    expect([await sweeping(['throw', 'late']), await racing()]).toEqual([undefined, undefined]);
  });
});
