// When two values are one and the same to whoever looks: what is equal keeps its identity, and nobody renders it again.

/** Whether two lists hold the same things in the same order. */
export function sameItems(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((item, i) => item === b[i]);
}

/** The list that was there, if the new one holds the same: so a slice keeps its identity. */
export function keepIfSame<T>(before: readonly T[], now: readonly T[]): readonly T[] {
  return sameItems(before, now) ? before : now;
}

/** Whether two values are equal as JSON: keys in any order, undefined like absent. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const left = Object.entries(a).filter(([, value]) => value !== undefined);
  const right = Object.entries(b).filter(([, value]) => value !== undefined);
  if (left.length !== right.length) return false;
  return left.every(
    ([key, value]) => Object.hasOwn(b, key) && sameJson(value, (b as Record<string, unknown>)[key]),
  );
}
