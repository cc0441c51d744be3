import { expect } from '@playwright/test';
import { Demo } from './demo.ts';
import { test } from './test.ts';

// The files of the app, kept for the day without a network: once for all that is asked of them, as it takes a page longer than
// the rest of a test. All other specs go without.
test.use({ own: { serviceWorkers: 'allow' } });

test('a site that trusts its own files only runs all of it, works offline, and leaves no word when its data is cleared', async ({
  page,
  context,
}) => {
  const policy = "default-src 'self'; require-trusted-types-for 'script'";
  await page.route(/:\d+\/(\?|$)/, async (route) => {
    const response = await route.fetch();
    await route.fulfill({
      response,
      headers: { ...response.headers(), 'content-security-policy': policy },
    });
  });
  const refused: string[] = [];
  await page.exposeFunction('tellRefused', (what: string) => void refused.push(what));
  await page.addInitScript(() =>
    addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI, sample }) => {
      const { tellRefused } = globalThis as unknown as { tellRefused: (what: string) => void };
      tellRefused(`${effectiveDirective}: ${blockedURI} ${sample}`);
    }),
  );
  const demo = await Demo.open(page);
  await demo.ask('Online');
  await demo.keptForLater();
  expect(await page.evaluate(async () => (await fetch('./favicon.svg')).ok)).toBe(true);
  await page.unrouteAll();

  // After one visit, the parts not yet seen included.
  await context.setOffline(true);
  await demo.ask('/markdown Compare zebras and horses');
  await demo.on(demo.assistant.last(), 'Try again').click();
  await expect(demo.versions('Version 2 of 2')).toBeVisible();
  await demo.settled();
  await demo.button('Open contextree devtools').click();
  const panel = page.getByRole('region', { name: 'contextree devtools' });
  await expect(panel).toContainText('2 branches');
  for (const view of await panel.getByRole('tab').all()) {
    await view.click();
    await expect(panel.getByRole('tabpanel', { name: (await view.textContent()) ?? '' })).toBeVisible();
    await expect(panel.getByText('Loading…')).toHaveCount(0);
    await expect(panel.getByRole('alert')).toHaveCount(0);
  }
  expect(await panel.evaluate((own) => getComputedStyle(own).position)).toBe('fixed');
  expect(refused).toEqual([]);
  await page.reload();
  await expect(demo.you.last()).toContainText('zebras');
  await expect(demo.versions('Version 2 of 2')).toBeVisible();
  await demo.button('New chat').click();
  await demo.ask('Still offline');
  await context.setOffline(false);
  await page.reload();
  await expect(demo.you).toContainText('Still offline');

  await demo.message.fill('another zebra');
  const other = await Demo.open(await context.newPage(), { at: new URL(page.url()).hash });
  await expect(other.you).toHaveCount(1);
  await demo.clearData();
  await expect(demo.chats.getByRole('link')).toHaveCount(0);
  await expect(other.chats.getByRole('link')).toHaveCount(0);
  await expect(other.page.getByRole('article')).toHaveCount(0);
  const left = await demo.kept();
  expect(left).not.toMatch(/zebra/);
  expect(left).not.toMatch(/"databaseId":"[^"]*","seq":\d+,"chats"/);
});
