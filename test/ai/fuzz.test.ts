import 'fake-indexeddb/auto';
import { beforeAll, describe, expect, it } from 'vitest';
import { IndexedDBContextStore } from '../../src/store/indexeddb/store.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import type { ContextStore } from '../../src/store/store.ts';
import { Clock } from '../support/clock.ts';
import { Run } from './person.ts';
import { SDK } from './story.ts';

/**
 * `FUZZ_SEEDS=20000` runs so many sequences, `FUZZ_FIRST=17 FUZZ_SEEDS=1` repeats one. In CI most sequences press the buttons
 * of an app, in test/apps. These add chats without a screen, on a database and on a slow disk; on older AI SDKs only the
 * sequences that once found a bug run.
 */
const SEEDS = Number(process.env['FUZZ_SEEDS'] ?? (SDK === 7 ? 12 : 0));
const FIRST = Number(process.env['FUZZ_FIRST'] ?? 0);
const ACTS = 40;
/**
 * Sequences that once found a bug: a question behind an answer that grew in another tab was there twice; an edit failed on a
 * branch that had merged with another.
 */
const FOUND = [51642, 135];
/** One in so many runs on a database. */
const IN_DATABASE = SDK === 7 ? 2 : 20;
/** How many sequences one test runs. */
const GROUP = 50;

/** Counts the databases: a repeated sequence begins with an empty one. */
let databases = 0;

function storesOf(seed: number): () => ContextStore {
  const shared = new InMemoryContextStore();
  const name = `fuzz-${(databases += 1)}`;
  return seed % IN_DATABASE === 0 ? () => new IndexedDBContextStore(name) : () => shared;
}

async function problemsOf(seed: number): Promise<string[]> {
  const time = new Clock(seed % IN_DATABASE === 0 ? 16 : 1);
  time.install();
  try {
    const run = await Run.begin(seed, { store: storesOf(seed), time });
    for (let act = 0; act < ACTS; act += 1) await run.act();
    await run.comeToRest();
    return await run.problems();
  } finally {
    time.remove();
  }
}

describe('a person who presses every button', () => {
  // Lazy code takes real time to load, which the test's clock does not know.
  beforeAll(async () => {
    await Promise.all([
      import('../../src/ai/turns.ts'),
      import('../../src/ai/more.ts'),
      import('../../src/engine/session.ts'),
      import('../../src/store/memoryTables.ts'),
    ]);
  });

  const groups = Array.from({ length: Math.ceil(SEEDS / GROUP) }, (_, i) => FIRST + i * GROUP);
  it.each(groups)('loses no word (from %i on)', { timeout: 120_000 }, async (first) => {
    const end = Math.min(first + GROUP, FIRST + SEEDS);
    for (let seed = first; seed < end; seed += 1)
      expect(await problemsOf(seed), `FUZZ_FIRST=${seed} FUZZ_SEEDS=1`).toEqual([]);
  });

  it.each(FOUND)('loses none in seed %i', { timeout: 30_000 }, async (seed) => {
    expect(await problemsOf(seed), `FUZZ_FIRST=${seed} FUZZ_SEEDS=1`).toEqual([]);
  });
});
