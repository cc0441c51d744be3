import { build } from 'esbuild';
import { existsSync, readFileSync } from 'node:fs';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium, type Browser, type CDPSession, type Page } from 'playwright-core';
import { findBrowser, launchArgs } from '../../../scripts/browser.mjs';

/**
 * A function of a module, called in a headless Chromium of its own.
 *
 * The module is bundled as an app ships it, with React's production build, and served from localhost. What is called
 * may ask for `threadTime()`, the seconds that its thread was given so far, which on a busy machine tells more than a
 * clock does, and for `collectGarbage()`, so that nobody pays for what another one left behind.
 */
export interface Called {
  /**
   * Files of this folder and packages that are installed in it, by the name under which the page finds them: `a` is
   * served as `/a.js`. What two of them import they share. `page` exports what is called.
   */
  readonly modules: Readonly<Record<'page', string> & Record<string, string>>;
  readonly name: string;
  readonly args: readonly unknown[];
  /** Folders that are served as they are, by the path under which the page finds them. */
  readonly places?: Readonly<Record<string, string>>;
}

declare global {
  /** Seconds that the page's main thread was given. */
  function threadTime(): Promise<number>;
  function collectGarbage(): Promise<void>;
}

/** What the function resolves with, as JSON carries it; rejects with what it throws. */
export async function inChromium<Told>({ modules, name, args, places = {} }: Called): Promise<Told> {
  const bundle = await bundled(modules);
  const server = await listening((request, response) => serve(bundle, places, request, response));
  const { port } = server.address() as AddressInfo;
  const browser = await launched();
  try {
    const page = await opened(browser, `http://127.0.0.1:${port}/`);
    return await page.evaluate(
      async ([name, args]) => {
        const module = '/page.js';
        const functions = (await import(module)) as Record<string, (...args: unknown[]) => Promise<Told>>;
        return (functions[name] as (...args: unknown[]) => Promise<Told>)(...args);
      },
      [name, [...args]] as const,
    );
  } finally {
    await browser.close();
    server.close();
  }
}

/** Files by the path under which the page finds them. */
async function bundled(modules: Called['modules']): Promise<ReadonlyMap<string, string>> {
  const { outputFiles } = await build({
    entryPoints: { ...modules },
    absWorkingDir: fileURLToPath(new URL('.', import.meta.url)),
    bundle: true,
    splitting: true,
    format: 'esm',
    target: 'es2022',
    define: { 'process.env.NODE_ENV': '"production"' },
    write: false,
    outdir: '/',
  });
  return new Map(outputFiles.map(({ path, text }) => [path, text]));
}

async function listening(listener: RequestListener): Promise<Server> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return server;
}

async function launched(): Promise<Browser> {
  const executablePath = findBrowser();
  if (!executablePath) throw new Error('No browser: `node scripts/browser.mjs` installs one.');
  return chromium.launch({ executablePath, args: launchArgs() });
}

async function opened(browser: Browser, url: string): Promise<Page> {
  const page = await browser.newPage();
  page.on('pageerror', (error) => console.error(error));
  page.on('console', (message) => message.type() === 'error' && console.error(message.text()));
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  await page.exposeFunction('threadTime', () => threadTimeOf(session));
  await page.exposeFunction('collectGarbage', () => session.send('HeapProfiler.collectGarbage'));
  await page.goto(url);
  return page;
}

async function threadTimeOf(session: CDPSession): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics');
  const time = metrics.find(({ name }) => name === 'ThreadTime');
  if (!time) throw new Error('This browser does not tell the time of its threads.');
  return time.value;
}

/** Pages that may share memory, which SQLite's files need, and whose clock tells microseconds. */
const HEADERS = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};

const TYPES: Readonly<Record<string, string>> = {
  '': 'text/html',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.wasm': 'application/wasm',
};

function serve(
  bundle: ReadonlyMap<string, string>,
  places: Readonly<Record<string, string>>,
  { url = '/' }: IncomingMessage,
  response: ServerResponse,
): void {
  const start = Object.keys(places).find((place) => url.startsWith(place));
  const file = start && join(places[start] ?? '', url.slice(start.length));
  const page = url === '/' ? '<!doctype html><title>peers</title>' : bundle.get(url);
  const body = page ?? (file && existsSync(file) ? readFileSync(file) : undefined);
  const type = TYPES[extname(url)] ?? 'application/octet-stream';
  response.writeHead(body === undefined ? 404 : 200, { ...HEADERS, 'Content-Type': type }).end(body);
}
