import { expect } from 'vitest';

/** The error that a fragment is refused with, and what it says. */
export function refusal(said: string): Error {
  const message = expect.stringContaining(said) as string;
  return expect.objectContaining({ code: 'invalid-fragment', message }) as Error;
}
