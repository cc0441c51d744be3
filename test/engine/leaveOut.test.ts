import type { UIMessage } from 'ai';
import { describe, expect, test } from 'vitest';
import { ContextError } from '../../src/errors.ts';
import type { ContextEngine } from '../../src/engine/engine.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import type { ContextStore } from '../../src/store/store.ts';
import { branchesIn, engineOn, said, say, texts } from '../support/engine.ts';

const ROOM = 50_000;

/** A disk that takes a write of so many characters, and none that is larger. */
function narrow(inner: ContextStore): { store: ContextStore; widen: (room: number) => void } {
  let room = ROOM;
  const append: ContextStore['append'] = (chatId, ops, options) =>
    JSON.stringify(ops).length > room
      ? Promise.reject(new ContextError('quota-exceeded', 'The disk is full.'))
      : inner.append(chatId, ops, options);
  const store = new Proxy(inner, {
    get(target, key) {
      if (key === 'append') return append;
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return { store, widen: (next) => (room = next) };
}

const picture = (size = ROOM): UIMessage['parts'][number] => ({
  type: 'file',
  mediaType: 'image/png',
  filename: 'cat.png',
  url: `data:image/png;base64,${'A'.repeat(size)}`,
});
const withPicture = (id: string, size?: number): UIMessage => ({
  id,
  role: 'user',
  parts: [...said(id).parts, picture(size)],
});
const NOTE = '[The file "cat.png" (image/png) was not saved: there was no room for it.]';

const saveStateOf = (engine: ContextEngine) => engine.state.getState().saveState;
const partsIn = async (store: ContextStore, id: string) => (await store.getMessage('c', id))?.data.parts;

async function chat() {
  const disk = new InMemoryContextStore();
  const { store, widen } = narrow(disk);
  const engine = engineOn(store);
  await say(engine, 'q1', 'a1');
  const turn = async (question: UIMessage, answer: string) => {
    const id = await engine.continue(question, { id: answer });
    await engine.updateMessage(id, { ...said(answer), role: 'assistant' }, 'complete');
  };
  return { disk, store, widen, engine, turn };
}

describe('a file that does not fit', () => {
  test('keeps nothing else off the disk: its message goes without it, and what follows goes too', async () => {
    const { disk, engine, turn } = await chat();
    await turn(withPicture('q2'), 'a2');
    await turn(said('q3'), 'a3');
    expect(await branchesIn(disk)).toEqual({ main: `q1 > a1 > q2 ${NOTE} > a2 > q3 > a3` });
    expect(await partsIn(disk, 'q2')).toEqual([...said('q2').parts, { type: 'text', text: NOTE }]);
    expect(saveStateOf(engine)).toMatchObject({
      state: 'error',
      pending: 1,
      error: { code: 'quota-exceeded' },
    });
  });

  test('is shown here, and the model sees it', async () => {
    const { engine, turn } = await chat();
    await turn(withPicture('q2'), 'a2');
    await turn(said('q3'), 'a3');
    expect(engine.state.getState().messages[2]).toEqual(withPicture('q2'));
    expect((await engine.resolve()).messages[2]).toEqual(withPicture('q2'));
  });

  test('is written by itself when there is room', async () => {
    const { disk, widen, engine, turn } = await chat();
    await turn(withPicture('q2'), 'a2');
    const shown = engine.state.getState().messages[2];
    widen(Infinity);
    await expect.poll(() => saveStateOf(engine)).toEqual({ state: 'saved', pending: 0 });
    expect(await partsIn(disk, 'q2')).toEqual(withPicture('q2').parts);
    expect(engine.state.getState().messages[2]).toBe(shown);
  });

  test('tells whose it is, so that a page can say so beside the message', async () => {
    const { widen, engine, turn } = await chat();
    expect(saveStateOf(engine)).not.toHaveProperty('leftOut');
    await turn(withPicture('q2'), 'a2');
    await turn(withPicture('q3', 60_000), 'a3');
    expect(saveStateOf(engine).leftOut).toEqual(['q2', 'q3']);
    widen(55_000);
    await expect(engine.retry()).rejects.toMatchObject({ code: 'quota-exceeded' });
    expect(saveStateOf(engine).leftOut).toEqual(['q3']);
    widen(Infinity);
    await engine.retry();
    expect(saveStateOf(engine)).not.toHaveProperty('leftOut');
  });

  test('refuses retry() until then, and a smaller one is not kept waiting by it', async () => {
    const { disk, widen, engine, turn } = await chat();
    await turn(withPicture('q2'), 'a2');
    await turn(withPicture('q3', 60_000), 'a3');
    expect(saveStateOf(engine)).toMatchObject({ state: 'error', pending: 2 });
    widen(55_000);
    await expect(engine.retry()).rejects.toMatchObject({ code: 'quota-exceeded' });
    expect(await partsIn(disk, 'q2')).toEqual(withPicture('q2').parts);
    expect(saveStateOf(engine)).toMatchObject({ state: 'error', pending: 1 });
    widen(Infinity);
    await engine.retry();
    expect(await partsIn(disk, 'q3')).toEqual(withPicture('q3', 60_000).parts);
    expect(saveStateOf(engine)).toEqual({ state: 'saved', pending: 0 });
  });

  test('can be taken back: rewind, drop the branch, and nothing is unsaved any more', async () => {
    const { disk, engine, turn } = await chat();
    await turn(withPicture('q2'), 'a2');
    await engine.rewind('a1');
    await turn(said('q3'), 'a3');
    expect(saveStateOf(engine)).toMatchObject({ state: 'error', pending: 1 });
    await engine.deleteBranch('main');
    expect(saveStateOf(engine)).toEqual({ state: 'saved', pending: 0 });
    await engine.retry();
    expect(await branchesIn(disk)).toEqual({ 'main-v2': 'q1 > a1 > q3 > a3' });
  });

  test('is forgotten when its message is given other words', async () => {
    const { disk, widen, engine, turn } = await chat();
    await turn(withPicture('q2'), 'a2');
    await engine.updateMessage('q2', said('q2', 'without a picture'));
    expect(saveStateOf(engine)).toEqual({ state: 'saved', pending: 0 });
    widen(Infinity);
    await engine.retry();
    expect(await partsIn(disk, 'q2')).toEqual(said('q2', 'without a picture').parts);
    expect(texts(engine.state.getState().messages)).toBe('q1 > a1 > without a picture > a2');
  });

  test('of an answer leaves its words', async () => {
    const { disk, widen, engine } = await chat();
    const id = await engine.continue(said('q2'), { id: 'a2' });
    const answer: UIMessage = { id, role: 'assistant', parts: [...said('here').parts, picture()] };
    await engine.updateMessage(id, answer, 'complete');
    expect(await partsIn(disk, id)).toEqual([...said('here').parts, { type: 'text', text: NOTE }]);
    expect(engine.state.getState().messages.at(-1)).toEqual(answer);
    widen(Infinity);
    await engine.retry();
    expect(await partsIn(disk, id)).toEqual(answer.parts);
  });

  test('waits in line with its turn where the disk takes nothing at all, and no longer when it takes a little', async () => {
    const { disk, widen, engine, turn } = await chat();
    widen(0);
    await turn(withPicture('q2'), 'a2');
    await turn(said('q3'), 'a3');
    expect(await branchesIn(disk)).toEqual({ main: 'q1 > a1' });
    expect(saveStateOf(engine)).toMatchObject({ state: 'error', pending: 4 });
    widen(ROOM);
    await expect(engine.retry()).rejects.toMatchObject({ code: 'quota-exceeded' });
    expect(await branchesIn(disk)).toEqual({ main: `q1 > a1 > q2 ${NOTE} > a2 > q3 > a3` });
    expect(saveStateOf(engine)).toMatchObject({ state: 'error', pending: 1 });
    widen(Infinity);
    await engine.retry();
    expect(await partsIn(disk, 'q2')).toEqual(withPicture('q2').parts);
  });

  test('and a long text that does not fit is left out in the same way', async () => {
    const { disk, widen, engine, turn } = await chat();
    const long = said('q2', 'word '.repeat(20_000));
    await turn(long, 'a2');
    expect(await partsIn(disk, 'q2')).toEqual([
      { type: 'text', text: '[A text of 100000 characters was not saved: there was no room for it.]' },
    ]);
    widen(Infinity);
    await engine.retry();
    expect(await partsIn(disk, 'q2')).toEqual(long.parts);
  });

  test('and of an answer that does not fit, what was drafted stands until there is room', async () => {
    const { disk, widen, engine, turn } = await chat();
    const id = await engine.continue(said('q2'), { id: 'a2' });
    await engine.updateMessage(id, { ...said(id, 'I look.'), role: 'assistant' }, 'streaming');
    const tool: UIMessage['parts'][number] = {
      type: 'tool-look',
      toolCallId: 't',
      state: 'output-available',
      input: {},
      output: 'x'.repeat(100_000),
    };
    const answer: UIMessage = { id, role: 'assistant', parts: [...said(id, 'I look.').parts, tool] };
    await engine.updateMessage(id, answer, 'complete');
    await turn(said('q3'), 'a3');
    expect(await branchesIn(disk)).toEqual({ main: 'q1 > a1 > q2 > I look. > q3 > a3' });
    expect(engine.state.getState().messages[3]).toEqual(answer);
    expect(saveStateOf(engine)).toMatchObject({ state: 'error', pending: 1 });
    widen(Infinity);
    await engine.retry();
    expect(await partsIn(disk, id)).toEqual(answer.parts);
    expect(saveStateOf(engine)).toEqual({ state: 'saved', pending: 0 });
  });

  test('goes where its turn goes when another tab was faster, and that tab sees it come', async () => {
    const { disk, widen, engine, turn } = await chat();
    const other = engineOn(disk);
    widen(0);
    await turn(withPicture('q2'), 'a2');
    await say(other, 'q9');
    widen(ROOM);
    await expect(engine.retry()).rejects.toMatchObject({ code: 'quota-exceeded' });
    expect(await branchesIn(disk)).toEqual({
      main: 'q1 > a1 > q9',
      'main-v2': `q1 > a1 > q2 ${NOTE} > a2`,
    });
    expect([engine.branch, saveStateOf(engine).pending]).toEqual(['main-v2', 1]);
    expect(engine.state.getState().messages[2]).toEqual(withPicture('q2'));
    await other.switchBranch('main-v2');
    expect(texts(other.state.getState().messages)).toBe(`q1 > a1 > q2 ${NOTE} > a2`);
    widen(Infinity);
    await engine.retry();
    await expect.poll(() => other.state.getState().messages[2]).toEqual(withPicture('q2'));
    expect(engine.state.getState().messages[2]).toEqual(withPicture('q2'));
    expect(saveStateOf(engine)).toEqual({ state: 'saved', pending: 0 });
  });
});
