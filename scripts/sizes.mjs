// What each entry costs an app, in bytes after minifying and gzip -9; run as a script, prints the table behind what a
// `useChat` app loads until its first answer is saved (`firstAnswer.mjs`), and with `--readme` writes both into the README.
//
// An entry is bundled as a user's bundler would, with `export *` of it and NODE_ENV "production" unless said
// otherwise. Peers stay outside, idb and zustand come in. Lazy chunks are counted apart, because nobody waits for
// them at the start. Of an entry that only adds to another one counts what it
// adds: both bundled together, less the other one alone.
import { readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { argv, exit } from 'node:process';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { fileOf, root, specifier } from './entries.mjs';
import { firstAnswer } from './firstAnswer.mjs';

/**
 * @typedef {object} Budget
 * @property {string} entry path behind the package's name
 * @property {number | null} budget bytes, null where there is none
 * @property {string} [beyond] the entry that whoever uses this one has anyway
 * @property {'production' | 'development'} [mode]
 * @property {boolean} [lazyToo] lazy chunks count as well
 * @property {string} [upTo] the file of dist, without its ending, that is loaded later and counts as well, with what it imports
 *
 * @typedef {Budget & { bytes: number, lazy: number }} Size `lazy`: bytes of the lazy chunks, not in `bytes`
 */

/**
 * The budgets that the package keeps; 1 kB is 1000 bytes. The devtools have ten views, each of at most 4 kB beside the graph
 * and the prompt; all of them together are loaded by nobody. @type {Budget[]}
 */
export const budgets = [
  { entry: '', budget: 20_450 },
  { entry: 'core', budget: 16_550 },
  { entry: 'ai', budget: 6_000, beyond: '' },
  { entry: 'ai/local', budget: 2_000, beyond: 'core' },
  { entry: 'ai/replay', budget: 2_000 },
  { entry: 'tokens', budget: 3_000 },
  { entry: 'devtools', budget: 2_000, beyond: '', mode: 'development', upTo: 'Launcher' },
  { entry: 'devtools', budget: 14_400, beyond: '', mode: 'development', upTo: 'Panel' },
  { entry: 'devtools', budget: 48_700, beyond: '', mode: 'development', lazyToo: true },
  { entry: 'devtools/production', budget: 48_000, beyond: '', lazyToo: true },
  { entry: 'devtools/tanstack', budget: 1_000, beyond: 'devtools', mode: 'development' },
  { entry: 'session', budget: 4_000, beyond: '' },
  { entry: 'reminders', budget: 3_000 },
  { entry: 'tokenizers/o200k', budget: null },
  { entry: 'tokenizers/cl100k', budget: null },
  { entry: 'tokenizers/o200k-worker', budget: null },
  { entry: 'tokenizers/cl100k-worker', budget: null },
];

const peers = ['react', 'react-dom', 'ai', '@ai-sdk/react', 'gpt-tokenizer'];

/** @type {Promise<Size[]> | undefined} */
let weighing;

/** Sizes of all entries of the built package, in the order of {@link budgets}; weighed once. @returns {Promise<Size[]>} */
export function sizes() {
  return (weighing ??= Promise.all(budgets.map(sizeOf)));
}

/** @returns {Promise<Size>} */
async function sizeOf(/** @type {Budget} */ budget) {
  const { entry, beyond, mode = 'production', lazyToo = false, upTo } = budget;
  const how = { mode, lazyToo, upTo };
  const whole = await weigh(beyond === undefined ? [entry] : [beyond, entry], how);
  const known = beyond === undefined ? { bytes: 0, lazy: 0 } : await weigh([beyond], how);
  return { ...budget, bytes: whole.bytes - known.bytes, lazy: whole.lazy - known.lazy };
}

/** What these entries cost together: at once, and lazily. @returns {Promise<{ bytes: number, lazy: number }>} */
async function weigh(
  /** @type {string[]} */ entries,
  /** @type {{ mode: string, lazyToo: boolean, upTo: string | undefined }} */ { mode, lazyToo, upTo },
) {
  const chunks = await bundle(entries, mode);
  const first = chunks.filter((chunk) => chunk.isEntry || (upTo && chunk.source.endsWith(`/${upTo}.js`)));
  const atStart = new Set(first.flatMap(({ name }) => [...reachable(chunks, name)]));
  const lazy = gzipped(chunks.filter(({ name }) => !atStart.has(name)));
  const eager = gzipped(chunks.filter(({ name }) => atStart.has(name)));
  return lazyToo ? { bytes: eager + lazy, lazy: 0 } : { bytes: eager, lazy };
}

/**
 * What an entry of dist loads at once: its modules (absolute paths) and the packages that they import.
 * With `lazyToo`, also what it loads later.
 * @returns {Promise<{ modules: Set<string>, packages: Set<string> }>}
 */
export async function reach(/** @type {string} */ entry, lazyToo = false) {
  const { metafile } = await build({
    ...quiet,
    entryPoints: [fileOf(entry)],
    bundle: true,
    packages: 'external',
    metafile: true,
  });
  const modules = new Set([relative(root, fileOf(entry))]);
  /** @type {Set<string>} */
  const packages = new Set();
  for (const module of modules) {
    for (const { path, kind, external } of metafile.inputs[module]?.imports ?? []) {
      if (kind === 'dynamic-import' && !lazyToo) continue;
      (external ? packages : modules).add(path);
    }
  }
  return { modules: new Set([...modules].map((module) => join(root, module))), packages };
}

/** @type {import('esbuild').BuildOptions & { write: false, format: 'esm' }} */
const quiet = { write: false, format: 'esm', logLevel: 'silent', absWorkingDir: root, platform: 'browser' };

/**
 * @typedef {{ name: string, isEntry: boolean, source: string, contents: Uint8Array, imports: string[] }} Chunk
 * `source`: the module that it was made of, where that is an entry or is loaded later
 * @returns {Promise<Chunk[]>}
 */
async function bundle(/** @type {string[]} */ entries, /** @type {string} */ mode) {
  const contents = entries.map((entry) => `export * from ${JSON.stringify(fileOf(entry))};`).join('\n');
  const { outputFiles, metafile } = await build({
    ...quiet,
    stdin: { contents, resolveDir: root },
    bundle: true,
    splitting: true,
    minify: true,
    metafile: true,
    target: 'es2022',
    outdir: join(root, 'sizes'),
    external: peers,
    define: { 'process.env.NODE_ENV': JSON.stringify(mode) },
  });
  return outputFiles.map(({ path, contents }) => {
    const name = path.slice(root.length + 1).replaceAll('\\', '/');
    const { imports = [], entryPoint } = metafile.outputs[name] ?? {};
    const atOnce = imports.filter(({ kind, external }) => kind !== 'dynamic-import' && !external);
    const isEntry = entryPoint === '<stdin>';
    return { name, isEntry, source: entryPoint ?? '', contents, imports: atOnce.map(({ path: to }) => to) };
  });
}

function reachable(/** @type {Chunk[]} */ chunks, /** @type {string} */ from) {
  const names = new Set([from]);
  for (const name of names)
    for (const to of chunks.find((chunk) => chunk.name === name)?.imports ?? []) names.add(to);
  return names;
}

function gzipped(/** @type {Chunk[]} */ chunks) {
  if (chunks.length === 0) return 0;
  return gzipSync(Buffer.concat(chunks.map(({ contents }) => contents)), { level: 9 }).length;
}

/** One line of the table. */
function line(/** @type {Size} */ { entry, bytes, lazy, budget, beyond, mode, upTo }) {
  const notes = [
    beyond === undefined ? '' : `beyond ${specifier(beyond)}`,
    mode ?? '',
    upTo === undefined ? '' : `up to ${upTo}`,
    lazy > 0 ? `${kilobytes(lazy)} more, lazily` : '',
  ].filter(Boolean);
  const limit = budget === null ? '' : `of ${kilobytes(budget)}`;
  const mark = budget !== null && bytes > budget ? 'OVER' : '';
  return [specifier(entry).padEnd(30), kilobytes(bytes).padStart(9), limit.padEnd(12), mark, notes.join(', ')]
    .join(' ')
    .trimEnd();
}

function kilobytes(/** @type {number} */ bytes) {
  return `${(bytes / 1000).toFixed(2)} kB`;
}

/**
 * The table as the README shows it: what an app loads until its first answer is saved; then of each entry, what is
 * loaded at once, and when it is first used.
 */
export function readmeTable(
  /** @type {Size[]} */ measured,
  /** @type {import('./firstAnswer.mjs').FirstAnswer} */ { bytes, files },
) {
  const first = `**${FIRST_ANSWER}: ${rounded(bytes)} bytes in ${files.length} files.**`;
  const shown = measured.filter(({ entry, upTo }) => !entry.startsWith('tokenizers/') && upTo === undefined);
  const rows = shown.map(({ entry, bytes, lazy, beyond }) => {
    const name = `\`${specifier(entry)}\`${beyond === undefined ? '' : ` beyond \`${specifier(beyond)}\``}`;
    return `| ${name} | ${rounded(bytes)} | ${lazy === 0 ? '' : rounded(lazy)} |`;
  });
  return [first, '', '| entry | at once | when first used |', '| --- | --: | --: |', ...rows].join('\n');
}

const FIRST_ANSWER = 'What a `useChat` app loads until its first answer is saved';

/** To a hundred bytes: a byte more or less is no news. */
function rounded(/** @type {number} */ bytes) {
  return (Math.round(bytes / 100) * 100).toLocaleString('en-US');
}

/** The part of the README that holds the table. */
export const readmeBlock = /<!-- sizes -->\n([\s\S]*?)\n?<!-- \/sizes -->/;

function writeReadme(/** @type {string} */ table) {
  const path = join(root, 'README.md');
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, text.replace(readmeBlock, `<!-- sizes -->\n${table}\n<!-- /sizes -->`));
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  const measured = await sizes();
  const first = await firstAnswer();
  console.log(`${first.bytes} bytes in ${first.files.length} files until a first answer is saved`);
  for (const size of measured) console.log(line(size));
  if (argv.includes('--readme')) writeReadme(readmeTable(measured, first));
  exit(measured.some(({ bytes, budget }) => budget !== null && bytes > budget) ? 1 : 0);
}
