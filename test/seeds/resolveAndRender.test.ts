import {
  assistant,
  ContextEngine,
  hint,
  InMemoryContextStore,
  user,
  type ContextFragment,
} from 'contextree/core';
import { toSimpleMessages } from 'contextree/ai';
import { describe, expect, test } from 'vitest';

/** The flows of the page on resolving and rendering. */
function engine(options: { store?: InMemoryContextStore; persistFragments?: boolean } = {}) {
  return new ContextEngine({
    store: new InMemoryContextStore(),
    chatId: 'chat-001',
    userId: 'user-001',
    ...options,
  });
}

describe('fragments that an app stored itself', () => {
  test('are read with get() and go in front', async () => {
    const store = new InMemoryContextStore();
    await store.set('fragments', [{ name: 'role', data: 'Stored role' }]);
    const context = engine({ store });
    const persisted = await store.get<ContextFragment[]>('fragments');
    if (persisted) context.set(...persisted);
    context.set(hint('Fresh hint'));
    expect((await context.resolve()).systemPrompt).toBe('<role>Stored role</role>\n<hint>Fresh hint</hint>');
  });
});

test('deviation: messages are UIMessages; toSimpleMessages() gives { role, content }', async () => {
  const context = engine().set(
    user('What is TypeScript?'),
    assistant('TypeScript is a typed superset of JavaScript.'),
    user('Show me an example.'),
  );
  const { messages } = await context.resolve();
  expect(messages[0]).toMatchObject({ role: 'user', parts: [{ type: 'text', text: 'What is TypeScript?' }] });
  expect(toSimpleMessages(messages)).toEqual([
    { role: 'user', content: 'What is TypeScript?' },
    { role: 'assistant', content: 'TypeScript is a typed superset of JavaScript.' },
    { role: 'user', content: 'Show me an example.' },
  ]);
});
