import { expect } from '@playwright/test';
import { Demo, faultsByDayAndNight, faultsOf } from './demo.ts';
import { test } from './test.ts';

test('a chat with versions, two tables and a checkpoint is readable for all, by day and by night, and hides no button', async ({
  page,
}) => {
  const demo = await Demo.open(page);
  expect(await faultsByDayAndNight(page)).toEqual([]);
  await demo.ask('/markdown Compare tea and coffee');
  await demo.ask('/markdown And cocoa');
  await demo.tryAgain();
  await showsAllButtons(demo);
  await demo.on(demo.assistant.last(), 'Checkpoint here').click();
  await page.getByRole('dialog').getByRole('textbox').press('Enter');
  await expect(page.getByRole('button', { name: /^Checkpoint Checkpoint/ })).toBeAttached();
  await demo.openCheckpoints();
  expect(await faultsByDayAndNight(page)).toEqual([]);
  await demo.branch.click();
  await expect(demo.branchRows).toHaveCount(2);
  expect(await faultsByDayAndNight(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await demo.button('By the way').click();
  await expect(demo.button('Back')).toBeVisible();
  await demo.button('Open contextree devtools').click();
  await expect(page.getByRole('region', { name: 'contextree devtools' })).toBeVisible();
  expect(await faultsByDayAndNight(page)).toEqual([]);
});

test('a question that waits is readable for all, by day and by night', async ({ page }) => {
  const demo = await Demo.open(page, { pace: true });
  await demo.send('/hang');
  await demo.send('And cocoa?');
  await expect(demo.you.last()).toContainText('Waiting');
  expect(await faultsByDayAndNight(page)).toEqual([]);
});

test('on a phone a branch with a long name takes no button off the page, and a notice has one row', async ({
  page,
}) => {
  await page.setViewportSize({ width: 320, height: 640 });
  const demo = await Demo.open(page);
  await demo.ask('What is a graph?');
  await demo.on(demo.assistant, 'Branch from here').click();
  await demo.branch.click();
  await demo.button('Rename branch: New branch').click();
  await page.getByRole('dialog', { name: 'Rename branch' }).getByRole('textbox').fill('x'.repeat(120));
  await page.keyboard.press('Enter');
  await demo.button(/^Delete branch: x+/).click();
  const places = [];
  for (const name of ['Undo', 'Dismiss']) {
    const { x = -1, y, width = 0 } = (await demo.button(name).boundingBox()) ?? {};
    expect([x >= 0, x + width <= 320]).toEqual([true, true]);
    places.push(y);
  }
  expect(Math.abs((places[0] ?? 0) - (places[1] ?? 99))).toBeLessThan(8);
  const header = await page.locator('main > header').boundingBox();
  expect(header?.height).toBeLessThan(110);
});

/** No button waits to be hovered. */
async function showsAllButtons(demo: Demo): Promise<void> {
  const { page } = demo;
  await page.mouse.move(0, 0);
  await demo.message.focus();
  const hidden = await page.locator('button').evaluateAll((buttons) =>
    buttons
      .filter((button) => getComputedStyle(button).display !== 'none')
      .filter((button) => !button.checkVisibility({ opacityProperty: true, visibilityProperty: true }))
      .map((button) => button.getAttribute('aria-label') ?? button.textContent),
  );
  expect(hidden).toEqual([]);
  for (const answer of await demo.assistant.all())
    await expect(demo.on(answer, 'Copy message')).toBeVisible();
  await expect(demo.button(/^Chat actions: /)).toBeVisible();
}

test('words that stream in shift nothing', async ({ page }) => {
  const demo = await Demo.open(page, { pace: true });
  await demo.ask('Hello');
  await page.evaluate(() => {
    const shifts: number[] = [];
    (globalThis as unknown as { shifts: number[] }).shifts = shifts;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) shifts.push((entry as unknown as { value: number }).value);
    }).observe({ type: 'layout-shift', buffered: false });
  });
  await demo.ask('/markdown What is a graph?');
  const shifts = await page.evaluate(() => (globalThis as unknown as { shifts: number[] }).shifts);
  expect(shifts.reduce((sum, value) => sum + value, 0)).toBeLessThan(0.002);
});

test('the view follows the words unless one scrolls up, and jumps to the latest on demand', async ({
  page,
}) => {
  const demo = await Demo.open(page, { pace: true });
  await demo.send('Tell me a long story about a lighthouse');
  await demo.streaming(150);
  await expect(demo.button('Jump to latest')).toHaveCount(0);
  await demo.assistant.last().hover();
  await page.mouse.wheel(0, -2000);
  await expect(demo.button('Jump to latest')).toBeVisible();
  await demo.button('Jump to latest').click();
  await expect(demo.button('Jump to latest')).toHaveCount(0);
  await demo.button('Stop').click();
  for (const height of [900, 700, 500]) {
    await page.setViewportSize({ width: 1280, height });
    await expect(demo.button('Continue')).toBeInViewport();
  }
});

test('in a low window every button above the conversation can be hit, none lies on another, and the conversation stays in sight', async ({
  page,
}) => {
  const demo = await Demo.open(page);
  await demo.ask('What is a graph, said in as many words as fit?');
  for (let i = 0; i < 3; i++) {
    await demo.on(demo.assistant, 'Checkpoint here').click();
    await page.getByRole('dialog').getByRole('textbox').press('Enter');
    await expect(page.getByRole('dialog')).toHaveCount(0);
  }
  await demo.on(demo.you, 'Branch from here').click();
  await expect(demo.branch).toHaveText(/New branch/);
  for (const [width, height] of [
    [320, 256],
    [375, 400],
    [480, 300],
    [740, 320],
  ] as const) {
    await page.setViewportSize({ width, height });
    const boxes = await page.locator('main > header button').evaluateAll((buttons) =>
      buttons
        .filter((button) => button.checkVisibility({ visibilityProperty: true }))
        .map((button) => ({ name: button.getAttribute('aria-label'), box: button.getBoundingClientRect() }))
        .toSorted((a, b) => a.box.left - b.box.left),
    );
    expect(boxes.length).toBeGreaterThan(3);
    const small = boxes.filter(({ box }) => box.width < 44 || box.right > width);
    const covered = boxes.filter(({ box }, i) => box.left < (boxes[i - 1]?.box.right ?? 0));
    expect([...small, ...covered].map(({ name }) => `${width}: ${name}`)).toEqual([]);
  }

  await expect(demo.button('Undo')).toBeVisible();
  await demo.button('Undo').focus();
  for (const words of ['', 'a\nb\nc\nd\ne\nf\ng\nh\ni\nj'])
    for (const [width, height] of [
      [568, 320],
      [320, 360],
      [640, 256],
    ] as const) {
      await page.setViewportSize({ width, height });
      await demo.message.fill(words);
      const seen = await page.evaluate(() => {
        const room = document.querySelector('article')?.closest('.scroller')?.clientHeight ?? 0;
        return {
          room,
          page: document.documentElement.scrollHeight,
          width: document.documentElement.scrollWidth,
        };
      });
      expect(seen.room).toBeGreaterThan(height / 4);
      expect([seen.page, seen.width]).toEqual([height, width]);
      await expect(demo.button('Send')).toBeInViewport();
      await expect(demo.button('Undo')).toBeInViewport();
      await expect(demo.button('By the way')).toBeInViewport({ ratio: 1 });
    }
  await demo.openCheckpoints();
  await expect(page.getByRole('button', { name: /^Restore / }).first()).toBeInViewport({ ratio: 1 });
  expect(await faultsOf(page)).toEqual([]);
});
