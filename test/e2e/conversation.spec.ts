import { expect, type Locator, type Page } from '@playwright/test';
import { Demo, faultsByDayAndNight, faultsOf } from './demo.ts';
import { HeldModel } from './model.ts';
import { test } from './test.ts';

/** The demo in which a long answer grows, and a second question waits for it. */
async function withQuestionWaiting(page: Page): Promise<Demo> {
  const demo = await Demo.open(page, { pace: true });
  await demo.send('Tell me a long story about a lighthouse');
  await demo.streaming();
  await demo.send('And a short one?');
  return demo;
}

test('a question is answered, saved, and there again after a reload', async ({ page }) => {
  const demo = await Demo.open(page);
  await demo.ask('What is a graph?');
  await expect(page).toHaveURL(/#\/chat\/.+/);
  await expect(demo.assistant).toContainText('What is a graph?');
  await expect(demo.chats.getByRole('link', { name: 'What is a graph?' })).toBeVisible();
  await page.reload();
  await expect(demo.you).toContainText('What is a graph?');
  await expect(demo.assistant).toHaveCount(1);
  await demo.ask('And a tree?');
  await expect(demo.you).toHaveCount(2);
});

test('a question sent while the chat is still being read leaves the box for good', async ({ page }) => {
  const demo = new Demo(page);
  // What reads the chat comes late.
  await page.route(/assets\/(?!index)/, async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 300));
    await route.continue();
  });
  await page.goto('/?empty&speed=0');
  await demo.send('What is a graph?');
  await expect(demo.assistant).toContainText('What is a graph?');
  await expect(demo.message).toHaveValue('');
});

test('an answer streams, can be stopped, and is continued without a word lost or said twice', async ({
  page,
}) => {
  const demo = await Demo.open(page, { pace: true });
  await demo.send('Tell me a long story about a lighthouse');
  await demo.streaming();
  await expect(demo.message).toBeFocused();
  await expect(demo.assistant).toHaveAttribute('aria-busy', 'true');
  await demo.button('Stop').click();
  await expect(demo.assistant).toContainText('Interrupted');
  const half = await demo.answer();

  await demo.on(demo.assistant, 'Continue').click();
  await expect.poll(() => demo.answer()).not.toBe(half);
  await demo.streaming(20);
  await page.goto(page.url().replace('/?empty#', '/?empty&speed=0#'));
  await demo.on(demo.assistant, 'Continue').click();
  await demo.settled();
  const whole = await demo.answer();
  expect(whole.startsWith(half.slice(0, -20))).toBe(true);
  expect(whole.split(/\s+/).length).toBeGreaterThanOrEqual(600);
  await expect(demo.assistant).not.toContainText('Interrupted');

  // The same question on a new chat gives the same words in one go: nothing was lost or said twice.
  await demo.button('New chat').click();
  await demo.ask('Tell me a long story about a lighthouse');
  expect(await demo.answer()).toBe(whole);
});

test('a question sent while an answer streams waits in sight, can be taken back, and outlives a reload', async ({
  page,
}) => {
  const demo = await withQuestionWaiting(page);
  const waiting = demo.you.filter({ hasText: 'And a short one?' });
  await expect(waiting).toContainText('Waiting');
  await expect(demo.message).toBeFocused();
  await expect(demo.button('Stop')).toBeVisible();

  await demo.on(waiting, 'Take back').click();
  await expect(demo.message).toHaveValue('And a short one?');
  await expect(demo.message).toBeFocused();
  await expect(waiting).toHaveCount(0);
  await demo.message.press('Enter');
  await expect(waiting).toContainText('Waiting');
  // The tab keeps the words until the disk has the question.
  const inTab = (): Promise<string> => page.evaluate(() => JSON.stringify([sessionStorage]));
  await expect.poll(inTab).not.toContain('And a short one?');

  await page.goto(page.url().replace('/?empty#', '/?empty&speed=0#'));
  await expect(waiting).toHaveCount(1);
  await expect(demo.message).toHaveValue('');
  await expect(demo.assistant).toContainText('Interrupted');
  await demo.button('Get an answer').click();
  await demo.settled();
  await expect(demo.assistant).toHaveCount(2);
  await expect(demo.assistant.last()).toContainText('And a short one?');
});

test('a question that waits stands still under a slow press, and is asked when the answer is stopped', async ({
  page,
}) => {
  const demo = await withQuestionWaiting(page);
  const height = async (): Promise<number> => (await demo.assistant.boundingBox())?.height ?? 0;
  const takeBack = demo.button('Take back');
  await takeBack.hover();
  await page.mouse.down();
  const [place, before] = [await takeBack.boundingBox(), await height()];
  await expect.poll(height).toBeGreaterThan(before + 60);
  expect(await takeBack.boundingBox()).toEqual(place);
  await page.mouse.up();
  await expect(demo.message).toHaveValue('And a short one?');
  await expect(takeBack).toHaveCount(0);
  await demo.message.press('Enter');
  await expect(takeBack).toBeVisible();
  await demo.button('Stop').click();
  await expect(demo.assistant.last()).toContainText('And a short one?', { timeout: 15_000 });
  await expect(demo.assistant).toHaveCount(2);
  await expect(takeBack).toHaveCount(0);
});

test('a question that waits behind a tool that nobody answers can be asked now, from the keyboard too', async ({
  page,
}) => {
  const demo = await Demo.open(page, { pace: true });
  await demo.send('/approve Tidy the slow shelf');
  await demo.send('Why do rivers bend?');
  const waiting = demo.you.filter({ hasText: 'Why do rivers bend?' });
  await expect(waiting).toContainText('Waiting');
  const askNow = demo.on(waiting, 'Ask now');
  await askNow.focus();
  expect(await faultsOf(page)).toEqual([]);
  await askNow.press('Enter');
  await expect(demo.assistant.last()).toContainText('Why do rivers bend?', { timeout: 15_000 });
  await expect(demo.message).toBeFocused();
  await expect(waiting).not.toContainText('Waiting');
  await expect(demo.assistant).toHaveCount(2);
  await expect(demo.assistant.first()).toContainText('was not answered');
});

test('an edited question and three tries are versions that one pages through', async ({ page }) => {
  const demo = await Demo.open(page);
  await demo.ask('What is a graph?');
  for (const n of [2, 3, 4]) {
    await demo.tryAgain();
    await expect(demo.versions(`Version ${n} of ${n}`)).toBeVisible();
  }
  await expect(demo.branch).toHaveAccessibleDescription('main-v4');
  const texts = new Set<string>();
  for (const n of [4, 3, 2, 1]) {
    await expect(demo.versions(`Version ${n} of 4`)).toBeVisible();
    texts.add(await demo.answer());
    if (n > 1) await demo.button('Previous version').click();
  }
  expect(texts.size).toBe(4);
  await expect(demo.button('Previous version')).toBeDisabled();

  await demo.on(demo.you, 'Edit').click();
  const editor = demo.you.getByRole('textbox', { name: 'Edited text' });
  await editor.fill('What is a forest?');
  await editor.press('Enter');
  await demo.settled();
  await expect(demo.you).toContainText('What is a forest?');
  await expect(demo.assistant).toContainText('What is a forest?');
  await demo.you.getByRole('button', { name: 'Previous version' }).click();
  await expect(demo.you).toContainText('What is a graph?');
  await expect(demo.versions('Version 1 of 4')).toBeVisible();
});

test('versions are compared side by side, and the one that is kept is shown', async ({ page }) => {
  const demo = await Demo.open(page);
  await demo.ask('What is a graph?');
  await demo.on(demo.assistant, 'Edit').click();
  await demo.assistant.getByRole('textbox', { name: 'Edited text' }).fill('A graph is a set of points.');
  await demo.on(demo.assistant, 'Send edit').click();
  await demo.on(demo.assistant, 'Edit').click();
  await demo.assistant.getByRole('textbox', { name: 'Edited text' }).fill('A tree is a set of leaves.');
  await demo.on(demo.assistant, 'Send edit').click();
  await expect(demo.versions('Version 3 of 3')).toBeVisible();
  await demo.on(demo.assistant, 'Compare versions').click();
  const dialog = page.getByRole('dialog', { name: 'Compare versions' });
  const version = (n: number): Locator => dialog.getByRole('region', { name: `Version ${n}`, exact: true });
  await expect(version(2).locator('mark')).toHaveText(['graph', 'points']);
  await expect(version(3).locator('mark')).toHaveText(['tree', 'leaves']);
  expect(await faultsOf(page)).toEqual([]);
  await version(2).getByRole('combobox').selectOption('Version 1');
  const first = version(1);
  await expect(first).toContainText('What is a graph?');
  await first.getByRole('button', { name: 'Keep this one' }).click();
  await expect(dialog).toHaveCount(0);
  await expect(demo.versions('Version 1 of 3')).toBeVisible();
  await expect(demo.assistant).toContainText('What is a graph?');
  await expect(demo.on(demo.assistant, 'Compare versions')).toBeFocused();
});

// A box that is `auto` has the browser read the whole book for each key.
test('a book that is pasted can be written on in, from left to right and from right to left', async ({
  page,
  context,
}) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const demo = await Demo.open(page);
  for (const [word, direction] of [
    ['word and more ', 'ltr'],
    ['מילה ועוד ', 'rtl'],
  ] as const) {
    const book = word.repeat(5000);
    await page.evaluate((text) => navigator.clipboard.writeText(text), book);
    await demo.message.fill('');
    await demo.message.press('ControlOrMeta+v');
    await expect(demo.message).toHaveJSProperty('value', book);
    await expect(demo.message).toHaveAttribute('dir', direction);
    await expect(demo.message).toHaveCSS('direction', direction);
  }
});

test('a long text that is pasted is offered as a file; one that is sent is folded', async ({
  page,
  context,
}) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const demo = await Demo.open(page);
  const book = 'const answer = forty + two;\n'.repeat(4000);
  await page.evaluate((text) => navigator.clipboard.writeText(text), book);
  await demo.message.fill('Read this: ');
  await demo.message.press('ControlOrMeta+v');
  const offer = page.getByRole('group', { name: 'Pasted text' });
  await expect(offer).toContainText('112.0 kB of text pasted');
  expect(await faultsOf(page)).toEqual([]);
  await offer.getByRole('button', { name: 'Attach as a file' }).click();
  await expect(page.getByRole('list', { name: 'Attached files' })).toContainText('Pasted text.txt');
  await expect(demo.message).toHaveValue('Read this: ');
  await expect(demo.message).toBeFocused();
  await demo.button('Remove Pasted text.txt').click();

  await demo.message.press('ControlOrMeta+v');
  await offer.getByRole('button', { name: 'Keep in the message' }).click();
  await expect(offer).toHaveCount(0);
  // What was not yet stored is, when the page goes.
  await page.reload();
  await expect(demo.message).toHaveJSProperty('value', `Read this: ${book}`);
  await demo.message.press('Enter');
  await demo.settled();
  const words = demo.you.locator('.words');
  expect((await words.textContent())?.length).toBeLessThan(1000);
  await demo.on(demo.you, 'Show more 112.0 kB').click();
  expect((await words.textContent())?.length).toBe(`Read this: ${book}`.trim().length);
  await demo.on(demo.you, 'Show less').click();
  expect((await words.textContent())?.length).toBeLessThan(1000);
});

test('a line that no textbox bears becomes a file, however it comes', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const demo = await Demo.open(page);
  const line = '{"a":1},'.repeat(15_000);
  const offer = page.getByRole('group', { name: 'Pasted text' });
  const pastes = async (): Promise<void> => {
    await page.evaluate((text) => navigator.clipboard.writeText(text), line);
    await demo.message.press('ControlOrMeta+v');
  };
  const drops = async (): Promise<void> => {
    await page.evaluate((text) => {
      const dragged = Object.assign(document.createElement('p'), { textContent: 'Drag', draggable: true });
      dragged.addEventListener('dragstart', (event) => event.dataTransfer?.setData('text/plain', text));
      Object.assign(dragged.style, { position: 'fixed', inset: '0 auto auto 0', zIndex: '9' });
      dragged.id = 'dragged';
      document.body.append(dragged);
    }, line);
    await page.locator('#dragged').dragTo(demo.message);
    await page.locator('#dragged').evaluate((dragged) => dragged.remove());
  };
  const inserts = (): Promise<void> => page.keyboard.insertText(line);
  for (const comes of [pastes, drops, inserts]) {
    await demo.message.fill('Read this: ');
    await comes();
    await expect(offer).toContainText('120.0 kB of text in a long line went into a file.');
    await expect(demo.message).toHaveValue('Read this: ');
    await demo.button('Remove Pasted text.txt').click();
    await expect(offer).toHaveCount(0);
  }
  await pastes();
  await offer.getByRole('button', { name: 'Put in the message' }).click();
  await expect(demo.message).toHaveJSProperty('value', `Read this: ${line}`);
});

test('a reload right after Try again leaves a plain way to an answer', async ({ page }) => {
  const demo = await Demo.open(page);
  await demo.ask('What is a graph?');
  for (const wait of [0, 5, 20]) {
    const reloaded = page.waitForEvent('load');
    await demo.on(demo.assistant, 'Try again').evaluate((button: HTMLElement, ms) => {
      button.click();
      if (ms === 0) location.reload();
      else setTimeout(() => location.reload(), ms);
    }, wait);
    await reloaded;
    const getAnswer = demo.button('Get an answer');
    await expect(getAnswer.or(demo.on(demo.assistant, 'Try again'))).toBeVisible();
    if (await getAnswer.isVisible()) {
      await expect(page.getByText('Not answered')).toBeVisible();
      await expect(demo.button('Show the earlier answer')).toBeVisible();
      await getAnswer.click();
    }
    // Cut off between two words, it says so and goes on from there.
    const goOn = demo.on(demo.assistant, 'Continue');
    if (await goOn.isVisible()) await goOn.click();
    await demo.settled();
    await expect(demo.assistant).toContainText('What is a graph?');
  }
});

test('by the way: a place beside the conversation, and what was said there can be brought over', async ({
  page,
}) => {
  const demo = await Demo.open(page);
  await demo.ask('What is a graph?');
  await demo.button('By the way').click();
  const place = page.getByRole('region', { name: 'Side question of What is a graph?' });
  await expect(place).toBeVisible();
  await expect(demo.message).toBeFocused();
  await expect(demo.button('Bring over')).toHaveAttribute('aria-disabled', 'true');
  await demo.ask('Something else');
  await page.reload();
  await expect(place).toBeVisible();

  await demo.button('Back').click();
  await expect(place).toHaveCount(0);
  await expect(demo.you).toHaveCount(1);
  await demo.ask('Go on');
  // The two questions stand at one place, and are no versions of each other.
  await expect(demo.on(demo.you.last(), 'Edit')).toBeVisible();
  await expect(demo.page.getByRole('group', { name: /^Version/ })).toHaveCount(0);
  await demo.showBranch('Something else');
  await expect(place).toBeVisible();
  await expect(demo.page.getByRole('group', { name: /^Version/ })).toHaveCount(0);
  await demo.button('Bring over').click();
  await expect(place).toHaveCount(0);
  await expect(demo.you).toHaveText([/What is a graph/, /Go on/, /Something else/]);
  await demo.settled();
  await demo.button('Undo').click();
  await expect(place).toBeVisible();
  await expect(demo.you).toHaveText([/What is a graph/, /Something else/]);
  await demo.button('Back').click();
  await expect(demo.you).toHaveText([/What is a graph/, /Go on/]);
});

test('a double click on By the way, Bring over and Back leaves the focus where one writes', async ({
  page,
}) => {
  const demo = await Demo.open(page);
  await demo.ask('Hello');
  const aside = page.getByRole('region', { name: /^Side question of/ });
  /** As a hand does it: the page has changed when the second click comes. */
  const doubleClick = async (name: string): Promise<void> => {
    await demo.button(name).hover();
    for (const clickCount of [1, 2]) {
      await page.mouse.down({ clickCount });
      await page.mouse.up({ clickCount });
      await page.waitForTimeout(100);
    }
  };
  await doubleClick('By the way');
  await expect(aside).toBeVisible();
  await expect(demo.message).toBeFocused();
  await demo.ask('Aside');
  await doubleClick('Back');
  await expect(aside).toHaveCount(0);
  await expect(demo.message).toBeFocused();
  await demo.showBranch('Aside');
  await doubleClick('Bring over');
  await expect(aside).toHaveCount(0);
  await expect(demo.message).toBeFocused();
});

test('a branch says where it left the other one, and what is kept there; by the way opens a place beside an empty one', async ({
  page,
}) => {
  const demo = await Demo.open(page);
  await demo.ask('What is a graph?');
  await demo.ask('And a tree?');
  await demo.on(demo.assistant.first(), 'Branch from here').click();
  const note = page.getByRole('note', { name: 'Branched from What is a graph?' });
  await expect(note).toContainText('2 later messages kept');
  await expect(note).toBeInViewport();
  await demo.ask('And a forest?');
  await expect(note).toBeVisible();
  await note.getByRole('button', { name: 'View' }).press('Enter');
  await expect(demo.you.last()).toContainText('And a tree?');
  await expect(note).toHaveCount(0);
  await expect(demo.message).toBeFocused();

  // A place beside a branch on which nothing was said yet.
  await demo.on(demo.assistant.first(), 'Branch from here').click();
  await expect(demo.you).toHaveCount(1);
  await demo.button('By the way').click();
  const place = page.getByRole('region', { name: /^Side question of / });
  await expect(place).toBeVisible();
  // It stays there while the first question is asked and answered.
  const leavings = await place.evaluateHandle((section) => {
    const seen: unknown[] = [];
    const look = (): void => void (section.hasAttribute('data-aside') || seen.push(section.ariaLabel));
    new MutationObserver(look).observe(section, { attributes: true });
    return seen;
  });
  await demo.ask('Something else');
  expect(await leavings.jsonValue()).toEqual([]);
  await expect(place.getByRole('button', { name: 'Bring over' })).toBeEnabled();
});

test('a checkpoint is named, stands at its message, and is restored on a branch of its own', async ({
  page,
}) => {
  const demo = await Demo.open(page);
  await demo.ask('What is a graph?');
  await demo.on(demo.assistant, 'Checkpoint here').click();
  const dialog = page.getByRole('dialog', { name: 'New checkpoint' });
  const name = dialog.getByRole('textbox', { name: 'Name' });
  await expect(name).not.toHaveValue('');
  await name.fill('before trees');
  await name.press('Enter');
  await expect(dialog).toBeHidden();
  await demo.ask('And a tree?');
  // Three times: the branch that is still empty is used again.
  for (let i = 0; i < 3; i += 1) {
    await demo.button('Checkpoint before trees').click();
    await expect(demo.button('Restore before trees')).toBeFocused();
    await page.keyboard.press('Enter');
    await expect(demo.you).toHaveCount(1);
    await expect(demo.branch).toHaveAccessibleDescription('main-v2');
  }
  await demo.openCheckpoints();
  await demo.button('Delete checkpoint before trees').click();
  await expect(demo.button('Restore before trees')).toHaveCount(0);
  await expect(demo.button('Checkpoint before trees')).toHaveCount(0);
});

test('an answer that grows on another branch is told, and then waits to be read', async ({ page }) => {
  const demo = await Demo.open(page);
  await demo.ask('Hello');
  const model = await HeldModel.behind(demo);
  await demo.on(demo.assistant, 'Branch from here').click();
  await expect(demo.branch).toHaveAccessibleDescription('main-v2');
  await demo.send('A slow answer please');
  await demo.streaming();
  await demo.showBranch('Hello');
  await demo.branch.click();
  const row = demo.branchRows.filter({ hasText: 'A slow answer please' });
  await expect(row).toHaveAccessibleDescription(/growing/);
  model.end();
  await expect(row).toHaveAccessibleDescription(/unread/);
  await row.click();
  await expect(demo.you.last()).toContainText('A slow answer please');
  await demo.branch.click();
  await expect(row).not.toHaveAccessibleDescription(/unread/);
});

test('how long a model thought stands with its answer, and its code has colours', async ({ page }) => {
  const demo = await Demo.open(page, { pace: true });
  await demo.send('/think Why do rivers bend?');
  await expect(demo.assistant).toContainText('Thinking…');
  await expect(demo.assistant).toContainText(/Thought for \d+(\.\d)? s/);
  await demo.button('Stop').click();
  await demo.settled();
  await page.goto(page.url().replace('?empty', '?empty&speed=0'));
  await expect(demo.assistant).toContainText(/Thought for \d+(\.\d)? s/);
  await demo.ask('/markdown Compare tea and coffee');
  const code = demo.assistant.last().getByRole('group', { name: 'Code' });
  await expect(code.locator('[data-kind=keyword]').first()).toBeVisible();
  expect(await faultsByDayAndNight(page)).toEqual([]);
  await expect(demo.on(demo.assistant.last(), 'Copy code')).toHaveText('Copy code');
  await demo.on(demo.assistant.last(), 'Wrap').click();
  await expect(code).toHaveCSS('white-space', 'pre-wrap');
});

test('a tool is called, and its result is in the answer, after a reload, too', async ({ page }) => {
  const demo = await Demo.open(page);
  await demo.ask('/tool Roll the dice for me');
  const card = demo.assistant.last().locator('summary');
  await expect(card).toContainText(/rollDice.*is done.*rolls \d+, \d+ · total \d+.*\d\.\d s/);
  expect(await faultsOf(page)).toEqual([]);
  await page.reload();
  await expect(card).toContainText(/is done.*total \d+.*\d\.\d s/);
});
