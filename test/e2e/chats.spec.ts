import { expect } from '@playwright/test';
import { Demo, faultsOf } from './demo.ts';
import { HeldModel } from './model.ts';
import { test } from './test.ts';

test('an unsent chat is nowhere; the first question names it; a name of one own stays; its deletion is undone', async ({
  page,
}) => {
  const demo = await Demo.open(page);
  await demo.button('New chat').click();
  await expect(demo.chats.getByRole('link')).toHaveCount(0);
  await demo.ask('What is a graph?');
  await demo.chatAction('Rename', 'What is a graph?');
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox').fill('Graphs');
  await dialog.getByRole('textbox').press('Enter');
  await expect(demo.chats.getByRole('link', { name: 'Graphs' })).toBeVisible();
  await demo.ask('And a tree?');
  await expect(demo.chats.getByRole('link', { name: 'Graphs' })).toBeVisible();
  await demo.chatAction('Delete', 'Graphs');
  await expect(dialog).toContainText('4 messages');
  await dialog.getByRole('button', { name: /Delete/ }).click();
  await expect(demo.chats.getByRole('link')).toHaveCount(0);
  await page.getByRole('button', { name: 'Undo' }).press('Enter');
  await expect(demo.chats.getByRole('link', { name: 'Graphs' })).toBeVisible();
  await expect(demo.you.first()).toContainText('What is a graph?');
  await expect(demo.message).toBeFocused();
});

test('the address names the chat, which keeps its unsent text: Back, a reload and an unknown one', async ({
  page,
}) => {
  const demo = await Demo.open(page);
  await demo.ask('First chat');
  const first = page.url();
  await demo.message.fill('half a thought');
  await demo.button('New chat').click();
  await expect(demo.message).toHaveValue('');
  await demo.ask('Second chat');
  // Settings that are open close with the chat that they were opened over.
  await demo.button('Model settings').click();
  await expect(page.getByRole('dialog')).toBeVisible();
  await page.goBack();
  await expect.poll(() => page.url()).toBe(first);
  await expect(demo.you).toContainText('First chat');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await page.reload();
  await expect(demo.you).toContainText('First chat');
  await expect(demo.message).toHaveValue('half a thought');
  await page.goto('/?speed=0#/chat/no-such-chat');
  await expect(page.getByText(/no chat|unknown|not found|isn.t here|does not exist/i).first()).toBeVisible();
  await demo.chats.getByRole('link', { name: 'Second chat' }).click();
  await expect(demo.you).toContainText('Second chat');
  await page.evaluate(() => (location.hash = '#/chat/a/b'));
  await expect(page.getByText(/No chat was found/)).toBeVisible();
  await expect(page).toHaveURL(/#\/chat\/a\/b$/);
  await page.goBack();
  await expect(demo.you).toContainText('Second chat');
});

test('an answer that grows in another chat is a dot in the list, until the chat was looked at', async ({
  page,
}) => {
  const demo = await Demo.open(page);
  const model = await HeldModel.behind(demo);
  await demo.send('Why do rivers bend?');
  await demo.streaming();
  // Whoever would delete it now is told of the answer, too.
  await demo.chatAction('Delete', 'Why do rivers bend?');
  await expect(page.getByRole('dialog')).toContainText('its 2 messages');
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await demo.button('New chat').click();
  const link = demo.chats.getByRole('link', { name: 'Why do rivers bend?' });
  await expect(link).toHaveAccessibleDescription('An answer is growing');
  model.end();
  await expect(link).toHaveAccessibleDescription('A new answer');
  await page.reload();
  await expect(link).toHaveAccessibleDescription('A new answer');
  await link.click();
  await expect(demo.assistant).toHaveCount(1);
  await expect(link).not.toHaveAttribute('aria-describedby');
  await demo.button('New chat').click();
  await expect(demo.assistant).toHaveCount(0);
  await expect(link).not.toHaveAttribute('aria-describedby');
});

test('a chat is found by its title and by what was said in it', async ({ page }) => {
  const demo = await Demo.open(page);
  await demo.ask('Why do rivers bend?');
  await demo.button('New chat').click();
  await demo.ask('A word about <b>zebras</b> & lions');
  const box = demo.chats.getByRole('searchbox', { name: 'Search chats' });
  await box.fill('bend');
  await expect(demo.chats.getByRole('link')).toHaveText(['Why do rivers bend?']);
  await demo.chatAction('Rename', 'Why do rivers bend?');
  await page.getByRole('dialog').getByRole('textbox').fill('Water');
  await page.getByRole('dialog').getByRole('textbox').press('Enter');
  // Not in the title any more; in what was said.
  await box.fill('rivers ben');
  await expect(demo.chats.getByRole('status')).toHaveText('1 chat found');
  await expect(demo.chats.getByRole('link')).toContainText(/^Water.*rivers bend/);
  await box.fill('<b>zebras');
  await expect(demo.chats.getByRole('link')).toHaveCount(1);
  // Words in the middle of a long question show in the row, and no half of a line below them does.
  await demo.button('New chat').click();
  await demo.ask(
    `${'Some words that come before it and '.repeat(3)}otters ${'and some after it '.repeat(3)}`,
  );
  await box.fill('otters');
  await expect(demo.chats.locator('mark')).toBeInViewport({ ratio: 1 });
  const lines = await demo.chats
    .locator('small')
    .evaluate((small) => small.clientHeight / Number.parseFloat(getComputedStyle(small).lineHeight));
  expect(lines).toBeCloseTo(2, 1);
  await box.fill('penguins');
  await expect(demo.chats.getByRole('status')).toHaveText('No chat has these words.');
  expect(await faultsOf(page)).toEqual([]);
  await box.press('Escape');
  await expect(demo.chats.getByRole('list', { name: 'Today' }).getByRole('link')).toHaveCount(3);
});

test('a chat that is opened for what was said in it shows where that was', async ({ page }) => {
  const demo = await Demo.open(page);
  await demo.ask('Where are we?');
  await demo.ask('Why do rivers bend?');
  for (const n of [1, 2, 3]) await demo.ask(`/markdown Part ${n}`);
  const question = demo.you.filter({ hasText: 'rivers' });
  await expect(question).not.toBeInViewport();
  const find = async (): Promise<void> => {
    await demo.chats.getByRole('searchbox', { name: 'Search chats' }).fill('rivers');
    await demo.chats.getByRole('list', { name: 'Chats found' }).getByRole('link').click();
    await expect(question).toBeInViewport();
  };
  // In the chat that is open, and in one that is not.
  await find();
  await demo.button('New chat').click();
  await expect(question).toHaveCount(0);
  await find();
});

test('a turn that another tab forced onto a branch says so', async ({ page, newTab }) => {
  const one = await Demo.open(page);
  await one.ask('The first question');
  await page.goto(page.url().replace('speed=0', 'speed=0.1'));
  const other = await Demo.open(await newTab(), { at: new URL(page.url()).hash });
  await expect(other.you).toHaveCount(1);
  // Longer than all that follows, on a busy machine too.
  await one.send('A slow one, long');
  await one.streaming(4);
  await other.ask('Meanwhile');
  const notice = 'Continued on a new branch: another tab wrote to “The first question”';
  await expect(other.page.getByText(notice).first()).toBeVisible();
  await expect(other.button('Show')).toBeVisible();
  await expect(other.you.last()).toContainText('Meanwhile');

  // One is on the new branch already; what there is to see is what the other tab wrote, and the way back.
  await expect(other.branch).toHaveAccessibleDescription('main-v2');
  await other.button('Show').click();
  await expect(other.branch).toHaveAccessibleDescription('main');
  await expect(other.page.getByText('Another tab is writing here')).toBeVisible();
  await expect(other.you.last()).toContainText('A slow one');
  await one.button('Stop').click();
  await expect(other.page.getByText('Another tab is writing here')).toHaveCount(0);
  await expect(other.page.getByText('This is “The first question”, as another tab wrote it')).toBeVisible();
  await other.button('Back to “Meanwhile”').click();
  await expect(other.branch).toHaveAccessibleDescription('main-v2');
  await expect(other.you.last()).toContainText('Meanwhile');
});

test('while another tab answers, a tab that opens then shows it grow, and asks nobody again', async ({
  page,
  newTab,
}) => {
  const one = await Demo.open(page, { pace: 0.2 });
  await one.send('A slow one');
  await one.streaming(4);
  const other = await Demo.open(await newTab(), { at: new URL(page.url()).hash });
  await expect(other.page.getByText('Another tab is writing here')).toBeVisible();
  await expect(other.button('Get an answer')).toHaveCount(0);
  await expect(other.assistant).toHaveAttribute('aria-busy', 'true');
  const { length } = (await other.assistant.textContent()) ?? '';
  await expect.poll(async () => (await other.assistant.textContent())?.length).toBeGreaterThan(length);
  await expect(other.assistant.getByRole('button')).toHaveCount(0);
  await one.page.close();
  await expect(other.page.getByText('Another tab is writing here')).toHaveCount(0);
  await expect(other.assistant).toContainText('Interrupted');
});

test('a page that is older than its data says what helps, keeps the unsent text, and stays usable', async ({
  page,
}) => {
  const demo = await Demo.open(page);
  await demo.ask('What is a graph?');
  await demo.message.fill('half a thought');
  await demo.updateElsewhere();
  await page.reload();
  const alert = page.getByRole('alert');
  await expect(alert).toContainText('This page is older than its data');
  await expect(alert).toContainText(/untouched.*reload.*update the app/i);
  await expect(alert.getByRole('button', { name: 'Reload' })).toBeVisible();
  await expect(demo.message).toHaveValue('half a thought');
  await expect(demo.button('Send')).toBeDisabled();

  await demo.button('Data').click();
  await expect(page.getByRole('menuitem', { name: 'Keep my data' })).toBeVisible();
  await expect(page.getByRole('menuitem', { name: 'Export my data' })).toHaveCount(0);
  await page.keyboard.press('Escape');
  await demo.button('New chat').click();
  await expect(alert).toContainText('This page is older than its data');
  await demo.button('Model settings').click();
  await expect(page.getByRole('dialog', { name: 'Model settings' })).toBeVisible();
});

test.describe('where a site may keep nothing', () => {
  test.use({ own: {} });

  test('where there is no room for a first question, it can be tried again, and goes on in memory', async ({
    page,
    baseURL,
  }) => {
    const session = await page.context().newCDPSession(page);
    await session.send('Storage.overrideQuotaForOrigin', { origin: baseURL!, quotaSize: 1 });
    const demo = await Demo.open(page);
    const alert = page.getByRole('alert').filter({ hasText: 'There is no room for your chats' });
    await demo.message.fill('Is there room?');
    await alert.getByRole('button', { name: 'Try again' }).click();
    await expect(demo.button('Trying…')).toHaveCount(0);
    await expect(alert).toBeVisible();

    await alert.getByRole('button', { name: 'Go on in memory' }).click();
    await expect(alert).toHaveCount(0);
    await expect(demo.message).toHaveValue('Is there room?');
    await demo.message.press('Enter');
    await expect(demo.saveState).toHaveText('In memory only');
    await expect(demo.assistant).toContainText('room');
    await expect(demo.you).toHaveCount(1);
  });
});
