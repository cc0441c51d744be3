import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Branches } from '../../src/graph/branches.ts';
import type { ChatDelta, ChatValue } from '../../src/graph/graph.ts';
import { createChat, join } from '../../src/graph/join.ts';
import { reachableFrom } from '../../src/graph/messages.ts';
import { labelOf, Reach, type BranchLabel } from '../../src/graph/reach.ts';
import { campaign } from '../support/campaign.ts';
import { deleted, joined, named, records, reserved, said, takenBack } from '../support/records.ts';

function labels(chat: ChatValue): BranchLabel[] {
  const { live } = new Branches(chat);
  const reach = new Reach(chat, live);
  return live.map((way) => labelOf(chat, way, reach.originOf(way.id)));
}

const fork = records(
  [said('q1', null), said('a2', 'q1'), said('q3', 'a2'), said('b4', 'q1'), said('q5', 'b4')],
  {
    main: ['q3'],
    other: ['q5'],
  },
);

describe('a label', () => {
  it('is made of the first words that differ from the branch it came from', () => {
    expect(labels(joined(fork))).toEqual([
      { label: 'q1', forkedFrom: undefined, forkedAt: null, ownCount: 3 },
      { label: 'b4', forkedFrom: 'main', forkedAt: 'q1', ownCount: 2 },
    ]);
  });

  it('is the name that a person gave', () => {
    const own = named('other', 'q5', 'Trip', { isOwn: true });
    expect(labels(joined(fork, records([], {}, [own]))).map(({ label }) => label)).toEqual(['q1', 'Trip']);
  });

  it('is the name where a branch says nothing of its own yet', () => {
    const empty = records([reserved('a6', 'q3')], { main: ['q3'], twin: ['q3'], none: [], begun: ['a6'] });
    const [, ...others] = labels(joined(records([said('q1', null), said('q3', 'q1')]), empty));
    expect(others).toEqual([
      { label: 'main-v2', forkedFrom: 'main', forkedAt: 'q3', ownCount: 0 },
      { label: 'main-v3', forkedFrom: 'main', forkedAt: null, ownCount: 0 },
      { label: 'main-v4', forkedFrom: 'main', forkedAt: 'q3', ownCount: 1 },
    ]);
  });

  it('is made of what comes behind a message without words', () => {
    const picture = said('q6', 'a2', { preview: '' });
    const chat = joined(fork, records([picture, said('a7', 'q6')], { main: [], other: [], picture: ['a7'] }));
    expect(labels(chat)[2]).toMatchObject({ label: 'a7', forkedAt: 'a2', ownCount: 2 });
  });

  it('leaves out a long beginning that the oldest version has, too', () => {
    const poem = (about: string): string => `Write a short poem in the style of ${about}`;
    const versions = records(
      [
        said('q1', null, { preview: poem('Basho') }),
        said('q2', null, { preview: poem('Rilke') }),
        said('q3', null, { preview: poem('Whitman') }),
        said('q4', null, { preview: 'Write a letter' }),
      ],
      { main: ['q1'], v2: ['q2'], v3: ['q3'], v4: ['q4'] },
    );
    const own = labels(joined(versions)).map(({ label }) => label);
    expect(own).toEqual([poem('Basho'), '…style of Rilke', '…style of Whitman', 'Write a letter']);
  });

  it('is made of the answer where the question begins as that of the oldest version', () => {
    const preview = 'Write a poem of which the first fifty characters...';
    const versions = records(
      [said('q1', null, { preview }), said('a2', 'q1'), said('q3', null, { preview }), said('a4', 'q3')],
      { main: ['a2'], v2: ['a4'] },
    );
    expect(labels(joined(versions)).map(({ label }) => label)).toEqual([preview, 'a4']);
  });

  it('tells of the branch that shares the longest beginning, the older one of two', () => {
    const more = records([said('q6', 'b4')], { main: [], other: [], third: ['q6'] });
    expect(labels(joined(fork, more))[2]).toMatchObject({ forkedFrom: 'other', forkedAt: 'b4' });
    const less = records([said('b7', 'q1')], { main: [], other: [], third: ['b7'] });
    expect(labels(joined(fork, less))[2]).toMatchObject({ forkedFrom: 'main', forkedAt: 'q1' });
  });
});

describe('what live branches reach', () => {
  const turns = Array.from({ length: 6 }, (_, i) => said(`m${i + 10}`, i === 0 ? 'q1' : `m${i + 9}`));
  const pieces: ChatDelta[] = [
    fork,
    records([takenBack('a6', 'q3')], { main: ['a6'] }),
    records([reserved('a6', 'q3')], { main: ['a6'] }),
    records([said('a6', 'q3', { rev: 3 })]),
    records([], {}, [deleted('other', 'q5')]),
    records([], {}, [deleted('other', 'q5', { on: false, rev: 2 })]),
    records([said('q8', 'q5')], { main: [], other: ['q8'] }),
    ...turns.map((one) => records([one], { main: [one.key] })),
    ...turns.map((one) => records([one], { other: [one.key] })),
  ];

  it('is the same for one that was told of each join, and for one that looks now', () => {
    const order = fc.shuffledSubarray(pieces, { minLength: 1 });
    fc.assert(
      fc.property(order, (deltas) => {
        const chat = createChat();
        const branches = new Branches(chat);
        let reach = new Reach(chat, []);
        for (const delta of deltas) {
          const joined = join(chat, delta);
          branches.update(joined);
          if (joined.isMoved) reach = new Reach(chat, []);
          reach.update(branches.live);
          const fresh = new Reach(chat, branches.live);
          const heads = branches.live.map(({ head }) => head);
          const keys = [...chat.messages.keys()];
          expect(keys.filter((key) => reach.has(key))).toEqual(keys.filter((key) => fresh.has(key)));
          const reached = reachableFrom(chat, heads);
          expect(keys.filter((key) => fresh.has(key))).toEqual(keys.filter((key) => reached.has(key)));
          for (const { id } of branches.live) expect(reach.originOf(id)).toEqual(fresh.originOf(id));
        }
      }),
      campaign(300),
    );
  });
});
