// Firefox and WebKitGTK as places to run tests in.
//
// A test page needs no remote control: it reports over its own connection to the test runner. So a browser here is a
// process that was given an address and a profile of its own, and a display that nobody looks at. That works with the
// browsers that Debian ships, which are older than the ones that test tools bring along, and closer to what people run.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env, kill } from 'node:process';
import { defineBrowserProvider } from '@vitest/browser';
import { installWithApt } from './browser.mjs';

const webKit = ['4.1', '6.0', '4.0'].map((v) => `/usr/lib/x86_64-linux-gnu/webkit2gtk-${v}/MiniBrowser`);

/** How each browser is started, by its name; `path` gives undefined where it is not installed. */
const browsers = {
  firefox: {
    path: () => ['/usr/bin/firefox-esr', '/usr/bin/firefox'].find(existsSync),
    packages: ['firefox-esr'],
    start: (/** @type {string} */ path, /** @type {string} */ profile, /** @type {string} */ url) => {
      writeFileSync(join(profile, 'user.js'), quietFirefox);
      return run(path, ['--headless', '--no-remote', '--profile', profile, url]);
    },
  },
  webkit: {
    path: () => webKit.find(existsSync),
    packages: ['webkit2gtk-driver', 'xvfb', 'xauth', 'dbus-x11'],
    start: (/** @type {string} */ path, /** @type {string} */ profile, /** @type {string} */ url) =>
      run('dbus-run-session', ['--', 'xvfb-run', '--auto-servernum', path, url], {
        HOME: profile,
        XDG_CACHE_HOME: profile,
        XDG_DATA_HOME: profile,
        WEBKIT_DISABLE_COMPOSITING_MODE: '1',
        WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1', // refused to root and in most containers
      }),
  },
};

// No first-run pages, no questions, no reports, storage that never asks, and no process for a page to come.
const quietFirefox = [
  ['browser.shell.checkDefaultBrowser', false],
  ['browser.aboutwelcome.enabled', false],
  ['browser.startup.homepage_override.mstone', 'ignore'],
  ['datareporting.policy.dataSubmissionEnabled', false],
  ['toolkit.telemetry.reportingpolicy.firstRun', false],
  ['app.update.enabled', false],
  ['dom.storageManager.prompt.testing', true],
  ['dom.ipc.processPrelaunch.enabled', false],
]
  .map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});`)
  .join('\n');

function run(
  /** @type {string} */ command,
  /** @type {string[]} */ args,
  /** @type {Record<string, string>} */ more = {},
) {
  // In a group of its own, so that what it starts ends with it.
  return spawn(command, args, { env: { ...env, ...more }, stdio: 'ignore', detached: true });
}

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
  /** @type {(() => void)[]} */
  const endings = [];
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
          if (!program)
            throw new Error(`${name} is not installed: sudo apt-get install ${packages.join(' ')}`);
          const profile = mkdtempSync(join(tmpdir(), `contextree-${name}-`));
          const { pid } = start(program, profile, url);
          endings.push(() => end(pid, profile));
        },
        close: () => {
          for (const stop of endings.splice(0)) stop();
        },
      };
    },
  });
}

function end(/** @type {number | undefined} */ pid, /** @type {string} */ profile) {
  try {
    if (pid) kill(-pid);
  } catch {
    // It has ended by itself.
  }
  rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}
