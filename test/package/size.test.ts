import { expect, it } from 'vitest';
import { specifier } from '../../scripts/entries.mjs';
import { sizes } from '../../scripts/sizes.mjs';
import { viewSizes } from '../../scripts/viewSizes.mjs';
import { VIEWS } from '../../devtools/view.ts';

// The promise of a few kilobytes, kept by measuring. `npm run sizes` prints the whole table.

const measured = await sizes();

// An entry may have several budgets, so each is compared with what was measured for it.
it.each(measured.filter(({ budget }) => budget !== null))(
  'keeps $entry within $budget bytes',
  ({ entry, budget, bytes }) => {
    expect(bytes, `gzipped bytes of ${specifier(entry)}`).toBeGreaterThan(0);
    expect(bytes, `gzipped bytes of ${specifier(entry)}`).toBeLessThanOrEqual(budget ?? 0);
  },
);

it('keeps each view of the devtools beyond Graph and Prompt within 4 kB, and the console within 2 kB', async () => {
  const pieces = await viewSizes();
  expect(pieces).toHaveLength(VIEWS.length - 2 + 1);
  expect(pieces.filter(({ bytes, budget }) => !(bytes > 0 && bytes <= budget))).toEqual([]);
});
