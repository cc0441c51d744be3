// Firefox and WebKitGTK as places to run tests in: those that Debian ships, which are older than the ones that test
// tools bring along, and closer to what people run.
//
// A test page reports over its own connection to the test runner. All that is asked of a browser is to open one address,
// and to be gone afterwards with everything that it wrote. Firefox is asked by WebDriver BiDi, through puppeteer-core;
// Playwright drives none but its own build of it.
//
// WebKitGTK is not asked at all: MiniBrowser is a process that was given the address, on a display that nobody looks at.
// There is a WebKitWebDriver, but MiniBrowser opens its sessions as private windows, with the databases in memory. No
// file of a database is written there, a strict write takes no time, and a Blob can't be stored; people's databases lie
// on a disk, and what is promised about stored data is tried there.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process, { env } from 'node:process';
import { defineBrowserProvider } from '@vitest/browser';
import { installWithApt } from './browser.mjs';

/**
 * @typedef {object} Running a browser that was started
 * @property {(url: string, asked: () => Promise<unknown>) => Promise<void>} open shows a page: when that is done, the
 *   server was `asked` for it; rejects with what the browser said where it can't
 * @property {() => unknown} close ends it, and removes its profile
 */

const webKit = ['4.1', '6.0', '4.0'].map((v) => `/usr/lib/x86_64-linux-gnu/webkit2gtk-${v}/MiniBrowser`);

/** How each browser is started, by its name; `path` gives undefined where it is not installed. */
const browsers = {
  firefox: {
    path: () => ['/usr/bin/firefox-esr', '/usr/bin/firefox'].find(existsSync),
    packages: ['firefox-esr'],
    start: startFirefox,
  },
  webkit: {
    path: () => webKit.find(existsSync),
    packages: ['webkit2gtk-driver', 'xvfb', 'xauth', 'dbus-x11'],
    start: startWebKit,
  },
};

/** Installs what is missing of these browsers, where that is possible: on Debian, as root. */
export function ensureOtherBrowsers() {
  const missing = Object.values(browsers).filter(({ path }) => !path());
  if (missing.length === 0) return;
  const packages = missing.flatMap((browser) => browser.packages);
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
  const profile = mkdtempSync(join(tmpdir(), 'contextree-webkit-'));
  /** @type {ReturnType<typeof run> | undefined} */
  let child;
  const close = () => {
    process.off('exit', close);
    end(child?.pid);
    rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  };
  process.on('exit', close); // also when the runner is interrupted
  return {
    open: async (url, asked) => {
      child = run('dbus-run-session', ['--', 'xvfb-run', '--auto-servernum', path, url], {
        HOME: profile,
        TMPDIR: profile,
        XDG_CACHE_HOME: profile,
        XDG_DATA_HOME: profile,
        WEBKIT_DISABLE_COMPOSITING_MODE: '1',
        WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1', // refused to root and in most containers
      });
      let said = '';
      child.stderr.setEncoding('utf8').on('data', (words) => (said = (said + words).slice(-4000)));
      const ended = once(child, 'close').then(([code]) => {
        throw new Error(`WebKit ended with ${code}:\n${said}`);
      });
      await Promise.race([asked(), ended]);
    },
    close,
  };
}

function run(
  /** @type {string} */ command,
  /** @type {string[]} */ args,
  /** @type {Record<string, string>} */ more,
) {
  // In a group of its own, so that what it starts ends with it.
  return spawn(command, args, {
    env: { ...env, ...more },
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  });
}

/** Ends a process and all that it started. */
function end(/** @type {number | undefined} */ pid) {
  try {
    if (pid) process.kill(-pid);
  } catch {
    // It has ended by itself.
  }
}
