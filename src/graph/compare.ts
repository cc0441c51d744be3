import type { ChatValue } from './graph.ts';

/**
 * Aligning two ways of a conversation.
 *
 * Both begin at their last common message. The rest is aligned as two texts are, with messages for lines: the least number of
 * deletions and insertions that turns one into the other (Myers, "An O(ND) Difference Algorithm", 1986) leaves the equal
 * messages. Between those, an answer stands beside the answer in its place, and a question beside a question, because a person
 * wants to see how they differ.
 */
export interface Aligned<T> {
  /** The item of the first way; absent where there is none beside `b`. */
  readonly a?: T;
  readonly b?: T;
  /** Whether both are equal. */
  readonly isSame: boolean;
}

/** The last common message of two chains, by key; null where they share none. */
export function ancestorOf(chat: ChatValue, a: string | null, b: string | null): string | null {
  let [left, right] = [chat.messages.get(a ?? ''), chat.messages.get(b ?? '')];
  while (left && right && left !== right) {
    const by = left.depth - right.depth;
    if (by >= 0) left = left.parent;
    if (by <= 0) right = right.parent;
  }
  return left && right ? left.record.key : null;
}

/** Two lists, aligned: `said` returns equal texts for equal items, `kind` says which items may stand side by side. */
export function align<T>(
  a: readonly T[],
  b: readonly T[],
  said: (one: T) => string,
  kind: (one: T) => string,
): Aligned<T>[] {
  const pairs: Aligned<T>[] = [];
  let [x, y] = [0, 0];
  const upTo = (toX: number, toY: number): void => {
    pairs.push(...beside(a.slice(x, toX), b.slice(y, toY), kind));
    [x, y] = [toX, toY];
  };
  for (const [sameX, sameY] of matches(a.map(said), b.map(said))) {
    upTo(sameX, sameY);
    pairs.push({ a: a[sameX] as T, b: b[sameY] as T, isSame: true });
    [x, y] = [sameX + 1, sameY + 1];
  }
  upTo(a.length, b.length);
  return pairs;
}

/** Different items, in pairs of one kind; an item without a partner stands alone. */
function beside<T>(a: readonly T[], b: readonly T[], kind: (one: T) => string): Aligned<T>[] {
  const pairs: Aligned<T>[] = [];
  let [x, y] = [0, 0];
  while (x < a.length || y < b.length) {
    const [left, right] = [a[x], b[y]];
    if (left !== undefined && right !== undefined && kind(left) === kind(right)) {
      pairs.push({ a: left, b: right, isSame: false });
      [x, y] = [x + 1, y + 1];
    } else if (left !== undefined && (right === undefined || a.length - x >= b.length - y)) {
      pairs.push({ a: left, isSame: false });
      x += 1;
    } else {
      pairs.push({ b: right as T, isSame: false });
      y += 1;
    }
  }
  return pairs;
}

/** The number of edits after which the rest is not aligned: ways that differ so much have nothing in common but by chance. */
const MOST_EDITS = 2_000;

/** The indexes of equal items in both lists, in order. */
function matches(a: readonly string[], b: readonly string[]): [x: number, y: number][] {
  let from = 0;
  while (from < a.length && from < b.length && a[from] === b[from]) from += 1;
  let [endA, endB] = [a.length, b.length];
  while (endA > from && endB > from && a[endA - 1] === b[endB - 1]) [endA, endB] = [endA - 1, endB - 1];
  const before = Array.from({ length: from }, (_, i): [number, number] => [i, i]);
  const after = a.slice(endA).map((_, i): [number, number] => [endA + i, endB + i]);
  const within = snakes(a.slice(from, endA), b.slice(from, endB));
  return [...before, ...within.map(([x, y]): [number, number] => [from + x, from + y]), ...after];
}

/** Myers: how far each diagonal reaches with one more edit, until one reaches the end; then the way back. */
function snakes(a: readonly string[], b: readonly string[]): [x: number, y: number][] {
  const most = Math.min(MOST_EDITS, a.length + b.length);
  const reached = new Int32Array(2 * most + 3);
  const trace: Int32Array[] = [];
  for (let edits = 0; edits <= most; edits += 1) {
    trace.push(reached.slice(most + 1 - edits - 1, most + 1 + edits + 2));
    for (let k = -edits; k <= edits; k += 2) {
      const at = most + 1 + k;
      const isDown =
        k === -edits || (k !== edits && (reached[at - 1] as number) < (reached[at + 1] as number));
      let x = isDown ? (reached[at + 1] as number) : (reached[at - 1] as number) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1;
      reached[at] = x;
      if (x >= a.length && x - k >= b.length) return wayBack(trace, a.length, b.length);
    }
  }
  return [];
}

/** From the end to the beginning, edit by edit: `trace[d]` holds diagonals -d-1 to d+1 as they were before edit d. */
function wayBack(trace: readonly Int32Array[], endX: number, endY: number): [x: number, y: number][] {
  const same: [number, number][] = [];
  let [x, y] = [endX, endY];
  for (let edits = trace.length - 1; edits >= 0; edits -= 1) {
    const before = trace[edits] as Int32Array;
    const reach = (k: number): number => before[k + edits + 1] as number;
    const k = x - y;
    const isDown = k === -edits || (k !== edits && reach(k - 1) < reach(k + 1));
    const from = edits === 0 ? 0 : isDown ? reach(k + 1) : reach(k - 1) + 1;
    while (x > from) same.push([(x -= 1), (y -= 1)]);
    if (edits > 0) [x, y] = isDown ? [x, y - 1] : [x - 1, y];
  }
  return same.toReversed();
}
