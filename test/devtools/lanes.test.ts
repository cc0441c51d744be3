import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Lanes, Places } from '../../devtools/lanes.ts';
import { graphData } from '../../src/graph/graphData.ts';
import { createChat } from '../../src/graph/join.ts';
import { campaign } from '../support/campaign.ts';
import { records, said } from '../support/records.ts';

// What holds for every picture, whatever the chat: on drawn forests of some hundred messages, on a long one of
// 100,000, and on data that no honest store would give.

describe('the layout of lanes', () => {
  it('keeps its rules for any forest and any active message', () => {
    fc.assert(
      fc.property(forests, ({ parents, active, ends }) => {
        expect(faults(parents, active, ends)).toEqual([]);
      }),
      campaign(400),
    );
  });

  it('keeps its rules where messages come before their parents, as other clocks may have it', () => {
    fc.assert(
      fc.property(forests, ({ parents, active, ends }) => {
        const last = parents.length - 1;
        const turned = (node: number): number => (node < 0 ? -1 : last - node);
        const other = parents.map((_, node) => turned(parents[turned(node)]!));
        expect(faults(other, turned(active), ends)).toEqual([]);
      }),
      campaign(400),
    );
  });

  it('keeps its rules for a fork at each of 100,000 messages', () => {
    const parents = Array.from({ length: 100_000 }, (_, i) => (i % 2 === 0 ? Math.max(i - 2, -1) : i - 1));
    for (const active of [99_999, 50_000, -1]) expect(faults(parents, active)).toEqual([]);
  });

  it('reads: the side way between the fork and what goes on, one lane to the right', () => {
    // 0 > 1 > 2 > 3 is active; 1 > 4 > 5 was left.
    const lanes = laidOut([-1, 0, 1, 2, 1, 4], 3);
    expect(ordered(lanes)).toEqual([0, 1, 4, 5, 2, 3]);
    expect([0, 1, 2, 3, 4, 5].map((node) => lanes.of(node).lane)).toEqual([0, 0, 0, 0, 1, 1]);
    expect([0, 1, 2, 3, 4, 5].map((node) => lanes.of(node).start.first)).toEqual([0, 0, 0, 0, 4, 4]);
  });

  it('places messages that have one child, written next, as one', () => {
    expect(laidOut([-1, 0, 1, 2, 3, 4], 5).order).toHaveLength(1);
    expect(laidOut([-1, 0, 1, 2, 1, 4], 3).order.map(({ first, last }) => [first, last])).toEqual([
      [0, 1],
      [4, 5],
      [2, 3],
    ]);
  });

  it('keeps the active path in lane 0 even where another way is far longer', () => {
    const lanes = laidOut([-1, 0, 1, 2, 3, 0], 5);
    expect(lanes.of(5).lane).toBe(0);
    expect(ordered(lanes)).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it('goes on with the older of two that weigh the same', () => {
    expect(laidOut([-1, 0, 0], -1).next(0)).toBe(1);
  });

  it('begins with the tree that is active; the others follow by age', () => {
    const lanes = laidOut([-1, -1, -1, 1], 3);
    expect(ordered(lanes)).toEqual([1, 3, 0, 2]);
    expect([0, 1, 2, 3].map((node) => lanes.of(node).lane)).toEqual([0, 0, 0, 0]);
  });

  it('ends for a chat with a ring, which is cut where the chat is read', () => {
    const chat = createChat(
      records([said('m0', 'm2'), said('m1', 'm0'), said('m2', 'm1')], { main: ['m2'] }),
    );
    const { nodes } = graphData('c', chat, { branches: [], checkpoints: [] });
    const lanes = new Lanes(new Places(nodes), 2);
    expect(ordered(lanes).map((node) => nodes[node]?.key)).toEqual(['m0', 'm1', 'm2']);
  });

  it('has nothing to say about an empty chat', () => {
    expect(laidOut([], -1)).toMatchObject({ count: 0, order: [] });
  });
});

describe('places', () => {
  const nodes = [
    { key: 'a', parentKey: null },
    { key: 'b', parentKey: 'a' },
    { key: 'c', parentKey: 'gone' },
  ];

  it('name messages by their keys', () => {
    const places = new Places(nodes, ['b', 'unknown']);
    expect(['a', 'b', 'c', 'gone', 'unknown', null].map((key) => places.of(key))).toEqual([
      0,
      1,
      2,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('take a missing parent for none', () => {
    const lanes = new Lanes(new Places(nodes), 1);
    expect([0, 1, 2].map((node) => lanes.parent(node))).toEqual([undefined, 0, undefined]);
  });
});

function laidOut(parents: readonly number[], active: number, ends: readonly number[] = []): Lanes {
  const keyOf = (node: number): string | null => (node < 0 ? null : `m${node}`);
  const nodes = parents.map((above, node) => ({ key: `m${node}`, parentKey: keyOf(above) }));
  return new Lanes(new Places(nodes, [active, ...ends].map(keyOf)), active);
}

/** The messages in the order of their rows. */
function ordered(lanes: Lanes): number[] {
  return Array.from({ length: lanes.count }, (_, row) => lanes.at(row));
}

/** The rules of the essay in lanes.ts, each checked from outside; a list of what is broken. */
function faults(parents: readonly number[], active: number, ends?: readonly number[]): string[] {
  const lanes = laidOut(parents, active, ends);
  const count = parents.length;
  const order = ordered(lanes);
  const found: string[] = [];
  const onPath = new Set<number>();
  for (let node = active; node >= 0; node = parents[node]!) onPath.add(node);
  const weight = weights(parents, order);
  const laneOf = (node: number): number => lanes.of(node).lane;
  const startOf = (node: number): number => lanes.of(node).start.first;

  if (new Set(order).size !== count) found.push('order is no permutation');
  for (const end of [active, ...(ends ?? [])])
    if (end >= 0 && lanes.of(end).last !== end) found.push(`${end} ends no stretch`);
  for (const [row, node] of order.entries()) {
    const above = parents[node]!;
    const lane = laneOf(node);
    if (lanes.row(node) !== row) found.push(`row of ${node}`);
    if (lanes.size(node) !== weight[node]) found.push(`size of ${node}`);
    if ((lanes.parent(node) ?? -1) !== above) found.push(`parent of ${node}`);
    if (onPath.has(node) && lane !== 0) found.push(`${node} is active and not in lane 0`);
    if (above < 0 && lane !== 0) found.push(`root ${node} is not in lane 0`);
    if (above < 0) continue;
    if (lanes.row(above) >= row) found.push(`${node} stands above its parent`);
    const next = lanes.next(above);
    const goesOn = next === node;
    if (lane !== laneOf(above) + (goesOn ? 0 : 1)) found.push(`lane of ${node}`);
    if (goesOn && lanes.row(above) + weight[above]! !== row + weight[node]!)
      found.push(`${node} is not last`);
    if (!goesOn && !onPath.has(above) && weight[node]! > weight[next!]!)
      found.push(`${node} is heavier than what goes on`);
    if (startOf(node) !== (goesOn ? startOf(above) : node)) found.push(`start of ${node}`);
  }
  if (active >= 0 && !onPath.has(order[0]!)) found.push('the active tree is not first');
  const widest = lanes.order.reduce((most, { lane }) => Math.max(most, lane), 0);
  if (count > 0 && widest > 1 + Math.floor(Math.log2(count)))
    found.push(`${widest} lanes for ${count} messages`);
  return found.slice(0, 5);
}

function weights(parents: readonly number[], order: readonly number[]): number[] {
  const weight = Array.from({ length: parents.length }, () => 1);
  for (const node of order.toReversed()) {
    const above = parents[node]!;
    if (above >= 0) weight[above]! += weight[node]!;
  }
  return weight;
}

const forests = fc
  .array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), { minLength: 1, maxLength: 200 })
  .chain((draws) =>
    fc.record({
      parents: fc.constant(draws.map((draw, i) => Math.floor(draw * (i + 1)) - 1)),
      active: fc.integer({ min: -1, max: draws.length - 1 }),
      ends: fc.array(fc.nat({ max: draws.length - 1 }), { maxLength: 4 }),
    }),
  );
