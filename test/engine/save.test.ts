import { describe, expect, test } from 'vitest';
import { assistant, assistantText, lastAssistantMessage, message, user } from '../../src/fragment/message.ts';
import { chat, branchesIn, engineOn, said, say, texts } from '../support/engine.ts';

describe('save() puts a new message', () => {
  test('behind the head, and the next one behind it', async () => {
    const { engine, branches } = await chat('q1', 'a1');
    expect(await say(engine, 'q2', 'a2')).toBe('a2');
    expect(await branches()).toEqual({ main: 'q1 > a1 > q2 > a2' });
    expect(engine.state.getState().pending).toEqual([]);
  });

  test('into a chat that is created by the first save, also by one with nothing to save', async () => {
    const { engine, store } = await chat();
    expect(await store.getChat('c')).toMatchObject({ id: 'c', userId: 'u' });
    expect(engine.headMessageId).toBeUndefined();
    expect(await branchesIn(store)).toEqual({ main: '' });
  });
});

describe('save() of a message that is there already', () => {
  test('writes nothing when it says the same: a retry never forks', async () => {
    const { engine, store, branches } = await chat('q1', 'a1');
    const before = await store.load('c');
    expect(await say(engine, 'q1', 'a1')).toBe('a1');
    expect((await store.load('c')).seq).toBe(before.seq);
    expect(await branches()).toEqual({ main: 'q1 > a1' });
  });

  test('keeps the id, and gives the new version a key of its own: saving it again makes no third version', async () => {
    const { engine, branches } = await chat('q1', 'a1');
    const before = engine.node('a1')?.key;
    expect(await say(engine, 'a1=better')).toBe('a1');
    expect(engine.node('a1')?.key).not.toBe(before);
    await say(engine, 'a1=better');
    expect(await branches()).toEqual({ main: 'q1 > a1', 'main-v2': 'q1 > better' });
  });

  test.each<[what: string, then: string, branches: Record<string, string>]>([
    ['the old version keeps its branch and all that followed', 'a1=better', { 'main-v2': 'q1 > better' }],
    ['a sibling of a root, too', 'q1=other a9', { 'main-v2': 'other > a9' }],
    ['once for several', 'a1=x q2=y a7', { 'main-v2': 'q1 > x > y > a7' }],
    ['what came before stays', 'q3 a1=x', { main: 'q1 > a1 > q2 > a2 > q3', 'main-v2': 'q1 > x' }],
    [
      'one id twice is one, at the first place',
      'q3=draft a3 q3=final',
      { main: 'q1 > a1 > q2 > a2 > final > a3' },
    ],
  ])('forks where it says something else: %s', async (_what, then, made) => {
    const { engine, branches } = await chat('q1', 'a1', 'q2', 'a2');
    await say(engine, ...then.split(' '));
    expect(await branches()).toEqual({ main: 'q1 > a1 > q2 > a2', ...made });
    expect(engine.branch).toBe(Object.keys(made).at(-1));
  });
});

describe('save({ branch: false })', () => {
  test('replaces the head in place', async () => {
    const { engine, branches } = await chat('q1', 'a1');
    engine.set(assistant(said('a1', 'better')));
    await engine.save({ branch: false });
    expect(await branches()).toEqual({ main: 'q1 > better' });
    expect(engine.headMessageId).toBe('a1');
  });

  test('replaces a message in the middle or at the root, and moves nothing', async () => {
    const { engine, branches } = await chat('q1', 'a1', 'q2', 'a2');
    engine.set(user(said('q1', 'first')), assistant(said('a1', 'second')));
    expect(await engine.save({ branch: false })).toEqual({ headMessageId: 'a2' });
    expect(await branches()).toEqual({ main: 'first > second > q2 > a2' });
  });

  test('keeps the words that it replaced out of the way of resolve()', async () => {
    const { engine } = await chat('q1', 'a1', 'q2');
    await engine.resolve();
    engine.set(assistant(said('a1', 'better')));
    await engine.save({ branch: false });
    expect(texts((await engine.resolve()).messages)).toBe('q1 > better > q2');
  });
});

describe('save({ branch: NAME })', () => {
  test('is refused, with the messages pending still: they would go to the active branch without a word', async () => {
    const { engine, branches } = await chat('q1', 'a1');
    await engine.btw();
    engine.set(user(said('q2')));
    const named = { branch: 'main-v2' } as unknown as { branch: boolean };
    await expect(engine.save(named)).rejects.toMatchObject({ code: 'invalid-options' });
    expect(engine.state.getState().pending).toHaveLength(1);
    expect(await branches()).toEqual({ main: 'q1 > a1', 'main-v2': 'q1 > a1' });
  });
});

describe('lastAssistantMessage()', () => {
  test('replaces the answer at the head in place', async () => {
    const { engine, branches } = await chat('q1', 'a1');
    engine.set(lastAssistantMessage('corrected'));
    expect(texts((await engine.resolve()).messages)).toBe('q1 > corrected');
    await engine.save();
    expect(await branches()).toEqual({ main: 'q1 > corrected' });
  });

  test('is a new answer behind a question that is pending', async () => {
    const { engine, branches } = await chat('q1', 'a1');
    engine.set(user(said('q2')), lastAssistantMessage('two'));
    expect(texts((await engine.resolve()).messages)).toBe('q1 > a1 > q2 > two');
    await engine.save();
    expect(await branches()).toEqual({ main: 'q1 > a1 > q2 > two' });
    expect(texts(engine.state.getState().messages)).toBe('q1 > a1 > q2 > two');
  });

  test('forks when something hangs on the answer: a message, a branch or a checkpoint', async () => {
    const followed = await chat('q1', 'a1', 'q2');
    followed.engine.set(lastAssistantMessage('corrected'));
    await followed.engine.save();
    expect(await followed.branches()).toEqual({ main: 'q1 > a1 > q2', 'main-v2': 'q1 > corrected' });

    const marked = await chat('q1', 'a1');
    await marked.engine.checkpoint('here');
    marked.engine.set(lastAssistantMessage('corrected'));
    await marked.engine.save();
    expect(await marked.branches()).toEqual({ main: 'q1 > a1', 'main-v2': 'q1 > corrected' });
  });

  test('merges into a pending answer', async () => {
    const { engine, branches } = await chat('q1');
    engine.set(assistantText('draft', { id: 'a1' }), lastAssistantMessage('final'));
    await engine.save();
    expect(await branches()).toEqual({ main: 'q1 > final' });
    expect(engine.headMessageId).toBe('a1');
  });

  test('is a new answer where there is none', async () => {
    const { engine, branches } = await chat('q1');
    engine.set(lastAssistantMessage('first words'));
    await engine.save();
    expect(await branches()).toEqual({ main: 'q1 > first words' });
  });
});

describe('a message that can not be kept', () => {
  test.each([
    ['that is no message', { role: 'user', content: 'x' }, /id/],
    [
      'that holds a function',
      { id: 'x', role: 'user', parts: [{ type: 'data-x', data: { run: () => 1 } }] },
      /parts\[0\]\.data\.run/,
    ],
    ['that holds a cycle', circular(), /parts\[0\]\.data/],
  ])('is refused at the door when it is one %s, and leaves the others alone', async (_what, broken, path) => {
    const { engine, branches } = await chat('q1');
    engine.set(assistant(said('a1')));
    expect(() => engine.set(user(said('q2')), message(broken as never))).toThrow(path);
    await engine.save();
    expect(await branches()).toEqual({ main: 'q1 > a1' });
  });

  test('is refused when it has no codec', () => {
    const engine = engineOn();
    expect(() => engine.set({ name: 'user', type: 'message', data: 'content' })).toThrow(
      'Fragment "user" is missing codec',
    );
    expect(engine.state.getState().pending).toEqual([]);
  });
});

describe('persist: false', () => {
  test('shows a message to the model and keeps it out of the graph', async () => {
    const { engine, branches } = await chat('q1');
    engine.set({ ...user(said('q2', 'only now')), persist: false });
    expect(texts((await engine.resolve()).messages)).toBe('q1 > only now');
    await engine.save();
    expect(await branches()).toEqual({ main: 'q1' });
  });
});

test('two saves at once write both turns, in order', async () => {
  const { engine, branches } = await chat('q1');
  engine.set(assistant(said('a1')));
  const first = engine.save();
  engine.set(user(said('q2')));
  await Promise.all([first, engine.save()]);
  expect(await branches()).toEqual({ main: 'q1 > a1 > q2' });
});

function circular(): unknown {
  const data: Record<string, unknown> = {};
  data['self'] = data;
  return { id: 'x', role: 'user', parts: [{ type: 'data-x', data }] };
}
