import { expect, type Locator, type Page } from '@playwright/test';
import { Demo, faultsOf, stopsTo } from './demo.ts';
import { test } from './test.ts';

// The whole panel as somebody without a mouse uses it: every act is a key, and the focus is never lost.

/** Presses keys, one after the other; behind each of them something has the focus. */
async function keys(page: Page, ...names: readonly string[]): Promise<void> {
  for (const name of names) {
    await page.keyboard.press(name);
    await page.waitForFunction(() => document.activeElement !== document.body);
  }
}

/** Presses a key until something has the focus. */
async function until(page: Page, key: string, wanted: Locator): Promise<void> {
  await wanted.waitFor();
  for (let looks = 0; looks < 30; looks += 1) {
    const stops = await wanted.evaluate(stopsTo);
    if (stops === 0) break;
    const many = key === 'Tab' ? stops : key === 'Shift+Tab' ? -stops : 1;
    for (let i = 0; i < Math.max(1, many); i += 1) await page.keyboard.press(key);
  }
  await expect(wanted).toBeFocused();
}

test('all views of the devtools are used without a mouse, and the focus is never lost', async ({
  page,
  context,
}) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.setViewportSize({ width: 1440, height: 900 });
  const demo = await Demo.open(page);
  await demo.ask('What is a graph?');
  await demo.ask('And a tree?');
  const panel = page.getByRole('region', { name: 'contextree devtools' });
  const view = panel.getByRole('tabpanel');
  const tabTo = (role: Parameters<Locator['getByRole']>[0], name: string | RegExp): Promise<void> =>
    until(page, 'Tab', view.getByRole(role, { name, exact: typeof name === 'string' }));
  const show = async (name: string, key: string): Promise<void> => {
    await until(page, 'Shift+Tab', panel.getByRole('tab', { selected: true }));
    await until(page, key, panel.getByRole('tab', { name, exact: true }));
    await expect(view).not.toContainText('Loading…');
  };
  await demo.openDevtools();
  await expect(panel.getByRole('tab', { name: 'Graph' })).toBeFocused();

  // Graph: check out, a checkpoint, a branch and back, search, the sheet of keys, copy.
  const grid = view.getByRole('treegrid');
  await tabTo('treegrid', /./);
  await keys(page, 'Home', 'Enter');
  await expect(demo.assistant).toHaveCount(0);
  await keys(page, 'End', 'Enter');
  await expect(demo.assistant).toHaveCount(2);
  await keys(page, 'c');
  await expect(view.getByRole('textbox', { name: 'Name' })).toBeFocused();
  await page.keyboard.type('two answers');
  await keys(page, 'Enter');
  await expect(demo.button('Checkpoint two answers')).toBeVisible();
  await expect(grid).toBeFocused();
  await keys(page, 'Home', 'b');
  await expect(panel).toContainText('2 branches');
  await keys(page, 'u');
  await expect(panel).not.toContainText('2 branches');
  await keys(page, '/');
  const search = view.getByRole('searchbox', { name: 'Search messages' });
  await expect(search).toBeFocused();
  await page.keyboard.type('tree');
  await expect(view.getByRole('button', { name: 'Next hit' })).toBeEnabled();
  await keys(page, 'Escape');
  await expect(search).toHaveValue('');
  await tabTo('treegrid', /./);
  await keys(page, '?');
  await expect(view).toContainText('mark for compare');
  await keys(page, '?');
  await expect(view).not.toContainText('mark for compare');
  await keys(page, 'Home', 'y');
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe('What is a graph?');

  // Node: opened beside the list, and left again.
  await keys(page, 'End', 'Space');
  await expect(view.getByRole('region', { name: 'Selected message' })).toContainText('First word');
  await expect(view.getByRole('button', { name: 'Back' })).toBeFocused();
  await keys(page, 'Enter');
  await expect(grid).toBeFocused();

  // Compare: two messages are marked in the list.
  await keys(page, 'd', 'Home', 'd');
  await expect(panel.getByRole('tab', { name: 'Compare' })).toBeFocused();
  await expect(view.getByRole('table', { name: 'Totals' })).toContainText('Output tokens');

  await show('Prompt', 'ArrowLeft');
  await tabTo('button', 'Difference');
  await keys(page, 'Enter');
  await expect(view).toContainText(/then, \d+ now/);

  await show('Cost', 'ArrowRight');
  await tabTo('combobox', 'Priced as');
  await keys(page, 'ArrowDown');
  await expect(view.getByRole('combobox', { name: 'Priced as' })).not.toHaveValue('');

  await show('Log', 'ArrowRight');
  await tabTo('searchbox', 'Filter events');
  await page.keyboard.type('checkpoint');
  await expect(view.getByRole('option')).not.toHaveCount(0);
  await keys(page, 'Escape');
  await tabTo('button', 'Pause');
  await keys(page, 'Enter');
  await expect(view.getByRole('button', { name: 'Pause' })).toHaveCount(0);

  await show('Run', 'ArrowRight');
  await tabTo('button', 'Run');
  await keys(page, 'Enter');
  await expect(view.getByRole('cell', { name: 'done' })).toBeVisible();
  await tabTo('button', 'Keep');
  await keys(page, 'Enter');
  await expect(view).toContainText('Kept as');

  await show('Storage', 'ArrowRight');
  await tabTo('button', 'Check');
  await keys(page, 'Enter');
  await expect(view).toContainText('No faults found.');

  await show('Fragments', 'ArrowRight');
  await tabTo('tree', 'Fragments');
  await keys(page, 'Home', 'ArrowRight', 'ArrowDown');

  await show('Checkpoints', 'ArrowRight');
  await tabTo('listbox', 'Checkpoints, newest first');
  await keys(page, 'Home');
  await tabTo('button', 'Rename');
  await keys(page, 'Enter');
  await page.keyboard.type('both answers');
  await keys(page, 'Enter');
  await expect(demo.button('Checkpoint both answers')).toBeVisible();
  await tabTo('button', 'Delete');
  await keys(page, 'Enter');
  await expect(view).toContainText('No checkpoints yet');
  await keys(page, 'Tab');

  await show('Snapshot', 'ArrowRight');
  await tabTo('searchbox', 'Search the snapshot');
  await page.keyboard.type('tree');
  await expect(view.getByRole('button', { name: 'Next hit' })).toBeEnabled();
  expect(await faultsOf(page)).toEqual([]);

  // Escape takes the search text first, and the panel last.
  await keys(page, 'Escape');
  await expect(view.getByRole('searchbox', { name: 'Search the snapshot' })).toHaveValue('');
  for (let presses = 0; presses < 4 && (await panel.count()) > 0; presses += 1) await keys(page, 'Escape');
  await expect(panel).toHaveCount(0);
  await expect(demo.button('Open contextree devtools')).toBeFocused();
});
