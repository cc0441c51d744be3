// `npm run first-minute`: what the first visit of the demo costs, in Chromium. `npm run build:demo` comes first.
//
// The folder is served gzipped, as a host would. Told are, each of five visits with a profile of its own (median, and all):
// - ms until the last answer of the first chat is on screen, from the navigation on, with a processor of a quarter (4x), and
//   with Fast 4G added (9 Mbit/s down, 165 ms a way and back, as Chrome's devtools have it). It is in the picture that the
//   page brings with it, see stories/demo/shell/firstPicture.ts;
// - ms until the chat of the app stands in its place and can be pressed, and the bytes of script (gzip -9, by file) that
//   were asked for until then, and those of the file that holds the first chat, which only a first visit asks for;
// - the layout shift of the first ten seconds, unthrottled;
// - ms from a key to the next frame with 200 messages on screen and 500 kB pasted, and from `Send` until the question shows,
//   unthrottled. Once with 500 kB of paragraphs, as texts and code come, which stay in the box; once with 500 kB in one line,
//   as minified JSON comes, which become a file, and once with that file put in the message, which has no promise. Beside
//   each, a bare textarea of the same size and font with the same text: most of a key is the browser's own.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { chromium } from 'playwright-core';
import { ensureBrowser, launchArgs } from './browser.mjs';
import { root } from './entries.mjs';

/** @typedef {import('playwright-core').Page} Page */

const FOLDER = join(root, 'node_modules/.cache/demo');
const LAST_ANSWER = 'Slow drip';
const TYPES = { html: 'text/html', js: 'text/javascript', css: 'text/css', svg: 'image/svg+xml' };

const WORDS = 'words in a row '.repeat(33_400);

/** Texts of 500 kB, with what is done about them. @type {{ how: string, text: string, button?: string, most?: number }[]} */
const PASTED = [
  { how: 'in paragraphs of 3 kB', text: WORDS.replaceAll(/.{3000}/g, '$&\n'), most: 50 },
  { how: 'in one line', text: WORDS, most: 50 },
  { how: 'in one line, and put in the message', text: WORDS, button: 'Put in the message' },
];

/** Bytes by path, gzipped. @type {Map<string, Buffer>} */
const files = new Map();

const server = createServer(async ({ url = '/' }, response) => {
  const path = new URL(url, 'http://here').pathname.replace(/\/$/, '/index.html');
  try {
    const bytes = files.get(path) ?? gzipSync(await readFile(join(FOLDER, path)), { level: 9 });
    files.set(path, bytes);
    const type =
      TYPES[/** @type {keyof typeof TYPES} */ (path.split('.').at(-1))] ?? 'application/octet-stream';
    response.writeHead(200, { 'content-type': type, 'content-encoding': 'gzip' }).end(bytes);
  } catch {
    response.writeHead(404).end();
  }
}).listen(0, '127.0.0.1');
await new Promise((listening) => server.once('listening', listening));
const address = server.address();
const origin = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}/`;
const browser = await chromium.launch({ executablePath: ensureBrowser(), args: launchArgs() });

try {
  const slow = await five(() => visit());
  const slower = await five(() => visit({ isSlow: true }));
  tellEach('the last answer at 4x CPU, ms', slow, 'shown', 1200);
  tellEach('the same on Fast 4G, ms', slower, 'shown', 2000);
  tellEach('until it can be pressed at 4x CPU, ms', slow, 'usable');
  tellEach('the same on Fast 4G, ms', slower, 'usable');
  tellEach('script until it can be pressed, kB', slow, 'bytes', 280);
  const chunk = [...files]
    .filter(([path]) => path.includes('/firstChat-'))
    .map(([, bytes]) => bytes.length / 1000);
  tell('script of the first chat alone, kB', chunk, 4);
  tell('layout shift of ten seconds', await five(layoutShift), 0.002, 4);
  const typed = await typing();
  for (const { how, most, keys, bare } of typed.pasted) {
    tell(`a key with 500 kB pasted ${how}, ms`, keys.slice(1), most);
    tell('the first key, ms', keys.slice(0, 1), most);
    tell('in a bare textarea, ms', bare.slice(1));
  }
  tell('Send until the question shows, ms', typed.sent, 50);
} finally {
  await browser.close();
  server.close();
}

/** @template T @param {() => Promise<T>} run @returns {Promise<T[]>} */
async function five(run) {
  const results = [];
  for (let i = 0; i < 5; i += 1) results.push(await run());
  return results;
}

/** A first visit until its chat can be pressed. */
async function visit({ isSlow = false } = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  const cdp = await context.newCDPSession(page);
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: 4 });
  if (isSlow) {
    const speed = { downloadThroughput: (9e6 / 8) * 0.9, uploadThroughput: (1.5e6 / 8) * 0.9, latency: 165 };
    await cdp.send('Network.emulateNetworkConditions', { offline: false, ...speed });
  }
  await page.addInitScript((words) => {
    /** Notes when a table with these words is on screen, which is with the frame after the one that finds it. */
    const note = (/** @type {string} */ name, /** @type {string} */ selector) => {
      const table = document.querySelector(selector);
      if (!table?.textContent?.includes(words)) return void requestAnimationFrame(() => note(name, selector));
      requestAnimationFrame(() => Object.assign(window, { [name]: performance.now() }));
    };
    note('shown', '#first-picture table');
    note('usable', 'body:not(:has(#first-picture)) main table');
  }, LAST_ANSWER);
  await page.goto(origin, { waitUntil: 'commit' });
  const noted = async (/** @type {string} */ name) => {
    const at = await page.waitForFunction((of) => Reflect.get(window, of), name, { timeout: 60_000 });
    return Number(await at.jsonValue());
  };
  const times = { shown: await noted('shown'), usable: await noted('usable') };
  // What the page asks for behind that moment, while it is on its way here, does not count.
  const scripts = await page.evaluate((until) => {
    const all = performance.getEntriesByType('resource').filter(({ startTime }) => startTime <= until);
    return all.map(({ name }) => new URL(name).pathname).filter((path) => path.endsWith('.js'));
  }, times.usable);
  const bytes = [...new Set(scripts)].reduce((sum, path) => sum + (files.get(path)?.length ?? 0), 0);
  await context.close();
  return { bytes: bytes / 1000, ...times };
}

async function layoutShift() {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  await page.addInitScript(() => {
    Object.assign(window, { shift: 0 });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries())
        if (!Reflect.get(entry, 'hadRecentInput'))
          Object.assign(window, { shift: Reflect.get(window, 'shift') + Reflect.get(entry, 'value') });
    }).observe({ type: 'layout-shift', buffered: true });
  });
  await page.goto(origin);
  await page.waitForTimeout(10_000);
  const shift = Number(await page.evaluate(() => Reflect.get(window, 'shift')));
  await context.close();
  return shift;
}

/** Keys in the box of a chat of 200 messages with 500 kB in it, and in a bare textarea with as much. */
async function typing() {
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const page = await context.newPage();
  await page.goto(`${origin}?empty&speed=0`);
  const box = page.getByRole('textbox', { name: 'Message', exact: true });
  for (let turn = 1; turn <= 100; turn += 1) {
    await box.fill(`Question ${turn}`);
    await box.press('Enter');
    await page
      .getByRole('article', { name: 'Assistant' })
      .nth(turn - 1)
      .waitFor();
    await page.getByRole('button', { name: 'Send' }).waitFor();
  }
  /** @type {number[][]} */
  const own = [];
  for (const { text, button } of PASTED) {
    await box.fill('');
    for (const file of await page.getByRole('button', { name: 'Remove Pasted text.txt' }).all())
      await file.click();
    await page.evaluate((words) => navigator.clipboard.writeText(words), text);
    await box.press('ControlOrMeta+v');
    if (button) await page.getByRole('button', { name: button }).click();
    own.push(await keysIn(page, 'main form textarea'));
  }
  const size = await box.evaluate((one) => {
    const { width, height, font, padding } = getComputedStyle(one);
    return { width, height, font, padding };
  });
  await box.fill('One more?');
  const sent = await page.evaluate(async () => {
    const [form] = document.querySelectorAll('main > section > form');
    const start = performance.now();
    /** @type {HTMLFormElement} */ (form).requestSubmit();
    while (!document.querySelector('main')?.textContent?.includes('One more?'))
      await new Promise((frame) => requestAnimationFrame(frame));
    return performance.now() - start;
  });
  await page.evaluate((style) => {
    const bare = Object.assign(document.createElement('textarea'), { id: 'bare' });
    Object.assign(bare.style, style);
    document.body.replaceChildren(bare);
  }, size);
  /** @type {number[][]} */
  const bare = [];
  for (const { text } of PASTED) {
    // Not by setting the value: a browser takes longer for what was put in.
    await page.locator('#bare').fill(text);
    bare.push(await keysIn(page, '#bare'));
  }
  await context.close();
  const pasted = PASTED.map((one, i) => ({ ...one, keys: own[i] ?? [], bare: bare[i] ?? [] }));
  return { pasted, sent: [sent] };
}

/** Types ten letters; ms from each key to the frame that shows it. */
async function keysIn(/** @type {Page} */ page, /** @type {string} */ selector) {
  await page.waitForTimeout(2000); // what was put in is drawn by then
  await page.evaluate((where) => {
    Object.assign(window, { keyTimes: [] });
    const box = document.querySelector(where);
    if (!box || box.hasAttribute('data-timed')) return;
    box.toggleAttribute('data-timed');
    box.addEventListener('beforeinput', () => {
      const start = performance.now();
      const note = () => Reflect.get(window, 'keyTimes').push(performance.now() - start);
      requestAnimationFrame(() => setTimeout(note));
    });
  }, selector);
  await page.locator(selector).focus();
  for (const letter of 'abcdefghij') {
    await page.keyboard.press(letter);
    await page.waitForTimeout(250);
  }
  return /** @type {number[]} */ (await page.evaluate(() => Reflect.get(window, 'keyTimes')));
}

/** @typedef {Awaited<ReturnType<typeof visit>>} Visit */

/** Tells one figure of visits. */
function tellEach(
  /** @type {string} */ what,
  /** @type {Visit[]} */ visits,
  /** @type {keyof Visit} */ figure,
  most = Infinity,
) {
  tell(
    what,
    visits.map((one) => one[figure]),
    most,
  );
}

function tell(/** @type {string} */ what, /** @type {number[]} */ values, most = Infinity, digits = 1) {
  const sorted = values.toSorted((a, b) => a - b);
  const median = sorted[sorted.length >> 1] ?? Number.NaN;
  const promise = most === Infinity ? '' : ` of at most ${most}${median > most ? ': not kept' : ''}`;
  console.log(
    `${what}: ${median.toFixed(digits)}${promise} (${sorted.map((one) => one.toFixed(digits)).join(', ')})`,
  );
}
