import { expect, test } from 'vitest';
import { loadTokenizer } from '../../src/tokenizers/o200k.ts';
import { estimateTokens } from '../../src/tokens/tokenizer.ts';

/**
 * How fast the estimate reads, in the browser that it will run in. The promise is 8 MB a second for the mix; the
 * exact encoding runs beside it, so that the ratio tells when the machine is slow and not the code.
 *
 *     npx vitest bench --run --project='browser*' tokens
 *
 * Last figures, Chromium, two cores under a load of 14, MB of UTF-8 a second for the estimate / for o200k: English 33 / 4.3,
 * code 118 / 11.8, German 28 / 8.6, Greek to Hindi 40 / 0.8, Chinese to Korean 87 / 4.3, emoji 48 / 2.1, all 28 / 1.5.
 */
const corpus: Record<string, string> = import.meta.glob('../tokens/corpus/*', {
  query: '?raw',
  import: 'default',
  eager: true,
});

function texts(...names: string[]): string {
  const found = Object.entries(corpus).filter(([path]) => names.some((name) => path.includes(`/${name}`)));
  return found.map(([, text]) => text).join('\n');
}

const kinds: readonly [string, string][] = [
  ['English', texts('english')],
  ['code', texts('code')],
  ['German', texts('german')],
  ['Greek, Russian, Arabic, Hindi', texts('greek', 'russian', 'arabic', 'hindi')],
  ['Chinese, Japanese, Korean', texts('chinese', 'japanese', 'korean')],
  ['emoji', texts('emoji')],
  ['all of them', texts('')],
];

/** MB of UTF-8 that are counted in a second: the median of many goes over half a megabyte. */
function speed(text: string, count: (text: string) => number, rounds: number): number {
  const long = text.repeat(Math.ceil(500_000 / text.length));
  const bytes = new TextEncoder().encode(long).length;
  const times = Array.from({ length: rounds }, () => {
    const start = performance.now();
    count(long);
    return performance.now() - start;
  });
  const median = times.toSorted((a, b) => a - b)[rounds >> 1] ?? Infinity;
  return bytes / 1e6 / (median / 1e3);
}

test('the estimate reads at least 8 MB a second', { timeout: 120_000 }, async () => {
  const exact = await loadTokenizer();
  for (const [kind, text] of kinds) {
    const estimated = speed(text, estimateTokens, 15);
    const counted = speed(text, (long) => exact.count(long), 3);
    const figures = `${estimated.toFixed(0)} MB/s / ${counted.toFixed(1)} MB/s`;
    console.log(`| estimate against o200k, ${kind} | ${(estimated / counted).toFixed(1)}x | ${figures} |`);
    expect(estimated).toBeGreaterThanOrEqual(8);
  }
});
