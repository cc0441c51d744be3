// `npm run pictures [folder]`: pictures to look at, of the demo and of every view of the devtools, as PNG files (default:
// node_modules/.cache/pictures). `npm run build:demo` comes first. A picture that can't be taken is told, and fails.
//
// The demo: its states at 1440, 1024, 375 and 320 px, in light and dark. The devtools: each view at 1,024 px in light and
// dark; Graph, Node and Prompt at 320, 720 and 1,440 px; Graph at 200 % zoom, right-to-left, and under style sheets of
// apps that mean no well.
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { argv, exit } from 'node:process';
import { chromium } from 'playwright-core';
import { ensureBrowser, launchArgs } from './browser.mjs';
import { root } from './entries.mjs';
import { HOSTILE } from './hostileStyles.mjs';
import { serveDemo } from './serveDemo.mjs';

/** @typedef {import('playwright-core').Page} Page */
/** @typedef {(page: Page) => Promise<unknown>} Act */

const folder = resolve(argv[2] ?? join(root, 'node_modules/.cache/pictures'));
mkdirSync(folder, { recursive: true });
const SCHEMES = /** @type {const} */ (['light', 'dark']);

/** @type {Record<string, Act>} */
const VIEWS = {
  Graph: (page) => view(page, 'Graph'),
  Node: async (page) => {
    await view(page, 'Graph');
    await panelOf(page).getByRole('row').last().click();
  },
  Prompt: (page) => view(page, 'Prompt'),
  Cost: (page) => view(page, 'Cost'),
  Compare: async (page) => {
    await view(page, 'Graph');
    await panelOf(page).getByRole('row').first().click();
    for (const key of ['End', 'd', 'ArrowUp', 'd']) await page.keyboard.press(key);
  },
  Log: (page) => view(page, 'Log'),
  Run: (page) => view(page, 'Run'),
  Storage: (page) => view(page, 'Storage'),
  Fragments: (page) => view(page, 'Fragments'),
  Checkpoints: (page) => view(page, 'Checkpoints'),
  Snapshot: (page) => view(page, 'Snapshot'),
};

/** States of the demo, each from its first visit. @type {Record<string, Act>} */
const STATES = {
  first: async () => {},
  empty: (page) => inDrawer(page, 'New chat'),
  branches: async (page) => page.getByRole('button', { name: /^Branch: / }).click(),
  checkpoints: async (page) => page.getByRole('button', { name: 'Checkpoints' }).click(),
  palette: async (page) => page.keyboard.press('Control+k'),
  versions: async (page) => page.getByRole('button', { name: 'Compare versions' }).first().click(),
  settings: (page) => inDrawer(page, 'Model settings'),
  restored: async (page) => {
    await page.getByRole('button', { name: 'Checkpoints' }).click();
    await page.getByRole('button', { name: 'Restore Name and slogan' }).click();
  },
  side: async (page) => {
    await page.getByRole('button', { name: 'By the way' }).first().click();
    await page.getByRole('textbox', { name: 'Message' }).fill('How many cups a day?');
    await page.keyboard.press('Enter');
  },
  answer: async (page) => {
    await page.getByRole('textbox', { name: 'Message' }).fill('Show me code that counts cups.');
    await page.keyboard.press('Enter');
  },
  keys: async (page) => {
    await page.locator('h1').first().click();
    await page.keyboard.press('?');
  },
};

/** @type {string[]} */
const failed = [];
const demo = await serveDemo(4619);
const browser = await chromium.launch({ executablePath: ensureBrowser(), args: launchArgs() });
try {
  for (const scheme of SCHEMES)
    for (const [name, act] of Object.entries(VIEWS))
      await picture(`devtools-${name}-1024-${scheme}`, { width: 1024, height: 768, scheme }, act);
  for (const width of [320, 720, 1440])
    for (const name of ['Graph', 'Node', 'Prompt'])
      await picture(`devtools-${name}-${width}`, { width, height: 900 }, VIEWS[name]);
  await picture('devtools-Graph-zoom', { width: 720, height: 450, scale: 2 }, VIEWS.Graph);
  await picture('devtools-Graph-rtl', { width: 1440, height: 900 }, async (page) => {
    await page.evaluate(() => (document.documentElement.dir = 'rtl'));
    await VIEWS.Graph?.(page);
  });
  for (const [name, content] of Object.entries(HOSTILE))
    await picture(`devtools-Graph-hostile-${name}`, { width: 1440, height: 900 }, async (page) => {
      await VIEWS.Graph?.(page);
      await page.addStyleTag({ content });
    });
  for (const scheme of SCHEMES)
    for (const width of [1440, 1024, 375, 320])
      for (const [name, act] of Object.entries(STATES))
        await picture(
          `demo-${name}-${width}-${scheme}`,
          { width, height: width < 700 ? 740 : 900, scheme },
          act,
        );
} finally {
  await browser.close();
  demo.close();
}
console.log(`${folder}${failed.length > 0 ? `; not taken: ${failed.join(', ')}` : ''}`);
exit(failed.length > 0 ? 1 : 0);

/**
 * Takes one picture of the first visit, after something was done there.
 * @param {string} name
 * @param {{ width: number, height: number, scheme?: 'light' | 'dark', scale?: number }} how
 * @param {Act | undefined} act
 */
async function picture(name, { width, height, scheme = 'light', scale = 1 }, act) {
  if (process.env.ONLY && !name.includes(process.env.ONLY)) return;
  const page = await browser.newPage({
    viewport: { width, height },
    colorScheme: scheme,
    deviceScaleFactor: scale,
    // A picture in mid-motion shows what nobody looks at.
    reducedMotion: 'reduce',
  });
  page.setDefaultTimeout(8000);
  try {
    await page.goto(`${demo.origin}?speed=0`);
    await page.getByText('Same street, another way.').first().waitFor();
    await page.waitForTimeout(400);
    await act?.(page);
    await page.waitForTimeout(500);
  } catch (error) {
    failed.push(name);
    console.error(name, error instanceof Error ? error.message.split('\n')[0] : error);
  }
  await page.screenshot({ path: join(folder, `${name}.png`) });
  await page.close();
}

/** Presses a button of the chat list, which a narrow page keeps in a drawer. */
async function inDrawer(/** @type {Page} */ page, /** @type {string} */ name) {
  const drawer = page.getByRole('button', { name: 'Open chats' });
  if (await drawer.isVisible()) await drawer.click();
  await page.getByRole('button', { name }).first().click();
}

function panelOf(/** @type {Page} */ page) {
  return page.getByRole('region', { name: 'contextree devtools' });
}

/** Opens the devtools where they are closed, and shows a view. */
async function view(/** @type {Page} */ page, /** @type {string} */ name) {
  const panel = panelOf(page);
  const opener = page.getByRole('button', { name: 'Open contextree devtools' });
  await panel.or(opener).first().waitFor();
  if ((await panel.count()) === 0) await opener.click();
  await panel.getByRole('tab', { name, exact: true }).click();
}
