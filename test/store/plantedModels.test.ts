import fc from 'fast-check';
import { IDBFactory } from 'fake-indexeddb';
import 'fake-indexeddb/auto';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { IndexedDBContextStore } from '../../src/store/indexeddb/store.ts';
import { chainStories, playChains } from '../support/chainModel.ts';
import type { ContextStore } from '../../src/store/store.ts';
import { drawn, givenDatabase, listDisk, tell } from '../support/damage.ts';
import { Faults } from '../support/faults.ts';
import { endlessScripts, longScripts, playSteps, shortScripts } from '../support/modelSteps.ts';
import { packStories, playPacks } from '../support/packModel.ts';
import { type Bug, plant } from '../support/planted.ts';
import { quickenDisk } from '../support/quickDisk.ts';
import { sealingAlways } from '../support/sealing.ts';

// As `planted.test.ts`, for the nets that compare with a model, and for damaged chats.

vi.mock('../../src/store/layout.ts', async (original) => ({
  ...(await original<object>()),
  BLOCK: 2,
  GROUP: 2,
}));
vi.mock('../../src/store/indexeddb/transaction.ts', async (original) =>
  (await import('../support/planted.ts')).brokenTransactions(await original()),
);
vi.mock('../../src/store/apply.ts', async (original) =>
  (await import('../support/planted.ts')).brokenApply(await original()),
);
vi.mock('../../src/store/reads.ts', async (original) =>
  (await import('../support/planted.ts')).brokenReads(await original()),
);
vi.mock('../../src/store/indexeddb/damage.ts', async (original) =>
  (await import('../support/planted.ts')).brokenDamage(await original()),
);
vi.mock('../../src/store/indexeddb/marks.ts', async (original) =>
  (await import('../support/planted.ts')).brokenMarks(await original()),
);
vi.mock('../../src/store/salvage.ts', async (original) =>
  (await import('../support/planted.ts')).brokenSalvage(await original()),
);

/** So many stories, and damaged chats, a net may need; `npm test` plays many times as many. */
const STORIES = 30;
const DAMAGED = 100;

/** What the first story says that ends badly; undefined when there is none. */
async function firstIn<T>(
  stories: fc.Arbitrary<T>,
  play: (story: T) => Promise<unknown>,
): Promise<string | undefined> {
  const property = fc.asyncProperty(stories, async (story) => void (await play(story)));
  const { errorInstance } = await fc.check(property, { numRuns: STORIES, seed: 1, endOnFailure: true });
  return errorInstance instanceof Error ? errorInstance.message : undefined;
}

describe('a planted bug', () => {
  const faults = new Faults();
  afterAll(quickenDisk());
  beforeEach(() => {
    globalThis.indexedDB = new IDBFactory();
  });
  afterEach(() => {
    plant(undefined);
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });
  afterAll(() => faults.remove());

  /** Engines against a chat on paper. */
  function modelling(): Promise<string | undefined> {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    return firstIn(fc.oneof(shortScripts, longScripts), (steps) => playSteps(steps));
  }

  /** The same over a database that is sealed after every write. */
  function modellingPacked(): Promise<string | undefined> {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    return firstIn(endlessScripts, async (steps) => {
      globalThis.indexedDB = new IDBFactory();
      const stores: IndexedDBContextStore[] = [];
      const connect = (): ContextStore => {
        const store = new IndexedDBContextStore('model');
        stores.push(store);
        return sealingAlways(store, 'model');
      };
      await playSteps(steps, connect).finally(() => Promise.all(stores.map((store) => store.close())));
    });
  }

  /** Packs against memory. */
  function packing(): Promise<string | undefined> {
    return firstIn(packStories, (story) => playPacks('planted', story, faults));
  }

  /** Chains against memory. */
  function following(): Promise<string | undefined> {
    let played = 0;
    return firstIn(chainStories, (story) => playChains(`chains-${(played += 1)}`, story));
  }

  /** Chats of which one record is damaged. */
  async function damaging(): Promise<string | undefined> {
    const whole = await givenDatabase();
    vi.stubGlobal('IDBKeyRange', { bound: (lower: unknown, upper: unknown) => ({ lower, upper }) });
    const mutants = drawn(1);
    try {
      for (let i = 0; i < DAMAGED; i += 1) await tell(whole, mutants.next().value, listDisk);
      return undefined;
    } catch (error) {
      return String(error);
    }
  }

  const [differ, named] = [/deeply equal/, /With \{"kind"/];
  it.each<[Bug, string, () => Promise<string | undefined>, RegExp]>([
    ['moves a head without comparing it', 'steps against paper', modelling, differ],
    ['reads what changed without the branches', 'steps against paper', modelling, differ],
    ['moves a head without comparing it', 'steps over a database', modellingPacked, differ],
    ['reads what changed without the branches', 'steps over a database', modellingPacked, differ],
    ['reads what it remembers', 'steps over a database', modellingPacked, differ],
    ['writes in two transactions', 'stories of packs', packing, differ],
    ['does not abort when something throws', 'stories of packs', packing, differ],
    ['reads what it remembers', 'stories of packs', packing, differ],
    ['believes what it remembers', 'stories of packs', packing, differ],
    ['believes where a chain went', 'stories of chains', following, differ],
    ['trusts every record', 'damaged chats', damaging, named],
    ['believes that every block is marked', 'damaged chats', damaging, named],
    ['takes every mark for true', 'damaged chats', damaging, named],
    ['repairs what it knows of', 'damaged chats', damaging, named],
  ])('%s: %s finds it', { timeout: 120_000 }, async (bug, _, net, words) => {
    plant(bug);
    expect(await net()).toMatch(words);
  });

  it('that is none is not found', { timeout: 120_000 }, async () => {
    const nets = [modelling, modellingPacked, packing, damaging];
    for (const net of nets) expect([net.name, await net()]).toEqual([net.name, undefined]);
  });
});
