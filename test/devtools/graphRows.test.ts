import type { BranchInfo, GraphNode } from 'contextree';
import { describe, expect, it } from 'vitest';
import {
  colourOf,
  forkRows,
  graphModel,
  type GraphModel,
  headsWithin,
  isOnlyChild,
  passingColours,
  ShownRows,
  shownFor,
} from '../../devtools/graphRows.ts';

/** A model of paths like `a > b > c`, each a branch that ends there; the first one is active. */
function model(...paths: string[]): GraphModel {
  const nodes = new Map<string, GraphNode>();
  const branches: BranchInfo[] = [];
  for (const [index, path] of paths.entries()) {
    const ids = path.split(' > ');
    for (const [i, id] of ids.entries()) {
      const parentKey = ids[i - 1] ?? null;
      const place = { id: ID, parentId: parentKey && ID, key: id, parentKey };
      nodes.set(id, { ...place, role: 'user', content: id, createdAt: 0, at: 0 });
    }
    branches.push(branchTo(ids.at(-1) ?? null, { id: path, name: path, isActive: index === 0 }));
  }
  return graphModel([...nodes.values()], branches, [], [branches[0]?.headKey]);
}

function branchTo(headKey: string | null, fields: Partial<BranchInfo>): BranchInfo {
  const name = 'main';
  return {
    id: name,
    name,
    label: name,
    headMessageId: ID,
    headKey,
    isActive: true,
    messageCount: 3,
    createdAt: 0,
    forkedFrom: undefined,
    forkedAt: null,
    ownCount: 0,
    ...fields,
  };
}

/** The id of every message here: rows, lanes and folds go by keys alone. */
const ID = 'one for all';

const none: ReadonlyMap<string, boolean> = new Map();
const ids = (of: GraphModel, choices = none): string[] => {
  const rows = new ShownRows(of, choices);
  return Array.from({ length: rows.count }, (_, row) => of.nodes[rows.at(row)]!.key);
};
const colour = (of: GraphModel, id: string): number => colourOf(of, of.places.of(id)!);
const laneOf = (of: GraphModel, id: string): number => of.lanes.of(of.places.of(id)!).lane;

describe('colours', () => {
  it('follow branches: the trunk has the active one’s, a side way its own', () => {
    const drawn = model('a > b > c', 'a > d > e');
    expect(['a', 'b', 'c', 'd', 'e'].map((id) => colour(drawn, id))).toEqual([0, 0, 0, 1, 1]);
  });

  it('change after the end of the active path, in the same lane', () => {
    const drawn = model('a > b', 'a > b > c');
    expect(['a', 'b', 'c'].map((id) => laneOf(drawn, id))).toEqual([0, 0, 0]);
    expect(['a', 'b', 'c'].map((id) => colour(drawn, id))).toEqual([0, 0, 1]);
  });

  it('lead on where a branch ends and another goes on from there', () => {
    expect(colour(model('a > b', 'a > c', 'a > c > d'), 'c')).toBe(2);
  });

  it('tell two branches apart that use a lane one after the other', () => {
    const drawn = model('a > b', 'a > c', 'a > d');
    expect(laneOf(drawn, 'c')).toBe(laneOf(drawn, 'd'));
    expect(colour(drawn, 'c')).not.toBe(colour(drawn, 'd'));
  });

  it('leave a way that no branch reaches without one', () => {
    const { nodes } = model('a > b', 'a > c > d');
    const drawn = graphModel(nodes, [], [], [undefined]);
    expect([0, 1, 2, 3].map((node) => colourOf(drawn, node))).toEqual([-1, -1, -1, -1]);
  });

  it('of lines that pass a row are those of what goes on below it', () => {
    const drawn = model('a > b', 'a > c > d', 'a > c > e > f');
    expect(passingColours(drawn, drawn.places.of('d')!)).toEqual([0, 2]);
    expect(passingColours(drawn, drawn.places.of('b')!)).toEqual([]);
  });
});

describe('folds', () => {
  it('follow the person where they fold a short one', () => {
    const drawn = model('a > b', 'a > c > d > e');
    expect(ids(drawn, new Map([['c', true]]))).toEqual(['a', 'c', 'b']);
    expect(
      ids(
        drawn,
        new Map([
          ['a', true],
          ['d', true],
        ]),
      ),
    ).toHaveLength(5);
  });

  it('leave each shown message its row, and a hidden one none', () => {
    const drawn = model('a > b', 'a > c > d > e');
    const rows = new ShownRows(drawn, new Map([['c', true]]));
    const rowOf = (id: string): number => rows.of(drawn.places.of(id)!);
    expect(['a', 'c', 'b', 'd', 'e'].map(rowOf)).toEqual([0, 1, 2, -1, -1]);
    expect(forkRows(drawn, rows)).toEqual([0]);
  });

  it('know which row stands for a hidden message, also where one fold hides another', () => {
    const drawn = model('a > b', 'a > c > d > e', 'a > c > f > g > h > i');
    const choices = new Map([
      ['c', true],
      ['d', true],
    ]);
    expect(drawn.nodes[shownFor(drawn, choices, drawn.places.of('e')!)]?.key).toBe('c');
    expect(drawn.nodes[shownFor(drawn, new Map([['d', true]]), drawn.places.of('e')!)]?.key).toBe('d');
    expect(drawn.nodes[shownFor(drawn, none, drawn.places.of('e')!)]?.key).toBe('e');
    expect(headsWithin(drawn, drawn.places.of('c')!).map(({ headKey }) => headKey)).toEqual(['e', 'i']);
  });
});

it('knows the messages that nothing else continues', () => {
  const drawn = model('a > b > c', 'a > d');
  expect(['a', 'b', 'c', 'd'].map((id) => isOnlyChild(drawn, drawn.places.of(id)!))).toEqual([
    true,
    false,
    true,
    false,
  ]);
  const trees = model('a > b', 'c');
  expect(isOnlyChild(trees, trees.places.of('a')!)).toBe(false);
});

it('marks the active branch at the last message that shows while its head is only reserved', () => {
  const { nodes } = model('a > b');
  const branch = branchTo('reserved', {});
  const drawn = graphModel(nodes, [branch], [], ['reserved', 'reserved', 'b']);
  expect(drawn.heads.get(1)).toEqual([branch]);
});
