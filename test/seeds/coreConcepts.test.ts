import {
  ContextEngine,
  fragment,
  InMemoryContextStore,
  LAZY_ID,
  lastAssistantMessage,
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
  test('deviation: a plain row with name and data inside a list is data, not a fragment', () => {
    const users = fragment('users', [{ name: 'Al', data: 'x' }]);
    expect(new XmlRenderer().render([users])).not.toContain('<Al>');
  });
});

describe('message codecs', () => {
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
});
