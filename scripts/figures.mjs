// `REPORTS=reports BROWSERS=all npm test`, then `npm run figures -- reports`: what the page "What we promise about your
// data" says of the last run, from the reports of that run. What they don't tell of stays as it was, with its day.
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { argv, exit } from 'node:process';
import { root } from './entries.mjs';

/**
 * @typedef {object} Result a test that ran
 * @property {string} check
 * @property {string} file
 * @property {string} name
 * @property {boolean} passed
 * @property {number | undefined} cases how many it tried, where it says so
 * @property {string} day
 *
 * @typedef {{ what: string, cases: number, failed: number, day: string }} Figure
 */

/** @type {[what: string, check: string, file: string, name?: RegExp][]} */
const ROWS = [
  ["the stores' tests in Chromium", 'browser', 'test/browser/store.test.ts'],
  [
    'the same in Firefox ESR, and twice in WebKitGTK: on a disk, and in a private window',
    'browsers',
    'test/browser/store.test.ts',
  ],
  [
    'stories of tabs, devices and faults, in which nothing acknowledged is lost',
    'unit',
    'test/engine/simulation.test.ts',
    /lose nothing/,
  ],
  ['the same in Chromium, on IndexedDB', 'browser', 'test/browser/simulation.test.ts'],
  [
    'hooks of two tabs, for which answers and notices come in any order',
    'components',
    'test/react/races.test.tsx',
    /whatever order/,
  ],
  ['planted bugs that the stories had to find', 'unit', 'test/engine/simulation.test.ts', /rule is found/],
  ['kills of real tabs and browsers', 'end-to-end', 'test/e2e/kills.spec.ts', /killed while they write/],
  ['a real quota of a few megabytes in Chromium', 'end-to-end', 'test/e2e/loss.spec.ts', /quota-exceeded/],
];

const path = join(root, 'stories/docs/figures.json');
const [folder] = argv.slice(2);
if (!folder) {
  console.error('Which folder has the reports? REPORTS=folder npm test, then npm run figures -- folder');
  exit(1);
}
for (const [what, , file] of ROWS)
  if (!existsSync(join(root, file))) throw new Error(`"${what}": ${file} is gone.`);
const results = readdirSync(folder)
  .filter((file) => file.endsWith('.json'))
  .flatMap(resultsIn);
/** @type {{ figures: Figure[] }} */
const before = JSON.parse(readFileSync(path, 'utf8'));
const figures = ROWS.flatMap(([what, check, file, name]) => {
  const ran = results.filter(
    (one) => one.check === check && one.file === file && (name?.test(one.name) ?? true),
  );
  return figureOf(what, ran) ?? before.figures.find((one) => one.what === what) ?? [];
});
writeFileSync(path, `${JSON.stringify({ figures }, undefined, 2)}\n`);

/** @returns {Figure | undefined} */
function figureOf(/** @type {string} */ what, /** @type {Result[]} */ ran) {
  const [first] = ran;
  if (!first) return undefined;
  const cases = ran.reduce((sum, one) => sum + (one.cases ?? 1), 0);
  return { what, cases, failed: ran.filter(({ passed }) => !passed).length, day: first.day };
}

/** @returns {Result[]} */
function resultsIn(/** @type {string} */ file) {
  const at = join(String(folder), file);
  const own = { check: file.replace('.json', ''), day: statSync(at).mtime.toISOString().slice(0, 10) };
  const report = JSON.parse(readFileSync(at, 'utf8'));
  return report.suites ? ofPlaywright(report.suites, own) : ofVitest(report.testResults, own);
}

/** @returns {Result[]} */
function ofVitest(/** @type {any[]} */ files, /** @type {Pick<Result, 'check' | 'day'>} */ own) {
  return files.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter((/** @type {any} */ { status }) => status === 'passed' || status === 'failed')
      .map((/** @type {any} */ one) => ({
        ...own,
        file: name.slice(root.length + 1),
        name: one.fullName,
        passed: one.status === 'passed',
        cases: one.meta?.cases,
      })),
  );
}

/** @returns {Result[]} */
function ofPlaywright(/** @type {any[]} */ suites, /** @type {Pick<Result, 'check' | 'day'>} */ own) {
  return suites.flatMap(({ file, specs = [], suites: inner = [] }) => [
    ...specs.map((/** @type {any} */ { title, ok, tests }) => {
      const notes = tests.flatMap((/** @type {any} */ { annotations }) => annotations);
      const told = notes.find((/** @type {any} */ { type }) => type === 'cases')?.description;
      return { ...own, file: `test/e2e/${file}`, name: title, passed: ok, cases: told && Number(told) };
    }),
    ...ofPlaywright(inner, own),
  ]);
}
