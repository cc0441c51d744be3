import { build } from 'esbuild';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { findBrowser, launchArgs } from '../../scripts/browser.mjs';
import type { Told } from './diskPage.ts';

/**
 * How many bytes a chat takes on the disk, against its JSON, in Chromium: of one that was imported and of one that was
 * written turn by turn; when the browser is closed, and each time that it was opened and closed again.
 *
 *     node test/bench/disk.ts
 *
 * Its JSON is told twice. A store keeps who follows whom, when and from which device beside each message, and gives that
 * back: this is what a record for each message would take as JSON, and against it a chat takes 0.6 times at most. Against
 * the `UIMessage`s alone, which hold a fifth less, only an import in order is held to that.
 *
 * How small words become depends on what they repeat. A conversation keeps to its subject, and quotes what was said: its
 * words are those of a book in their order. Slices from anywhere in that book have less in common, and tell what is left
 * then.
 *
 * A chat that was written turn by turn lay in records of its own before it was sealed. Those are gone from the files when
 * Chromium has merged them; what its indexes told of them, a tenth of the chat, stays until Chromium sweeps, which it
 * does at times. And while it merges, the old files lie beside the new ones until the next opening: one of the rows
 * may tell of twice as much. So what is judged is the least of the four.
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

let tell = (_told: Told): void => {};
const server = createServer((request, response) => {
  if (request.url === '/told') request.on('data', (chunk: Buffer) => tell(JSON.parse(String(chunk)) as Told));
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
async function visit(profile: string, question: string): Promise<Told> {
  const executablePath = findBrowser() ?? '';
  const context = await chromium.launchPersistentContext(profile, { executablePath, args: launchArgs() });
  const told = new Promise<Told>((resolve) => (tell = resolve));
  const page = await context.newPage();
  page.on('pageerror', (error) => console.error(error));
  await page.goto(`http://127.0.0.1:${port}/?${question}`);
  const lengths = await told;
  await context.close();
  return lengths;
}

/** The bytes of all files of the databases, and of those that are logs. */
function bytesOf(folder: string): { readonly all: number; readonly logs: number } {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
  const sizes = files.map(({ parentPath, name }) => [name, statSync(join(parentPath, name)).size] as const);
  const sum = (of: typeof sizes): number => of.reduce((total, [, size]) => total + size, 0);
  return { all: sum(sizes), logs: sum(sizes.filter(([name]) => name.endsWith('.log'))) };
}

/** What is promised: how many times its JSON a chat takes at most. */
const MOST = 0.6;
const broken: string[] = [];

console.log(
  '| chat | when | against its JSON | against its UIMessages | MB on the disk, of it logs; of JSON, of it UIMessages |',
);
console.log('| --- | --- | --: | --: | --- |');
for (const how of ['import in order', 'import from anywhere', 'turns in order', 'turns from anywhere']) {
  const profile = mkdtempSync(join(tmpdir(), 'contextree-disk-'));
  const json = await visit(profile, `how=${how}&count=${COUNT}`);
  const sizes: number[] = [];
  for (const when of ['closed', 'opened and closed again', 'and once more', 'and once more']) {
    if (when !== 'closed') await visit(profile, 'count=0');
    const { all, logs } = bytesOf(join(profile, 'Default/IndexedDB'));
    sizes.push(all);
    const [disk, log, nodes, messages] = [all, logs, json.nodes, json.messages].map((bytes) =>
      (bytes / 1e6).toFixed(1),
    );
    const [toAll, toMessages] = [json.nodes, json.messages].map((bytes) => `${(all / bytes).toFixed(3)}x`);
    console.log(
      `| ${how} of ${COUNT} | ${when} | ${toAll} | ${toMessages} | ${disk}, ${log}; ${nodes}, ${messages} |`,
    );
  }
  const atRest = Math.min(...sizes);
  if (atRest > MOST * json.nodes) broken.push(`${how}, against its JSON`);
  if (how === 'import in order' && atRest > MOST * json.messages)
    broken.push(`${how}, against its UIMessages`);
  rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}
server.close();
if (broken.length > 0) console.error(`More than ${MOST} times: ${broken.join('; ')}`);
process.exit(broken.length > 0 ? 1 : 0);
