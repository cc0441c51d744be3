import { join } from 'node:path';
import { inChromium } from './chromium.ts';
import { install, modules } from './installed.ts';
import { circumstances, median, range, report } from './results.ts';
import type { Times } from './storePage.ts';

/**
 * Chats of 10,000 messages in Chromium: kept by ours, by Dexie with the same tables, as a record per message, as one
 * JSON text, and by SQLite in a file.
 *
 * `npm run bench:peers` runs this file and keeps its section of RESULTS.md. The stores take turns; figures are medians,
 * and only ratios within one run mean something. All is measured again in a browser of its own, and where the two differ
 * both figures are told. The exit code is 1 where a promise is not kept. `RUNS=1 ROUNDS=2` is a quick look.
 */
const RUNS = Number(process.env['RUNS'] ?? 2);
const ROUNDS = Number(process.env['ROUNDS'] ?? 7);

/** What is promised: how many times faster than a peer, for a task. */
const PROMISES = [
  ['import', 'Dexie, bulkPut', 5],
  ['chain of 200 in a bush', 'Dexie, where(chat)', 20],
] as const;

install('dexie', '@sqlite.org/sqlite-wasm');

const runs: Times[] = [];
for (let run = 0; run < RUNS; run += 1)
  runs.push(
    await inChromium<Times>({
      modules: { page: './storePage.ts', storeSqlite: './storeSqlite.ts', dexie: 'dexie' },
      name: 'compared',
      args: [ROUNDS],
      places: { '/sqlite/': join(modules, '@sqlite.org/sqlite-wasm/sqlite-wasm/jswasm') },
    }),
  );

const broken: string[] = [];
const rows = Object.entries(runs[0] ?? {}).flatMap(([task, byStore]) =>
  Object.keys(byStore).map((store) => rowOf(task, store)),
);

function rowOf(task: string, store: string): string {
  const medians = (of: string): number[] => runs.map((times) => median(times[task]?.[of] ?? []));
  const [own, peers] = [medians('contextree'), medians(store)];
  const ratios = peers.map((ms, run) => ms / (own[run] ?? Number.NaN));
  const least = PROMISES.find(([a, b]) => a === task && b === store)?.[2];
  const isKept = least === undefined || Math.min(...ratios) >= least;
  if (!isKept) broken.push(`${task}: ${store}`);
  const promise = least === undefined ? '' : `at least ${least}x${isKept ? '' : ': not kept'}`;
  return `| ${task} | ${store} | ${range(ratios, 2)}x | ${promise} | ${range(peers, 2)} ms |`;
}

report(`# Stores beside peers

\`node test/bench/peers/store.ts\` wrote this ${circumstances()}: in headless Chromium, ${RUNS} times, each in a browser of its own;
where the figures differ, the least and the greatest are told. Messages of 1 kB; medians of ${ROUNDS} rounds and more; the stores
take turns. The ratio is how many times as long as ours it takes.

| task | store | times ours | promise | median |
| --- | --- | --: | --: | --: |
${rows.join('\n')}

Every write waits for the disk (\`strict\`; SQLite: \`synchronous = FULL\`). Ours reads, checks and numbers what it writes,
and writes a branch, a chat and changes with each turn. The bush is a trunk of 100 messages with 99 branches of 100.
`);
if (broken.length > 0) console.error(`Not kept: ${broken.join('; ')}`);
process.exitCode = broken.length > 0 ? 1 : 0;
