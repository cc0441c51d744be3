import type { BranchInfo, CheckpointInfo, GraphNode } from 'contextree';
import { hiding } from './follow.ts';
import { layoutLanes, parentIndices, Places, type Lanes } from './lanes.ts';

/**
 * A chat's graph as the panel draws it: lanes, and labels on them. Nodes are indexes into `nodes`. Colours follow branches, not
 * lanes: two branches that use one lane one after the other must look different.
 */
export interface GraphModel {
  /** In the order in which they were written. */
  readonly nodes: readonly GraphNode[];
  readonly places: Places;
  readonly lanes: Lanes;
  /** The branch whose colour a message has, as an index into the branches; -1 for a message that no branch reaches. */
  readonly colour: Int32Array;
  /** Branches that end at a message. */
  readonly heads: ReadonlyMap<number, readonly BranchInfo[]>;
  /** Checkpoints at a message. */
  readonly checkpoints: ReadonlyMap<number, readonly CheckpointInfo[]>;
}

/**
 * The model of these messages. `activeKeys` are candidates for the end of the active path, the best one first: the head may be
 * reserved and not show yet; then its question stands for it.
 */
export function graphModel(
  nodes: readonly GraphNode[],
  branches: readonly BranchInfo[],
  checkpoints: readonly CheckpointInfo[],
  activeKeys: readonly (string | null | undefined)[],
): GraphModel {
  const labelled = [
    ...branches.map(({ headKey }) => headKey),
    ...checkpoints.map(({ messageKey }) => messageKey),
  ];
  const places = new Places(nodes, [...activeKeys, ...labelled]);
  const active = firstKnown(places, activeKeys);
  const lanes = layoutLanes(parentIndices(nodes, places), active);
  const colour = colourBranches(lanes, branches, places, active);
  const heads = byMessage(branches, ({ isActive, headKey }) => (isActive ? active : places.of(headKey)));
  const marks = byMessage(checkpoints, ({ messageKey }) => places.of(messageKey));
  const model = { nodes, places, lanes, colour, heads, checkpoints: marks };
  return hiding(model, 'nodes', 'places', 'lanes', 'colour');
}

function firstKnown(places: Places, keys: readonly (string | null | undefined)[]): number {
  for (const key of keys) {
    const index = places.of(key);
    if (index !== undefined) return index;
  }
  return -1;
}

function byMessage<T>(items: readonly T[], place: (item: T) => number | undefined): Map<number, T[]> {
  const groups = new Map<number, T[]>();
  for (const item of items) {
    const index = place(item);
    if (index === undefined || index < 0) continue;
    const group = groups.get(index);
    if (group) group.push(item);
    else groups.set(index, [item]);
  }
  return groups;
}

/** The active path has the active branch's colour, any other message that of the branch it leads to. */
function colourBranches(
  { order, parent, next }: Lanes,
  branches: readonly BranchInfo[],
  places: Places,
  active: number,
): Int32Array {
  const colour = new Int32Array(order.length).fill(-1);
  const pinned = new Uint8Array(order.length);
  for (const [branch, { headKey }] of branches.entries()) {
    const head = places.of(headKey);
    if (head !== undefined) colour[head] = branch;
  }
  const activeBranch = branches.findIndex((branch) => branch.isActive);
  for (let node = active; node >= 0; node = parent[node] as number) {
    colour[node] = activeBranch;
    pinned[node] = 1;
  }
  for (let row = order.length - 1; row >= 0; row -= 1) {
    const node = order[row] as number;
    const above = parent[node] as number;
    if (above < 0 || pinned[above] || colour[node] === -1) continue;
    if (next[above] === node || colour[above] === -1) colour[above] = colour[node] as number;
  }
  return colour;
}

/** Whether a row can be folded: it begins a lane beside the active path, or a tree of its own, and has descendants. */
export function canFold({ lanes }: GraphModel, node: number): boolean {
  return lanes.start[node] === node && (lanes.size[node] as number) > 1 && lanes.row[node] !== 0;
}

/** Whether no other message continues the same one. */
export function isOnlyChild({ lanes }: GraphModel, node: number): boolean {
  const { parent, size } = lanes;
  const above = parent[node] as number;
  const beside = above < 0 ? size.length : (size[above] as number) - 1;
  return size[node] === beside;
}

/** The length above which a left branch is folded at first, if it does not show how the conversation continued. */
const FOLDED_BEYOND = 12;

/** Whether a row is folded; `choices` are what the person folded or unfolded, by message key. */
export function isFolded(model: GraphModel, choices: ReadonlyMap<string, boolean>, node: number): boolean {
  if (!canFold(model, node)) return false;
  const chosen = choices.get((model.nodes[node] as GraphNode).key);
  return chosen ?? (model.lanes.size[node] as number) > FOLDED_BEYOND;
}

/** The messages that have a row, top down, without folded ones. */
export function visibleRows(model: GraphModel, choices: ReadonlyMap<string, boolean>): Int32Array {
  const { order, size } = model.lanes;
  if (!order.some((node) => isFolded(model, choices, node))) return order;
  const rows = new Int32Array(order.length);
  let count = 0;
  for (let row = 0; row < order.length;) {
    const node = order[row] as number;
    rows[count++] = node;
    row += isFolded(model, choices, node) ? (size[node] as number) : 1;
  }
  return rows.subarray(0, count);
}

/** The folded row that hides a message, or the message itself if it shows. */
export function shownFor(model: GraphModel, choices: ReadonlyMap<string, boolean>, node: number): number {
  const { start, parent } = model.lanes;
  let shown = node;
  for (let at = start[node] as number; at >= 0;) {
    if (isFolded(model, choices, at)) shown = at;
    const above = parent[at] as number;
    at = above < 0 ? -1 : (start[above] as number);
  }
  return shown;
}

/** The rows with more than one continuation, in order. */
export function forkRows({ lanes }: GraphModel, rows: Int32Array): number[] {
  const forks = new Set<number>();
  for (const node of lanes.order)
    if (lanes.start[node] === node && (lanes.parent[node] as number) >= 0)
      forks.add(lanes.parent[node] as number);
  return [...rows.keys()].filter((row) => forks.has(rows[row] as number));
}

/** The branches that end in a folded row, its own message included. */
export function headsWithin({ lanes, heads }: GraphModel, node: number): BranchInfo[] {
  const top = lanes.row[node] as number;
  const end = top + (lanes.size[node] as number);
  return [...heads]
    .filter(([at]) => (lanes.row[at] as number) >= top && (lanes.row[at] as number) < end)
    .flatMap(([, branches]) => branches);
}

/** The colours of the lines that pass left of a row, lane 0 first: each is that of the message that continues further below. */
export function passingColours({ lanes, colour }: GraphModel, node: number): number[] {
  const { lane, start, parent, next } = lanes;
  const passing: number[] = [];
  let at = start[node] as number;
  for (let left = (lane[node] as number) - 1; left >= 0; left -= 1) {
    const fork = parent[at] as number;
    passing[left] = colour[next[fork] as number] as number;
    at = start[fork] as number;
  }
  return passing;
}
