import { diffArrays } from 'diff';
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
  let [sameX, sameY] = [0, 0];
  for (const { count, added, removed } of runsOf(a.map(said), b.map(said))) {
    if (removed) sameX += count;
    else if (added) sameY += count;
    else {
      pairs.push(...beside(a.slice(x, sameX), b.slice(y, sameY), kind));
      for (const to = sameX + count; sameX < to; sameX += 1, sameY += 1)
        pairs.push({ a: a[sameX] as T, b: b[sameY] as T, isSame: true });
      [x, y] = [sameX, sameY];
    }
  }
  return pairs;
}

/** The number of edits after which the rest is not aligned: ways that differ so much have nothing in common but by chance. */
const MOST_EDITS = 2_000;

/** Runs of removed, added and equal items, an equal one last; equal beginnings and ends are found in any case. */
function runsOf(a: readonly string[], b: readonly string[]) {
  let start = 0;
  while (start < a.length && a[start] === b[start]) start += 1;
  let end = 0;
  const most = Math.min(a.length, b.length) - start;
  while (end < most && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const [left, right] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  const runs = diffArrays(left, right, { maxEditLength: MOST_EDITS });
  return [run(start), ...(runs ?? [run(left.length, true), run(right.length, false, true)]), run(end)];
}

function run(count: number, removed = false, added = false) {
  return { count, removed, added };
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
