import 'fake-indexeddb/auto';
import { describe, expect, it } from 'vitest';
import type { DatabaseDump } from '../support/dump.ts';
import { DATABASE_VERSION } from '../../src/store/indexeddb/migration.ts';
import { tellCases } from '../support/campaign.ts';
import { sweepForSuite } from '../support/sweep.ts';
import { unhandledRejections } from '../support/unhandled.ts';
import old from './fixtures/format-1.json' with { type: 'json' };
import packed from './fixtures/format-2.json' with { type: 'json' };
import summed from './fixtures/format-3.json' with { type: 'json' };
import numbered from './fixtures/format-4.json' with { type: 'json' };
import listed from './fixtures/format-5.json' with { type: 'json' };
import marked from './fixtures/format-6.json' with { type: 'json' };
import joined from './fixtures/format-7.json' with { type: 'json' };

// In blocks of their real size, as they lie in the databases of those who come from an earlier version.

const EVERY = [
  ['1', old.dump as DatabaseDump, 'long'],
  ['2', packed.dump as DatabaseDump, 'long'],
  ['3', summed.dump as DatabaseDump, 'grown'],
  ['4', numbered.dump as DatabaseDump, 'grown'],
  ['5', listed.dump as DatabaseDump, 'grown'],
  ['6', marked.dump as DatabaseDump, 'grown'],
  ['7', joined.dump as DatabaseDump, 'grown'],
] as const;

describe('the first that is written to a chat', () => {
  const { sweep } = sweepForSuite();
  const unhandled = unhandledRejections();

  it.each(EVERY)(
    'of format %s is written whole or not at all',
    { timeout: 600_000 },
    async (_, dump, chatId) => {
      await sweep.tryOld(dump, chatId);
      const failures = sweep.count();
      expect(failures).toBeGreaterThan(9);
      tellCases(failures);
    },
  );

  it('is tried with every format', () => expect(EVERY).toHaveLength(DATABASE_VERSION));

  it('leaves no rejection unhandled', async () => expect(await unhandled()).toEqual([]));
});
