import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Branches } from '../../src/graph/branches.ts';
import {
  compareAt,
  eachRecord,
  isVisible,
  NO_GROWTH,
  upward,
  type ChatValue,
} from '../../src/graph/graph.ts';
import { join, recordsOf } from '../../src/graph/join.ts';
import { markId } from '../../src/graph/marks.ts';
import { graphData, graphNodes } from '../../src/graph/graphData.ts';
import type { GraphNode } from '../../src/graph/visualize.ts';
import { unreachedEnds, verify, verifyBodies, type Finding } from '../../src/graph/verify.ts';
import { forAll } from '../support/campaign.ts';
import { deleted, joined, records, reserved, said, takenBack } from '../support/records.ts';

const graphOf = (chat: ChatValue, checkpoints: { name: string; key: string }[] = []) => {
  const branches = new Branches(chat).live.map(({ name, head, record }) => ({
    name,
    head,
    isActive: record === 'main',
  }));
  return graphData('c', chat, { branches, checkpoints });
};

describe('a graph for people', () => {
  const chat = joined(
    records(
      [
        said('q1', null),
        takenBack('a2', 'q1'),
        said('q3', 'a2'),
        said('b4', 'q1', { id: 'q3' }),
        reserved('a5', 'b4'),
      ],
      { main: ['q3'], x: ['a5'] },
    ),
  );

  it('leaves out what does not show, and hangs what follows on the message before', () => {
    const graph = graphOf(chat, [
      { name: 'begin', key: 'q1' },
      { name: 'lost', key: 'zzz' },
    ]);
    expect(graph.nodes.map(({ key, parentKey }) => [key, parentKey])).toEqual([
      ['q1', null],
      ['q3', 'q1'],
      ['b4', 'q1'],
    ]);
    expect(graph.nodes[2]).toEqual({
      id: 'q3',
      key: 'b4',
      parentId: 'q1',
      parentKey: 'q1',
      role: 'assistant',
      content: 'b4',
      createdAt: 4,
      at: 4,
    });
    expect(graph.branches).toEqual([
      { name: 'main', headMessageId: 'q3', headKey: 'q3', isActive: true },
      { name: 'main-v2', headMessageId: 'q3', headKey: 'b4', isActive: false },
    ]);
    expect(graph.checkpoints).toEqual([{ name: 'begin', messageId: 'q1', messageKey: 'q1' }]);
  });

  it('keeps what is equal in an earlier one', () => {
    const { nodes } = graphOf(chat);
    expect(graphNodes(chat, NO_GROWTH, nodes)).toBe(nodes);
    const more = joined(recordsOf(chat), records([said('a4', 'q3'), said('a6', 'b4')], {}));
    const next = graphNodes(more, NO_GROWTH, nodes);
    expect(next.map(({ key }) => key)).toEqual(['q1', 'q3', 'a4', 'b4', 'a6']);
    expect(next.filter((node) => nodes.includes(node))).toEqual(nodes);
  });

  it('keeps what is equal beside a change, also where two messages have one moment', () => {
    const two = joined(
      records(
        [said('a1', null), said('a2', null)].map((one) => ({ ...one, at: 1 })),
        {},
      ),
    );
    const nodes = graphNodes(two, NO_GROWTH);
    const [first, second] = nodes;
    const place = { ...said('a1', null), at: 1, role: 'assistant', createdAt: 0 };
    join(two, records([place], {}));
    const next = graphNodes(two, NO_GROWTH, nodes);
    expect(next).toEqual([{ ...first, role: 'assistant', createdAt: 0 }, second]);
    expect(next[1]).toBe(second);
  });

  it('is the same whatever graph was made before, for any messages in any order', () => {
    const one = fc.record({
      name: fc.nat(9),
      parent: fc.option(fc.nat(9)),
      at: fc.integer({ min: 1, max: 4 }),
      make: fc.constantFrom(said, reserved, takenBack),
    });
    forAll(fc.array(fc.array(one, { maxLength: 6 }), { maxLength: 4 }), 300, (steps) => {
      const grown = joined();
      let before: readonly GraphNode[] = [];
      for (const step of steps) {
        const key = (name: number | null): string | null => (name === null ? null : `a${name}`);
        const own = step.map(({ name, parent, make, at }) => ({ ...make(`a${name}`, key(parent)), at }));
        join(grown, records(own, {}));
        before = graphNodes(grown, NO_GROWTH, before);
        expect(before).toEqual(graphNodes(grown, NO_GROWTH));
        const shown = [...eachRecord(grown)].filter((record) => isVisible(record)).toSorted(compareAt);
        expect(before.map((node) => [node.key, node.parentKey])).toEqual(
          shown.map((record) => {
            const [, ...above] = upward(grown, record.key);
            return [record.key, above.find((other) => isVisible(other))?.key ?? null];
          }),
        );
      }
    });
  });
});

describe('checking a chat', () => {
  const check = (chat: ChatValue): string[] => {
    const { live, deleted: gone } = new Branches(chat);
    return verify(chat, [...live, ...gone]).map(({ kind, id }: Finding) => `${kind} ${id}`);
  };

  it('finds nothing where all is there, deleted branches and unsaid answers included', () => {
    const chat = joined(
      records(
        [said('q1', null), said('a2', 'q1'), said('b3', 'q1'), takenBack('a4', 'a2')],
        { main: ['a4'], x: ['b3'] },
        [deleted('x', 'b3')],
      ),
    );
    expect(check(chat)).toEqual([]);
  });

  it('names rings, lost parents, lost ends, two places and what no branch reaches', () => {
    const checkpoint = (id: string, key: string, isDeleted?: true) => ({
      id: markId.checkpoint(id),
      rev: 1,
      by: 'a',
      chat: 'c',
      value: { name: id, key, createdAt: 1, at: 1, ...(isDeleted && { isDeleted }) },
    });
    const chat = joined(
      records(
        [
          said('m1', 'm3'),
          said('m2', 'm1'),
          said('m3', 'm2'),
          said('m4', 'gone'),
          said('m5', null),
          said('m6', 'm5'),
        ],
        { main: ['m3'], x: ['m4', 'm9'] },
        [checkpoint('here', 'm1'), checkpoint('there', 'm9'), checkpoint('none', 'm9', true)],
      ),
      records([said('m4', 'm3', { at: 9 })]),
    );
    expect(check(chat)).toEqual([
      'cycle m1',
      'two-parents m4',
      'orphan m4',
      'unreached m6',
      'dangling-head x',
      'dangling-checkpoint there',
    ]);
    expect(unreachedEnds(chat, new Branches(chat).live).map(({ key }) => key)).toEqual(['m6']);
  });

  it('names words that are gone, and tools that never answered', () => {
    const tool = { type: 'tool-weather', toolCallId: 't', state: 'input-available', input: {} } as const;
    const chat = joined(records([said('q1', null), said('a2', 'q1'), said('a3', 'a2'), said('q4', 'a3')]));
    const bodies = new Map([
      ['q1', { id: 'q1', role: 'user' as const, parts: [{ type: 'text' as const, text: 'A question' }] }],
      ['a2', { id: 'a2', role: 'assistant' as const, parts: [tool] }],
      ['q4', { id: 'q4', role: 'user' as const, parts: [tool] }],
    ]);
    const found = verifyBodies(chat, recordsOf(chat).messages, bodies).map(
      ({ kind, key }) => `${kind} ${key}`,
    );
    // Behind the last one nothing comes yet: its tool may still answer.
    expect(found).toEqual(['tool-without-result a2', 'missing-body a3']);
  });
});
