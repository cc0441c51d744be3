import { serialize } from 'node:v8';
import { describe, expect, it } from 'vitest';
import { decodePack, encodePack } from '../../src/store/tables/pack.ts';
import { narrowed, readText, summed } from '../../src/store/tables/layout.ts';
import { ownCopy } from '../../src/store/door.ts';
import { message } from '../support/storeRecords.ts';

/** How many bytes a character of a text takes, in memory and on a disk. */
function bytesOf(text: string): number {
  return Math.floor(serialize(text).length / text.length);
}

describe('a text on its way to the disk', () => {
  it('takes a byte a character, though some of them are wide', () => {
    const said = 'It’s 20 € — and 😀 \\u2019 "so" \n\ud83d ÿ'.repeat(3);
    const text = narrowed(JSON.stringify({ said: said + 'plain '.repeat(40) }));
    expect(bytesOf(text)).toBe(1);
    expect(JSON.parse(text)).toEqual({ said: said + 'plain '.repeat(40) });
  });

  it('stays as it is where most are wide, or none', () => {
    for (const said of ['会話はブラウザの中に残る', 'plain, with an umlaut: ä'])
      expect(narrowed(JSON.stringify([said]))).toBe(JSON.stringify([said]));
  });

  it('is known again, and not where the disk has turned one of its bits', () => {
    const text = summed('{"said":"The words of a message."}');
    expect(readText(text)).toEqual({ said: 'The words of a message.' });
    for (let bit = 0; bit < text.length * 7; bit += 1) {
      const at = Math.floor(bit / 7);
      const letter = String.fromCharCode(text.charCodeAt(at) ^ (1 << (bit % 7)));
      expect(readText(text.slice(0, at) + letter + text.slice(at + 1))).toBeUndefined();
    }
  });

  it('does not double a pack for one message in Chinese, and is read from it line by line', () => {
    const said = Array.from({ length: 64 }, (_, i) => (i === 5 ? '会話は中に残る。' : 'plain — '.repeat(30)));
    const bodies = said.map((text, i) => {
      return { seq: i + 1, key: `key:${i}`, rev: 1, by: 'a', sum: '', message: message(`m${i}`, text) };
    });
    const pack = encodePack(bodies.map((body) => summed(JSON.stringify(body))));
    expect(bytesOf(pack.text)).toBe(1);
    expect(decodePack(pack)).toEqual(bodies);
    const torn = { ...pack, text: pack.text.replace('"key:7"', '"key:7') };
    expect(decodePack(torn)).toEqual(bodies.map((body, i) => (i === 7 ? undefined : body)));
  });
});

describe('what a caller hands in', () => {
  const shared = { once: 'here' };
  const values: Readonly<Record<string, unknown>> = {
    plain: { a: [1, 'two', { three: [true, false, null] }], '': 0.5 },
    'without a value': { a: undefined, b: [undefined] },
    'of a class with a toJSON': [new Date(0), { toJSON: () => 'its own' }],
    'a list with holes': Array.from({ length: 3, 1: 'middle' }),
    'without a prototype': Object.assign(Object.create(null), { a: 1 }),
    'with an inherited field': Object.create({ inherited: 1 }, { own: { value: 2, enumerable: true } }),
    '__proto__ as a field': JSON.parse('{"__proto__":{"a":1},"b":2}'),
    'the same thing twice': [shared, shared, { again: shared }],
    'halves of characters': { '\ud83d': 'a \ude00 b' },
  };

  it.each(Object.entries(values))('is copied as JSON keeps it: %s', (_name, value) => {
    const kept = JSON.parse(JSON.stringify({ value })) as unknown;
    expect(ownCopy('value', { value })).toStrictEqual(kept);
  });

  it('is refused where JSON would lose it', () => {
    for (const value of [new Map([[1, 2]]), new Uint8Array(2), () => 1, Symbol('s'), 1n])
      expect(() => ownCopy('value', { value })).toThrow('which is no plain data');
  });
});
