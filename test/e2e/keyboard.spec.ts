import { expect, test, type Locator, type Page } from '@playwright/test';
import { Demo } from './demo.ts';

// Whoever uses the keyboard is where the focus is. What they delete must not throw them back to the top of the page.

/** Presses a button as somebody without a mouse does. */
async function press(button: Locator): Promise<void> {
  await button.focus();
  await button.press('Enter');
}

async function mark(demo: Demo, name: string): Promise<void> {
  await press(demo.on(demo.assistant.last(), 'Checkpoint here'));
  const box = demo.page
    .getByRole('dialog', { name: 'New checkpoint' })
    .getByRole('textbox', { name: 'Name' });
  await box.fill(name);
  await box.press('Enter');
  await expect(demo.button(`Restore ${name}`)).toBeVisible();
}

async function confirmDeletion(page: Page): Promise<void> {
  await press(page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }));
  await expect(page.getByRole('dialog')).toHaveCount(0);
}

test('a deleted checkpoint leaves the focus on its neighbour, and the last one on the branch', async ({
  page,
}) => {
  const demo = await Demo.open(page);
  await demo.ask('What is a graph?');
  for (const name of ['one', 'two', 'three']) await mark(demo, name);
  await demo.button('Delete checkpoint two').focus();
  await page.keyboard.down('Enter');
  await expect(demo.button('Restore two')).toHaveCount(0);
  await expect(demo.button('Delete checkpoint one')).toBeFocused();
  // A key that is held goes on pressing, and now it presses the neighbour.
  for (let i = 0; i < 3; i++) await page.keyboard.down('Enter');
  await page.keyboard.up('Enter');
  await expect(demo.button('Delete checkpoint one')).toBeFocused();
  await press(demo.button('Delete checkpoint one'));
  await expect(demo.button('Delete checkpoint three')).toBeFocused();
  await demo.page.keyboard.press('Enter');
  await expect(demo.button('Restore three')).toHaveCount(0);
  await expect(demo.branch).toBeFocused();
});

test('a deleted chat leaves the focus on its neighbour, and the last one on New chat', async ({ page }) => {
  const demo = await Demo.open(page);
  for (const question of ['First', 'Second', 'Third']) {
    await demo.button('New chat').click();
    await demo.ask(question);
  }
  await press(demo.button('Delete chat: Second'));
  await confirmDeletion(page);
  await expect(demo.chats.getByRole('link')).toHaveText(['Third', 'First']);
  await expect(demo.button('Delete chat: First')).toBeFocused();
  await demo.page.keyboard.press('Enter');
  await confirmDeletion(page);
  await expect(demo.chats.getByRole('link')).toHaveText(['Third']);
  await expect(demo.button('Delete chat: Third')).toBeFocused();

  await demo.button('New chat').click();
  await press(demo.button('Delete chat: Third'));
  await confirmDeletion(page);
  await expect(demo.chats.getByRole('link')).toHaveCount(0);
  await expect(demo.button('New chat')).toBeFocused();
});

test('a deleted branch leaves the focus where the next one can be deleted', async ({ page }) => {
  const demo = await Demo.open(page);
  await demo.ask('What is a graph?');
  await press(demo.on(demo.assistant, 'Branch from here'));
  await expect(demo.branch.locator('option:checked')).toHaveText('main-v2');
  await press(demo.button('Delete branch'));
  await expect(demo.branch.locator('option')).toHaveText(['main']);
  await expect(demo.button('Delete branch')).toBeFocused();
});

test('a notice that was followed or dismissed gives the focus to the next one, and then to the textbox', async ({
  page,
}) => {
  const demo = await Demo.open(page);
  await demo.ask('What is a graph?');
  await mark(demo, 'here');
  await press(demo.button('Delete checkpoint here'));
  await press(demo.button('By the way'));
  await expect(demo.button('Dismiss')).toHaveCount(2);
  await press(demo.button('Dismiss').first());
  await expect(demo.button('Dismiss')).toBeFocused();
  await press(demo.button('Open main-v2'));
  await expect(demo.branch.locator('option:checked')).toHaveText('main-v2');
  await expect(demo.message).toBeFocused();
});
