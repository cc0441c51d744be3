// `npm run first-picture`: writes stories/demo/first.html, which index.html shows on a first visit until the app has made
// the same chat for real. `npm run build:demo` comes first. Run both after a change of what the first visit looks like: a
// test compares the two.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { argv } from 'node:process';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { ensureBrowser, launchArgs } from './browser.mjs';
import { root } from './entries.mjs';
import { serveDemo } from './serveDemo.mjs';

/** The file that holds the picture. */
export const PICTURE = join(root, 'stories/demo/first.html');

/**
 * The markup of the first visit, as a page shows it whose app has made the chat: without the devtools and the first steps,
 * which come later, and without ids, addresses and styles of elements.
 * @param {import('playwright-core').Page} page
 * @returns {Promise<string>}
 */
export function pictureOf(page) {
  return page.evaluate(() => {
    const picture = /** @type {HTMLElement} */ (document.querySelector('#root')?.cloneNode(true));
    for (const late of picture.querySelectorAll('.devtools-place > *, .first-steps')) late.remove();
    // A finger has one button in place of the actions, and which it is only the browser that shows the picture knows.
    const more = picture.querySelector('.chat-item .icon-button');
    for (const actions of picture.querySelectorAll('.message-actions'))
      if (more) actions.prepend(more.cloneNode(true));
    for (const cell of picture.querySelectorAll('th, td'))
      if (cell instanceof HTMLElement && cell.style.textAlign)
        cell.setAttribute('align', cell.style.textAlign);
    const kept =
      /^(class|role|dir|data-(?!message).+|placeholder|disabled|hidden|rows|type|align|viewBox|d|stroke-width|aria-(current|disabled))$/;
    for (const element of picture.querySelectorAll('*'))
      for (const name of element.getAttributeNames()) if (!kept.test(name)) element.removeAttribute(name);
    return `${picture.innerHTML.replaceAll(/(<(?:article|header|footer|section|nav|ul|form|main)\b)/g, '\n$1').trim()}\n`;
  });
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  const demo = await serveDemo(4621);
  const browser = await chromium.launch({ executablePath: ensureBrowser(), args: launchArgs() });
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    await page.goto(demo.origin);
    await page.locator('#root .first-steps').waitFor();
    writeFileSync(PICTURE, await pictureOf(page));
  } finally {
    await browser.close();
    demo.close();
  }
}
