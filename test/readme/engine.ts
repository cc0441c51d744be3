import { ContextEngine, IndexedDBContextStore, role, user, assistant } from 'contextree/core';

export const engine = new ContextEngine({
  store: new IndexedDBContextStore(),
  chatId: 'notes',
  userId: 'me',
});

engine.set(role('You are a concise tutor.'), user('What is a graph?', { id: 'q1' }));
export const { systemPrompt, messages } = await engine.resolve(); // what a model needs
engine.set(assistant('Dots, and lines between them.'));
await engine.save(); // one durable transaction

await engine.rewind('q1'); // on branch main-v2 now; main keeps its answer
