import { expect, it } from 'vitest';
import { specifier } from '../../scripts/entries.mjs';
import { budgets, sizes } from '../../scripts/sizes.mjs';

// The promise of a few kilobytes, kept by measuring. `npm run sizes` prints the whole table.

const measured = await sizes();

it.each(budgets.filter(({ budget }) => budget !== null))(
  'keeps $entry within $budget bytes',
  ({ entry, budget }) => {
    const size = measured.find((row) => row.entry === entry);
    expect(size?.bytes, `gzipped bytes of ${specifier(entry)}`).toBeGreaterThan(0);
    expect(size?.bytes, `gzipped bytes of ${specifier(entry)}`).toBeLessThanOrEqual(budget ?? 0);
  },
);
