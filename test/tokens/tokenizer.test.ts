import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { loadTokenizer as loadCl100k } from '../../src/tokenizers/cl100k.ts';
import { loadTokenizer as loadO200k } from '../../src/tokenizers/o200k.ts';
import { estimateTokens, type Tokenizer } from '../../src/tokens/tokenizer.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const corpus = (name: string): string => read(`test/tokens/corpus/${name}`);

/** All source files of a room, one after the other. */
function sources(room: string): string {
  const files = readdirSync(join(root, 'src', room), { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => file.endsWith('.ts') || file.endsWith('.tsx'))
    .map((file) => read(`src/${room}/${file}`))
    .join('\n');
}

/** JSON as an API answers it: ids, names, numbers, dates, nested fields. */
function records(indent?: number): string {
  const people = ['Ada Lovelace', 'Grace Hopper', 'Alan Turing', 'Edsger Dijkstra'];
  const rows = Array.from({ length: 60 }, (_, i) => ({
    id: ((0x9e3779b9 * (i + 1)) >>> 0).toString(16).padStart(8, '0'),
    name: people[i % 4],
    active: i % 3 !== 0,
    score: ((i * 7919) % 1000) / 10,
    createdAt: new Date(1_700_000_000_000 + i * 86_400_000).toISOString(),
    tags: ['alpha', 'beta', 'gamma'].slice(0, i % 4),
    address: { street: `${i * 13 + 1} Main Street`, city: 'Berlin', zip: String(10_000 + i * 37) },
    note: i % 5 === 0 ? 'left a message on Tuesday' : null,
  }));
  return JSON.stringify(rows, null, indent);
}

let exact: Tokenizer;
beforeAll(async () => {
  exact = await loadO200k();
});

describe('the estimate', () => {
  const near = (text: string): number => Math.abs(estimateTokens(text) / exact.count(text) - 1);

  test.each<[string, number, readonly string[]]>([
    ['English', 0.1, [corpus('english.txt'), corpus('english-chat.txt'), corpus('english-docs.md')]],
    ['Markdown', 0.1, [read('README.md'), read('CONTRIBUTING.md'), read('CHANGELOG.md')]],
    ['German', 0.1, [corpus('german.txt'), corpus('german-chat.txt')]],
    ['TypeScript', 0.1, ['fragment', 'graph', 'react', 'render', 'store', 'tokens'].map(sources)],
    ['other code', 0.1, [corpus('code.py'), corpus('code.sql'), corpus('code.css')]],
    ['JSON', 0.1, [read('test/render/vectors.json'), records(2), records(), read('package.json')]],
    ['Chinese', 0.25, [corpus('chinese.txt'), corpus('chinese-chat.txt')]],
    ['emoji in chat', 0.25, [corpus('emoji.txt'), corpus('emoji-chat.txt')]],
  ])('of %s is as near to o200k as it says', (_, tolerance, texts) => {
    for (const text of [...texts, texts.join('\n')]) expect(near(text)).toBeLessThan(tolerance);
  });

  test.each(['arabic', 'greek', 'hindi', 'japanese', 'korean', 'russian', 'vietnamese'])(
    'of %s is no guess either',
    (language) => {
      expect(near(corpus(`${language}.txt`))).toBeLessThan(0.1);
    },
  );

  // The second list is there so that nobody fits the weights to the first.
  test.each([
    ['shortTexts', 60],
    ['otherTexts', 30],
  ])('of %s is within 8 % for half of them, and within 30 % for nineteen of twenty', (file, atLeast) => {
    const texts = read(`test/tokens/${file}.txt`)
      .split(/^=== .*\n/m)
      .slice(1);
    expect(texts.length).toBeGreaterThanOrEqual(atLeast);
    expect(texts.filter((text) => exact.count(text.trimEnd()) < 40)).toEqual([]);
    const errors = texts.map((text) => near(text.trimEnd())).toSorted((a, b) => a - b);
    expect(errors[Math.ceil(errors.length / 2) - 1]).toBeLessThanOrEqual(0.08);
    expect(errors[Math.ceil(errors.length * 0.95) - 1]).toBeLessThanOrEqual(0.3);
  });

  test('of ten megabytes reads samples of them, and is as near', () => {
    const pieces = ['english.txt', 'chinese.txt', 'code.py', 'german.txt'].map((name) =>
      corpus(name).repeat(1e6 / corpus(name).length),
    );
    const whole = pieces.join('\n').repeat(3);
    expect(whole.length).toBeGreaterThan(1e7);
    const exactly =
      3 * pieces.reduce((sum, piece) => sum + 10 * estimateTokens(piece.slice(0, piece.length / 10)), 0);
    expect(Math.abs(estimateTokens(whole) / exactly - 1)).toBeLessThan(0.1);
    // Between the first sample and the second one.
    const unread = whole.slice(0, 10_000) + '好'.repeat(100_000) + whole.slice(110_000);
    expect(estimateTokens(unread)).toBe(estimateTokens(whole));
  });

  test('of nothing is nothing, of anything at least one', () => {
    expect(estimateTokens('')).toBe(0);
    for (const text of ['a', ' ', '\n', '.', '你', '😀', '\ud800', '\0'])
      expect(estimateTokens(text)).toBeGreaterThanOrEqual(1);
  });
});

describe('an exact tokenizer', () => {
  test('counts as its encoding does', async () => {
    expect(exact).toMatchObject({ name: 'o200k', exact: true });
    const texts = ['', 'Hello, world!', 'Donaudampfschifffahrtsgesellschaft'];
    expect(texts.map((text) => exact.count(text))).toEqual([0, 4, 10]);
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
