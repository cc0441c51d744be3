import type { UIMessage } from 'ai';
import { stripReminders } from '../reminded.ts';

// Equality for readers of the state: an equal value keeps its identity, so that no component renders again.

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

/** Whether two values are equal as JSON: keys in any order, undefined like absent. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>];
  for (const key of Object.keys(left)) {
    if (left[key] === undefined) continue;
    if (!Object.hasOwn(right, key) || !sameJson(left[key], right[key])) return false;
  }
  for (const key of Object.keys(right))
    if (right[key] !== undefined && (!Object.hasOwn(left, key) || left[key] === undefined)) return false;
  return true;
}

/** Whether two messages have equal role, parts and metadata, reminders aside. */
export function sameContent(a: UIMessage | undefined, b: UIMessage): boolean {
  if (a === undefined || a.role !== b.role) return false;
  const [left, right] = [stripReminders(a), stripReminders(b)];
  return sameJson(left.parts, right.parts) && sameJson(left.metadata, right.metadata);
}
