import 'fake-indexeddb/auto';
import type { UIMessage } from 'ai';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ContextEngine } from '../../src/engine/engine.ts';
import { ContextError, isContextError } from '../../src/errors.ts';
import { role } from '../../src/fragment/builders.ts';
import { createId } from '../../src/fragment/id.ts';
import { assistantText, user } from '../../src/fragment/message.ts';
import { IndexedDBContextStore } from '../../src/store/indexeddb/store.ts';
import { dumpDatabase, loadDatabase } from '../support/dump.ts';
import { Folder, MemoryFiles } from '../support/files.ts';
import { head, insert, me, message } from '../support/graph.ts';

// The browser deletes the database while a chat is open.

const engines: ContextEngine[] = [];

function opened(engine: ContextEngine): ContextEngine {
  engines.push(engine);
  return engine;
}

/** One that looks from time to time would open the database of the next story. */
function disposeAll(): void {
  for (const engine of engines.splice(0)) engine.dispose();
}

/** Each story has a database of its own: what is still on its way when one ends must not come out in the next. */
let database: string;

describe('an open chat whose database is wiped', () => {
  let store: IndexedDBContextStore;
  const open = (options: { persistFragments?: boolean } = {}): ContextEngine =>
    opened(new ContextEngine({ store, chatId: 'c', userId: 'me', ...options }));
  const shown = (engine: ContextEngine): string[] => engine.state.getState().messages.map(({ id }) => id);
  const ask = (engine: ContextEngine, id: string): Promise<string> =>
    engine.continue({ id, role: 'user', parts: [{ type: 'text', text: id }] });

  beforeEach(async () => {
    database = createId();
    store = new IndexedDBContextStore(database);
    const first = open();
    await first.set(user('one', { id: 'q1' }), assistantText('two', { id: 'a1' })).save();
    first.dispose();
  });
  afterEach(async () => {
    disposeAll();
    await store.close();
  });

  it('is written again from what is shown, with the next turn', async () => {
    const engine = open();
    await engine.ready();
    await wipe();
    await ask(engine, 'q2');
    expect(engine.state.getState().saveState).toEqual({ state: 'saved', pending: 0 });
    const other = open();
    await other.ready();
    expect(shown(other)).toEqual(['q1', 'a1', 'q2']);
    expect(other.state.getState().branches).toMatchObject([{ name: 'main', messageCount: 3 }]);
  });

  it('is written from the first message whose words it has, where it is longer than what was read of it', async () => {
    const ids = Array.from({ length: 300 }, (_, i) => `m${i}`);
    const before = open();
    await before.set(...ids.map((id) => user(id, { id }))).save();
    before.dispose();
    const engine = open();
    await engine.ready();
    const words = shown(engine);
    expect(words).toHaveLength(200);
    await wipe();
    await ask(engine, 'last');
    expect(engine.state.getState().saveState).toEqual({ state: 'saved', pending: 0 });
    expect(shown(engine).slice(-2)).toEqual(['m299', 'last']);
    expect(await engine.verify()).toEqual([]);
    await ask(engine, 'and on');
    const questions = (await store.getMessages('c')).filter(({ name }) => name === 'user');
    expect(questions.map(({ id }) => id)).toEqual([...words, 'last', 'and on']);
    expect(await open().verify()).toEqual([]);
  });

  it('counts what is there to be shown, where the first words of it are nowhere any more', async () => {
    const first = open();
    await first.set(...questions(250)).save();
    first.dispose();
    const engine = open();
    await engine.ready();
    await wipe();
    await engine.set(user('last'), user('and on')).save();
    const other = open();
    await other.ready();
    expect(seenOf(other)).toEqual({ earlier: 2, messages: 200, all: 202 });
    expect(seenOf(engine)).toEqual({ earlier: 0, messages: 202, all: 202 });
    await other.loadMore();
    expect(seenOf(other)).toEqual({ earlier: 0, messages: 202, all: 202 });
  });

  it('brings earlier messages each time that somebody asks for some, past those whose words are nowhere', async () => {
    const first = open();
    await first.set(...questions(300)).save();
    const { name } = await first.rewind('m9');
    await first.switchBranch('main');
    first.dispose();
    const engine = open();
    await engine.ready();
    await engine.resolve({ branch: name });
    await wipe();
    await engine.set(user('last'), user('and on')).save();
    const other = open();
    await other.ready();
    await other.loadMore(2);
    const { earlier, messages } = seenOf(other);
    expect(earlier).toBeGreaterThan(0);
    await other.loadMore(1);
    expect(seenOf(other)).toMatchObject({ earlier: earlier - 1, messages: messages + 1 });
    await other.loadMore(50);
    expect(seenOf(other)).toMatchObject({ earlier: 0, messages: earlier + messages });
    expect(await other.verify()).toEqual([]);
  });

  const firstWrites: Record<string, (engine: ContextEngine) => Promise<unknown>> = {
    'a question that waits': (engine) => engine.keepFields('contextree:queued:c', { q9: { at: 1 } }),
    'a checkpoint': (engine) => engine.checkpoint('here'),
    'a title': (engine) => engine.updateChat({ title: 'Trees' }),
    'what a call cost': (engine) => engine.trackUsage({ tokens: 3 }),
    'another branch that is shown': (engine) => engine.switchBranch('aside'),
    'another name for a branch': (engine) => engine.renameBranch('aside', 'beside'),
    'a way back': (engine) => engine.rewind('q1'),
    'other words': (engine) =>
      engine.updateMessage('a1', (words) => ({ ...words, parts: [{ type: 'text', text: '2' }] })),
    'fragments alone': (engine) => engine.set(role('You are terse.')).save(),
  };
  for (const [what, write] of Object.entries(firstWrites))
    it(`is written again with whatever is written first: ${what}`, async () => {
      const before = open();
      await before.renameBranch((await before.btw()).name, 'aside');
      before.dispose();
      const engine = open({ persistFragments: true });
      await engine.ready();
      await wipe();
      await write(engine);
      const written = open();
      await written.ready();
      expect(outlineOf(written)).toEqual(outlineOf(engine));
      expect(outlineOf(engine).branches.slice(0, 2)).toMatchObject([
        { messageCount: 2 },
        { messageCount: 2 },
      ]);
      const { branch } = engine.state.getState();
      const words = shown(engine);
      await ask(engine, 'q2');
      expect(engine.state.getState().branch).toBe(branch);
      const asked = open();
      await asked.ready();
      expect(shown(asked)).toEqual([...words, 'q2']);
      expect(await asked.verify()).toEqual([]);
    });

  it('comes back with each checkpoint of a deleted branch', async () => {
    const engine = open();
    await engine.checkpoint('early');
    await engine.set(user('three', { id: 'q3' })).save();
    await engine.checkpoint('late');
    await engine.rewind('q1');
    await engine.set(assistantText('another', { id: 'b1' })).save();
    await engine.deleteBranch('main');
    await wipe();
    await ask(engine, 'q4');
    expect(await open().verify()).toEqual([]);
    const again = open();
    await again.restore('late');
    expect(shown(again)).toEqual(['q1', 'a1', 'q3']);
    await again.restore('early');
    expect(shown(again)).toEqual(['q1', 'a1']);
  });

  it('comes back with all that it was: branches and their names, checkpoints, title, cost and fragments', async () => {
    const engine = open({ persistFragments: true });
    await engine.set(role('You are terse.')).save();
    await engine.checkpoint('start', { at: 'q1' });
    await engine.updateChat({ title: 'Trees', metadata: { colour: 'green' } });
    await engine.trackUsage({ tokens: 3 });
    await engine.renameBranch('main', 'trunk');
    await engine.rewind('q1');
    await engine.set(assistantText('another', { id: 'b1' })).save();
    await engine.renameBranch('trunk-v2', 'main');
    const { title, metadata } = engine.state.getState().chat ?? {};
    const before = outlineOf(engine);
    await wipe();
    await engine.set(user('three', { id: 'q2' })).save();
    const other = open({ persistFragments: true });
    await other.ready();
    expect(shown(other)).toEqual(['q1', 'b1', 'q2']);
    expect(outlineOf(other)).toEqual(outlineOf(engine));
    expect(outlineOf(other).branches).toMatchObject([
      { name: 'trunk', messageCount: 2 },
      { name: 'main', isActive: true },
    ]);
    expect(outlineOf(other).checkpoints).toEqual(before.checkpoints);
    expect(other.state.getState().chat).toMatchObject({ title, metadata });
    expect(other.state.getState().fragments).toMatchObject([{ name: 'role', data: 'You are terse.' }]);
    expect(other.siblings('b1').ids).toEqual(['a1', 'b1']);
  });

  it('is written again with the questions that wait', async () => {
    const engine = open();
    const key = 'contextree:queued:c';
    await engine.keepFields(key, { q8: { at: 1 }, q9: { at: 2 } });
    await engine.keepFields(key, { q8: null });
    await wipe();
    await ask(engine, 'q2');
    expect(await store.get(key)).toEqual({ q9: { at: 2 } });
  });

  it('is written again with an answer that grows', async () => {
    const engine = open();
    const id = await ask(engine, 'q2');
    const say = (text: string, status: 'streaming' | 'complete'): Promise<void> =>
      engine.updateMessage(id, { id, role: 'assistant', parts: [{ type: 'text', text }] }, status);
    await say('thr', 'streaming');
    await wipe();
    await engine.checkpoint('here', { at: 'q1' });
    const [early] = await store.getNodes('c', [id]);
    expect(early).toMatchObject({ status: 'streaming', data: { parts: [{ text: 'thr' }] } });
    await say('three', 'complete');
    expect((await store.getMessages('c')).map(({ status }) => status)).toEqual(Array(4).fill('complete'));
    expect(outlineOf(engine).branches).toMatchObject([{ name: 'main', messageCount: 4 }]);
  });

  it('is written again by one of two tabs, and both go on in it', async () => {
    const [engine, second] = [open(), open()];
    await Promise.all([engine.ready(), second.ready()]);
    await wipe();
    await Promise.all([engine.checkpoint('one'), second.checkpoint('two')]);
    await second.set(user('and on', { id: 'q2' })).save();
    await expect.poll(() => shown(engine)).toEqual(['q1', 'a1', 'q2']);
    expect(outlineOf(engine)).toEqual(outlineOf(second));
    const { branches, checkpoints } = outlineOf(engine);
    expect(branches).toMatchObject([{ name: 'main', messageCount: 3 }]);
    expect(checkpoints.map(({ name }) => name).toSorted()).toEqual(['one', 'two']);
  });

  it('is followed by the other tab, also where much was written since the store left its note', async () => {
    const [engine, second] = [open(), open()];
    await Promise.all([engine.ready(), second.ready()]);
    await new Promise((resolve) => setTimeout(resolve, 20));
    for (const id of ['q2', 'q3', 'q4', 'q5']) await engine.set(user(id, { id })).save();
    await expect.poll(() => shown(second)).toEqual(shown(engine));
    await wipe();
    await engine.set(user('last', { id: 'last' })).save();
    await expect.poll(() => shown(second)).toEqual(shown(engine));
  });

  it('is written again with what waited for a disk that was full', async () => {
    const engine = open();
    await engine.ready();
    const append = vi
      .spyOn(store, 'append')
      .mockRejectedValueOnce(new ContextError('quota-exceeded', 'full'));
    const id = await ask(engine, 'q2');
    append.mockRestore();
    await wipe();
    await engine.updateMessage(
      id,
      { id, role: 'assistant', parts: [{ type: 'text', text: 'three' }] },
      'complete',
    );
    await engine.retry();
    expect(engine.state.getState().saveState).toEqual({ state: 'saved', pending: 0 });
    const other = open();
    await other.ready();
    expect(shown(other)).toEqual(['q1', 'a1', 'q2', id]);
    expect(outlineOf(other).branches).toMatchObject([{ name: 'main', messageCount: 4 }]);
  });

  it('says in its state what was lost, until somebody has taken note of it', async () => {
    const engine = open();
    await engine.ready();
    expect(engine.state.getState().dataLoss).toBeNull();
    await wipe();
    await ask(engine, 'q2');
    await expect
      .poll(() => engine.state.getState().dataLoss)
      .toMatchObject({ kind: 'all', chats: 1, messages: 2 });
    await engine.state.getState().dataLoss?.dismiss();
    await expect.poll(() => engine.state.getState().dataLoss).toBeNull();
  });

  it('is told of in no tab any more when all was cleared in one, nor missed there later', async () => {
    const tab = new IndexedDBContextStore(database);
    const both = [open(), opened(new ContextEngine({ store: tab, chatId: 'c', userId: 'me' }))];
    await Promise.all(both.map((engine) => engine.ready()));
    await wipe();
    await Promise.all([store.listChats(), tab.listChats()]);
    for (const one of both) await expect.poll(() => one.state.getState().dataLoss).not.toBeNull();
    await store.clear();
    for (const one of both) await expect.poll(() => one.state.getState().dataLoss).toBeNull();
    await wipe();
    await tab.listChats();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect([store.dataLoss, tab.dataLoss]).toEqual([undefined, undefined]);
    await tab.close();
  });

  it('is not saved any more, and says so, as soon as anybody looks at the database, until it is saved again', async () => {
    const engine = open();
    await engine.ready();
    const light = () => engine.state.getState().saveState;
    const second = open();
    await second.ready();
    await wipe();
    await store.listChats();
    await expect.poll(() => light().error?.code).toBe('data-loss');
    expect(light()).toMatchObject({ state: 'error', pending: 2 });
    expect(await store.listChats()).toEqual([]);
    expect(second.state.getState().saveState).toEqual(light());
    await engine.retry();
    expect(light()).toEqual({ state: 'saved', pending: 0 });
    await expect.poll(() => second.state.getState().saveState).toEqual(light());
    expect(await store.getMessages('c')).toHaveLength(2);
  });

  it('is not saved any more, either, where all that is lost are questions that wait', async () => {
    const engine = opened(new ContextEngine({ store, chatId: 'd', userId: 'me' }));
    await engine.keepFields('contextree:queued:d', { q9: { at: 1 } });
    await wipe();
    await store.listChats();
    const light = () => engine.state.getState().saveState;
    await expect.poll(light).toMatchObject({ error: { code: 'data-loss' }, pending: 1 });
    await engine.retry();
    expect(light()).toEqual({ state: 'saved', pending: 0 });
    expect(await store.get('contextree:queued:d')).toEqual({ q9: { at: 1 } });
  });

  it('has its last words again when the disk took the database back to an earlier day', async () => {
    const engine = open();
    await engine.ready();
    const earlier = await dumpDatabase(database);
    const answer = await ask(engine, 'q2');
    await wait(1200);
    await removeDatabase();
    await loadDatabase(database, earlier);
    await store.listChats();
    await expect.poll(() => engine.state.getState().dataLoss).toMatchObject({ kind: 'latest' });
    await expect.poll(async () => (await store.getMessages('c')).map(({ id }) => id)).toContain(answer);
    expect(shown(engine)).toEqual(['q1', 'a1', 'q2']);
    expect(await engine.verify()).toEqual([]);
  });

  it('is asked in again, too, when the disk took the database back to an earlier day', async () => {
    const engine = open();
    await engine.ready();
    const earlier = await dumpDatabase(database);
    for (const title of ['Trees', 'Old trees', 'Woods']) await engine.updateChat({ title });
    await wait(1200);
    await removeDatabase();
    await loadDatabase(database, earlier);
    const append = vi.spyOn(store, 'append');
    const asking = engine.continue(message('q1', 'one'));
    await Promise.race([asking, wait(1000)]);
    expect(append.mock.calls.length).toBeLessThan(10);
    append.mockRestore();
    expect(await store.getMessage('c', await asking)).toMatchObject({ parentId: 'q1' });
    expect(await engine.verify()).toEqual([]);
  });

  describe('and that another tab has open, too', () => {
    let engine: ContextEngine;
    let second: ContextEngine;
    const light = () => engine.state.getState().saveState;
    /** The disk has no room for what is done, and then the database goes, and somebody looks. */
    const fullThenLost = async (write: () => Promise<unknown>): Promise<void> => {
      const append = vi
        .spyOn(store, 'append')
        .mockRejectedValueOnce(new ContextError('quota-exceeded', 'full'));
      await write();
      append.mockRestore();
      await wipe();
      await store.listChats();
      await expect.poll(() => light().error?.code).toBe('data-loss');
    };

    beforeEach(async () => {
      [engine, second] = [open(), open()];
      await Promise.all([engine.ready(), second.ready()]);
    });

    it('is asked in again, though what the other tab wrote has numbers that were heard of before', async () => {
      await wait(20);
      // The note beside the database is a second old.
      for (const title of ['Trees', 'Old trees', 'Woods']) await engine.updateChat({ title });
      await wait(50);
      await removeDatabase();
      await engine.checkpoint('here');
      const append = vi.spyOn(store, 'append');
      const asking = second.continue({ id: 'q1', role: 'user', parts: [{ type: 'text', text: 'one' }] });
      await Promise.race([asking, wait(2000)]);
      expect(append.mock.calls.length).toBeLessThan(10);
      append.mockRestore();
      expect(second.state.getState().checkpoints).toMatchObject([{ name: 'here' }]);
      expect(await store.getMessage('c', await asking)).toMatchObject({ parentId: 'q1' });
    });

    it('tries again what a full disk refused, when the other tab has written the chat again', async () => {
      await fullThenLost(() => ask(engine, 'q2'));
      expect(light().pending).toBe(4);
      await second.retry();
      await expect.poll(light).toMatchObject({ error: { code: 'quota-exceeded' }, pending: 2 });
      await expect.poll(light, { timeout: 4000 }).toEqual({ state: 'saved', pending: 0 });
      expect((await store.getMessages('c')).map(({ id }) => id)).toEqual([
        'q1',
        'a1',
        'q2',
        expect.any(String),
      ]);
    });

    it('still says of a save() that it was refused', async () => {
      await fullThenLost(() =>
        engine
          .set(user('three', { id: 'q2' }))
          .save()
          .catch(() => undefined),
      );
      expect(light().pending).toBe(3);
      await second.retry();
      await expect.poll(light).toMatchObject({ error: { code: 'quota-exceeded' }, pending: 1 });
      await engine.retry();
      expect(light()).toEqual({ state: 'saved', pending: 0 });
    });

    it('has the questions that wait in both tabs, whichever writes it again', async () => {
      const key = 'contextree:queued:c';
      await engine.keepFields(key, { q8: { at: 1 } });
      await second.keepFields(key, { q9: { at: 2 } });
      await wipe();
      await ask(second, 'q2');
      await expect.poll(() => store.get(key)).toEqual({ q8: { at: 1 }, q9: { at: 2 } });
    });

    it('is shown in each tab as it was, though both asked something in the same place', async () => {
      const end = (tab: ContextEngine, id: string): Promise<void> =>
        tab.updateMessage(id, { id, role: 'assistant', parts: [{ type: 'text', text: 'two' }] }, 'complete');
      const answer = await ask(engine, 'q2');
      await wipe();
      const other = await ask(second, 'q3');
      const counts = async () => (await store.listBranches('c')).map(({ messageCount }) => messageCount);
      await expect.poll(counts).toEqual([4, 4]);
      await end(engine, answer);
      await end(second, other);
      await expect.poll(() => second.status(answer)).toBe('complete');
      await expect.poll(() => engine.status(other)).toBe('complete');
      expect(shown(engine)).toEqual(['q1', 'a1', 'q2', answer]);
      expect(shown(second)).toEqual(['q1', 'a1', 'q3', other]);
      expect(await second.verify()).toEqual([]);
    });

    it.each(['more', 'less'])(
      'shows what the disk refused where it was said, also where it is refused once more: another page has %s words',
      async (how) => {
        const answer = await ask(engine, 'q2');
        await engine.updateMessage(answer, message(answer, 'three'), 'complete');
        await expect.poll(() => shown(second)).toContain(answer);
        second.dispose();
        const write = store.append.bind(store);
        let isFull = true;
        const append = vi.spyOn(store, 'append').mockImplementation(async (...args) => {
          const isKept = args[1].some((op) => op.op === 'insert' && op.id === 'q3');
          // A disk says first that it has lost a chat.
          if (isKept && isFull && (await store.getChat('c'))?.createdAt === args[2].chatCreatedAt)
            throw new ContextError('quota-exceeded', 'full');
          return write(...args);
        });
        await ask(engine, 'q3');
        const load = vi.spyOn(store, 'load').mockRejectedValue(new ContextError('store-blocked', 'busy'));
        await wipe();
        const { branchId } = engine.state.getState();
        const other = new IndexedDBContextStore(database);
        const further = how === 'more' ? [insert('n1', 'q1')] : [];
        const turn = [
          insert('q1', null, 'one'),
          ...further,
          head(null, how === 'more' ? 'n1' : 'q1', branchId),
        ];
        await other.append('c', turn, { ...me, mainBranchId: branchId });
        await other.close();
        await wait(20);
        load.mockRestore();
        const whole = ['q1', 'a1', 'q2', answer, 'q3'];
        await expect(engine.retry()).rejects.toMatchObject({ code: 'quota-exceeded' });
        expect(shown(engine)).toEqual(whole);
        isFull = false;
        await engine.retry();
        expect(shown(engine)).toEqual(whole);
        expect(engine.state.getState().branches).toHaveLength(1 + further.length);
        append.mockRestore();
        expect(await engine.verify()).toEqual([]);
      },
    );

    it('has a branch that only one of them knew, without a word of its own', async () => {
      const load = vi.spyOn(store, 'load').mockRejectedValue(new ContextError('store-blocked', 'busy'));
      const { name } = await engine.rewind('q1');
      await wait(20);
      load.mockRestore();
      await wipe();
      await second.checkpoint('here');
      const names = async () => (await store.listBranches('c')).map((branch) => branch.name);
      await expect.poll(names).toEqual(['main', 'main-v2']);
      expect(shown(engine)).toEqual(['q1']);
      await engine.renameBranch(engine.branch, 'beside');
      expect(await names()).toEqual(['main', 'beside']);
      expect(name).toBe('main-v2');
    });

    it('has words that only one of them had read, in their place', async () => {
      const getNodes = store.getNodes.bind(store);
      const reads = vi
        .spyOn(store, 'getNodes')
        .mockImplementation(async (...args) => (await getNodes(...args)).filter(({ id }) => id !== 'q2'));
      await engine.set(user('three', { id: 'q2' }), user('four', { id: 'q3' })).save();
      await expect.poll(() => shown(second)).toEqual(['q1', 'a1', 'q3']);
      await wipe();
      reads.mockRestore();
      await second.checkpoint('here');
      await expect.poll(() => shown(second)).toEqual(['q1', 'a1', 'q2', 'q3']);
      expect(shown(engine)).toEqual(shown(second));
      expect(outlineOf(engine).branches).toMatchObject([{ name: 'main', messageCount: 4 }]);
      expect(await second.verify()).toEqual([]);
    });

    it('has the beginning on a branch of its own that the other tab had not read', async () => {
      const ids = Array.from({ length: 300 }, (_, i) => `m${i}`);
      await engine.set(...ids.map((id) => user(id, { id }))).save();
      const third = open();
      await third.ready();
      second.dispose();
      await wipe();
      await third.checkpoint('here');
      const counts = async () => (await store.listBranches('c')).map(({ messageCount }) => messageCount);
      await expect.poll(counts).toEqual([200, 102]);
      expect(await third.verify()).toEqual([]);
    });

    it('has its title again and what the app keeps with it, where a new page began it without', async () => {
      await engine.updateChat({ title: 'Trees', metadata: { colour: 'green', shape: 'round' } });
      await wipe();
      const fresh = open();
      await fresh.ready();
      await fresh.updateChat({ metadata: { colour: 'blue' } });
      await expect
        .poll(() => store.getChat('c'))
        .toMatchObject({
          title: 'Trees',
          metadata: { colour: 'blue', shape: 'round' },
          messageCount: 2,
        });
      await fresh.updateChat({ title: null });
      await ask(engine, 'q2');
      await ask(second, 'q3');
      expect((await store.getChat('c'))?.title).toBeUndefined();
    });

    describe('while a new page of an app that numbers its messages says other things under the same ids', () => {
      const words = (messages: readonly UIMessage[]): string[] =>
        messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'text' ? part.text : [])));
      const seenIn = (one: ContextEngine): string[] => words(one.state.getState().messages);
      const branches = async (): Promise<Record<string, string[]>> => {
        const live = await store.listBranches('c');
        const chains = await Promise.all(
          live.map(async ({ headMessageId }) => store.getMessageChain('c', headMessageId ?? '')),
        );
        return Object.fromEntries(
          live.map(({ name }, i) => [name, words(chains[i]?.map(({ data }) => data) ?? [])]),
        );
      };
      const beginAnew = async (): Promise<ContextEngine> => {
        const fresh = open();
        await fresh.ready();
        await fresh.set(user('uno', { id: 'q1' }), assistantText('dos', { id: 'a1' })).save();
        return fresh;
      };

      it('has the words of both', async () => {
        await engine.checkpoint('there', { at: 'q1' });
        await wipe();
        const fresh = await beginAnew();
        await expect.poll(branches).toEqual({ main: ['uno', 'dos'], 'main-v2': ['one', 'two'] });
        for (const one of [engine, second]) await expect.poll(() => seenIn(one)).toEqual(['one', 'two']);
        expect(seenIn(fresh)).toEqual(['uno', 'dos']);
        await engine.restore('there');
        expect(seenIn(engine)).toEqual(['one']);
        await ask(second, 'three');
        await expect.poll(branches).toMatchObject({ 'main-v2': ['one', 'two', 'three'] });
        expect(await open().verify()).toEqual([]);
      });

      it('has them also where the open one writes first', async () => {
        await wipe();
        await Promise.all([
          ask(engine, 'three'),
          open()
            .set(user('uno', { id: 'q1' }))
            .save(),
        ]);
        await expect.poll(() => seenIn(engine)).toEqual(['one', 'two', 'three']);
        expect(Object.values(await branches())).toContainEqual(['one', 'two', 'three']);
        expect(await open().verify()).toEqual([]);
      });

      it.each(['by itself', 'with the next turn'])(
        'has them, %s, also where another chat had its id before, and was deleted',
        async (how) => {
          for (const one of [engine, second]) one.dispose();
          await store.deleteChat('c');
          const later = open();
          await later.set(user('one', { id: 'q1' }), assistantText('two', { id: 'a1' })).save();
          await wipe();
          const fresh = await beginAnew();
          const asked = how === 'by itself' ? [] : ['three'];
          for (const question of asked) await ask(later, question);
          await expect.poll(branches).toEqual({ main: ['uno', 'dos'], 'main-v2': ['one', 'two', ...asked] });
          await expect.poll(() => seenIn(later)).toEqual(['one', 'two', ...asked]);
          expect(seenIn(fresh)).toEqual(['uno', 'dos']);
          expect(await open().verify()).toEqual([]);
        },
      );

      it('has words of which the disk did not tell at first that it took them', async () => {
        const write = store.append.bind(store);
        const append = vi.spyOn(store, 'append').mockImplementationOnce(async (...args) => {
          await write(...args);
          throw new ContextError('store-closed', 'gone');
        });
        await ask(engine, 'three');
        append.mockRestore();
        await engine.retry();
        await wipe();
        const fresh = await beginAnew();
        await fresh.set(user('tres', { id: 'three' })).save();
        await expect
          .poll(branches)
          .toEqual({ main: ['uno', 'dos', 'tres'], 'main-v2': ['one', 'two', 'three'] });
        expect(seenIn(engine)).toEqual(['one', 'two', 'three']);
        expect(await open().verify()).toEqual([]);
      });

      it('has words that are the same behind other ones', async () => {
        await engine.set(user('yes', { id: 'q2' }), assistantText('deleted', { id: 'a2' })).save();
        await expect.poll(() => seenIn(second)).toEqual(['one', 'two', 'yes', 'deleted']);
        await wipe();
        const fresh = await beginAnew();
        await fresh.set(user('yes', { id: 'q2' }), assistantText('ordered', { id: 'a2' })).save();
        await expect.poll(branches).toEqual({
          main: ['uno', 'dos', 'yes', 'ordered'],
          'main-v2': ['one', 'two', 'yes', 'deleted'],
        });
        for (const one of [engine, second])
          await expect.poll(() => seenIn(one)).toEqual(['one', 'two', 'yes', 'deleted']);
        expect(await open().verify()).toEqual([]);
      });

      it('has an answer that grows meanwhile where it was asked', async () => {
        const answer = (text: string): UIMessage => ({
          id: 'a2',
          role: 'assistant',
          parts: [{ type: 'text', text }],
        });
        await engine.continue(
          { id: 'q2', role: 'user', parts: [{ type: 'text', text: 'three' }] },
          { id: 'a2' },
        );
        await engine.updateMessage('a2', answer('fo'), 'streaming');
        await wipe();
        const fresh = await beginAnew();
        await fresh.set(user('tres', { id: 'q2' }), assistantText('cuatro', { id: 'a2' })).save();
        await wait(100);
        await engine.updateMessage('a2', answer('four'), 'complete');
        await expect.poll(branches).toEqual({
          main: ['uno', 'dos', 'tres', 'cuatro'],
          'main-v2': ['one', 'two', 'three', 'four'],
        });
        expect(seenIn(engine)).toEqual(['one', 'two', 'three', 'four']);
        expect(await open().verify()).toEqual([]);
      });

      it('has the words that its page had read of a long one, and none of the others before them', async () => {
        second.dispose();
        await engine.set(...Array.from({ length: 300 }, (_, i) => user(`m${i}`, { id: `m${i}` }))).save();
        engine.dispose();
        const third = open();
        await third.ready();
        const read = seenIn(third);
        await wipe();
        const fresh = open();
        await fresh.ready();
        await fresh.set(...['uno', 'dos', 'tres'].map((text, i) => user(text, { id: `m${i + 1}` }))).save();
        await expect.poll(branches).toEqual({ main: ['uno', 'dos', 'tres'], 'main-v2': read });
        expect(seenIn(third)).toEqual(read);
      });

      it('has what waited for the disk behind the words of its page', async () => {
        const append = vi
          .spyOn(store, 'append')
          .mockRejectedValueOnce(new ContextError('quota-exceeded', 'full'));
        await ask(engine, 'three');
        append.mockRestore();
        await wipe();
        await beginAnew();
        await engine.retry().catch(() => {});
        await expect.poll(branches).toEqual({ main: ['uno', 'dos'], 'main-v2': ['one', 'two', 'three'] });
        expect(seenIn(engine)).toEqual(['one', 'two', 'three']);
        expect(light()).toEqual({ state: 'saved', pending: 0 });
        expect(await open().verify()).toEqual([]);
      });
    });

    it('is followed by the other tab, too, where the clock was set back', async () => {
      await engine.rewind('q1');
      await engine.set(user('three', { id: 'b1' })).save();
      await expect.poll(() => second.state.getState().branches).toHaveLength(2);
      await wipe();
      const now = Date.now.bind(Date);
      const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() - 3_600_000);
      const fresh = open();
      await fresh.ready();
      await fresh.updateChat({ title: 'Trees' });
      await expect.poll(async () => (await store.load('c')).nodes).toHaveLength(3);
      clock.mockRestore();
    });

    it('has once what two tabs add to it', async () => {
      const third = open();
      await third.ready();
      const load = vi.spyOn(store, 'load').mockRejectedValueOnce(new ContextError('store-blocked', 'busy'));
      await second.set(user('three', { id: 'q2' })).save();
      await expect.poll(() => shown(engine).length + shown(third).length).toBe(5);
      load.mockRestore();
      const [behind, other] = shown(engine).length === 2 ? [engine, third] : [third, engine];
      await wipe();
      await behind.set(user('four', { id: 'q3' })).save();
      await expect.poll(async () => (await store.load('c')).nodes).toHaveLength(4);
      await wait(50);
      expect(await store.listBranches('c')).toMatchObject([{ headMessageId: 'q3' }, { headMessageId: 'q2' }]);
      expect(shown(second)).toEqual(['q1', 'a1', 'q2']);
      expect(shown(other)).toEqual(['q1', 'a1', 'q2']);
      expect(await store.listBranches('c')).toHaveLength(2);
    });

    it('has what two tabs add to it at the same moment, though one of them had not read words between', async () => {
      await second.rewind('q1');
      await expect.poll(() => engine.state.getState().branches).toHaveLength(2);
      await engine.switchBranch('main-v2');
      const getNodes = store.getNodes.bind(store);
      const reads = vi
        .spyOn(store, 'getNodes')
        .mockImplementation(async (...args) => (await getNodes(...args)).filter(({ id }) => id !== 'b1'));
      await second.set(user('three', { id: 'b1' }), user('four', { id: 'b2' })).save();
      await expect.poll(() => shown(engine)).toEqual(['q1', 'b2']);
      const load = vi.spyOn(store, 'load').mockRejectedValue(new ContextError('store-blocked', 'busy'));
      await second.switchBranch('main');
      await second.rewind('q1');
      await second.set(user('five', { id: 'c1' })).save();
      await wait(20);
      load.mockRestore();
      reads.mockRestore();
      await wipe();
      const fresh = open();
      await fresh.ready();
      await fresh.updateChat({ title: 'Trees' });
      const ids = async () => (await store.load('c')).nodes.map(({ id }) => id).toSorted();
      await expect.poll(ids).toEqual(['a1', 'b1', 'b2', 'c1', 'q1']);
      expect(shown(second)).toEqual(['q1', 'c1']);
      const names = () => outlineOf(engine).branches.map(({ name }) => name);
      await expect.poll(names).toEqual(['main', 'main-v2', 'main-v3']);
      expect(await second.verify()).toEqual([]);
    });

    it('has words in their place, where a tab adds what followed them and had not read them', async () => {
      const getNodes = store.getNodes.bind(store);
      const reads = vi
        .spyOn(store, 'getNodes')
        .mockImplementation(async (...args) => (await getNodes(...args)).filter(({ id }) => id !== 'b1'));
      await second.set(user('three', { id: 'b1' }), user('four', { id: 'b2' })).save();
      await expect.poll(() => shown(engine)).toEqual(['q1', 'a1', 'b2']);
      reads.mockRestore();
      await wipe();
      const fresh = open();
      await fresh.ready();
      await fresh.updateChat({ title: 'Trees' });
      for (const tab of [engine, second, fresh])
        await expect.poll(() => shown(tab)).toEqual(['q1', 'a1', 'b1', 'b2']);
      expect(await store.listBranches('c')).toMatchObject([{ name: 'main', headMessageId: 'b2' }]);
      expect(await second.verify()).toEqual([]);
    });

    it('is not saved in a tab whose words the disk would not take', async () => {
      await engine.set(user('three', { id: 'q2' })).save();
      await expect.poll(() => shown(second)).toEqual(['q1', 'a1', 'q2']);
      await second.rewind('q1');
      await second.set(user('four', { id: 'b1' })).save();
      await expect.poll(() => engine.state.getState().branches).toHaveLength(2);
      await wipe();
      await engine.checkpoint('here');
      // What the other tab adds to it.
      const append = vi.spyOn(store, 'append').mockRejectedValue(new ContextError('quota-exceeded', 'full'));
      await expect
        .poll(() => second.state.getState().saveState)
        .toMatchObject({ error: { code: 'quota-exceeded' }, pending: 1 });
      expect(shown(second)).toEqual(['q1', 'b1']);
      append.mockRestore();
      await second.retry();
      expect(second.state.getState().saveState).toEqual({ state: 'saved', pending: 0 });
      expect((await store.getMessages('c')).map(({ id }) => id)).toEqual(['q1', 'b1']);
    });

    it('is not taken for lost when everything is deleted on purpose', async () => {
      await fullThenLost(() => Promise.resolve());
      await store.clear();
      await expect.poll(() => engine.state.getState().error?.code).toBe('chat-deleted');
      expect(light()).toEqual({ state: 'saved', pending: 0 });
    });

    it('has the newest words of a message in both tabs, also where it was lost before one of them had read these', async () => {
      const textOf = (page: ContextEngine) => page.message('a1')?.parts;
      await wait(20);
      const read = store.getNodes.bind(store);
      const getNodes = vi.spyOn(store, 'getNodes').mockImplementationOnce(async (...asked) => {
        await removeDatabase();
        return read(...asked);
      });
      await second.updateMessage('a1', {
        id: 'a1',
        role: 'assistant',
        parts: [{ type: 'text', text: 'deux' }],
      });
      await expect.poll(() => getNodes.mock.calls.length).toBeGreaterThan(0);
      await expect.poll(() => light().error?.code).toBe('data-loss');
      await second.retry();
      await expect.poll(light).toEqual({ state: 'saved', pending: 0 });
      expect(textOf(second)).toEqual([{ type: 'text', text: 'deux' }]);
      await expect.poll(() => textOf(engine), { timeout: 4000 }).toEqual(textOf(second));
    });

    it.each(['with the next turn', 'where a new page has begun it'])(
      'has the words before those that another tab had given a message aside, %s',
      async (how) => {
        await engine.rewind('q1');
        await engine.set(user('three', { id: 'b1' })).save();
        await second.updateMessage('a1', {
          id: 'a1',
          role: 'assistant',
          parts: [{ type: 'text', text: 'deux' }],
        });
        await wait(20);
        second.dispose();
        await wipe();
        await store.listChats();
        await expect.poll(light).toMatchObject({ error: { code: 'data-loss' }, pending: 3 });
        if (how === 'with the next turn') await ask(engine, 'b2');
        else
          await open()
            .set(user('uno', { id: 'n1' }))
            .save();
        await expect
          .poll(async () => (await store.load('c')).nodes.map(({ id }) => id))
          .toEqual(expect.arrayContaining(['q1', 'a1', 'b1']));
        expect(await store.getMessage('c', 'a1')).toMatchObject({
          data: { parts: [{ text: 'two' }] },
          rev: 1,
        });
        expect(engine.message('a1')?.parts).toEqual([{ type: 'text', text: 'two' }]);
        expect(await open().verify()).toEqual([]);
      },
    );

    it('takes other words for a message to which another tab had given some that nobody has any more', async () => {
      await engine.rewind('q1');
      await engine.set(user('three', { id: 'b1' })).save();
      await second.updateMessage('a1', message('a1', 'deux'));
      await wait(20);
      second.dispose();
      await wipe();
      await engine.updateMessage('a1', message('a1', 'drei'));
      expect(await store.getMessage('c', 'a1')).toMatchObject({ data: message('a1', 'drei') });
      expect(await open().verify()).toEqual([]);
    });

    it('has the newest of them, too, from the other tab', async () => {
      await engine.rewind('q1');
      await engine.set(user('three', { id: 'b1' })).save();
      await expect.poll(() => second.state.getState().branches).toHaveLength(2);
      await second.updateMessage('a1', {
        id: 'a1',
        role: 'assistant',
        parts: [{ type: 'text', text: 'deux' }],
      });
      await wait(20);
      await wipe();
      await ask(engine, 'b2');
      const words = async () => (await store.getMessage('c', 'a1'))?.data.parts;
      await expect.poll(words).toEqual([{ type: 'text', text: 'deux' }]);
      await engine.switchBranch('main');
      await expect.poll(() => engine.message('a1')?.parts).toEqual([{ type: 'text', text: 'deux' }]);
    });

    it('has the words of both tabs, whichever writes it again', async () => {
      await engine.rewind('q1');
      await engine.set(user('three', { id: 'b1' }), user('four', { id: 'b2' })).save();
      await expect.poll(() => second.state.getState().branches).toHaveLength(2);
      await wipe();
      await second.checkpoint('here');
      await expect.poll(async () => (await store.getMessages('c')).map(({ id }) => id)).toContain('b2');
      expect(await store.listBranches('c')).toMatchObject([
        { name: 'main', messageCount: 2 },
        { name: 'main-v2', messageCount: 3 },
      ]);
      expect(shown(engine)).toEqual(['q1', 'b1', 'b2']);
      await expect.poll(light).toEqual({ state: 'saved', pending: 0 });
      await expect.poll(() => outlineOf(second).branches[1]).toMatchObject({ messageCount: 3 });
      expect(await second.verify()).toEqual([]);
    });

    it('has a branch again that the other tab did not know, to be renamed or deleted, and not the first one in its place', async () => {
      await engine.btw();
      await expect.poll(() => second.state.getState().branches).toHaveLength(2);
      const load = vi.spyOn(store, 'load').mockRejectedValue(new ContextError('store-blocked', 'busy'));
      const { id } = await engine.btw();
      await wait(20);
      load.mockRestore();
      await wipe();
      await second.checkpoint('here');
      const names = async () => (await store.listBranches('c')).map(({ name }) => name);
      await engine.renameBranch(id, 'beside');
      expect(await names()).toEqual(['main', 'main-v2', 'beside']);
      await engine.deleteBranch(id);
      expect(await names()).toEqual(['main', 'main-v2']);
    });
  });

  describe('and begun again by another user under its id', () => {
    let engine: ContextEngine;
    const light = () => engine.state.getState().saveState;
    const codeIn = (error: unknown) => (isContextError(error) ? error.code : error);
    const theirs = async (): Promise<string[]> => (await store.getMessages('c')).map(({ id }) => id);

    beforeEach(async () => {
      engine = open();
      await engine.ready();
      await wipe();
      const other = opened(new ContextEngine({ store, chatId: 'c', userId: 'you' }));
      await other.set(user('mine', { id: 'n1' })).save();
    });

    it('stays on the screen as it was, and says whose it is by now', async () => {
      await expect.poll(() => light().error?.code).toBe('wrong-user');
      expect(light()).toMatchObject({ state: 'error', pending: 2 });
      expect(shown(engine)).toEqual(['q1', 'a1']);
      expect(engine.state.getState().branches).toMatchObject([{ name: 'main', messageCount: 2 }]);
    });

    it('takes in nothing of theirs, and writes nothing into it, whatever is done', async () => {
      const done = await Promise.all([
        ask(engine, 'q2').catch(codeIn),
        engine
          .set(user('three', { id: 'q3' }))
          .save()
          .catch(codeIn),
        engine.edit('q1', 'other words').catch(codeIn),
        engine.rewind('q1').catch(codeIn),
        engine.keepFields('contextree:queued:c', { q9: { at: 1 } }).catch(codeIn),
        engine.retry().catch(codeIn),
      ]);
      expect(new Set(done)).toEqual(new Set(['wrong-user']));
      await wait(50);
      expect(shown(engine)).toEqual(['q1', 'a1']);
      expect(light()).toMatchObject({ state: 'error', error: { code: 'wrong-user' } });
      expect(await theirs()).toEqual(['n1']);
      expect(await store.get('contextree:queued:c')).toBeUndefined();
    });

    it('is written again once theirs is lost, too', async () => {
      await wipe();
      await ask(engine, 'q2');
      expect(light()).toEqual({ state: 'saved', pending: 0 });
      expect((await theirs()).slice(0, 3)).toEqual(['q1', 'a1', 'q2']);
    });
  });

  it('shows nothing of a chat that another user has begun first under its id', async () => {
    const mine = opened(new ContextEngine({ store, chatId: 'd', userId: 'me' }));
    await mine.ready();
    const other = opened(new ContextEngine({ store, chatId: 'd', userId: 'you' }));
    await other.set(user('mine', { id: 'n1' })).save();
    await wait(20);
    expect(shown(mine)).toEqual([]);
    await expect(ask(mine, 'q1')).rejects.toMatchObject({ code: 'wrong-user' });
    expect(shown(mine)).toEqual([]);
  });

  it('stays deleted where it was deleted before', async () => {
    const engine = open();
    await engine.ready();
    await store.deleteChat('c');
    await expect.poll(() => engine.state.getState().error?.code).toBe('chat-deleted');
    await wipe();
    await expect(ask(engine, 'q2')).rejects.toMatchObject({ code: 'chat-deleted' });
    expect(await store.listChats()).toEqual([]);
  });

  describe('and whose id had another one before, which was deleted', () => {
    const codeOf = ({ state }: ContextEngine): string | undefined => state.getState().error?.code;
    let engine: ContextEngine;

    beforeEach(async () => {
      await store.deleteChat('c');
      engine = open();
      await engine.set(user('one', { id: 'q1' }), assistantText('two', { id: 'a1' })).save();
      await wipe();
    });

    it('is shown in a new page, too, when it is written again: nothing of that was deleted', async () => {
      const fresh = open();
      await fresh.ready();
      await engine.set(user('three', { id: 'q2' })).save();
      await expect.poll(() => shown(fresh)).toEqual(['q1', 'a1', 'q2']);
      expect(codeOf(fresh)).toBeUndefined();
      const answer = await ask(fresh, 'q3');
      expect(shown(fresh)).toEqual(['q1', 'a1', 'q2', 'q3']);
      expect(await store.getMessage('c', answer)).toMatchObject({ parentId: 'q3' });
    });

    it('is none of those that were deleted, where a new page had begun one and deleted that at once', async () => {
      const load = vi.spyOn(store, 'load').mockRejectedValue(new ContextError('store-blocked', 'busy'));
      await store.append('c', [{ op: 'chat', title: 'Trees' }], {
        userId: 'me',
        epoch: 0,
        mainBranchId: 'm',
      });
      await store.deleteChat('c');
      await wait(20);
      load.mockRestore();
      await store.listChats();
      await expect.poll(() => engine.state.getState().saveState.error?.code).toBe('data-loss');
      await ask(engine, 'q2');
      expect((await store.getMessages('c')).slice(0, 3).map(({ id }) => id)).toEqual(['q1', 'a1', 'q2']);
      expect(shown(engine)).toEqual(['q1', 'a1', 'q2']);
      expect([codeOf(engine), engine.state.getState().saveState.state]).toEqual([undefined, 'saved']);
    });

    it('is not saved, and says so, where it hears only that one which a new page had begun is deleted', async () => {
      const load = vi.spyOn(store, 'load').mockRejectedValue(new ContextError('store-blocked', 'busy'));
      await store.append('c', [{ op: 'chat', title: 'Trees' }], me);
      await wait(20);
      load.mockRestore();
      await store.deleteChat('c');
      await wait(20);
      expect(engine.state.getState().saveState).toMatchObject({ error: { code: 'data-loss' }, pending: 2 });
    });

    it('has the words of a new page, where that had begun one and that is lost, too', async () => {
      const load = vi.spyOn(store, 'load').mockRejectedValue(new ContextError('store-blocked', 'busy'));
      const other = new IndexedDBContextStore(database);
      const fresh = opened(new ContextEngine({ store: other, chatId: 'c', userId: 'me' }));
      await fresh.set(user('mine', { id: 'n1' })).save();
      await wipe();
      load.mockRestore();
      await engine.set(user('three', { id: 'q2' })).save();
      const ids = async () => (await store.load('c')).nodes.map(({ id }) => id).toSorted();
      await expect.poll(ids).toEqual(['a1', 'n1', 'q1', 'q2']);
      expect([codeOf(fresh), shown(fresh)]).toEqual([undefined, ['n1']]);
      fresh.dispose();
      await other.close();
    });
  });

  describe('and that was deleted before, while a new page begins one under its id', () => {
    const keepFor = 60_000;
    const codeOf = ({ state }: ContextEngine): string | undefined => state.getState().error?.code;
    const there = async (): Promise<string[]> => (await store.getMessages('c')).map(({ id }) => id);
    const begin = async (): Promise<ContextEngine> => {
      await wipe();
      const fresh = open();
      await fresh.ready();
      await fresh.set(user('mine', { id: 'n1' })).save();
      return fresh;
    };
    let engine: ContextEngine;

    beforeEach(async () => {
      engine = open();
      await engine.ready();
    });

    const removals: Record<string, () => Promise<unknown>> = {
      deleted: () => store.deleteChat('c'),
      'deleted, and could have been brought back': () => store.deleteChat('c', { keepFor }),
      'cleared with all others': () => store.clear(),
    };
    for (const [how, remove] of Object.entries(removals))
      it(`adds nothing to that, whatever is done in its page: ${how}`, async () => {
        await remove();
        await expect.poll(() => codeOf(engine)).toBe('chat-deleted');
        const fresh = await begin();
        await wait(50);
        const codeIn = (error: unknown) => (isContextError(error) ? error.code : error);
        const done = await Promise.all([
          ask(engine, 'q2').catch(codeIn),
          engine.edit('q1', 'other words').catch(codeIn),
          engine.updateChat({ title: 'Trees' }).catch(codeIn),
          engine.keepFields('contextree:queued:c', { q9: { at: 1 } }).catch(codeIn),
        ]);
        expect(new Set(done)).toEqual(new Set(['chat-deleted']));
        await engine.retry().catch(() => {});
        await wait(50);
        expect([await there(), shown(engine), shown(fresh)]).toEqual([['n1'], ['q1', 'a1'], ['n1']]);
        expect(codeOf(engine)).toBe('chat-deleted');
        expect(await store.get('contextree:queued:c')).toBeUndefined();
      });

    it('stays deleted, too, where it was not the first one of its id, and that of the new page is deleted', async () => {
      await store.deleteChat('c');
      const later = open();
      await later.set(user('two', { id: 'q2' })).save();
      await store.deleteChat('c');
      await expect.poll(() => codeOf(later)).toBe('chat-deleted');
      await begin();
      await store.deleteChat('c');
      await wait(50);
      expect([codeOf(engine), codeOf(later)]).toEqual(['chat-deleted', 'chat-deleted']);
      expect(later.state.getState().saveState).toEqual({ state: 'saved', pending: 0 });
      await later.retry().catch(() => {});
      await expect(ask(later, 'q3')).rejects.toMatchObject({ code: 'chat-deleted' });
      expect(await store.listChats()).toEqual([]);
    });

    it('stays deleted, too, where the one of the new page is deleted and brought back', async () => {
      await store.deleteChat('c', { keepFor });
      await expect.poll(() => codeOf(engine)).toBe('chat-deleted');
      const fresh = await begin();
      await wait(50);
      await store.deleteChat('c', { keepFor });
      await expect.poll(() => codeOf(fresh)).toBe('chat-deleted');
      await store.restoreChat('c');
      await expect.poll(() => codeOf(fresh)).toBeUndefined();
      await wait(50);
      expect([await there(), codeOf(engine)]).toEqual([['n1'], 'chat-deleted']);
    });
  });

  it('counts once what a call cost while the disk was full', async () => {
    const engine = open();
    await engine.trackUsage({ tokens: 1 });
    const append = vi
      .spyOn(store, 'append')
      .mockRejectedValueOnce(new ContextError('quota-exceeded', 'full'));
    await engine.trackUsage({ tokens: 3 });
    append.mockRestore();
    await wipe();
    await engine.retry();
    expect(await store.getChat('c')).toMatchObject({ metadata: { usage: { tokens: 4 } } });
  });

  it('keeps what is said in memory, and says that it is not saved, when a newer version has taken the database', async () => {
    const engine = open();
    await engine.ready();
    await new Promise((resolve) => {
      const request = indexedDB.open(database, 99);
      request.onsuccess = () => {
        request.result.close();
        resolve(undefined);
      };
    });
    await ask(engine, 'q2');
    expect(shown(engine)).toEqual(['q1', 'a1', 'q2']);
    const { state, error, pending } = engine.state.getState().saveState;
    expect({ state, code: error?.code, pending }).toEqual({
      state: 'error',
      code: 'newer-format',
      pending: 2,
    });
  });
});

describe('a chat that is brought back when its page has gone on', () => {
  const files = new MemoryFiles();
  let store: IndexedDBContextStore;
  const open = async (chatId = 'c'): Promise<ContextEngine> => {
    const engine = opened(new ContextEngine({ store, chatId, userId: 'me' }));
    await engine.ready();
    return engine;
  };
  const say = (engine: ContextEngine, ...ids: string[]): Promise<unknown> =>
    engine.set(...ids.map((id) => user(id, { id }))).save();
  const back = async (): Promise<void> => {
    await expect.poll(() => store.dataLoss?.canRestore).toBe(true);
    await store.dataLoss?.restore();
  };
  const lost = async (): Promise<void> => {
    await store.storage();
    await wipe();
  };
  /** The messages of each branch, by its name, and what is wrong with the chat. */
  const found = async (): Promise<{ branches: Record<string, string>; findings: readonly unknown[] }> => {
    const branches = await store.listBranches('c');
    const words = await Promise.all(
      branches.map(async ({ name, headMessageId }) => {
        const chain = await store.getMessageChain('c', headMessageId ?? '');
        return [name, chain.map(({ id }) => id).join(' ')] as const;
      }),
    );
    expect(new Set(words.map(([name]) => name)).size).toBe(words.length);
    const engine = await open();
    return { branches: Object.fromEntries(words), findings: await engine.verify() };
  };

  const words = async (branch: string): Promise<string[]> => {
    const head = (await store.listBranches('c')).find(({ name }) => name === branch)?.headMessageId;
    const chain = await store.getMessageChain('c', head ?? '');
    return chain.flatMap(({ data }) => data.parts.flatMap((part) => (part.type === 'text' ? part.text : [])));
  };

  beforeEach(() => {
    files.install();
    database = createId();
    store = new IndexedDBContextStore(database, { journal: true });
  });
  afterEach(async () => {
    disposeAll();
    await store.close();
    files.remove();
    files.lay(new Folder());
  });

  it('has every branch once, with what was said since', async () => {
    const engine = await open();
    await say(engine, 'q1', 'a1');
    await engine.rewind('q1');
    await say(engine, 'b1');
    await lost();
    await engine.checkpoint('here');
    await say(engine, 'q2');
    await back();
    expect(await found()).toEqual({ branches: { main: 'q1 a1', 'main-v2': 'q1 b1 q2' }, findings: [] });
  });

  it('is saved then', async () => {
    const engine = await open();
    await say(engine, 'q1');
    await lost();
    await store.listChats();
    await expect.poll(() => engine.state.getState().saveState.state).toBe('error');
    await back();
    await expect.poll(() => engine.state.getState().saveState).toEqual({ state: 'saved', pending: 0 });
    expect(await found()).toEqual({ branches: { main: 'q1' }, findings: [] });
  });

  it('is whole again where its page had only the end of it', async () => {
    const ids = Array.from({ length: 300 }, (_, i) => `m${i}`);
    const first = await open();
    await say(first, ...ids);
    first.dispose();
    const engine = await open();
    await lost();
    await say(engine, 'last');
    expect(await store.getMessages('c')).toHaveLength(201);
    await back();
    expect(await found()).toEqual({ branches: { main: [...ids, 'last'].join(' ') }, findings: [] });
    await say(engine, 'and on');
    expect((await store.getMessages('c')).at(-1)).toMatchObject({ id: 'and on', depth: 302 });
  });

  it('has a branch again whose words its page had not, under its name', async () => {
    const first = await open();
    await say(first, 'q1', 'a1');
    await first.rewind('q1');
    await say(first, 'b1', 'b2');
    await first.switchBranch('main');
    first.dispose();
    const engine = await open();
    await lost();
    await say(engine, 'q2');
    await back();
    expect(await found()).toEqual({ branches: { main: 'q1 a1 q2', 'main-v2': 'q1 b1 b2' }, findings: [] });
  });

  it('has both ways that a branch has gone', async () => {
    const first = await open();
    await say(first, 'q1', 'a1');
    await first.rewind('q1');
    await say(first, 'b1', 'b2');
    await first.switchBranch('main');
    first.dispose();
    const engine = await open();
    await lost();
    await engine.checkpoint('here');
    await engine.switchBranch('main-v2');
    await say(engine, 'c1');
    await back();
    expect(await found()).toEqual({
      branches: { main: 'q1 a1', 'main-v2': 'q1 c1', 'main-v2-v2': 'q1 b1 b2' },
      findings: [],
    });
  });

  it('takes the place of an empty branch of its name, that a new page has begun', async () => {
    await say(await open(), 'q1', 'a1');
    await lost();
    const engine = await open();
    await engine.save();
    expect((await found()).branches).toEqual({ main: '' });
    await back();
    expect(await found()).toEqual({ branches: { main: 'q1 a1' }, findings: [] });
    await expect.poll(() => engine.state.getState().messages.map(({ id }) => id)).toEqual(['q1', 'a1']);
    await say(engine, 'q2');
    expect((await found()).branches).toEqual({ main: 'q1 a1 q2' });
  });

  it('stands beside what a new page has said', async () => {
    await say(await open(), 'q1', 'a1');
    await lost();
    await say(await open(), 'n1');
    await back();
    expect(await found()).toEqual({ branches: { main: 'n1', 'main-v2': 'q1 a1' }, findings: [] });
  });

  it('stands beside what a new page has said under the same ids', async () => {
    const before = await open();
    await before.set(user('one', { id: 'm1' }), assistantText('two', { id: 'm2' })).save();
    await before.checkpoint('there');
    before.dispose();
    await lost();
    const engine = await open();
    await engine.set(user('uno', { id: 'm1' })).save();
    await back();
    const { branches, findings } = await found();
    expect(findings).toEqual([]);
    expect(branches).toEqual({ main: 'm1', 'main-v2': expect.stringMatching(/^m1:\d+ m2$/) });
    expect(await words('main')).toEqual(['uno']);
    expect(await words('main-v2')).toEqual(['one', 'two']);
    await engine.restore('there');
    await say(engine, 'm3');
    expect(await words(engine.branch)).toEqual(['one', 'two', 'm3']);
  });

  it('keeps its words apart also where a new page has said the same behind other ones', async () => {
    const before = await open();
    await before.set(user('delete?', { id: 'm1' }), user('yes', { id: 'm2' })).save();
    before.dispose();
    await lost();
    const engine = await open();
    await engine.set(user('pizza?', { id: 'm1' }), user('yes', { id: 'm2' })).save();
    await back();
    expect((await found()).findings).toEqual([]);
    expect(await words('main')).toEqual(['pizza?', 'yes']);
    expect(await words('main-v2')).toEqual(['delete?', 'yes']);
  });

  it('is no deleted one in the page of what was begun in between, where its id had one before and all was lost twice', async () => {
    await say(await open(), 'p1');
    await store.deleteChat('c');
    const engine = await open();
    await say(engine, 'q1');
    await lost();
    const fresh = await open();
    await say(fresh, 'n1');
    await expect.poll(async () => (await store.load('c')).nodes).toHaveLength(2);
    await lost();
    await store.listChats();
    await back();
    const codes = () => [engine, fresh].map(({ state }) => state.getState().error?.code);
    const lights = () => [engine, fresh].map(({ state }) => state.getState().saveState.state);
    await expect.poll(lights).toEqual(['saved', 'saved']);
    await say(engine, 'q2');
    await say(fresh, 'n2');
    expect(codes()).toEqual([undefined, undefined]);
    const { branches, findings } = await found();
    expect(Object.values(branches).toSorted()).toEqual(['n1 n2', 'q1 q2']);
    expect(findings).toEqual([]);
  });

  it('keeps the words and the title that were given since', async () => {
    const engine = await open();
    await say(engine, 'q1');
    for (const title of ['Trees', 'Old trees']) await engine.updateChat({ title });
    for (const text of ['two', 'three', 'four'])
      await engine.updateMessage('q1', { id: 'q1', role: 'user', parts: [{ type: 'text', text }] });
    await lost();
    await engine.updateMessage('q1', { id: 'q1', role: 'user', parts: [{ type: 'text', text: 'five' }] });
    await engine.updateChat({ title: 'Woods' });
    await back();
    expect(await store.getChat('c')).toMatchObject({ title: 'Woods' });
    expect(await store.getMessage('c', 'q1')).toMatchObject({ data: { parts: [{ text: 'five' }] } });
  });
});

/** What people see of a chat beside its words, but for the times. */
function outlineOf({ state }: ContextEngine) {
  const { branch, branches, checkpoints } = state.getState();
  const timeless = <T extends object>(thing: T): T => ({ ...thing, createdAt: 0 });
  return { branch, branches: branches.map(timeless), checkpoints: checkpoints.map(timeless) };
}

/** How many messages people see of a chat's branch, how many they are told stand before these, and how many it has. */
function seenOf({ state }: ContextEngine) {
  const { loadedFrom: earlier, messages, branches } = state.getState();
  return { earlier, messages: messages.length, all: branches.find(({ isActive }) => isActive)?.messageCount };
}

function questions(count: number) {
  return Array.from({ length: count }, (_, i) => user(`m${i}`, { id: `m${i}` }));
}

/** Deletes the database, once the store has left its note about what is in it: that comes a moment after a first write. */
async function wipe(): Promise<void> {
  await wait(20);
  await removeDatabase();
}

async function removeDatabase(): Promise<void> {
  await new Promise((resolve) => {
    indexedDB.deleteDatabase(database).onsuccess = resolve;
  });
}

function wait(ms: number): Promise<unknown> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
