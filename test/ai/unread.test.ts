import { expect, test } from 'vitest';
import { createContextChats } from '../../src/ai/index.ts';
import { ContextEngine } from '../../src/engine/engine.ts';
import { ContextError } from '../../src/errors.ts';
import { scriptedTransport } from '../support/transport.ts';
import { afterReload, changed, openPlainly, words } from './story.ts';

// A question is sent while the store is read, and the first read fails.

/** A page on a store with a chat, whose first read fails when `fail` is called. */
async function unreadablePage() {
  const before = await openPlainly();
  await before.ask('One?', 'First.');
  const disk = Promise.withResolvers<void>();
  let isDown = true;
  const refuse = async (): Promise<void> => {
    if (!isDown) return;
    await disk.promise;
    isDown = false;
    throw new ContextError('store-unavailable', 'The database does not open.');
  };
  const load = before.store.load.bind(before.store);
  const store = changed(afterReload(before.store), {
    load: async (...args) => refuse().then(() => load(...args)),
  });
  const engine = new ContextEngine({ store, chatId: 'c', userId: 'me' });
  const script = scriptedTransport();
  const chats = createContextChats({ engine, transport: script.transport });
  void chats.active.sendMessage({ text: 'Two?' });
  const ready = engine.ready();
  disk.resolve();
  await expect(ready).rejects.toMatchObject({ code: 'store-unavailable' });
  return { before, engine, script, chats };
}

test('it stands behind the conversation when that is read after all, and is asked there', async () => {
  const { before, engine, script, chats } = await unreadablePage();
  const second = await script.next();
  expect(words(chats.active.messages)).toBe('q: One? | a: First. | q: Two?');
  await second.answer('Second.');
  await chats.whenSettled();
  expect(await before.stored()).toBe('q: One? | a: First. | q: Two? | a: Second.');
  expect(engine.state.getState().branches).toHaveLength(1);
});
