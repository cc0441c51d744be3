import fc from 'fast-check';
import { expect, onTestFinished } from 'vitest';

/** The environment; in a page, the variables that its test project passes on. */
const ENV: NodeJS.ProcessEnv =
  globalThis.process?.env ?? (import.meta as { readonly env?: NodeJS.ProcessEnv }).env ?? {};

/**
 * How many cases of a property are tried. `CONTEXTREE_FUZZ=20` tries twenty times as many, `CONTEXTREE_SEED` repeats a
 * campaign; a failure prints the seed and the smallest case. Each run tries other cases, except in CI: there a change is judged
 * by what it changed, not by luck.
 */
export function campaign(cases: number): { numRuns: number; seed?: number } {
  const numRuns = cases * Number(ENV['CONTEXTREE_FUZZ'] ?? 1);
  return SEED === undefined ? { numRuns } : { numRuns, seed: Number(SEED) };
}

/** The requested seed, if any. */
const SEED: string | undefined = ENV['CONTEXTREE_SEED'] ?? (ENV['CI'] ? '1' : undefined);

/** Tries so many cases, as `campaign()` says: the check throws for a wrong one. */
export function forAll<T>(cases: fc.Arbitrary<T>, count: number, check: (one: T) => void): void {
  fc.assert(fc.property(cases, check), campaign(count));
}

/** How long a campaign may take, in ms: longer for a larger one. */
export const patience: number =
  240_000 * Math.max(Number(ENV['CONTEXTREE_FUZZ'] ?? 1), Number(ENV['STORIES'] ?? 1) / 100);

/** Tries so many cases, one after the other, and fails if fewer were tried; the report says how many. */
export async function tryAll<T>(
  cases: fc.Arbitrary<T>,
  each: (one: T) => Promise<unknown>,
  options: fc.Parameters<[T]> & { readonly numRuns: number },
): Promise<void> {
  let tried = 0;
  const property = fc.asyncProperty(cases, async (one) => {
    tried += 1;
    await each(one);
  });
  await fc.assert(property, options);
  expect(tried).toBe(options.numRuns);
  tellCases(tried);
}

/** Adds the number of cases to the report of this test, for the page that lists the promises. */
export function tellCases(cases: number): void {
  onTestFinished(({ task }) => void Object.assign(task.meta, { cases }));
}

/**
 * Plays stories by their seeds, adds their number to the report, and returns the bad ones. `STORIES=5000 FIRST=1` plays so many
 * from that seed on, as `npm run soak` does.
 */
export async function badStories(
  count: number,
  play: (seed: number) => Promise<{ readonly seed: number; readonly bad: readonly string[] }>,
): Promise<string[]> {
  const first = Number(ENV['FIRST'] ?? 1);
  const last = first + Number(ENV['STORIES'] ?? count) - 1;
  const failed: string[] = [];
  for (let seed = first; seed <= last; seed += 1) {
    const { bad } = await play(seed);
    if (bad.length > 0) failed.push(`FIRST=${seed} STORIES=1: ${bad.join(', ')}`);
  }
  tellCases(last - first + 1);
  return failed;
}
