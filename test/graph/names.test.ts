import { describe, expect, it } from 'vitest';
import { nextBranchName } from '../../src/graph/marks.ts';

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
