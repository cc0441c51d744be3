import { describe, expect, test, vi } from 'vitest';
import type { ContextEngine } from '../../src/engine/engine.ts';
import type { ContextEngineOptions } from '../../src/engine/options.ts';
import { hint, role } from '../../src/fragment/builders.ts';
import { assistant, lastAssistantMessage, user } from '../../src/fragment/message.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import type { ContextStore } from '../../src/store/store.ts';
import { shown, branchesIn, engineOn, said, say, texts } from '../support/engine.ts';
import { refusing } from '../support/refusal.ts';

/** Until an engine has done all that it began, also what notices of other tabs made it do. */
const quiet = async (...engines: readonly ContextEngine[]) => {
  for (let i = 0; i < 3; i += 1) for (const engine of engines) await engine.loadMore(0);
};

async function chat(words: readonly string[] = [], options: Partial<ContextEngineOptions> = {}) {
  const disk = new InMemoryContextStore();
  const { store, refuse } = refusing(disk);
  const engine = engineOn(store, options);
  if (words.length > 0) await say(engine, ...words);
  return { disk, store, refuse, engine, branches: () => branchesIn(disk) };
}

/** A store of which some methods are others. */
function changed(inner: ContextStore, own: Partial<ContextStore>): ContextStore {
  return new Proxy(inner, {
    get(target, key) {
      const value: unknown = Reflect.get(key in own ? own : target, key);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** Asks, and answers with these words. */
async function turn(engine: ContextEngine, question: string, answer: string): Promise<void> {
  const id = await engine.ask(said(question), { id: answer });
  await engine.updateMessage(id, said(answer), 'complete');
}

describe('set()', () => {
  test('adds nothing when one of its fragments is broken, and leaves alone what was set before', () => {
    const engine = engineOn();
    const first = hint('stay');
    const broken = { name: 'x', data: { self: null as unknown } };
    broken.data.self = broken.data;
    engine.set(first);
    expect(() => engine.set(first, role('new'), broken as never)).toThrow(/circular/);
    expect(engine.render()).toBe('<hint>stay</hint>');
  });
});

describe('what plain JavaScript can hand in', () => {
  const anything = (value: unknown): never => value as never;

  test('is refused as a name, an id, a count or a status, before it can do harm', async () => {
    const { engine, store } = await chat(['q1', 'a1']);
    const answer = await engine.ask(said('q2'));
    const calls = [
      () => engine.renameBranch('main', anything(undefined)),
      () => engine.checkpoint(anything(5)),
      () => engine.ask(said('q3'), { id: '' }),
      () => engine.ask(said('q3'), { forkId: anything(5) }),
      () => engine.loadMore(Number.NaN),
      () => engine.loadMore(-1),
      () => engine.updateMessage(answer, said(answer, 'grows'), anything('done')),
      () => engine.trackUsage(anything(5)),
      () => engine.updateChat({ title: anything({}) }),
    ];
    for (const call of calls) await expect(call()).rejects.toMatchObject({ code: 'invalid-options' });
    await engine.loadMore(Infinity);
    expect([shown(engine), await engine.verify()]).toEqual(['q1 > a1 > q2', []]);
    expect(await store.getMessage('c', answer)).toMatchObject({ status: 'streaming' });
  });

  test('may be null where options may be left out', async () => {
    const { engine } = await chat(['q1', 'a1']);
    const none = anything(null);
    await engine.checkpoint('here', none);
    await engine.save(none);
    await engine.repair(none);
    expect(texts((await engine.resolve(none)).messages)).toBe('q1 > a1');
  });
});

describe('metadata of the engine', () => {
  test('is merged when the first write had to wait for the disk', async () => {
    const { disk } = await chat(['q1']);
    const { store, refuse } = refusing(disk);
    const next = engineOn(store, { metadata: { source: 'web' } });
    await next.ready();
    refuse('quota-exceeded');
    await turn(next, 'q2', 'a2');
    refuse(undefined);
    await next.retry();
    expect((await disk.getChat('c'))?.metadata).toEqual({ source: 'web' });
  });
});

test('metadata of the engine takes nothing from what the first write says itself', async () => {
  for (const write of [
    (engine: ContextEngine) => engine.updateChat({ metadata: { source: 'person', n: 1 } }),
    (engine: ContextEngine) => engine.trackUsage({ inputTokens: 3 }),
  ]) {
    const disk = new InMemoryContextStore();
    const engine = engineOn(disk, { metadata: { source: 'web', usage: { inputTokens: 9 } } });
    await write(engine);
    await say(engine, 'q1');
    const metadata = (await disk.getChat('c'))?.metadata;
    expect(metadata).toEqual(engine.chat?.metadata);
    expect([metadata?.['source'], metadata?.['usage']]).toEqual(
      metadata?.['n'] ? ['person', { inputTokens: 9 }] : ['web', { inputTokens: 3 }],
    );
    await say(engineOn(disk, { metadata: { source: 'web' } }), 'a1');
    expect((await disk.getChat('c'))?.metadata).toEqual(metadata);
  }
});

describe('a new chat', () => {
  test('is on main, which can be shown before anything is said', async () => {
    const engine = engineOn();
    await engine.switchBranch('main');
    await expect(engine.switchBranch('main-v2')).rejects.toMatchObject({ code: 'branch-not-found' });
    expect(await say(engine, 'q1')).toBe('q1');
    expect(engine.branch).toBe('main');
  });
});

describe('a chat that is deleted here while an answer grows', () => {
  test('is told as deleted here, its stream ends, and what is said next begins it anew', async () => {
    const { engine, disk } = await chat(['q1', 'a1']);
    const id = await engine.ask(said('q2'), { id: 'a2' });
    await engine.updateMessage(id, said('a2', 'half'), 'streaming');
    await disk.deleteChat('c', { keepFor: 10_000 });
    await expect
      .poll(() => engine.state.getState().error)
      .toMatchObject({ code: 'chat-deleted', details: { here: true } });
    expect(await disk.held('c')).toEqual(new Set());
    await expect(engine.updateMessage(id, said('a2', 'more'), 'streaming')).rejects.toMatchObject({
      code: 'message-not-found',
    });
    await turn(engine, 'q3', 'a3');
    expect(engine.state.getState()).toMatchObject({ status: 'ready', error: null });
    expect(await branchesIn(disk)).toEqual({ main: 'q3 > a3' });
  });
});

describe('save()', () => {
  test('leaves what is set while it runs for the next one', async () => {
    const { engine, disk, store, branches } = await chat(['q1', 'a1']);
    await engine.rewind('q1');
    const late = engineOn(store);
    await late.ready();
    late.set(assistant(said('a1', 'better')));
    const commit = disk.commit.bind(disk);
    vi.spyOn(disk, 'commit').mockImplementationOnce((...write) => {
      late.set(lastAssistantMessage('best'));
      return commit(...write);
    });
    await late.save();
    expect([late.state.getState().pending.length, shown(late)]).toEqual([1, 'q1 > better']);
    await late.save();
    expect(await branches()).toEqual({ main: 'q1 > a1', 'main-v2': 'q1 > best' });
  });

  test('writes what was set before it was called, and no method before it drops that', async () => {
    const { engine, branches } = await chat(['q1', 'a1']);
    await engine.btw();
    engine.set(user(said('q2')));
    const switching = engine.switchBranch('main-v2');
    engine.set(user(said('q3')));
    const saving = engine.save();
    engine.set(user(said('q4')));
    await Promise.all([switching, saving]);
    expect(await branches()).toEqual({ main: 'q1 > a1', 'main-v2': 'q1 > a1 > q3' });
    expect(engine.state.getState().pending.map(({ id }) => id)).toEqual(['q4']);
  });

  test('on a message checked out: what is new goes on from it, what is changed forks at its own place', async () => {
    const { engine, branches } = await chat(['q1', 'a1', 'q2', 'a2']);
    await engine.checkout('a1');
    engine.set(user(said('q9')), assistant(said('a1', 'better')));
    await engine.save();
    expect(await branches()).toEqual({
      main: 'q1 > a1 > q2 > a2',
      'main-v2': 'q1 > a1 > q9',
      'main-v3': 'q1 > better',
    });
    expect([engine.branch, shown(engine)]).toEqual(['main-v3', 'q1 > better']);
  });
});

test('a message of another role is never put in the place of one: it stands beside it', async () => {
  const { engine, branches } = await chat(['q1', 'a1']);
  engine.set(user({ ...said('a1', 'a question after all'), role: 'user' }));
  await engine.save({ branch: false });
  expect(await branches()).toEqual({ main: 'q1 > a1', 'main-v2': 'q1 > a question after all' });
  expect(engine.node(engine.headMessageId ?? '')).toMatchObject({ name: 'user' });
});

describe('an answer', () => {
  test('that ends without a word is seen nowhere, also when something was said behind it', async () => {
    const { engine, disk, branches } = await chat(['q1']);
    const id = await engine.ask(said('q2'), { id: 'a2' });
    await say(engine, 'q3');
    await engine.updateMessage(id, { id, role: 'assistant', parts: [] }, 'interrupted');
    expect([shown(engine), engine.status('a2')]).toEqual(['q1 > q2 > q3', undefined]);
    expect(await disk.getMessage('c', 'a2')).toBeUndefined();
    expect(await branches()).toEqual({ main: 'q1 > q2 > q3' });
  });

  test('keeps the words of its drafts when it ends with none', async () => {
    const { engine, branches } = await chat();
    const id = await engine.ask(said('q1'), { id: 'a1' });
    await engine.updateMessage(id, said('a1', 'half'), 'streaming');
    await engine.updateMessage(id, { id, role: 'assistant', parts: [] }, 'interrupted');
    expect([shown(engine), engine.status('a1')]).toEqual(['q1 > half', 'interrupted']);
    expect(await branches()).toEqual({ main: 'q1 > half' });
  });

  test('lets go of its lock when it could not be opened again', async () => {
    const { engine, disk } = await chat(['q1', 'a1']);
    await disk.deleteChat('c');
    await expect(engine.updateMessage('a1', said('a1'), 'streaming')).rejects.toMatchObject({
      code: 'message-not-found',
    });
    expect(await disk.held('c')).toEqual(new Set());
  });

  test('that a tab without locks took for dead is put back with its words', async () => {
    const { engine: writer, store, branches } = await chat();
    const tab = engineOn(changed(store, { hold: () => Promise.reject(new Error('no locks here')) }));
    const id = await tab.ask(said('q1'), { id: 'a1' });
    await say(writer, 'q1');
    await quiet(tab, writer);
    expect(await store.getMessage('c', 'a1')).toBeUndefined();
    await tab.updateMessage(id, said('a1', 'words'), 'streaming');
    await tab.updateMessage(id, said('a1', 'words after all'), 'complete');
    await quiet(tab, writer);
    expect(await branches()).toEqual({ main: 'q1 > words after all' });
    expect([shown(tab), shown(writer)]).toEqual(['q1 > words after all', 'q1 > words after all']);
  });

  test('that is whole is not cut short later, nor one that was cut short made whole without being continued', async () => {
    const { engine } = await chat();
    await turn(engine, 'q1', 'a1');
    await expect(engine.updateMessage('a1', said('a1'), 'interrupted')).rejects.toMatchObject({
      code: 'invalid-options',
    });
    const id = await engine.ask(said('q2'), { id: 'a2' });
    await engine.updateMessage(id, said('a2', 'half'), 'interrupted');
    await expect(engine.updateMessage('a2', said('a2'), 'complete')).rejects.toMatchObject({
      code: 'invalid-options',
    });
    expect([engine.status('a1'), engine.status('a2')]).toEqual(['complete', 'interrupted']);
  });

  test('goes on being drafted after one of its steps was saved', async () => {
    vi.useFakeTimers();
    try {
      const { engine } = await chat();
      const id = await engine.ask(said('q1'), { id: 'a1' });
      await engine.updateMessage(id, said('a1', 'one'), 'streaming');
      await engine.updateMessage(id, said('a1', 'one two'), 'streaming');
      await engine.updateMessage(id, said('a1', 'one two.'));
      await engine.updateMessage(id, said('a1', 'one two. three'), 'streaming');
      await vi.advanceTimersByTimeAsync(600);
      expect(shown(engine)).toBe('q1 > one two. three');
    } finally {
      vi.useRealTimers();
    }
  });

  test('on a hidden branch tells the pager of its siblings when its first word comes', async () => {
    const { engine } = await chat(['q1', 'a1']);
    const id = await engine.ask(said('q1'), { id: 'a2' });
    await engine.switchBranch('main');
    expect(engine.siblings('a1').ids).toEqual(['a1']);
    const { revision } = engine.state.getState();
    await engine.updateMessage(id, said('a2', 'now'), 'streaming');
    expect(engine.siblings('a1').ids).toEqual(['a1', 'a2']);
    expect(engine.state.getState().revision).toBeGreaterThan(revision);
  });
});

describe('checkpoints of one millisecond', () => {
  test('stand newest first, also when one of them is renamed or moved, and after a reload', async () => {
    const now = vi.spyOn(Date, 'now').mockReturnValue(1);
    const { engine, disk } = await chat(['q1', 'a1']);
    const names = ({ state }: ContextEngine) => state.getState().checkpoints.map(({ name }) => name);
    for (const name of ['one', 'two', 'three']) await engine.checkpoint(name);
    expect(names(engine)).toEqual(['three', 'two', 'one']);
    await engine.renameCheckpoint('one', 'first');
    expect(names(engine)).toEqual(['three', 'two', 'first']);
    await engine.checkpoint('two', { at: 'q1' });
    expect(names(engine)).toEqual(['two', 'three', 'first']);
    const fresh = engineOn(disk);
    await fresh.ready();
    expect(names(fresh)).toEqual(['two', 'three', 'first']);
    expect(fresh.graph().checkpoints).toEqual(engine.graph().checkpoints);
    expect((await disk.listCheckpoints('c')).map(({ name }) => name)).toEqual(['two', 'three', 'first']);
    now.mockRestore();
  });
});

describe('when the disk says no', () => {
  test('a call that is refused for reasons of its own leaves the save state alone', async () => {
    const { engine } = await chat(['q1']);
    await engine.btw();
    await expect(engine.renameBranch('main', 'main-v2')).rejects.toMatchObject({ code: 'name-taken' });
    expect(engine.state.getState().saveState).toEqual({ state: 'saved', pending: 0 });
  });

  test('a disposed engine still tries to save its words', async () => {
    vi.useFakeTimers();
    try {
      const { engine, refuse, branches } = await chat(['q1', 'a1']);
      refuse('quota-exceeded');
      const id = await engine.ask(said('q2'), { id: 'a2' });
      engine.dispose();
      await engine.updateMessage(id, said('a2'), 'complete');
      refuse(undefined);
      await vi.advanceTimersByTimeAsync(60_000);
      expect(await branches()).toEqual({ main: 'q1 > a1 > q2 > a2' });
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('another tab', () => {
  test('that deletes the branch shown here leaves the one used before it', async () => {
    const { engine, store } = await chat(['q1', 'a1']);
    const other = engineOn(store);
    await other.ready();
    await other.rewind('q1');
    await engine.deleteBranch('main-v2');
    await quiet(other);
    expect([other.branch, shown(other)]).toEqual(['main', 'q1 > a1']);
  });

  test('that deletes it while a turn waits here: the turn keeps what it hangs on, and brings it back', async () => {
    const { engine, store } = await chat(['q1', 'a1']);
    const other = engineOn(store);
    await other.ready();
    await other.rewind('q1');
    other.set(user(said('q7')));
    await engine.deleteBranch('main-v2');
    await quiet(other);
    expect(texts((await other.resolve()).messages)).toBe('q1 > q7');
    await other.save();
    expect(await branchesIn(store)).toEqual({ main: 'q1 > a1', 'main-v2': 'q1 > q7' });
    expect(shown(other)).toBe('q1 > q7');
  });

  test('is followed again as soon as nothing waits here any more', async () => {
    const { engine, store } = await chat(['q1', 'a1']);
    const other = engineOn(store);
    await other.ready();
    other.set(user(said('q7')));
    await say(engine, 'q2');
    await quiet(other);
    expect(shown(other)).toBe('q1 > a1');
    other.unset('q7');
    await quiet(other);
    expect(shown(other)).toBe('q1 > a1 > q2');
  });

  test('does not get between a turn that waits here and its context, whatever else is written', async () => {
    const { engine, store } = await chat(['q1', 'a1']);
    const other = engineOn(store);
    await other.ready();
    other.set(user(said('q7')));
    await say(engine, 'q2');
    await other.checkpoint('here');
    expect(other.state.getState().checkpoints).toMatchObject([{ messageId: 'a1' }]);
    await other.save();
    expect(await branchesIn(store)).toEqual({ main: 'q1 > a1 > q2', 'main-v2': 'q1 > a1 > q7' });
  });

  test('that clears everything ends the chats that were there, and none that was not begun', async () => {
    const { engine, store } = await chat(['q1', 'a1']);
    const unsent = engineOn(store, { chatId: 'd' });
    await unsent.ready();
    await store.clear();
    await quiet(engine, unsent);
    expect(engine.state.getState()).toMatchObject({ status: 'error', error: { code: 'chat-deleted' } });
    expect(unsent.state.getState().status).toBe('ready');
    await say(unsent, 'q1');
    expect((await store.listChats()).map(({ id }) => id)).toEqual(['d']);
  });

  test('that clears everything is not undone by a page that did not hear of it, and no word is lost to it', async () => {
    const { disk } = await chat(['q1', 'a1']);
    const late = engineOn(changed(disk, { subscribe: () => () => {} }));
    await late.ready();
    await disk.clear();
    late.set(user(said('q2')));
    await expect(late.save()).rejects.toMatchObject({ code: 'chat-deleted' });
    await expect
      .poll(() => late.state.getState())
      .toMatchObject({ status: 'error', error: { code: 'chat-deleted' } });
    expect([shown(late), late.state.getState().pending.length]).toEqual(['', 1]);
    expect(await disk.listChats()).toEqual([]);
    await late.save();
    expect(late.state.getState()).toMatchObject({ status: 'ready', error: null });
    expect(await branchesIn(disk)).toEqual({ main: 'q2' });
  });

  test('that clears everything stays known when the result of an earlier commit comes late', async () => {
    const disk = new InMemoryContextStore();
    const engine = engineOn(disk);
    await say(engine, 'q1');
    const commit = vi.spyOn(disk, 'commit').mockImplementationOnce(async (...asked) => {
      const records = await disk.commit(...asked);
      await disk.clear();
      await vi.waitFor(() => expect(shown(engine)).toBe(''));
      return records;
    });
    await say(engine, 'q2');
    await say(engine, 'anew');
    expect(await branchesIn(disk)).toEqual({ main: 'anew' });
    expect(commit.mock.calls.at(-1)?.[2]).toMatchObject({ generation: 1 });
    expect(commit).toHaveBeenCalledTimes(3);
  });

  test('that gives notice of clearing, and has not cleared this store, ends no chat here', async () => {
    const disk = new InMemoryContextStore();
    const subscribe = vi.spyOn(disk, 'subscribe');
    const engine = engineOn(disk);
    await say(engine, 'q1', 'a1');
    for (const [hear] of subscribe.mock.calls) hear({ kind: 'clear', seq: 1, remote: true });
    await quiet(engine);
    expect(engine.state.getState()).toMatchObject({ status: 'ready', error: null });
    await say(engine, 'q2');
    expect(await branchesIn(disk)).toEqual({ main: 'q1 > a1 > q2' });
  });

  test('that deletes the chat ends the answers here, and their locks are free', async () => {
    const { engine, disk, refuse } = await chat(['q1']);
    await engine.ask(said('q2'), { id: 'a2' });
    refuse('quota-exceeded');
    await engine.updateMessage('a2', said('a2', 'the end of it'), 'complete');
    await engine.ask(said('q3'), { id: 'a3' });
    expect((await disk.held('c')).size).toBe(1);
    await disk.deleteChat('c');
    await quiet(engine);
    expect(engine.state.getState()).toMatchObject({ status: 'error', error: { code: 'chat-deleted' } });
    expect(await disk.held('c')).toEqual(new Set());
  });

  test('that deletes the chat while a turn is planned refuses that turn: none hangs on what is gone', async () => {
    const { engine, disk } = await chat(['q1', 'a1']);
    vi.spyOn(disk, 'hold').mockImplementationOnce(async () => {
      await disk.deleteChat('c');
      await vi.waitFor(() => expect(shown(engine)).toBe(''));
      return () => {};
    });
    await expect(engine.ask(said('q2'))).rejects.toMatchObject({ code: 'chat-deleted' });
    await engine.ask(said('q2'));
    expect([await branchesIn(disk), await engine.verify()]).toEqual([{ main: 'q2 > ' }, []]);
  });

  test('that deletes the chat refuses the words under way, and those that wait behind them', async () => {
    const { engine, disk } = await chat(['q1', 'a1']);
    let waiting: Promise<unknown> | undefined;
    vi.spyOn(disk, 'commit').mockImplementationOnce(async (...asked) => {
      waiting = engine.updateMessage('q2', said('q2', 'more'));
      waiting.catch(() => {});
      await vi.waitFor(() => expect(shown(engine)).toBe('q1 > a1 > more'));
      await disk.deleteChat('c');
      return disk.commit(...asked);
    });
    engine.set(user(said('q2')));
    await expect(engine.save()).rejects.toMatchObject({ code: 'chat-deleted' });
    await expect(waiting).rejects.toMatchObject({ code: 'chat-deleted' });
    await engine.save();
    expect(await branchesIn(disk)).toEqual({ main: 'q2' });
  });

  test('that deletes the chat and begins it anew takes words along that the disk refused, and the failure too', async () => {
    const { engine, disk, refuse } = await chat(['q1']);
    refuse('quota-exceeded');
    await engine.ask(said('q2'), { id: 'a2' });
    expect(engine.state.getState().saveState.state).toBe('error');
    // This page hears of both at once.
    vi.spyOn(disk, 'load').mockImplementationOnce(async (...asked) => {
      await say(engineOn(disk), 'anew');
      return disk.load(...asked);
    });
    await disk.deleteChat('c');
    await vi.waitFor(() => expect(shown(engine)).toBe('anew'));
    expect(engine.state.getState().saveState).toEqual({ state: 'saved', pending: 0 });
  });
});

describe('those who listen', () => {
  test('do not keep a save from happening when one of them throws', async () => {
    const { engine, branches } = await chat(['q1']);
    const later = vi.spyOn(globalThis, 'queueMicrotask').mockImplementation(() => {});
    engine.subscribe(() => {
      throw new Error('a listener of the app');
    });
    const heard: string[] = [];
    engine.subscribe(({ type }) => heard.push(type));
    await say(engine, 'a1');
    expect(await branches()).toEqual({ main: 'q1 > a1' });
    expect(heard).toContain('save');
    expect(later.mock.calls[0]?.[0]).toThrow('a listener of the app');
    later.mockRestore();
  });
});

describe('attach()', () => {
  const chatNamed = () => ({ edit: async () => {}, regenerate: async () => {} });

  test('the chat attached last serves; detaching gives way to the one before it', () => {
    const engine = engineOn();
    const [a, b] = [chatNamed(), chatNamed()];
    const [detachA, detachB] = [engine.attach(a), engine.attach(b)];
    expect(engine.attached).toBe(b);
    detachA();
    expect(engine.attached).toBe(b);
    detachB();
    expect(engine.attached).toBeUndefined();
  });

  test('a chat attached twice stays until both are detached, and detaching twice is once', () => {
    const engine = engineOn();
    const a = chatNamed();
    const first = engine.attach(a);
    const second = engine.attach(a);
    first();
    first();
    expect(engine.attached).toBe(a);
    second();
    expect(engine.attached).toBeUndefined();
  });
});
