// The app with the network off.
//
// The network comes first, always: whoever has one sees what the server has, also while the app is being written. What
// comes is kept, and given again when nothing answers. So nothing is ever stale, and one visit is enough: each page
// that opens asks for the rest, and the rest is found by following the imports, from the page to the last chunk. What
// is no longer reached that way is dropped.
//
// Only the app's own files pass through here. What people say, and the models they say it to, do not.

/**
 * As much of a service worker as is used here; the types of the page and of a worker do not go together.
 * @typedef {Event & { waitUntil(work: Promise<unknown>): void }} Lasting
 * @typedef {Lasting & { request: Request, respondWith(answer: Promise<Response>): void }} Asked
 * @typedef {object} Background
 * @property {{ claim(): Promise<void> }} clients
 * @property {() => Promise<void>} skipWaiting
 * @property {((type: 'install' | 'activate' | 'message', listener: (event: Lasting) => void) => void) &
 *   ((type: 'fetch', listener: (event: Asked) => void) => void)} addEventListener
 */
const worker = /** @type {Background} */ (/** @type {unknown} */ (globalThis));

const FAMILY = 'contextree-demo';
const CACHE = `${FAMILY}-1`;
const HOME = new URL('./', location.href).href;

worker.addEventListener('install', (event) => event.waitUntil(worker.skipWaiting()));
worker.addEventListener('activate', (event) => event.waitUntil(worker.clients.claim()));
worker.addEventListener('message', (event) => event.waitUntil(keepAll()));
worker.addEventListener('fetch', (event) => {
  const name = nameOf(event.request);
  if (name !== undefined) event.respondWith(answer(name, event));
});

/** The kinds of files that the app is made of. What a program fetches has none of these kinds. */
const KINDS = ['script', 'style', 'image', 'font', 'manifest'];

/** Under which name the answer to a request is kept; undefined for what is not a file of the app. */
function nameOf(/** @type {Request} */ { method, url, mode, destination }) {
  if (method !== 'GET' || !url.startsWith(HOME)) return undefined;
  if (mode === 'navigate') return isHome(url) ? HOME : undefined;
  return KINDS.includes(destination) ? url : undefined;
}

/** The page is one, whatever its address asks of it. */
function isHome(/** @type {string} */ address) {
  const { origin, pathname } = new URL(address);
  return [HOME, `${HOME}index.html`].includes(origin + pathname);
}

async function answer(/** @type {string} */ name, /** @type {Asked} */ event) {
  try {
    const response = await fetch(event.request);
    event.waitUntil(keep(name, response.clone()).catch(() => {}));
    return response;
  } catch (error) {
    const kept = await (await caches.open(CACHE)).match(name);
    if (kept) return kept;
    throw error;
  }
}

async function keep(/** @type {string} */ name, /** @type {Response} */ response) {
  if (isFile(name, response)) await (await caches.open(CACHE)).put(name, response);
}

/** A server that knows no such file may say so, or give the page instead. */
function isFile(/** @type {string} */ name, /** @type {Response} */ { ok, type, headers }) {
  const isPage = headers.get('content-type')?.startsWith('text/html') ?? false;
  return ok && type === 'basic' && isPage === (name === HOME);
}

/** Keeps every file that the page leads to, and no other. Rejects when one can't be had, and then drops none. */
async function keepAll() {
  const cache = await caches.open(CACHE);
  /** @type {Set<string>} */
  const reached = new Set();
  const follow = async (/** @type {string} */ name) => {
    if (reached.has(name)) return;
    reached.add(name);
    const text = await textOf(cache, name);
    await Promise.all(namesIn(text, name).map(follow));
  };
  await follow(HOME);
  for (const { url } of await cache.keys()) if (!reached.has(url)) await cache.delete(url);
  for (const name of await caches.keys())
    if (name.startsWith(FAMILY) && name !== CACHE) await caches.delete(name);
}

/** The text of a file, fetched and kept if it is not there yet; empty when there is no such file. */
async function textOf(/** @type {Cache} */ cache, /** @type {string} */ name) {
  const kept = await cache.match(name);
  if (kept) return kept.text();
  const response = await fetch(name);
  if (!isFile(name, response)) return '';
  await cache.put(name, response.clone());
  return response.text();
}

/** What stands behind an import, a `src` or an `href`: a path from the root, or a relative one to a file. */
const NAMES = /\b(?:from|import|src=|href=)\s*\(?\s*["'`](\/[^"'`\s]*|\.{1,2}\/[^"'`\s]*\.\w+)["'`]/g;
/** Lines of comments: their examples name files that are nowhere. */
const COMMENTS = /^\s*(?:\*|\/\/).*$/gm;

/** The files of the app that a file names: in an import, now or later, in a script or a link. */
function namesIn(/** @type {string} */ text, /** @type {string} */ name) {
  return [...text.replaceAll(COMMENTS, '').matchAll(NAMES)]
    .map(([, path = '']) => new URL(path, name).href)
    .filter((url) => url.startsWith(HOME) && !isHome(url));
}
