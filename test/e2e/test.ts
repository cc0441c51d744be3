import {
  test as base,
  expect,
  type BrowserContext,
  type BrowserContextOptions,
  type CDPSession,
  type Page,
} from '@playwright/test';

/**
 * A browser whose pages run in one renderer, one test after the other.
 *
 * To start a renderer and to compile the scripts of the demo in it takes longer than all else that opening the demo takes.
 * What a page opens runs in its renderer, so one page of the site stays, and opens those of the tests. Each is new: no
 * script, route, size or history of a page before is in it. What pages have in common, storage and permissions, is cleared
 * between them.
 */
class Room {
  readonly context: BrowserContext;
  readonly #host: Page;
  readonly #session: CDPSession;

  private constructor(context: BrowserContext, host: Page, session: CDPSession) {
    this.context = context;
    this.#host = host;
    this.#session = session;
  }

  static async open(context: BrowserContext): Promise<Room> {
    const host = await context.newPage();
    await host.goto('/favicon.svg');
    return new Room(context, host, await context.newCDPSession(host));
  }

  async newPage(): Promise<Page> {
    const opened = this.#host.waitForEvent('popup');
    // It knows nothing of who opened it, as a page whose address was typed.
    await this.#host.evaluate(() => {
      const page = open('about:blank');
      if (page) page.opener = null;
    });
    return opened;
  }

  /** Closes the pages of a test, and takes away what they have kept. */
  async clear(): Promise<void> {
    for (const page of this.context.pages()) if (page !== this.#host) await page.close();
    await this.context.clearPermissions();
    const { origin } = new URL(this.#host.url());
    // What a page writes as it goes may come later than the news that it is gone.
    await expect(async () => {
      await this.#session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' });
      expect(await this.#host.evaluate(keptHere)).toEqual([]);
    }).toPass({ timeout: 15_000 });
  }
}

/** The names of all that this page's site keeps. */
async function keptHere(): Promise<string[]> {
  const { held = [] } = await navigator.locks.query();
  const names = [...Object.keys(localStorage), ...Object.keys(sessionStorage), ...(await caches.keys())];
  for (const { name = '' } of [...held, ...(await indexedDB.databases())]) names.push(name);
  for await (const name of (await navigator.storage.getDirectory()).keys()) names.push(name);
  return names;
}

interface Fixtures {
  /** What the test needs of a browser of its own, `{}` for nothing but that; null where a page in the shared one will do. */
  readonly own: BrowserContextOptions | null;
  /** Opens one more page of the same browser. */
  readonly newTab: () => Promise<Page>;
}

export const test = base.extend<Fixtures, { readonly room: Room }>({
  own: [null, { option: true }],
  room: [
    async ({ browser }, run, { project }) => {
      const context = await browser.newContext(project.use.contextOptions);
      await run(await Room.open(context));
      await context.close();
    },
    { scope: 'worker' },
  ],
  context: async ({ browser, room, own, contextOptions }, run) => {
    const context = own ? await browser.newContext({ ...contextOptions, ...own }) : room.context;
    await run(context);
    await (own ? context.close() : room.clear());
  },
  newTab: async ({ room, context, own }, run) => run(() => (own ? context.newPage() : room.newPage())),
  page: async ({ newTab }, run) => run(await newTab()),
});
