// An equal value keeps its identity, so that nobody who holds it looks again.

/** Whether two lists hold the same items in the same order. */
export function sameItems(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i += 1) if (a[i] !== b[i]) return false;
  return true;
}

/** The old list if the new one holds the same items, so that a slice keeps its identity. */
export function keepIfSame<T>(before: readonly T[], now: readonly T[]): readonly T[] {
  return sameItems(before, now) ? before : now;
}

/** The old list if all is equal; else the new one, with the old object for each item of equal fields. Most keep their index. */
export function keepSame<T extends { readonly id: string }>(
  before: readonly T[],
  now: readonly T[],
): readonly T[] {
  let byId: Map<string, T> | undefined;
  const next: T[] = [];
  for (const [i, one] of now.entries()) {
    let known = before[i];
    if (known?.id !== one.id) {
      byId ??= new Map(before.map((other) => [other.id, other]));
      known = byId.get(one.id);
    }
    next.push(known && (known === one || sameFields(known, one)) ? known : one);
  }
  return keepIfSame(before, next);
}

/** Whether `a` and `b` have the same fields with identical values. */
export function sameFields<T extends object>(a: T, b: T): boolean {
  for (const key of Object.keys(b) as (keyof T)[]) if (a[key] !== b[key]) return false;
  return true;
}
