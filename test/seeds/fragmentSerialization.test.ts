import {
  assistantText,
  ContextEngine,
  encodeSerializedValue,
  fromFragment,
  hint,
  identity,
  InMemoryContextStore,
  policy,
  preference,
  principle,
  term,
  toFragment,
  XmlRenderer,
  type ContextFragment,
} from 'contextree/core';
import { describe, expect, test } from 'vitest';

/** The flows of the page on serialising fragments. */
test('fromFragment() gives plain data', () => {
  expect(fromFragment(term('MRR', 'monthly recurring revenue'))).toEqual({
    type: 'term',
    name: 'MRR',
    definition: 'monthly recurring revenue',
  });
});

test('toFragment() gives a fragment back', async () => {
  const context = new ContextEngine({ store: new InMemoryContextStore(), chatId: 'c', userId: 'u' });
  context.set(toFragment({ type: 'hint', text: 'Always exclude test accounts' }));
  expect((await context.resolve()).systemPrompt).toBe('<hint>Always exclude test accounts</hint>');
});

test('encodeSerializedValue() encodes fragments inside plain values', () => {
  const value = encodeSerializedValue({
    policies: ['Prefer low-risk actions first', hint('Validate assumptions')],
  });
  expect(value).toEqual({
    policies: ['Prefer low-risk actions first', { type: 'hint', text: 'Validate assumptions' }],
  });
});

test('a round trip through a database of JSON', async () => {
  const rows = [
    fromFragment(identity({ name: 'Sarah', role: 'Finance manager' })),
    fromFragment(preference('date format', 'YYYY-MM-DD')),
  ];
  const stored = JSON.parse(JSON.stringify(rows)) as typeof rows;
  const context = new ContextEngine({
    store: new InMemoryContextStore(),
    chatId: 'chat-001',
    userId: 'user-001',
  });
  context.set(...stored.map((entry) => toFragment(entry)));
  const { systemPrompt } = await context.resolve();
  expect(systemPrompt).toContain('<name>Sarah</name>');
  expect(systemPrompt).toContain('<value>YYYY-MM-DD</value>');
});

test('nested fragments round-trip too', () => {
  const fragment = principle({
    title: 'Execution order',
    description: 'Preserve prerequisites',
    policies: [policy({ rule: 'Validate schema first', policies: [policy({ rule: 'Check table names' })] })],
  });
  const again = toFragment(JSON.parse(JSON.stringify(fromFragment(fragment))) as never);
  const xml = new XmlRenderer();
  expect(xml.render([again])).toBe(xml.render([fragment]));
});

test('a fragment of an app takes part when its codec encodes to a known form', () => {
  const discount = (percent: number): ContextFragment => {
    const hinted = { type: 'hint', text: `Offer ${percent} % off` };
    return { name: 'discount', data: percent, codec: { encode: () => hinted, decode: () => percent } };
  };
  const stored = fromFragment(discount(10));
  expect(stored).toEqual({ type: 'hint', text: 'Offer 10 % off' });
  expect(new XmlRenderer().render([toFragment(stored)])).toBe('<hint>Offer 10 % off</hint>');
  expect(encodeSerializedValue([discount(5)])).toEqual([{ type: 'hint', text: 'Offer 5 % off' }]);
});

describe('refused with the reason', () => {
  test('messages', () => {
    expect(() => fromFragment(assistantText('Done'))).toThrow(
      'Message fragments are not supported by serialized fragment conversion',
    );
  });

  test('unknown names and types, also those of every object', () => {
    expect(() => fromFragment({ name: 'zz', data: 'x' })).toThrow('Unsupported fragment name: zz');
    expect(() => toFragment({ type: 'zz' })).toThrow('Unsupported serialized fragment type: zz');
    expect(() => toFragment({ type: 'toString' })).toThrow('Unsupported serialized fragment type: toString');
  });
});
