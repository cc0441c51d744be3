import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { loadTokenizer as loadCl100k } from '../../src/tokenizers/cl100k.ts';
import { loadTokenizer as loadO200k } from '../../src/tokenizers/o200k.ts';
import { estimateTokenizer, estimateTokens, type Tokenizer } from '../../src/tokens/tokenizer.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const corpus = (name: string): string => read(`test/tokens/corpus/${name}.txt`);
const sources = readdirSync(join(root, 'src/fragment')).map((file) => read(`src/fragment/${file}`));

let exact: Tokenizer;
beforeAll(async () => {
  exact = await loadO200k();
});

describe('the estimate', () => {
  test.each<[string, string, number]>([
    ['English prose', corpus('english'), 0.1],
    ['German prose', corpus('german'), 0.1],
    ['code', sources.join('\n'), 0.1],
    ['indented JSON', read('test/render/vectors.json'), 0.1],
    ['JSON on one line', JSON.stringify(JSON.parse(read('package.json'))), 0.1],
    ['Chinese', corpus('chinese'), 0.25],
    ['emoji in chat', corpus('emoji'), 0.25],
  ])('of %s is as near to o200k as it says', (_, text, tolerance) => {
    expect(Math.abs(estimateTokens(text) / exact.count(text) - 1)).toBeLessThan(tolerance);
  });

  test('of nothing is nothing, of anything at least one', () => {
    expect(estimateTokens('')).toBe(0);
    for (const text of ['a', ' ', '\n', '.', '你', '😀', '\ud800', '\0'])
      expect(estimateTokens(text)).toBeGreaterThanOrEqual(1);
  });

  test('is a whole number that grows with the text', () => {
    const text = corpus('english');
    const counts = [100, 500, 1000].map((length) => estimateTokens(text.slice(0, length)));
    expect(counts.every(Number.isInteger)).toBe(true);
    expect(counts).toEqual(counts.toSorted((a, b) => a - b));
  });

  test('says of itself that it is one', () => {
    expect(estimateTokenizer).toMatchObject({ name: '~', exact: false });
    expect(estimateTokenizer.count('Hello, world!')).toBe(estimateTokens('Hello, world!'));
  });
});

describe('an exact tokenizer', () => {
  test('counts as its encoding does', async () => {
    expect(exact).toMatchObject({ name: 'o200k', exact: true });
    expect([
      exact.count(''),
      exact.count('Hello, world!'),
      exact.count('Donaudampfschifffahrtsgesellschaft'),
    ]).toEqual([0, 4, 10]);
    const older = await loadCl100k();
    expect([older.name, older.count('Hello, world!'), older.count('你好，世界')]).toEqual(['cl100k', 4, 6]);
  });

  test('counts what looks like a control token as the text that it is', () => {
    expect(exact.count('<|endoftext|>')).toBeGreaterThan(1);
  });

  test.each(['o200k', 'cl100k'] as const)(
    '%s says what to install where its table is not there',
    async (name) => {
      vi.resetModules();
      vi.doMock(`gpt-tokenizer/encoding/${name}_base`, () => {
        throw new Error('Cannot find package');
      });
      const { loadTokenizer } = await (name === 'o200k'
        ? import('../../src/tokenizers/o200k.ts')
        : import('../../src/tokenizers/cl100k.ts'));
      await expect(loadTokenizer()).rejects.toMatchObject({
        code: 'invalid-options',
        message: expect.stringContaining('npm install gpt-tokenizer'),
        details: { tokenizer: name },
      });
      vi.doUnmock(`gpt-tokenizer/encoding/${name}_base`);
    },
  );
});
