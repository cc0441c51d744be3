import { build } from 'esbuild';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { loadavg } from 'node:os';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { findBrowser, launchArgs } from '../../../scripts/browser.mjs';

/**
 * Chats of 10,000 messages in Chromium: kept by ours, by Dexie with the same tables, as a record per message, as one
 * JSON text, and by SQLite in a file.
 *
 * `npm run bench:peers` installs the peers into this folder, runs this file after `render.ts` and `stream.ts`, and
 * writes its section of RESULTS.md. The stores take turns; figures are medians, and only ratios within one run mean
 * something. It fails where a promise is not kept. `ROUNDS=2` is a quick look.
 */
const here = fileURLToPath(new URL('.', import.meta.url));
const modules = join(here, 'node_modules');

/** What is promised: how many times faster than a peer, for a task. */
const PROMISES = [
  ['import', 'Dexie, bulkPut', 5],
  ['chain of 200 in a bush', 'Dexie, where(chat)', 20],
] as const;

type Times = Readonly<Record<string, Readonly<Record<string, readonly number[]>>>>;

async function measure(rounds: number): Promise<Times> {
  const entryPoints = ['storePage.ts', 'storeSqlite.ts'].map((file) => join(here, file));
  const options = { bundle: true, format: 'esm', target: 'es2022', write: false, outdir: '/' } as const;
  const { outputFiles } = await build({ ...options, entryPoints, splitting: true });
  const pages = new Map(outputFiles.map(({ path, text }) => [path, text]));
  pages.set('/', '<!doctype html><script type="module" src="/storePage.js"></script>');
  return new Promise((resolve, reject) => {
    const server = createServer((request, response) => {
      if (request.url === '/told') take(request, response).then(resolve, reject);
      else serve(pages, request, response);
    });
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      openBrowser(`http://127.0.0.1:${port}/?rounds=${rounds}`).catch(reject);
    });
  });
}

/** What the page has to tell in the end. */
async function take(request: IncomingMessage, response: ServerResponse): Promise<Times> {
  const { times, error } = JSON.parse(await textOf(request)) as { times: Times; error?: string };
  response.end();
  if (error !== undefined) throw new Error(error);
  return times;
}

async function openBrowser(url: string): Promise<void> {
  const executablePath = findBrowser();
  if (!executablePath) throw new Error('No browser: `node scripts/browser.mjs` installs one.');
  const browser = await chromium.launch({ executablePath, args: launchArgs() });
  const page = await browser.newPage();
  page.on('pageerror', (error) => console.error(error));
  await page.goto(url);
}

/** Pages that may share memory, which SQLite's files need, and whose clock tells microseconds. */
const HEADERS = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};

const PLACES: Readonly<Record<string, string>> = {
  '/sqlite/': join(modules, '@sqlite.org/sqlite-wasm/sqlite-wasm/jswasm'),
  '/dexie/': join(modules, 'dexie/dist'),
};

function serve(
  pages: ReadonlyMap<string, string>,
  { url = '/' }: IncomingMessage,
  response: ServerResponse,
): void {
  const path = url.split('?')[0] ?? '/';
  const place = Object.keys(PLACES).find((start) => path.startsWith(start));
  const file = place && join(PLACES[place] ?? '', path.slice(place.length));
  const body = pages.get(path) ?? (file && existsSync(file) ? readFileSync(file) : undefined);
  const type = TYPES[extname(path)] ?? 'text/html';
  response.writeHead(body === undefined ? 404 : 200, { ...HEADERS, 'Content-Type': type }).end(body);
}

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.wasm': 'application/wasm',
};

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

// --- The report -----------------------------------------------------------------------------------------------------

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

function rowsOf(times: Times): string[] {
  return Object.entries(times).flatMap(([task, byStore]) => {
    const own = median(byStore['contextree'] ?? []);
    return Object.entries(byStore).map(([store, values]) => {
      const ms = median(values);
      const least = PROMISES.find(([a, b]) => a === task && b === store)?.[2];
      const isKept = least === undefined || ms / own >= least;
      if (!isKept) broken.push(`${task}: ${store}`);
      const promise = least === undefined ? '' : `at least ${least}x${isKept ? '' : ': not kept'}`;
      return `| ${task} | ${store} | ${(ms / own).toFixed(2)}x | ${promise} | ${ms.toFixed(2)} ms |`;
    });
  });
}

if (!existsSync(join(modules, 'dexie')))
  spawnSync('npm', ['ci', '--ignore-scripts', '--omit=peer', '--silent'], { cwd: here, stdio: 'inherit' });

const broken: string[] = [];
const before = loadavg()[0] ?? 0;
const rows = rowsOf(await measure(Number(process.env['ROUNDS'] ?? 5)));
const HEADING = '# Stores beside peers';
const section = `${HEADING}

\`node test/bench/peers/store.ts\` wrote this on ${new Date().toISOString().slice(0, 10)}, in Chromium, at a load of ${before.toFixed(1)} on two cores before and ${(loadavg()[0] ?? 0).toFixed(1)} behind it.
Messages of 1 kB; medians; the stores take turns. The ratio is how many times as long as ours it takes.

| task | store | times ours | promise | median |
| --- | --- | --: | --: | --: |
${rows.join('\n')}

Every write waits for the disk (\`strict\`; SQLite: \`synchronous = FULL\`). Ours reads, checks and numbers what it writes,
and writes a branch, a chat and changes with each turn. The bush is a trunk of 100 messages with 99 branches of 100.
`;
console.log(section);
const known = readFileSync(join(here, 'RESULTS.md'), 'utf8').split(HEADING)[0] ?? '';
writeFileSync(join(here, 'RESULTS.md'), `${known.trimEnd()}\n\n${section}`);
if (broken.length > 0) console.error(`Not kept: ${broken.join('; ')}`);
process.exit(broken.length > 0 ? 1 : 0);
