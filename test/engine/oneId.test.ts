import { describe, expect, test, vi } from 'vitest';
import type { ContextEngine } from '../../src/engine/engine.ts';
import type { ContextEvent } from '../../src/engine/state.ts';
import { user } from '../../src/fragment/message.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import { branchesIn, engineOn, said, say, texts } from '../support/engine.ts';
import { refusing } from '../support/refusal.ts';

// An app that numbers its messages gives two tabs the same ids. What one of them sends is written; what the other one sends
// meets a full disk, is kept, and comes later.

/** Where the tab with the full disk is deaf, it hears nothing of the other one: its browser has no BroadcastChannel. */
const tabsOf =
  ({ isDeaf }: { readonly isDeaf: boolean }) =>
  async (...before: readonly string[]) => {
    const inner = new InMemoryContextStore();
    if (before.length > 0) await say(engineOn(inner), ...before);
    const { store, refuse } = refusing(inner);
    const [full, other] = [engineOn(store), engineOn(inner)];
    if (isDeaf) vi.spyOn(inner, 'subscribe').mockReturnValueOnce(() => {});
    await full.ready();
    await other.ready();
    refuse('quota-exceeded');
    return { inner, full, other, refuse };
  };

const tabs = tabsOf({ isDeaf: false });
const deafTabs = tabsOf({ isDeaf: true });

const shown = (engine: ContextEngine) => texts(engine.state.getState().messages);
const settled = () => new Promise((resolve) => setTimeout(resolve, 5));

/** A question with other words than its id, and its answer. */
async function ask(engine: ContextEngine, id: string, words: string, answerId: string): Promise<void> {
  // Two people never send within the same millisecond.
  await settled();
  await engine.continue(said(id, words), { id: answerId });
  await engine.updateMessage(answerId, said(answerId, `to ${words}`), 'complete');
}

async function expectSound(inner: InMemoryContextStore): Promise<void> {
  expect(await engineOn(inner).verify()).toEqual([]);
}

/** Both have said `q1` and answered it under `a1`, and have heard of each other. */
async function asked(open = tabs) {
  const world = await open('q0', 'a0');
  await ask(world.full, 'q1', 'mine', 'a1');
  await ask(world.other, 'q1', 'yours', 'a1');
  await settled();
  world.refuse(undefined);
  return world;
}

async function expectApart(inner: InMemoryContextStore, full: ContextEngine): Promise<void> {
  expect(await branchesIn(inner)).toEqual({
    main: 'q0 > a0 > yours > to yours',
    'main-v2': 'q0 > a0 > mine > to mine',
  });
  expect(shown(full)).toBe('q0 > a0 > mine > to mine');
  await expectSound(inner);
}

describe('two messages under one id, where a full disk kept the first', () => {
  test('are both there when the disk has room again, each in its branch, and shown where they were said', async () => {
    const { inner, full, other, refuse } = await tabs();
    await ask(full, 'q1', 'mine', 'a-mine');
    await ask(other, 'q1', 'yours', 'a-yours');
    refuse(undefined);
    await full.retry();
    expect(full.state.getState().saveState).toEqual({ state: 'saved', pending: 0 });
    expect(await branchesIn(inner)).toEqual({
      main: 'yours > to yours',
      'main-v2': 'mine > to mine',
    });
    expect(shown(full)).toBe('mine > to mine');
    expect(shown(other)).toBe('yours > to yours');
    await say(full, 'q2');
    expect(await branchesIn(inner)).toMatchObject({ 'main-v2': 'mine > to mine > q2' });
    await expectSound(inner);
  });

  test('stay apart behind a chat, with all that was said behind them, and with versions', async () => {
    const { inner, full, other, refuse } = await tabs('q0', 'a0');
    await ask(full, 'q1', 'mine', 'a-mine');
    await ask(full, 'q2', 'my next', 'a-next');
    await full.edit('q1', 'mine, in other words');
    await ask(other, 'q1', 'yours', 'a-yours');
    await ask(other, 'q2', 'your next', 'a-other');
    // The page with the full disk has heard of it.
    await settled();
    refuse(undefined);
    await full.retry();
    expect(await branchesIn(inner)).toEqual({
      main: 'q0 > a0 > yours > to yours > your next > to your next',
      'main-v2': 'q0 > a0 > mine > to mine > my next > to my next',
      'main-v3': 'q0 > a0 > mine, in other words',
    });
    await expectSound(inner);
  });

  test('are answers, too', async () => {
    const { inner, full } = await asked();
    await full.retry();
    expect(full.state.getState().saveState).toEqual({ state: 'saved', pending: 0 });
    await expectApart(inner, full);
  });

  test.each([
    ['is known to have taken', tabs],
    ['has taken, and nobody has told', deafTabs],
  ])('are an answer that still grows, under a number that the other tab %s', async (_, open) => {
    const { inner, full, other, refuse } = await open('q0', 'a0');
    await full.continue(said('q1', 'mine'), { id: 'a1' });
    await full.updateMessage('a1', said('a1', 'to'), 'streaming');
    await ask(other, 'q1', 'yours', 'a1');
    refuse(undefined);
    await full.retry();
    expect(full.state.getState().saveState).toEqual({ state: 'saved', pending: 0 });
    expect(shown(full)).toBe('q0 > a0 > mine > to');
    await full.updateMessage('a1', said('a1', 'to mine'), 'complete');
    await expectApart(inner, full);
  });

  test('are an answer of which all is told under its own id, also where it gets that with its last words', async () => {
    const { inner, full, other, refuse } = await deafTabs('q0', 'a0');
    await full.continue(said('q1', 'mine'), { id: 'a1' });
    await ask(other, 'q1', 'yours', 'a1');
    refuse(undefined);
    const events: ContextEvent[] = [];
    full.subscribe((event) => events.push(event));
    await full.updateMessage('a1', said('a1', 'to mine'), 'complete');
    await expectApart(inner, full);
    expect(events.findLast(({ type }) => type === 'stream')).toMatchObject({
      phase: 'end',
      branch: 'main-v2',
      id: full.headMessageId,
    });
  });

  test('are an answer that grows on where one more is asked for under its number', async () => {
    const { inner, full, other, refuse } = await tabs('q0', 'a0');
    await full.continue(said('q1', 'mine'), { id: 'a1' });
    await full.updateMessage('a1', said('a1', 'to'), 'streaming');
    await ask(other, 'q1', 'yours', 'a1');
    await settled();
    refuse(undefined);
    await full.retry();
    await expect(full.continue(said('q5', 'more'), { id: 'a1' })).rejects.toMatchObject({ code: 'busy' });
    await full.updateMessage('a1', said('a1', 'to mine'), 'complete');
    await expectApart(inner, full);
  });

  test('are each behind its own question while the disk still refuses one of them', async () => {
    const { full, other } = await tabs('q0', 'a0');
    await ask(full, 'q1', 'mine', 'a-mine');
    await ask(other, 'q1', 'yours', 'a-yours');
    await other.edit('a-yours', 'yours, in other words');
    await settled();
    expect(shown(full)).toBe('q0 > a0 > mine > to mine');
    await full.switchBranch('main-v2');
    expect(shown(full)).toBe('q0 > a0 > yours > yours, in other words');
    expect(full.state.getState().saveState).toMatchObject({ state: 'error', pending: 2 });
  });

  test('are shown as they were said also where the disk refuses once more', async () => {
    const { inner, full, refuse } = await asked(deafTabs);
    // The disk is full again as soon as it has said that these ids are taken.
    const append = inner.append.bind(inner);
    inner.append = async (...args) => {
      inner.append = append;
      return append(...args).finally(() => refuse('quota-exceeded'));
    };
    await expect(full.retry()).rejects.toMatchObject({ code: 'quota-exceeded' });
    expect(shown(full)).toBe('q0 > a0 > mine > to mine');
    expect(full.state.getState().saveState).toMatchObject({ state: 'error', pending: 2 });
    refuse(undefined);
    await full.retry();
    await expectApart(inner, full);
  });

  test('are one where the first was written, though that was not told, and was changed since', async () => {
    const { inner, full, other, refuse } = await tabs('q0', 'a0');
    refuse('store-closed', { late: true });
    await ask(full, 'q1', 'mine', 'a-mine');
    await settled();
    await other.updateMessage('q1', said('q1', 'mine, better'));
    refuse(undefined);
    await full.retry();
    expect(await branchesIn(inner)).toEqual({ main: 'q0 > a0 > mine, better > to mine' });
    await expect.poll(() => shown(full)).toBe('q0 > a0 > mine, better > to mine');
    await expectSound(inner);
  });

  test('are one where both say the same', async () => {
    const { inner, full, other, refuse } = await tabs('q0', 'a0');
    await ask(full, 'q1', 'ours', 'a-mine');
    await say(other, 'q9', 'a9');
    await ask(other, 'q1', 'ours', 'a-yours');
    refuse(undefined);
    await full.retry();
    const words = Object.values(await branchesIn(inner));
    expect(words.join(' | ').match(/to ours/g)).toHaveLength(2);
    await expectSound(inner);
  });

  test('keep a large file that waits for room beside them', async () => {
    const { inner, full, other, refuse } = await tabs('q0', 'a0');
    const file = {
      type: 'file' as const,
      mediaType: 'image/png',
      url: `data:image/png;base64,${'A'.repeat(9000)}`,
    };
    const message = said('q1', 'mine');
    await full.continue({ ...message, parts: [...message.parts, file] }, { id: 'a-mine' });
    await full.updateMessage('a-mine', said('a-mine', 'to mine'), 'complete');
    await ask(other, 'q1', 'yours', 'a-yours');
    // There is room for words, and for no file.
    const append = inner.append.bind(inner);
    let isRoomy = false;
    inner.append = async (chatId, ops, options) => {
      if (!isRoomy && JSON.stringify(ops).length > 9000) {
        refuse('quota-exceeded');
        return full.store.append(chatId, ops, options).finally(() => refuse(undefined));
      }
      return append(chatId, ops, options);
    };
    refuse(undefined);
    await full.retry().catch(() => {});
    expect(Object.values(await branchesIn(inner))[1]).toContain('mine');
    expect(full.state.getState().saveState).toMatchObject({ state: 'error', pending: 1 });
    isRoomy = true;
    await full.retry();
    expect(full.state.getState().saveState).toEqual({ state: 'saved', pending: 0 });
    expect(await branchesIn(inner)).toEqual({
      main: 'q0 > a0 > yours > to yours',
      'main-v2': 'q0 > a0 > mine file > to mine',
    });
    await expectSound(inner);
  });

  test('stay apart also where they say the same behind different questions', async () => {
    const { inner, full, other, refuse } = await tabs();
    await ask(full, 'q1', 'delete my files?', 'a1');
    await ask(full, 'q2', 'yes', 'a2-mine');
    await ask(other, 'q1', 'order a pizza?', 'a1');
    await ask(other, 'q2', 'yes', 'a2-yours');
    refuse(undefined);
    await full.retry();
    expect(await branchesIn(inner)).toEqual({
      main: 'order a pizza? > to order a pizza? > yes > to yes',
      'main-v2': 'delete my files? > to delete my files? > yes > to yes',
    });
    expect(shown(full)).toBe('delete my files? > to delete my files? > yes > to yes');
    await expectSound(inner);
  });

  /** There was room for the question, and not for its answer. */
  async function halfWritten() {
    const world = await asked();
    const { inner, full, refuse } = world;
    const append = inner.append.bind(inner);
    inner.append = async (...args) => {
      const result = await append(...args);
      refuse('quota-exceeded');
      return result;
    };
    await expect(full.retry()).rejects.toMatchObject({ code: 'quota-exceeded' });
    inner.append = append;
    expect(await branchesIn(inner)).toMatchObject({ 'main-v2': 'q0 > a0 > mine > ' });
    return world;
  }

  test('stay where they were said where another tab asks on before the last words are written', async () => {
    const { inner, full, other, refuse } = await halfWritten();
    await say(other, 'q2', 'a2');
    await settled();
    expect(shown(full)).toBe('q0 > a0 > mine > to mine');
    refuse(undefined);
    await full.retry();
    expect(shown(full)).toBe('q0 > a0 > mine > to mine');
    expect(await branchesIn(inner)).toEqual({
      main: 'q0 > a0 > yours > to yours > q2 > a2',
      'main-v2': 'q0 > a0 > mine > to mine',
    });
    expect(await inner.held('c')).toEqual(new Set());
    await expectSound(inner);
  });

  test('stay there also where that tab can not know that they are still waiting', async () => {
    const { inner, full, refuse } = await halfWritten();
    // Its computer slept for longer than a lease counts.
    const held = vi.spyOn(inner, 'held').mockResolvedValue(new Set());
    const third = engineOn(inner);
    await third.switchBranch('main');
    await say(third, 'q2', 'a2');
    held.mockRestore();
    await settled();
    expect(Object.values(await branchesIn(inner))).toContain('q0 > a0 > mine');
    expect(shown(full)).toBe('q0 > a0 > mine > to mine');
    refuse(undefined);
    await full.retry();
    expect(shown(full)).toBe('q0 > a0 > mine > to mine');
    expect(await branchesIn(inner)).toEqual({
      main: 'q0 > a0 > yours > to yours > q2 > a2',
      'main-v2': 'q0 > a0 > mine > to mine',
    });
    await expectSound(inner);
  });

  test('come back with their branch where another tab deletes it before the last words are written', async () => {
    const { inner, full, other, refuse } = await halfWritten();
    await other.deleteBranch('main-v2');
    await settled();
    refuse(undefined);
    await full.retry();
    expect(Object.values(await branchesIn(inner))).toContain('q0 > a0 > mine > to mine');
    await expectSound(inner);
  });
});

// A page may know a message by the number that it had, when that is another tab's by now.
describe('a number that two messages had', () => {
  /** The tab whose disk was full has written its own, and shows them. */
  async function apart(open = tabs) {
    const world = await asked(open);
    await world.full.retry();
    return world;
  }

  /** Both answered their first question, and then a second one of the very same words. */
  async function apartTwice() {
    const world = await tabs();
    for (const [engine, whose] of [
      [world.full, 'mine'],
      [world.other, 'yours'],
    ] as const) {
      await ask(engine, 'q1', whose, 'a1');
      await ask(engine, 'q2', 'sure?', 'a2');
    }
    world.refuse(undefined);
    await world.full.retry();
    return world;
  }

  const finished = (engine: ContextEngine, id: string, words: string) =>
    engine.updateMessage(id, said(id, words), 'complete');

  test('is that of the question which is shown, where it is asked again', async () => {
    const { full, inner } = await apartTwice();
    await full.switchBranch('main');
    await full.continue(said('q2', 'sure?'), { id: 'a9' });
    await finished(full, 'a9', 'yes');
    expect(shown(full)).toBe('yours > to yours > sure? > yes');
    await full.switchBranch('main-v2');
    await full.continue(said('q2', 'sure?'), { id: 'a10' });
    await finished(full, 'a10', 'yes, sir');
    expect(shown(full)).toBe('mine > to mine > sure? > yes, sir');
    await expectSound(inner);
  });

  test('is that of the question on the branch that is named, where it is asked again', async () => {
    const { full, inner } = await apartTwice();
    await full.continue(said('q2', 'sure?'), { id: 'a9', branch: 'main' });
    await finished(full, 'a9', 'yes');
    expect(Object.values(await branchesIn(inner))).toContain('yours > to yours > sure? > yes');
    expect(shown(full)).toBe('mine > to mine > sure? > to sure?');
    await expectSound(inner);
  });

  test('is that of the question which was shown, where its branch is deleted just as it is asked again', async () => {
    const { inner, full, other, refuse } = await tabs('q0', 'a0');
    refuse(undefined);
    await full.edit('q0', 'q0, in other words');
    await settled();
    refuse('quota-exceeded');
    await ask(full, 'q1', 'mine', 'a1');
    const load = inner.load.bind(inner);
    const { promise: isRead, resolve: read } = Promise.withResolvers<void>();
    vi.spyOn(inner, 'load').mockImplementation((...args) => isRead.then(() => load(...args)));
    await ask(other, 'q1', 'yours', 'a1');
    refuse(undefined);
    const deleting = full.deleteBranch('main-v2');
    const asking = full.continue(said('q1', 'mine'), { id: 'a9' });
    read();
    await Promise.all([deleting, asking]);
    await finished(full, 'a9', 'yes');
    expect(shown(full)).toBe('q0, in other words > mine > yes');
    expect(Object.values(await branchesIn(inner))).toEqual([
      'q0 > a0 > yours > to yours',
      'q0, in other words > mine > yes',
    ]);
    await expectSound(inner);
  });

  test('is that of the question which is shown, where it is asked in other words', async () => {
    const { full, inner } = await apartTwice();
    await full.continue(said('q2', 'really?'), { id: 'a9' });
    await finished(full, 'a9', 'yes');
    expect(shown(full)).toBe('mine > to mine > really? > yes');
    await full.switchBranch('main');
    await full.continue(said('q2', 'why?'), { id: 'a10' });
    await finished(full, 'a10', 'so');
    expect(shown(full)).toBe('yours > to yours > why? > so');
    await expectSound(inner);
  });

  test.each([{ branch: false }, { branch: true }])(
    'is that of the message shown where a save() has other words for it: %o',
    async (options) => {
      const { inner, full } = await apart();
      full.set(user(said('q1', 'mine, better')));
      expect(texts((await full.resolve()).messages)).toContain('mine, better');
      await full.save(options);
      const branches = await branchesIn(inner);
      expect(branches['main']).toBe('q0 > a0 > yours > to yours');
      expect(Object.values(branches)).toContain(
        options.branch ? 'q0 > a0 > mine, better' : 'q0 > a0 > mine, better > to mine',
      );
      await expectSound(inner);
    },
  );

  test('leaves other words where they belong that the disk refused before', async () => {
    const { inner, full, other, refuse } = await tabs();
    await ask(full, 'q1', 'mine', 'a1');
    await ask(full, 'q2', 'my next', 'a2');
    full.set(user(said('q2', 'my next, better')));
    await expect(full.save()).rejects.toMatchObject({ code: 'quota-exceeded' });
    await ask(other, 'q1', 'yours', 'a1');
    refuse(undefined);
    await full.retry();
    expect(shown(full)).toBe('mine > to mine > my next, better');
    expect(Object.values(await branchesIn(inner)).toSorted()).toEqual([
      'mine > to mine > my next > to my next',
      'mine > to mine > my next, better',
      'yours > to yours',
    ]);
    await expectSound(inner);
  });

  test.each<[string, (full: ContextEngine) => Promise<unknown>, string]>([
    ['rewind()', (full) => full.rewind('q1'), 'q0 > a0 > mine'],
    ['edit()', (full) => full.edit('q1', 'mine, better'), 'q0 > a0 > mine, better'],
    ['checkout()', (full) => full.checkout('q1'), 'q0 > a0 > mine'],
    ['selectSibling()', (full) => full.selectSibling('q1'), 'q0 > a0 > mine > to mine'],
    [
      'checkpoint()',
      async (full) => {
        await full.checkpoint('here', { at: 'q1' });
        await full.restore('here');
      },
      'q0 > a0 > mine',
    ],
  ])('is that of the message which was shown when %s was called', async (_, deed, words) => {
    const { inner, full } = await asked(deafTabs);
    await Promise.all([full.retry(), deed(full)]);
    expect(shown(full)).toBe(words);
    await expectSound(inner);
  });

  test('is that of the answer shown where something is asked behind it', async () => {
    const { inner, full } = await apart();
    await full.continue(said('q7', 'on'), { id: 'a7', parentId: 'a1' });
    await finished(full, 'a7', 'to on');
    expect(shown(full)).toBe('q0 > a0 > mine > to mine > on > to on');
    await expectSound(inner);
  });

  test('is that of a new question, where it is another tab’s in a conversation that is not shown', async () => {
    const { inner, full, other } = await apart();
    await ask(other, 'q2', 'your next', 'a2');
    await settled();
    await full.continue(said('q2', 'my next'), { id: 'a9' });
    await finished(full, 'a9', 'to my next');
    expect(shown(full)).toBe('q0 > a0 > mine > to mine > my next > to my next');
    expect(await branchesIn(inner)).toEqual({
      main: 'q0 > a0 > yours > to yours > your next > to your next',
      'main-v2': 'q0 > a0 > mine > to mine > my next > to my next',
    });
    await expectSound(inner);
  });

  const result = (engine: ContextEngine) =>
    engine.updateMessage('a1', (saved) => ({
      ...saved,
      parts: [...saved.parts, { type: 'text', text: 'with a result' }],
    }));

  test.each([
    ['a result', result],
    [
      'other words',
      (engine: ContextEngine) => engine.updateMessage('a1', said('a1', 'to mine with a result')),
    ],
    [
      'more words',
      async (engine: ContextEngine) => {
        await engine.updateMessage('a1', said('a1', 'to mine with'), 'streaming');
        await finished(engine, 'a1', 'to mine with a result');
      },
    ],
  ])('is that of the answer which is shown, where it is given %s', async (_, give) => {
    for (const open of [asked, apart]) {
      const { inner, full, refuse } = await open();
      if (open === asked) refuse('quota-exceeded');
      await give(full);
      refuse(undefined);
      await full.retry();
      expect(await branchesIn(inner)).toEqual({
        main: 'q0 > a0 > yours > to yours',
        'main-v2': 'q0 > a0 > mine > to mine with a result',
      });
      await full.switchBranch('main');
      await result(full);
      expect(shown(full)).toBe('q0 > a0 > yours > to yours with a result');
      await expectSound(inner);
    }
  });

  test.each([
    ['is shown', undefined],
    ['is not', 'q0, in other words'],
  ])('is that of the answer that has it when words are given for it, whether it %s', async (_, aside) => {
    const { inner, full, refuse } = await asked(deafTabs);
    refuse('quota-exceeded');
    if (aside) await full.edit('q0', aside);
    refuse(undefined);
    await Promise.all([full.retry(), result(full)]);
    expect(Object.values(await branchesIn(inner))).toEqual(
      expect.arrayContaining(['q0 > a0 > yours > to yours', 'q0 > a0 > mine > to mine with a result']),
    );
    await expectSound(inner);
  });

  test('is that of the answer that was given here, where none of them is shown, until the other one is read', async () => {
    const { inner, full } = await apart();
    await full.edit('q0', 'q0, in other words');
    await result(full);
    const both = {
      main: 'q0 > a0 > yours > to yours',
      'main-v2': 'q0 > a0 > mine > to mine with a result',
    };
    expect(await branchesIn(inner)).toMatchObject(both);
    await full.switchBranch('main');
    await full.switchBranch('main-v3');
    await result(full);
    expect(await branchesIn(inner)).toMatchObject({ ...both, main: `${both.main} with a result` });
  });

  test('is its own where both are shown, one behind the other', async () => {
    const inner = new InMemoryContextStore();
    await say(engineOn(inner), 'q0', 'a0');
    const { store, refuse } = refusing(inner);
    const [full, other] = [engineOn(store, { onConflict: 'rebase' }), engineOn(inner)];
    await Promise.all([full.ready(), other.ready()]);
    refuse('quota-exceeded');
    await ask(full, 'q1', 'mine', 'a1');
    await ask(other, 'q1', 'yours', 'a1');
    refuse(undefined);
    await full.retry();
    expect(shown(full)).toBe('q0 > a0 > yours > to yours > mine > to mine');
    await result(full);
    expect(shown(full)).toBe('q0 > a0 > yours > to yours with a result > mine > to mine');
  });
});

test('an answer that another tab took for dead is told beside the one that has its number by then', async () => {
  const inner = new InMemoryContextStore();
  await say(engineOn(inner), 'q0', 'a0');
  const slow = engineOn(inner);
  vi.spyOn(inner, 'subscribe').mockReturnValueOnce(() => {});
  await slow.continue(said('q1', 'mine'), { id: 'a1' });
  const { userId = '', epoch = 0 } = (await inner.getChat('c')) ?? {};
  await inner.append('c', [{ op: 'drop', id: 'a1' }], { userId, epoch, mainBranchId: 'main' });
  await settled();
  const other = engineOn(inner);
  await other.ready();
  await other.edit('q1', 'yours');
  await other.continue(other.state.getState().messages.slice(-1), { id: 'a1' });
  await other.updateMessage('a1', said('a1', 'to yours'), 'complete');
  await slow.updateMessage('a1', said('a1', 'to mine'), 'complete');
  expect(shown(slow)).toBe('q0 > a0 > mine > to mine');
  expect(Object.values(await branchesIn(inner)).toSorted()).toEqual([
    'q0 > a0 > mine > to mine',
    'q0 > a0 > yours > to yours',
  ]);
  await expectSound(inner);
});
