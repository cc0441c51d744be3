import { describe, expect, it } from 'vitest';
import { Branches } from '../../src/graph/branches.ts';
import type { ChatDelta, ChatValue } from '../../src/graph/graph.ts';
import { createChat, join } from '../../src/graph/join.ts';
import { joined, live, records, said } from '../support/records.ts';

const shown = (chat: ChatValue): unknown[] => live(chat).map(({ name, head }) => [name, head]);

/** Branches that are told of each join. */
function followed(...deltas: readonly ChatDelta[]): {
  branches: Branches;
  tell: (delta: ChatDelta) => boolean;
} {
  const chat = joined(...deltas);
  const branches = new Branches(chat);
  return { branches, tell: (delta) => branches.update(join(chat, delta)) };
}

const two = records([said('q1', null), said('a2', 'q1'), said('b3', 'q1')], { main: ['a2'], other: ['b3'] });

describe('branches', () => {
  it('keep their identity when another one goes on', () => {
    const { branches, tell } = followed(two);
    const [main, other] = branches.live;
    expect(tell(records([said('q4', 'a2'), said('a5', 'q4')], { main: ['a5'] }))).toBe(true);
    expect(branches.live[0]).toEqual({ ...main, head: 'a5', end: 'a5' });
    expect(branches.live[1]).toBe(other);
    const before = branches.live;
    expect(tell(records([said('a5', 'q4', { rev: 2, sum: 'more' })]))).toBe(false);
    expect(tell(records([said('a5', 'q4')], { main: ['a2'] }))).toBe(false);
    expect(branches.live).toBe(before);
  });
});

describe('damage and size', () => {
  const COUNT = 20_000;
  const line = Array.from({ length: COUNT }, (_, i) => said(`m${i}`, i === 0 ? null : `m${i - 1}`));

  it('twenty thousand messages in a row, also backwards, are a branch', () => {
    const chat = joined({ ...records(line.toReversed(), { main: [`m${COUNT - 1}`, 'm1'] }) });
    expect(shown(chat)).toEqual([['main', `m${COUNT - 1}`]]);
    expect(chat.depths.get(`m${COUNT - 1}`)).toBe(COUNT);
  });

  it('a ring of as many is cut at its oldest message, and opens again when one has another place', () => {
    const chat = createChat();
    const branches = new Branches(chat);
    branches.update(join(chat, records([...line.slice(1), said('m0', `m${COUNT - 1}`)], { main: ['m50'] })));
    expect(branches.live.map(({ head }) => head)).toEqual(['m50']);
    expect([...chat.cut]).toEqual(['m0']);
    branches.update(join(chat, records([said('m60', null, { at: 1 })])));
    expect([...chat.cut]).toEqual([]);
    expect(chat.depths.get('m50')).toBe(COUNT - 60 + 51);
  });

  it('five thousand ends of one record are five thousand branches', () => {
    const ways = Array.from({ length: 5_000 }, (_, i) => said(`a${i + 10}`, i < 2_500 ? 'q1' : `a${i + 9}`));
    const keys = ways.map(({ key }) => key);
    const { branches, tell } = followed(records([said('q1', null), ...ways], { main: keys }));
    expect(branches.live.length).toBe(2_500);
    expect(tell(records([said('q9999', 'a100')], { main: ['q9999'] }))).toBe(true);
    expect(branches.live.filter(({ head }) => head === 'q9999').length).toBe(1);
  });
});
