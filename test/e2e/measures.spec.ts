import { expect } from '@playwright/test';
import { Demo } from './demo.ts';
import { test } from './test.ts';

// Measures that only a real browser takes.

test('a line of prose holds about 65 characters', async ({ page }) => {
  await page.setViewportSize({ width: 1440, height: 900 });
  const demo = await Demo.open(page);
  await demo.ask('Tell me something long');
  const perLine = await demo.assistant.last().evaluate((article) => {
    const lengths = [...article.querySelectorAll('.prose > p')].flatMap((paragraph) => {
      const range = document.createRange();
      range.selectNodeContents(paragraph);
      const lines = new Set([...range.getClientRects()].map(({ bottom }) => Math.round(bottom))).size;
      return lines > 2 ? [(paragraph.textContent ?? '').length / (lines - 0.5)] : [];
    });
    return lengths.reduce((sum, length) => sum + length, 0) / lengths.length;
  });
  expect(perLine).toBeGreaterThan(56);
  expect(perLine).toBeLessThan(72);
});

test('Save of the model settings is in sight in a window that is too small for them', async ({ page }) => {
  await page.setViewportSize({ width: 320, height: 480 });
  const demo = await Demo.open(page);
  await demo.button('Open chats').click();
  await demo.button('Model settings').click();
  const dialog = page.getByRole('dialog', { name: 'Model settings' });
  await expect(dialog.getByRole('button', { name: 'Save' })).toBeInViewport({ ratio: 1 });
});

test('the search of many branches stays in sight, and a row is one line on a phone', async ({ page }) => {
  await page.setViewportSize({ width: 375, height: 640 });
  const demo = await Demo.open(page);
  await demo.ask('One');
  for (let i = 0; i < 9; i += 1) await demo.tryAgain();
  await demo.branch.click();
  await expect(demo.branchRows).toHaveCount(10);
  await demo.branchRows.last().scrollIntoViewIfNeeded();
  await expect(page.getByRole('searchbox', { name: 'Search branches' })).toBeInViewport({ ratio: 1 });
  const row = await page
    .getByRole('list', { name: 'All branches' })
    .getByRole('listitem')
    .last()
    .boundingBox();
  expect(row?.height).toBeLessThan(60);
});
