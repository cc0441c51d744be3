import { describe, expect, test, vi } from 'vitest';
import type { ContextEvent } from '../../src/engine/state.ts';
import { assistant } from '../../src/fragment/message.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import { chat, branchesIn, engineOn, said, say, texts } from '../support/engine.ts';

describe('ask()', () => {
  test('saves the question and reserves an answer that shows nowhere yet', async () => {
    const { store, engine, shown } = await chat();
    const id = await engine.ask(said('q1'));
    expect(engine.headMessageId).toBe(id);
    expect(shown()).toBe('q1');
    expect(engine.siblings(id)).toMatchObject({ index: -1, ids: [] });
    expect(texts((await engine.resolve()).messages)).toBe('q1');
    expect(await store.getMessage('c', id)).toMatchObject({
      status: 'streaming',
      parentId: 'q1',
      data: { parts: [] },
    });
  });

  test('an answer grows, and is whole at the end', async () => {
    const { store, engine, shown } = await chat();
    const id = await engine.ask(said('q1'), { id: 'a1' });
    await engine.updateMessage(id, said(id, 'one'), 'streaming');
    expect([shown(), engine.status(id)]).toEqual(['q1 > one', 'streaming']);
    await engine.updateMessage(id, said(id, 'one two three'), 'complete');
    expect([shown(), engine.status(id)]).toEqual(['q1 > one two three', 'complete']);
    expect(await store.getMessage('c', id)).toMatchObject({
      status: 'complete',
      data: said(id, 'one two three'),
    });
  });

  test('is counted from its first word on, and no word costs a walk through the chat', async () => {
    const { store, engine } = await chat(...Array.from({ length: 60 }, (_, i) => `${i % 2 ? 'a' : 'q'}${i}`));
    const other = engineOn(store);
    await other.ready();
    const id = await engine.ask(said('q'), { id: 'a' });
    const counts = (): unknown[] => [engine, other].map((one) => one.chat?.messageCount);
    await vi.waitFor(() => expect(counts()).toEqual([61, 61]));
    const walks = walksThrough(60);
    await engine.updateMessage(id, said('a', 'one'), 'streaming');
    await engine.updateMessage(id, said('a', 'one two'), 'streaming');
    expect(walks.ended()).toBe(0);
    await vi.waitFor(() => expect(counts()).toEqual([62, 62]));
    await engine.updateMessage(id, said('a', 'one two three'), 'complete');
    await vi.waitFor(() => expect(counts()).toEqual([62, 62]));
  });

  test('an answer that grows again for one chat of the page does not begin to for another one', async () => {
    const { engine } = await chat('q1', 'a1');
    const grow = (): Promise<void> => engine.updateMessage('a1', (saved) => saved, 'streaming');
    await grow();
    await expect(grow()).rejects.toMatchObject({ code: 'busy' });
  });

  test('an answer that its server named is shown under that name wherever it is told', async () => {
    const { engine } = await chat();
    await engine.ask(said('q1'), { id: 'a1', key: 'key:a1' });
    await engine.updateMessage('key:a1', said('a-server'), 'complete');
    await engine.checkpoint('here');
    const { branches, checkpoints } = engine.graph();
    await say(engine, 'q2');
    await engine.edit('q2', 'other words');
    expect(branches[0]?.headMessageId).toBe('a-server');
    expect(checkpoints[0]?.messageId).toBe('a-server');
    expect(engine.graph().nodes[2]?.parentId).toBe('a-server');
    expect(engine.forks()[0]?.parentId).toBe('a-server');
    await engine.checkout('key:a1');
    const heard: ContextEvent[] = [];
    engine.subscribe((event) => heard.push(event));
    engine.set(assistant(said('a-server', 'two')));
    await engine.save({ branch: false });
    expect(heard).toContainEqual(expect.objectContaining({ type: 'save', ids: ['a-server'] }));
  });

  test('an answer that ends without a word is taken back, and the head with it', async () => {
    const { store, engine, shown, branches } = await chat('q1', 'a1');
    const id = await engine.ask(said('q2'));
    await engine.updateMessage(id, { id, role: 'assistant', parts: [] }, 'interrupted');
    expect(engine.node(id)).toBeUndefined();
    expect([engine.headMessageId, shown(), await store.getMessage('c', id)]).toEqual([
      'q2',
      'q1 > a1 > q2',
      undefined,
    ]);
    expect(await branches()).toEqual({ main: 'q1 > a1 > q2' });
  });

  test('begins with words that are there already, as a version that shows at once, in one write', async () => {
    const { store, engine, shown, branches } = await chat('q1', 'a1', 'q2');
    const writes = vi.spyOn(store, 'commit');
    const answer = { ...said('a1', 'one'), id: 'a9' };
    await engine.ask([], { parentId: 'q1', id: 'b1', answer });
    expect(writes).toHaveBeenCalledOnce();
    expect([shown(), engine.status('b1'), engine.branch]).toEqual(['q1 > one', 'streaming', 'main-v2']);
    expect(engine.siblings('b1')).toMatchObject({ index: 1, ids: ['a1', 'b1'] });
    await engine.updateMessage('b1', said('b1', 'one two'), 'complete');
    expect(await branches()).toEqual({ main: 'q1 > a1 > q2', 'main-v2': 'q1 > one two' });
  });

  test('asks again: a known question only reserves, on its branch while nothing hangs on it', async () => {
    const { engine, branches } = await chat('q1');
    const id = await engine.ask(said('q1'), { id: 'a1' });
    await engine.updateMessage(id, said('a1'), 'complete');
    const again = await engine.ask(said('q1'), { id: 'a2' });
    expect(engine.branch).toBe('main-v2');
    await engine.updateMessage(again, said('a2'), 'complete');
    expect(await branches()).toEqual({ main: 'q1 > a1', 'main-v2': 'q1 > a2' });
    expect(engine.siblings('a2')).toMatchObject({ index: 1, ids: ['a1', 'a2'] });
  });

  test('edits: a question under an earlier parent makes a branch with the id that was proposed', async () => {
    const { engine, branches } = await chat('q1', 'a1', 'q2', 'a2');
    const id = await engine.ask(said('q9'), { parentId: 'a1', forkId: 'fork', id: 'a9' });
    expect(engine.state.getState()).toMatchObject({ branchId: 'fork', branch: 'main-v2' });
    await engine.updateMessage(id, said('a9'), 'complete');
    expect(await branches()).toEqual({ main: 'q1 > a1 > q2 > a2', 'main-v2': 'q1 > a1 > q9 > a9' });
  });

  test('asks in other words, again and again: each is a version beside the question with that id', async () => {
    const { engine, branches } = await chat('q1', 'a1', 'q2', 'a2');
    for (const words of ['second try', 'third try'])
      await engine.updateMessage(await engine.ask(said('q2', words)), said('a', words), 'complete');
    expect(await branches()).toEqual({
      main: 'q1 > a1 > q2 > a2',
      'main-v2': 'q1 > a1 > second try > second try',
      'main-v3': 'q1 > a1 > third try > third try',
    });
  });

  test('works on a branch that is not shown, and leaves the shown one alone', async () => {
    const { engine, shown, branches } = await chat('q1', 'a1');
    const { id: side } = await engine.btw();
    const answer = await engine.ask(said('q5'), { branch: side, id: 'a5' });
    await engine.updateMessage(answer, said('a5', 'hidden'), 'streaming');
    expect([engine.branch, shown()]).toEqual(['main', 'q1 > a1']);
    await engine.updateMessage(answer, said('a5', 'hidden words'), 'complete');
    expect(await branches()).toEqual({ main: 'q1 > a1', 'main-v2': 'q1 > a1 > q5 > hidden words' });
    expect(texts((await engine.resolve({ branch: side })).messages)).toBe('q1 > a1 > q5 > hidden words');
  });
});

test('words that come while an answer ends are a version behind its end, and not a draft of it', async () => {
  const store = new InMemoryContextStore();
  const engine = engineOn(store);
  const id = await engine.ask(said('q1'), { id: 'a1' });
  await engine.updateMessage(id, said('a1', 'one'), 'streaming');
  await Promise.all([
    engine.updateMessage(id, said('a1', 'whole'), 'complete'),
    engine.updateMessage(id, () => said('a1', 'whole, with a result')),
  ]);
  const { key = '' } = engine.node(id) ?? {};
  expect((await store.bodies('c', [key])).get(key)).toMatchObject({
    message: said('a1', 'whole, with a result'),
  });
  expect((await store.bodies('c', [key])).get(key)?.isDraft).toBeUndefined();
  expect((await store.revisions('c', key)).map(({ message }) => message)).toEqual([said('a1', 'whole')]);
});

describe('a message that is settled', () => {
  test('writes one version, however many were written before it', async () => {
    const { store, engine } = await chat('q1', 'a1');
    for (const words of ['one', 'two']) await engine.updateMessage('a1', said('a1', words));
    const writes = vi.spyOn(store, 'commit');
    await engine.updateMessage('a1', said('a1', 'three'));
    const [, { messages }] = writes.mock.lastCall ?? ['', { messages: [] }];
    const bodies = messages.flatMap(({ versions }) => versions.flatMap(({ body }) => body ?? []));
    expect(texts(bodies)).toBe('three');
    const kept = await engine.revisions('a1');
    expect(texts(kept.map((revision) => revision.message))).toBe('a1 > one > two');
  });

  test('takes a tool result and stays settled', async () => {
    const { store, engine } = await chat('q1', 'a1');
    await engine.resolve();
    await engine.updateMessage('a1', said('a1', 'with the result'));
    expect(await store.getMessage('c', 'a1')).toMatchObject({
      status: 'complete',
      rev: 2,
      data: said('a1', 'with the result'),
    });
    expect(texts((await engine.resolve()).messages)).toBe('q1 > with the result');
  });

  test('is continued on the same node', async () => {
    const { engine, shown, branches } = await chat();
    const id = await engine.ask(said('q1'), { id: 'a1' });
    await engine.updateMessage(id, said('a1', 'half'), 'interrupted');
    expect(engine.status('a1')).toBe('interrupted');
    await engine.updateMessage('a1', said('a1', 'half'), 'streaming');
    expect(engine.status('a1')).toBe('streaming');
    await engine.updateMessage('a1', said('a1', 'half and whole'), 'complete');
    expect([shown(), await branches()]).toEqual(['q1 > half and whole', { main: 'q1 > half and whole' }]);
  });
});

describe('a tab that dies in mid-stream', () => {
  async function interrupted(words: string | undefined) {
    const store = new InMemoryContextStore();
    const dying = engineOn(store);
    const id = await dying.ask(said('q1'), { id: 'a1' });
    if (words !== undefined) await dying.updateMessage(id, said('a1', words), 'streaming');
    await expect.poll(async () => (await store.held('c')).size).toBe(1);
    vi.spyOn(store, 'held').mockResolvedValue(new Set());
    dying.dispose();
    return { store, engine: engineOn(store) };
  }

  test('leaves its words, which read as interrupted, and the next writer stores that', async () => {
    const { store, engine } = await interrupted('half an answer');
    await engine.ready();
    expect([texts(engine.state.getState().messages), engine.status('a1')]).toEqual([
      'q1 > half an answer',
      'interrupted',
    ]);
    expect(await store.getMessage('c', 'a1')).toMatchObject({ status: 'streaming' });
    await say(engine, 'q2');
    expect(await store.getMessage('c', 'a1')).toMatchObject({
      status: 'interrupted',
      data: said('a1', 'half an answer'),
    });
    expect(await branchesIn(store)).toEqual({ main: 'q1 > half an answer > q2' });
  });

  test('and is continued on the same node', async () => {
    const { store, engine } = await interrupted('half');
    await engine.updateMessage('a1', said('a1', 'half'), 'streaming');
    await engine.updateMessage('a1', said('a1', 'half and whole'), 'complete');
    expect(await branchesIn(store)).toEqual({ main: 'q1 > half and whole' });
  });

  test('leaves nothing of an answer that had not begun', async () => {
    const { store, engine } = await interrupted(undefined);
    await engine.ready();
    expect([texts(engine.state.getState().messages), engine.headMessageId]).toEqual(['q1', 'q1']);
    const id = await engine.ask(said('q1'), { id: 'a2' });
    await engine.updateMessage(id, said('a2'), 'complete');
    expect(await branchesIn(store)).toEqual({ main: 'q1 > a2' });
    expect(await store.getMessage('c', 'a1')).toBeUndefined();
  });
});

test('subscribers hear of each step by id and name, never by content', async () => {
  const { engine } = await chat('q1');
  const events: ContextEvent[] = [];
  const stop = engine.subscribe((event) => events.push(event));
  const id = await engine.ask(said('q2', 'a secret'), { id: 'a2' });
  await engine.updateMessage(id, said('a2', 'a secret'), 'complete');
  await engine.checkpoint('here');
  stop();
  await engine.resolve();
  expect(events.map(({ type }) => type)).toEqual(['stream', 'stream', 'checkpoint']);
  expect(JSON.stringify(events)).not.toContain('secret');
});

/** Counts from now on how often somebody walks through a map of more than `size` entries. */
function walksThrough(size: number): { ended(): number } {
  let count = 0;
  const walks = (['values', 'keys', 'entries', Symbol.iterator] as const).map((name) => {
    const walk = Map.prototype[name] as Map<unknown, unknown>['values'];
    return vi.spyOn(Map.prototype, name as 'values').mockImplementation(function counted(
      this: Map<unknown, unknown>,
    ) {
      if (this.size > size) count += 1;
      return walk.call(this);
    });
  });
  return {
    ended() {
      for (const walk of walks) walk.mockRestore();
      return count;
    },
  };
}
