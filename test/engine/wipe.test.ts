import { IDBFactory } from 'fake-indexeddb';
import 'fake-indexeddb/auto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ContextEngine } from '../../src/engine/engine.ts';
import { assistantText, user } from '../../src/fragment/message.ts';
import { IndexedDBContextStore } from '../../src/store/indexeddb/store.ts';

// The browser deletes the database while a chat is open.

describe('an open chat whose database is wiped', () => {
  let store: IndexedDBContextStore;
  const open = (): ContextEngine => new ContextEngine({ store, chatId: 'c', userId: 'me' });
  const shown = (engine: ContextEngine): string[] => engine.state.getState().messages.map(({ id }) => id);
  const ask = (engine: ContextEngine, id: string): Promise<string> =>
    engine.continue({ id, role: 'user', parts: [{ type: 'text', text: id }] });

  beforeEach(async () => {
    globalThis.indexedDB = new IDBFactory();
    store = new IndexedDBContextStore();
    const first = open();
    await first.set(user('one', { id: 'q1' }), assistantText('two', { id: 'a1' })).save();
    first.dispose();
  });
  afterEach(() => store.close());

  it('is written again from what is shown, with the next turn', async () => {
    const engine = open();
    await engine.ready();
    await wipe();
    await ask(engine, 'q2');
    expect(engine.state.getState().saveState).toEqual({ state: 'saved', pending: 0 });
    const other = open();
    await other.ready();
    expect(shown(other)).toEqual(['q1', 'a1', 'q2']);
    expect(other.state.getState().branches).toMatchObject([{ name: 'main', messageCount: 3 }]);
  });

  it('is written from the first message whose words it has, where it is longer than what was read of it', async () => {
    const ids = Array.from({ length: 300 }, (_, i) => `m${i}`);
    const before = open();
    await before.set(...ids.map((id) => user(id, { id }))).save();
    before.dispose();
    const engine = open();
    await engine.ready();
    const words = shown(engine);
    expect(words).toHaveLength(200);
    await wipe();
    await ask(engine, 'last');
    expect(engine.state.getState().saveState).toEqual({ state: 'saved', pending: 0 });
    expect(shown(engine).slice(-2)).toEqual(['m299', 'last']);
    expect(await engine.verify()).toEqual([]);
    await ask(engine, 'and on');
    const questions = (await store.getMessages('c')).filter(({ name }) => name === 'user');
    expect(questions.map(({ id }) => id)).toEqual([...words, 'last', 'and on']);
    expect(await open().verify()).toEqual([]);
  });

  it('says in its state what was lost, until somebody has taken note of it', async () => {
    const engine = open();
    await engine.ready();
    expect(engine.state.getState().dataLoss).toBeNull();
    await wipe();
    await ask(engine, 'q2');
    await expect
      .poll(() => engine.state.getState().dataLoss)
      .toMatchObject({ kind: 'all', chats: 1, messages: 2 });
    await engine.state.getState().dataLoss?.dismiss();
    await expect.poll(() => engine.state.getState().dataLoss).toBeNull();
  });

  it('keeps what is said in memory, and says that it is not saved, when a newer version has taken the database', async () => {
    const engine = open();
    await engine.ready();
    await new Promise((resolve) => {
      const request = indexedDB.open('contextree', 99);
      request.onsuccess = () => {
        request.result.close();
        resolve(undefined);
      };
    });
    await ask(engine, 'q2');
    expect(shown(engine)).toEqual(['q1', 'a1', 'q2']);
    const { state, error, pending } = engine.state.getState().saveState;
    expect({ state, code: error?.code, pending }).toEqual({
      state: 'error',
      code: 'newer-format',
      pending: 2,
    });
  });
});

function wipe(): Promise<unknown> {
  return new Promise((resolve) => {
    indexedDB.deleteDatabase('contextree').onsuccess = resolve;
  });
}
