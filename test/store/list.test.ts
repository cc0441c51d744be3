import { expect, it } from 'vitest';
import { ContextEngine } from '../../src/engine/engine.ts';
import { user } from '../../src/fragment/message.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';

it('a list tells as many branches as the engine that wrote last shows', async () => {
  const store = new InMemoryContextStore();
  const engine = new ContextEngine({ store, chatId: 'c', userId: 'me' });
  const listed = async (): Promise<unknown> => (await store.listChats())[0]?.branchCount;
  await engine.set(user('One?', { id: 'q1' })).save();
  expect(await listed()).toBe(1);
  await engine.edit('q1', 'Two?');
  expect(engine.state.getState().branches).toHaveLength(2);
  expect(await listed()).toBe(2);
  await engine.deleteBranch('main');
  expect(await listed()).toBe(1);
  engine.dispose();
});
