import { InMemoryContextStore } from 'contextree';
import { Run } from '../ai/person.ts';
import { Clock } from '../support/clock.ts';
import { openApp, pager } from './page.tsx';

/** Sequences end at different moments, and one in so many is long; `FUZZ_ACTS=100` makes all of them longer. */
const LONG = 20;
const ACTS = Number(process.env['FUZZ_ACTS'] ?? 0);

function lengthOf(seed: number): number {
  return ACTS || (seed % LONG === 0 ? 40 : 5 + (seed % 13));
}

/** Runs a sequence in an app that `open` opens, and tells what was wrong; nothing, if all is well. */
export async function problemsOf(seed: number, open: typeof openApp = openApp): Promise<readonly string[]> {
  const time = new Clock(2);
  const store = new InMemoryContextStore();
  const forget = ownListeners();
  time.install();
  try {
    const run = await Run.begin(seed, {
      store: () => store,
      time,
      open: (on, manner) => open(on, { ...manner, beneath: pager }),
    });
    for (let act = lengthOf(seed); act > 0; act -= 1) await run.act();
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
