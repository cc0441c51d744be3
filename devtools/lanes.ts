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
 * Most messages have one child, which was written next. Messages in such a row share all that the rules decide, so what is laid
 * out are not messages but stretches of them: a chat of 100,000 messages with 500 forks is laid out as one of 1,500. Messages
 * are named by their indexes in the list. Nothing recurses. A missing parent makes one more root; rings were cut where the chat
 * was read, see `graph/graph.ts`.
 */
export class Lanes {
  /** The number of messages. */
  readonly count: number;
  /** In the order of their rows. */
  readonly order: readonly Stretch[];
  /** In the order of the list. */
  readonly #stretches: readonly Stretch[];

  /** Lays out the messages of `places`, with `active` the end of the active path or -1. */
  constructor(places: Places, active: number) {
    const stretches = stretchesOf(places);
    const path: Stretch[] = [];
    for (let at = holding(stretches, active); at; at = at.above) path.push(at);
    const first = path.at(-1);
    const roots = stretches.filter(({ above }) => !above);
    const trees = roots.toSorted((a, b) => Number(b === first) - Number(a === first));
    const parentsFirst = withAllBelow(trees);
    weigh(parentsFirst);
    for (const one of path) if (one.above) one.above.next = one;
    place(trees, parentsFirst);
    this.count = places.nodes.length;
    this.order = parentsFirst.toSorted((a, b) => a.row - b.row);
    this.#stretches = stretches;
  }

  /** The stretch of a message. */
  of(node: number): Stretch {
    return holding(this.#stretches, node) as Stretch;
  }

  /** The message of a row. */
  at(row: number): number {
    const stretch = lastUpTo(this.order, row, (one) => one.row) as Stretch;
    return stretch.first + row - stretch.row;
  }

  /** The row of a message. */
  row(node: number): number {
    const { first, row } = this.of(node);
    return row + node - first;
  }

  /** The number of a message's descendants, itself included; these are its row and the rows below it. */
  size(node: number): number {
    const { first, size } = this.of(node);
    return size - (node - first);
  }

  /** The message above it; undefined for a root. */
  parent(node: number): number | undefined {
    const { first, above } = this.of(node);
    return node > first ? node - 1 : above?.last;
  }

  /** The child that continues its lane; undefined for the last message of a lane. */
  next(node: number): number | undefined {
    const { last, next } = this.of(node);
    return node < last ? node + 1 : next?.first;
  }
}

/** Messages that stand one after another in the list, each the only child of the one before it. */
export class Stretch {
  /** Its first and its last message. */
  readonly first: number;
  readonly last: number;
  /** The one whose last message it continues; undefined for a root. */
  above: Stretch | undefined;
  /** Those that continue it, oldest first. */
  readonly below: Stretch[] = [];
  /** The number of its messages and of all that descend from them. */
  size: number;
  /** The one that continues its lane; undefined for the last one of a lane. */
  next: Stretch | undefined;
  /** The one that begins its lane. */
  start: Stretch = this;
  /** 0 at the left. */
  lane = 0;
  /** The row of its first message. */
  row = 0;

  constructor(first: number, last: number) {
    this.first = first;
    this.last = last;
    this.size = last - first + 1;
  }
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
  readonly nodes: readonly Placed[];
  /** The first messages of stretches, in order; each wanted message is the last one of its stretch. */
  readonly firsts: readonly number[];
  readonly #wanted: Map<string | null | undefined, number | undefined>;
  #byKey: ReadonlyMap<string, number> | undefined;

  constructor(nodes: readonly Placed[], wanted: readonly (string | null | undefined)[] = []) {
    this.nodes = nodes;
    const firsts = new Set(breaksOf(nodes));
    const parents = Array.from(firsts, (node) => nodes[node]?.parentKey);
    this.#wanted = new Map([...wanted, ...parents].map((key) => [key, undefined]));
    // Branches end late in the list: it is rarely read to its beginning.
    let missing = this.#wanted.size - (this.#wanted.has(null) ? 1 : 0);
    for (let i = nodes.length - 1; i >= 0 && missing > 0; i -= 1) {
      const key = nodes[i]?.key;
      if (!this.#wanted.has(key)) continue;
      this.#wanted.set(key, i);
      missing -= 1;
      if (i + 1 < nodes.length) firsts.add(i + 1);
    }
    this.firsts = [...firsts].toSorted((a, b) => a - b);
  }

  /** The index of the message with this key; undefined for a key that is not in the list. */
  of(key: string | null | undefined): number | undefined {
    if (this.#wanted.has(key)) return this.#wanted.get(key);
    this.#byKey ??= new Map(this.nodes.map((node, i) => [node.key, i]));
    return this.#byKey.get(key ?? '');
  }
}

/** The messages whose parent does not stand directly before them. */
function breaksOf(nodes: readonly Placed[]): number[] {
  const breaks: number[] = [];
  let before: string | undefined;
  for (const [i, { key, parentKey }] of nodes.entries()) {
    if (parentKey !== before) breaks.push(i);
    before = key;
  }
  return breaks;
}

/** The stretches in the order of the list, linked with those above and below them. */
function stretchesOf(places: Places): readonly Stretch[] {
  const { nodes, firsts } = places;
  const stretches = firsts.map((first, i) => new Stretch(first, (firsts[i + 1] ?? nodes.length) - 1));
  for (const one of stretches) {
    one.above = holding(stretches, places.of(nodes[one.first]?.parentKey) ?? -1);
    one.above?.below.push(one);
  }
  return stretches;
}

/** The stretches of these trees, each after the one above it. */
function withAllBelow(trees: readonly Stretch[]): readonly Stretch[] {
  const all = [...trees];
  // The list grows while it is read.
  for (const { below } of all) for (const one of below) all.push(one);
  return all;
}

/** Counts what descends from each stretch, and finds the one that continues its lane: the heaviest, the older of two. */
function weigh(parentsFirst: readonly Stretch[]): void {
  for (const one of parentsFirst.toReversed()) {
    for (const child of one.below) {
      one.size += child.size;
      if (!one.next || child.size > one.next.size) one.next = child;
    }
  }
}

/** Gives each stretch its row and its lane. */
function place(trees: readonly Stretch[], parentsFirst: readonly Stretch[]): void {
  let free = 0;
  for (const tree of trees) {
    tree.row = free;
    free += tree.size;
  }
  for (const { row, size, first, last, below, next, lane, start } of parentsFirst) {
    free = row + last - first + 1;
    for (const child of below) {
      if (child === next) {
        Object.assign(child, { row: row + size - child.size, lane, start });
      } else {
        Object.assign(child, { row: free, lane: lane + 1 });
        free += child.size;
      }
    }
  }
}

/** The stretch with a message. */
function holding(stretches: readonly Stretch[], node: number): Stretch | undefined {
  return lastUpTo(stretches, node, ({ first }) => first);
}

/** The last of a sorted list whose value is at most `most`. */
export function lastUpTo<T>(list: readonly T[], most: number, valueOf: (one: T) => number): T | undefined {
  let from = 0;
  let to = list.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (valueOf(list[middle] as T) <= most) from = middle + 1;
    else to = middle;
  }
  return list[from - 1];
}
