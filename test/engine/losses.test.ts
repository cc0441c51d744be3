import { describe, expect, test } from 'vitest';
import type { ContextEngine } from '../../src/engine/engine.ts';
import { user } from '../../src/fragment/message.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import type { ContextStore, StoreNotice } from '../../src/store/store.ts';
import { shown, branchesIn, engineOn, said, say, texts } from '../support/engine.ts';
import { refusing } from '../support/refusal.ts';

// The browser clears a site's data under an open page, a connection dies before it answers, the disk is full: what a person
// sees then, and what is on the disk afterwards.

const saveState = (engine: ContextEngine) => engine.state.getState().saveState;

/** A store whose database the browser can clear: those who are connected are on a new, empty one then. */
function clearable() {
  let inner = new InMemoryContextStore();
  const listeners = new Set<(notice: StoreNotice) => void>();
  const listen = (): void => {
    inner.subscribe((notice) => listeners.forEach((tell) => tell(notice)));
  };
  const subscribe: ContextStore['subscribe'] = (listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  const store = new Proxy({} as ContextStore, {
    get(_target, key) {
      if (key === 'subscribe') return subscribe;
      const value: unknown = Reflect.get(inner, key, inner);
      return typeof value === 'function' ? value.bind(inner) : value;
    },
  });
  const clearData = (): void => {
    inner = new InMemoryContextStore();
    listen();
  };
  listen();
  return { store, clearData };
}

/** Until an engine has taken in what it was told of. */
const quiet = () => new Promise((resolve) => setTimeout(resolve, 20));

/** `main` and a second version of its answer, a checkpoint, a title and a name of a person's own. */
async function told() {
  const { store, clearData } = clearable();
  const engine = engineOn(store, { persistFragments: true });
  await say(engine, 'q1', 'a1', 'q2', 'a2');
  await engine.edit('a1', 'better');
  await engine.renameBranch('main-v2', 'ideas');
  await engine.checkpoint('here', { at: 'q1' });
  await engine.updateChat({ title: 'Trees', metadata: { pinned: true } });
  await engine.trackUsage({ inputTokens: 3 });
  const all = { main: 'q1 > a1 > q2 > a2', ideas: 'q1 > better' };
  return { store, clearData, engine, all };
}

describe('a chat whose data the browser cleared under the open page', () => {
  test('is written whole with what the person says next, and nothing is written before', async () => {
    const { store, clearData, engine, all } = await told();
    const before = await store.load('c');
    clearData();
    await say(engineOn(store, { chatId: 'd' }), 'q9');
    await engine.resolve();
    await quiet();
    expect(await store.getChat('c')).toBeUndefined();
    await say(engine, 'q3');
    expect(await branchesIn(store)).toEqual({ ...all, ideas: 'q1 > better > q3' });
    expect(saveState(engine)).toEqual({ state: 'saved', pending: 0 });
    const after = await store.load('c');
    expect(after.messages).toHaveLength(before.messages.length + 1);
    expect(await store.getChat('c')).toMatchObject({
      title: 'Trees',
      metadata: { pinned: true, usage: { inputTokens: 3 } },
    });
    expect(await store.listCheckpoints('c')).toMatchObject([{ name: 'here', messageId: 'q1' }]);
    const reopened = engineOn(store);
    await reopened.ready();
    expect([reopened.branch, shown(reopened)]).toEqual(['ideas', 'q1 > better > q3']);
    expect(reopened.operations()).toEqual(engine.operations());
    await reopened.undo();
    expect(reopened.state.getState().checkpoints).toEqual([]);
  });

  test('is told as soon as the page hears of it, with the number of messages, and stays on the screen', async () => {
    const { store, clearData, engine } = await told();
    clearData();
    await say(engineOn(store), 'q9');
    await expect
      .poll(() => saveState(engine))
      .toMatchObject({
        state: 'error',
        pending: 5,
        error: { code: 'data-loss', details: { chatId: 'c', messages: 5 } },
      });
    expect(shown(engine)).toBe('q1 > better');
    expect(Object.values(await branchesIn(store))).toEqual(['q9']);
  });

  test('is written again with the words of an answer whose tab died while it wrote them', async () => {
    const { store, clearData } = clearable();
    const dying = engineOn(store);
    await dying.ask(said('q1'), { id: 'a1' });
    await dying.updateMessage('a1', said('a1', 'half'), 'streaming');
    const engine = engineOn(store);
    await engine.ready();
    dying.dispose();
    clearData();
    await say(engineOn(store), 'q9', 'a9', 'q8', 'a8');
    await expect.poll(() => saveState(engine)).toMatchObject({ state: 'error' });
    await engine.retry();
    expect(Object.values(await branchesIn(store))).toContain('q1 > half');
    expect(shown(engine)).toBe('q1 > half');
  });

  test('is whole again also where no page knows all of it', async () => {
    const { store, clearData, engine, all } = await told();
    const other = engineOn(store);
    await other.switchBranch('main');
    await say(other, 'q3');
    engine.dispose();
    await say(other, 'a3');
    clearData();
    await Promise.all([say(engine, 'q4'), say(other, 'q5')]);
    await Promise.all([engine.retry(), other.retry()]);
    expect(await branchesIn(store)).toEqual({
      main: `${all.main} > q3 > a3 > q5`,
      ideas: 'q1 > better > q4',
    });
  });

  test('shows words that no page had as lost, and keeps the place of each', async () => {
    const { store, clearData } = clearable();
    await say(engineOn(store), ...Array.from({ length: 250 }, (_, i) => `q${i}`));
    const engine = engineOn(store);
    await engine.ready();
    clearData();
    await say(engine, 'a1');
    expect((await store.load('c')).messages).toHaveLength(251);
    const reopened = engineOn(store);
    expect((await reopened.resolve()).messages).toHaveLength(201);
    const findings = await reopened.verify();
    expect(findings.filter(({ kind }) => kind === 'missing-body')).toHaveLength(50);
    expect(findings).toHaveLength(50);
  });

  test('is written in pieces where it is long, and acknowledged after the last one', async () => {
    const { store, clearData } = clearable();
    const engine = engineOn(store);
    engine.set(...Array.from({ length: 2500 }, (_, i) => user(`question ${i}`, { id: `q${i}` })));
    await engine.save();
    clearData();
    await say(engine, 'a1');
    expect((await store.getMessages('c')).map(({ id }) => id).slice(-2)).toEqual(['q2499', 'a1']);
    expect(await store.getMessages('c')).toHaveLength(2501);
  });
});

describe('a write whose answer got lost', () => {
  test('is done once, however often it is sent again', async () => {
    const disk = new InMemoryContextStore();
    const { store, refuse } = refusing(disk);
    const engine = engineOn(store);
    await say(engine, 'q1');
    refuse('store-closed', { late: true });
    await expect(say(engine, 'a1', 'q2')).rejects.toMatchObject({ code: 'store-closed' });
    expect(await branchesIn(disk)).toEqual({ main: 'q1 > a1 > q2' });
    expect(saveState(engine)).toMatchObject({ state: 'error', pending: 2 });
    const { seq } = await disk.load('c');
    await expect(engine.retry()).rejects.toMatchObject({ code: 'store-closed' });
    refuse(undefined);
    await engine.retry();
    expect((await disk.load('c')).seq).toBe(seq);
    expect(await branchesIn(disk)).toEqual({ main: 'q1 > a1 > q2' });
    expect(saveState(engine)).toEqual({ state: 'saved', pending: 0 });
  });
});

describe('two tabs with one id', () => {
  test('have two messages, each with its own words, whichever is meant', async () => {
    const store = new InMemoryContextStore();
    const [a, b] = [engineOn(store), engineOn(store)];
    await say(a, 'q1');
    await b.ready();
    await a.ask(said('1', 'from a'), { id: '2' });
    await quiet();
    await b.ask(said('1', 'from b'), { id: '2' });
    await Promise.all([
      a.updateMessage('2', said('2', 'to a'), 'complete'),
      b.updateMessage('2', said('2', 'to b'), 'complete'),
    ]);
    await quiet();
    expect(Object.values(await branchesIn(store)).toSorted()).toEqual([
      'q1 > from a > to a',
      'q1 > from b > to b',
    ]);
    expect([shown(a), shown(b)]).toEqual(['q1 > from a > to a', 'q1 > from b > to b']);
    expect(texts([a.message('2')!, b.message('2')!])).toBe('to a > to b');
    await b.updateMessage('2', said('2', 'to b, with a result'));
    await expect.poll(() => a.siblings('1').keys).toHaveLength(2);
    const [first = '', second = ''] = a.siblings('1').keys;
    expect([a.message(first), a.node(second)?.id]).toMatchObject([{ id: '1' }, '1']);
    await a.selectSibling(second);
    expect(shown(a)).toBe('q1 > from b > to b, with a result');
  });
});
