import { afterAll, beforeAll, expect, test } from 'vitest';
import { IndexedDBContextStore } from '../../src/store/indexeddb/store.ts';
import { message } from '../support/storeRecords.ts';
import { writeLine } from './line.ts';
import { median, timed } from './measure.ts';

/**
 * What a search costs in a chat of 10,000 messages of about a kilobyte, in IndexedDB, in the browser that it will run
 * in: the first one, which reads the chat, and those after it, as they come with each letter that is typed. Looking
 * costs at most a fiftieth of the first search; showing twenty messages from all over the chat, a tenth, most of it for
 * the twenty packs in which they lie.
 *
 *     npx vitest bench --run --project='browser*' search
 */
const COUNT = 10_000;
const store = new IndexedDBContextStore(`search-${crypto.randomUUID()}`);
const english = Object.values(
  import.meta.glob('../tokens/corpus/english*', { query: '?raw', import: 'default', eager: true }),
)
  .join(' ')
  .split(/\s+/);

/** About a kilobyte of words; one in ten of them is rare. */
function text(i: number): string {
  const words = Array.from({ length: 160 }, (_, j) =>
    j % 10 === 0 ? `rare${(i * 7919 + j * 104_729) % 30_000}` : english[(i * 131 + j * 17) % english.length],
  );
  return words.join(' ');
}

beforeAll(async () => {
  const messages = Array.from({ length: COUNT }, (_, i) => message(`m${i}`, text(i)));
  await writeLine(store, messages);
}, 240_000);
afterAll(async () => {
  await store.clear();
  await store.close();
});

/** Milliseconds that a query takes: the median of some. */
async function cost(query: string, rounds: number): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < rounds; i += 1) times.push(await timed(() => store.searchMessages('c', query)));
  return median(times);
}

test('what follows the first search costs a fraction of it', { timeout: 120_000 }, async () => {
  const first = await cost('rare77', 1);
  const show = await cost('rare778', 9);
  const look = await cost('nowhere', 9);
  for (const [query, ms] of [
    ['first', first],
    ['20 rare hits', show],
    ['no hit', look],
    ['the', await cost('the', 9)],
    ['t', await cost('t', 9)],
    ['"of the"', await cost('"of the"', 9)],
  ] as const)
    console.log(
      `| search in 10,000 messages, ${query} | ${(first / ms).toFixed(0)}x | ${ms.toFixed(1)} ms |`,
    );
  expect(look).toBeLessThanOrEqual(first / 50);
  expect(show).toBeLessThanOrEqual(first / 10);
});
