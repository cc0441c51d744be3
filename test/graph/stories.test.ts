import { describe, expect, it } from 'vitest';
import { hasWords, isGone, recordAt, type ChatDelta, type ChatValue } from '../../src/graph/graph.ts';
import {
  deleted,
  joined,
  live,
  named,
  records,
  reserved,
  said,
  shownIn,
  table,
  takenBack,
} from '../support/records.ts';

// The twelve smallest stories that a join which only looks right gets wrong.

/** Both orders, each time one chat. */
function bothWays(...deltas: readonly ChatDelta[]): ChatValue[] {
  return [joined(...deltas), joined(...deltas.toReversed())];
}

const heads = (chat: ChatValue): unknown[] => live(chat).map(({ head }) => head);
const words = (chat: ChatValue, key: string): string[] =>
  (recordAt(chat, key)?.versions ?? []).filter(hasWords).map(({ sum }) => sum);

describe('two accounts of a message', () => {
  it('agree on one version when a duplicated tab wrote two under one number', () => {
    const accounts = bothWays(
      records([said('m1', null, { rev: 2, sum: 'x' })]),
      records([said('m1', null, { rev: 2, sum: 'y' })]),
    );
    expect(accounts.map((chat) => shownIn(chat, 'm1'))).toEqual(['y', 'y']);
    expect(accounts.map((chat) => words(chat, 'm1'))).toEqual([
      ['x', 'y'],
      ['x', 'y'],
    ]);
  });

  it('keep an answer that a frozen tab gave after another tab took it back', () => {
    const begun = records([said('q1', null), reserved('a2', 'q1')], { main: ['a2'] });
    const back = records([takenBack('a2', 'q1')]);
    const answer = records([said('a2', 'q1', { rev: 2, sum: 'answer' })]);
    for (const chat of [...bothWays(begun, back, answer), ...bothWays(begun, answer, back)]) {
      expect(isGone(recordAt(chat, 'a2')!)).toBe(false);
      expect(heads(chat)).toEqual(['a2']);
      expect(words(chat, 'a2')).toEqual(['answer']);
    }
  });

  it('keep the words of both tabs that went on with one answer', () => {
    const once = records([said('a1', null, { sum: 'Once' })], { main: ['a1'] });
    const a = records([said('a1', null, { rev: 2, sum: 'Once A' })]);
    const b = records([said('a1', null, { rev: 2, by: 'b', sum: 'Once B' })]);
    for (const chat of bothWays(once, a, b)) {
      expect(words(chat, 'a1')).toEqual(['Once', 'Once A', 'Once B']);
      expect(shownIn(chat, 'a1')).toBe('Once B');
    }
  });

  it('keep a body that one of them has not read', () => {
    const body = { id: 'm1', role: 'user' as const, parts: [] };
    const bare = records([said('m1', null)]);
    for (const chat of bothWays(bare, records([said('m1', null, { body })])))
      expect(recordAt(chat, 'm1')?.versions).toMatchObject([{ body }]);
  });
});

describe('ends', () => {
  it('end at an answer that was taken back and came after all', () => {
    const back = records([said('q1', null), takenBack('a2', 'q1')], { main: ['a2'] });
    expect(heads(joined(back))).toEqual(['q1']);
    expect(heads(joined(back, records([said('a2', 'q1', { rev: 3, sum: 'late' })])))).toEqual(['a2']);
  });

  it('are one when the messages between two of them came last', () => {
    const first = records([said('m1', null)], { main: ['m1'] });
    const end = records([], { main: ['m3'] });
    const rest = records([said('m2', 'm1'), said('m3', 'm2')]);
    for (const chat of bothWays(first, end, rest)) expect(heads(chat)).toEqual(['m3']);
  });

  it('are left out while their message is not there, and their record with them if there are no others', () => {
    const first = records([said('m1', null)], { main: ['m1'] });
    const chat = joined(first, records([], { main: ['m3'], other: ['m4'], empty: [] }));
    expect(live(chat).map(({ record, head }) => [record, head])).toEqual([
      ['main', 'm1'],
      ['empty', null],
    ]);
  });

  it('are found when a parent is nowhere', () => {
    const chat = joined(records([said('m1', null), said('m3', 'lost')], { main: ['m1', 'm3'] }));
    expect(heads(chat)).toEqual(['m1', 'm3']);
  });
});

describe('what is said of a branch', () => {
  const late = records([said('p1', null), said('b9', 'p1')], { main: ['b9'], other: ['p1'] });
  const older = records([said('a5', 'p1')], { main: ['a5'] });

  it('deletes what was meant, also when an older sibling takes the first place later', () => {
    for (const chat of bothWays(late, older, records([], {}, [deleted('main', 'b9')])))
      expect(heads(chat)).toEqual(['a5', 'p1']);
  });

  it('names what its author saw, also when an older sibling takes the first place later', () => {
    for (const chat of bothWays(late, older, records([], {}, [named('main', 'b9', 'Trip')])))
      expect(live(chat).map(({ name, head }) => [name, head])).toEqual([
        ['main', 'a5'],
        ['main-v2', 'p1'],
        ['Trip', 'b9'],
      ]);
  });

  it('leaves the branch deleted last where two tabs delete one each of the last two', () => {
    const two = records([said('m1', null), said('m2', null)], { main: ['m1'], x: ['m2'] });
    const chat = joined(
      two,
      records([], {}, [deleted('main', 'm1', { at: 1 }), deleted('x', 'm2', { at: 2 })]),
    );
    expect(heads(chat)).toEqual(['m2']);
  });

  it('does not give another id to a branch whose sibling was taken back', () => {
    const fork = records([said('q1', null), reserved('a2', 'q1'), said('a3', 'q1', { by: 'b' })], {
      main: ['a2', 'a3'],
    });
    const [before] = live(joined(fork)).filter(({ head }) => head === 'a3');
    const after = live(joined(fork, records([takenBack('a2', 'q1')])));
    expect(table(after)).toEqual(table([{ ...before!, name: 'main' }]));
  });
});
