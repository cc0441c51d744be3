import { expect, it } from 'vitest';
import { clock, dollars, span } from '../../devtools/amounts.ts';
import { clockTime } from '../../devtools/eventLine.ts';
import { age, count, counted } from '../../devtools/figures.ts';

it('writes numbers as short as they can be read', () => {
  expect([0, 812, 1_234, 61_200, 1_250_000].map(count)).toEqual(['0', '812', '1.2k', '61.2k', '1.3M']);
  expect([0.4, 320, 1_240, 42_000, 125_000].map(span)).toEqual([
    '0 ms',
    '320 ms',
    '1.2 s',
    '42 s',
    '2 min 5 s',
  ]);
  expect([0, 0.00001, 0.0041, 1.2].map(dollars)).toEqual(['$0.0000', '<$0.0001', '$0.0041', '$1.20']);
  expect([counted(1, 'message'), counted(2, 'branch', 'branches')]).toEqual(['1 message', '2 branches']);
});

it('tells how long ago something was', () => {
  const hour = 3_600_000;
  const ages = [-5, 0, 5 * 60_000, 3 * hour, 50 * hour, 400 * 24 * hour].map((ago) => age(0, ago));
  expect(ages).toEqual(['now', 'now', '5 min', '3 h', '2 d', '1 y']);
});

it('tells the time of day, in the log to the millisecond', () => {
  const moments = [new Date(2026, 0, 5, 0, 3, 9, 7), new Date(2026, 0, 5, 14, 3, 59, 120)].map(Number);
  expect(moments.map(clock)).toEqual(['00:03:09', '14:03:59']);
  expect(moments.map(clockTime)).toEqual(['00:03:09.007', '14:03:59.120']);
});
