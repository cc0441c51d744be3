import { describe, expect, test } from 'vitest';
import { ContextError } from '../../src/errors.ts';
import { user } from '../../src/fragment/message.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import { chat, engineOn, said, say, texts } from '../support/engine.ts';

describe('before anything is read', () => {
  test('an engine is on main, with no head and no chat', () => {
    const engine = engineOn();
    expect([engine.branch, engine.headMessageId, engine.chat]).toEqual(['main', undefined, null]);
    expect(engine.state.getState().status).toBe('loading');
  });

  test('ready() writes nothing', async () => {
    const store = new InMemoryContextStore();
    await engineOn(store).ready();
    expect(await store.getChat('c')).toBeUndefined();
    expect(await store.listChats()).toEqual([]);
  });

  test.each([['chatId'], ['userId']])('%s is required', (field) => {
    expect(() => engineOn(undefined, { [field]: '' })).toThrow(`${field} is required`);
  });

  test("another user's chat is refused", async () => {
    const { store } = await chat('q1');
    const stranger = engineOn(store, { userId: 'other' });
    await expect(stranger.ready()).rejects.toThrow('chat "c" belongs to user "u", not "other"');
    expect(stranger.state.getState()).toMatchObject({ status: 'error', error: { code: 'wrong-user' } });
  });
});

describe('rewind()', () => {
  test('is told as one new branch', async () => {
    const { engine } = await chat('q1', 'a1');
    const told: unknown[] = [];
    engine.subscribe((event) => event.type === 'branch' && told.push([event.action, event.name]));
    await engine.rewind('q1');
    expect(told).toEqual([['create', 'main-v2']]);
  });

  test('makes a branch that ends at the message and shows it', async () => {
    const { engine, shown, branches } = await chat('q1', 'a1');
    expect(await engine.rewind('q1')).toMatchObject({
      name: 'main-v2',
      headMessageId: 'q1',
      isActive: true,
      messageCount: 1,
    });
    expect(shown()).toBe('q1');
    await say(engine, 'a9');
    expect(await branches()).toEqual({ main: 'q1 > a1', 'main-v2': 'q1 > a9' });
  });

  test('names from the current branch, the smallest free number first', async () => {
    const { engine } = await chat('q1', 'a1');
    const names: string[] = [];
    const rewind = async (from: string) => {
      await engine.switchBranch(from);
      names.push((await engine.rewind('q1')).name);
      await say(engine, 'a9');
    };
    await rewind('main');
    await rewind('main-v2');
    await rewind('main');
    await engine.deleteBranch('main-v2');
    await rewind('main-v3');
    expect(names).toEqual(['main-v2', 'main-v3', 'main-v4', 'main-v2']);
  });

  test('comes back to a branch that ends there and on which nothing was said, and makes no second one', async () => {
    const { engine, branches } = await chat('q1', 'a1');
    const first = await engine.rewind('q1');
    expect(await engine.rewind('q1')).toEqual(first);
    await engine.switchBranch('main');
    await engine.checkpoint('start', { at: 'q1' });
    expect(await engine.restore('start')).toMatchObject({ id: first.id, isActive: true });
    expect(await branches()).toEqual({ main: 'q1 > a1', 'main-v2': 'q1' });
  });

  test('drops what was pending', async () => {
    const { engine } = await chat('q1', 'a1');
    engine.set(user(said('q2')));
    await engine.rewind('q1');
    expect(engine.state.getState().pending).toEqual([]);
  });

  test("can't reach into another chat", async () => {
    const { store, engine } = await chat('q1');
    await say(engineOn(store, { chatId: 'd' }), 'q7');
    await expect(engine.rewind('q7')).rejects.toMatchObject({ code: 'message-not-found' });
  });
});

describe('switchBranch()', () => {
  test('shows the other branch, and a new engine opens there', async () => {
    const { store, engine, shown } = await chat('q1', 'a1');
    await engine.rewind('q1');
    await engine.switchBranch('main');
    expect(shown()).toBe('q1 > a1');
    await engine.switchBranch('main-v2');
    const reopened = engineOn(store);
    await reopened.ready();
    expect([reopened.branch, reopened.headMessageId]).toEqual(['main-v2', 'q1']);
  });

  test('is seen before its mark is written, however long the database is busy', async () => {
    const { store, engine, shown } = await chat('q1', 'a1');
    await engine.rewind('q1');
    const commit = store.commit.bind(store);
    const { promise: isFree, resolve: free } = Promise.withResolvers<void>();
    store.commit = (...given) => isFree.then(() => commit(...given));
    const seen: string[] = [];
    engine.state.subscribe(({ branch }) => seen.push(`${branch}: ${shown()}`));
    engine.subscribe(({ type }) => seen.push(type));
    const switching = engine.switchBranch('main');
    await expect.poll(() => seen).toEqual(['main: q1 > a1']);
    free();
    await switching;
    expect(seen).toEqual(['main: q1 > a1', 'main: q1 > a1', 'switch']);
    expect((await store.listBranches('c')).find(({ isActive }) => isActive)?.name).toBe('main');
  });

  /** Three versions of an answer, the last one shown, and a database that is busy until it is told otherwise. */
  async function versions() {
    const { store, engine, shown, branches } = await chat('q1', 'a1');
    await engine.edit('a1', 'a2');
    await engine.edit('a1', 'a3');
    const ids = engine.siblings(engine.headMessageId ?? '').keys;
    const commit = store.commit.bind(store);
    const { promise: isFree, resolve: free } = Promise.withResolvers<void>();
    store.commit = (...given) => isFree.then(() => commit(...given));
    const seen = [shown()];
    engine.state.subscribe(() => shown() !== seen.at(-1) && seen.push(shown()));
    return { store, engine, seen, ids, free, branches };
  }

  test('is seen at once however many before it are still to be stored', async () => {
    const { engine, seen, ids, free, store } = await versions();
    const clicks = [1, 0, 1, 2].map((version) => engine.selectSibling(ids[version] ?? ''));
    await expect.poll(() => seen).toEqual(['q1 > a3', 'q1 > a2', 'q1 > a1', 'q1 > a2', 'q1 > a3']);
    free();
    await Promise.all(clicks);
    expect(seen).toHaveLength(5);
    expect((await store.listBranches('c')).find(({ isActive }) => isActive)?.name).toBe('main-v3');
  });

  test('runs in turn with what is asked before and after it', async () => {
    const { engine, seen, ids, free, branches } = await versions();
    const first = engine.switchBranch('main');
    const asking = engine.ask(said('q2'), { id: 'a4' });
    const second = engine.selectSibling(ids[1] ?? '');
    await expect.poll(() => seen).toEqual(['q1 > a3', 'q1 > a1', 'q1 > a1 > q2', 'q1 > a2']);
    free();
    await Promise.all([first, asking, second]);
    expect(await branches()).toMatchObject({ main: 'q1 > a1 > q2 > ', 'main-v2': 'q1 > a2' });
  });

  /** A chat on `main-v2`, opened anew: the words of `main` are not read, and what is shown is noted. */
  async function unread() {
    const { store, engine: first } = await chat('q1', 'a1');
    await first.rewind('q1');
    await say(first, 'a2');
    const engine = engineOn(store);
    await engine.ready();
    const seen: string[] = [];
    engine.state.subscribe(({ branch, messages }) => seen.push(`${branch}: ${texts(messages)}`));
    return { store, engine, seen };
  }

  test('shows no part of a chat that is deleted meanwhile', async () => {
    const { store, engine, seen } = await unread();
    const deleting = store.deleteChat('c');
    await Promise.all([engine.switchBranch('main'), deleting]);
    await expect.poll(() => engine.state.getState().error?.code).toBe('chat-deleted');
    expect(new Set(seen)).toEqual(new Set(['main: ']));
  });

  test('stays, with what is pending, where the words of the other branch can not be read', async () => {
    const { store, engine, seen } = await unread();
    engine.set(user(said('q2')));
    store.bodies = async () => Promise.reject(new ContextError('store-closed', 'no'));
    await expect(engine.switchBranch('main')).rejects.toMatchObject({ code: 'store-closed' });
    engine.set(user(said('q3')));
    expect(engine.state.getState().pending).toHaveLength(2);
    expect(new Set(seen)).toEqual(new Set(['main-v2: q1 > a2']));
  });

  test('refuses an unknown name and keeps what is pending', async () => {
    const { engine } = await chat('q1');
    engine.set(user(said('q2')));
    await expect(engine.switchBranch('nope')).rejects.toMatchObject({
      code: 'branch-not-found',
      message: 'Branch "nope" not found in chat "c"',
    });
    expect(engine.state.getState().pending).toHaveLength(1);
  });
});

describe('btw()', () => {
  test('makes a branch at the head and stays, with what is pending', async () => {
    const { engine, branches } = await chat('q1');
    engine.set(user(said('q2')));
    expect(await engine.btw()).toMatchObject({ name: 'main-v2', headMessageId: 'q1', isActive: false });
    expect(engine.branch).toBe('main');
    await engine.save();
    await engine.switchBranch('main-v2');
    await say(engine, 'q3');
    expect(await branches()).toEqual({ main: 'q1 > q2', 'main-v2': 'q1 > q3' });
  });
});

describe('checkpoints', () => {
  test('name a message, and restore() goes back there on a branch of its own', async () => {
    const { engine, shown, branches } = await chat('q1', 'a1');
    expect(await engine.checkpoint('before-choice')).toMatchObject({
      name: 'before-choice',
      messageId: 'a1',
    });
    await say(engine, 'q2');
    expect(await engine.restore('before-choice')).toMatchObject({ name: 'main-v2', headMessageId: 'a1' });
    expect(shown()).toBe('q1 > a1');
    expect(await branches()).toEqual({ main: 'q1 > a1 > q2', 'main-v2': 'q1 > a1' });
  });

  test('move under the same name and keep their id', async () => {
    const { engine } = await chat('q1', 'a1');
    const first = await engine.checkpoint('here', { at: 'q1' });
    const second = await engine.checkpoint('here');
    expect(second).toMatchObject({ id: first.id, messageId: 'a1' });
    expect(engine.state.getState().checkpoints).toHaveLength(1);
  });

  test('are renamed and deleted; a taken or empty name is refused', async () => {
    const { engine } = await chat('q1');
    await engine.checkpoint('a');
    await engine.checkpoint('b');
    await expect(engine.renameCheckpoint('a', 'b')).rejects.toMatchObject({ code: 'name-taken' });
    await expect(engine.checkpoint('  ')).rejects.toMatchObject({ code: 'invalid-options' });
    expect(await engine.renameCheckpoint('a', 'c')).toMatchObject({ name: 'c' });
    await engine.deleteCheckpoint('b');
    expect(engine.state.getState().checkpoints.map(({ name }) => name)).toEqual(['c']);
  });
});

describe('renaming and deleting branches', () => {
  test('the name changes, the branch stays', async () => {
    const { engine } = await chat('q1');
    expect(await engine.renameBranch('main', 'ideas')).toMatchObject({ name: 'ideas', isActive: true });
    expect(engine.branch).toBe('ideas');
    await engine.btw();
    await expect(engine.renameBranch('ideas-v2', 'ideas')).rejects.toMatchObject({ code: 'name-taken' });
  });

  test('deleting the one shown shows the one used before it; the last one stays', async () => {
    const { engine, shown } = await chat('q1', 'a1');
    await engine.rewind('q1');
    await engine.deleteBranch('main-v2');
    expect([engine.branch, shown()]).toEqual(['main', 'q1 > a1']);
    await expect(engine.deleteBranch('main')).rejects.toMatchObject({ code: 'last-branch' });
  });
});

describe('versions of a message', () => {
  test('are the children of one parent that live branches reach', async () => {
    const { engine, shown } = await chat('q1', 'a1');
    await say(engine, 'a1=again');
    await engine.edit('a1', 'once more');
    const { index, ids, keys } = engine.siblings('a1');
    expect([index, ids, new Set(keys).size]).toEqual([2, ['a1', 'a1', 'a1'], 3]);
    expect(engine.siblings('unknown')).toEqual({ index: -1, ids: [], keys: [] });
    await engine.selectSibling(keys[0] as string);
    expect([engine.branch, shown()]).toEqual(['main', 'q1 > a1']);
    await engine.deleteBranch('main-v2');
    expect(engine.siblings('a1').keys).toEqual([keys[0], keys[2]]);
  });

  test('selecting one shows the branch used last that holds it, also after a reload', async () => {
    const { store, engine } = await chat('q1', 'a1', 'q2');
    await say(engine, 'a1=b1', 'q5');
    const [first, second] = engine.siblings('a1').keys as [string, string];
    await engine.rewind(first);
    await say(engine, 'q9');
    await engine.selectSibling(second);
    const reopened = engineOn(store);
    await reopened.selectSibling(first);
    expect(texts(reopened.state.getState().messages)).toBe('q1 > a1 > q9');
  });

  test('edit() makes one without asking anyone', async () => {
    const { engine, shown, branches } = await chat('q1', 'a1', 'q2');
    const id = await engine.edit('a1', 'my own words');
    expect(shown()).toBe('q1 > my own words');
    expect(engine.siblings('a1').ids).toEqual(['a1', id]);
    expect(await branches()).toEqual({ main: 'q1 > a1 > q2', 'main-v2': 'q1 > my own words' });
  });

  test('a fork is named from the branch that holds the oldest version', async () => {
    const { engine } = await chat('q1', 'a1');
    for (let i = 0; i < 8; i += 1) await engine.edit('a1', `try ${i}`);
    expect(engine.branch).toBe('main-v9');
  });

  test('forks() names each place where the ways part', async () => {
    const { engine } = await chat('q1', 'a1', 'q2', 'a2');
    await engine.edit('a2', 'b2');
    await engine.edit('q1', 'other root');
    const places = engine
      .forks()
      .map(({ parentId, children }) => [parentId, children.map((key) => engine.node(key)?.preview)]);
    expect(places).toEqual([
      ['q2', ['a2', 'b2']],
      [null, ['q1', 'other root']],
    ]);
  });
});

describe('checkout()', () => {
  test('switches to the branch whose head it is', async () => {
    const { engine } = await chat('q1', 'a1');
    await engine.rewind('q1');
    await engine.checkout('a1');
    expect([engine.branch, engine.state.getState().detached]).toEqual(['main', false]);
  });

  test('shows a branch up to a message, and the next write makes a branch there', async () => {
    const { engine, shown, branches } = await chat('q1', 'a1', 'q2', 'a2');
    await engine.checkout('a1');
    expect([engine.branch, shown(), engine.state.getState().detached]).toEqual(['main', 'q1 > a1', true]);
    expect(await branches()).toEqual({ main: 'q1 > a1 > q2 > a2' });
    await say(engine, 'q9');
    expect(await branches()).toEqual({ main: 'q1 > a1 > q2 > a2', 'main-v2': 'q1 > a1 > q9' });
    expect([engine.branch, shown(), engine.state.getState().detached]).toEqual([
      'main-v2',
      'q1 > a1 > q9',
      false,
    ]);
  });
});

test('matches() tells other words apart before those of a message are loaded', async () => {
  const store = new InMemoryContextStore();
  await say(engineOn(store), ...Array.from({ length: 210 }, (_, i) => `q${i}`));
  const engine = engineOn(store);
  await engine.ready();
  expect([engine.message('q0'), engine.matches(said('q0', 'other'))]).toEqual([undefined, false]);
  expect(engine.matches(said('q0'))).toBeUndefined();
});

describe('a long chain', () => {
  test('is loaded from its end, and further back on demand', async () => {
    const words = Array.from({ length: 450 }, (_, i) => `q${i}`);
    const { store } = await chat(...words);
    const engine = engineOn(store);
    await engine.ready();
    expect(engine.state.getState().loadedFrom).toBe(250);
    expect(engine.state.getState().messages).toHaveLength(200);
    await engine.loadMore();
    expect(engine.state.getState().loadedFrom).toBe(50);
    await engine.loadMore();
    expect([engine.state.getState().loadedFrom, engine.state.getState().messages.length]).toEqual([0, 450]);
    expect((await engine.resolve()).messages).toHaveLength(450);
  });
});
