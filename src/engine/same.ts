// When two values are one and the same to whoever looks: what is equal keeps its identity, and nobody renders it again.

/** Whether two lists hold the same things in the same order. */
export function sameItems(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((item, i) => item === b[i]);
}

/** The list that was there, if the new one holds the same: so a slice keeps its identity. */
export function keepIfSame<T>(before: readonly T[], now: readonly T[]): readonly T[] {
  return sameItems(before, now) ? before : now;
}
