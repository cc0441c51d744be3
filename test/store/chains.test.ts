import { IDBFactory } from 'fake-indexeddb';
import 'fake-indexeddb/auto';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { campaign, patience, tryAll } from '../support/campaign.ts';
import { type ChainStory, chainStories, playChains } from '../support/chainModel.ts';
import { quickenDisk } from '../support/quickDisk.ts';

// Blocks of four, so that chains of a dozen messages lie in several.
vi.mock('../../src/store/layout.ts', async (original) => ({
  ...(await original<object>()),
  BLOCK: 4,
  GROUP: 4,
}));

describe('a chain that two tabs have seen', () => {
  afterAll(quickenDisk());
  beforeEach(() => {
    globalThis.indexedDB = new IDBFactory();
  });

  // `CONTEXTREE_FUZZ=20` plays twenty times as many stories, `CONTEXTREE_SEED` repeats them.
  it('is read as it is, wherever it went since', { timeout: patience }, async () => {
    let [stories, packs] = [0, 0];
    const play = async (story: ChainStory): Promise<void> => {
      packs += await playChains(`chains-${(stories += 1)}`, story);
    };
    const options = campaign(25);
    await tryAll(chainStories, play, options);
    // Only of what is sealed it is remembered where it lay.
    expect(packs).toBeGreaterThan(options.numRuns);
  });
});
