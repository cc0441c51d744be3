import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';

/**
 * As `toEqual`, for what is compared thousands of times: an `expect()` costs more than many a thing that it looks at,
 * so it is asked only where something differs, to say what.
 */
export function same(found: unknown, wanted: unknown): void {
  if (!isDeepStrictEqual(found, wanted)) expect(found).toEqual(wanted);
}

/** What a call gives that is expected to be refused thousands of times, without the stacks of those errors. */
export function withoutStacks<T>(call: () => T): T {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    return call();
  } finally {
    Error.stackTraceLimit = limit;
  }
}
