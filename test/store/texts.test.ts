import { serialize } from 'node:v8';
import { bodySum, hasSum, sumOf, textSum } from '../../src/store/sum.ts';
import { describe, expect, it, vi } from 'vitest';
import { decodePack, encodePack } from '../../src/store/indexeddb/pack.ts';
import { asJson } from '../../src/store/normalise.ts';
import { forgetTexts, narrowed, remade, rememberText, takeText, textOf } from '../../src/store/texts.ts';
import { message } from '../support/graph.ts';

describe('a text on its way to the disk', () => {
  it('takes a byte a character, though some of them are wide', () => {
    const said = 'It’s 20 € — and 😀 \\u2019 "so" \n\ud83d ÿ'.repeat(3);
    const text = narrowed([JSON.stringify({ said: said + 'plain '.repeat(40) })]);
    expect(bytesOf(text)).toBe(1);
    expect(text).not.toMatch(/[\u0100-\uffff]/);
    expect(JSON.parse(text)).toEqual({ said: said + 'plain '.repeat(40) });
  });

  it('stays as it is where most are wide, or none', () => {
    for (const said of ['会話はブラウザの中に残る', 'plain, with an umlaut: ä'])
      expect(narrowed([JSON.stringify([said])])).toBe(JSON.stringify([said]));
  });

  it('takes a byte a character, though it was cut from one that takes two', () => {
    const [said] = `…${'Käse '.repeat(200)}`.split('…').slice(1);
    expect(bytesOf(said!)).toBe(2);
    expect(bytesOf(narrowed([JSON.stringify({ said, more: ['plain', said] })]))).toBe(1);
  });

  it('is read from a row in a byte a character, though it was cut from one that takes two', () => {
    const [preview = ''] = `…${'Käse '.repeat(10)}`.split('…').slice(1);
    const row = { id: 'a', preview, parts: 1 };
    expect(bytesOf(row.preview)).toBe(2);
    expect(remade(row)).toEqual(row);
    expect(bytesOf(remade(row).preview)).toBe(1);
  });

  it.each([
    ['one curly quote', ['It’s ']],
    ['one message in Chinese', ['会話はブラウザの中に残る。'.repeat(40)]],
    ['a dash in each', Array.from({ length: 64 }, () => ' — ')],
  ])('does not double a block for %s', (_name, words) => {
    const said = Array.from({ length: 64 }, (_, i) => `${words[i] ?? ''}${'plain '.repeat(100)}`);
    const bodies = said.map((text, i) => message(`m${i}`, text));
    const { text } = encodePack('c', 0, bodies, undefined);
    expect(bytesOf(text)).toBe(1);
    expect(decodePack({ text }, new Map()).bodies).toEqual(bodies);
  });

  it('is not escaped in a block that is mostly wide', () => {
    const bodies = [message('a', '会話はブラウザの中に残る。'.repeat(40)), message('b', 'It’s plain')];
    const { text } = encodePack('c', 0, bodies, undefined);
    for (const body of bodies) expect(text).toContain(JSON.stringify(body));
  });

  it('is read from a block as it was said', () => {
    const bodies = [message('a', 'curly ’ and 😀'), null, null, message('b', 'plain '.repeat(40))];
    const { text } = encodePack('c', 0, bodies, undefined);
    expect(text).not.toContain('’');
    expect(decodePack({ text }, new Map()).bodies.slice(0, 4)).toEqual(bodies);
  });

  it('is made once for each write, and not remembered behind it', () => {
    const body = message('a', 'once');
    const text = rememberText(body);
    body.parts.push({ type: 'text', text: 'and never looked at again' });
    expect(textOf(body)).toBe(text);
    expect(takeText(body)).toBe(text);
    expect(textOf(body)).toBe(JSON.stringify(body));
    rememberText(body);
    body.parts.pop();
    forgetTexts();
    expect(textOf(body)).toBe(text);
  });
});

/** How many bytes a character of a text takes, in memory and on a disk. */
function bytesOf(text: string): number {
  return Math.floor(serialize(text).length / text.length);
}

/** Chats keep the sums that they were written with. */
describe('the sum of a body', () => {
  const json = '{"id":"a","role":"user","parts":[{"type":"text","text":"Hello"}]}';

  it('takes six characters, whatever is summed', () => {
    for (const text of [json, '', '\ud83d', json.repeat(2000)]) expect(bodySum(text)).toMatch(/^[\w-]{6}$/);
  });

  it('is known in every form there was, and only of these words', () => {
    const plain = sumOf(json).toString(36);
    for (const sum of [bodySum(json), plain, `${plain.padStart(7, '0')}001t`]) {
      expect(hasSum(json, sum)).toBe(true);
      expect(hasSum(json.replace('Hello', 'Hallo'), sum)).toBe(false);
    }
  });
});

describe('the sum of a text', () => {
  const long = 'Käse, 会話 and 😀 for all. '.repeat(4000);

  it('is another one for every other text: a letter, the order, the length, the kind', () => {
    const texts = [long, `${long} `, long.slice(1), `${long.slice(0, -1)},`, `${long.slice(1)}K`];
    for (const at of [1, 5000, 16_383, 16_384, 60_000])
      texts.push(`${long.slice(0, at)}#${long.slice(at + 1)}`);
    texts.push('', 'a', 'a\0', 'ab', 'ba', 'abcd', 'abcde', 'ebcda');
    const sums = texts.flatMap((text) => [textSum(text), textSum(text, 5), textSum(text, 6)]);
    expect(new Set(sums).size).toBe(sums.length);
  });

  it('is the same, whatever was summed before', () => {
    for (const text of ['a', 'abcde', long]) {
      const sum = textSum(text);
      textSum(`before ${long}`);
      expect(textSum(`${text} `.slice(0, -1))).toBe(sum);
    }
  });

  it('hands each character over once: a browser that copies what it is handed froze a page over 20 MB', () => {
    const encodeInto = vi.spyOn(TextEncoder.prototype, 'encodeInto');
    for (const text of [
      long.repeat(4),
      '会'.repeat(400_000),
      '😀'.repeat(200_000),
      'plain '.repeat(80_000),
    ]) {
      encodeInto.mockClear();
      textSum(text);
      const handed = encodeInto.mock.calls.reduce((sum, [part]) => sum + part.length, 0);
      expect(handed).toBeLessThan(text.length * 4);
    }
    encodeInto.mockRestore();
  });

  it('is the same, however the text is cut for it', () => {
    for (const end of ['😀', '\ud83d', '会', 'ä', 'a'])
      for (const length of [16_381, 16_382, 16_383, 16_384]) {
        const text = `${'a'.repeat(length)}${end}${'b'.repeat(40_000)}`;
        expect(textSum(text), `${end} at ${length}`).toBe(sumOfWhole(text));
      }
  });

  it('tells each of the bits that a disk may turn', () => {
    const text = 'The words of a message.';
    const others = Array.from({ length: text.length * 7 }, (_, bit) => {
      const at = Math.floor(bit / 7);
      const letter = String.fromCharCode(text.charCodeAt(at) ^ (1 << (bit % 7)));
      return text.slice(0, at) + letter + text.slice(at + 1);
    });
    expect(new Set(others.map((other) => textSum(other))).size).toBe(others.length);
    expect(others.map((other) => textSum(other))).not.toContain(textSum(text));
  });
});

/** The sum as it was taken first, of all that was left of a text at each step: chats keep sums that were taken so. */
function sumOfWhole(text: string): number {
  const bytes = new Uint8Array(16_384);
  const words = new Uint32Array(bytes.buffer);
  let sum = text.length;
  for (let at = 0; at < text.length;) {
    const { read, written } = new TextEncoder().encodeInto(text.slice(at), bytes);
    bytes.fill(0, written, written + 3);
    for (const word of words.subarray(0, Math.ceil(written / 4))) {
      sum = Math.imul(sum ^ word, 0x9e3779b1);
      sum ^= sum >>> 15;
    }
    at += read;
  }
  return sum >>> 0;
}

describe('what a caller hands in', () => {
  class Point {
    x = 1;
  }

  const shared = { once: 'here' };
  const values: Readonly<Record<string, unknown>> = {
    plain: { a: [1, 'two', { three: [true, false, null] }], '': 0.5 },
    'without a value': { a: undefined, b: [undefined, () => 1, Symbol('s')], c: () => 1, d: Symbol('s') },
    'no number': [Number.NaN, Infinity, -Infinity, -0, 1e308],
    'of a class': [new Date(0), new Point(), new Map([[1, 2]]), new Set([1]), Object('boxed'), Object(5)],
    'with a toJSON': [
      { toJSON: () => 'its own' },
      { toJSON: 'a field' },
      Object.assign([1], { toJSON: () => 2 }),
    ],
    'a list with holes': Array.from({ length: 3, 1: 'middle' }),
    'a list with fields': Object.assign([1, 2], { more: 3 }),
    'without a prototype': Object.assign(Object.create(null), { a: 1 }),
    'with an inherited field': Object.create({ inherited: 1 }, { own: { value: 2, enumerable: true } }),
    'with a hidden field': Object.defineProperty({ shown: 1 }, 'hidden', { value: 2 }),
    'with a getter': {
      get read() {
        return 'this';
      },
    },
    '__proto__ as a field': JSON.parse('{"__proto__":{"a":1},"b":2}'),
    'numbers as fields': { b: 1, 2: 2, a: 3, 1: 4 },
    'the same thing twice': [shared, shared, { again: shared }],
    'halves of characters': { '\ud83d': 'a \ude00 b' },
    bytes: new Uint8Array([1, 2]),
    'very deep': deep(1000),
  };

  it.each(Object.entries(values))('is copied as JSON keeps it: %s', (_name, value) => {
    const copy = asJson({ value }, 'This');
    const kept = JSON.parse(JSON.stringify({ value })) as unknown;
    expect(JSON.stringify(copy)).toBe(JSON.stringify(kept));
    expect(copy).toStrictEqual(kept);
  });

  it('is cut loose from what the caller goes on with', () => {
    const mine = { list: [{ word: 'said' }] };
    const copy = asJson(mine, 'This');
    mine.list[0]!.word = 'changed';
    mine.list.push({ word: 'more' });
    expect(copy).toEqual({ list: [{ word: 'said' }] });
  });

  it('is refused where JSON has no words for it', () => {
    const ring: { self?: unknown } = {};
    ring.self = [ring];
    const thrower = {
      get read(): string {
        throw new Error('not now');
      },
    };
    for (const value of [ring, { n: 1n }, undefined, () => 1, thrower])
      expect(() => asJson(value, 'This')).toThrow(expect.objectContaining({ code: 'invalid-messages' }));
  });
});

function deep(levels: number): unknown {
  let value: unknown = 'the bottom';
  for (let i = 0; i < levels; i += 1) value = i % 2 === 0 ? [value] : { value };
  return value;
}
