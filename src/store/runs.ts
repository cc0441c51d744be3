import { BLOCK } from './layout.ts';

/** Consecutive seqs: the first and the last. */
export type Run = readonly [first: number, last: number];

/**
 * Where long runs are cut: a browser hands over several ranges side by side, four blocks each, in a third of the time
 * that one long range takes.
 */
const CUT = 256;

/** The runs in which some seqs lie, no longer than `cut`. Those that are nearer than `gap` to each other are in one. */
export function runsOf(seqs: readonly number[], gap: number = 2, cut: number = CUT): Run[] {
  const runs: [first: number, last: number][] = [];
  for (const seq of seqs.toSorted((a, b) => a - b)) {
    const run = runs.at(-1);
    const isLong = run && seq - (seq % BLOCK) > run[1] && seq - run[0] > cut - BLOCK;
    if (run && !isLong && seq - run[1] < gap) run[1] = seq;
    else runs.push([seq, seq]);
  }
  return runs;
}
