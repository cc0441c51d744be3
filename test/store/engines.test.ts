import { IDBFactory } from 'fake-indexeddb';
import 'fake-indexeddb/auto';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { IndexedDBContextStore } from '../../src/store/indexeddb/store.ts';
import { campaign, tryAll } from '../support/campaign.ts';
import { endlessScripts, playSteps, type Step } from '../support/modelSteps.ts';
import { quickenDisk } from '../support/quickDisk.ts';
import { countRecords, sealingAlways } from '../support/sealing.ts';
import { unhandledRejections } from '../support/unhandled.ts';

// Blocks of two, so that the short chats of tests are sealed, too, all but their last messages.
vi.mock('../../src/store/layout.ts', async (original) => ({
  ...(await original<object>()),
  BLOCK: 2,
  GROUP: 2,
}));

// The engines of `test/engine/model.test.ts` and their chat on paper, over a database that is sealed after every write: each
// tab has a connection of its own.
describe('engines over a database, against a chat on paper', () => {
  const unhandled = unhandledRejections();
  afterAll(quickenDisk());
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  it('any steps at any tabs: up to 40', { timeout: 3_600_000 }, async () => {
    const options = campaign(500);
    let packs = 0;
    const play = async (steps: readonly Step[]): Promise<void> => {
      globalThis.indexedDB = new IDBFactory();
      const stores: IndexedDBContextStore[] = [];
      await playSteps(steps, () => {
        const store = new IndexedDBContextStore('model');
        stores.push(store);
        return sealingAlways(store, 'model');
      });
      for (const store of stores) await store.close();
      packs += (await countRecords('model'))['packs'] ?? 0;
    };
    await tryAll(endlessScripts, play, options);
    // What never seals proves nothing.
    expect(packs).toBeGreaterThan(options.numRuns / 2);
  });

  it('leave no rejection unhandled', async () => {
    vi.useRealTimers();
    expect(await unhandled()).toEqual([]);
  });
});
