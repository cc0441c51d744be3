import { AxeBuilder } from '@axe-core/playwright';
import { expect, test } from '@playwright/test';
import { Demo } from './demo.ts';

// The browser loses the database, or another version of the app takes it.

async function wipe(demo: Demo): Promise<void> {
  await demo.page.evaluate(
    () =>
      new Promise((resolve, reject) => {
        const request = indexedDB.deleteDatabase('contextree');
        request.onsuccess = resolve;
        request.onerror = reject;
      }),
  );
}

test('chats that the browser lost are told of, and brought back', async ({ page }) => {
  const demo = await Demo.open(page);
  await demo.ask('What is a graph?');
  const answer = await demo.assistant.textContent();
  // The second copy is written behind the save, and the note beside the database after a second at most.
  await expect
    .poll(() => page.evaluate(() => localStorage.getItem('contextree:contextree:mark')))
    .toMatch(/"messages":2/);
  await wipe(demo);
  await page.reload();
  const notice = page.getByRole('alert').filter({ hasText: 'This browser lost 1 chat with 2 messages' });
  await expect(notice).toContainText('last saved');
  await expect(demo.chats.getByRole('link')).toHaveCount(0);
  const { violations } = await new AxeBuilder({ page }).analyze();
  expect(violations).toEqual([]);
  await notice.getByRole('button', { name: 'Bring back' }).click();
  await expect(page.getByText('1 chat with 2 messages came back.')).toBeVisible();
  await expect(notice).toHaveCount(0);
  await expect(demo.you).toContainText('What is a graph?');
  await expect(demo.assistant).toHaveText(answer ?? '');
  await expect(demo.chats.getByRole('link')).toHaveCount(1);
  await demo.ask('And a tree?');
});

test('a page whose data a newer version took says that it saves no more, and keeps the question', async ({
  page,
}) => {
  const demo = await Demo.open(page);
  await demo.ask('What is a graph?');
  await page.evaluate(async () => {
    const [database] = await indexedDB.databases();
    await new Promise((resolve, reject) => {
      const request = indexedDB.open(String(database?.name), Number(database?.version) + 1);
      request.onsuccess = () => resolve(request.result.close());
      request.onerror = () => reject(request.error);
    });
  });
  await demo.send('And a tree?');
  await expect(demo.assistant).toHaveCount(2);
  const alert = page.getByRole('alert').filter({ hasText: 'Not saved' });
  await expect(alert).toContainText('newer version');
  await expect(alert.getByRole('button', { name: 'Reload' })).toBeVisible();
  await expect(demo.saveState).not.toContainText(/^Saved$/);
  page.on('dialog', (dialog) => dialog.accept());
  await page.reload();
  await expect(demo.message).toHaveValue('And a tree?');
});
