import { expect, test } from 'vitest';
import { IndexedDBContextStore } from '../../src/store/indexeddb/store.ts';
import { Run } from '../ai/person.ts';

// The fuzzer of test/ai on what chats really stand on: IndexedDB, Web Locks and BroadcastChannel. Thousands of
// sequences run on memory; these are here for what only a real database does.
const SEEDS = 12;
const ACTS = 30;

test.each(Array.from({ length: SEEDS }, (_, seed) => 5000 + seed))(
  'a person who presses every button loses no word in a real database (%i)',
  { timeout: 30_000 },
  async (seed) => {
    const name = `fuzz-${crypto.randomUUID()}`;
    const run = await Run.begin(seed, { store: () => new IndexedDBContextStore(name) });
    for (let act = 0; act < ACTS; act += 1) await run.act();
    await run.comeToRest();
    const problems = async (): Promise<string[]> => {
      await run.finishAll();
      return run.problems();
    };
    await expect.poll(problems, { timeout: 10_000 }).toEqual([]);
  },
);
