import { assistant, ContextEngine, InMemoryContextStore, role, user } from 'contextree/core';
import { toPrompt } from 'contextree/ai';
import { expect, test } from 'vitest';
import { branchesIn } from '../support/engine.ts';

/** The flows of the engine's reference page. */
function open(store = new InMemoryContextStore()) {
  const context = new ContextEngine({
    store,
    chatId: 'chat-001',
    userId: 'user-001',
    metadata: { source: 'web' },
  });
  return { store, context, branches: () => branchesIn(store, 'chat-001') };
}

test('deviation: saving moves updatedAt', async () => {
  const { context } = open();
  context.set(user('one'));
  await context.save();
  const before = context.chat?.updatedAt as number;
  await new Promise((resolve) => setTimeout(resolve, 3));
  context.set(assistant('two'));
  await context.save();
  expect(context.chat?.updatedAt).toBeGreaterThan(before);
});

test('deviation: resolve() only reads; the chat and main are written with the first words', async () => {
  const { store, context } = open();
  context.set(role('You are helpful.'), user('one'));
  await context.resolve();
  expect([await store.listChats(), await store.listBranches('chat-001'), context.chat]).toEqual([
    [],
    [],
    null,
  ]);
  await context.save();
  expect([(await store.listChats()).length, await branchesIn(store, 'chat-001')]).toEqual([
    1,
    { main: 'one' },
  ]);
});

test('deviation: what a model takes is toPrompt(await resolve()); systemPrompt and UIMessages are not passed as they are', async () => {
  const { context } = open();
  context.set(role('You are helpful.'), user('Hi'));
  const resolved = await context.resolve();
  expect(Object.keys(resolved).toSorted()).toEqual(['messages', 'systemPrompt']);
  expect(await toPrompt(resolved)).toMatchObject({
    system: resolved.systemPrompt,
    instructions: resolved.systemPrompt,
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
  });
});
