import { expect } from '@playwright/test';
import { readFileSync } from 'node:fs';
import { PICTURE, pictureOf } from '../../scripts/firstPicture.mjs';
import { Demo, faultsOf } from './demo.ts';
import { test } from './test.ts';

interface Shift {
  readonly value: number;
  readonly sources: readonly { readonly node: Node | null }[];
}

// The first visit: nothing was ever said in this browser, and the address names no chat.

test('the first visit opens on a finished chat with the graph beside it, shifts nothing, and its first steps lead through it', async ({
  page,
}) => {
  await page.setViewportSize({ width: 1440, height: 860 });
  await page.addInitScript(() => {
    const shifts: number[] = [];
    (globalThis as unknown as { shifts: number[] }).shifts = shifts;
    // What moves within the devtools is theirs.
    const isOfPage = ({ node }: { node: Node | null }): boolean => node?.getRootNode() === document;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as (PerformanceEntry & Shift)[])
        if (entry.sources.some(isOfPage)) shifts.push(entry.value);
    }).observe({ type: 'layout-shift', buffered: true });
  });
  await page.goto('/?speed=0');
  const demo = new Demo(page);
  const steps = page.getByRole('region', { name: 'First steps' });
  await expect(demo.you).toHaveText([/coffee cart/, /slogan/, /sign with prices/]);
  await expect(page).toHaveURL(/#\/chat\/coffee-cart$/);
  await expect(page.getByRole('region', { name: 'contextree devtools' })).toBeVisible();
  const shifts = await page.evaluate(() => (globalThis as unknown as { shifts: number[] }).shifts);
  expect(shifts.reduce((sum, value) => sum + value, 0)).toBeLessThan(0.002);
  await expect(demo.button('Checkpoint Name and slogan')).toBeVisible();
  expect(await faultsOf(page)).toEqual([]);

  await expect(steps).toContainText('Three answers to one question. See another.');
  // Doing it oneself goes on as well.
  const answer = demo.assistant.first();
  await demo.on(answer, 'Next version').click();
  await expect(steps).toContainText('A branch of its own. What followed The Fork is kept.');
  await steps.getByRole('button', { name: 'Show me' }).click();
  await expect(steps).toContainText('Back at the flag.');
  await expect(demo.you).toHaveCount(2);
  await steps.getByRole('button', { name: 'Show me' }).click();
  await expect(steps).toContainText('The main conversation never hears this.');
  await expect(page.getByRole('region', { name: /^Side question of The Fork/ })).toBeVisible();
  await expect(demo.assistant.last()).toContainText('About 62, at 16 g a cup.');
  await demo.settled();

  await page.reload();
  await expect(demo.assistant.last()).toContainText('About 62');
  await steps.getByRole('button', { name: 'Start your own' }).click();
  await expect(demo.message).toBeFocused();
  await expect(page.getByRole('list', { name: 'Starter prompts' })).toBeVisible();
  await demo.chats.getByRole('link', { name: 'A name for a coffee cart' }).click();
  await expect(demo.assistant.last()).toContainText('About 62');
  await expect(steps).toHaveCount(0);
});

test('a first step shows where it happens before it does, and the rest is skipped from the keyboard', async ({
  page,
}) => {
  await page.setViewportSize({ width: 1366, height: 768 });
  await page.goto('/?speed=0');
  const demo = new Demo(page);
  const answer = demo.assistant.first();
  await expect(demo.assistant.last()).toBeInViewport();
  await expect(answer).not.toBeInViewport();
  await page.getByRole('region', { name: 'First steps' }).getByRole('button', { name: 'Show me' }).click();
  await expect(demo.you).toHaveCount(3);
  await expect(answer).toBeInViewport({ ratio: 1 });
  await expect(answer).toContainText('Slow Drip');
  await expect(answer).toBeInViewport();

  await demo.button('Skip').press('Enter');
  await expect(demo.button('Skip')).toHaveCount(0);
  await expect(demo.message).toBeFocused();
});

test('the first chat is one in two tabs that open at once, and is never made again', async ({
  page,
  context,
  newTab,
}) => {
  const other = await context.newPage();
  await Promise.all([page.goto('/?speed=0'), other.goto('/?speed=0')]);
  const demo = new Demo(page);
  // One of them may have come a moment too late, and begin with a chat of its own.
  for (const one of [demo, new Demo(other)]) {
    await expect(one.chats.getByRole('link')).toHaveCount(1);
    await one.chats.getByRole('link').click();
    await expect(one.you).toHaveCount(3);
    await one.branch.click();
    await expect(one.branchRows).toHaveCount(5);
  }
  await other.close();

  // Gone is gone, for a tab that knows nothing, too.
  await demo.chatAction('Delete', 'A name for a coffee cart');
  await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
  await expect(demo.chats.getByRole('link')).toHaveCount(0);
  await page.evaluate(() => localStorage.removeItem('demo:visited'));
  const later = new Demo(await newTab());
  await later.page.goto('/?speed=0');
  await expect(later.page.getByRole('list', { name: 'Starter prompts' })).toBeVisible();
  await later.page.close();

  await demo.ask('Mine');
  await demo.clearData();
  await expect(page.getByRole('list', { name: 'Starter prompts' })).toBeVisible();
  await page.goto('/');
  await expect(page.getByRole('list', { name: 'Starter prompts' })).toBeVisible();
  await expect(demo.chats.getByRole('link')).toHaveCount(0);
});

test('a first visit shows its chat before any script of the app is there, and nobody else sees that picture', async ({
  page,
}) => {
  const picture = page.locator('#first-picture');
  await page.route('**/assets/*.js', (route) => route.abort());
  await page.goto('/');
  await expect(picture).toContainText('Slow drip');
  await expect(picture.locator('td').last()).toBeInViewport();
  await page.goto('/?empty');
  await expect(picture).toBeHidden();
  await page.goto('/#/chat/other');
  await page.reload();
  await expect(picture).toBeHidden();

  // The app puts the same in its place. `npm run first-picture` writes it anew.
  await page.unroute('**/assets/*.js');
  await page.goto('/?speed=0');
  await expect(page.getByRole('region', { name: 'First steps' })).toBeVisible();
  await expect(picture).toHaveCount(0);
  expect(await pictureOf(page)).toBe(readFileSync(PICTURE, 'utf8'));

  const isHidden = (): Promise<boolean> =>
    page.evaluate(() => !('first' in document.documentElement.dataset));
  await page.goto('/');
  expect(await isHidden()).toBe(true);
  await new Demo(page).clearData();
  await expect(page.getByRole('list', { name: 'Starter prompts' })).toBeVisible();
  await page.goto('/');
  expect(await isHidden()).toBe(true);
});
