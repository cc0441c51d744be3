import { bodySum, hasSum, sumOf } from '../../src/store/sum.ts';
import { describe, expect, it } from 'vitest';
import { decodePack, encodePack } from '../../src/store/indexeddb/pack.ts';
import { forgetText, narrowed, rememberText, textOf } from '../../src/store/texts.ts';
import { message } from '../support/graph.ts';

describe('a text on its way to the disk', () => {
  it('takes a byte a character, though some of them are wide', () => {
    const said = 'It’s 20 € — and 😀 \\u2019 "so" \n\ud83d ÿ'.repeat(3);
    const text = narrowed(JSON.stringify({ said: said + 'plain '.repeat(40) }));
    expect(text).not.toMatch(/[\u0100-\uffff]/);
    expect(JSON.parse(text)).toEqual({ said: said + 'plain '.repeat(40) });
  });

  it('stays as it is where most are wide, or none', () => {
    for (const said of ['会話はブラウザの中に残る', 'plain, with an umlaut: ä'])
      expect(narrowed(JSON.stringify([said]))).toBe(JSON.stringify([said]));
  });

  it('is read from a block as it was said', () => {
    const bodies = new Map([
      [0, message('a', 'curly ’ and 😀')],
      [3, message('b', 'plain '.repeat(40))],
    ]);
    const { text } = encodePack('c', 0, bodies, undefined);
    expect(text).not.toContain('’');
    expect(decodePack({ text }, new Map()).bodies.filter(Boolean)).toEqual([...bodies.values()]);
  });

  it('is made once for each write, and not remembered behind it', () => {
    const body = message('a', 'once');
    rememberText(body, 'its text');
    expect(textOf(body)).toBe('its text');
    forgetText(body);
    expect(textOf(body)).toBe(JSON.stringify(body));
  });
});

/** Chats keep the sums that they were written with. */
describe('the sum of a body', () => {
  const json = '{"id":"a","role":"user","parts":[{"type":"text","text":"Hello"}]}';

  it('tells its length, and is longer than what browsers enter in a table', () => {
    expect(bodySum(json)).toBe(`${sumOf(json).toString(36).padStart(7, '0')}001t`);
    expect(bodySum('').length).toBe(11);
  });

  it('is known in both forms, and only of these words', () => {
    for (const sum of [bodySum(json), sumOf(json).toString(36)]) {
      expect(hasSum(json, sum)).toBe(true);
      expect(hasSum(json.replace('Hello', 'Hallo'), sum)).toBe(false);
    }
  });
});
