// What a `useChat` app loads until its first answer is saved: bytes of script (each file after minifying and gzip -9)
// and requests, in Chromium. Run as a script, prints both, the files, and which sources the bytes come from.
//
// The smallest app there is, on the built package: a provider, `useChat(useContextChat())`, a button. esbuild bundles
// it with splitting, which makes more and smaller chunks than Vite does, so no app asks for more. The page is opened,
// asks once, hears its answer from a transport of its own, and waits until `saveState` is `saved` and the words are
// found in IndexedDB; what its server was asked for by then is counted. Files with the peers (react, react-dom, ai,
// @ai-sdk/react) and what they bring along are not; zustand is ours, and so are the app's few lines.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { SourceMap } from 'node:module';
import { join } from 'node:path';
import { argv } from 'node:process';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { chromium } from 'playwright-core';
import { ensureBrowser, launchArgs } from './browser.mjs';
import { fileOf, root } from './entries.mjs';

/**
 * @typedef {object} LoadedFile
 * @property {string} path on the server
 * @property {number} bytes gzipped
 * @property {string} code
 * @property {string} map its source map
 *
 * @typedef {{ bytes: number, files: LoadedFile[] }} FirstAnswer `files` in the order in which they were asked for
 *
 * @typedef {{ code: string, map: string, inputs: string[] }} Chunk `inputs`: files, by their path below the project
 */

const PEERS = ['react', 'react-dom/client', 'ai', '@ai-sdk/react'];
const ANSWER = 'Four words of answer.';

const APP = `
import { useChat } from '@ai-sdk/react';
import { ContextEngineProvider, useContextEngine } from 'contextree';
import { useContextChat } from 'contextree/ai';
import { createElement } from 'react';
import { createRoot } from 'react-dom/client';

const answer = [
  { type: 'start' },
  { type: 'text-start', id: 't' },
  { type: 'text-delta', id: 't', delta: ${JSON.stringify(ANSWER)} },
  { type: 'text-end', id: 't' },
  { type: 'finish' },
];
const transport = {
  sendMessages: async () =>
    new ReadableStream({
      start(controller) {
        for (const chunk of answer) controller.enqueue(chunk);
        controller.close();
      },
    }),
  reconnectToStream: async () => null,
};

function Chat() {
  const { engine } = useContextEngine();
  const { sendMessage, status } = useChat(useContextChat({ transport }));
  globalThis.shown = { engine, status };
  return createElement('button', { onClick: () => sendMessage({ text: 'A question' }) }, 'Send');
}

createRoot(document.body).render(
  createElement(ContextEngineProvider, { chatId: 'first', userId: 'me' }, createElement(Chat)),
);
`;

/** @type {Promise<FirstAnswer> | undefined} */
let measuring;

/** What the app loads; measured once. Needs the built package. @returns {Promise<FirstAnswer>} */
export function firstAnswer() {
  return (measuring ??= measure());
}

async function measure() {
  const chunks = await bundle();
  const files = [...(await openAndAsk(chunks))].flatMap((path) => {
    const chunk = chunks.get(path);
    return chunk && isOurs(chunk)
      ? [{ path, bytes: gzipped(chunk.code), code: chunk.code, map: chunk.map }]
      : [];
  });
  return { bytes: files.reduce((sum, { bytes }) => sum + bytes, 0), files };
}

/** The peers' files hold nothing of ours, because they are an entry of their own. */
function isOurs(/** @type {Chunk} */ { inputs }) {
  return inputs.some((name) => !/node_modules\/(?!zustand\/)/.test(name));
}

function gzipped(/** @type {string} */ code) {
  return gzipSync(code, { level: 9 }).length;
}

/** The files of the app, by their path on the server. @returns {Promise<Map<string, Chunk>>} */
async function bundle() {
  const out = join(root, 'app');
  const { outputFiles, metafile } = await build({
    entryPoints: ['app', 'peers'],
    plugins: [sources],
    outdir: out,
    absWorkingDir: root,
    bundle: true,
    splitting: true,
    minify: true,
    metafile: true,
    sourcemap: 'external',
    write: false,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    logLevel: 'error',
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  const texts = new Map(outputFiles.map(({ path, text }) => [path, text]));
  return new Map(
    outputFiles.map(({ path, text }) => {
      const { inputs = {} } = metafile.outputs[path.slice(root.length + 1).replaceAll('\\', '/')] ?? {};
      const at = path.slice(out.length).replaceAll('\\', '/');
      return [at, { code: text, map: texts.get(`${path}.map`) ?? '', inputs: Object.keys(inputs) }];
    }),
  );
}

/** The two entries, and where the package is. @type {import('esbuild').Plugin} */
const sources = {
  name: 'sources',
  setup(building) {
    building.onResolve({ filter: /^(app|peers)$/ }, ({ path }) => ({ path, namespace: 'entry' }));
    building.onResolve({ filter: /^contextree(\/ai)?$/ }, ({ path }) => ({
      path: fileOf(path.slice('contextree/'.length)),
      sideEffects: false,
    }));
    building.onLoad({ filter: /^app$/, namespace: 'entry' }, () => ({ contents: APP, resolveDir: root }));
    building.onLoad({ filter: /^peers$/, namespace: 'entry' }, () => ({
      contents: PEERS.map((peer) => `export * from '${peer}';`).join('\n'),
      resolveDir: root,
    }));
  },
};

/** What a person's browser asked for until their first answer was on the disk. @returns {Promise<Set<string>>} */
async function openAndAsk(/** @type {Map<string, Chunk>} */ chunks) {
  /** @type {Set<string>} */
  const asked = new Set();
  const server = createServer(({ url = '' }, response) => {
    const chunk = chunks.get(url);
    if (chunk) asked.add(url);
    if (url === '/') response.setHeader('content-type', 'text/html').end(PAGE);
    else if (chunk) response.setHeader('content-type', 'text/javascript').end(chunk.code);
    else response.writeHead(404).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const browser = await chromium.launch({ executablePath: ensureBrowser(), args: launchArgs() });
  try {
    const page = await browser.newPage();
    const address = server.address();
    await page.goto(`http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`);
    await page.click('button');
    await until(() => page.evaluate(isSaved, ANSWER));
    return new Set(asked);
  } finally {
    await browser.close();
    server.close();
  }
}

async function until(/** @type {() => Promise<boolean>} */ holds) {
  const latest = performance.now() + 30_000;
  while (!(await holds())) {
    if (performance.now() > latest) throw new Error('The first answer was not saved within 30 s.');
    await setTimeout(10);
  }
}

const PAGE = '<!doctype html><title>First answer</title><body><script type="module" src="/app.js"></script>';

/** In the page: whether the app says that the answer is saved, and it is. */
async function isSaved(/** @type {string} */ answer) {
  const { engine, status } = /** @type {any} */ (globalThis).shown;
  if (status !== 'ready' || engine.state.getState().saveState.state !== 'saved') return false;
  const known = await indexedDB.databases();
  const found = known.map(
    ({ name = '' }) =>
      new Promise((resolve) => {
        const opening = indexedDB.open(name);
        opening.onsuccess = () => {
          const db = opening.result;
          const tx = db.transaction([...db.objectStoreNames]);
          const reads = [...db.objectStoreNames].map((table) => tx.objectStore(table).getAll());
          tx.oncomplete = () => {
            db.close();
            resolve(JSON.stringify(reads.map(({ result }) => result)).includes(answer));
          };
        };
      }),
  );
  return (await Promise.all(found)).includes(true);
}

/** Minified bytes of each source in these files, largest first. @returns {[name: string, bytes: number][]} */
function bySource(/** @type {LoadedFile[]} */ files) {
  /** @type {Map<string, number>} */
  const bytes = new Map();
  for (const { code, map } of files) {
    const origin = new SourceMap(JSON.parse(map));
    for (const [at, line] of code.split('\n').entries())
      for (let column = 0; column < line.length; column++) {
        // Its type has no word of it: between two sources there is none.
        const { originalSource } = /** @type {{ originalSource?: string }} */ (origin.findEntry(at, column));
        const name = originalSource?.replace(/^(?:\.\.\/)+/, '') ?? 'between them';
        bytes.set(name, (bytes.get(name) ?? 0) + 1);
      }
  }
  return [...bytes].toSorted(([, a], [, b]) => b - a);
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  const { bytes, files } = await firstAnswer();
  console.log(`${bytes} bytes in ${files.length} files`);
  for (const file of files) console.log(String(file.bytes).padStart(7), file.path);
  console.log('\nminified bytes by source');
  for (const [name, bytes] of bySource(files)) console.log(String(bytes).padStart(7), name);
}
