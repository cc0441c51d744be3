import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { describe, expect, test } from 'vitest';
import { pricesAt } from '../../src/tokens/spending.ts';
import { PRICE_TABLE } from '../../src/tokens/prices.ts';

const today = new Date().toISOString().slice(0, 10);

describe('the price table', () => {
  test('knows the model that the documentation speaks of', () => {
    expect(PRICE_TABLE.find(({ id }) => id === 'openai:gpt-4o')).toEqual({
      id: 'openai:gpt-4o',
      context: 128_000,
      output: 16_384,
      prices: { input: 2.5, output: 10, cacheRead: 1.25 },
      asOf: '2026-11-10',
      source: 'https://github.com/earendil-works/pi/tree/main/packages/ai',
      encoding: 'o200k',
    });
  });

  test('names each model once, as provider:model in small letters', () => {
    const ids = PRICE_TABLE.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => !/^[a-z][a-z-]*:[a-z0-9][a-z0-9./:-]*$/.test(id))).toEqual([]);
    expect(ids.length).toBeGreaterThanOrEqual(30);
  });

  test.each(PRICE_TABLE)('says where $id is from, and of which day', ({ source = '', asOf }) => {
    expect(source).toMatch(/^https:\/\/[^\s]+$/);
    expect(new Date(`${asOf}T00:00:00Z`).toISOString().slice(0, 10)).toBe(asOf);
    expect(asOf > '2026-01-01' && asOf <= today).toBe(true);
  });

  test.each(PRICE_TABLE)('has figures of $id that can be', ({ context, output, prices }) => {
    const { input, output: answer, cacheRead = input, cacheWrite = input } = prices!;
    expect(input).toBeGreaterThan(0);
    expect(answer).toBeGreaterThanOrEqual(input);
    expect(answer).toBeLessThan(1000);
    expect(cacheRead).toBeGreaterThan(0);
    expect(cacheRead).toBeLessThanOrEqual(input);
    expect(cacheWrite).toBeGreaterThanOrEqual(input);
    expect(context ?? 8192).toBeGreaterThanOrEqual(8192);
    expect(output ?? 0).toBeLessThanOrEqual(context ?? Infinity);
  });

  test('weighs at most 3 kB', async () => {
    const { outputFiles } = await build({
      entryPoints: [join(import.meta.dirname, '../../src/tokens/prices.ts')],
      bundle: true,
      minify: true,
      format: 'esm',
      write: false,
      target: 'es2022',
    });
    expect(gzipSync(outputFiles[0]!.contents, { level: 9 }).length).toBeLessThanOrEqual(3000);
  });
});

describe('the price of a long prompt', () => {
  const prices = { input: 2, output: 10, cacheRead: 0.2, cacheWrite: 2.5, reasoning: 8 };
  const dearer = { ...prices, longPrompt: { above: 272_000, input: 2, output: 1.5 } };

  test('holds for the whole request, from the first token beyond the mark', () => {
    expect(pricesAt(dearer, 272_000)).toEqual(prices);
    expect(pricesAt(dearer, 272_001)).toEqual({
      input: 4,
      output: 15,
      cacheRead: 0.4,
      cacheWrite: 5,
      reasoning: 12,
    });
  });

  test('is the same where a provider knows none', () => {
    expect(pricesAt(prices, 1e6)).toEqual(prices);
    expect(pricesAt({ input: 0.1, output: 0.3, longPrompt: { above: 1, input: 3, output: 3 } }, 2)).toEqual({
      input: 0.3,
      output: 0.9,
    });
  });
});
