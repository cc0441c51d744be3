import {
  assistant,
  assistantText,
  ContextEngine,
  fragment,
  guardrail,
  hint,
  InMemoryContextStore,
  isFragment,
  isFragmentObject,
  isLazyFragment,
  isMessageFragment,
  LAZY_ID,
  lastAssistantMessage,
  message,
  term,
  user,
  XmlRenderer,
} from 'contextree/core';
import { describe, expect, test } from 'vitest';
import { texts } from '../support/engine.ts';

/** The flows of the two pages on fragments, codecs, lazy fragments and the engine. */
function engine() {
  return new ContextEngine({ store: new InMemoryContextStore(), chatId: 'chat-001', userId: 'user-001' });
}

describe('the guards', () => {
  test('tell fragments, plain objects, messages and lazy ones apart', () => {
    expect(isFragment(term('MRR', 'monthly recurring revenue'))).toBe(true);
    expect(isFragment({ name: 'x' })).toBe(false);
    expect([
      isFragmentObject({ a: 1 }),
      isFragmentObject([1]),
      isFragmentObject(hint('x')),
      isFragmentObject('x'),
    ]).toEqual([true, false, false, false]);
    expect([isMessageFragment(user('x')), isMessageFragment(guardrail({ rule: 'x' }))]).toEqual([
      true,
      false,
    ]);
    expect([isLazyFragment(lastAssistantMessage('x')), isLazyFragment(assistantText('x'))]).toEqual([
      true,
      false,
    ]);
  });

  test('deviation: a plain row with name and data inside a list is data, not a fragment', () => {
    const users = fragment('users', [{ name: 'Al', data: 'x' }]);
    expect(new XmlRenderer().render([users])).not.toContain('<Al>');
  });
});

describe('message codecs', () => {
  test('encode and decode to the same UIMessage', () => {
    const one = user('Hello');
    expect(one.codec?.encode()).toEqual(one.codec?.decode());
    expect(one).toMatchObject({ name: 'user', type: 'message', persist: true });
    expect(one.codec?.encode()).toMatchObject({
      id: one.id,
      role: 'user',
      parts: [{ type: 'text', text: 'Hello' }],
    });
  });

  test('an existing UIMessage goes through assistant() or message()', () => {
    const stored = {
      id: 'm1',
      role: 'assistant' as const,
      parts: [{ type: 'text' as const, text: 'Hi there!' }],
    };
    expect(assistant(stored).codec?.encode()).toEqual(stored);
    expect(message(stored).codec?.encode()).toEqual(stored);
  });

  test('deviation: messages carry no data beside their codec', () => {
    expect('data' in user('Hello')).toBe(false);
  });

  test("a custom codec is asked to encode; to decode only where it can't", async () => {
    const body = { id: 'm1', role: 'user' as const, parts: [{ type: 'text' as const, text: 'from decode' }] };
    const context = engine();
    context.set({
      id: 'm1',
      name: 'user',
      type: 'message',
      data: 'content',
      codec: { decode: () => body } as never,
    });
    expect(texts((await context.resolve()).messages)).toBe('from decode');
  });
});

describe('lastAssistantMessage()', () => {
  test('is lazy: its id is found later', () => {
    const lazy = lastAssistantMessage('corrected');
    expect(lazy.id).toBeUndefined();
    expect(lazy[LAZY_ID]).toEqual({ type: 'last-assistant', content: 'corrected' });
  });

  test('deviation: an answer that something hangs on is kept, and the new words fork', async () => {
    const context = engine().set(user('q'), assistantText('first'), user('next'));
    await context.save();
    context.set(lastAssistantMessage('second'));
    await context.save();
    expect(context.branch).toBe('main-v2');
  });
});
