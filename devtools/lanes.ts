/**
 * The layout of a chat's graph in rows and lanes.
 *
 * A git log draws commits by time. Conversations do not suit that: every abandoned answer keeps a lane open down to its end,
 * and a chat of 100,000 messages needs hundreds of lanes, whatever is shown. Here a branch is drawn whole at the place where it
 * forks, and the lane goes on with the heavier side. So each step to the right at least halves what is left, and no chat of N
 * messages needs more than 1 + log2 N lanes.
 *
 * Three rules make the picture:
 * - of the children of a message one continues its lane: the one on the active path, else the one with the most descendants;
 *   all others begin one lane to the right;
 * - a message stands above its children; those that begin a lane come first, oldest first, the one that continues comes last;
 * - the tree with the active path comes first, the other trees follow by age. Each begins in lane 0.
 *
 * A branch stands between a message and the one that continues its lane. So every lane left of a row has a line that passes it,
 * and a row can be drawn from its own numbers, without its neighbours.
 *
 * Messages are indexes here and everything is a typed array: 100,000 messages take some ten milliseconds. Nothing recurses. A
 * missing parent makes one more root; rings were cut where the chat was read, see `graph/graph.ts`.
 */
export interface Lanes {
  /** Row to message. */
  readonly order: Int32Array;
  /** Message to row. */
  readonly row: Int32Array;
  /** Message to lane, 0 at the left. */
  readonly lane: Uint8Array;
  /** Message to the size of its subtree, itself included; these are its row and the rows below it. */
  readonly size: Int32Array;
  /** Message to the message above it; -1 for a root. */
  readonly parent: Int32Array;
  /** Message to the child that continues its lane; -1 for the last one of a lane. */
  readonly next: Int32Array;
  /** Message to the first message of its run in the lane. */
  readonly start: Int32Array;
}

/** Lays out a forest given as the parent of each message, -1 for a root, with `active` the end of the active path or -1. */
export function layoutLanes(parent: Int32Array, active: number): Lanes {
  const size = subtreeSizes(parent);
  const next = continuations(parent, size, active);
  return { ...placeRows(parent, next, active), size, parent, next };
}

/** The facts of a message that decide its place in the graph. */
export interface Placed {
  readonly key: string;
  readonly parentKey: string | null;
}

/**
 * The indexes of messages by their keys. An index of 100,000 takes longer than all else that is done for the first rows, so at
 * first there is only one of the parents that don't stand directly before their message, and of the `wanted` keys.
 */
export class Places {
  readonly #nodes: readonly Placed[];
  readonly #wanted: Map<string | null | undefined, number | undefined> = new Map();
  #byKey: ReadonlyMap<string, number> | undefined;

  constructor(nodes: readonly Placed[], wanted: readonly (string | null | undefined)[] = []) {
    this.#nodes = nodes;
    for (const key of wanted) this.#wanted.set(key, undefined);
    for (let i = 0; i < nodes.length; i += 1)
      if (!isNext(nodes, i)) this.#wanted.set(nodes[i]?.parentKey, undefined);
    for (let i = 0; i < nodes.length; i += 1)
      if (this.#wanted.has(nodes[i]?.key)) this.#wanted.set(nodes[i]?.key, i);
  }

  /** The index of the message with this key; undefined for a key that is not in the list. */
  of(key: string | null | undefined): number | undefined {
    if (this.#wanted.has(key)) return this.#wanted.get(key);
    this.#byKey ??= new Map(this.#nodes.map((node, i) => [node.key, i]));
    return this.#byKey.get(key ?? '');
  }
}

/** Whether a message follows the one before it, as nearly every one does. */
function isNext(nodes: readonly Placed[], i: number): boolean {
  return i > 0 && nodes[i]?.parentKey === nodes[i - 1]?.key;
}

/** The parent of each message as an index, -1 for a root and for a parent that is not in the list. */
export function parentIndices(nodes: readonly Placed[], places: Places): Int32Array {
  const parents = new Int32Array(nodes.length);
  for (let i = 0; i < nodes.length; i += 1)
    parents[i] = isNext(nodes, i) ? i - 1 : (places.of(nodes[i]?.parentKey) ?? -1);
  return parents;
}

function subtreeSizes(parent: Int32Array): Int32Array {
  const size = new Int32Array(parent.length).fill(1);
  const order = parentsFirst(parent);
  for (let i = parent.length - 1; i >= 0; i -= 1) {
    const node = order ? (order[i] as number) : i;
    const above = at(parent, node);
    if (above >= 0) size[above] = at(size, above) + at(size, node);
  }
  return size;
}

/** All messages, each after its parent; undefined where they are written in such an order, as nearly always. */
function parentsFirst(parent: Int32Array): number[] | undefined {
  if (parent.every((above, node) => above < node)) return undefined;
  const depths = new Int32Array(parent.length);
  for (let node = 0; node < parent.length; node += 1) {
    const path: number[] = [];
    for (let up = node; up >= 0 && at(depths, up) === 0; up = at(parent, up)) path.push(up);
    for (const one of path.toReversed()) depths[one] = 1 + (depths[at(parent, one)] ?? 0);
  }
  return [...depths.keys()].toSorted((a, b) => at(depths, a) - at(depths, b));
}

/** Which child continues its parent's lane: the heaviest (the older of two), but on the active path the active one. */
function continuations(parent: Int32Array, size: Int32Array, active: number): Int32Array {
  const next = new Int32Array(parent.length).fill(-1);
  for (let node = 0; node < parent.length; node += 1) {
    const above = at(parent, node);
    if (above < 0) continue;
    const best = at(next, above);
    if (best < 0 || at(size, node) > at(size, best)) next[above] = node;
  }
  for (let node = active; node >= 0 && at(parent, node) >= 0; node = at(parent, node))
    next[at(parent, node)] = node;
  return next;
}

/** Walks the forest with a stack of its own, and sets each message's row, lane and run. */
function placeRows(
  parent: Int32Array,
  next: Int32Array,
  active: number,
): Pick<Lanes, 'order' | 'row' | 'lane' | 'start'> {
  const count = parent.length;
  const placed = { order: new Int32Array(count), row: new Int32Array(count) };
  const lane = new Uint8Array(count);
  const start = new Int32Array(count);
  const aside = besides(parent, next);
  const stack = rootsLastFirst(parent, active);
  for (let row = 0; stack.length > 0; row += 1) {
    const node = stack.pop() as number;
    placed.order[row] = node;
    placed.row[node] = row;
    const above = at(parent, node);
    const goesOn = above >= 0 && at(next, above) === node;
    start[node] = goesOn ? at(start, above) : node;
    lane[node] = above < 0 ? 0 : at(lane, above) + (goesOn ? 0 : 1);
    if (at(next, node) >= 0) stack.push(at(next, node));
    for (const child of aside.get(node)?.toReversed() ?? []) stack.push(child);
  }
  return { ...placed, lane, start };
}

/** Of each message the children that begin a lane, oldest first. */
function besides(parent: Int32Array, next: Int32Array): ReadonlyMap<number, readonly number[]> {
  const lists = new Map<number, number[]>();
  for (let node = 0; node < parent.length; node += 1) {
    const above = at(parent, node);
    if (above < 0 || at(next, above) === node) continue;
    const list = lists.get(above);
    if (list) list.push(node);
    else lists.set(above, [node]);
  }
  return lists;
}

function rootsLastFirst(parent: Int32Array, active: number): number[] {
  let first = active;
  while (first >= 0 && at(parent, first) >= 0) first = at(parent, first);
  const roots: number[] = [];
  for (let node = parent.length - 1; node >= 0; node -= 1) {
    if (at(parent, node) < 0 && node !== first) roots.push(node);
  }
  if (first >= 0) roots.push(first);
  return roots;
}

/** Reads an index that this file made and that is in range, which types can't express. */
function at(array: Int32Array | Uint8Array, index: number): number {
  return array[index] as number;
}
