import { expect, test } from 'vitest';
import { inUnits } from '../../stories/demo/quantities.ts';

test.each([
  [0, '0 bytes'],
  [999, '999 bytes'],
  [1000, '1.0 kB'],
  [12_345, '12.3 kB'],
  [5_600_000, '5.6 MB'],
  [7e15, '7000.0 TB'],
])('%d is %s', (bytes, words) => {
  expect(inUnits(bytes)).toBe(words);
});
