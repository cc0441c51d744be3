import { serialize } from 'node:v8';
import { describe, expect, it } from 'vitest';
import { narrowed, readText, summed } from '../../src/store/tables/layout.ts';
import { ownCopy } from '../../src/store/door.ts';

describe('a text on its way to the disk', () => {
  it('takes a byte a character, though some of them are wide', () => {
    const said = 'It’s 20 € — and 😀 \\u2019 "so" \n\ud83d ÿ'.repeat(3);
    const text = narrowed(JSON.stringify({ said: said + 'plain '.repeat(40) }));
    expect(serialize(text).length).toBeLessThan(1.1 * text.length);
    expect(JSON.parse(text)).toEqual({ said: said + 'plain '.repeat(40) });
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
