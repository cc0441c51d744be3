import { afterEach, describe, expect, test, vi } from 'vitest';
import type { ContextEngine } from '../../src/engine/engine.ts';
import { hint } from '../../src/fragment/builders.ts';
import { user } from '../../src/fragment/message.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import { engineOn, said, say, texts } from '../support/engine.ts';

/** A store that counts who listens to it. */
function counted() {
  const store = new InMemoryContextStore();
  const subscribe = store.subscribe.bind(store);
  const listeners = new Set<object>();
  store.subscribe = (listener) => {
    const own = { listener };
    const stop = subscribe(listener);
    listeners.add(own);
    return () => {
      listeners.delete(own);
      stop();
    };
  };
  return { store, listeners };
}

const shown = (engine: ContextEngine) => texts(engine.state.getState().messages);

describe('before the code for reading has come', () => {
  test('a page sets, shows and renders, and every question has its empty answer', async () => {
    const engine = engineOn(new InMemoryContextStore());
    engine.set(hint('Be brief.'), user('Hello'));
    expect(engine.render()).toContain('Be brief.');
    expect(engine.state.getState()).toMatchObject({ status: 'loading', branch: 'main', messages: [] });
    expect(engine.state.getState().pending).toHaveLength(1);
    expect(engine.siblings('q')).toBe(engine.siblings('other'));
    expect([engine.status('q'), engine.node('q'), engine.message('q'), engine.forks()]).toEqual([
      undefined,
      undefined,
      undefined,
      [],
    ]);
    const empty = engine.graph();
    const versions = engine.siblings('q');
    await engine.ready();
    expect(engine.graph()).toEqual(empty);
    expect(engine.siblings('q')).toBe(versions);
  });

  test('methods run in the order in which they were called', async () => {
    const engine = engineOn(new InMemoryContextStore());
    engine.set(user('Hello'));
    await Promise.all([
      engine.save(),
      engine.checkpoint('start'),
      engine.renameCheckpoint('start', 'greeting'),
      engine.continue(said('More'), { id: 'answer' }),
      engine.restore('greeting'),
    ]);
    expect(shown(engine)).toBe('Hello');
    expect(engine.state.getState().checkpoints.map(({ name }) => name)).toEqual(['greeting']);
    expect(engine.forks()).toHaveLength(0);
    expect(engine.node('answer')?.depth).toBe(3);
  });

  test('a message is saved as it was when it was handed over', async () => {
    const engine = engineOn(new InMemoryContextStore());
    const message = said('Before');
    const turn = engine.continue(message, { id: 'answer' });
    (message.parts[0] as { text: string }).text = 'After';
    await turn;
    expect(shown(engine)).toBe('Before');
  });
});

describe('an engine that is disposed while its code comes', () => {
  test('keeps no ear at the store, and still writes', async () => {
    const { store, listeners } = counted();
    const engine = engineOn(store);
    const ready = engine.ready();
    expect(engine.ready()).toBe(ready);
    engine.dispose();
    expect(listeners.size).toBe(0);
    await ready;
    await say(engine, 'Hello');
    expect(listeners.size).toBe(0);
    const next = engineOn(store);
    await next.ready();
    expect(shown(next)).toBe('Hello');
    expect(listeners.size).toBe(1);
  });
});

describe('code that does not come', () => {
  afterEach(() => {
    vi.doUnmock('../../src/engine/session.ts');
  });

  test('is told in words, and the next call asks for it again', async () => {
    const { store, listeners } = counted();
    vi.doMock('../../src/engine/session.ts', () => Promise.reject(new Error('offline')));
    const engine = engineOn(store);
    engine.set(user('Hello'));
    await expect(engine.save()).rejects.toMatchObject({
      code: 'store-unavailable',
      message: expect.stringMatching(/Code of contextree could not be loaded.*Try again/s),
    });
    expect(engine.state.getState()).toMatchObject({ status: 'error', error: { code: 'store-unavailable' } });
    expect(listeners.size).toBe(0);
    vi.doUnmock('../../src/engine/session.ts');
    await engine.save();
    expect(engine.state.getState()).toMatchObject({ status: 'ready', error: null, pending: [] });
    expect(shown(engine)).toBe('Hello');
    expect(listeners.size).toBe(1);
  });
});
