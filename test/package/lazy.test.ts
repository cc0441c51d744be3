import { globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { expect, inject, it } from 'vitest';

// What is loaded when it is first used, and not before: bundlers make a chunk of its own of what is only reached by `import()`.

const dist = join(inject('installed'), 'node_modules/contextree/dist');
const files = globSync('**/*.js', { cwd: dist }).map((file) => file.replaceAll('\\', '/'));

/** The sources in a file, by their path below src. */
function sourcesOf(file: string): string[] {
  const code = readFileSync(join(dist, file), 'utf8');
  if (!code.includes('sourceMappingURL')) return [];
  const { sources } = JSON.parse(readFileSync(join(dist, `${file}.map`), 'utf8')) as { sources: string[] };
  return sources.map((source) => source.replace(/^(?:\.\.\/)+(?:src\/)?/, ''));
}

/** The sources of all files that come with one, by imports that are not made later. */
function comingWith(entry: string): string[] {
  const reached = new Set([entry]);
  for (const file of reached) {
    const code = readFileSync(join(dist, file), 'utf8');
    for (const [, path = ''] of code.matchAll(/^(?:import|export)\b[^;]*?["'](\.[^"']+)["'];?$/gm))
      reached.add(posix.join(posix.dirname(file), path));
  }
  return [...reached].flatMap(sourcesOf);
}

const STORE = ['store/memoryTables.ts', 'store/tables/usual.ts', 'store/indexeddb/connection.ts'];
const LATER = [
  'store/search.ts',
  'store/wordIndex.ts',
  'store/sha256.ts',
  'store/tables/examine.ts',
  'store/tables/pack.ts',
  'store/tables/files.ts',
  'store/tables/upkeep.ts',
  'graph/verify.ts',
  'engine/repair.ts',
  'engine/inspect.ts',
  'tokens/prices.ts',
];

it('loads a store with its first call', () => {
  for (const entry of ['src/index.js', 'src/core.js']) {
    const sources = comingWith(entry);
    expect(sources).toContain('store/indexeddb/store.ts');
    expect(sources.filter((source) => [...STORE, ...LATER].includes(source))).toEqual([]);
  }
});

it('loads search, repair and prices when they are first used', () => {
  for (const part of ['store/memoryTables.ts', 'store/tables/usual.ts', 'engine/session.ts']) {
    const home = files.find((file) => sourcesOf(file).includes(part));
    expect(home).toBeDefined();
    expect(comingWith(home as string).filter((source) => LATER.includes(source))).toEqual([]);
  }
  expect(files.flatMap(sourcesOf)).toEqual(expect.arrayContaining(LATER));
});
