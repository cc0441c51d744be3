import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { root } from '../../scripts/entries.mjs';

/**
 * Where the tests of the store run, and what is left out there. All of it stands here with the reason: what is left out
 * elsewhere without a word is found by these tests.
 */

/** Which suites which file runs, each as often as it is named: `test/browser/store.test.ts` runs in each browser. */
const SUITES: Readonly<Record<string, readonly string[]>> = {
  'browser/store.test.ts': ['storeSuite', 'packSuite', 'faultSuite'],
  'store/indexeddb.test.ts': ['storeSuite', 'packSuite', 'faultSuite'],
  'store/memory.test.ts': ['storeSuite'],
};

/** The conditions under which tests run, one for each. */
const CONDITIONS: Readonly<Record<string, readonly [condition: string, why: string]>> = {
  'browser/store.test.ts': [
    "navigator.userAgent.includes('Chrome')",
    'Only Chromium takes no value of such a size.',
  ],
};

const FOLDERS = ['browser', 'e2e', 'engine', 'graph', 'store', 'support'];

const files = FOLDERS.flatMap((folder) =>
  readdirSync(join(root, 'test', folder))
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => `${folder}/${name}`),
).filter((path) => path !== 'store/where.test.ts');
const read = (path: string): string => readFileSync(join(root, 'test', path), 'utf8');

it('runs the suites in these files', () => {
  const found = files.flatMap((path) => {
    const calls = [...read(path).matchAll(/^(\w+Suite)\(/gm)].map(([, suite = '']) => suite);
    const own = calls.filter((suite) => /^(store|pack|fault)Suite$/.test(suite));
    return own.length > 0 ? [[path, own] as const] : [];
  });
  expect(Object.fromEntries(found)).toEqual(SUITES);
});

it('leaves out tests only under these conditions', () => {
  const found = files.flatMap((path): [string, string][] => {
    const all = read(path).matchAll(
      /\b(?:runIf|skipIf)\((.+?)\)\(|\b(?:it|test|describe|context|ctx)\.(?:skip|todo|only|fixme|fails)\b/g,
    );
    const conditions = [...all].map(([whole, condition]) => condition ?? whole);
    return conditions.length > 0 ? [[path, conditions.join(', ')]] : [];
  });
  expect(Object.fromEntries(found)).toEqual(
    Object.fromEntries(Object.entries(CONDITIONS).map(([path, [condition]]) => [path, condition])),
  );
});
