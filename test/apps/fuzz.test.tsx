import { InMemoryContextStore } from 'contextree';
import { beforeAll, describe, expect, it } from 'vitest';
import { Run } from '../ai/person.ts';
import { Clock } from '../support/clock.ts';
import { loadApp, openApp } from './page.tsx';

// The same person as in test/ai, at the app that is plain `useChat` but for one line: who types into its box, presses its
// buttons where it has them, and looks at its screen. On AI SDK 7 the app is what is shipped: run through the React
// Compiler, on React's production build.

/** `FUZZ_SEEDS=2000` runs so many sequences, `FUZZ_FIRST=17 FUZZ_SEEDS=1` one of them again. */
const SEEDS = Number(process.env['FUZZ_SEEDS'] ?? (process.env['AI_SDK'] === '7' ? 2000 : 10));
const FIRST = Number(process.env['FUZZ_FIRST'] ?? 0);
/** A sequence is 10 to 40 acts long, so that all is brought to its end at another moment; `FUZZ_ACTS=100` makes them longer. */
const ACTS = Number(process.env['FUZZ_ACTS'] ?? 0);

/** Told of together. */
const GROUP = 50;

async function problemsOf(seed: number): Promise<string[]> {
  const time = new Clock(2);
  const store = new InMemoryContextStore();
  const forget = ownListeners();
  time.install();
  try {
    const run = await Run.begin(seed, { store: () => store, time, open: openApp });
    for (let act = ACTS || 10 + (seed % 31); act > 0; act -= 1) await run.act();
    await run.comeToRest();
    const problems = await run.problems();
    run.close();
    return problems;
  } finally {
    await time.pass(100);
    time.remove();
    forget();
  }
}

const listen = window.addEventListener.bind(window);

/** Forgets what is listened for in this window from now on: the pages of a run that died never let go of it. */
function ownListeners(): () => void {
  const heard: Parameters<typeof listen>[] = [];
  window.addEventListener = (...args: Parameters<typeof listen>) => {
    heard.push(args);
    listen(...args);
  };
  return () => {
    window.addEventListener = listen;
    for (const [event, hear] of heard) window.removeEventListener(event, hear);
  };
}

describe('a person who presses every button of an app', () => {
  beforeAll(loadApp);

  const groups = Array.from({ length: Math.ceil(SEEDS / GROUP) }, (_, i) => FIRST + i * GROUP);
  it.each(groups)('loses no word (from %i on)', { timeout: 60_000 }, async (first) => {
    for (let seed = first; seed < Math.min(first + GROUP, FIRST + SEEDS); seed += 1)
      expect(await problemsOf(seed), `FUZZ_FIRST=${seed} FUZZ_SEEDS=1`).toEqual([]);
  });
});
