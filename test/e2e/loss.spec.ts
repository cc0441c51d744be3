import { expect, type Page, test } from '@playwright/test';
import type * as Contextree from '../../src/core.ts';
import { Demo, faultsOf } from './demo.ts';
import { Profile } from './profile.ts';

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

test('chats that the browser lost are told of, and brought back', async ({ page }) => {
  const demo = await Demo.open(page);
  await demo.ask('What is a graph?');
  const answer = await demo.assistant.textContent();
  // The second copy is written behind the save, and the note beside the database a second later, on a busy
  // machine up to ten.
  await expect
    .poll(() => page.evaluate(() => localStorage.getItem('contextree:contextree:mark')))
    .toMatch(/"messages":2/);
  await wipe(demo);
  await page.reload();
  const notice = page.getByRole('alert').filter({ hasText: 'This browser lost 1 chat with 2 messages' });
  await expect(notice).toContainText('last saved');
  await expect(demo.chats.getByRole('link')).toHaveCount(0);
  expect(await faultsOf(page)).toEqual([]);
  await notice.getByRole('button', { name: 'Bring back' }).click();
  await expect(page.getByText('1 chat with 2 messages came back.')).toBeVisible();
  await expect(notice).toHaveCount(0);
  await expect(demo.you).toContainText('What is a graph?');
  await expect(demo.assistant).toHaveText(answer ?? '');
  await expect(demo.chats.getByRole('link')).toHaveCount(1);
  await demo.ask('And a tree?');
});

test('a page whose data a newer version took says that it saves no more, and keeps the question', async ({
  page,
}) => {
  const demo = await Demo.open(page);
  await demo.ask('What is a graph?');
  await page.evaluate(async () => {
    const [database] = await indexedDB.databases();
    await new Promise((resolve, reject) => {
      const request = indexedDB.open(String(database?.name), Number(database?.version) + 1);
      request.onsuccess = () => resolve(request.result.close());
      request.onerror = () => reject(request.error);
    });
  });
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
  const isNoted = (await store.load('old')).chat?.deletedAt !== undefined;
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
  await engine.continue({ id: 'last', role: 'user', parts });
  const { state, error } = engine.state.getState().saveState;
  const full = { state, code: error?.code, isShown: isShown() };

  await store.deleteChat('filler');
  const begun = performance.now();
  while (engine.state.getState().saveState.state !== 'saved' && performance.now() - begun < 10_000)
    await new Promise((resolve) => setTimeout(resolve, 50));
  return { bytes, full, after: { state: engine.state.getState().saveState.state, isShown: isShown() } };
}
