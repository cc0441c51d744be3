import { readFile } from 'node:fs/promises';
import { expect, type JSHandle, type Page } from '@playwright/test';
import { Demo } from './demo.ts';
import { test } from './test.ts';

const VIEWS = [
  'Graph',
  'Prompt',
  'Cost',
  'Compare',
  'Log',
  'Run',
  'Storage',
  'Fragments',
  'Checkpoints',
  'Snapshot',
];

test('the devtools show the graph, the prompt and the snapshot, and remember that they were open', async ({
  page,
}) => {
  const demo = await Demo.open(page);
  await demo.ask('What is a graph?');
  await demo.tryAgain();
  const panel = page.getByRole('region', { name: 'contextree devtools' });
  await expect(panel).toHaveCount(0);
  await demo.button('Open contextree devtools').click();
  await expect(panel).toBeVisible();
  // Those of production leave the console of the page alone.
  expect(await page.evaluate(() => '__CONTEXTREE__' in globalThis)).toBe(false);
  await expect(panel.getByRole('tab')).toHaveText(VIEWS);
  await expect(panel).toContainText(/active branch \S/);

  await panel.getByRole('tab', { name: 'Prompt' }).click();
  await expect(panel).toContainText('<role>');
  await expect(panel).toContainText('What is a graph?');
  await panel.getByRole('tab', { name: 'Snapshot' }).click();
  await expect(panel.getByRole('button', { name: 'Copy JSON' })).toBeVisible();

  await panel.getByRole('tab', { name: 'Graph' }).click();
  await panel.getByRole('row').first().click();
  await expect(demo.assistant).toHaveCount(1);
  await panel.getByRole('button', { name: 'Check out' }).click();
  await expect(demo.assistant).toHaveCount(0);
  await page.reload();
  await expect(panel).toBeVisible();

  // Nothing was pressed on this page, so each shift counts. The app makes room, and of what is in the panel is told no element.
  const shifts = await page.evaluateHandle(() => {
    type Shift = PerformanceEntry & {
      readonly value: number;
      readonly sources: readonly { node: unknown }[];
    };
    const inPanel: number[] = [];
    new PerformanceObserver((list) => {
      for (const { value, sources } of list.getEntries() as Shift[])
        if (sources.some(({ node }) => node === null)) inPanel.push(value);
    }).observe({ type: 'layout-shift', buffered: true });
    return inPanel;
  });
  await panel.getByRole('searchbox').waitFor();
  for (const name of [...VIEWS.slice(1), 'Graph']) {
    await panel.getByRole('tab', { name, exact: true }).evaluate((tab: HTMLElement) => tab.click());
    await expect(panel.getByRole('tabpanel', { name })).not.toContainText('Loading…');
    await demo.idle();
    expect(await shifts.jsonValue(), name).toEqual([]);
  }
});

test('the devtools record a request of the demo, tell what it cost, play it again, and ask it anew', async ({
  page,
}) => {
  await page.setViewportSize({ width: 1440, height: 900 });
  const demo = await Demo.open(page);
  await demo.button('Open contextree devtools').click();
  const panel = page.getByRole('region', { name: 'contextree devtools' });
  await expect(panel).toBeVisible();
  await demo.ask('What is a graph?');
  await demo.ask('And a tree?');

  await panel.getByRole('row').last().click();
  await panel.getByRole('button', { name: 'Replay' }).click();
  await expect(panel.getByRole('region', { name: 'Replay' })).toContainText(/\d+ of \d+ chunks/);
  await panel.getByRole('tab', { name: 'Prompt' }).click();
  await expect(panel).toContainText('As recorded for this answer');
  await panel.getByRole('button', { name: 'Difference' }).click();
  await expect(panel).toContainText('1 then, 3 now');

  await panel.getByRole('tab', { name: 'Cost' }).click();
  await expect(panel.getByRole('list', { name: 'Turns, newest first' }).getByRole('listitem')).toHaveCount(2);
  await expect(panel).toContainText(/Cache: (?:too short|kept|first|unchanged)/);

  await panel.getByRole('tab', { name: 'Run' }).click();
  await panel.getByRole('button', { name: 'Run', exact: true }).click();
  await expect(panel.getByRole('cell', { name: 'done' })).toBeVisible();
  await panel.getByRole('button', { name: 'Keep' }).click();
  await expect(panel).toContainText('Kept as main-v2');
  await expect(demo.assistant).toHaveCount(2);
});

test('a chat leaves the panel as a file without secrets, and is looked at again where that is dropped', async ({
  page,
}) => {
  const key = `sk-proj-${'a1B2c3D4'.repeat(5)}`;
  const demo = await Demo.open(page);
  await demo.ask(`My key is ${key} <img src=x onerror="document.title='run'">`);
  await demo.button('Open contextree devtools').click();
  const panel = page.getByRole('region', { name: 'contextree devtools' });
  await panel.getByRole('tab', { name: 'Snapshot' }).click();
  const downloading = page.waitForEvent('download');
  await panel.getByRole('button', { name: 'Export session' }).click();
  const download = await downloading;
  await expect(panel).toContainText(/Exported\. Masked: OpenAI key ×\d/);
  const text = await readFile(await download.path(), 'utf8');
  expect(text).not.toContain('a1B2');

  const held = (): Promise<JSHandle<DataTransfer>> =>
    page.evaluateHandle(
      ([name, words]) => {
        const data = new DataTransfer();
        data.items.add(new File([words], name, { type: 'application/json' }));
        return data;
      },
      [download.suggestedFilename(), text] as const,
    );
  await panel.getByRole('tabpanel').dispatchEvent('drop', { dataTransfer: await held() });
  await expect(panel).toContainText('Read-only copy of My key is [OpenAI key');
  await panel.getByRole('button', { name: 'Close', exact: true }).click();
  await expect(panel).not.toContainText('Read-only copy');

  // The app takes it as soon as it is there, also while what shows it is still to come.
  await page.route(/\/SessionCopy-/, async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 1500));
    await route.continue();
  });
  await page.reload();
  await panel.waitFor();
  const dropped = await held();
  await demo.message.dispatchEvent('drop', { dataTransfer: dropped });
  const copy = page.getByRole('dialog', { name: /^Read-only copy of My key is/ });
  await expect(copy.getByRole('article', { name: 'You' })).toContainText('My key is [OpenAI key');
  await copy.getByRole('button', { name: 'Close' }).click();
  await expect(page.getByText(download.suggestedFilename())).toHaveCount(0);
  await expect(page).not.toHaveTitle('run');
});

test('the devtools cover neither the text box nor Send, in windows of any size and either direction', async ({
  page,
}) => {
  const demo = await Demo.open(page);
  await demo.ask('What is a graph?');
  const panel = page.getByRole('region', { name: 'contextree devtools' });
  for (const [width, height, direction] of [
    [1440, 900, 'ltr'],
    [1024, 768, 'ltr'],
    [800, 600, 'ltr'],
    [720, 450, 'ltr'],
    [1440, 900, 'rtl'],
    [800, 600, 'rtl'],
  ] as const) {
    await page.setViewportSize({ width, height });
    await page.evaluate((dir) => (document.documentElement.dir = dir), direction);
    await demo.openDevtools();
    await expect(panel).toBeVisible();
    for (const control of [demo.message, demo.button('Send')]) {
      const isHit = await control.evaluate((element) => {
        const { x, y, width: wide, height: high } = element.getBoundingClientRect();
        const hit = document.elementFromPoint(x + wide / 2, y + high / 2);
        return element === hit || element.contains(hit);
      });
      expect(isHit, `${width} x ${height}, ${direction}`).toBe(true);
    }
    const box = await panel.boundingBox();
    if (width < 1152) expect(box?.height).toBeLessThanOrEqual(height / 2);
    await page.keyboard.press('Control+Shift+Period');
    await expect(panel).toHaveCount(0);
  }
});

test('the page has room for the devtools before they are there, and moves nothing when they come back', async ({
  page,
}) => {
  await page.addInitScript(() => {
    const shifts: number[] = [];
    Object.assign(globalThis, { shifts });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries())
        shifts.push((entry as PerformanceEntry & { value: number }).value);
    }).observe({ type: 'layout-shift', buffered: true });
  });
  await page.setViewportSize({ width: 1440, height: 900 });
  const demo = await Demo.open(page);
  await demo.ask('What is a graph?');
  await demo.openDevtools();
  const panel = page.getByRole('region', { name: 'contextree devtools' });
  for (const [side, width, height] of [
    ['Right', 1440, 900],
    ['Right', 1200, 800],
    ['Right', 1024, 768],
    ['Right', 320, 740],
    ['Left', 1440, 900],
    ['Bottom', 1440, 900],
    ['Top', 1440, 900],
  ] as const) {
    await page.setViewportSize({ width: 1440, height: 900 });
    await panel.getByRole('button', { name: 'Dock and theme' }).click();
    await panel.getByRole('menuitemradio', { name: side }).click();
    await page.setViewportSize({ width, height });
    await page.reload();
    await expect(demo.assistant.last()).toBeVisible();
    await panel.getByRole('row').last().waitFor();
    await demo.idle();
    const shifts = await page.evaluate(() => (globalThis as unknown as { shifts: number[] }).shifts);
    const moved = shifts.reduce((sum, value) => sum + value, 0);
    expect(moved, `${side}, ${width} x ${height}`).toBeLessThan(0.01);
  }
});

test('each column stands under its heading in a window of any width, which tells where there are more', async ({
  page,
}) => {
  const columns = ['time', 'tokens', 'cost', 'duration', 'model'];
  await page.addInitScript(
    (remembered) => {
      localStorage.setItem('contextree:devtools', remembered);
    },
    JSON.stringify({ isOpen: true, columns }),
  );
  const demo = await Demo.open(page);
  await demo.ask('What is a graph?');
  const panel = page.getByRole('region', { name: 'contextree devtools' });
  /** The headings that are seen, what stands before them, and how far each is from the cells below it, in pixels. */
  const look = (): Promise<{ heads: string[]; more: string; apart: number }> =>
    panel.evaluate((element) => {
      const seen = [...element.querySelectorAll('.columns .cell')].filter((cell) => cell.checkVisibility());
      const cells = [...element.querySelectorAll('[role=row]:last-child .cell')];
      const shown = cells.filter((cell) => cell.checkVisibility());
      const apart = shown.map((cell, i) => {
        const [here, above] = [cell, seen[i] as Element].map((one) => one.getBoundingClientRect());
        return Math.abs((here as DOMRect).right - (above as DOMRect).right);
      });
      const { content } = getComputedStyle(element.querySelector('.columns') as Element, '::before');
      return { heads: seen.map((head) => head.textContent), more: content, apart: Math.max(...apart) };
    });
  for (const [width, heads] of [
    [1440, columns.slice(0, 3)],
    [500, columns],
    [320, columns.slice(0, 3)],
  ] as const) {
    await page.setViewportSize({ width, height: 740 });
    await expect.poll(async () => (await look()).heads).toEqual(heads);
    const { more, apart } = await look();
    expect(apart, `${width}`).toBeLessThanOrEqual(1);
    expect(more).toBe(heads === columns ? 'none' : '"more when wider"');
  }
});

test('a window that is narrow and low still shows a part of each view', async ({ page }) => {
  await page.setViewportSize({ width: 320, height: 400 });
  const demo = await Demo.open(page);
  await demo.ask('What is a graph?');
  await demo.openDevtools();
  const panel = page.getByRole('region', { name: 'contextree devtools' });
  for (const [tab, button] of [
    ['Prompt', 'Prompt'],
    ['Prompt', 'Formats'],
    ['Log', 'Events'],
    ['Log', 'History'],
    ['Snapshot', 'Copy JSON'],
  ] as const) {
    await panel.getByRole('tab', { name: tab, exact: true }).evaluate((one: HTMLElement) => one.click());
    await panel.getByRole('button', { name: button, exact: true }).click();
    const rows = panel.locator('.view .rows');
    const heights = (): Promise<number[]> => rows.evaluateAll((all) => all.map((one) => one.clientHeight));
    await expect.poll(async () => Math.min(...(await heights())), `${tab}, ${button}`).toBeGreaterThan(50);
  }
});

test('what a message says and its replay are in sight as it is selected, also in a low panel', async ({
  page,
}) => {
  const demo = await Demo.open(page);
  await demo.ask('What is a graph?');
  await demo.openDevtools();
  for (const size of [
    { width: 1024, height: 768 },
    { width: 720, height: 450 },
  ]) {
    await page.setViewportSize(size);
    const panel = page.getByRole('region', { name: 'contextree devtools' });
    await panel.getByRole('row').last().click();
    const node = panel.getByRole('region', { name: 'Selected message' });
    await expect(node.getByRole('button', { name: 'Replay' })).toBeInViewport({ ratio: 1 });
    await expect(node.getByText(/there is more in that/)).toBeInViewport({ ratio: 0.2 });
    // What is known of it takes the place only of whoever asks for it.
    await node
      .getByText(/^complete/)
      .first()
      .click();
    await expect(node.getByText('When', { exact: true })).toBeInViewport();
    await page.keyboard.press('Escape');
  }
});

test('the devtools fold while the focused text box lies under them, until the page makes room', async ({
  page,
}) => {
  await page.setViewportSize({ width: 1440, height: 900 });
  const demo = await Demo.open(page);
  await demo.openDevtools();
  const panel = page.getByRole('region', { name: 'contextree devtools' });
  const height = async (): Promise<number> => (await panel.boundingBox())?.height ?? 0;
  await expect.poll(height).toBe(900);
  const style = await page.addStyleTag({ content: '.app { padding: 0 !important }' });
  await demo.message.focus();
  await expect.poll(height).toBeLessThan(100);
  await style.evaluate((element) => (element as Element).remove());
  await expect.poll(height).toBe(900);
  await expect(demo.message).toBeFocused();
});

test('the devtools have a window of their own, which follows the chat, and come back when it closes', async ({
  page,
}) => {
  const demo = await Demo.open(page);
  await demo.ask('What is a graph?');
  await demo.button('Open contextree devtools').click();
  const panel = page.getByRole('region', { name: 'contextree devtools' });
  await panel.getByRole('button', { name: 'Dock and theme' }).click();
  await panel.getByRole('menuitemradio', { name: 'Own window' }).click();
  await expect(panel).toHaveCount(0);
  const rows = (): Promise<number | undefined> =>
    page.evaluate(() => {
      const { documentPictureInPicture: own } = globalThis as unknown as {
        documentPictureInPicture: { window: Window | null };
      };
      const [host] = own.window?.document.querySelectorAll('div') ?? [];
      return host?.shadowRoot?.querySelectorAll('[role=row]').length;
    });
  await expect.poll(rows).toBe(2);
  await demo.ask('And a tree?');
  await expect.poll(rows).toBe(4);
  await page.evaluate(() =>
    (
      globalThis as unknown as { documentPictureInPicture: { window: Window } }
    ).documentPictureInPicture.window.close(),
  );
  await expect(panel).toBeVisible();
});

test('the devtools in a popup stay there when their own window is chosen once more', async ({ page }) => {
  // As in a browser without Document Picture-in-Picture.
  await page.addInitScript(() => Reflect.deleteProperty(globalThis, 'documentPictureInPicture'));
  const demo = await Demo.open(page);
  await demo.button('Open contextree devtools').click();
  const choose = async (where: Page): Promise<void> => {
    const panel = where.getByRole('region', { name: 'contextree devtools' });
    await panel.getByRole('button', { name: 'Dock and theme' }).click();
    await panel.getByRole('menuitemradio', { name: 'Own window' }).click();
  };
  const opening = page.waitForEvent('popup');
  await choose(page);
  const popup = await opening;
  await choose(popup);
  await popup.evaluate(() => new Promise((resolve) => setTimeout(resolve, 200)));
  await expect(popup.getByRole('tab', { name: 'Graph' })).toBeVisible();
  await popup.close();
  await expect(page.getByRole('region', { name: 'contextree devtools' })).toBeVisible();
});
