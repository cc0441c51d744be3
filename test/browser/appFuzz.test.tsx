import { IndexedDBContextStore } from 'contextree';
import { beforeAll, describe, expect, test } from 'vitest';
import { Run } from '../ai/person.ts';
import { loadApp, openApp, pager } from '../apps/page.tsx';

// The fuzzer of test/apps on what an app really stands on: IndexedDB, Web Locks, BroadcastChannel, and a browser's own
// events and pace. Thousands of its sequences run on a clock of their own, the same each time; here time goes by, so a seed
// says what is done, and not to the millisecond when: `vitest run --project browser test/browser/appFuzz -t 9007`. `npm run soak` plays more.
const SEEDS = Number(import.meta.env['STORIES'] ?? 6);
const FIRST = Number(import.meta.env['FIRST'] ?? 9000);
/**
 * Others that once found something: a result that was given while another branch let its answer go on, while a page that was
 * loaded anew took its answer up, or as its answer was asked again.
 */
const FOUND = [40750, 90388, 90421, 321];
/** How long servers take to say what they have to take up, in ms: what is said meanwhile must not be taken for saved. */
const LATENCIES = [0, 30, 150];

describe('a person who presses every button of an app in a browser', () => {
  beforeAll(loadApp);

  test.each([...Array.from({ length: SEEDS }, (_, i) => FIRST + i), ...FOUND])(
    'loses no word (%i)',
    { timeout: 60_000 },
    async (seed) => {
      const name = `app-fuzz-${crypto.randomUUID()}`;
      const run = await Run.begin(seed, {
        store: () => new IndexedDBContextStore(name),
        open: (store, manner) =>
          openApp(store, { ...manner, beneath: pager, latency: LATENCIES[seed % LATENCIES.length] ?? 0 }),
      });
      for (let act = 8 + (seed % 13); act > 0; act -= 1) await run.act();
      await run.comeToRest();
      const problems = async (): Promise<string[]> => {
        await run.finishAll();
        return run.problems();
      };
      await expect.poll(problems, { timeout: 30_000 }).toEqual([]);
      run.close();
    },
  );
});
