// `npm test`: every check there is, two at a time, quiet about what passes.
//
// What drives a browser waits for it half of the time, so it goes beside what keeps a processor busy, and what takes
// longest begins first, so that nobody waits for it in the end; a machine that does all of that at once is slow, and the
// tests have the patience. Names on the command line run only those checks: `npm test -- types lint`.
// `npm run test:browsers` runs the stores' tests in Firefox, WebKitGTK and a private window of that; BROWSERS=all makes
// them part of the rest.
// The last line counts the tests of all runners, and one for each check that is no test runner.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import process, { argv, env, exit, stdout } from 'node:process';
import { ensureBrowser } from './browser.mjs';
import { root } from './entries.mjs';
import { ensureOtherBrowsers } from './otherBrowsers.mjs';

/**
 * @typedef {object} Check
 * @property {string} name
 * @property {string} command
 * @property {'vitest' | 'playwright'} [runner] whose report is counted
 * @property {string} [after] the check whose files this one needs; it comes earlier
 *
 * @typedef {{ passed: number, failed: number }} Tally
 */

/** Most of what tests make is dead before the heap's nursery is full, if that has 64 MB: a tenth less work for the stores'. */
const roomForTheYoung = '--max-semi-space-size=64';

/**
 * What the tools of many of the checks run on. The compiler, the linter and esbuild are short-lived programs in Go: they
 * end before it is worth their while to look for what is dead. And what Node compiled for one check is there for the next.
 */
const thrift = {
  GOGC: 'off',
  GOMEMLIMIT: '1GiB',
  NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/compiled'),
};

/**
 * One checker: each of several would look at the types of the packages anew, on two processors. The build checks the package
 * by itself, in the language that its users may have.
 */
const types = 'tsc --noEmit --checkers 1 -p tsconfig.check.json';

/**
 * Each worker loads the package and warms up anew: one for a check of this kind, as long as there are two processors for
 * the two checks that run at a time, is a fifth less work than two.
 */
const workers = Math.max(1, Math.min(4, Math.floor(availableParallelism() / 2)));

/** @type {Check[]} */
const checks = [
  { name: 'demo', command: 'npm run build:demo' },
  {
    name: 'components',
    command: `vitest run --project=happy --project=alone --project=compiled --project=sdk6 --project=sdk5 --maxWorkers=${workers}`,
    runner: 'vitest',
  },
  { name: 'end to end', command: 'playwright test', runner: 'playwright', after: 'demo' },
  {
    name: 'unit',
    command: `vitest run --project=node --project=store --maxWorkers=${workers}`,
    runner: 'vitest',
  },
  { name: 'browsers', command: 'vitest run --config vitest.browsers.config.mts', runner: 'vitest' },
  // Two pages at a time: half of what these tests do is to wait for a database.
  { name: 'browser', command: 'vitest run --project=browser --maxWorkers=2', runner: 'vitest' },
  { name: 'stories', command: 'vitest run --project=storybook', runner: 'vitest' },
  { name: 'build', command: 'npm run build' },
  { name: 'types', command: types },
  { name: 'package', command: 'vitest run --project=package', runner: 'vitest', after: 'build' },
  { name: 'lint', command: 'npm run lint' },
  { name: 'storybook', command: 'npm run build:storybook' },
  { name: 'package rules', command: 'npm run package:check', after: 'build' },
  { name: 'dead code', command: 'npm run dead' },
  { name: 'format', command: 'npm run format:check' },
  { name: 'lockfile', command: 'npm run lock' },
];

/** Kept where somebody wants them: `REPORTS=folder`, for `npm run figures`. */
const reports = env.REPORTS ? resolve(env.REPORTS) : mkdtempSync(join(tmpdir(), 'contextree-check-'));
mkdirSync(reports, { recursive: true });
if (!env.REPORTS) process.on('exit', () => rmSync(reports, { recursive: true, force: true }));
process.on('SIGINT', () => exit(130)); // by itself it would end without the line above
const started = performance.now();
const total = await runAll();
console.log(`in ${seconds(started)}`);
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed === 0 ? 0 : 1;

/** @returns {Promise<Tally>} */
async function runAll() {
  const asked = checks.filter(isAsked);
  if (asked.some(isChromium) && !succeeds(() => (env.CHROME_PATH = ensureBrowser())))
    return { passed: 0, failed: 1 };
  return sum(await runSideBySide(asked));
}

/** Whether something could be done; says why not. */
function succeeds(/** @type {() => unknown} */ act) {
  try {
    act();
    return true;
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return false;
  }
}

function isAsked(/** @type {Check} */ { name }) {
  const asked = argv.slice(2);
  if (asked.length > 0) return asked.includes(name);
  return name !== 'browsers' || env.BROWSERS === 'all';
}

function isOther(/** @type {Check} */ check) {
  return check.name === 'browsers' && isAsked(check);
}

function isChromium(/** @type {Check} */ check) {
  return check.name !== 'browsers' && isAsked(check);
}

/** Runs checks, as many at a time as the machine bears. */
async function runSideBySide(/** @type {Check[]} */ checks) {
  const waiting = [...checks];
  /** @type {Tally[]} */
  const tallies = [];
  /** @type {Map<string | undefined, Promise<Tally>>} */
  const begun = new Map();
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      await begun.get(next.after);
      const running = run(next);
      begun.set(next.name, running);
      tallies.push(await running);
    }
  };
  await Promise.all(Array.from({ length: Number(env.JOBS ?? 2) }, work));
  return tallies;
}

/** @returns {Promise<Tally>} */
async function run(/** @type {Check} */ check) {
  const begun = performance.now();
  // Where the other browsers can't be had, the rest is checked all the same.
  if (isOther(check) && !succeeds(ensureOtherBrowsers)) {
    console.log(`FAIL ${check.name}`);
    return { passed: 0, failed: 1 };
  }
  const report = join(reports, `${check.name.replaceAll(' ', '-')}.json`);
  const { code, output } = await execute(check, report);
  const tally = count(check, report, code);
  const ok = tally.failed === 0;
  if (!ok || env.VERBOSE) stdout.write(output);
  const tests = check.runner ? `, ${tally.passed} of ${tally.passed + tally.failed} tests` : '';
  console.log(`${ok ? 'ok  ' : 'FAIL'} ${check.name} (${seconds(begun)}${tests})`);
  return tally;
}

/** @returns {Promise<{ code: number, output: Buffer }>} */
function execute(/** @type {Check} */ { command, runner }, /** @type {string} */ report) {
  const reporting =
    runner === 'vitest' ? ` --reporter=default --reporter=json --outputFile.json=${report}` : '';
  return new Promise((resolve) => {
    /** @type {Buffer[]} */
    const chunks = [];
    const child = spawn(command + reporting, {
      cwd: root,
      shell: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...thrift,
        ...env,
        NODE_OPTIONS: [env.NODE_OPTIONS, roomForTheYoung].filter(Boolean).join(' '),
        PLAYWRIGHT_JSON_OUTPUT_FILE: report,
        STORYBOOK_DISABLE_TELEMETRY: '1',
        STORYBOOK_WITHOUT_PROPS: '1',
      },
    });
    child.stdout.on('data', (chunk) => chunks.push(chunk));
    child.stderr.on('data', (chunk) => chunks.push(chunk));
    child.on('close', (code) => resolve({ code: code ?? 1, output: Buffer.concat(chunks) }));
  });
}

/** A runner that fails without a failing test (a file that does not load, no report) counts as one failure. */
function count(/** @type {Check} */ { runner }, /** @type {string} */ report, /** @type {number} */ code) {
  const tally = runner ? read(runner, report) : { passed: code === 0 ? 1 : 0, failed: 0 };
  return code !== 0 && tally.failed === 0 ? { ...tally, failed: 1 } : tally;
}

/** @returns {Tally} */
function read(/** @type {'vitest' | 'playwright'} */ runner, /** @type {string} */ report) {
  try {
    const json = JSON.parse(readFileSync(report, 'utf8'));
    return runner === 'vitest'
      ? { passed: json.numPassedTests, failed: json.numFailedTests }
      : { passed: json.stats.expected, failed: json.stats.unexpected + json.stats.flaky };
  } catch {
    return { passed: 0, failed: 1 };
  }
}

/** @returns {Tally} */
function sum(/** @type {Tally[]} */ tallies) {
  return tallies.reduce((a, b) => ({ passed: a.passed + b.passed, failed: a.failed + b.failed }), {
    passed: 0,
    failed: 0,
  });
}

function seconds(/** @type {number} */ since) {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`;
}
