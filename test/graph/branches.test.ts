import { describe, expect, it } from 'vitest';
import { Branches } from '../../src/graph/branches.ts';
import { depthOf, eachRecord, isCut, type ChatValue } from '../../src/graph/graph.ts';
import { createChat, join } from '../../src/graph/join.ts';
import { joined, live, records, said } from '../support/records.ts';

describe('branches of damaged and of large chats', () => {
  const COUNT = 20_000;
  const line = Array.from({ length: COUNT }, (_, i) => said(`m${i}`, i === 0 ? null : `m${i - 1}`));

  it('twenty thousand messages in a row, also backwards, are a branch', () => {
    const chat = joined({ ...records(line.toReversed(), { main: [`m${COUNT - 1}`, 'm1'] }) });
    expect(live(chat).map(({ head }) => head)).toEqual([`m${COUNT - 1}`]);
    expect(depthOf(chat, `m${COUNT - 1}`)).toBe(COUNT);
  });

  it('a ring of as many is cut at its oldest message, and opens again when one has another place', () => {
    const chat = createChat();
    const branches = new Branches(chat);
    branches.update(join(chat, records([...line.slice(1), said('m0', `m${COUNT - 1}`)], { main: ['m50'] })));
    expect(branches.live.map(({ head }) => head)).toEqual(['m50']);
    expect(cutIn(chat)).toEqual(['m0']);
    branches.update(join(chat, records([said('m60', null, { at: 1 })])));
    expect(cutIn(chat)).toEqual([]);
    expect(depthOf(chat, 'm50')).toBe(COUNT - 60 + 51);
  });

  it('five thousand ends of one record are branches, half of which another one stands behind', () => {
    const ways = Array.from({ length: 5_000 }, (_, i) => said(`a${i + 10}`, i < 2_500 ? 'q1' : `a${i + 9}`));
    const keys = ways.map(({ key }) => key);
    const chat = joined(records([said('q1', null), ...ways], { main: keys }));
    const branches = new Branches(chat);
    expect(branches.live.length).toBe(2_500);
    branches.update(join(chat, records([said('q9999', 'a100')], { main: ['q9999'] })));
    expect(branches.live.filter(({ head }) => head === 'q9999').length).toBe(1);
  });
});

function cutIn(chat: ChatValue): string[] {
  return [...eachRecord(chat)].filter((record) => isCut(chat, record)).map(({ key }) => key);
}
