import { type ChildProcess, spawn } from 'node:child_process';
import { appendFile, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, type BrowserContext, chromium, expect, type Page } from '@playwright/test';
import { briefPages, findBrowser, launchArgs } from '../../scripts/browser.mjs';
import { aliases, root } from '../../scripts/entries.mjs';

/** Keeps drawing and the network in the browser's own process, and no renderer ready for a page that never comes. */
const lean = [
  '--in-process-gpu',
  '--enable-features=NetworkServiceInProcess2',
  '--disable-features=SpareRendererForSitePerProcess',
  briefPages,
];

/**
 * A browser with a profile of its own on the disk, that can be killed as a system kills: at once and altogether. Whoever
 * starts it again finds what the disk has kept. Its pages have nothing on them but the package, as `contextree`.
 */
export class Profile {
  readonly #folder: string;
  readonly #server: Server;
  #process: ChildProcess | undefined;
  #browser: Browser | undefined;
  /** What was thrown in a page, or rejected, and heard by nobody. */
  readonly unheard: string[] = [];

  private constructor(folder: string, server: Server) {
    this.#folder = folder;
    this.#server = server;
  }

  static async create(): Promise<Profile> {
    const server = createServer(({ url }, response) => {
      const script = url === '/core.js';
      response.setHeader('content-type', script ? 'text/javascript' : 'text/html');
      if (script) void (code ??= packageCode()).then((text) => response.end(text));
      else response.end(PAGE);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new Profile(await mkdtemp(join(tmpdir(), 'contextree-profile-')), server);
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Starts the browser; `prepare` is done before there is a page. */
  async start(prepare: (context: BrowserContext) => Promise<void> = async () => {}): Promise<void> {
    await rm(join(this.#folder, 'DevToolsActivePort'), { force: true });
    const args = ['--headless=new', '--remote-debugging-port=0', `--user-data-dir=${this.#folder}`];
    // A group of its own: the browser is many processes, and they go together.
    this.#process = spawn(findBrowser() ?? '', [...launchArgs(), ...lean, ...args, 'about:blank'], {
      detached: true,
      stdio: 'ignore',
    });
    this.#browser = await chromium.connectOverCDP(`http://127.0.0.1:${await this.#port()}`);
    this.context.on('weberror', (one) => this.unheard.push(String(one.error())));
    await prepare(this.context);
  }

  get context(): BrowserContext {
    const [context] = this.#browser?.contexts() ?? [];
    if (!context) throw new Error('The browser was not started.');
    return context;
  }

  async #port(): Promise<string> {
    let port = '';
    const read = async (): Promise<string> => {
      const text = await readFile(join(this.#folder, 'DevToolsActivePort'), 'utf8').catch(() => '');
      return (port = text.split('\n')[0] ?? '');
    };
    await expect.poll(read).not.toBe('');
    return port;
  }

  /** A page with the package: the one that the browser began with, while it is blank, or a new one. */
  async open(): Promise<Page> {
    const blank = this.context.pages().find((page) => page.url() === 'about:blank');
    const page = blank ?? (await this.context.newPage());
    await page.goto(this.origin);
    await page.waitForFunction(() => 'contextree' in globalThis);
    return page;
  }

  /**
   * Kills the browser in the midst of whatever it does, and waits until it let go of its files: its databases stay locked
   * until then, and one that is locked for seconds does not open. What was started may be a script that goes earlier, so
   * the connection tells.
   */
  async kill(): Promise<void> {
    const [child, browser] = [this.#process, this.#browser];
    this.#process = this.#browser = undefined;
    if (child?.pid === undefined) return;
    const gone = new Promise((resolve) => void browser?.once('disconnected', resolve));
    process.kill(-child.pid, 'SIGKILL');
    if (browser?.isConnected()) await gone;
  }

  /** The files in which large values of databases lie, each by itself. The browser must not run. */
  async largeValues(): Promise<string[]> {
    return (await this.#databaseFiles()).filter((path) => path.includes('.indexeddb.blob'));
  }

  /**
   * Leaves at the end of each log what a browser leaves there that is killed in the midst of a commit: the beginning of a
   * record, which tells its kind and how many bytes come, and none of them. Tells how many logs there are. The browser must
   * not run.
   */
  async tearLogs(): Promise<number> {
    const [sum, size, kind] = [[1, 2, 3, 4], [0x2c, 3], 1];
    const logs = (await this.#databaseFiles()).filter((path) => path.endsWith('.log'));
    for (const path of logs) await appendFile(path, new Uint8Array([...sum, ...size, kind]));
    return logs.length;
  }

  async #databaseFiles(): Promise<string[]> {
    const folder = join(this.#folder, 'Default', 'IndexedDB');
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  }

  /** Takes it all away; nothing may have been left unheard. */
  async remove(): Promise<void> {
    await this.kill();
    expect.soft(this.unheard).toEqual([]);
    this.#server.close();
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
}

const PAGE = `<!doctype html><title>contextree</title>
<script type="module">import * as contextree from '/core.js'; globalThis.contextree = contextree;</script>`;

let code: Promise<string> | undefined;

/** `contextree/core` in one file. */
async function packageCode(): Promise<string> {
  const { build } = await import('vite');
  const built = await build({
    configFile: false,
    logLevel: 'silent',
    root,
    publicDir: false,
    resolve: { alias: aliases },
    build: {
      write: false,
      minify: false,
      lib: { entry: `${root}/src/core.ts`, formats: ['es'], fileName: 'core' },
      rolldownOptions: { output: { codeSplitting: false } },
    },
  });
  const [output] = [built].flat().flatMap((one) => ('output' in one ? one.output : []));
  if (output?.type !== 'chunk') throw new Error('The package was not built into one file.');
  return output.code;
}
