import { expect, type Locator, type Page } from '@playwright/test';
import { Demo, stopsTo } from './demo.ts';
import { test } from './test.ts';

// From the first visit on, with the keys of a keyboard alone: nothing here is clicked or given the focus by the test.

/** Goes to something by Tab, the shorter way, and by arrows where that stops once for a row of buttons. */
async function reach(page: Page, target: Locator): Promise<void> {
  await target.waitFor();
  for (let looks = 0; looks < 30; looks += 1) {
    const stops = await target.evaluate(stopsTo);
    if (stops === 0) return;
    const isInRow = await target.evaluate((element) => {
      const row = document.activeElement?.closest('[role=toolbar], dialog');
      return row?.role === 'toolbar' && row.contains(element);
    });
    const key = isInRow ? 'ArrowRight' : stops > 0 ? 'Tab' : 'Shift+Tab';
    for (let i = 0; i < (isInRow ? 1 : Math.abs(stops)); i += 1) await page.keyboard.press(key);
  }
  throw new Error(`Tab did not reach ${String(target)}.`);
}

test('versions, branches, checkpoints, side questions and chats are used without a mouse', async ({
  page,
}) => {
  const demo = new Demo(page);
  await page.setViewportSize({ width: 1024, height: 800 });
  await page.goto('/?speed=0');
  const press = async (target: Locator): Promise<void> => {
    await reach(page, target);
    await page.keyboard.press('Enter');
  };
  const inDialog = (name: string): Locator => page.getByRole('dialog', { name });

  // The first steps: another version, the flag, the side question, and back.
  const steps = page.getByRole('region', { name: 'First steps' });
  for (const seen of [/What followed The Fork is kept/, /Back at the flag/, /never hears this/]) {
    await press(demo.button('Show me'));
    await expect(steps).toContainText(seen);
  }
  const place = page.getByRole('region', { name: /^Side question of/ });
  await press(demo.button('Back'));
  await expect(place).toHaveCount(0);
  await expect(demo.message).toBeFocused();

  // Branches: found, renamed and shown.
  await press(demo.branch);
  await press(inDialog('Branches').getByRole('button', { name: 'Rename branch: Make a sign with prices.' }));
  await page.keyboard.type('Prices');
  await page.keyboard.press('Enter');
  // The label has the word before, too, in small letters.
  await expect(inDialog('Rename branch')).toHaveCount(0);
  await press(demo.branchRows.filter({ hasText: /^Prices/ }));
  await expect(demo.branch).toHaveAccessibleName('Branch: Prices');

  // A version beside another one, and the one that is kept.
  await press(demo.on(demo.assistant.first(), 'Compare versions'));
  await press(inDialog('Compare versions').getByRole('button', { name: 'Keep this one' }).first());
  await expect(inDialog('Compare versions')).toHaveCount(0);

  // Back at the checkpoint, by its list; and forward again, by the palette.
  await press(demo.button('Checkpoints'));
  await press(demo.button('Restore Name and slogan'));
  await expect(demo.you).toHaveCount(2);
  await page.keyboard.press('ControlOrMeta+k');
  await page.keyboard.type('flat white');
  await expect(page.getByRole('option').first()).toContainText(/flat white/i);
  await page.keyboard.press('Enter');
  await expect(demo.you).toHaveCount(3);

  // A question in other words, an answer once more, and a checkpoint there.
  await press(demo.on(demo.you.last(), 'Edit'));
  await page.keyboard.press('End');
  await page.keyboard.type(' And a name.');
  await page.keyboard.press('Enter');
  await demo.settled();
  await expect(demo.you.last()).toContainText('And a name.');
  await press(demo.on(demo.assistant.last(), 'Try again'));
  await demo.settled();
  await press(demo.on(demo.assistant.last(), 'Checkpoint here'));
  await page.keyboard.type('The sign');
  await page.keyboard.press('Enter');
  await expect(demo.button('Checkpoint The sign')).toBeVisible();

  // A question aside, brought over, and taken back.
  await press(demo.button('By the way'));
  await expect(demo.message).toBeFocused();
  await page.keyboard.type('How large is a sign?');
  await page.keyboard.press('Enter');
  await demo.settled();
  await press(demo.button('Bring over'));
  await expect(place).toHaveCount(0);
  await expect(demo.you.last()).toContainText('How large is a sign?');
  await press(demo.button('Undo'));
  await expect(place).toBeVisible();
  await press(demo.button('Back'));
  await expect(demo.you.last()).toContainText('And a name.');

  // Another chat, and this one found by a word of it.
  await press(demo.button('New chat'));
  await expect(demo.message).toBeFocused();
  await page.keyboard.type('Why do rivers bend?');
  await page.keyboard.press('Enter');
  await demo.settled();
  await reach(page, page.getByRole('searchbox', { name: 'Search chats' }));
  await page.keyboard.type('espresso');
  await press(demo.chats.getByRole('link').first());
  await expect(demo.you.first()).toContainText('coffee cart');
  await press(demo.button('Chat actions: A name for a coffee cart'));
  await press(demo.button('Rename chat: A name for a coffee cart'));
  await page.keyboard.type('Coffee');
  await page.keyboard.press('Enter');
  await expect(demo.chats.getByRole('link', { name: 'Coffee' })).toBeVisible();

  await press(demo.button('Model settings'));
  await expect(inDialog('Model settings')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(demo.button('Model settings')).toBeFocused();
});
