import { expect } from 'vitest';

/**
 * Like `toEqual`, for values that are large or compared thousands of times: `expect()` costs twenty times as much as a
 * comparison, so it is called only for a difference, to describe it.
 */
export function same(found: unknown, wanted: unknown): void {
  if (!isSame(found, wanted)) expect(found).toEqual(wanted);
}

/** Whether two values are equal in every field. Objects of classes are equal only if identical. */
function isSame(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((one, i) => isSame(one, b[i]));
  return isPlain(a) && isPlain(b) && hasSameFields(a, b);
}

function isPlain(value: object): value is Record<string, unknown> {
  return Object.getPrototypeOf(value) === Object.prototype;
}

function hasSameFields(a: Record<string, unknown>, b: Record<string, unknown>): boolean {
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && isSame(a[key], b[key]))
  );
}

/** The result of a call that is refused thousands of times, without the stacks of its errors. */
export function withoutStacks<T>(call: () => T): T {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    return call();
  } finally {
    Error.stackTraceLimit = limit;
  }
}
