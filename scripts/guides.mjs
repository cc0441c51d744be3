// The guides, as a stranger would try them: installed from the packed package, type-checked, built, served, and driven
// in Chromium against a provider on this machine.
//
//   npm run test:guides              all of them
//   npm run test:guides -- ollama    some of them
//
// One folder outside of the project holds one node_modules for all guides, so that nothing is found by accident which
// a guide did not ask for, and everything is installed once.
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { argv, env, exit, kill } from 'node:process';
import { startProvider } from '../test/guides/provider.ts';
import { ensureBrowser } from './browser.mjs';
import { root } from './entries.mjs';

const asked = argv.slice(2);
const names = readdirSync(join(root, 'guides'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && (asked.length === 0 || asked.includes(entry.name)))
  .map(({ name }) => name);

const folder = mkdtempSync(join(tmpdir(), 'contextree-guides-'));
/** @type {(() => void)[]} */
const cleanUps = [() => rmSync(folder, { recursive: true, force: true })];

try {
  env.CHROME_PATH = ensureBrowser();
  installAll();
  const provider = await startProvider();
  cleanUps.push(provider.close);
  /** @type {Record<string, string>} */
  const addresses = {};
  for (const name of names) addresses[name] = await timed(name, () => open(name, provider.url));
  const code = await drive(addresses);
  exit(cleanUp(code));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  exit(cleanUp(1));
}

function cleanUp(/** @type {number} */ code) {
  for (const act of cleanUps.toReversed())
    try {
      act();
    } catch (error) {
      // What has ended by itself needs no ending, and must not keep the folder from being removed.
      console.error(error);
    }
  return code;
}

/** @template T @param {string} what @param {() => T} act @returns {T} */
function timed(what, act) {
  const begun = performance.now();
  const result = act();
  const tell = () => console.log(`${what} (${((performance.now() - begun) / 1000).toFixed(1)} s)`);
  if (result instanceof Promise) void result.then(tell, () => {});
  else tell();
  return result;
}

/** Packs the package, and installs it with everything that the guides name, in one folder. */
function installAll() {
  timed('build', () => run('npm', ['run', 'build'], root));
  timed('pack', () => run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], root));
  const tarball = readdirSync(folder).find((file) => file.endsWith('.tgz'));
  /** @type {Record<string, string>} */
  const dependencies = {};
  for (const name of names) {
    const manifest = JSON.parse(readFileSync(join(root, 'guides', name, 'package.json'), 'utf8'));
    Object.assign(dependencies, manifest.dependencies, manifest.devDependencies);
    cpSync(join(root, 'guides', name), join(folder, 'guides', name), { recursive: true });
  }
  dependencies.contextree = `file:${tarball}`;
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ private: true, type: 'module', dependencies }),
  );
  timed('install', () => run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline'], folder));
}

/** Type-checks, builds and serves a guide; gives its address. */
function open(/** @type {string} */ name, /** @type {string} */ provider) {
  return name.startsWith('nextjs') ? openNext(name, provider) : openVite(name, provider);
}

async function openVite(/** @type {string} */ name, /** @type {string} */ provider) {
  const home = join(folder, 'guides', name);
  run(bin('tsc'), ['-p', home], home);
  const base = name === 'vite-openai-compatible' ? `${provider}/keyed/v1` : `${provider}/v1`;
  run(bin('vite'), ['build', '--logLevel', 'warn'], home, {
    VITE_BASE_URL: base,
    VITE_MODEL: 'tiny:1b',
    VITE_OLLAMA: provider,
  });
  return serve(join(home, 'dist'));
}

/** @returns {Promise<string>} */
function openNext(/** @type {string} */ name, /** @type {string} */ provider) {
  const home = join(folder, 'guides', name);
  run(bin('next'), ['build'], home, { NEXT_TELEMETRY_DISABLED: '1' });
  const server = spawn(bin('next'), ['start', '--hostname', '127.0.0.1', '--port', '0'], {
    cwd: home,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...env, NEXT_TELEMETRY_DISABLED: '1', BASE_URL: `${provider}/v1`, MODEL: 'tiny:1b' },
  });
  cleanUps.push(() => server.exitCode === null && server.pid !== undefined && kill(-server.pid));
  return new Promise((resolve, reject) => {
    let said = '';
    server.stdout.on('data', (chunk) => {
      said += String(chunk);
      const address = /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0];
      if (address) resolve(address);
    });
    server.on('close', () => reject(new Error(`next start ended:\n${said}`)));
  });
}

/** @returns {Promise<string>} the address of a folder of files */
function serve(/** @type {string} */ files) {
  /** @type {Record<string, string>} */
  const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };
  const server = createServer(async ({ url = '/' }, response) => {
    const path = join(files, url === '/' ? 'index.html' : new URL(url, 'http://x').pathname);
    const body = await readFile(path).catch(() => undefined);
    response.writeHead(body ? 200 : 404, { 'content-type': types[extname(path)] ?? 'text/plain' }).end(body);
  }).listen(0, '127.0.0.1');
  cleanUps.push(() => server.close());
  return new Promise((resolve) =>
    server.once('listening', () => {
      const address = server.address();
      resolve(`http://127.0.0.1:${typeof address === 'object' ? address?.port : address}`);
    }),
  );
}

/** Runs the tests of the guides that were asked for; resolves to their exit code. @returns {Promise<number>} */
function drive(/** @type {Record<string, string>} */ addresses) {
  const config = ['--config', join(root, 'test/guides/playwright.config.ts')];
  const only = asked.length > 0 ? ['--grep', names.join('|')] : [];
  const child = spawn(join(root, 'node_modules/.bin/playwright'), ['test', ...config, ...only], {
    cwd: root,
    stdio: 'inherit',
    env: { ...env, GUIDES: JSON.stringify(addresses) },
  });
  return new Promise((resolve) => child.on('close', (code) => resolve(code ?? 1)));
}

function bin(/** @type {string} */ name) {
  return join(folder, 'node_modules/.bin', name);
}

/**
 * Runs a command to its end; what it says is shown when it fails.
 * @param {string} command @param {string[]} args @param {string} cwd @param {Record<string, string>} [more]
 */
function run(command, args, cwd, more) {
  try {
    execFileSync(command, args, { cwd, env: { ...env, ...more }, stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    const { stdout, stderr } = /** @type {{ stdout?: Buffer, stderr?: Buffer }} */ (error);
    const said = [stdout, stderr].map((words) => words?.toString() ?? '').join('');
    throw new Error(`${command} ${args.join(' ')} failed in ${cwd}\n${said}`, { cause: error });
  }
}
