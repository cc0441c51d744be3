import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { layoutLanes, parentIndices, Places, type Lanes } from '../../devtools/lanes.ts';
import { graphData } from '../../src/graph/graphData.ts';
import { createChat } from '../../src/graph/join.ts';
import { campaign } from '../support/campaign.ts';
import { records, said } from '../support/records.ts';

// What holds for every picture, whatever the chat: on drawn forests of some hundred messages, on a long one of
// 100,000, and on data that no honest store would give.

describe('the layout of lanes', () => {
  it('keeps its rules for any forest and any active message', () => {
    fc.assert(
      fc.property(forests, ({ parents, active }) => {
        expect(faults(parents, active, layoutLanes(Int32Array.from(parents), active))).toEqual([]);
      }),
      campaign(400),
    );
  });

  it('keeps its rules where messages come before their parents, as other clocks may have it', () => {
    fc.assert(
      fc.property(forests, ({ parents, active }) => {
        const last = parents.length - 1;
        const turned = (node: number): number => (node < 0 ? -1 : last - node);
        const other = Int32Array.from(parents, (_, node) => turned(parents[turned(node)] as number));
        expect(faults(other, turned(active), layoutLanes(other, turned(active)))).toEqual([]);
      }),
      campaign(400),
    );
  });

  it('keeps its rules for a fork at each of 100,000 messages', () => {
    const parents = Array.from({ length: 100_000 }, (_, i) => (i % 2 === 0 ? Math.max(i - 2, -1) : i - 1));
    for (const active of [99_999, 50_000, -1])
      expect(faults(parents, active, layoutLanes(Int32Array.from(parents), active))).toEqual([]);
  });

  it('reads: the side way between the fork and what goes on, one lane to the right', () => {
    // 0 > 1 > 2 > 3 is active; 1 > 4 > 5 was left.
    const lanes = layoutLanes(Int32Array.from([-1, 0, 1, 2, 1, 4]), 3);
    expect([...lanes.order]).toEqual([0, 1, 4, 5, 2, 3]);
    expect([...lanes.lane]).toEqual([0, 0, 0, 0, 1, 1]);
    expect([...lanes.start]).toEqual([0, 0, 0, 0, 4, 4]);
  });

  it('keeps the active path in lane 0 even where another way is far longer', () => {
    const lanes = layoutLanes(Int32Array.from([-1, 0, 1, 2, 3, 0]), 5);
    expect(lanes.lane[5]).toBe(0);
    expect([...lanes.order]).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it('begins with the tree that is active; the others follow by age', () => {
    const lanes = layoutLanes(Int32Array.from([-1, -1, -1, 1]), 3);
    expect([...lanes.order]).toEqual([1, 3, 0, 2]);
    expect([...lanes.lane]).toEqual([0, 0, 0, 0]);
  });

  it('ends for a chat with a ring, which is cut where the chat is read', () => {
    const chat = createChat(
      records([said('m0', 'm2'), said('m1', 'm0'), said('m2', 'm1')], { main: ['m2'] }),
    );
    const { nodes } = graphData('c', chat, { branches: [], checkpoints: [] });
    const { order } = layoutLanes(parentIndices(nodes, new Places(nodes)), 2);
    expect([...order].map((node) => nodes[node]?.key)).toEqual(['m0', 'm1', 'm2']);
  });

  it('has nothing to say about an empty chat', () => {
    expect(layoutLanes(Int32Array.from([]), -1).order).toHaveLength(0);
  });
});

describe('parentIndices', () => {
  it('names parents by place, and takes a missing one for none', () => {
    const nodes = [
      { key: 'a', parentKey: null },
      { key: 'b', parentKey: 'a' },
      { key: 'c', parentKey: 'gone' },
    ];
    expect([...parentIndices(nodes, new Places(nodes))]).toEqual([-1, 0, -1]);
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
});

/** The rules of the essay in lanes.ts, each checked from outside; a list of what is broken. */
function faults(parents: ArrayLike<number>, active: number, lanes: Lanes): string[] {
  const count = parents.length;
  const found: string[] = [];
  const onPath = new Set<number>();
  for (let node = active; node >= 0; node = parents[node]!) onPath.add(node);
  const weight = weights(parents, lanes);

  if (new Set(lanes.order).size !== count) found.push('order is no permutation');
  for (let row = 0; row < count; row += 1) {
    const node = lanes.order[row]!;
    const above = parents[node]!;
    const lane = lanes.lane[node]!;
    if (lanes.row[node] !== row) found.push(`row of ${node}`);
    if (lanes.size[node] !== weight[node]) found.push(`size of ${node}`);
    if (onPath.has(node) && lane !== 0) found.push(`${node} is active and not in lane 0`);
    if (above < 0 && lane !== 0) found.push(`root ${node} is not in lane 0`);
    if (above < 0) continue;
    if (lanes.row[above]! >= row) found.push(`${node} stands above its parent`);
    const goesOn = lanes.next[above] === node;
    if (lane !== lanes.lane[above]! + (goesOn ? 0 : 1)) found.push(`lane of ${node}`);
    if (goesOn && lanes.row[above]! + weight[above]! !== row + weight[node]!)
      found.push(`${node} is not last`);
    if (!goesOn && !onPath.has(above) && weight[node]! > weight[lanes.next[above]!]!) {
      found.push(`${node} is heavier than what goes on`);
    }
    if (lanes.start[node] !== (goesOn ? lanes.start[above] : node)) found.push(`start of ${node}`);
  }
  const first = active >= 0 ? lanes.order[0]! : -1;
  if (first >= 0 && !onPath.has(first)) found.push('the active tree is not first');
  const widest = lanes.lane.reduce((a, b) => Math.max(a, b), 0);
  if (count > 0 && widest > 1 + Math.floor(Math.log2(count)))
    found.push(`${widest} lanes for ${count} messages`);
  return found.slice(0, 5);
}

function weights(parents: ArrayLike<number>, { order }: Lanes): number[] {
  const weight = Array.from({ length: parents.length }, () => 1);
  for (let row = order.length - 1; row >= 0; row -= 1) {
    const above = parents[order[row]!]!;
    if (above >= 0) weight[above]! += weight[order[row]!]!;
  }
  return weight;
}

const forests = fc
  .array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), { minLength: 1, maxLength: 200 })
  .chain((draws) =>
    fc.record({
      parents: fc.constant(draws.map((draw, i) => Math.floor(draw * (i + 1)) - 1)),
      active: fc.integer({ min: -1, max: draws.length - 1 }),
    }),
  );
