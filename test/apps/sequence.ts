import 'fake-indexeddb/auto';
import { IndexedDBContextStore, InMemoryContextStore, type ContextStore } from 'contextree';
import { Run } from '../ai/person.ts';
import { Clock } from '../support/clock.ts';
import { openApp, pager } from './page.tsx';

/** Sequences end at different moments, and one in so many is long; `FUZZ_ACTS=100` makes all of them longer. */
export const LONG = 20;
const ACTS = Number(process.env['FUZZ_ACTS'] ?? 0);

function lengthOf(seed: number): number {
  return ACTS || (seed % LONG === 0 ? 40 : 4 + (seed % 9));
}

/** One in so many runs on a database, where each page has a store of its own. */
function isInDatabase(seed: number): boolean {
  return seed % 20 === 7;
}

/** How long servers take to say what there is to take up, in ms: people and other tabs go on meanwhile. */
const LATENCIES = [0, 30, 150, 0, 0];

/** Counts the databases: a repeated sequence begins with an empty one. */
let databases = 0;

function storesOf(seed: number): () => ContextStore {
  const name = `fuzz-${(databases += 1)}`;
  if (isInDatabase(seed)) return () => new IndexedDBContextStore(name);
  const shared = new InMemoryContextStore();
  return () => shared;
}

/** How often each thing was done in all sequences so far. */
export const done: Map<string, number> = new Map();

/** Runs a sequence in an app that `open` opens, and returns its problems; none, if all is well. */
export async function problemsOf(
  seed: number,
  open: typeof openApp = openApp,
  acts: number = lengthOf(seed),
): Promise<readonly string[]> {
  // A database takes several tasks for what memory does in one.
  const time = new Clock(isInDatabase(seed) ? 16 : 2);
  const forget = ownListeners();
  time.install();
  try {
    const run = await Run.begin(seed, {
      store: storesOf(seed),
      time,
      open: (on, manner) =>
        open(on, { ...manner, beneath: pager, latency: LATENCIES[seed % LATENCIES.length] ?? 0 }),
    });
    for (let act = acts; act > 0; act -= 1) await run.act();
    await run.comeToRest();
    const problems = await run.problems();
    run.close();
    for (const [what, count] of run.done) done.set(what, (done.get(what) ?? 0) + count);
    return problems;
  } finally {
    await time.pass(100);
    time.remove();
    forget();
  }
}

const listen = window.addEventListener.bind(window);

/** Removes the listeners that were added to this window since: dead pages of a run never remove them. */
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
