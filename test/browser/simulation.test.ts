import { expect, it } from 'vitest';
import { badStories, patience } from '../support/campaign.ts';
import { engineWorld } from '../support/engineWorld.ts';
import { simulate, type Outcome } from '../support/simulation.ts';

// What test/engine/simulation.test.ts tells of a database in memory, on the one that people have. `npm run soak` plays 200.

it(
  'stories of engines on IndexedDB lose nothing that was acknowledged, and all agree in the end',
  async () => {
    const play = (seed: number): Promise<Outcome> =>
      simulate(seed, (random) => engineWorld(random, { store: 'indexeddb' }), 30);
    expect(await badStories(10, play)).toEqual([]);
  },
  // Disks take real time, and more on a machine that runs everything at once.
  3 * patience,
);
