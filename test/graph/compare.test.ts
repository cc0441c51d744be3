import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { align, ancestorOf } from '../../src/graph/compare.ts';
import { joined, records, said } from '../support/records.ts';

/** Two ways in letters, their pairs as `a=a` for the same, `a/b` side by side, `a/` and `/b` alone. Capitals are answers. */
function aligned(a: string, b: string): string {
  const kind = (letter: string): string => (letter === letter.toUpperCase() ? 'answer' : 'question');
  return align(a.split(''), b.split(''), (letter) => letter, kind)
    .map((pair) => `${pair.a ?? ''}${pair.isSame ? '=' : '/'}${pair.b ?? ''}`)
    .join(' ');
}

describe('two ways', () => {
  it('stand side by side: the same beside the same, an answer beside an answer', () => {
    expect(aligned('aBcD', 'aBcD')).toBe('a=a B=B c=c D=D');
    expect(aligned('aB', 'aX')).toBe('a=a B/X');
    expect(aligned('aBcD', 'xByD')).toBe('a/x B=B c/y D=D');
  });

  it('leave a place empty where one of them says more', () => {
    expect(aligned('', 'aB')).toBe('/a /B');
    expect(aligned('aBcD', 'cD')).toBe('a/ B/ c=c D=D');
    expect(aligned('aB', 'B')).toBe('a/ B=B');
    expect(aligned('aB', 'X')).toBe('a/ B/X');
  });

  it('take out and put in as little as can be', () => {
    expect(aligned('aBcabBa', 'cBabac').match(/=/g)).toHaveLength(4);
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'C'), maxLength: 12 });
    fc.assert(
      fc.property(letters, letters, (a, b) => {
        const pairs = align(
          a.split(''),
          b.split(''),
          (letter) => letter,
          () => 'any',
        );
        expect(pairs.map((pair) => pair.a ?? '').join('')).toBe(a);
        expect(pairs.map((pair) => pair.b ?? '').join('')).toBe(b);
        expect(pairs.every((pair) => !pair.isSame || pair.a === pair.b)).toBe(true);
        expect(pairs.filter(({ isSame }) => isSame)).toHaveLength(longestCommon(a, b));
      }),
    );
  });

  it('of thousands of messages each are told apart without a table of millions', () => {
    const a = Array.from({ length: 5_000 }, (_, i) => `a${i}`);
    const b = [...a.slice(0, 10), ...Array.from({ length: 4_980 }, (_, i) => `b${i}`), ...a.slice(-10)];
    const pairs = align(
      a,
      b,
      (one) => one,
      () => 'any',
    );
    expect(pairs).toHaveLength(5_000);
    expect(pairs.filter(({ isSame }) => isSame)).toHaveLength(20);
  });
});

/** The plain way, with a table. */
function longestCommon(a: string, b: string): number {
  let before = Array.from({ length: b.length + 1 }, () => 0);
  for (const letter of a) {
    const next = [0];
    for (let y = 1; y <= b.length; y += 1)
      next.push(b[y - 1] === letter ? before[y - 1]! + 1 : Math.max(before[y]!, next[y - 1]!));
    before = next;
  }
  return before[b.length]!;
}

it('the last message that two chains share may be one of both, or none', () => {
  const chat = joined(
    records([said('q1', null), said('a2', 'q1'), said('q3', 'a2'), said('b4', 'q1'), said('q5', null)]),
  );
  expect(ancestorOf(chat, 'q3', 'b4')).toBe('q1');
  expect(ancestorOf(chat, 'q3', 'a2')).toBe('a2');
  expect(ancestorOf(chat, 'a2', 'a2')).toBe('a2');
  expect(ancestorOf(chat, 'q3', 'q5')).toBeNull();
  expect(ancestorOf(chat, null, 'q3')).toBeNull();
});
