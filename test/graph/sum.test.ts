import { expect, it } from 'vitest';
import { sumOfBody } from '../../src/graph/graph.ts';
import { message } from '../support/storeRecords.ts';

it('sums a body: one sum for equal words, another one for others, never none', () => {
  expect(sumOfBody(message('a', 'Hello'))).toBe(sumOfBody(message('a', 'Hello')));
  const texts = Array.from({ length: 20_000 }, (_, i) => `word ${i}`);
  const sums = new Set(['', ...texts.map((text) => sumOfBody(message('a', text)))]);
  expect(sums.size).toBe(20_001);
  expect([...sums].filter((sum) => sum.length !== 6)).toEqual(['']);
});

it('sums texts longer than a step, to their last letter', () => {
  const long = 'ä'.repeat(40_000);
  expect(sumOfBody(message('a', long))).not.toBe(sumOfBody(message('a', `${long.slice(1)}a`)));
});
