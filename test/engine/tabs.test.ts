import { describe, expect, test, vi } from 'vitest';
import type { ContextEvent } from '../../src/engine/state.ts';
import { user } from '../../src/fragment/message.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import { shown, branchesIn, engineOn, said, say, texts } from '../support/engine.ts';
import { refusing } from '../support/refusal.ts';

/** Two engines on one chat, both ready. */
async function tabs(...words: readonly string[]) {
  const store = new InMemoryContextStore();
  const [a, b] = [engineOn(store), engineOn(store)];
  if (words.length > 0) await say(a, ...words);
  await Promise.all([a.ready(), b.ready()]);
  await settled();
  return { store, a, b, branches: () => branchesIn(store) };
}

const settled = () => new Promise((resolve) => setTimeout(resolve, 5));

describe('another tab', () => {
  test('is followed when its turn is settled', async () => {
    const { a, b } = await tabs('q1', 'a1');
    await say(a, 'q2', 'a2');
    await expect.poll(() => shown(b)).toBe('q1 > a1 > q2 > a2');
    await say(b, 'q3');
    await expect.poll(() => shown(a)).toBe('q1 > a1 > q2 > a2 > q3');
    expect(b.state.getState().branches).toHaveLength(1);
  });

  test('is not followed into an answer that still grows, nor while a turn waits here', async () => {
    const { a, b } = await tabs('q1', 'a1');
    const id = await a.ask(said('q2'), { id: 'a2' });
    await a.updateMessage(id, said('a2', 'gro'), 'streaming');
    await settled();
    expect(shown(b)).toBe('q1 > a1');
    b.set(user(said('q7')));
    await a.updateMessage(id, said('a2', 'grown'), 'complete');
    await settled();
    expect(shown(b)).toBe('q1 > a1');
    b.unset('q7');
    await say(a, 'q3');
    await expect.poll(() => shown(b)).toBe('q1 > a1 > q2 > grown > q3');
  });

  test('that streams on the branch makes a turn here fork at the last settled message, and this tab stays there', async () => {
    const { a, b, branches } = await tabs('q1', 'a1');
    await a.ask(said('q2'), { id: 'a2' });
    await settled();
    const events: ContextEvent[] = [];
    b.subscribe((event) => events.push(event));
    const id = await b.ask(said('q7'), { id: 'a7' });
    expect(b.branch).toBe('main-v2');
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'conflict', policy: 'fork', from: 'main', to: 'main-v2' }),
    );
    await b.updateMessage(id, said('a7'), 'complete');
    await a.updateMessage('a2', said('a2'), 'complete');
    await settled();
    expect([shown(a), shown(b)]).toEqual(['q1 > a1 > q2 > a2', 'q1 > a1 > q7 > a7']);
    expect(await branches()).toEqual({ main: 'q1 > a1 > q2 > a2', 'main-v2': 'q1 > a1 > q7 > a7' });
  });

  test('is no part of a turn that failed before its first word: nobody is told of a conflict', async () => {
    const { a } = await tabs('q1', 'a1');
    const events: ContextEvent[] = [];
    a.subscribe((event) => events.push(event));
    for (const id of ['a2', 'a3']) {
      await a.ask(said('q2'), { id });
      await a.updateMessage(id, { id, role: 'assistant', parts: [] }, 'interrupted');
    }
    await say(a, 'q3');
    expect(a.state.getState().branches.map(({ name }) => name)).toEqual(['main']);
    expect(events.filter(({ type }) => type === 'conflict')).toEqual([]);
  });
});

describe('what another tab is writing', () => {
  const beside = (engine: ReturnType<typeof engineOn>) => texts(engine.state.getState().remoteMessages);

  test('is seen to grow beside the messages, and joins them when it is settled', async () => {
    const { a, b } = await tabs('q1', 'a1');
    const seen: string[] = [];
    b.state.subscribe(() => {
      const line = `${shown(b)} | ${beside(b)}`;
      if (seen.at(-1) !== line) seen.push(line);
    });
    const id = await a.ask(said('q2'), { id: 'a2' });
    await expect.poll(() => beside(b)).toBe('q2 > ');
    const [question] = b.state.getState().remoteMessages;
    await a.updateMessage(id, said('a2', 'on'), 'streaming');
    await expect.poll(() => beside(b)).toBe('q2 > on');
    await a.updateMessage(id, said('a2', 'one two'), 'streaming');
    await expect.poll(() => beside(b)).toBe('q2 > one two');
    expect(b.state.getState().remoteMessages[0]).toBe(question);
    await a.updateMessage(id, said('a2', 'one two three'), 'complete');
    await expect.poll(() => shown(b)).toBe('q1 > a1 > q2 > one two three');
    expect(seen).toEqual([
      'q1 > a1 | q2 > ',
      'q1 > a1 | q2 > on',
      'q1 > a1 | q2 > one two',
      'q1 > a1 > q2 > one two three | ',
    ]);
    expect(beside(a)).toBe('');
  });

  test('is seen by a tab that opens then, and by none that looks at another branch', async () => {
    const { store, a, b } = await tabs('q1', 'a1');
    await b.btw();
    await settled();
    const id = await a.ask(said('q2'), { id: 'a2' });
    await a.updateMessage(id, said('a2', 'half'), 'streaming');
    await settled();
    const late = engineOn(store);
    await late.ready();
    expect([shown(late), beside(late)]).toEqual(['q1 > a1 > q2', 'half']);
    await late.switchBranch('main-v2');
    expect(beside(late)).toBe('');
    await late.switchBranch('main');
    expect(beside(late)).toBe('half');
    await late.checkout('q1');
    expect([shown(late), beside(late)]).toEqual(['q1', '']);
  });

  test('is an answer that goes on, in its own place', async () => {
    const { a, b } = await tabs('q1', 'a1=half');
    await a.updateMessage('a1', said('a1', 'half and'), 'streaming');
    await a.updateMessage('a1', said('a1', 'half and more'), 'streaming');
    await expect.poll(() => beside(b)).toBe('half and more');
    expect(b.state.getState().remoteMessages.map(({ id }) => id)).toEqual(['a1']);
    await a.updateMessage('a1', said('a1', 'half and more.'), 'complete');
    await expect.poll(() => [shown(b), beside(b)]).toEqual(['q1 > half and more.', '']);
  });
});

describe('a branch that another tab deletes while an answer grows on it', () => {
  test('comes back with the answer, and this tab is told', async () => {
    const { a, b, branches } = await tabs('q1', 'a1');
    await a.btw();
    await b.ready();
    await settled();
    const told: ContextEvent[] = [];
    a.subscribe((event) => event.type === 'branch' && told.push(event));
    const id = await a.ask(said('q2'), { id: 'a2' });
    await a.updateMessage(id, said('a2', 'half'), 'streaming');
    await b.deleteBranch('main');
    await settled();
    expect(shown(a)).toBe('q1 > a1 > q2 > half');
    await a.updateMessage(id, said('a2', 'whole'), 'complete');
    expect([a.branch, shown(a)]).toEqual(['main', 'q1 > a1 > q2 > whole']);
    expect(told).toMatchObject([{ action: 'restore', name: 'main', hasGrown: true }]);
    expect(await branches()).toEqual({ main: 'q1 > a1 > q2 > whole', 'main-v2': 'q1 > a1' });
    await expect.poll(() => b.state.getState().branches).toHaveLength(2);
  });

  test('stays deleted when no answer came', async () => {
    const { a, b, branches } = await tabs('q1', 'a1');
    await a.btw();
    const id = await a.ask(said('q2'), { id: 'a2' });
    await settled();
    await b.deleteBranch('main');
    await settled();
    await a.updateMessage(id, { ...said('a2'), parts: [] }, 'interrupted');
    expect(await branches()).toEqual({ 'main-v2': 'q1 > a1' });
    expect([a.branch, shown(a)]).toEqual(['main-v2', 'q1 > a1']);
  });
});

describe('a branch that another tab deletes', () => {
  test('comes back with a question that was sent to it before it was seen to go', async () => {
    const { a, b, branches } = await tabs('q1', 'a1');
    await b.rewind('q1');
    await a.switchBranch('main');
    const { branchId } = a.state.getState();
    const events: ContextEvent[] = [];
    a.subscribe((event) => events.push(event));
    await b.deleteBranch('main');
    await expect.poll(() => a.branch).toBe('main-v2');
    await a.ask(said('q2'), { branch: branchId, id: 'a2' });
    await a.updateMessage('a2', said('a2'), 'complete');
    expect([a.branch, shown(a)]).toEqual(['main', 'q1 > a1 > q2 > a2']);
    expect(await branches()).toEqual({ main: 'q1 > a1 > q2 > a2', 'main-v2': 'q1' });
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'branch', action: 'restore', name: 'main' }),
    );
  });

  test('is refused to questions in the tab that deleted it', async () => {
    const { a, b } = await tabs('q1', 'a1');
    const { branchId } = b.state.getState();
    await b.rewind('q1');
    await b.deleteBranch('main');
    await expect(b.ask(said('q2'), { branch: branchId })).rejects.toMatchObject({
      code: 'branch-not-found',
    });
    await a.ready();
  });
});

test('an answer reads as interrupted after another tab deleted its chat and restored it', async () => {
  const { store, a, b } = await tabs('q1', 'a1');
  const id = await a.ask(said('q2'), { id: 'a2' });
  await a.updateMessage(id, said('a2', 'half'), 'streaming');
  await settled();
  await store.deleteChat('c', { keepFor: 60_000 });
  await expect.poll(() => a.state.getState().error?.code).toBe('chat-deleted');
  await store.restoreChat('c');
  await expect.poll(() => a.status('a2')).toBe('interrupted');
  expect(a.state.getState()).toMatchObject({ status: 'ready', error: null });
  await expect.poll(() => [shown(a), shown(b)]).toEqual(Array(2).fill('q1 > a1 > q2 > half'));
});

/** Lets the clock pass the messages of some turns: of two branches of one millisecond it is drawn which keeps the name. */
const later = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 10));

describe('a head that moved meanwhile', () => {
  async function stale(onConflict: 'fork' | 'rebase' | 'error') {
    const { store, a } = await tabs('q1', 'a1');
    const b = engineOn(store, { onConflict });
    await b.ready();
    b.set(user(said('q7')));
    await say(a, 'q2', 'a2');
    await later();
    return { store, b };
  }

  test('gives the turn a branch of its own by default', async () => {
    const { store, b } = await stale('fork');
    expect(await b.save()).toEqual({ headMessageId: 'q7' });
    await expect.poll(() => [b.branch, shown(b)]).toEqual(['main-v2', 'q1 > a1 > q7']);
    expect(await branchesIn(store)).toEqual({ main: 'q1 > a1 > q2 > a2', 'main-v2': 'q1 > a1 > q7' });
  });

  test('puts the turn behind the other one with rebase', async () => {
    const { store, b } = await stale('rebase');
    await b.save();
    expect([b.branch, shown(b)]).toEqual(['main', 'q1 > a1 > q2 > a2 > q7']);
    expect(await branchesIn(store)).toEqual({ main: 'q1 > a1 > q2 > a2 > q7' });
  });

  test('is an error on demand, and the turn stays pending', async () => {
    const { store, b } = await stale('error');
    await expect(b.save()).rejects.toMatchObject({ code: 'head-moved' });
    expect(b.state.getState().pending).toHaveLength(1);
    expect(await branchesIn(store)).toEqual({ main: 'q1 > a1 > q2 > a2' });
  });
});

test('two tabs that begin one chat at the same moment keep both first turns', async () => {
  const { a, b, branches } = await tabs();
  await Promise.all([say(a, 'q1', 'a1'), say(b, 'q2', 'a2')]);
  const words = Object.values(await branches());
  expect(words.toSorted()).toEqual(['q1 > a1', 'q2 > a2']);
});

test('a tab that takes its answer back asks for none beside one of which it has not heard yet', async () => {
  const { store, b } = await tabs('q1', 'a1');
  vi.spyOn(store, 'subscribe').mockReturnValueOnce(() => {});
  const deaf = engineOn(store);
  const id = await deaf.ask(said('q2'), { id: 'a2' });
  await settled();
  await b.ask([said('q1')], { id: 'again', parentId: null });
  await deaf.updateMessage(id, { id, role: 'assistant', parts: [] }, 'interrupted');
  await expect(deaf.ask([said('q1')], { id: 'beside', parentId: null })).rejects.toMatchObject({
    code: 'busy',
  });
  expect(Object.keys(await branchesIn(store))).toHaveLength(2);
});

describe('when the disk says no', () => {
  async function full(onConflict: 'fork' | 'error' = 'fork') {
    const inner = new InMemoryContextStore();
    const { store, refuse } = refusing(inner);
    const engine = engineOn(store, { onConflict });
    await say(engine, 'q1', 'a1');
    refuse('quota-exceeded');
    return { inner, engine, refuse };
  }

  test('the turn goes on in memory, the state says so, and retry() saves it', async () => {
    const { inner, engine, refuse } = await full();
    const id = await engine.ask(said('q2'), { id: 'a2' });
    await engine.updateMessage(id, said('a2', 'words'), 'streaming');
    await engine.updateMessage(id, said('a2', 'words of an answer'), 'complete');
    expect(shown(engine)).toBe('q1 > a1 > q2 > words of an answer');
    expect(texts((await engine.resolve()).messages)).toBe('q1 > a1 > q2 > words of an answer');
    expect(engine.state.getState().saveState).toMatchObject({
      state: 'error',
      pending: 2,
      error: { code: 'quota-exceeded' },
    });
    expect(await branchesIn(inner)).toEqual({ main: 'q1 > a1' });
    await expect(engine.retry()).rejects.toMatchObject({ code: 'quota-exceeded' });
    refuse(undefined);
    await engine.retry();
    expect(engine.state.getState().saveState).toEqual({ state: 'saved', pending: 0 });
    expect(await branchesIn(inner)).toEqual({ main: 'q1 > a1 > q2 > words of an answer' });
  });

  test('it is tried again by itself', async () => {
    const { inner, engine, refuse } = await full();
    await engine.ask(said('q2'), { id: 'a2' });
    refuse(undefined);
    await expect.poll(() => branchesIn(inner)).toEqual({ main: 'q1 > a1 > q2 > ' });
  });

  test.each(['fork', 'error'] as const)(
    'another tab may write meanwhile: the kept turns stay together, and are older (%s)',
    async (onConflict) => {
      const { inner, engine, refuse } = await full(onConflict);
      for (const n of [2, 3]) {
        const id = await engine.ask(said(`q${n}`), { id: `a${n}` });
        await engine.updateMessage(id, said(id), 'complete');
      }
      await settled();
      await later();
      await say(engineOn(inner), 'q9', 'a9');
      refuse(undefined);
      await engine.retry();
      expect(await branchesIn(inner)).toEqual({
        main: 'q1 > a1 > q2 > a2 > q3 > a3',
        'main-v2': 'q1 > a1 > q9 > a9',
      });
      expect([engine.branch, shown(engine)]).toEqual(['main', 'q1 > a1 > q2 > a2 > q3 > a3']);
    },
  );

  test('save() rejects; what it was to save is in the chat, and goes to the disk once, with the next try', async () => {
    const { inner, engine, refuse } = await full();
    engine.set(user(said('q2')));
    await expect(engine.save()).rejects.toMatchObject({ code: 'quota-exceeded' });
    expect(engine.state.getState()).toMatchObject({ saveState: { state: 'error', pending: 1 }, pending: [] });
    expect(shown(engine)).toBe('q1 > a1 > q2');
    await expect(engine.save()).rejects.toMatchObject({ code: 'quota-exceeded' });
    refuse(undefined);
    expect(await engine.save()).toEqual({ headMessageId: 'q2' });
    expect(engine.state.getState().saveState).toEqual({ state: 'saved', pending: 0 });
    expect(await branchesIn(inner)).toEqual({ main: 'q1 > a1 > q2' });
  });
});

describe('an answer that a dead tab was writing', () => {
  test('is found cut off also when the disk could not be read at the first look', async () => {
    vi.useFakeTimers();
    try {
      const store = new InMemoryContextStore();
      const [a, b] = [engineOn(store), engineOn(store)];
      await say(a, 'q1', 'a1');
      await b.ready();
      const hold = vi.spyOn(store, 'hold');
      await a.ask(said('q2'), { id: 'a2' });
      await a.updateMessage('a2', said('a2', 'gro'), 'streaming');
      await vi.advanceTimersByTimeAsync(10);
      expect(b.status('a2')).toBe('streaming');
      (await hold.mock.results[0]!.value)();
      vi.spyOn(store, 'held').mockRejectedValueOnce(new Error('The disk is busy.'));
      await vi.advanceTimersByTimeAsync(2500);
      expect(b.status('a2')).toBe('streaming');
      await vi.advanceTimersByTimeAsync(2500);
      expect(b.status('a2')).toBe('interrupted');
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('a chat that is deleted elsewhere', () => {
  test('says so, keeps what is pending, and begins anew with what is said then', async () => {
    const { store, a, b } = await tabs('q1', 'a1');
    b.set(user(said('q2')));
    await store.deleteChat('c');
    for (const { state } of [a, b])
      await expect
        .poll(() => state.getState())
        .toMatchObject({ status: 'error', error: { code: 'chat-deleted' } });
    expect([shown(a), shown(b), b.state.getState().pending.length]).toEqual(['', '', 1]);
    expect(await store.listChats()).toEqual([]);
    await b.save();
    expect([shown(b), b.state.getState().status]).toEqual(['q2', 'ready']);
    await expect.poll(() => [shown(a), a.state.getState().status]).toEqual(['q2', 'ready']);
    await say(a, 'a2');
    expect(await branchesIn(store)).toEqual({ main: 'q2 > a2' });
  });

  test('does not affect a tab that had not noticed it: the next turn of that tab is shown', async () => {
    const { store, b } = await tabs();
    await say(engineOn(store), 'q1');
    await store.deleteChat('c');
    await say(engineOn(store), 'q2');
    await expect.poll(() => shown(b)).toBe('q2');
    expect(b.state.getState().error).toBeNull();
  });

  test('comes back whole to an engine that found it deleted', async () => {
    const { store } = await tabs('q1', 'a1');
    await store.deleteChat('c', { keepFor: 10_000 });
    const late = engineOn(store);
    await late.ready();
    expect(shown(late)).toBe('');
    await store.restoreChat('c');
    await expect.poll(() => [late.branch, shown(late)]).toEqual(['main', 'q1 > a1']);
    await say(late, 'q2');
    expect(await branchesIn(store)).toEqual({ main: 'q1 > a1 > q2' });
  });
});
