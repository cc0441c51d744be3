import { Session, type Profiler } from 'node:inspector/promises';

/**
 * Counts work, independent of the machine's load, which makes clocks useless.
 *
 * V8 counts how often each function, and each branch in it, runs. With four times the input, linear work has four times the
 * steps, and quadratic work sixteen times, in the very function that does it. Work of the platform itself is not counted.
 *
 * Only code that is compiled from now on is counted in full, so a test that counts has a file, and with it a thread, of its
 * own, and imports this first.
 */
const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });

/** How many steps each function of our sources took. */
export type Steps = ReadonlyMap<string, number>;

/** The steps of a piece of work. */
export async function stepsOf(work: () => unknown): Promise<Steps> {
  await session.post('Profiler.takePreciseCoverage');
  await work();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  return new Map(result.filter(({ url }) => isOurs(url)).flatMap(stepsIn));
}

function stepsIn({ url, functions }: Profiler.ScriptCoverage): (readonly [string, number])[] {
  return functions.map(({ functionName, ranges }) => {
    const where = `${fileOf(url)} ${functionName} at ${ranges[0]?.startOffset}`;
    return [where, ranges.reduce((sum, { count }) => sum + count, 0)];
  });
}

function isOurs(url: string): boolean {
  return url.includes('/src/');
}

function fileOf(url: string): string {
  return url.slice(url.lastIndexOf('/src/') + 1);
}

/** The functions whose steps grew by so many times, of those with many steps. */
export function grownBeyond(times: number, few: Steps, many: Steps, atLeast: number): string[] {
  return [...many].flatMap(([where, steps]) => {
    const before = Math.max(few.get(where) ?? 0, 1);
    return steps > atLeast && steps > before * times ? [`${where}: ${before} to ${steps}`] : [];
  });
}
