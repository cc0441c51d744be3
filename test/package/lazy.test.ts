import { existsSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { expect, inject, it } from 'vitest';

// What is loaded when it is first used, and not before: bundlers make a chunk of its own of what is only reached by `import()`.

const dist = join(inject('installed'), 'node_modules/contextree/dist/src');

/** All files that come with one, by imports that are not made later. */
function comingWith(entry: string): string[] {
  const reached = new Set([entry]);
  for (const file of reached) {
    const code = readFileSync(join(dist, file), 'utf8');
    for (const [, path = ''] of code.matchAll(/^(?:import|export)\b[^;]*?["'](\.[^"']+)["'];?$/gm))
      reached.add(posix.join(posix.dirname(file), path));
  }
  return [...reached];
}

const STORE = ['store/open.js', 'store/recordStore.js', 'store/indexeddb/connection.js'];
const LATER = [
  'store/search.js',
  'store/wordIndex.js',
  'store/salvage.js',
  'store/indexeddb/journal.js',
  'store/indexeddb/putBack.js',
  'store/sha256.js',
  'graph/verify.js',
  'engine/repair.js',
];

it('loads a store with its first call', () => {
  for (const entry of ['index.js', 'core.js']) {
    const files = comingWith(entry);
    expect(files).toContain('store/indexeddb/store.js');
    expect(files.filter((file) => [...STORE, ...LATER].includes(file))).toEqual([]);
  }
});

it('loads search, journal and repair when somebody first asks for them', () => {
  const files = comingWith('store/open.js');
  expect(files).toEqual(expect.arrayContaining(STORE));
  expect(files.filter((file) => LATER.includes(file))).toEqual([]);
  expect(LATER.filter((file) => !existsSync(join(dist, file)))).toEqual([]);
});
