import type { ChatValue } from './graph.ts';

/**
 * Aligning two ways of a conversation.
 *
 * Both begin at their last common message. The rest is aligned as two texts are, with messages for lines: the least number of
 * deletions and insertions that turns one into the other leaves the equal messages. Between those, an answer stands beside an
 * answer, and a question beside a question, because a person wants to see how they differ.
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
  for (const [sameX, sameY] of [...matches(a.map(said), b.map(said)), [a.length, b.length] as const]) {
    pairs.push(...beside(a.slice(x, sameX), b.slice(y, sameY), kind));
    if (sameX < a.length) pairs.push({ a: a[sameX] as T, b: b[sameY] as T, isSame: true });
    [x, y] = [sameX + 1, sameY + 1];
  }
  return pairs;
}

/** The number of edits after which the rest is not aligned: ways that differ so much have nothing in common but by chance. */
const MOST_EDITS = 2_000;

/** The indexes of equal items in both lists, in order; equal beginnings and ends are found in any case. */
function matches(a: readonly string[], b: readonly string[]): (readonly [x: number, y: number])[] {
  let start = 0;
  while (start < a.length && a[start] === b[start]) start += 1;
  let end = 0;
  const most = Math.min(a.length, b.length) - start;
  while (end < most && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const within = snakes(a.slice(start, a.length - end), b.slice(start, b.length - end));
  return [
    ...a.slice(0, start).map((_, i) => [i, i] as const),
    ...within.map(([x, y]) => [start + x, start + y] as const),
    ...a.slice(a.length - end).map((_, i) => [a.length - end + i, b.length - end + i] as const),
  ];
}

/** How far a diagonal reaches, and its equal items, the last one first. */
interface Reached {
  readonly x: number;
  readonly last: Match | undefined;
}

interface Match {
  readonly at: readonly [x: number, y: number];
  readonly before: Match | undefined;
}

/** Myers: how far each diagonal reaches with one more edit, until one reaches the end. */
function snakes(a: readonly string[], b: readonly string[]): Match['at'][] {
  const reached = new Map<number, Reached>([[1, { x: 0, last: undefined }]]);
  for (let edits = 0; edits <= MOST_EDITS; edits += 1)
    for (let k = -edits; k <= edits; k += 2) {
      const [left, up] = [reached.get(k - 1), reached.get(k + 1)];
      const isDown = up !== undefined && (!left || k === -edits || (k !== edits && left.x < up.x));
      let { x, last } = (isDown ? up : left) as Reached;
      if (!isDown) x += 1;
      for (; x < a.length && x - k < b.length && a[x] === b[x - k]; x += 1)
        last = { at: [x, x - k], before: last };
      if (x >= a.length && x - k >= b.length) {
        const found: Match['at'][] = [];
        for (let match = last; match; match = match.before) found.push(match.at);
        return found.toReversed();
      }
      reached.set(k, { x, last });
    }
  return [];
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
