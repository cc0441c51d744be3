// Where the browser for the tests is; run as a script, it installs one first if there is none.
//
// People run the tests on a laptop with Chrome, in a container with Debian's Chromium, and on a bare machine with
// neither. So look in the order of intent: the one named by CHROME_PATH, the one that Playwright fetched, the
// ones where systems keep them. Only then install, by the way that suits the system.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import { argv, env, execPath, exit, getuid, platform } from 'node:process';
import { fileURLToPath } from 'node:url';

/**
 * The path of a Chromium or Chrome that starts, or null where there is none.
 * Throws when CHROME_PATH names a file that is not there: a wish that cannot be met is not passed over.
 * @returns {string | null}
 */
export function findBrowser() {
  if (env.CHROME_PATH) return named(env.CHROME_PATH);
  return fetchedByPlaywright() ?? candidates().find((path) => existsSync(path) && starts(path)) ?? null;
}

/** Arguments for a headless browser that keeps to itself; a sandbox is refused to root and in most containers. */
export function launchArgs() {
  const quiet = ['--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'];
  return isRoot() || env.CI ? ['--no-sandbox', ...quiet] : quiet;
}

/**
 * Leaves out what pays only in a page that lives on: to read scripts beside the page, again for each page, and to optimise what
 * runs often. Without it a page of a test takes two thirds of the time.
 */
export const briefPages = '--js-flags=--no-script-streaming --no-maglev --no-turbofan';

/**
 * The path of a browser, installed now if need be. Throws with the ways out when that fails.
 * @returns {string}
 */
export function ensureBrowser() {
  const present = findBrowser();
  if (present) return present;
  console.error('No Chromium or Chrome found; installing one.');
  for (const install of installers()) {
    const installed = install() ? findBrowser() : null;
    if (installed) return installed;
  }
  throw new Error(
    [
      'There is no browser for the tests, and installing one failed. Do one of these, then run again:',
      '  install Google Chrome or Chromium (on Debian: sudo apt-get install chromium)',
      '  npx playwright install --with-deps chromium',
      '  CHROME_PATH=/path/to/chrome npm test',
    ].join('\n'),
  );
}

function named(/** @type {string} */ path) {
  if (!existsSync(path)) throw new Error(`CHROME_PATH is ${path}, but there is no such file.`);
  return path;
}

function playwrightFolder() {
  return dirname(createRequire(import.meta.url).resolve('playwright-core/package.json'));
}

function fetchedByPlaywright() {
  const { chromium } = createRequire(import.meta.url)('playwright-core');
  const path = chromium.executablePath();
  return path && existsSync(path) ? path : null;
}

function candidates() {
  return [...(usualPlaces[platform] ?? []), ...namesOnPath.flatMap(onPath)];
}

/** @type {Record<string, string[]>} */
const usualPlaces = {
  darwin: ['Google Chrome', 'Chromium', 'Microsoft Edge'].map(
    (app) => `/Applications/${app}.app/Contents/MacOS/${app}`,
  ),
  win32: [env.PROGRAMFILES, env['PROGRAMFILES(X86)'], env.LOCALAPPDATA].flatMap((folder) =>
    folder
      ? [
          join(folder, 'Google/Chrome/Application/chrome.exe'),
          join(folder, 'Microsoft/Edge/Application/msedge.exe'),
        ]
      : [],
  ),
};

// The engine without the windows around it opens a page in half the time.
const namesOnPath = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome-stable',
  'google-chrome',
  'microsoft-edge-stable',
  'brave-browser',
];

function onPath(/** @type {string} */ name) {
  return (env.PATH ?? '').split(delimiter).map((folder) => join(folder, name));
}

/** Says its version: the wrapper that a removed or absent snap leaves behind exists but does not start. */
function starts(/** @type {string} */ path) {
  if (platform === 'win32') return true; // chrome.exe --version opens a window there
  const { status, stdout } = spawnSync(path, ['--version'], { encoding: 'utf8', timeout: 20_000 });
  return status === 0 && /\d+\.\d+/.test(stdout);
}

function installers() {
  // Debian's chromium is a real package; Ubuntu's stands for a snap, so Playwright's own build goes first there.
  return systemName() === 'debian' ? [withApt, withPlaywright] : [withPlaywright, withApt];
}

function withApt() {
  return installWithApt(['chromium-headless-shell']) || installWithApt(['chromium']);
}

/**
 * Installs packages of Debian, as root; false where that can't be.
 * @param {string[]} packages
 */
export function installWithApt(packages) {
  if (!isRoot() || !existsSync('/usr/bin/apt-get')) return false;
  const patient = ['-qq', '-o', 'DPkg::Lock::Timeout=300'];
  // One dead mirror fails the update, and need not keep a package of another one away.
  run('apt-get', ['update', ...patient]);
  return run('apt-get', ['install', '-y', '--no-install-recommends', ...patient, ...packages]);
}

function withPlaywright() {
  const withLibraries = isRoot() && platform === 'linux' ? ['--with-deps'] : [];
  return run(execPath, [join(playwrightFolder(), 'cli.js'), 'install', ...withLibraries, 'chromium']);
}

function run(/** @type {string} */ command, /** @type {string[]} */ args) {
  const quiet = { ...env, DEBIAN_FRONTEND: 'noninteractive' };
  return spawnSync(command, args, { stdio: ['ignore', 2, 2], timeout: 600_000, env: quiet }).status === 0;
}

function isRoot() {
  return getuid?.() === 0;
}

function systemName() {
  if (!existsSync('/etc/os-release')) return '';
  return /^ID="?([^"\n]*)/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? '';
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  try {
    console.log(ensureBrowser());
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    exit(1);
  }
}
