import type { UIMessage } from 'ai';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ContextError } from '../../src/errors.ts';
import { assistant, user } from '../../src/fragment/message.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import type { StoreOp } from '../../src/store/store.ts';
import { branchesIn, engineOn, said, say, texts } from '../support/engine.ts';
import { refusing } from '../support/refusal.ts';

async function chat(...words: readonly string[]) {
  const store = new InMemoryContextStore();
  const engine = engineOn(store);
  await say(engine, ...words);
  return {
    store,
    engine,
    shown: () => texts(engine.state.getState().messages),
    branches: () => branchesIn(store),
  };
}

/** Notes when writes and reads of messages begin, and when they are done. */
function callsOf(store: InMemoryContextStore): string[] {
  const calls: string[] = [];
  const noted = async <T>(name: string, call: () => Promise<T>): Promise<T> => {
    calls.push(name);
    try {
      return await call();
    } finally {
      calls.push(`${name} is done`);
    }
  };
  const [append, getNodes] = [store.append.bind(store), store.getNodes.bind(store)];
  store.append = (...given) => noted('append', () => append(...given));
  store.getNodes = (...given) => noted('getNodes', () => getNodes(...given));
  return calls;
}

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
    const rewind = async () => void names.push((await engine.rewind('q1')).name);
    await rewind();
    await rewind();
    await engine.switchBranch('main');
    await rewind();
    await engine.switchBranch('main');
    await engine.deleteBranch('main-v2');
    await rewind();
    expect(names).toEqual(['main-v2', 'main-v2-v2', 'main-v3', 'main-v2']);
  });

  test('drops what was pending', async () => {
    const { engine } = await chat('q1', 'a1');
    engine.set(user(said('q2')));
    await engine.rewind('q1');
    expect(engine.state.getState().pending).toEqual([]);
  });

  test('refuses an unknown message', async () => {
    const { engine } = await chat('q1');
    await expect(engine.rewind('zzz')).rejects.toMatchObject({
      code: 'message-not-found',
      message: 'Message "zzz" not found',
    });
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

  test('asks for what it shows and for the mark right behind, and waits for both at once', async () => {
    const { store, engine } = await chat('q1', 'a1');
    await engine.rewind('q1');
    await say(engine, 'a2');
    const other = engineOn(store);
    await other.ready();
    const asked = callsOf(store);
    await other.switchBranch('main');
    expect(asked.slice(0, 2)).toEqual(['getNodes', 'append']);
    expect(asked).toHaveLength(4);
    expect(texts(other.state.getState().messages)).toBe('q1 > a1');
  });

  test('is seen before its mark is written, however long the database is busy', async () => {
    const { store, engine, shown } = await chat('q1', 'a1');
    await engine.rewind('q1');
    const append = store.append.bind(store);
    const { promise: isFree, resolve: free } = Promise.withResolvers<void>();
    store.append = (...given) => isFree.then(() => append(...given));
    const seen: string[] = [];
    engine.state.subscribe(({ branch }) => seen.push(`${branch}: ${shown()}`));
    engine.subscribe(({ type }) => seen.push(type));
    const switching = engine.switchBranch('main');
    await expect.poll(() => seen).toEqual(['main: q1 > a1']);
    free();
    await switching;
    expect(seen).toEqual(['main: q1 > a1', 'switch', 'main: q1 > a1']);
    expect(engine.state.getState().chat?.activeBranchId).toBe(engine.state.getState().branchId);
  });

  /** Three versions of an answer, the last one shown, and a database that takes marks one by one, when it is told to. */
  async function versions() {
    const { store, engine, shown, branches } = await chat('q1', 'a1');
    await say(engine, 'a1=a2');
    await say(engine, 'a1=a3');
    const ids = engine.siblings(engine.headMessageId ?? '').ids;
    const append = store.append.bind(store);
    const waiting: ((isRefused: boolean) => void)[] = [];
    store.append = async (...given) => {
      const isRefused = await new Promise<boolean>((resolve) => waiting.push(resolve));
      if (isRefused) throw new ContextError('invariant', 'no');
      return append(...given);
    };
    const decide = async (isRefused: boolean): Promise<void> => {
      await expect.poll(() => waiting).toHaveLength(1);
      waiting.pop()?.(isRefused);
    };
    const seen = [shown()];
    engine.state.subscribe(() => shown() !== seen.at(-1) && seen.push(shown()));
    /** Clicks on one after another, and looks at each. */
    const click = async (...versions: readonly number[]): Promise<Promise<void>[]> => {
      const clicks: Promise<void>[] = [];
      for (const version of versions) {
        clicks.push(engine.selectSibling(ids[version] ?? ''));
        await new Promise((resolve) => setTimeout(resolve));
      }
      return clicks;
    };
    return { store, engine, shown, seen, ids, click, decide, branches };
  }

  test('is seen at once however many before it are still to be marked', async () => {
    const { engine, seen, click, decide, store } = await versions();
    const clicks = await click(1, 0, 1, 2);
    expect(seen).toEqual(['q1 > a3', 'q1 > a2', 'q1 > a1', 'q1 > a2', 'q1 > a3']);
    for (const _ of clicks) await decide(false);
    await Promise.all(clicks);
    expect(seen).toHaveLength(5);
    expect((await store.getChat('c'))?.activeBranchId).toBe(engine.state.getState().branchId);
    expect(engine.branch).toBe('main-v3');
  });

  test('takes the view back to the last one that was not refused', async () => {
    const { engine, shown, seen, click, decide } = await versions();
    const [first, second] = await click(1, 0);
    const refused = second?.catch((error: unknown) => error);
    await decide(false);
    await first;
    expect(shown()).toBe('q1 > a1');
    await decide(true);
    expect(await refused).toMatchObject({ code: 'invariant' });
    expect([engine.branch, shown()]).toEqual(['main-v2', 'q1 > a2']);
    expect(seen).toEqual(['q1 > a3', 'q1 > a2', 'q1 > a1', 'q1 > a2']);
  });

  test('stays where a later one is shown by the time that it is refused', async () => {
    const { engine, shown, seen, click, decide } = await versions();
    const [first, second] = await click(1, 0);
    const refused = first?.catch((error: unknown) => error);
    await decide(true);
    expect(await refused).toMatchObject({ code: 'invariant' });
    await decide(false);
    await second;
    expect([engine.branch, shown()]).toEqual(['main', 'q1 > a1']);
    expect(seen).toEqual(['q1 > a3', 'q1 > a2', 'q1 > a1']);
  });

  test('takes the view back to the beginning where all are refused', async () => {
    const { engine, shown, seen, click, decide } = await versions();
    const clicks = await click(1, 0);
    const refused = clicks.map((one) => one.catch((error: unknown) => error));
    for (const _ of clicks) await decide(true);
    expect(await Promise.all(refused)).toMatchObject([{ code: 'invariant' }, { code: 'invariant' }]);
    expect([engine.branch, shown()]).toEqual(['main-v3', 'q1 > a3']);
    expect(seen).toEqual(['q1 > a3', 'q1 > a2', 'q1 > a1', 'q1 > a3']);
  });

  test('waits behind whatever is meant for what was shown before it', async () => {
    const { engine, seen, ids, decide, branches } = await versions();
    const first = engine.switchBranch('main');
    const asking = engine.continue(said('q2'), { id: 'a4' });
    const second = engine.selectSibling(ids[1] ?? '');
    await expect.poll(() => seen).toEqual(['q1 > a3', 'q1 > a1']);
    await decide(false);
    await decide(false);
    await asking;
    await decide(false);
    await Promise.all([first, second]);
    expect(seen).toEqual(['q1 > a3', 'q1 > a1', 'q1 > a1 > q2', 'q1 > a2']);
    expect(await branches()).toMatchObject({ main: 'q1 > a1 > q2 > ', 'main-v2': 'q1 > a2' });
  });

  test('goes back to what was shown where it is refused', async () => {
    const { store, engine, shown, branches } = await chat('q1', 'a1', 'q2');
    await engine.rewind('a1');
    await engine.checkout('q1');
    const before = [engine.branch, engine.state.getState().detached, shown()];
    const seen: string[] = [];
    engine.state.subscribe(() => seen.push(shown()));
    store.append = async () => Promise.reject(new ContextError('invariant', 'no'));
    await expect(engine.switchBranch('main')).rejects.toMatchObject({ code: 'invariant' });
    expect([engine.branch, engine.state.getState().detached, shown()]).toEqual(before);
    expect(seen).toContain('q1 > a1 > q2');
    expect(await branches()).toMatchObject({ main: 'q1 > a1 > q2' });
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

  test('shows nothing of a branch that is refused before its words are here', async () => {
    const { store, engine, seen } = await unread();
    const getNodes = store.getNodes.bind(store);
    const { promise: isRefused, resolve: tell } = Promise.withResolvers<void>();
    store.getNodes = (...given) => isRefused.then(() => getNodes(...given));
    store.append = async () => Promise.reject(new ContextError('invariant', 'no'));
    engine.subscribe(({ type }) => type === 'error' && tell());
    await expect(engine.switchBranch('main')).rejects.toMatchObject({ code: 'invariant' });
    expect([engine.branch, seen]).toEqual(['main-v2', []]);
  });

  test('shows no part of a chat that is deleted meanwhile', async () => {
    const { store, engine, seen } = await unread();
    const deleting = store.deleteChat('c');
    await expect(engine.switchBranch('main')).rejects.toMatchObject({ code: 'chat-deleted' });
    await deleting;
    expect(new Set(seen)).toEqual(new Set(['main-v2: q1 > a2']));
  });

  test('stays, with what is pending, where the words of the other branch can not be read', async () => {
    const { store, engine, seen } = await unread();
    engine.set(user(said('q2')));
    store.getNodes = async () => Promise.reject(new ContextError('store-closed', 'no'));
    await expect(engine.switchBranch('main')).rejects.toMatchObject({ code: 'store-closed' });
    engine.set(user(said('q3')));
    expect(engine.state.getState().pending).toHaveLength(2);
    expect(new Set(seen)).toEqual(new Set(['main-v2: q1 > a2']));
  });

  test('stays with words that were kept, where they went, when the mark behind them is refused', async () => {
    const { store: disk, engine: other } = await chat('q1', 'a1');
    const { store, refuse } = refusing(disk);
    const engine = engineOn(store);
    await engine.rewind('q1');
    refuse('quota-exceeded');
    await engine.continue(said('q2'), { id: 'a2' });
    await engine.updateMessage('a2', said('a2'), 'complete');
    await other.switchBranch('main-v2');
    await say(other, 'q3');
    refuse(undefined);
    const append = disk.append.bind(disk);
    disk.append = async (chatId, ops, options) => {
      if (ops.every(({ op }) => op === 'use')) throw new ContextError('invariant', 'no');
      return append(chatId, ops, options);
    };
    await expect(engine.switchBranch('main')).rejects.toMatchObject({ code: 'invariant' });
    expect([engine.branch, texts(engine.state.getState().messages)]).toEqual(['main-v2-v2', 'q1 > q2 > a2']);
  });

  test('keeps what is pending to be seen until the mark is written, and where it is refused', async () => {
    const { store, engine, shown } = await chat('q1', 'a1');
    await engine.rewind('q1');
    engine.set(user(said('q2')));
    const append = store.append.bind(store);
    store.append = async () => Promise.reject(new ContextError('invariant', 'no'));
    await expect(engine.switchBranch('main')).rejects.toMatchObject({ code: 'invariant' });
    expect([engine.branch, shown()]).toEqual(['main-v2', 'q1']);
    expect(engine.state.getState().pending).toHaveLength(1);
    store.append = append;
    const seen: [string, number][] = [];
    engine.state.subscribe(({ branch, pending }) => seen.push([branch, pending.length]));
    await engine.switchBranch('main');
    expect(seen).toEqual([['main', 0]]);
  });

  describe('where the browser tells when it has nothing to do', () => {
    let idle: (() => void) | undefined;
    beforeEach(() => {
      vi.stubGlobal('requestIdleCallback', (work: () => void) => ((idle = work), 1));
      vi.stubGlobal('cancelIdleCallback', () => (idle = undefined));
    });
    afterEach(() => {
      vi.unstubAllGlobals();
      idle = undefined;
    });

    /** An engine on `q1 > a2` that has read nothing of `main`, which is `q1 > a1`. */
    async function beside() {
      const { store, engine } = await chat('q1', 'a1');
      await engine.rewind('q1');
      await say(engine, 'a2');
      const other = engineOn(store);
      await other.ready();
      return { store, engine, other };
    }

    test('it has been read before', async () => {
      const { store, other } = await beside();
      const asked = callsOf(store);
      idle?.();
      await expect.poll(() => asked).toEqual(['getNodes', 'getNodes is done']);
      asked.length = 0;
      await other.switchBranch('main');
      expect(asked).toEqual(['append', 'append is done']);
      expect(texts(other.state.getState().messages)).toBe('q1 > a1');
    });

    test('what of it can not be sent is told of when it is to be sent, and no app is asked before', async () => {
      const { store } = await beside();
      const broken = { ...said('a3'), parts: [{ type: 'text' }] } as unknown as UIMessage;
      const ops: StoreOp[] = [
        { op: 'insert', id: 'a3', parentId: 'q1', data: broken, status: 'complete' },
        { op: 'branch', id: 'b', name: 'broken', messageId: 'a3' },
      ];
      await store.append('c', ops, { userId: 'u', epoch: 0, mainBranchId: 'main' });
      const validate = vi.fn<() => void>();
      for (const options of [{}, { validate }]) {
        const engine = engineOn(store, options);
        const errors: string[] = [];
        engine.subscribe((event) => event.type === 'error' && errors.push(event.id ?? ''));
        await engine.ready();
        const asked = callsOf(store);
        idle?.();
        await expect.poll(() => asked).toContain('getNodes is done');
        await engine.switchBranch('broken');
        expect([errors, validate.mock.calls.length]).toEqual([[], 0]);
        expect(texts((await engine.resolve()).messages)).toBe('q1');
        expect(errors).toEqual(['a3']);
        await engine.switchBranch('main');
        expect(texts((await engine.resolve()).messages)).toBe('q1 > a1');
        await engine.switchBranch('main-v2');
      }
      expect(validate.mock.calls.flat(2)).toEqual([said('q1'), said('a1')]);
    });

    test('words that were changed meanwhile are read again', async () => {
      const { store, engine, other } = await beside();
      const getNodes = store.getNodes.bind(store);
      let arrive: (() => void) | undefined;
      const late = new Promise<void>((resolve) => (arrive = resolve));
      store.getNodes = async (...given) => {
        const nodes = await getNodes(...given);
        await late;
        return nodes;
      };
      idle?.();
      await engine.switchBranch('main');
      engine.set(assistant(said('a1', 'changed')));
      store.getNodes = getNodes;
      await engine.save({ branch: false });
      await expect.poll(() => other.node('a1')?.rev).toBe(2);
      arrive?.();
      await other.switchBranch('main');
      expect(other.state.getState().messages.at(-1)).toMatchObject(said('a1', 'changed'));
    });

    test('nothing is read for an engine that is not watched any more', async () => {
      const { other } = await beside();
      other.dispose();
      expect(idle).toBeUndefined();
    });
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

  test('has nowhere to start in an empty chat', async () => {
    await expect(engineOn().btw()).rejects.toMatchObject({
      code: 'empty-branch',
      message: 'Cannot create btw branch: no messages in conversation',
    });
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

  test('that are unknown, or have nothing to name, are refused in words', async () => {
    const { engine } = await chat();
    await expect(engine.restore('nope')).rejects.toMatchObject({
      code: 'checkpoint-not-found',
      message: 'Checkpoint "nope" not found in chat "c"',
    });
    await expect(engine.checkpoint('here')).rejects.toThrow(
      'Cannot create checkpoint: no messages in conversation',
    );
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

test('branches and checkpoints that did not change stay the objects that they were, wherever they stand now', async () => {
  const { engine } = await chat('q1', 'a1');
  for (const name of ['one', 'two', 'three']) await engine.checkpoint(name);
  await engine.btw();
  await engine.btw();
  const { branches, checkpoints } = engine.state.getState();
  await engine.deleteBranch('main-v2');
  await engine.checkpoint('four');
  await engine.deleteCheckpoint('two');
  const after = engine.state.getState();
  expect(after.branches.map((branch) => branches.indexOf(branch))).toEqual([0, 2]);
  expect(after.checkpoints.map((one) => checkpoints.indexOf(one))).toEqual([-1, 0, 2]);
});

describe('versions of a message', () => {
  test('are the children of one parent that live branches reach', async () => {
    const { engine, shown } = await chat('q1', 'a1');
    const second = (await say(engine, 'a1=again')) as string;
    const third = (await say(engine, 'a1=once more')) as string;
    expect(engine.siblings('a1')).toEqual({ index: 0, ids: ['a1', second, third] });
    expect(engine.siblings('unknown')).toEqual({ index: -1, ids: [] });
    await engine.selectSibling('a1');
    expect([engine.branch, shown()]).toEqual(['main', 'q1 > a1']);
    await engine.deleteBranch('main-v2');
    expect(engine.siblings(third)).toEqual({ index: 1, ids: ['a1', third] });
  });

  test('keep their object while nothing about them changes', async () => {
    const { engine } = await chat('q1', 'a1');
    const before = engine.siblings('q1');
    await say(engine, 'q2', 'a2', 'a2=other');
    expect(engine.siblings('q1')).toBe(before);
  });

  test('have one list: of thousands, each would keep thousands', async () => {
    const { engine } = await chat('q1', 'a1');
    await say(engine, 'a1=again');
    const [first, second] = engine.siblings('a1').ids as [string, string];
    expect(engine.siblings(second).ids).toBe(engine.siblings(first).ids);
    await say(engine, 'a1=once more');
    expect(engine.siblings(second).ids).toHaveLength(3);
    expect(engine.siblings(first).ids).toEqual(engine.siblings(second).ids);
  });

  test('selecting one shows the branch used last that holds it, also after a reload', async () => {
    const { store, engine } = await chat('q1', 'a1', 'q2');
    await say(engine, 'a1=b1', 'q5');
    await engine.rewind('a1');
    await say(engine, 'q9');
    await engine.selectSibling(engine.siblings('a1').ids[1] as string);
    const reopened = engineOn(store);
    await reopened.selectSibling('a1');
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
    const b2 = await engine.edit('a2', 'b2');
    const r = await engine.edit('q1', 'other root');
    expect(engine.forks()).toEqual([
      { parentId: 'q2', children: ['a2', b2] },
      { parentId: null, children: ['q1', r] },
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

describe('the chat', () => {
  test('has a title and metadata that merge, and usage that adds up', async () => {
    const { store, engine } = await chat('q1');
    await engine.updateChat({ title: 'Python', metadata: { tags: ['a'], n: { x: 1 } } });
    await engine.updateChat({ metadata: { n: { y: 2 } } });
    await Promise.all([
      engine.trackUsage({ inputTokens: 2, details: { cached: 1 } }),
      engineOn(store).trackUsage({ inputTokens: 3, details: { cached: 4 } }),
    ]);
    await engine.ready();
    expect(await store.getChat('c')).toMatchObject({
      title: 'Python',
      metadata: { tags: ['a'], n: { y: 2 }, usage: { inputTokens: 5, details: { cached: 5 } } },
    });
  });

  test("merges the engine's metadata with the first write", async () => {
    const { store } = await chat('q1');
    const engine = engineOn(store, { metadata: { source: 'web' } });
    await engine.ready();
    expect(engine.chat?.metadata).toBeUndefined();
    await say(engine, 'a1');
    expect(engine.chat?.metadata).toEqual({ source: 'web' });
  });
});
