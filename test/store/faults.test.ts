import 'fake-indexeddb/auto';
import { describe, expect, it, vi } from 'vitest';
import type { DatabaseDump } from '../support/dump.ts';
import { DATABASE_VERSION } from '../../src/store/indexeddb/migration.ts';
import { tellCases } from '../support/campaign.ts';
import { sweepForSuite, WRITES } from '../support/sweep.ts';
import { unhandledRejections } from '../support/unhandled.ts';
import old from './fixtures/format-1.json' with { type: 'json' };
import packed from './fixtures/format-2.json' with { type: 'json' };
import summed from './fixtures/format-3.json' with { type: 'json' };
import numbered from './fixtures/format-4.json' with { type: 'json' };
import listed from './fixtures/format-5.json' with { type: 'json' };
import marked from './fixtures/format-6.json' with { type: 'json' };

// Blocks of four, so that a chat that is written in a moment is sealed, too, all but its end.
vi.mock('../../src/store/layout.ts', async (original) => ({
  ...(await original<object>()),
  BLOCK: 4,
  GROUP: 2,
}));

const EARLIER = [
  ['1', old.dump as DatabaseDump, 'long', 'short', 'bob'],
  ['2', packed.dump as DatabaseDump, 'long', 'short', 'bob'],
  ['3', summed.dump as DatabaseDump, 'imported', 'grown', 'me'],
  ['4', numbered.dump as DatabaseDump, 'imported', 'grown', 'me'],
  ['5', listed.dump as DatabaseDump, 'imported', 'grown', 'ben'],
  ['6', marked.dump as DatabaseDump, 'imported', 'grown', 'ben'],
] as const;

describe('whatever fails', () => {
  const { sweep } = sweepForSuite();
  const unhandled = unhandledRejections();

  it.each(Object.keys(WRITES))('%s is written whole or not at all', { timeout: 600_000 }, async (name) => {
    await sweep.try(name);
    const failures = sweep.count();
    expect(failures).toBeGreaterThan(9);
    tellCases(failures);
  });

  // Sealing has a patience of its own.
  it.each(Object.keys(WRITES).filter((name) => name !== 'a block sealed'))(
    '%s waits for no tab that keeps the database busy, and is written when that is gone',
    async (name) => {
      expect.hasAssertions();
      await sweep.tryBlocked(name);
    },
  );

  it.each(EARLIER)(
    'a database of format %s is brought up to date whole or not at all',
    { timeout: 60_000 },
    async (_, dump, long, short, userId) => {
      await sweep.tryUpgrade(dump, long, short, userId);
      const failures = sweep.count();
      expect(failures).toBeGreaterThan(9);
      tellCases(failures);
    },
  );

  it('is tried with every format that there was', () => expect(EARLIER).toHaveLength(DATABASE_VERSION - 1));

  it('leaves no rejection unhandled', async () => expect(await unhandled()).toEqual([]));
});
