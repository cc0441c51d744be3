import type { BranchInfo, CheckpointInfo, GraphNode } from 'contextree';
import { hiding } from './follow.ts';
import { Lanes, lastUpTo, Places, type Stretch } from './lanes.ts';

/**
 * A chat's graph as the panel draws it: lanes, and labels on them. Nodes are indexes into `nodes`. Colours follow branches, not
 * lanes: two branches that use one lane one after the other must look different.
 */
export interface GraphModel {
  /** In the order in which they were written. */
  readonly nodes: readonly GraphNode[];
  readonly places: Places;
  readonly lanes: Lanes;
  /** The branch whose colour a stretch has, as an index into the branches; absent for one that no branch reaches. */
  readonly colours: ReadonlyMap<Stretch, number>;
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
  const lanes = new Lanes(places, active);
  const colours = colourBranches(lanes, branches, places, active);
  const heads = byMessage(branches, ({ isActive, headKey }) => (isActive ? active : places.of(headKey)));
  const marks = byMessage(checkpoints, ({ messageKey }) => places.of(messageKey));
  const model = { nodes, places, lanes, colours, heads, checkpoints: marks };
  return hiding(model, 'nodes', 'places', 'lanes', 'colours');
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

/** The active path has the active branch's colour, any other stretch that of the branch it leads to. */
function colourBranches(
  lanes: Lanes,
  branches: readonly BranchInfo[],
  places: Places,
  active: number,
): ReadonlyMap<Stretch, number> {
  const colours = new Map<Stretch, number>();
  for (const [branch, { headKey }] of branches.entries()) {
    const head = places.of(headKey);
    if (head !== undefined) colours.set(lanes.of(head), branch);
  }
  for (const one of lanes.order.toReversed()) {
    const below = one.next && colours.get(one.next);
    const other = one.below.map((child) => colours.get(child)).findLast((colour) => colour !== undefined);
    const colour = below ?? colours.get(one) ?? other;
    if (colour !== undefined) colours.set(one, colour);
  }
  const activeBranch = branches.findIndex((branch) => branch.isActive);
  for (let one = active < 0 ? undefined : lanes.of(active); one; one = one.above)
    colours.set(one, activeBranch);
  return colours;
}

/** The branch whose colour a message has, as an index into the branches; -1 for none. */
export function colourOf({ lanes, colours }: GraphModel, node: number): number {
  return colours.get(lanes.of(node)) ?? -1;
}

/** Whether a row can be folded: it begins a lane beside the active path, or a tree of its own, and has descendants. */
export function canFold({ lanes }: GraphModel, node: number): boolean {
  const { start, size, row } = lanes.of(node);
  return node === start.first && size > 1 && row > 0;
}

/** Whether no other message continues the same one. */
export function isOnlyChild({ lanes }: GraphModel, node: number): boolean {
  const { first, above, size } = lanes.of(node);
  return node > first || (above ? above.below.length === 1 : size === lanes.count);
}

/** The length above which a left branch is folded at first, if it does not show how the conversation continued. */
const FOLDED_BEYOND = 12;

/** Whether a row is folded; `choices` are what the person folded or unfolded, by message key. */
export function isFolded(model: GraphModel, choices: ReadonlyMap<string, boolean>, node: number): boolean {
  if (!canFold(model, node)) return false;
  const chosen = choices.get((model.nodes[node] as GraphNode).key);
  return chosen ?? model.lanes.size(node) > FOLDED_BEYOND;
}

/** The rows that show: all but those that are folded away. */
export class ShownRows {
  readonly count: number;
  readonly #lanes: Lanes;
  readonly #shown: readonly ShownStretch[];

  constructor(model: GraphModel, choices: ReadonlyMap<string, boolean>) {
    const shown: ShownStretch[] = [];
    let count = 0;
    let hiddenTo = 0;
    for (const stretch of model.lanes.order) {
      const { first, last, row, size } = stretch;
      if (row < hiddenTo) continue;
      const folded = isFolded(model, choices, first);
      if (folded) hiddenTo = row + size;
      const top = count;
      count += folded ? 1 : last - first + 1;
      shown.push({ stretch, top, end: count });
    }
    this.count = count;
    this.#lanes = model.lanes;
    this.#shown = shown;
  }

  /** The message of a row. */
  at(row: number): number {
    const { stretch, top } = lastUpTo(this.#shown, row, (one) => one.top) as ShownStretch;
    return stretch.first + row - top;
  }

  /** The row of a message; -1 for one that is folded away. */
  of(node: number): number {
    const all = this.#lanes.row(node);
    const { stretch, top, end } = lastUpTo(this.#shown, all, (one) => one.stretch.row) as ShownStretch;
    const row = top + all - stretch.row;
    return row < end ? row : -1;
  }
}

/** A stretch with a row for each of its messages, or for the first one if it is folded. */
interface ShownStretch {
  readonly stretch: Stretch;
  /** Its first row, and the row after its last one. */
  readonly top: number;
  readonly end: number;
}

/** The folded row that hides a message, or the message itself if it shows. */
export function shownFor(model: GraphModel, choices: ReadonlyMap<string, boolean>, node: number): number {
  let shown = node;
  for (let one: Stretch | undefined = model.lanes.of(node).start; one; one = one.above?.start)
    if (isFolded(model, choices, one.first)) shown = one.first;
  return shown;
}

/** The rows with more than one continuation, in order. */
export function forkRows({ lanes }: GraphModel, rows: ShownRows): number[] {
  return lanes.order
    .filter(({ below }) => below.length > 1)
    .map(({ last }) => rows.of(last))
    .filter((row) => row >= 0);
}

/** The branches that end in a folded row, its own message included. */
export function headsWithin({ lanes, heads }: GraphModel, node: number): BranchInfo[] {
  const top = lanes.row(node);
  const end = top + lanes.size(node);
  return [...heads]
    .filter(([at]) => lanes.row(at) >= top && lanes.row(at) < end)
    .flatMap(([, branches]) => branches);
}

/** The colours of the lines that pass left of a row, lane 0 first: each is that of the message that continues further below. */
export function passingColours({ lanes, colours }: GraphModel, node: number): number[] {
  const passing: number[] = [];
  const { start } = lanes.of(node);
  for (let fork = start.above; fork; fork = fork.start.above)
    passing.unshift(colours.get(fork.next as Stretch) ?? -1);
  return passing;
}
