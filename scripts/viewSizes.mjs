// What each piece of the devtools weighs that has a budget of its own, in bytes after minifying and gzip -9: what the
// console of a page asks, and each view beyond Graph and Prompt. All views are one file of dist, so they are bundled from
// their sources, without the packages: of a view counts what it adds to the panel with Graph and Prompt.
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { root } from './entries.mjs';

const TOOLS = 'devtools/tools.ts';
const BUTTON = 'devtools/index.ts';
const VIEW = /\/views\/(?:Cost|Compare|Log|Run|Storage|Fragments|Checkpoints|Snapshot)\.tsx$/;

/** @typedef {{ piece: string, budget: number, bytes: number }} Piece */

/** @returns {Promise<Piece[]>} */
export async function viewSizes() {
  const { metafile } = await bundle([TOOLS]);
  const tools = metafile.inputs[TOOLS]?.imports.map(({ path }) => path) ?? [];
  const panel = ['devtools/Panel.tsx', ...tools.filter((path) => !VIEW.test(path))];
  return Promise.all([
    added('devtools/Consoles.tsx', [BUTTON], 2_000),
    ...tools.filter((path) => VIEW.test(path)).map((view) => added(view, panel, 4_000)),
  ]);
}

/** What a module adds to others. @returns {Promise<Piece>} */
async function added(
  /** @type {string} */ piece,
  /** @type {string[]} */ others,
  /** @type {number} */ budget,
) {
  const [whole, known] = await Promise.all([weigh([...others, piece]), weigh(others)]);
  return { piece, budget, bytes: whole - known };
}

/** What these modules import at once is weighed with them. */
async function weigh(/** @type {string[]} */ modules) {
  const { outputFiles, metafile } = await bundle(modules);
  const first = outputFiles.find(({ path }) => metafile.outputs[path.slice(root.length + 1)]?.entryPoint);
  return gzipSync(first?.contents ?? '', { level: 9 }).length;
}

function bundle(/** @type {string[]} */ modules) {
  const contents = modules.map((module, i) => `export * as m${i} from './${module}';`).join('\n');
  return build({
    ...(modules[0] === TOOLS ? { entryPoints: [TOOLS] } : { stdin: { contents, resolveDir: root } }),
    write: false,
    metafile: true,
    bundle: true,
    minify: true,
    plugins: [later],
    external: ['react', 'react-dom', 'zustand', 'diff', 'contextree', 'contextree/*'],
    format: 'esm',
    target: 'es2022',
    logLevel: 'silent',
    outdir: 'sizes',
    absWorkingDir: root,
    jsx: 'transform',
    jsxFactory: 'createElement',
    define: { 'process.env.NODE_ENV': '"development"' },
  });
}

/** Leaves out what is loaded later. @type {import('esbuild').Plugin} */
const later = {
  name: 'later',
  setup: (api) =>
    api.onResolve({ filter: /./ }, ({ path, kind }) =>
      kind === 'dynamic-import' ? { path, external: true } : undefined,
    ),
};
