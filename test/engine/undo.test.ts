import { describe, expect, test, vi } from 'vitest';
import type { ContextEngine } from '../../src/engine/engine.ts';
import type { Operation } from '../../src/engine/history.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import { chat, branchesIn, engineOn, said, say, texts } from '../support/engine.ts';
import { refusing } from '../support/refusal.ts';

/** What a person sees of branches and checkpoints, and where they are. */
function seen({ state }: ContextEngine) {
  const { branch, messages, branches, checkpoints } = state.getState();
  return {
    shown: `${branch}: ${texts(messages)}`,
    branches: branches.map(({ name, headKey }) => [name, headKey]),
    checkpoints: checkpoints.map(({ id, name, messageId }) => [id, name, messageId]),
  };
}

const states = (engine: ContextEngine) => engine.operations().map(({ kind, state }) => `${kind} ${state}`);

describe('each operation is taken back, and done again', () => {
  const operations: readonly [
    kind: Operation['kind'],
    label: string,
    run: (engine: ContextEngine) => unknown,
  ][] = [
    ['rewind', 'main-v3', (engine) => engine.rewind('q1')],
    ['rewind', 'main-v3', (engine) => engine.rewind('a2')],
    ['restore', 'here', (engine) => engine.restore('here')],
    ['btw', 'main-v3', (engine) => engine.btw()],
    ['add', 'main', (engine) => engine.add([said('q3'), said('a3')], { parentId: 'a2', branch: 'main' })],
    ['add', 'main-v3', (engine) => engine.add([said('q3')], { parentId: 'a1' })],
    ['rename-branch', 'main → ideas', (engine) => engine.renameBranch('main', 'ideas')],
    ['delete-branch', 'main', (engine) => engine.deleteBranch('main')],
    ['delete-branch', 'main-v2', (engine) => engine.deleteBranch('main-v2')],
    ['checkpoint', 'new', (engine) => engine.checkpoint('new')],
    ['checkpoint', 'here', (engine) => engine.checkpoint('here')],
    ['rename-checkpoint', 'here → there', (engine) => engine.renameCheckpoint('here', 'there')],
    ['delete-checkpoint', 'here', (engine) => engine.deleteCheckpoint('here')],
  ];

  /** `main` is shown, `main-v2` has words of its own, and a checkpoint stands at the first answer. */
  async function told() {
    const { store, engine } = await chat('q1', 'a1', 'q2', 'a2');
    await engine.edit('q2', 'another question');
    await engine.switchBranch('main');
    await engine.checkpoint('here', { at: 'a1' });
    await engine.switchBranch('main');
    return { store, engine };
  }

  test.each(operations)('%s of %s', async (kind, label, run) => {
    const { store, engine } = await told();
    const before = seen(engine);
    await run(engine);
    const after = seen(engine);
    expect(after).not.toEqual(before);
    expect(engine.operations().at(-1)).toMatchObject({ kind, label, state: 'undoable' });
    for (const _ of ['once', 'twice']) {
      expect(await engine.undo()).toMatchObject({ kind, label, state: 'undone' });
      expect(seen(engine)).toEqual(before);
      expect(await engine.redo()).toMatchObject({ kind, label, state: 'undoable' });
      expect(seen(engine)).toEqual(after);
    }
    await engine.undo();
    const reopened = engineOn(store);
    await reopened.ready();
    expect(seen(reopened)).toEqual(before);
  });

  test('after a reload, too, in the order in which they were done', async () => {
    const { store, engine } = await told();
    const before = seen(engine);
    await engine.renameBranch('main-v2', 'ideas');
    await engine.deleteCheckpoint('here');
    await engine.rewind('q1');
    const after = seen(engine);
    const reopened = engineOn(store);
    expect(reopened.operations()).toEqual([]);
    await reopened.ready();
    expect(reopened.operations()).toEqual(engine.operations());
    for (const kind of ['rewind', 'delete-checkpoint', 'rename-branch'])
      expect(await reopened.undo()).toMatchObject({ kind });
    expect(seen(reopened)).toEqual(before);
    const again = engineOn(store);
    for (const kind of ['rename-branch', 'delete-checkpoint', 'rewind'])
      expect(await again.redo()).toMatchObject({ kind });
    expect(seen(again)).toEqual(after);
    expect(await again.redo()).toBeUndefined();
  });
});

describe('undo hides no words', () => {
  test('a branch that was made and has grown is only switched away from, and come back to', async () => {
    const { engine, branches } = await chat('q1', 'a1');
    await engine.rewind('q1');
    await say(engine, 'a2');
    await engine.undo();
    expect(seen(engine).shown).toBe('main: q1 > a1');
    expect(await branches()).toEqual({ main: 'q1 > a1', 'main-v2': 'q1 > a2' });
    await engine.redo();
    expect(seen(engine).shown).toBe('main-v2: q1 > a2');
    expect(await branches()).toEqual({ main: 'q1 > a1', 'main-v2': 'q1 > a2' });
  });

  test('also where an answer only begins to grow on it', async () => {
    const { engine, branches } = await chat('q1', 'a1');
    await engine.rewind('a1');
    const id = await engine.ask(said('q2'), { id: 'a2' });
    await engine.updateMessage(id, said('a2', 'half'), 'streaming');
    await engine.undo();
    await engine.updateMessage(id, said('a2', 'whole'), 'complete');
    expect(await branches()).toEqual({ main: 'q1 > a1', 'main-v2': 'q1 > a1 > q2 > whole' });
    expect(seen(engine).shown).toBe('main: q1 > a1');
  });

  test('a deletion that is taken back shows the branch again, also where another one ends at the same message', async () => {
    const { engine, branches } = await chat('q1', 'a1');
    await engine.btw();
    const { branchId } = engine.state.getState();
    await engine.deleteBranch('main');
    expect(seen(engine).shown).toBe('main-v2: q1 > a1');
    await engine.undo();
    expect([engine.state.getState().branchId, engine.branch]).toEqual([branchId, 'main']);
    expect(await branches()).toEqual({ main: 'q1 > a1', 'main-v2': 'q1 > a1' });
  });
});

describe('messages that were added to a branch', () => {
  test('are taken back from the side question that they came from, and the branch keeps its place', async () => {
    const { engine, branches } = await chat('q1', 'a1');
    const side = await engine.btw();
    await engine.switchBranch(side.id);
    await say(engine, 'q2', 'a2');
    const before = engine.state
      .getState()
      .branches.map(({ label, forkedFrom }) => [label, forkedFrom === undefined]);
    await engine.add([said('q3'), said('a3')], { parentId: 'a1', branch: 'main' });
    await engine.switchBranch('main');
    await engine.undo();
    expect(seen(engine).shown).toBe('main-v2: q1 > a1 > q2 > a2');
    expect(await branches()).toEqual({ main: 'q1 > a1', 'main-v2': 'q1 > a1 > q2 > a2' });
    const { branches: now } = engine.state.getState();
    expect(now.map(({ label, forkedFrom }) => [label, forkedFrom === undefined])).toEqual(before);
    await engine.redo();
    expect(seen(engine).shown).toBe('main: q1 > a1 > q3 > a3');
    expect(await branches()).toEqual({ main: 'q1 > a1 > q3 > a3', 'main-v2': 'q1 > a1 > q2 > a2' });
  });

  test('stay where the conversation went on behind them', async () => {
    const { engine, branches } = await chat('q1', 'a1');
    await engine.add([said('q2')], { parentId: 'a1', branch: 'main' });
    await say(engine, 'a2');
    await engine.undo();
    expect(await branches()).toEqual({ main: 'q1 > a1 > q2 > a2' });
  });
});

describe('the log', () => {
  test('is empty for a new chat, in which nothing is to be undone', async () => {
    const engine = engineOn();
    expect([await engine.undo(), await engine.redo(), engine.operations()]).toEqual([
      undefined,
      undefined,
      [],
    ]);
  });

  test('has no entry for turns, edits, and for looking at something else', async () => {
    const { engine } = await chat('q1', 'a1');
    await engine.updateMessage(await engine.ask(said('q2'), { id: 'a2' }), said('a2'), 'complete');
    await engine.edit('q2', 'other words');
    await engine.switchBranch('main');
    await engine.checkout('q1');
    await engine.updateChat({ title: 'Trees' });
    expect(engine.operations()).toEqual([]);
  });

  test('tells ids, times, names and what was shown, and never content', async () => {
    const { engine } = await chat('q1', 'a1=a secret');
    const key = engine.state.getState().headKey;
    const { headKey } = await engine.rewind('q1');
    const [operation] = engine.operations();
    expect(operation).toEqual({
      id: expect.any(String),
      at: expect.any(Number),
      by: expect.any(String),
      kind: 'rewind',
      label: 'main-v2',
      shown: [key, headKey],
      state: 'undoable',
    });
    expect(JSON.stringify(engine.operations())).not.toContain('secret');
  });

  test('drops what was undone when something else is done', async () => {
    const { engine } = await chat('q1', 'a1');
    await engine.checkpoint('one');
    await engine.checkpoint('two');
    await engine.undo();
    expect(states(engine)).toEqual(['checkpoint undoable', 'checkpoint undone']);
    await engine.checkpoint('three');
    expect(engine.operations().map(({ label }) => label)).toEqual(['one', 'three']);
    expect(await engine.redo()).toBeUndefined();
  });

  test('is written in the transaction of the operation, and a turn writes none of it', async () => {
    const { store, engine } = await chat('q1', 'a1');
    const commits = vi.spyOn(store, 'commit');
    await engine.checkpoint('here');
    expect(commits).toHaveBeenCalledOnce();
    const [, delta] = commits.mock.calls[0]!;
    expect(Object.keys(delta.local ?? {})).toEqual([`operation ${engine.operations()[0]?.id}`]);
    commits.mockClear();
    await engine.updateMessage(await engine.ask(said('q2'), { id: 'a2' }), said('a2'), 'complete');
    for (const [, written] of commits.mock.calls) expect(written.local ?? {}).toEqual({});
  });

  test('keeps the last thousand of a chat', async () => {
    const { store, engine } = await chat('q1', 'a1');
    const done: Promise<unknown>[] = [];
    for (let i = 0; i <= 1000; i += 1) done.push(engine.checkpoint('here', { at: i % 2 ? 'q1' : 'a1' }));
    await Promise.all(done);
    expect(engine.operations()).toHaveLength(1000);
    const reopened = engineOn(store);
    await reopened.ready();
    expect(reopened.operations()).toEqual(engine.operations());
  });

  test('is that of this device: another database of the chat has its own', async () => {
    const { store, engine } = await chat('q1', 'a1');
    await engine.checkpoint('here');
    await store.deleteChat('c');
    const fresh = engineOn(store);
    await say(fresh, 'q2');
    expect(fresh.operations()).toEqual([]);
  });
});

describe('another tab', () => {
  test('that came after has overtaken an operation: it is refused, and nothing changes', async () => {
    const { store, engine } = await chat('q1', 'a1');
    const other = engineOn(store);
    await engine.renameBranch('main', 'mine');
    await other.renameBranch('mine', 'theirs');
    await expect.poll(() => engine.branch).toBe('theirs');
    expect(states(engine)).toEqual(['rename-branch overtaken']);
    await expect(engine.undo()).rejects.toMatchObject({
      code: 'overtaken',
      details: { kind: 'rename-branch' },
    });
    expect(engine.branch).toBe('theirs');
  });

  test('that came after what was undone has overtaken its redo', async () => {
    const { store, engine } = await chat('q1', 'a1');
    const other = engineOn(store);
    await engine.checkpoint('here', { at: 'q1' });
    await engine.checkpoint('here');
    await engine.undo();
    await other.ready();
    await other.renameCheckpoint('here', 'there');
    await expect.poll(() => seen(engine).checkpoints[0]?.[1]).toBe('there');
    await expect(engine.redo()).rejects.toMatchObject({ code: 'overtaken' });
    expect(seen(engine).checkpoints).toMatchObject([[expect.any(String), 'there', 'q1']]);
  });

  test('that did something else is no reason to refuse', async () => {
    const { store, engine } = await chat('q1', 'a1');
    const other = engineOn(store);
    await engine.renameBranch('main', 'mine');
    await other.checkpoint('theirs');
    await say(other, 'q2');
    await engine.undo();
    expect(await branchesIn(store)).toEqual({ main: 'q1 > a1 > q2' });
    expect(seen(other).checkpoints).toHaveLength(1);
  });
});

test('on a full disk, undo is seen at once, and stored when there is room', async () => {
  const disk = new InMemoryContextStore();
  const { store, refuse } = refusing(disk);
  const engine = engineOn(store);
  await say(engine, 'q1', 'a1');
  await engine.renameBranch('main', 'ideas');
  refuse('quota-exceeded');
  await engine.undo();
  expect([engine.branch, engine.state.getState().saveState.state]).toEqual(['main', 'error']);
  expect(await branchesIn(disk)).toEqual({ ideas: 'q1 > a1' });
  refuse(undefined);
  await engine.retry();
  const reopened = engineOn(disk);
  await reopened.ready();
  expect([reopened.branch, states(reopened)]).toEqual(['main', ['rename-branch undone']]);
});
