import { forceCloseDatabase, IDBFactory } from 'fake-indexeddb';
import 'fake-indexeddb/auto';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { ContextEngine } from '../../src/engine/engine.ts';
import { isContextError } from '../../src/errors.ts';
import { assistant, user } from '../../src/fragment/message.ts';
import { Sealer } from '../../src/store/indexeddb/seal.ts';
import { IndexedDBContextStore } from '../../src/store/indexeddb/store.ts';
import { tellCases } from '../support/campaign.ts';
import { type DatabaseDump, dumpDatabase, loadDatabase } from '../support/dump.ts';
import { branchesIn, engineOn, said, say, texts } from '../support/engine.ts';
import { type Fault, Faults } from '../support/faults.ts';
import { quickenDisk } from '../support/quickDisk.ts';
import { unhandledRejections } from '../support/unhandled.ts';

/**
 * Every call of an engine that writes, failing at every request in every way, once and from there on: `faults.test.ts` has
 * those of a store. What was told as done is on the disk, or waits for it and the state says so; what was refused did not
 * happen; when the disk works again, `retry()` brings the one or the other, what is shown is what is there, and the same
 * call does what it was to do.
 */
interface Write {
  readonly does: (engine: ContextEngine) => Promise<unknown>;
  readonly given?: (engine: ContextEngine) => Promise<unknown>;
  /** Made again after two lost answers, it is done twice: it has no id that would tell. */
  readonly isOnce?: boolean;
}

const set = (...ids: readonly string[]): Write['does'] => {
  const messages = ids.map((word) => {
    const [id = '', words = id] = word.split('=');
    return id.startsWith('a') ? assistant(said(id, words)) : user(said(id, words));
  });
  return async (engine) => engine.set(...messages).save();
};
const asking: Write['does'] = (engine) => engine.continue(said('q9'), { id: 'a9' });

const WRITES: Readonly<Record<string, Write>> = {
  'a turn saved': { does: set('q9', 'a9') },
  'other words saved, as a version': { does: set('a1=other'), isOnce: true },
  'other words saved, in place': {
    does: (engine) => engine.set(assistant(said('a2', 'other'))).save({ branch: false }),
  },
  'a question': { does: asking },
  'the end of an answer': {
    given: asking,
    does: (engine) => engine.updateMessage('a9', said('a9', 'words'), 'complete'),
  },
  'an answer without a word': {
    given: asking,
    does: (engine) => engine.updateMessage('a9', { ...said('a9'), parts: [] }, 'interrupted'),
  },
  'an edit': { does: (engine) => engine.edit('q2', 'edited') },
  'a way back': { does: (engine) => engine.rewind('q1') },
  'a way back to a checkpoint': { does: (engine) => engine.restore('k') },
  'another branch': { does: (engine) => engine.switchBranch('main-v2') },
  'another version': { does: (engine) => engine.selectSibling('b1') },
  'an aside': { does: (engine) => engine.btw() },
  'a message looked at': { does: (engine) => engine.checkout('b1') },
  'a checkpoint': { does: (engine) => engine.checkpoint('new') },
  'a checkpoint moved': { does: (engine) => engine.checkpoint('k') },
  'a checkpoint renamed': { does: (engine) => engine.renameCheckpoint('k', 'other') },
  'a checkpoint deleted': { does: (engine) => engine.deleteCheckpoint('k') },
  'a branch renamed': { does: (engine) => engine.renameBranch('main-v2', 'aside') },
  'a branch deleted': { does: (engine) => engine.deleteBranch('main-v2') },
  'the branch that is shown deleted': { does: (engine) => engine.deleteBranch('main') },
  'a title and metadata': { does: (engine) => engine.updateChat({ title: 'T', metadata: { mood: 1 } }) },
  usage: { does: (engine) => engine.trackUsage({ tokens: 3 }) },
};

const FAULTS: readonly Fault[] = ['throw', 'refuse', 'blobs', 'abort', 'dead', 'late', 'unheard', 'closed'];

interface Visit {
  readonly store: IndexedDBContextStore;
  readonly engine: ContextEngine;
}

describe('whatever fails, an engine', () => {
  const faults = new Faults(forceCloseDatabase as unknown as (db: IDBDatabase) => void);
  const unhandled = unhandledRejections();
  const visits: Visit[] = [];
  let base: DatabaseDump;
  afterAll(quickenDisk());

  beforeAll(async () => {
    vi.spyOn(Sealer.prototype, 'note').mockReturnValue();
    globalThis.indexedDB = new IDBFactory();
    const { engine } = await visit();
    await say(engine, 'q1', 'a1', 'q2', 'a2');
    await engine.checkpoint('k', { at: 'a1' });
    await engine.rewind('q1');
    await say(engine, 'b1');
    await engine.switchBranch('main');
    await leave();
    base = await dumpDatabase('engine');
  });
  afterEach(leave);
  afterAll(() => {
    faults.remove();
    vi.restoreAllMocks();
  });

  async function visit(): Promise<Visit> {
    const store = new IndexedDBContextStore('engine', { patience: 2000 });
    const one = { store, engine: engineOn(store) };
    visits.push(one);
    await one.engine.ready();
    return one;
  }

  async function leave(): Promise<void> {
    faults.cease();
    for (const { engine, store } of visits.splice(0)) {
      engine.dispose();
      await store.close();
    }
  }

  /** The database that all begin with. */
  async function begun({ given }: Write): Promise<Visit> {
    await leave();
    globalThis.indexedDB = new IDBFactory();
    await loadDatabase('engine', base);
    const one = await visit();
    await given?.(one.engine);
    return one;
  }

  /** All that somebody who comes now finds, in words; what is wrong with it comes first. */
  async function found(): Promise<string> {
    const { engine, store } = await visit();
    const { branches, checkpoints, chat } = engine.state.getState();
    const pointers = checkpoints.map(({ name, messageId }) => `${name} ${messageId}`).toSorted();
    const counts = branches.map(({ name, messageCount }) => `${name} ${messageCount}`).toSorted();
    return JSON.stringify([
      await engine.verify(),
      engine.branch,
      await branchesIn(store),
      [counts, pointers, chat?.title, chat?.metadata],
    ]);
  }

  const shown = ({ engine }: Visit): string => {
    const { messages, saveState } = engine.state.getState();
    return `${engine.branch}: ${texts(messages)}, ${saveState.state === 'error' ? 'not saved' : 'fine'}`;
  };

  /** `done` where it is on the disk, `waits` where it is not yet. */
  async function told({ engine }: Visit, work: Promise<unknown>): Promise<string> {
    const late = new Promise<string>((resolve) => setTimeout(resolve, 10_000, 'hangs').unref());
    const outcome = work.then(
      () => (engine.state.getState().saveState.state === 'error' ? 'waits' : 'done'),
      (error: unknown) => (isContextError(error) ? 'refused' : `not ours: ${String(error)}`),
    );
    return Promise.race([outcome, late]);
  }

  it.each(Object.entries(WRITES))('keeps its word: %s', { timeout: 120_000 }, async (_, write) => {
    let struck = 0;
    const first = await begun(write);
    const [before, shownBefore] = [await found(), shown(first)];
    await write.does(first.engine);
    const [after, shownAfter] = [await found(), shown(first)];
    expect(after).not.toBe(before);

    const strike = async (fault: Fault, at: number, forEver: boolean): Promise<boolean> => {
      const where = `${fault} at ${at}${forEver ? ' and ever after' : ''}`;
      const one = await begun(write);
      faults.order(fault, at, forEver);
      const outcome = await told(one, write.does(one.engine));
      const isStruck = faults.struck;
      faults.cease();
      const there = (await found()) === after ? 'after' : 'before';
      const may = { done: ['after'], waits: ['before'], refused: ['before'] }[outcome] ?? [];
      expect([where, outcome, there]).toEqual([
        where,
        outcome,
        expect.toBeOneOf(fault === 'unheard' ? ['before', 'after'] : may),
      ]);
      expect([where, await told(one, one.engine.retry())]).toEqual([where, 'done']);
      const now = await found();
      const ends = outcome === 'refused' ? [before, after] : [after];
      expect([where, now]).toEqual([where, expect.toBeOneOf(ends)]);
      // Who was refused because two answers got lost stays where they are, whatever came of it.
      const views = outcome === 'refused' ? [shownBefore, shownAfter] : [shownAfter];
      expect([where, shown(one)]).toEqual([where, expect.toBeOneOf(views)]);
      if (now === before) await write.does(one.engine);
      expect([where, await found()]).toEqual([where, after]);
      struck += isStruck ? 1 : 0;
      return isStruck;
    };
    for (const fault of FAULTS)
      for (const forEver of fault === 'unheard' && write.isOnce ? [false] : [false, true])
        for (let at = 1; await strike(fault, at, forEver);) at += 1;
    expect(struck).toBeGreaterThan(9);
    tellCases(struck);
  });

  it('leaves no rejection unhandled', async () => expect(await unhandled()).toEqual([]));
});
