import { readdirSync } from 'node:fs';
import { expect, type Locator, type Page } from '@playwright/test';
import axe from 'axe-core';

/**
 * Waits until something can be seen. `expect` would, for its message, describe the page as a whole each time that it
 * looks too early: in a long conversation that takes longer than the turn that is waited for.
 */
const shows = (locator: Locator, timeout = 15_000): Promise<void> => locator.waitFor({ timeout });

/**
 * What axe finds wrong with a page, of which it is a part from the first time on: it takes longer to come than to look.
 * It looks once what fades in is there: half-way, all that appears is too pale to read.
 */
export async function faultsOf(page: Page, rules?: string[]): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe.source);
  return page.evaluate(async (rules) => {
    const ends = document
      .getAnimations()
      .filter(({ effect }) => effect?.getComputedTiming().endTime !== Infinity);
    await Promise.allSettled(ends.map(({ finished }) => finished));
    const { violations } = await axe.run({ resultTypes: ['violations'], ...(rules && { runOnly: rules }) });
    return violations.map(
      ({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`,
    );
  }, rules);
}

/** The same in the light, and what colours can do wrong in the dark: all else is as it was. */
export async function faultsByDayAndNight(page: Page): Promise<string[]> {
  await page.emulateMedia({ colorScheme: 'dark' });
  const byNight = await faultsOf(page, ['color-contrast', 'link-in-text-block']);
  await page.emulateMedia({ colorScheme: 'light' });
  return [...(await faultsOf(page)), ...byNight];
}

/**
 * In a page: how many presses of Tab lead from the focus to an element, of Shift+Tab where less than none; 0 where it is. What
 * has a shadow root is one stop, so whoever goes there looks again.
 */
export function stopsTo(element: Element): number {
  const root = element.getRootNode() as Document | ShadowRoot;
  const here = root.activeElement ?? document.body;
  if (here === element) return 0;
  const isAfter = (one: Element, other: Element): boolean =>
    (other.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0;
  const isBack = here !== document.body && isAfter(here, element);
  const [from, to] = isBack ? [element, here] : [here, element];
  const stops = [...(here.closest('dialog') ?? root).querySelectorAll<HTMLElement>('*')].filter(
    (stop) => stop.tabIndex >= 0 && isAfter(stop, from) && isAfter(to, stop),
  );
  const seen = stops.filter(
    (stop) => !stop.matches(':disabled') && stop.checkVisibility({ visibilityProperty: true }),
  );
  return (seen.length + 1) * (isBack ? -1 : 1);
}

/**
 * The demo as a person meets it: everything is found by role and name, nothing by class or test id. What is looked for
 * after each turn is looked for in its region of the page: a query by role weighs every element that there is, and a
 * long conversation has thousands.
 */
export class Demo {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  /** Opens the demo; answers come at once unless `pace` asks for the real one, or for a part of its speed. */
  static async open(
    page: Page,
    { pace = false, at = '' }: { pace?: boolean | number; at?: string } = {},
  ): Promise<Demo> {
    await page.goto(`/?empty${pace === true ? '' : `&speed=${Number(pace)}`}${at}`);
    const demo = new Demo(page);
    await shows(demo.message);
    return demo;
  }

  get message(): Locator {
    return this.composer.getByRole('textbox', { name: 'Message', exact: true });
  }
  /** Where one writes. */
  get composer(): Locator {
    return this.page.locator('main > section > form');
  }
  get chats(): Locator {
    return this.page.getByRole('navigation', { name: 'Chats' });
  }
  get you(): Locator {
    return this.page.getByRole('article', { name: 'You' });
  }
  get assistant(): Locator {
    return this.page.getByRole('article', { name: 'Assistant' });
  }
  get saveState(): Locator {
    return this.page.locator('main > header').getByRole('status', { name: 'Save state' });
  }
  /** The button that says which branch is shown: by its label, and described by its raw name. */
  get branch(): Locator {
    return this.page.locator('main > header').getByRole('button', { name: /^Branch: / });
  }
  /** The rows of the open list of branches. */
  get branchRows(): Locator {
    const list = this.page.getByRole('list', { name: 'All branches' });
    return list.getByRole('button', { name: /, \d+ messages?$/ });
  }

  button(name: string | RegExp): Locator {
    return this.page.getByRole('button', { name, exact: typeof name === 'string' });
  }

  /** A button of one message: `demo.on(demo.assistant.last(), 'Try again')`. */
  on(article: Locator, name: string): Locator {
    return article.getByRole('button', { name, exact: true });
  }

  /** Presses an action of a chat in the list, which stands behind one button: `chatAction('Delete', 'Hello')`. */
  async chatAction(action: 'Rename' | 'Delete', title: string): Promise<void> {
    await this.button(`Chat actions: ${title}`).press('Enter');
    await this.button(`${action} chat: ${title}`).press('Enter');
  }

  /** Shows another branch, by the beginning of its label. */
  async showBranch(label: string): Promise<void> {
    await this.branch.click();
    await this.branchRows.filter({ hasText: label }).first().click();
  }

  /** Opens the list of checkpoints. */
  async openCheckpoints(): Promise<void> {
    await this.button('Checkpoints').click();
    await shows(this.page.getByRole('dialog', { name: 'Checkpoints' }));
  }

  versions(name: string): Locator {
    return this.page.getByRole('group', { name, exact: true });
  }

  /** Sends a question, and waits until its answer has ended. */
  async ask(question: string): Promise<void> {
    await this.send(question);
    await this.settled();
  }

  async send(question: string): Promise<void> {
    await this.message.fill(question);
    await this.message.press('Enter');
    const asked = this.page.locator('article[aria-label="You"]').filter({ hasText: question });
    await shows(asked.last());
  }

  /**
   * Waits until nothing streams and all is saved. What was just pressed may not have begun: it is looked at once more
   * when the page has nothing left to do.
   */
  async settled(): Promise<void> {
    const send = this.composer.getByRole('button', { name: 'Send', exact: true });
    for (let look = 0; look < 2; look++) {
      await shows(send, 20_000);
      await expect(this.saveState).toHaveText(/Saved/);
      if (look === 0) await this.idle();
    }
  }

  /** Asks for the last answer once more, and waits until it has ended. */
  async tryAgain(): Promise<void> {
    await this.on(this.assistant.last(), 'Try again').click();
    await this.settled();
  }

  /** Opens the model settings and names a model behind an address. Returns the dialog, which is to be saved. */
  async fillSettings({ baseUrl, key }: { readonly baseUrl: string; readonly key: string }): Promise<Locator> {
    await this.button('Model settings').click();
    const dialog = this.page.getByRole('dialog', { name: 'Model settings' });
    await dialog.getByRole('textbox', { name: 'Base URL', exact: true }).fill(baseUrl);
    await dialog.getByLabel('API key', { exact: true }).fill(key);
    await dialog.getByRole('textbox', { name: 'Model', exact: true }).fill('far');
    return dialog;
  }

  /** Clears all data, as the menu offers it. */
  async clearData(): Promise<void> {
    await this.button('Data').click();
    await this.page.getByRole('menuitem', { name: 'Clear all data' }).click();
    await this.page.getByRole('dialog').getByRole('button', { name: 'Clear all data' }).click();
  }

  /** Gives the database to a version of the app that is newer than this page. */
  async updateElsewhere(): Promise<void> {
    await this.page.evaluate(async () => {
      const [database] = await indexedDB.databases();
      await new Promise((resolve, reject) => {
        const request = indexedDB.open(String(database?.name), Number(database?.version) + 1);
        request.onsuccess = () => resolve(request.result.close());
        request.onerror = () => reject(request.error);
      });
    });
  }

  /** Everything that the browser keeps for this page, as text: storage, databases, caches and files. */
  async kept(): Promise<string> {
    return this.page.evaluate(async () => {
      const words = [localStorage, sessionStorage].map((storage) => JSON.stringify(Object.entries(storage)));
      const answerTo = <T>(request: IDBRequest<T>): Promise<T> =>
        new Promise((resolve, reject) => {
          request.onsuccess = () => resolve(request.result);
          request.onerror = () => reject(request.error);
        });
      for (const { name } of await indexedDB.databases()) {
        const db = await answerTo(indexedDB.open(String(name)));
        for (const store of db.objectStoreNames)
          words.push(JSON.stringify(await answerTo(db.transaction(store).objectStore(store).getAll())));
        db.close();
      }
      for (const name of await caches.keys()) {
        const cache = await caches.open(name);
        for (const request of await cache.keys())
          words.push(request.url, (await (await cache.match(request))?.text()) ?? '');
      }
      const look = async (folder: FileSystemDirectoryHandle): Promise<void> => {
        for await (const entry of folder.values()) {
          words.push(entry.name);
          if (entry.kind === 'file') words.push(await (await entry.getFile()).text());
          else await look(entry);
        }
      };
      await look(await navigator.storage.getDirectory());
      return words.join('\n');
    });
  }

  /** Opens the devtools by their key. They come when the page is idle, and hear it from then on. */
  async openDevtools(): Promise<void> {
    await this.button('Open contextree devtools').waitFor();
    await this.page.keyboard.press('Control+Shift+Period');
  }

  /** Waits until the page has had nothing to do twice. */
  async idle(): Promise<void> {
    await this.page.evaluate(
      () => new Promise<void>((done) => requestIdleCallback(() => requestIdleCallback(() => done()))),
    );
  }

  /**
   * Waits until the whole app is kept for a time without network: the page, its icon and first script, and all
   * that was built.
   */
  async keptForLater(): Promise<void> {
    const files = (): Promise<number> =>
      this.page.evaluate(async () => (await (await caches.open('contextree-demo-1')).keys()).length);
    await expect.poll(files).toBe(readdirSync('node_modules/.cache/demo/assets').length + 3);
  }

  /** Waits until some words of an answer show. */
  async streaming(words = 3): Promise<void> {
    await shows(this.button('Stop'));
    await expect
      .poll(async () => ((await this.assistant.last().textContent()) ?? '').split(/\s+/).length, {
        timeout: 15_000,
      })
      .toBeGreaterThan(words);
  }

  /** The words of the last answer, without its buttons. */
  async answer(): Promise<string> {
    const paragraphs = this.assistant.last().locator('p, li, td, h1, h2, h3, pre');
    return (await paragraphs.allTextContents()).join(' ').replaceAll(/\s+/g, ' ').trim();
  }
}
