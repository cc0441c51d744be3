import { readFileSync } from 'node:fs';
import { expect, type Locator, type Page } from '@playwright/test';
import { Demo, faultsOf } from './demo.ts';
import { test } from './test.ts';

const picture = {
  name: 'a small picture.png',
  mimeType: 'image/png',
  buffer: readFileSync('stories/demo/screenshot.png'),
};
const note = { name: 'note.txt', mimeType: 'text/plain', buffer: Buffer.from('Water the moss.') };

function removers(demo: Demo): Locator {
  return demo.page.getByRole('list', { name: 'Attached files' }).getByRole('button');
}

async function attach(demo: Demo, files: Parameters<Locator['setInputFiles']>[0]): Promise<void> {
  const chooser = demo.page.waitForEvent('filechooser');
  await demo.button('Attach file').click();
  await (await chooser).setFiles(files);
}

/** Lets go of a text file over the middle of the page. */
async function dropText(demo: Demo, name: string): Promise<void> {
  const data = await demo.page.evaluateHandle((name) => {
    const data = new DataTransfer();
    data.items.add(new File(['# Moss'], name, { type: 'text/markdown' }));
    return data;
  }, name);
  const middle = demo.page.locator('main');
  await middle.dispatchEvent('dragover', { dataTransfer: data });
  await expect(demo.page.locator('form.composer')).toHaveAttribute('data-dropping');
  await middle.dispatchEvent('drop', { dataTransfer: data });
}

async function isClean(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme });
  expect(await faultsOf(page)).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
}

test('files wait at the box, outlive a reload, and stay with the question when it is edited', async ({
  page,
}) => {
  await page.setViewportSize({ width: 320, height: 640 });
  const demo = await Demo.open(page);
  await attach(demo, [picture, note]);
  await dropText(demo, 'a-name-that-is-much-longer-than-a-narrow-page-has-room-for.md');
  await expect(removers(demo)).toHaveCount(3);
  await isClean(page, 'dark');
  for (const button of [demo.button('Attach file'), ...(await removers(demo).all())]) {
    const box = await button.boundingBox();
    expect(Math.min(box?.width ?? 0, box?.height ?? 0)).toBeGreaterThanOrEqual(44);
  }

  await page.reload();
  await expect(removers(demo)).toHaveCount(3);
  await demo.button('Remove note.txt').focus();
  await page.keyboard.press('Enter');
  await expect(removers(demo)).toHaveCount(2);
  await expect(demo.button(/^Remove a-name/)).toBeFocused();

  await demo.ask('What have I given you?');
  await expect(removers(demo)).toHaveCount(0);
  await expect(demo.assistant).toContainText('a small picture.png (image/png, ');
  await demo.on(demo.you, 'Edit').click();
  await demo.you.getByRole('textbox', { name: 'Edited text' }).fill('And now?');
  await demo.on(demo.you, 'Send edit').click();
  await expect(demo.assistant).toContainText('And now?');
  await demo.settled();

  await page.reload();
  await expect(demo.you).toContainText('And now?');
  const shown = demo.you.getByRole('img', { name: 'a small picture.png' });
  await expect.poll(() => shown.evaluate((img: HTMLImageElement) => img.naturalWidth)).toBeGreaterThan(100);
  await expect(demo.assistant).toContainText('a small picture.png');
  await expect(removers(demo)).toHaveCount(0);
  await demo.on(demo.you, 'Previous version').click();
  await expect(demo.you).toContainText('What have I given you?');
  await expect(shown).toBeVisible();
  await isClean(page, 'light');
});

/** Opens a tab on the chat of a page. */
async function openOn(demo: Demo, tab: Page): Promise<Demo> {
  return Demo.open(tab, { at: new URL(demo.page.url()).hash });
}

/** The browser's own "Duplicate tab": another page that begins with the same session. */
async function duplicate(demo: Demo): Promise<Demo> {
  const opened = demo.page.waitForEvent('popup');
  await demo.page.evaluate(() => void open(location.href));
  return new Demo(await opened);
}

test('each tab keeps its own words and files; those of a tab that is gone are found by the next one', async ({
  page,
  newTab,
}) => {
  const first = await Demo.open(page);
  await first.ask('Hello');
  await attach(first, note);
  const second = await openOn(first, await newTab());
  await attach(second, { ...note, name: 'second.txt' });
  const copy = await duplicate(first);
  await attach(copy, { ...note, name: 'copy.txt' });
  for (const [tab, words] of [
    [first, 'of the first'],
    [second, 'of the second'],
    [copy, 'of the copy'],
  ] as const)
    await tab.message.fill(words);
  const places = (): Promise<number> =>
    page.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith('demo:files:')).length);
  await expect.poll(places).toBe(3);

  const isAlone = async (tab: Demo, name: string): Promise<void> =>
    expect(removers(tab)).toHaveAccessibleName(`Remove ${name}`);
  await isAlone(second, 'second.txt');
  await isAlone(copy, 'copy.txt');
  await page.reload();
  await isAlone(first, 'note.txt');
  await expect(first.message).toHaveValue('of the first');

  const openTabs = (): Promise<number> =>
    second.page.evaluate(async () => {
      const { held = [] } = await navigator.locks.query();
      return held.filter(({ name }) => name?.startsWith('demo:tab:')).length;
    });
  await expect.poll(openTabs).toBe(3);
  await copy.page.close();
  await page.close();
  // A browser frees the locks of a closed page some time later.
  await expect.poll(openTabs).toBe(1);
  const next = await openOn(second, await newTab());
  await expect(removers(next)).toHaveCount(2);
  await expect(next.message).toHaveValue(/^of the (first\n\nof the copy|copy\n\nof the first)$/);
  await next.page.reload();
  await expect(removers(next)).toHaveCount(2);
  await expect(next.message).toHaveValue(/^of the (first\n\nof the copy|copy\n\nof the first)$/);
  await isAlone(second, 'second.txt');
  await expect(second.message).toHaveValue('of the second');
});

test('files that are pasted are attached; one that is too large is refused in words', async ({ page }) => {
  const demo = await Demo.open(page);
  await demo.message.evaluate((box) => {
    const clipboardData = new DataTransfer();
    clipboardData.items.add(new File(['x'], 'pasted.txt', { type: 'text/plain' }));
    clipboardData.items.add(new File([new Uint8Array(10_000_001)], 'film.mov', { type: 'video/quicktime' }));
    box.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
  });
  await expect(removers(demo)).toHaveCount(1);
  await expect(page.getByText('film.mov is too large (10.0 MB): a message carries')).toBeVisible();
});

test('a tool that asks is answered by keyboard, after a reload too, and what was said stays', async ({
  page,
}) => {
  const demo = await Demo.open(page);
  await demo.ask('/approve Tidy the shelf');
  await page.reload();
  const card = page.getByRole('group', { name: 'May deleteFile be used?' });
  await expect(card).toBeVisible();
  await card.getByRole('button', { name: 'Deny' }).focus();
  await page.keyboard.press('Enter');
  await expect(demo.assistant).toContainText('you said no');
  await expect(demo.message).toBeFocused();
  await demo.settled();

  await demo.ask('/approve Tidy the shelf again');
  await page.reload();
  await card.getByRole('button', { name: 'Approve' }).focus();
  await page.keyboard.press('Enter');
  await expect(demo.assistant.last()).toContainText('is off the shelf');
  await demo.settled();
  await page.reload();
  await expect(demo.assistant.last()).toContainText('is off the shelf');
  await expect(demo.assistant.first()).toContainText('you said no');
  await expect(card).toHaveCount(0);
});
