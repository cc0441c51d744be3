import { afterAll, beforeAll } from 'vitest';

/**
 * Notes each rejection that nobody handles while the tests of a suite run. Call the result for those so far: a rejection
 * counts when a task has gone by and still nobody has asked.
 */
export function unhandledRejections(): () => Promise<readonly unknown[]> {
  const seen: unknown[] = [];
  const note = (reason: unknown): void => void seen.push(reason);
  beforeAll(() => void process.on('unhandledRejection', note));
  afterAll(() => void process.off('unhandledRejection', note));
  return async () => {
    await new Promise((resolve) => setTimeout(resolve));
    return seen;
  };
}
