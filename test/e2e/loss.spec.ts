import { expect, type Page } from '@playwright/test';
import type * as Contextree from '../../src/core.ts';
import { Demo, faultsOf } from './demo.ts';
import { Profile } from './profile.ts';
import { test } from './test.ts';

declare const contextree: typeof Contextree;

// The browser loses the database, or another version of the app takes it.

async function wipe(demo: Demo): Promise<void> {
  await demo.page.evaluate(
    () =>
      new Promise((resolve, reject) => {
        const request = indexedDB.deleteDatabase('contextree');
        request.onsuccess = resolve;
        request.onerror = reject;
      }),
  );
}

/** Waits for the note beside the database, which is written a second behind the save, on a busy machine up to ten. */
async function noted({ page }: Demo): Promise<void> {
  await expect
    .poll(() => page.evaluate(() => localStorage.getItem('contextree:contextree:mark')))
    .toMatch(/"messages":2/);
}

test('chats that the browser lost are told of, once', async ({ page }) => {
  const demo = await Demo.open(page);
  await demo.ask('What is a graph?');
  await noted(demo);
  await wipe(demo);
  await page.reload();
  const notice = page.locator('.notice', { hasText: 'This browser lost 1 chat with 2 messages' });
  await expect(notice).toContainText('last saved');
  await expect(demo.chats.getByRole('link')).toHaveCount(0);
  expect(await faultsOf(page)).toEqual([]);
  await notice.getByRole('button', { name: 'Dismiss' }).click();
  await expect(notice).toHaveCount(0);
  await page.getByRole('button', { name: 'New chat' }).first().click();
  await demo.ask('And a tree?');
  await page.reload();
  await expect(demo.you).toContainText('And a tree?');
  await expect(page.getByText(/This browser lost/)).toHaveCount(0);
});

test('a database that does not open is told as what it is, tried again, and left for memory on demand only', async ({
  page,
}) => {
  const demo = await Demo.open(page);
  await demo.ask('What is a graph?');
  await noted(demo);
  await page.addInitScript(() => {
    const open = indexedDB.open.bind(indexedDB);
    IDBFactory.prototype.open = (...args) => {
      if (!sessionStorage.getItem('refuses')) return open(...args);
      throw new DOMException('Access was denied.', 'SecurityError');
    };
  });
  await page.evaluate(() => sessionStorage.setItem('refuses', 'yes'));
  await demo.message.fill('half a thought');
  await page.reload();
  const alert = page.getByRole('alert');
  await expect(alert).toContainText('Your chats can’t be opened.');
  await expect(alert).toContainText('Access was denied.');
  await expect(page.getByText(/deleted/)).toHaveCount(0);
  await expect(demo.message).toHaveValue('half a thought');
  await expect(demo.button('Send')).toBeDisabled();
  expect(await faultsOf(page)).toEqual([]);

  // The list of chats goes on with it.
  await demo.button('Try again').click();
  await expect(demo.button('Trying…')).toHaveCount(0);
  await expect(alert).toBeVisible();
  await page.evaluate(() => sessionStorage.removeItem('refuses'));
  await demo.button('Try again').click();
  await expect(demo.assistant).toContainText('What is a graph?');
  await expect(demo.chats.getByRole('link', { name: 'What is a graph?' })).toBeVisible();
  await expect(demo.message).toHaveValue('half a thought');

  await page.evaluate(() => sessionStorage.setItem('refuses', 'yes'));
  await page.reload();
  await demo.button('Go on in memory').click();
  await expect(page.getByRole('note')).toContainText('Kept in memory only');
  await expect(demo.message).toHaveValue('half a thought');
  await demo.message.press('Enter');
  await expect(demo.saveState).toHaveText('In memory only');
  await expect(demo.assistant).toContainText('half a thought');

  await page.evaluate(() => sessionStorage.removeItem('refuses'));
  await page.reload();
  await demo.chats.getByRole('link', { name: 'What is a graph?' }).click();
  await expect(demo.you).toHaveCount(1);
});

test('where no database was ever seen, an addressed chat is not called deleted', async ({ page }) => {
  await page.addInitScript(() => {
    IDBFactory.prototype.open = () => {
      throw new DOMException('Access was denied.', 'SecurityError');
    };
  });
  await page.goto('/?speed=0#/chat/somewhere');
  await expect(page.getByRole('heading', { name: 'This chat can’t be opened now' })).toBeVisible();
  await expect(page.getByText(/deleted/)).toHaveCount(0);
  await expect(page.getByRole('textbox', { name: 'Message' })).toHaveCount(0);
  // What is not chosen yet is not told as done.
  await expect(page.getByText('Kept in memory only')).toHaveCount(0);
  await page.getByRole('button', { name: 'Go on in memory' }).click();
  await expect(page.getByText('Kept in memory only')).toBeVisible();
  await expect(page.getByRole('textbox', { name: 'Message' })).toBeVisible();
});

test('a page whose data a newer version took says that it saves no more, and keeps the question', async ({
  page,
}) => {
  const demo = await Demo.open(page);
  await demo.ask('What is a graph?');
  await demo.updateElsewhere();
  await demo.send('And a tree?');
  await expect(demo.assistant).toHaveCount(2);
  const alert = page.getByRole('alert').filter({ hasText: 'Not saved' });
  await expect(alert).toContainText('newer version');
  await expect(alert.getByRole('button', { name: 'Reload' })).toBeVisible();
  await expect(demo.saveState).not.toContainText(/^Saved$/);
  page.on('dialog', (dialog) => dialog.accept());
  await page.reload();
  await expect(demo.message).toHaveValue('And a tree?');
});

test('a turn for which there is no room is kept, told as quota-exceeded, and saved when there is room again', async () => {
  const profile = await Profile.create();
  try {
    const page = await pageWithLittleRoom(profile);
    const told = await page.evaluate(fillUp);
    expect(told.full).toMatchObject({ state: 'error', code: 'quota-exceeded', isShown: true });
    expect(told.bytes).toBeGreaterThan(4_000_000);
    expect(told.bytes).toBeLessThan(9_000_000);
    expect(told.after).toEqual({ state: 'saved', isShown: true });
    await page.reload();
    await page.waitForFunction(() => 'contextree' in globalThis);
    const kept = await page.evaluate(async () => {
      const store = new contextree.IndexedDBContextStore('full');
      return (await store.getMessages('mine')).map(({ id }) => id).slice(0, 2);
    });
    expect(kept).toEqual(['before', 'last']);
  } finally {
    await profile.remove();
  }
});

test('a chat can be deleted where there is not even room to note that', async () => {
  expect(await toldWhenFull('deleteChat')).toEqual({ ...roomless, isNoted: true });
});

test('all data can be cleared where there is not even room to note that', async () => {
  expect(await toldWhenFull('clear')).toEqual({ ...roomless, isNoted: false });
});

const roomless = { refused: 'quota-exceeded', before: 1, after: 0, next: ['q1'] };

async function toldWhenFull(how: 'deleteChat' | 'clear'): Promise<object> {
  const profile = await Profile.create();
  try {
    return await (await pageWithLittleRoom(profile)).evaluate(talkUntilFull, how);
  } finally {
    await profile.remove();
  }
}

/** A page of a site that may use eight megabytes. */
async function pageWithLittleRoom(profile: Profile): Promise<Page> {
  await profile.start();
  const page = await profile.context.newPage();
  const session = await profile.context.newCDPSession(page);
  // Chromium looks at what a site may use when it first stores something, so it is told before.
  await session.send('Storage.overrideQuotaForOrigin', { origin: profile.origin, quotaSize: 8_000_000 });
  await page.goto(profile.origin);
  await page.waitForFunction(() => 'contextree' in globalThis);
  return page;
}

/** Talks until nothing more is taken, in the end in turns of a kilobyte; deletes that, and begins anew. */
async function talkUntilFull(how: 'deleteChat' | 'clear') {
  const store = new contextree.IndexedDBContextStore('full');
  const engine = new contextree.ContextEngine({ store, chatId: 'old', userId: 'me' });
  const say = (bytes: number): Promise<boolean> => {
    const words = btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(bytes))));
    return engine
      .set(contextree.user(words))
      .save()
      .then(
        () => true,
        () => false,
      );
  };
  for (const bytes of [60_000, 10_000, 750]) while (await say(bytes));
  engine.dispose();
  const refused = await store.set('a', 1).catch((error: unknown) => (error as { code?: string }).code);
  const before = (await store.listChats()).length;
  await store[how]('old');
  const after = (await store.listChats()).length;
  const isNoted = (await store.load('old')).deleted.length > 0;
  const anew = new contextree.ContextEngine({ store, chatId: 'new', userId: 'me' });
  await anew.set(contextree.user('next', { id: 'q1' })).save();
  return { refused, before, after, isNoted, next: (await store.getMessages('new')).map(({ id }) => id) };
}

/** Writes what can't be compressed until there is no more room, says something then, and makes room again. */
async function fillUp() {
  const store = new contextree.IndexedDBContextStore('full');
  const engine = new contextree.ContextEngine({ store, chatId: 'mine', userId: 'me' });
  await engine.set(contextree.user('first words', { id: 'before' })).save();
  const noise = (): string =>
    Array.from({ length: 8 }, () =>
      btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(30_000)))),
    ).join('');
  const filler = new contextree.ContextEngine({ store, chatId: 'filler', userId: 'me' });
  let bytes = 0;
  for (let isFull = false; !isFull && bytes < 50_000_000; bytes += 320_000)
    isFull = await filler
      .set(contextree.user(noise()))
      .save()
      .then(
        () => false,
        () => true,
      );
  filler.dispose();

  const isShown = () => engine.state.getState().messages.some(({ id }) => id === 'last');
  const parts = [{ type: 'text' as const, text: noise() }];
  await engine.ask({ id: 'last', role: 'user', parts });
  const { state, error } = engine.state.getState().saveState;
  const full = { state, code: error?.code, isShown: isShown() };

  await store.deleteChat('filler');
  const begun = performance.now();
  while (engine.state.getState().saveState.state !== 'saved' && performance.now() - begun < 10_000)
    await new Promise((resolve) => setTimeout(resolve, 50));
  return { bytes, full, after: { state: engine.state.getState().saveState.state, isShown: isShown() } };
}
