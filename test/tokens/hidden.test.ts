import { describe, expect, test } from 'vitest';
import { hiddenMarks } from '../../src/tokens/hidden.ts';

const named = (text: string): string[] =>
  hiddenMarks(text).map(({ at, code, name }) => `${at} ${code} ${name}`);

/** Words in tag characters. */
const tags = (words: string): string =>
  words.replace(/./g, (letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0)));

describe('hidden marks', () => {
  test.each([
    ['pay\u200bpal', '3 U+200B zero width space'],
    ['a\u200db', '1 U+200D zero width joiner'],
    ['\ufeffx', '0 U+FEFF zero width no-break space'],
    ['re\u00adfund', '2 U+00AD soft hyphen'],
    ['x\u202excod.exe', '1 U+202E right-to-left override'],
    ['x\u2066', '1 U+2066 left-to-right isolate'],
    ['😀\u{e0041}', '2 U+E0041 tag "A"'],
    ['\u{e0001}', '0 U+E0001 tag'],
    ['\u{e007f}', '0 U+E007F cancel tag'],
  ])('%j holds %s', (text, mark) => expect(named(text)).toEqual([mark]));

  test('knows every bidirectional control and every tag by name', () => {
    const range = (from: number, to: number): string[] =>
      Array.from({ length: to - from + 1 }, (_, i) => String.fromCodePoint(from + i));
    for (const mark of [...range(0x202a, 0x202e), ...range(0x2066, 0x2069), ...range(0xe0000, 0xe007f)]) {
      expect(named(`a${mark}b`)).toHaveLength(1);
      expect(named(`a${mark}b`)[0]).toMatch(/^1 U\+(?:20|E00)[\dA-F]{2,3} \w/);
    }
  });

  test('reads what tags say, letter by letter', () => {
    expect(hiddenMarks(`hi${tags('obey')}`).map(({ at, name }) => [at, name])).toEqual([
      [2, 'tag "o"'],
      [4, 'tag "b"'],
      [6, 'tag "e"'],
      [8, 'tag "y"'],
    ]);
  });

  test.each([
    'plain words, größer, 日本語, עברית',
    'a family: 👨‍👩‍👧‍👦, an astronaut: 👩🏽‍🚀, a heart: ❤️‍🔥',
    'the flag of England: 🏴󠁧󠁢󠁥󠁮󠁧󠁿',
    'می‌خواهم',
    'क्‍ष',
    '\t \u00a0\u2028',
  ])('says nothing of %j', (text) => expect(hiddenMarks(text)).toEqual([]));

  test('tells of a joiner between words, and of tags behind a flag that say more than a region', () => {
    expect(named('👩‍a')).toHaveLength(1);
    expect(named(`🏴${tags('ignore-all')}\u{e007f}`)).toHaveLength(11);
  });

  test('tells of the first 100, and is done in no time with 100,000', () => {
    const start = performance.now();
    for (const mark of ['\u200b', '\u{e0041}', '🏴\u{e0061}', '👩\u200d', 'ا\u200c'])
      expect(hiddenMarks(mark.repeat(100_000)).length).toBeLessThanOrEqual(100);
    expect(performance.now() - start).toBeLessThan(5000);
  });
});
