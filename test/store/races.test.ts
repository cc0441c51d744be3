import { forceCloseDatabase } from 'fake-indexeddb';
import 'fake-indexeddb/auto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Sealer } from '../../src/store/indexeddb/seal.ts';
import { IndexedDBContextStore } from '../../src/store/indexeddb/store.ts';
import { campaign, tryAll } from '../support/campaign.ts';
import { Faults } from '../support/faults.ts';
import { quickenDisk } from '../support/quickDisk.ts';
import { playRace, stories, type Story } from '../support/race.ts';
import { unhandledRejections } from '../support/unhandled.ts';

// Blocks of two, so that the short chats of races are sealed, too.
vi.mock('../../src/store/layout.ts', async (original) => ({
  ...(await original<object>()),
  BLOCK: 2,
  GROUP: 2,
}));

/**
 * Failures that were found, as they were printed. The first two are the smallest that found a planted bug; in the third
 * a tab was never woken again, in the next two no tab could open the database any more, by mistakes of this net. In the last
 * two the answer of a write got lost, and the write was refused when it was made again: because the disk was full by then,
 * and because another tab had deleted the chat.
 */
const KEPT: readonly Story[] = [
  {
    tabs: [[{ does: 'turn', pick: 0 }], [{ does: 'turn', pick: 0 }]],
    picks: [0],
    policy: 'fork',
    isOld: false,
  },
  {
    tabs: [
      [
        { does: 'turn', pick: 30 },
        { does: 'turn', pick: 22 },
      ],
      [{ does: 'turn', pick: 0 }],
    ],
    picks: [0],
    policy: 'fork',
    isOld: false,
  },
  {
    tabs: [
      [
        { does: 'turn', pick: 18 },
        { does: 'read', pick: 4 },
        { does: 'fail', pick: 19 },
        { does: 'turn', pick: 19 },
        { does: 'replace', pick: 9 },
        { does: 'answer', pick: 13 },
      ],
      [
        { does: 'seal', pick: 23 },
        { does: 'kill', pick: 4 },
      ],
    ],
    picks: [5, 9, 2, 1, 12, 11, 2, 1, 12],
    policy: 'fork',
    isOld: false,
  },
  {
    tabs: [
      [
        { does: 'turn', pick: 0 },
        { does: 'newer', pick: 0 },
      ],
      [
        { does: 'turn', pick: 0 },
        { does: 'newer', pick: 0 },
        { does: 'turn', pick: 0 },
      ],
    ],
    picks: [9, 0, 0],
    policy: 'fork',
    isOld: false,
  },
  {
    tabs: [
      [
        { does: 'turn', pick: 19 },
        { does: 'rename', pick: 28 },
        { does: 'newer', pick: 28 },
      ],
      [
        { does: 'turn', pick: 0 },
        { does: 'turn', pick: 0 },
      ],
      [{ does: 'turn', pick: 9 }],
      [{ does: 'turn', pick: 0 }],
      [{ does: 'newer', pick: 0 }],
    ],
    picks: [8],
    policy: 'fork',
    isOld: false,
  },
  {
    tabs: [
      [{ does: 'turn', pick: 0 }],
      [{ does: 'turn', pick: 0 }],
      [{ does: 'turn', pick: 0 }],
      [
        { does: 'turn', pick: 0 },
        { does: 'fail', pick: 100 },
      ],
      [
        { does: 'fail', pick: 101 },
        { does: 'turn', pick: 0 },
      ],
    ],
    picks: [0],
    policy: 'fork',
    isOld: false,
  },
  {
    tabs: [
      [
        { does: 'turn', pick: 0 },
        { does: 'restore', pick: 0 },
      ],
      [
        { does: 'fail', pick: 5 },
        { does: 'delete', pick: 0 },
        { does: 'turn', pick: 0 },
      ],
    ],
    picks: [0],
    policy: 'fork',
    isOld: false,
  },
  {
    tabs: [
      [
        { does: 'turn', pick: 0 },
        { does: 'fail', pick: 19 },
      ],
      [
        { does: 'seal', pick: 0 },
        { does: 'turn', pick: 0 },
      ],
      [{ does: 'clear', pick: 0 }],
      [
        { does: 'turn', pick: 0 },
        { does: 'turn', pick: 0 },
      ],
      [
        { does: 'turn', pick: 0 },
        { does: 'turn', pick: 0 },
      ],
    ],
    picks: [3],
    policy: 'fork',
    isOld: false,
  },
];

// `CONTEXTREE_FUZZ` and `CONTEXTREE_SEED` as in `campaign.ts`; what a failure printed, put into `KEPT`, is played each
// time from then on.
describe('tabs that write at the same moment', () => {
  const faults = new Faults(forceCloseDatabase as unknown as (db: IDBDatabase) => void);
  const slowAgain = quickenDisk();
  const unhandled = unhandledRejections();
  beforeAll(async () => {
    vi.spyOn(Sealer.prototype, 'note').mockReturnValue();
    // Code that comes with the first use, not in the middle of a race.
    const store = new IndexedDBContextStore('first');
    await store.load('c');
    await store.close();
  });
  afterAll(() => {
    faults.remove();
    slowAgain();
    vi.restoreAllMocks();
  });

  it.each([
    [2, 6, campaign(3000)],
    [5, 3, campaign(3000)],
  ])('lose no word, whatever comes first: %i tabs', { timeout: 3_600_000 }, async (tabs, steps, options) => {
    expect.hasAssertions();
    await tryAll(stories(tabs, steps), (story) => playRace(story, faults), options);
  });

  it.each(KEPT)('what was found once: %#', async (story) => {
    expect.hasAssertions();
    await playRace(story, faults);
  });

  it('leave no rejection unhandled', async () => expect(await unhandled()).toEqual([]));
});
