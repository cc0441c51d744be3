import { Session, type HeapProfiler, type Profiler } from 'node:inspector/promises';

/**
 * How much work something is, whatever else the machine does: a clock on a busy machine tells anything.
 *
 * V8 counts how often each function and each branch in it is run, for whoever asks. Done with four times as much, linear
 * work has four times the steps, and what looks through all for each of all has sixteen times: in the very function that
 * does so, at any speed. What the platform does by itself is not counted; but where it copies a list or a record, V8 tells
 * how much it takes.
 *
 * Only what is compiled from now on is counted in full, so a test that counts has a file, and with it a thread, of its
 * own, and imports this before all else.
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

/** The steps of a piece of work, those that copy among them. V8 is slow to tell of these. */
export async function stepsAndCopiesOf(work: () => unknown): Promise<Steps> {
  await session.post('HeapProfiler.startSampling', {
    samplingInterval: 32_768,
    includeObjectsCollectedByMajorGC: true,
    includeObjectsCollectedByMinorGC: true,
  });
  const steps = await stepsOf(work);
  const { profile } = await session.post('HeapProfiler.stopSampling');
  return new Map([...steps, ...copiesIn(profile)]);
}

/** So many bytes are copied in a step. */
const COPIED = 32;

function copiesIn({ head }: HeapProfiler.SamplingHeapProfile): Steps {
  const copies = new Map<string, number>();
  const open = [head];
  for (const { callFrame, selfSize, children } of open) {
    open.push(...children);
    const { url, functionName, lineNumber } = callFrame;
    if (!isOurs(url)) continue;
    const where = `${fileOf(url)} ${functionName} copies in line ${lineNumber + 1}`;
    copies.set(where, (copies.get(where) ?? 0) + selfSize / COPIED);
  }
  return copies;
}

function isOurs(url: string): boolean {
  return url.includes('/src/');
}

function fileOf(url: string): string {
  return url.slice(url.lastIndexOf('/src/') + 1);
}

/** All steps of a piece of work. */
export function total(steps: Steps): number {
  return [...steps.values()].reduce((sum, count) => sum + count, 0);
}

/** The functions that took so many times the steps, of those that took many at all. */
export function grownBeyond(times: number, few: Steps, many: Steps, atLeast: number): string[] {
  return [...many].flatMap(([where, steps]) => {
    const before = Math.max(few.get(where) ?? 0, 1);
    return steps > atLeast && steps > before * times ? [`${where}: ${before} to ${steps}`] : [];
  });
}
