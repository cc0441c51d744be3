import { describe, expect, test } from 'vitest';
import { hint, policy } from '../../src/fragment/builders.ts';
import { fragment, type ContextFragment } from '../../src/fragment/fragment.ts';
import { assistantText } from '../../src/fragment/message.ts';
import {
  encodeSerializedValue,
  fromFragment,
  toFragment,
  type SerializedFragment,
} from '../../src/fragment/serialize.ts';
import { XmlRenderer } from '../../src/render/xml.ts';
import { refusal } from './refusal.ts';

describe('fromFragment()', () => {
  test('refuses messages, also nested ones', () => {
    const text = 'Message fragments are not supported by serialized fragment conversion';
    expect(() => fromFragment(assistantText('Done'))).toThrow(refusal(text));
    expect(() => encodeSerializedValue([assistantText('Done')])).toThrow(refusal(text));
    expect(() => toFragment({ type: 'user', text: 'x' })).toThrow(refusal(text));
    expect(() => toFragment({ type: 'policy', rule: 'r', policies: [{ type: 'message' }] })).toThrow(
      refusal(text),
    );
  });

  test('refuses names without a form and fragments without a codec', () => {
    expect(() => fromFragment(fragment('zz', 'a'))).toThrow(refusal('Unsupported fragment name: zz'));
    expect(() => fromFragment({ name: 'toString', data: 'a' })).toThrow(
      refusal('Unsupported fragment name: toString'),
    );
    expect(() => fromFragment({ name: 'term', data: {} })).toThrow(
      refusal('Fragment "term" is missing codec'),
    );
  });

  test('takes the codec of an app if it encodes to a known form', () => {
    const encoding = (value: unknown): ContextFragment => ({
      name: 'q',
      data: 1,
      codec: { encode: () => value, decode: () => 1 },
    });
    expect(fromFragment(encoding({ type: 'hint', text: 'own', extra: 1 }))).toEqual({
      type: 'hint',
      text: 'own',
    });
    expect(() => fromFragment(encoding(5))).toThrow(
      refusal('Fragment "q" codec must encode to a serialized fragment object'),
    );
    expect(() => fromFragment(encoding({ type: 'zz' }))).toThrow(
      refusal('Unsupported serialized fragment type: zz'),
    );
  });

  test('refuses lazy values and fields that would not come back', () => {
    expect(() => fromFragment(hint(() => 'later'))).toThrow(
      refusal('Fragment "hint": data is a function that is not loaded yet'),
    );
    expect(() => fromFragment(hint(5 as never))).toThrow(refusal('"text" must be a string, not number'));
  });
});

describe('toFragment()', () => {
  test('drops keys that it does not know', () => {
    expect(fromFragment(toFragment({ type: 'hint', text: 'x', secret: 1 }))).toEqual({
      type: 'hint',
      text: 'x',
    });
  });

  test('takes a nested record of an unknown type for a record', () => {
    const again = toFragment({ type: 'policy', rule: 'r', policies: [{ type: 'daily', at: 9 }] });
    expect(new XmlRenderer().render([again])).toContain('<type>daily</type>');
    expect(fromFragment(again)).toEqual({ type: 'policy', rule: 'r', policies: [{ type: 'daily', at: 9 }] });
  });

  test('but takes a nested record of a known type, as a person writes it, for a fragment', () => {
    const policies = [{ type: 'hint', text: 'x' }];
    const [again] = (toFragment({ type: 'policy', rule: 'r', policies }).data as { policies: unknown[] })
      .policies;
    expect(again).toMatchObject({ name: 'hint', data: 'x' });
    expect(() => toFragment({ type: 'policy', rule: 'r', policies: [{ type: 'hint' }] })).toThrow(
      refusal('Serialized fragment "hint": "text" must be a string, not undefined'),
    );
  });
});

describe('a registry', () => {
  const registry = {
    weather: {
      toFragment: (input: SerializedFragment) => ({
        ...fragment('weather', `${String(input.city)} is sunny`),
        metadata: { city: input.city },
      }),
      fromFragment: (made: ContextFragment) => ({ type: 'weather', city: made.metadata?.city }),
    },
    hint: { toFragment: (input: SerializedFragment) => hint(`own ${String(input.text)}`) },
  };

  test('adds types of an app, also nested', () => {
    const made = toFragment({ type: 'weather', city: 'Ulm' }, { registry });
    expect(made.data).toEqual(['Ulm is sunny']);
    expect(fromFragment(made, { registry })).toEqual({ type: 'weather', city: 'Ulm' });
    expect(encodeSerializedValue({ now: policy({ rule: 'r', policies: [made] }) }, { registry })).toEqual({
      now: { type: 'policy', rule: 'r', policies: [{ type: 'weather', city: 'Ulm' }] },
    });
    expect(() => fromFragment(made)).toThrow(refusal('Unsupported fragment name: weather'));
  });

  test('wins over ours of the same name', () => {
    expect(toFragment({ type: 'hint', text: 'x' }, { registry }).data).toBe('own x');
  });
});

test('encodeSerializedValue() writes the fragments inside of any value', () => {
  expect(encodeSerializedValue({ a: ['x', hint('h'), null], b: 1, gone: undefined })).toEqual({
    a: ['x', { type: 'hint', text: 'h' }, null],
    b: 1,
  });
  expect(encodeSerializedValue(hint('h'))).toEqual({ type: 'hint', text: 'h' });
  expect(encodeSerializedValue('text')).toBe('text');
});
