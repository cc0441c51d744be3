import { describe, expect, test } from 'vitest';
import { History } from '../../src/engine/history.ts';
import type { Branch } from '../../src/graph/graph.ts';

/** What an engine knows that has seen these branches, and what went from where to where, in this order. */
function historyOf({ branches = [], ways }: { branches?: string[]; ways: [from: string, to: string][] }) {
  const history = new History();
  for (const id of branches) history.branches.set(id, { id, name: `name of ${id}` } as Branch);
  for (const [from, to] of ways) history.lead(from, to);
  return history;
}

describe('a branch that is asked for by the id that it had before', () => {
  test('is the one on which everything is by now', () => {
    const history = historyOf({
      branches: ['c'],
      ways: [
        ['a', 'b'],
        ['b', 'c'],
      ],
    });
    expect(history.findBranch('a')?.id).toBe('c');
  });

  test('is none where what was rebased stayed on it, and it is gone since', () => {
    expect(historyOf({ ways: [['a', 'a']] }).findBranch('a')).toBeUndefined();
  });

  test('is still found where what was rebased stayed on the one that it went to', () => {
    const ways: [string, string][] = [
      ['a', 'b'],
      ['b', 'b'],
    ];
    expect(historyOf({ branches: ['b'], ways }).findBranch('a')?.id).toBe('b');
  });

  test.each([
    ['two', ['a', 'b']],
    ['three', ['a', 'b', 'c']],
  ])('is found where everything came back to the first of %s, and is none when that is gone', (_, ids) => {
    const ways = ids.map((id, i): [string, string] => [id, ids[(i + 1) % ids.length] as string]);
    const last = ids.at(-1) as string;
    expect(historyOf({ branches: ['a'], ways }).findBranch(last)?.id).toBe('a');
    expect(historyOf({ branches: ['a'], ways }).findBranch('a')?.id).toBe('a');
    for (const id of ids) expect(historyOf({ ways }).findBranch(id)).toBeUndefined();
  });
});
