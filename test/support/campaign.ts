/**
 * How long a property is tried. `CONTEXTREE_FUZZ=20` runs twenty times as many cases, `CONTEXTREE_SEED` repeats a
 * campaign; a failure prints the seed and the smallest case.
 */
export function campaign(cases: number): { numRuns: number; seed?: number } {
  const seed = process.env['CONTEXTREE_SEED'];
  const numRuns = cases * Number(process.env['CONTEXTREE_FUZZ'] ?? 1);
  return seed === undefined ? { numRuns } : { numRuns, seed: Number(seed) };
}

/** Milliseconds that a campaign may take. */
export const patience: number = 240_000 * Number(process.env['CONTEXTREE_FUZZ'] ?? 1);
