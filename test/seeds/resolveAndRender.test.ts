import {
  assistant,
  ContextEngine,
  hint,
  InMemoryContextStore,
  role,
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

  test('deviation: they are kept by the engine only on demand, with persistFragments', async () => {
    const store = new InMemoryContextStore();
    const first = engine({ store, persistFragments: true }).set(role('You are kind.'));
    await first.save();
    const second = engine({ store, persistFragments: true }).set(hint('New.'));
    expect((await second.resolve()).systemPrompt).toBe('<role>You are kind.</role>\n<hint>New.</hint>');
    expect((await engine({ store }).resolve()).systemPrompt).toBe('');
  });
});

test('XML is the renderer when none is named', async () => {
  const context = engine().set(role('You are a SQL expert.'), hint('Use CTEs for complex queries.'));
  expect((await context.resolve()).systemPrompt).toBe(
    '<role>You are a SQL expert.</role>\n<hint>Use CTEs for complex queries.</hint>',
  );
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
