import { describe, expect, it } from 'vitest';
import { nextBranchName, uniqueNames } from '../../src/graph/marks.ts';

describe('a new branch', () => {
  it('is numbered from what it was made from, whose own number does not count', () => {
    expect(nextBranchName('main', [])).toBe('main-v2');
    expect(nextBranchName('main', ['main', 'main-v2'])).toBe('main-v3');
    expect(nextBranchName('main-v2', ['main', 'main-v2'])).toBe('main-v3');
    expect(nextBranchName('main-v3', new Set(['main-v3']))).toBe('main-v2');
    expect(nextBranchName('Trip-v12-v3', [])).toBe('Trip-v12-v2');
    expect(nextBranchName('v2', [])).toBe('v2-v2');
  });
});

describe('of several with one name', () => {
  it('the oldest keeps it, and the others get the next free ones', () => {
    expect(uniqueNames(['main', 'main', 'main-v2', 'main'])).toEqual([
      'main',
      'main-v3',
      'main-v2',
      'main-v4',
    ]);
    expect(uniqueNames(['x-v2', 'x-v2', 'x'])).toEqual(['x-v2', 'x-v3', 'x']);
  });

  it('each has one, where there are ten thousand', () => {
    const names = uniqueNames(Array.from({ length: 10_000 }, () => 'main'));
    expect(new Set(names).size).toBe(10_000);
    expect(names.at(-1)).toBe('main-v10000');
  });

  it('nobody else is named anew', () => {
    const names = ['a', 'b'];
    expect(uniqueNames(names)).toBe(names);
  });
});
