// Firefox and WebKitGTK as places to run tests in: those that Debian ships, which are older than the ones that test
// tools bring along, and closer to what people run.
//
// A test page reports over its own connection to the test runner. All that is asked of a browser is to open one address,
// and to be gone afterwards with everything that it wrote. Firefox is asked by WebDriver BiDi, through puppeteer-core;
// Playwright drives none but its own build of it.
//
// WebKitGTK is there twice, on a display that nobody looks at. As most people browse, with the databases on a disk, it is
// not asked at all: MiniBrowser is a process that was given the address. Asked by WebDriver, through WebKitWebDriver, it
// opens what is a private window: its databases are in memory. No file of a database is written there, a strict write
// takes no time, and a Blob can't be stored. The store asks for none of that: the same tests hold there, none left out.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process, { env } from 'node:process';
import { setTimeout } from 'node:timers/promises';
import { defineBrowserProvider } from '@vitest/browser';
import { installWithApt } from './browser.mjs';

/**
 * @typedef {object} Running a browser that was started
 * @property {(url: string, asked: () => Promise<unknown>) => Promise<void>} open shows a page: when that is done, the
 *   server was `asked` for it; rejects with what the browser said where it can't
 * @property {() => unknown} close ends it, and removes its profile
 */

const webDriver = '/usr/bin/WebKitWebDriver';
const ownBus = '/usr/bin/dbus-run-session';
const miniBrowser = () => globSync('/usr/lib/*/webkit*gtk-*/MiniBrowser').toSorted()[0];
const forWebKit = ['webkit2gtk-driver', 'xvfb', 'xauth', 'dbus-x11'];

/** How each browser is started, by its name; `path` gives undefined where it is not installed. */
const browsers = {
  firefox: {
    path: () => ['/usr/bin/firefox-esr', '/usr/bin/firefox'].find(existsSync),
    packages: ['firefox-esr'],
    start: startFirefox,
  },
  webkit: {
    path: miniBrowser,
    packages: forWebKit,
    start: startWebKit,
  },
  'webkit-private': {
    path: () => (existsSync(webDriver) ? miniBrowser() : undefined),
    packages: forWebKit,
    start: startWebKitDriver,
  },
};

/** Installs what is missing of these browsers, where that is possible: on Debian, as root. */
export function ensureOtherBrowsers() {
  const missing = Object.values(browsers).filter(({ path }) => !path());
  if (missing.length === 0) return;
  const packages = [...new Set(missing.flatMap((browser) => browser.packages))];
  if (installWithApt(packages)) return;
  throw new Error(`Install them first: sudo apt-get install ${packages.join(' ')}`);
}

/**
 * A provider for Vitest's browser mode that opens the page and leaves it alone.
 * @param {keyof typeof browsers} name
 */
export function otherBrowser(name) {
  const { path, packages, start } = browsers[name];
  /** @type {Running[]} */
  const running = [];
  return defineBrowserProvider({
    name: 'other',
    supportedBrowser: Object.keys(browsers),
    providerFactory: (project) => {
      // The window keeps the size it has; the runner may ask all the same.
      const nothing = /** @type {never} */ (undefined);
      project.browser?.registerCommand(/** @type {never} */ ('__vitest_viewport'), async () => nothing);
      return {
        name: 'other',
        supportsParallelism: false,
        getCommandsContext: () => ({}),
        openPage: async (_session, url) => {
          const program = path();
          const server = project.browser?.vite.httpServer;
          if (!program)
            throw new Error(`${name} is not installed: sudo apt-get install ${packages.join(' ')}`);
          const browser = await start(program);
          running.push(browser);
          await browser.open(url, async () => server && once(server, 'request'));
        },
        close: async () => {
          for (const browser of running.splice(0)) await browser.close();
        },
      };
    },
  });
}

/** @returns {Promise<Running>} */
async function startFirefox(/** @type {string} */ executablePath) {
  // Here, as who only asks what is installed need not load it.
  const { launch } = await import('puppeteer-core');
  const browser = await launch({
    browser: 'firefox',
    executablePath,
    headless: true,
    networkEnabled: false, // nobody asks what it loads
    defaultViewport: null,
    extraPrefsFirefox: {
      'dom.storageManager.prompt.testing': true, // storage never asks
      'dom.ipc.processPrelaunch.enabled': false, // no process for a page to come
    },
  });
  return {
    open: async (url) => {
      const page = await browser.newPage();
      // What goes wrong before the runner is there to tell of it.
      page.on('pageerror', (error) => console.error(error));
      await page.goto(url, { timeout: 0 });
    },
    close: () => browser.close(),
  };
}

/** @returns {Running} */
function startWebKit(/** @type {string} */ path) {
  const { run, close } = onDisplay();
  return {
    open: async (url, asked) => {
      await Promise.race([asked(), run(path, [url])]);
    },
    close,
  };
}

/** @returns {Running} */
function startWebKitDriver(/** @type {string} */ path) {
  const { run, close } = onDisplay();
  /** @type {string | undefined} */
  let session;
  return {
    open: async (url, asked) => {
      const port = await freePort();
      const ended = run(webDriver, [`--port=${port}`, '--host=127.0.0.1']);
      const sessions = `http://127.0.0.1:${port}/session`;
      await answers(sessions, ended);
      const { sessionId } = await Promise.race([post(sessions, automated(path)), ended]);
      session = `${sessions}/${sessionId}`;
      await Promise.race([Promise.all([asked(), post(`${session}/url`, { url })]), ended]);
    },
    close: async () => {
      // The page goes first; a driver that is gone has taken it along.
      if (session) await fetch(session, { method: 'DELETE' }).catch(() => {});
      close();
    },
  };
}

/** The capabilities of a session with this browser. */
function automated(/** @type {string} */ binary) {
  const alwaysMatch = { 'webkitgtk:browserOptions': { binary, args: ['--automation'] } };
  return { capabilities: { alwaysMatch } };
}

/** A command of WebDriver: gives its value, rejects with the driver's words. */
async function post(/** @type {string} */ url, /** @type {object} */ parameters) {
  const answer = await fetch(url, { method: 'POST', body: JSON.stringify(parameters) });
  const { value } = await answer.json();
  if (!answer.ok) throw new Error(`WebKitWebDriver: ${value.error}: ${value.message}`);
  return value;
}

/** Waits for a server to answer; rejects when it has `ended`. */
async function answers(/** @type {string} */ url, /** @type {Promise<never>} */ ended) {
  while (!(await fetch(url).catch(() => false))) await Promise.race([setTimeout(50), ended]);
}

/** A port that nobody listens at, on this machine only. */
async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  server.close();
  await once(server, 'close');
  return port;
}

/** Programs on a display that nobody looks at, with a profile of their own; `run` rejects when the program ends. */
function onDisplay() {
  const profile = mkdtempSync(join(tmpdir(), 'contextree-webkit-'));
  /** @type {number | undefined} */
  let pid;
  const close = () => {
    process.off('exit', close);
    end(pid);
    try {
      rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    } catch {
      // A desktop's portal mounts a file system in it, which may not be gone yet. The system clears its temporary folder.
    }
  };
  process.on('exit', close); // also when the runner is interrupted
  /** @returns {Promise<never>} */
  const run = async (/** @type {string} */ program, /** @type {string[]} */ args) => {
    const child = spawn(ownBus, ['--', 'xvfb-run', '--auto-servernum', program, ...args], {
      env: {
        ...env,
        HOME: profile,
        TMPDIR: profile,
        XDG_CACHE_HOME: profile,
        XDG_DATA_HOME: profile,
        WEBKIT_DISABLE_COMPOSITING_MODE: '1',
        WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1', // refused to root and in most containers
      },
      stdio: ['ignore', 'ignore', 'pipe'],
      detached: true, // in a group of its own, so that what it starts ends with it
    });
    pid = child.pid;
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (words) => (said = (said + words).slice(-4000)));
    const [code] = await once(child, 'close');
    throw new Error(`WebKit ended with ${code}:\n${said}`);
  };
  return { run, close };
}

/** Ends a process and all that it started. */
function end(/** @type {number | undefined} */ pid) {
  try {
    if (pid) process.kill(-pid);
  } catch {
    // It has ended by itself.
  }
}
