import { expect, type Locator, type Page } from '@playwright/test';
import { Demo, faultsOf } from './demo.ts';
import { test } from './test.ts';

// Whoever uses the keyboard is where the focus is. What they delete must not throw them back to the top of the page.

/** Presses a button as somebody without a mouse does. */
async function press(button: Locator): Promise<void> {
  await expect(async () => {
    await button.focus();
    await expect(button).toBeFocused({ timeout: 500 });
  }).toPass({ timeout: 15_000 });
  await button.press('Enter');
}

async function mark(demo: Demo, name: string): Promise<void> {
  await press(demo.on(demo.assistant.last(), 'Checkpoint here'));
  const box = demo.page
    .getByRole('dialog', { name: 'New checkpoint' })
    .getByRole('textbox', { name: 'Name' });
  await box.fill(name);
  await box.press('Enter');
  // It closes when the checkpoint is saved, which is later than the flag shows, and until then the page can't be used.
  await expect(demo.page.getByRole('dialog')).toHaveCount(0);
  await expect(demo.button(`Checkpoint ${name}`)).toBeVisible();
}

async function confirmDeletion(page: Page): Promise<void> {
  await press(page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }));
  await expect(page.getByRole('dialog')).toHaveCount(0);
}

test('a deleted checkpoint or branch leaves the focus on its neighbour, and the last checkpoint on the list', async ({
  page,
}) => {
  const demo = await Demo.open(page);
  await demo.ask('What is a graph?');
  for (const name of ['one', 'two', 'three']) await mark(demo, name);
  await press(demo.button('Checkpoints'));
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
  await expect(page.getByRole('dialog', { name: 'Checkpoints' })).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(demo.button('Checkpoints')).toBeFocused();

  await press(demo.on(demo.assistant, 'Branch from here'));
  await expect(demo.branch).toHaveAccessibleDescription('main-v2');
  await press(demo.branch);
  await press(demo.button('Delete branch: New branch'));
  await expect(demo.branchRows).toHaveCount(1);
  const last = demo.button('Delete branch: What is a graph?');
  await expect(last).toBeFocused();
  await expect(last).toHaveAttribute('aria-disabled', 'true');
  await expect(last).toHaveAccessibleDescription('The last branch can’t be deleted');
  await page.keyboard.press('Escape');
  await expect(demo.branch).toBeFocused();
});

test('a deleted chat leaves the focus on its neighbour, and the last one on New chat', async ({ page }) => {
  const demo = await Demo.open(page);
  for (const question of ['First', 'Second', 'Third']) {
    await demo.button('New chat').click();
    await demo.ask(question);
  }
  await demo.chatAction('Delete', 'Second');
  await confirmDeletion(page);
  await expect(demo.chats.getByRole('link')).toHaveText(['Third', 'First']);
  await expect(demo.button('Chat actions: First')).toBeFocused();
  await demo.chatAction('Delete', 'First');
  await confirmDeletion(page);
  await expect(demo.chats.getByRole('link')).toHaveText(['Third']);
  await expect(demo.button('Chat actions: Third')).toBeFocused();

  await demo.button('New chat').click();
  await demo.chatAction('Delete', 'Third');
  await confirmDeletion(page);
  await expect(demo.chats.getByRole('link')).toHaveCount(0);
  await expect(demo.button('New chat')).toBeFocused();
});

test('a notice that was followed or dismissed gives the focus to the next one, and then to the textbox', async ({
  page,
}) => {
  const demo = await Demo.open(page);
  await demo.ask('First');
  await demo.button('New chat').click();
  await demo.ask('What is a graph?');
  await demo.chatAction('Delete', 'First');
  await confirmDeletion(page);
  await press(demo.on(demo.assistant, 'Branch from here'));
  await expect(demo.branch).toHaveAccessibleDescription('main-v2');
  await expect(demo.button('Dismiss')).toHaveCount(2);
  await press(demo.button('Dismiss').first());
  await expect(demo.button('Dismiss')).toBeFocused();
  await press(demo.button('Undo'));
  await expect(demo.branch).toHaveAccessibleDescription('main');
  await expect(demo.message).toBeFocused();
});

test('Ctrl+K finds a branch, a checkpoint, a message on another branch and another chat', async ({
  page,
}) => {
  const demo = await Demo.open(page);
  await demo.ask('Where do herons sleep?');
  await demo.button('New chat').click();
  await demo.ask('What is a graph?');
  await mark(demo, 'before trees');
  await demo.ask('And a maple tree?');
  await press(demo.on(demo.assistant.first(), 'Branch from here'));
  await expect(demo.you).toHaveCount(1);

  const palette = page.getByRole('dialog', { name: 'Command palette' });
  const find = async (words: string, option: RegExp): Promise<void> => {
    await page.keyboard.press('ControlOrMeta+k');
    const box = palette.getByRole('combobox', { name: 'Find' });
    await expect(box).toBeFocused();
    await box.fill(words);
    const first = palette.getByRole('listbox', { name: 'Results' }).getByRole('option').first();
    await expect(first).toHaveText(option);
    await expect(first).toHaveAttribute('aria-selected', 'true');
    if (words === 'maple') expect(await faultsOf(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await expect(palette).toHaveCount(0);
  };
  await find('maple', /And a maple tree\?/);
  await expect(demo.you.last()).toContainText('And a maple tree?');
  await find('before tr', /before trees/);
  await expect(demo.you).toHaveCount(1);
  await expect(page.getByText('Back at “before trees”')).toBeVisible();
  await expect(demo.button('Undo')).toBeVisible();
  await find('heron', /Where do herons sleep\?/);
  await expect(demo.you.last()).toContainText('Where do herons sleep?');
  await expect(demo.message).toBeFocused();
  await page.keyboard.press('ControlOrMeta+k');
  await page.keyboard.press('Escape');
  await expect(palette).toHaveCount(0);
});

test('each message is one stop of the Tab key, the first stop skips them all, and a question mark tells the keys', async ({
  page,
}) => {
  const demo = await Demo.open(page);
  await demo.ask('What is a graph?');
  await demo.tryAgain();
  await page.mouse.move(0, 0);
  await expect(demo.assistant.getByRole('toolbar', { name: 'Message actions' })).toBeVisible();
  await expect(demo.on(demo.assistant, 'Edit')).toHaveCSS('opacity', '1');
  await expect(demo.on(demo.you, 'Copy message')).toHaveCSS('opacity', '0.6');
  await demo.on(demo.you, 'Edit').focus();
  await expect(demo.on(demo.you, 'Copy message')).toHaveCSS('opacity', '1');
  await page.keyboard.press('Tab');
  await expect(demo.on(demo.assistant, 'Previous version')).toBeFocused();
  await page.keyboard.press('ArrowLeft');
  await expect(demo.on(demo.assistant, 'Copy message')).toBeFocused();
  await page.keyboard.press('Home');
  await page.keyboard.press('Enter');
  await expect(demo.versions('Version 1 of 2')).toBeVisible();
  await page.keyboard.press('Shift+Tab');
  await expect(demo.on(demo.you, 'Edit')).toBeFocused();
  await page.keyboard.press('End');
  await expect(demo.on(demo.you, 'Copy message')).toBeFocused();

  await page.keyboard.press('?');
  const sheet = page.getByRole('dialog', { name: 'Keyboard' });
  await expect(sheet).toContainText('Between the actions of a message');
  expect(await faultsOf(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await expect(sheet).toHaveCount(0);
  await demo.button('Skip to the message box').focus();
  expect(await faultsOf(page)).toEqual([]);
  await page.keyboard.press('Enter');
  await expect(demo.message).toBeFocused();
  await demo.message.press('?');
  await expect(demo.message).toHaveValue('?');
  await expect(sheet).toHaveCount(0);
});

test.describe('under a finger', () => {
  test.use({ own: { hasTouch: true, isMobile: true, viewport: { width: 375, height: 720 } } });

  test('what can be done with a message stands behind one button, in words', async ({ page }) => {
    const demo = await Demo.open(page);
    await demo.ask('What is a graph?');
    await expect(demo.on(demo.assistant, 'Try again')).toHaveCount(0);
    await demo.on(demo.assistant, 'More actions').tap();
    await expect(demo.on(demo.assistant, 'Try again')).toHaveText('Try again');
    expect(await faultsOf(page)).toEqual([]);
    await demo.on(demo.assistant, 'Try again').tap();
    await expect(demo.versions('Version 2 of 2')).toBeVisible();
  });
});
