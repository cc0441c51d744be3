import 'fake-indexeddb/auto';
import { beforeAll, describe, expect, it } from 'vitest';
import { IndexedDBContextStore } from '../../src/store/indexeddb/store.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import type { ContextStore } from '../../src/store/store.ts';
import { Clock } from '../support/clock.ts';
import { Run } from './person.ts';
import { SDK } from './story.ts';

/**
 * `FUZZ_SEEDS=20000` runs so many sequences, `FUZZ_FIRST=17 FUZZ_SEEDS=1` one of them again. Those of each run of CI
 * press the buttons of an app, in test/apps, and these add chats without a screen, on a database and on a disk that takes time;
 * on older AI SDKs the sequences that once found something.
 */
const SEEDS = Number(process.env['FUZZ_SEEDS'] ?? (SDK === 7 ? 12 : 0));
const FIRST = Number(process.env['FUZZ_FIRST'] ?? 0);
const ACTS = 40;
/**
 * Others that once found something: a question behind an answer that grew in another tab, which was there twice; an edit on
 * a branch that had become one with another.
 */
const FOUND = [51642, 135];
/** One in so many takes place in a database. */
const IN_DATABASE = SDK === 7 ? 2 : 20;
/** Told of together. */
const GROUP = 50;

/** How many databases there were: a sequence that is run again begins with an empty one. */
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
  // What is loaded by and by takes time that no clock of ours knows.
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
