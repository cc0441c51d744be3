/** How long a piece of work takes, ms. */
export async function timed(run: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await run();
  return performance.now() - start;
}

export function median(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[times.length >> 1] as number;
}

/** Tells a figure as a row of RESULTS.md: a ratio, and what it is made of. */
export function report(what: string, ratio: number, figures: string): void {
  console.log(`| ${what} | ${ratio.toFixed(2)}x | ${figures} |`);
}

const WORDS =
  'The quick brown fox jumps over the lazy dog while the graph remembers every word it said. '.repeat(11);

/** The `i`-th message of a chat: about a kilobyte, from a person and a model in turns. */
export function messageAt(i: number, id = `m${i}`): Said {
  return { id, role: i % 2 === 0 ? 'user' : 'assistant', parts: [{ type: 'text', text: `${i} ${WORDS}` }] };
}

/** So many messages in a row. */
export function listOf(length: number): Said[] {
  return Array.from({ length }, (_, i) => messageAt(i));
}

interface Said {
  id: string;
  role: 'user' | 'assistant';
  parts: { type: 'text'; text: string }[];
}
