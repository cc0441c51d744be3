// The doors of the package, named once. The library build, the demo, Storybook, the tests and the size table
// all read this list; package.json repeats it for the world and test/package holds the two together.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The project's folder, without a slash at the end. */
export const root = fileURLToPath(new URL('..', import.meta.url)).replace(/[\\/]$/, '');

/** Source file of each entry, by the path behind the package's name; '' is the package itself. */
export const entries = {
  '': 'src/index.ts',
  core: 'src/core.ts',
  ai: 'src/ai/index.ts',
  'ai/local': 'src/ai/local.ts',
  'ai/replay': 'src/record/replay.ts',
  store: 'src/store/index.ts',
  tokens: 'src/tokens/index.ts',
  devtools: 'devtools/index.ts',
  'devtools/production': 'devtools/production.ts',
  'devtools/tanstack': 'devtools/tanstack.tsx',
  session: 'src/session.ts',
  reminders: 'src/reminders.ts',
  'tokenizers/o200k': 'src/tokenizers/o200k.ts',
  'tokenizers/cl100k': 'src/tokenizers/cl100k.ts',
  'tokenizers/o200k-worker': 'src/tokenizers/o200k-worker.ts',
  'tokenizers/cl100k-worker': 'src/tokenizers/cl100k-worker.ts',
};

/** Sources of Workers: named by no user, started by the entry beside them. */
export const workers = ['src/tokenizers/o200k.worker.ts', 'src/tokenizers/cl100k.worker.ts'];

/** Entries that a server component may name but not run: the only files of dist that say 'use client'. */
export const clientEntries = ['', 'ai', 'devtools', 'devtools/production', 'devtools/tanstack'];

/** The name under which a user imports an entry: `contextree`, `contextree/ai`, ... */
export const specifier = (/** @type {string} */ entry) =>
  entry === '' ? 'contextree' : `contextree/${entry}`;

/** Vite's `resolve.alias`: the package's own names lead to its sources, so that no build is needed to run it. */
export const aliases = Object.entries(entries).map(([entry, source]) => ({
  find: new RegExp(`^${specifier(entry)}$`),
  replacement: `${root}/${source}`,
}));

/** The built file of an entry, as package.json names it. */
export function fileOf(/** @type {string} */ entry) {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return join(root, exports[entry === '' ? '.' : `./${entry}`].default);
}
