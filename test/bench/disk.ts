import { build } from 'esbuild';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { findBrowser, launchArgs } from '../../scripts/browser.mjs';

/**
 * How many bytes a chat takes on the disk, against its messages as JSON, in Chromium: of one that was imported and of one
 * that was written turn by turn; when the browser is closed, and each time that it was opened and closed again.
 *
 *     node test/bench/disk.ts
 *
 * How small words become depends on what they repeat. A conversation keeps to its subject, and quotes what was said: its
 * words are those of a book in their order. Slices from anywhere in that book have less in common, and tell what is left
 * then. An import in order keeps within 0.6 times its JSON, from the first closing on. Fails where that is not so.
 *
 * When Chromium merges its files, the old ones lie beside the new ones until the next opening, so one of the rows may tell
 * of twice as much.
 */
const here = fileURLToPath(new URL('.', import.meta.url));
const COUNT = Number(process.env['COUNT'] ?? 10_000);

const { outputFiles } = await build({
  entryPoints: [join(here, 'diskPage.ts')],
  bundle: true,
  format: 'esm',
  target: 'es2022',
  write: false,
});
const script = outputFiles[0]?.text ?? '';
/** What people write and models answer: prose, Markdown and code, all of this repository's. */
const root = join(here, '../..');
const book = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'guides', 'stories', 'src', 'devtools']
  .flatMap((name) => filesIn(join(root, name)))
  .filter((file) => /\.(?:mdx?|tsx?)$/.test(file) && !file.includes('node_modules'))
  .map((file) => readFileSync(file, 'utf8'))
  .join('\n');

function filesIn(place: string): string[] {
  if (statSync(place).isFile()) return [place];
  return readdirSync(place, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
}

let tell = (_json: number): void => {};
const server = createServer((request, response) => {
  if (request.url === '/told')
    request.on('data', (chunk: Buffer) => tell((JSON.parse(String(chunk)) as { json: number }).json));
  const isScript = request.url === '/page.js';
  const page = '<!doctype html><script type="module" src="/page.js"></script>';
  response
    .writeHead(200, { 'Content-Type': isScript ? 'text/javascript' : 'text/html' })
    .end(isScript ? script : request.url === '/book' ? book : page);
});
await new Promise<void>((resolve) => {
  server.listen(0, '127.0.0.1', resolve);
});
const { port } = server.address() as AddressInfo;

/** Opens the page in a browser of its own, and closes it when it has told how long its chat is as JSON. */
async function visit(profile: string, question: string): Promise<number> {
  const executablePath = findBrowser() ?? '';
  const context = await chromium.launchPersistentContext(profile, { executablePath, args: launchArgs() });
  const told = new Promise<number>((resolve) => (tell = resolve));
  const page = await context.newPage();
  page.on('pageerror', (error) => console.error(error));
  await page.goto(`http://127.0.0.1:${port}/?${question}`);
  const json = await told;
  await context.close();
  return json;
}

/** The bytes of all files of the databases, and of those that are logs. */
function bytesOf(folder: string): { readonly all: number; readonly logs: number } {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
  const sizes = files.map(({ parentPath, name }) => [name, statSync(join(parentPath, name)).size] as const);
  const sum = (of: typeof sizes): number => of.reduce((total, [, size]) => total + size, 0);
  return { all: sum(sizes), logs: sum(sizes.filter(([name]) => name.endsWith('.log'))) };
}

let isKept = true;
console.log('| chat | when | against its JSON | MB on the disk, of it logs, of JSON |');
console.log('| --- | --- | --: | --- |');
for (const how of ['import in order', 'import from anywhere', 'turns in order']) {
  const profile = mkdtempSync(join(tmpdir(), 'contextree-disk-'));
  const json = await visit(profile, `how=${how}&count=${COUNT}`);
  const ratios: number[] = [];
  for (const when of ['closed', 'opened and closed again', 'and once more', 'and once more']) {
    if (when !== 'closed') await visit(profile, 'count=0');
    const { all, logs } = bytesOf(join(profile, 'Default/IndexedDB'));
    const megabytes = [all, logs, json].map((bytes) => (bytes / 1e6).toFixed(1)).join(', ');
    ratios.push(all / json);
    console.log(`| ${how} of ${COUNT} | ${when} | ${(all / json).toFixed(3)}x | ${megabytes} |`);
  }
  const [first = Infinity, last = Infinity] = [ratios[0], ratios.at(-1)];
  if (how === 'import in order') isKept &&= Math.max(first, last) <= 0.6;
  rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}
server.close();
if (!isKept) console.error('An import takes more than 0.6 times its JSON.');
process.exit(isKept ? 0 : 1);
