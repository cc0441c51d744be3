import { describe, expect, test } from 'vitest';
import { hint, role } from '../../src/fragment/builders.ts';
import {
  fragment,
  getFragmentData,
  isFragment,
  isFragmentObject,
  isLazyFragment,
  isMessageFragment,
  LAZY_ID,
} from '../../src/fragment/fragment.ts';
import { assistantText, lastAssistantMessage, user } from '../../src/fragment/message.ts';
import { fromFragment } from '../../src/fragment/serialize.ts';

describe('the guards', () => {
  test('isFragment() takes a name and data, or a name and a codec', () => {
    expect(
      [hint('x'), user('x'), { name: 'a', data: undefined }, { name: 'a', codec: null }].map(isFragment),
    ).toEqual([true, true, true, true]);
    expect(
      [null, undefined, 'a', 1, [], {}, { name: 'a' }, { data: 'a' }, { name: 1, data: 'a' }].some(
        isFragment,
      ),
    ).toBe(false);
  });

  test('isFragmentObject() takes records only', () => {
    expect([{}, { a: 1 }, { name: 'a' }].every(isFragmentObject)).toBe(true);
    expect(
      [null, 'a', 1, [], hint('x'), Promise.resolve(), new Map(), () => 1, (async function* () {})()].some(
        isFragmentObject,
      ),
    ).toBe(false);
  });

  test('isMessageFragment() and isLazyFragment() ask what the fragment says of itself', () => {
    expect(
      [user('q'), assistantText('a'), lastAssistantMessage('a'), hint('h')].map(isMessageFragment),
    ).toEqual([true, true, true, false]);
    expect([lastAssistantMessage('a'), assistantText('a'), hint('h')].map(isLazyFragment)).toEqual([
      true,
      false,
      false,
    ]);
    expect(LAZY_ID).toBe(Symbol.for('@deepagents/context:lazy-id'));
    expect(lastAssistantMessage('new')[LAZY_ID]).toEqual({ type: 'last-assistant', content: 'new' });
  });
});

describe('fragment()', () => {
  test('holds its children in order and is what it looks like', () => {
    expect(fragment('db', 'text', 1, [2], { k: 3 })).toEqual({
      name: 'db',
      data: ['text', 1, [2], { k: 3 }],
    });
    expect(JSON.stringify(fragment('db', fragment('sub')))).toBe(
      '{"name":"db","data":[{"name":"sub","data":[]}]}',
    );
  });

  test('takes a hand-made child for a fragment without marking the object of the caller', () => {
    const child = { name: 'hint', data: 'h' };
    const before = Reflect.ownKeys(child);
    fragment('db', child);
    expect(Reflect.ownKeys(child)).toEqual(before);
  });
});

describe('getFragmentData()', () => {
  test('gives what the codec decodes to, else the data', () => {
    expect(getFragmentData(role('r'))).toBe('r');
    expect(getFragmentData({ name: 'a', data: 1 })).toBe(1);
    expect(getFragmentData({ name: 'a', data: 1, codec: { encode: () => 2, decode: () => 3 } })).toBe(3);
    expect(() => getFragmentData({ name: 'z' } as never)).toThrow('Fragment "z" is missing data and codec');
  });

  test('gives the data of a built fragment that was spread and changed', () => {
    const changed = { ...hint('a'), data: 'b' };
    expect(getFragmentData(changed)).toBe('b');
    expect(fromFragment(changed)).toEqual({ type: 'hint', text: 'b' });
  });
});
