import { describe, expect, test } from 'vitest';
import type { ContextEngine } from '../../src/engine/engine.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import { engineOn, said, say } from '../support/engine.ts';

/** A graph as a person would tell it: the messages, where branches end (the shown one starred), and the checkpoints. */
async function told(engine: ContextEngine, at?: number) {
  const graph = at === undefined ? engine.graph() : await engine.graph({ at });
  return {
    messages: graph.nodes.map(({ content }) => content).join(' '),
    branches: graph.branches.map(
      ({ name, headMessageId, isActive }) => `${name}:${headMessageId}${isActive ? '*' : ''}`,
    ),
    checkpoints: graph.checkpoints.map(({ name, messageId }) => `${name}:${messageId}`),
  };
}

/** The moment of what was done last: of a message, or of an operation. */
function now(engine: ContextEngine): number {
  return Math.max(...engine.graph().nodes.map(({ at }) => at), ...engine.operations().map(({ at }) => at));
}

/** Does one thing after another; compares what was seen after each with what is told of that moment later, here or elsewhere. */
async function steps(engine: ContextEngine, ...does: (() => unknown)[]) {
  const seen: { at: number; graph: unknown }[] = [];
  for (const act of does) {
    await act();
    seen.push({ at: now(engine), graph: await told(engine) });
  }
  return async (by = engine) => {
    for (const { at, graph } of seen) expect(await told(by, at)).toEqual(graph);
  };
}

describe('the graph as it was', () => {
  test('has the messages, branches and checkpoints of each moment', async () => {
    const engine = engineOn();
    const check = await steps(
      engine,
      () => say(engine, 'q1', 'a1'),
      () => say(engine, 'q2', 'a2'),
      () => engine.checkpoint('here', { at: 'a1' }),
      () => engine.edit('q2', 'other'),
      () => say(engine, 'a3'),
      () => engine.renameBranch('main', 'first try'),
      () => engine.checkpoint('here'),
      () => engine.renameCheckpoint('here', 'there'),
      () => engine.restore('there'),
      () => say(engine, 'q4'),
      () => engine.rewind('q1'),
      () => engine.btw(),
      () => engine.deleteBranch('first try'),
      () => engine.deleteCheckpoint('there'),
    );
    await check();
    expect(await engine.graph({ at: Number.MAX_SAFE_INTEGER })).toMatchObject({
      ...engine.graph(),
      isPartial: false,
    });
  });

  test('is the same after a reload', async () => {
    const store = new InMemoryContextStore();
    const engine = engineOn(store);
    await say(engine, 'q1', 'a1');
    await engine.renameBranch('main', 'ideas');
    const at = now(engine);
    await engine.checkpoint('here');
    const again = engineOn(store);
    expect(await told(again, at - 1)).toMatchObject({ branches: ['main:a1*'], checkpoints: [] });
    expect(await told(again, at)).toMatchObject({ branches: ['ideas:a1*'], checkpoints: [] });
  });

  test('knows what was done and undone later, and what was undone before', async () => {
    const engine = engineOn();
    await say(engine, 'q1', 'a1');
    await engine.renameBranch('main', 'ideas');
    const renamed = now(engine);
    await engine.undo();
    await say(engine, 'q2');
    expect(await told(engine, renamed)).toMatchObject({ branches: ['ideas:a1*'] });
    expect(await told(engine, now(engine))).toMatchObject({ branches: ['main:q2*'] });
  });

  test('stars the branch that was shown after the last of several undos', async () => {
    const engine = engineOn();
    const check = await steps(
      engine,
      () => say(engine, 'q1', 'a1', 'q2', 'a2'),
      () => engine.rewind('a1'),
      () => say(engine, 'q3'),
      () => engine.rewind('q1'),
    );
    for (const turn of ['undo', 'undo', 'redo'] as const) {
      await engine[turn]();
      await check();
      expect(await told(engine, Number.MAX_SAFE_INTEGER)).toEqual(await told(engine));
    }
  });

  test('knows each name of a branch whose names were undone one after another', async () => {
    const engine = engineOn();
    const check = await steps(
      engine,
      () => say(engine, 'q1', 'a1'),
      () => engine.renameBranch('main', 'ideas'),
      () => engine.renameBranch('ideas', 'plans'),
    );
    for (const turn of ['undo', 'undo', 'redo', 'redo'] as const) {
      await engine[turn]();
      await check();
    }
    expect(await told(engine)).toMatchObject({ branches: ['plans:a1*'] });
  });

  test('keeps a branch that had grown when it was undone', async () => {
    const engine = engineOn();
    await say(engine, 'q1', 'a1', 'q2', 'a2');
    await engine.rewind('a1');
    const rewound = now(engine);
    await say(engine, 'q3');
    await engine.undo();
    expect(await told(engine, rewound)).toMatchObject({ branches: ['main:a2', 'main-v2:a1*'] });
    expect(await told(engine, now(engine))).toMatchObject({ branches: ['main:a2', 'main-v2:q3*'] });
  });

  test('shows a branch once, however often it was longer and was short again later', async () => {
    const store = new InMemoryContextStore();
    const engine = engineOn(store);
    const add = (id: string, parentId: string) => engine.add([said(id)], { parentId, branch: 'aside' });
    const check = await steps(
      engine,
      () => say(engine, 'q1', 'a1'),
      () => engine.rewind('a1'),
      () => engine.renameBranch('main-v2', 'aside'),
      () => add('q2', 'a1'),
      () => add('q3', 'q2'),
    );
    await check();
    await engine.undo();
    await check();
    await engine.redo();
    await check();
    await engine.undo();
    await say(engine, 'q4');
    await check();
    await check(engineOn(store));
    expect(await told(engine, now(engine))).toMatchObject({ branches: ['main:a1', 'aside:q4*'] });
  });

  test('says that it is partial where somebody else changed a name or a checkpoint', async () => {
    const store = new InMemoryContextStore();
    const engine = engineOn(store);
    await say(engine, 'q1', 'a1');
    const before = now(engine);
    expect(await engine.graph({ at: before })).toMatchObject({ isPartial: false });
    const other = engineOn(store);
    await other.checkpoint('theirs');
    await say(engine, 'q2');
    expect(await engine.graph({ at: before })).toMatchObject({ isPartial: true, checkpoints: [] });
    expect(await told(engine, now(engine))).toMatchObject({ checkpoints: ['theirs:a1'] });
  });

  test('is not partial where messages that were added to a renamed branch were taken back', async () => {
    const engine = engineOn();
    await say(engine, 'q1', 'a1');
    await engine.rewind('a1');
    await engine.renameBranch('main-v2', 'aside');
    const renamed = now(engine);
    await engine.add([said('q2')], { parentId: 'a1', branch: 'aside' });
    await engine.undo();
    expect(await told(engine)).toMatchObject({ branches: ['main:a1', 'aside:a1*'] });
    expect(await engine.graph({ at: renamed })).toMatchObject({ isPartial: false });
    await engine.redo();
    expect(await told(engine)).toMatchObject({ branches: ['main:a1', 'aside:q2*'] });
    expect(await engine.graph({ at: renamed })).toMatchObject({ isPartial: false });
    await engine.undo();
    await engine.checkpoint('here');
    expect(await told(engine, renamed)).toMatchObject({ branches: ['main:a1', 'aside:a1*'] });
  });

  test('is empty before the first message, and in a chat that nothing was said in', async () => {
    const engine = engineOn();
    expect(await engine.graph({ at: Date.now() })).toMatchObject({ nodes: [], branches: [] });
    await say(engine, 'q1');
    expect(await engine.graph({ at: 0 })).toEqual({
      chatId: 'c',
      nodes: [],
      branches: [],
      checkpoints: [],
      at: 0,
      isPartial: false,
    });
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY, 'today' as unknown as number])(
    'refuses %s',
    async (at) => {
      await expect(engineOn().graph({ at })).rejects.toMatchObject({ code: 'invalid-options' });
    },
  );
});
