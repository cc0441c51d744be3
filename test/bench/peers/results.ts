import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';

/**
 * RESULTS.md, a section for each bench. A run says what it measured, and beside what; it replaces the section of its
 * own, and what another bench wrote stays as it is.
 */
const file = new URL('RESULTS.md', import.meta.url);

const load = (): string => (loadavg()[0] ?? 0).toFixed(1);
const loadBefore = load();

/** The day of a run and what else the machine did, for a sentence. To be read when the run is over. */
export function circumstances(): string {
  const day = new Date().toISOString().slice(0, 10);
  return `on ${day}, at a load of ${loadBefore} on ${availableParallelism()} cores before and ${load()} behind it`;
}

/** Prints a section, a heading of the first order and what stands under it, and puts it in the place of the last one. */
export function report(section: string): void {
  console.log(section);
  const [heading] = section.split('\n', 1);
  const known = readFileSync(file, 'utf8').split(/^(?=# )/m);
  const at = known.findIndex((one) => one.startsWith(`${heading}\n`));
  const sections = at < 0 ? [...known, section] : known.with(at, section);
  writeFileSync(file, `${sections.map((one) => one.trim()).join('\n\n')}\n`);
}

/** What several runs gave for one figure: one number where they agree as far as it is written, else the ends. */
export function range(values: readonly number[], digits: number): string {
  const ends = [Math.min(...values), Math.max(...values)].map((end) => end.toFixed(digits));
  return [...new Set(ends)].join(' to ');
}

/** The one in the middle; of an even number, the upper one. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}
