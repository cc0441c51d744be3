import type { UIMessage } from 'ai';
import { stripReminders } from '../reminded.ts';

// Equality for readers of the state: an equal value keeps its identity, so that no component renders again.

export { keepIfSame, keepSame, sameFields, sameItems } from '../graph/same.ts';

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
