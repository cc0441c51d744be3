// `npm run soak [first seed] [count]`: the long campaigns, which `npm test` only begins. Stories of tabs, devices and
// faults (over engines on both stores) and those of people who press every button of an app, from one
// seed on; then the campaigns of fast-check, so many times as long. Reports seeds and counts; exit code 1 where one fails.
import { spawnSync } from 'node:child_process';
import process, { argv, env, exit } from 'node:process';
import { root } from './entries.mjs';

const [first = 1, count = 2000] = argv.slice(2).map(Number);
if (!Number.isInteger(first) || !Number.isInteger(count) || first < 0 || count < 1) {
  console.error('npm run soak [first seed] [count]: whole numbers, please.');
  exit(1);
}

/** @typedef {[name: string, command: string, env: Record<string, number>]} Campaign */

const played = { FIRST: first, STORIES: count };
// A disk takes time that a clock of the test can't pass.
const inBrowser = { FIRST: first, STORIES: Math.ceil(count / 10) };
// Each crowd of tabs, and the mistakes that its log must find.
const killed = { CONTEXTREE_SEED: first, CONTEXTREE_KILLS: Math.ceil(count / 100) };
const pressed = { FUZZ_FIRST: first, FUZZ_SEEDS: count };
const tried = { CONTEXTREE_SEED: first, CONTEXTREE_FUZZ: Math.ceil(count / 100) };
const inVitest = (/** @type {string} */ project, /** @type {string} */ file) =>
  `vitest run --project="${project}" ${file} --testTimeout=86400000`;
const inDemo =
  'vite build --config vite.demo.config.mts --logLevel error && playwright test test/e2e/kills.spec.ts';
/** @type {Campaign[]} */
const campaigns = [
  ['stories of engines', inVitest('node', 'test/engine/simulation.test.ts'), played],
  ['stories of engines in Chromium', inVitest('browser*', 'test/browser/simulation.test.ts'), inBrowser],
  ['people at an app', inVitest('compiled', 'test/apps/fuzz.test.tsx'), pressed],
  ['people at an app in Chromium', inVitest('browser*', 'test/browser/appFuzz.test.tsx'), inBrowser],
  ['kills of tabs and browsers', inDemo, killed],
  ['hooks of two tabs', inVitest('happy', 'test/react/races.test.tsx'), tried],
  ['fragments', inVitest('node', 'test/fragment'), tried],
  ['graphs', inVitest('node', 'test/graph'), tried],
  ['renderers', inVitest('node', 'test/render'), tried],
];

let failed = 0;
for (const [name, command, asked] of campaigns) {
  const begun = performance.now();
  const { status, stdout, stderr } = spawnSync(command, {
    cwd: root,
    shell: true,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    env: { ...env, ...Object.fromEntries(Object.entries(asked).map(([key, value]) => [key, `${value}`])) },
  });
  const told = Object.entries(asked).map(([key, value]) => `${key}=${value}`);
  if (status !== 0) {
    failed += 1;
    process.stdout.write(stdout + stderr);
  }
  const seconds = ((performance.now() - begun) / 1000).toFixed(0);
  console.log(`${status === 0 ? 'ok  ' : 'FAIL'} ${name} (${told.join(' ')}, ${seconds} s)`);
}
exit(failed === 0 ? 0 : 1);
