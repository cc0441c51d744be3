import { expect, test, type Locator, type Page } from '@playwright/test';
import { KEY } from './provider.ts';

// Each guide as it was built from the packed package, driven as a person would.

const addresses = JSON.parse(process.env['GUIDES'] ?? '{}') as Readonly<Record<string, string>>;

/** A guide that is open. */
class Guide {
  readonly page: Page;
  constructor(page: Page) {
    this.page = page;
  }
  static async open(page: Page, name: string): Promise<Guide> {
    await page.goto(addresses[name] ?? '');
    return new Guide(page);
  }
  get you(): Locator {
    return this.page.getByRole('article', { name: 'You' });
  }
  get assistant(): Locator {
    return this.page.getByRole('article', { name: 'Assistant' });
  }
  button(name: string): Locator {
    return this.page.getByRole('button', { name, exact: true });
  }
  async ask(question: string): Promise<void> {
    await this.page.getByRole('textbox', { name: 'Message' }).fill(question);
    await this.page.keyboard.press('Enter');
  }
  /** What every guide must do: answer with the prompt, make versions, keep all of it across a reload. */
  async talks(prompt: string): Promise<void> {
    await this.ask('What is a graph?');
    await expect(this.assistant).toContainText(prompt);
    await expect(this.assistant).toContainText('What is a graph? This is answer');
    await expect(this.assistant).toContainText('a few more words.');
    await this.assistant.getByRole('button', { name: 'Try again' }).click();
    await expect(this.assistant.getByText('2 / 2')).toBeVisible();
    await expect(this.assistant).toContainText('a few more words.');
    const second = await this.assistant.locator('p').allTextContents();
    await this.button('Previous version').click();
    await expect(this.assistant.getByText('1 / 2')).toBeVisible();
    await this.button('Next version').click();
    await expect(this.assistant.getByText('2 / 2')).toBeVisible();
    await this.page.reload();
    await expect(this.assistant.locator('p')).toHaveText(second);
    await expect(this.assistant.getByText('2 / 2')).toBeVisible();
  }
}

/** Lets a page open without the chunks that its HTML does not name: the engine is not ready until they are released. */
async function holdChunks(page: Page): Promise<() => void> {
  const html = await (await page.request.get(page.url())).text();
  let release = (): void => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  await page.route('**/assets/*.js', async (route) => {
    if (!html.includes(new URL(route.request().url()).pathname)) await released;
    await route.continue();
  });
  return release;
}

test('nextjs-route-handler', async ({ page }) => {
  const guide = await Guide.open(page, 'nextjs-route-handler');
  await guide.talks('You are a concise tutor.');
  await guide.ask('Say it slow');
  await expect(guide.assistant).toHaveCount(2);
  await expect(guide.assistant.last()).toContainText('You asked');
  await guide.button('Stop').click();
  await page.reload();
  await expect(guide.assistant.last()).toContainText('You asked');
  await expect(guide.assistant.last()).not.toContainText('a few more words.');
});

test('vite-openai-compatible', async ({ page }) => {
  const guide = await Guide.open(page, 'vite-openai-compatible');
  await guide.ask('Hello?');
  await expect(page.getByRole('alert')).toContainText('Incorrect API key');
  await page.getByLabel('API key').fill(KEY);
  await page.evaluate(() => indexedDB.deleteDatabase('contextree'));
  await page.reload();
  await page.getByLabel('API key').fill(KEY);
  await expect(guide.you).toHaveCount(0);
  await guide.talks('You are a concise tutor.');
});

test('ollama', async ({ page }) => {
  const guide = await Guide.open(page, 'ollama');
  await expect(page.getByRole('option', { name: 'tiny:1b' })).toBeAttached();
  await guide.talks('on the machine of the person who asks');
  await guide.ask('Say it slow');
  // The answer before it says so, too.
  await expect(guide.assistant).toHaveCount(2);
  await expect(guide.assistant.last()).toContainText('You asked');
  await guide.button('Stop').click();
  await page.reload();
  await expect(guide.assistant.last()).not.toContainText('a few more words.');
  await guide.button('Continue').click();
  await expect(guide.assistant.last()).toContainText('a few more words.');
  await expect(guide.assistant).toHaveCount(2);
  await expect(guide.button('Continue')).toHaveCount(0);
});

test('ollama that is not running is said in words', async ({ page }) => {
  await page.route('**/api/tags', (route) => route.abort());
  await Guide.open(page, 'ollama');
  await expect(page.getByRole('alert')).toContainText(/Ollama does not answer at .*OLLAMA_ORIGINS=/);
});

/** Puts a stand-in where the Prompt API would be. It repeats what it is given, word by word. */
async function bringModel(page: Page, state: 'available' | 'downloadable'): Promise<void> {
  await page.addInitScript((given) => {
    interface Turn {
      readonly role: string;
      readonly content: string;
    }
    interface Options {
      readonly initialPrompts: readonly Turn[];
      readonly monitor?: (target: EventTarget) => void;
    }
    let state: string = given;
    let asked = 0;
    const create = ({ initialPrompts, monitor }: Options): Promise<object> => {
      const download = new EventTarget();
      monitor?.(download);
      download.dispatchEvent(new ProgressEvent('downloadprogress', { loaded: 1 }));
      state = 'available';
      const system = initialPrompts
        .find(({ role }) => role === 'system')
        ?.content.replaceAll(/<[^>]*>/g, ' ');
      const promptStreaming = (question: string): ReadableStream<string> => {
        asked += 1;
        const text = `I was told:${system} You asked: ${question} This is answer ${asked}, for a few more words.`;
        const words = text.match(/\s*\S+/g) ?? [];
        return new ReadableStream({
          pull(controller) {
            const word = words.shift();
            if (word === undefined) controller.close();
            else controller.enqueue(word);
          },
        });
      };
      return Promise.resolve({ promptStreaming, destroy: () => {} });
    };
    Object.assign(globalThis, { LanguageModel: { availability: () => Promise.resolve(state), create } });
  }, state);
}

test('browser-model, where there is one', async ({ page }) => {
  await bringModel(page, 'available');
  const guide = await Guide.open(page, 'browser-model');
  await expect(page.getByRole('status').first()).toHaveText('The model of this browser answers.');
  await guide.talks('inside a web page');
});

test('browser-model, where there is one to be downloaded, and where there is none', async ({ page }) => {
  const guide = await Guide.open(page, 'browser-model');
  await expect(page.getByRole('status').first()).toContainText('another one answers');
  await guide.ask('Who are you?');
  await expect(guide.assistant).toContainText('a few more words.');
  await bringModel(page, 'downloadable');
  await page.reload();
  await guide.button('Download the model of this browser').click();
  await expect(page.getByRole('status').first()).toHaveText('The model of this browser answers.');
  await guide.ask('And you?');
  await expect(guide.assistant).toHaveCount(2);
  await expect(guide.assistant.last()).toContainText('And you? This is answer 1, for a few more words.');
});

test('tool-approval', async ({ page }) => {
  const guide = await Guide.open(page, 'tool-approval');
  await guide.ask('Send a mail to Ada');
  await expect(page.getByRole('group', { name: 'May sendMail be used?' })).toContainText('Hello Ada');
  await page.reload();
  await guide.button('Approve').click();
  await expect(guide.assistant).toContainText('sendMail: output-available');
  await expect(guide.assistant).toContainText('The tool said {"sent":true,"inOutbox":1}.');
  await guide.ask('One more mail');
  await expect(guide.assistant).toHaveCount(2);
  await guide.button('Deny').click();
  await expect(guide.assistant.last()).toContainText('sendMail: output-denied');
  await expect(guide.assistant.last()).toContainText('The tool said');
  await page.reload();
  await expect(guide.assistant.first()).toContainText('sendMail: output-available');
  await expect(guide.button('Approve')).toHaveCount(0);
});

test('checkpoints', async ({ page }) => {
  const guide = await Guide.open(page, 'checkpoints');
  await guide.ask('A poem about moss');
  await expect(guide.assistant).toContainText('a few more words.');
  await guide.button('Rewrite everything').click();
  await expect(guide.assistant).toHaveCount(2);
  await expect(guide.assistant.last()).toContainText('a few more words.');
  await page.reload();
  await guide.button('Back to before rewrite 1').click();
  await expect(guide.you).toHaveCount(1);
  await guide.ask('Only the last line, please');
  await expect(guide.you).toHaveText([/A poem about moss/, /Only the last line/]);
  await expect(guide.you.last().getByText('2 / 2')).toBeVisible();
  await guide.button('Forget before rewrite 1').click();
  await expect(page.getByRole('list', { name: 'Checkpoints' }).getByRole('listitem')).toHaveCount(0);
});

test('checkpoints: one is forgotten, and the next leaves the other where it is', async ({ page }) => {
  const guide = await Guide.open(page, 'checkpoints');
  const ways = page.getByRole('button', { name: /^Back to/ });
  const rewrite = async (count: number): Promise<void> => {
    await guide.button('Rewrite everything').click();
    await expect(guide.assistant).toHaveCount(count);
    await expect(guide.assistant.last()).toContainText('a few more words.');
  };
  await guide.ask('A poem about moss');
  await expect(guide.assistant).toContainText('a few more words.');
  await rewrite(2);
  await rewrite(3);
  await guide.button('Forget before rewrite 1').click();
  await expect(ways).toHaveText(['Back to before rewrite 2']);
  await rewrite(4);
  await expect(ways).toHaveText(['Back to before rewrite 3', 'Back to before rewrite 2']);
  await guide.button('Back to before rewrite 2').click();
  await expect(guide.assistant).toHaveCount(2);
  await guide.button('Back to before rewrite 3').click();
  await expect(guide.assistant).toHaveCount(3);
});

test('ab-prompts', async ({ page }) => {
  const guide = await Guide.open(page, 'ab-prompts');
  const columns = ['formal', 'friendly'].map((name) => page.getByRole('region', { name }));
  const [formal, friendly] = columns as [Locator, Locator];
  await guide.ask('How are you?');
  await expect(formal.getByRole('article', { name: 'Assistant' })).toContainText('You are formal.');
  await expect(friendly.getByRole('article', { name: 'Assistant' })).toContainText('You are a friend.');
  for (const column of columns) await expect(column).toContainText('a few more words.');
  await guide.ask('And now?');
  for (const column of columns) {
    await expect(column.getByRole('article', { name: 'You' })).toHaveText(['How are you?', 'And now?']);
    await expect(column.getByRole('article', { name: 'Assistant' }).last()).toContainText(
      /And now\?.*a few more words\./,
    );
  }
  await page.reload();
  for (const column of columns) await expect(column.getByRole('article')).toHaveCount(4);
  await guide.button('Go on with friendly only').click();
  await expect(formal).toHaveCount(0);
  await expect(friendly.getByRole('article')).toHaveCount(4);
});

test('ab-prompts: what is asked before the branches are read is asked on them', async ({ page }) => {
  const guide = await Guide.open(page, 'ab-prompts');
  const columns = page.getByRole('region');
  const answers = page.getByRole('article', { name: 'Assistant' });
  await guide.ask('How are you?');
  await expect(answers).toHaveText([/a few more words\./, /a few more words\./]);
  const release = await holdChunks(page);
  await page.reload({ waitUntil: 'commit' });
  await guide.ask('And at once?');
  await expect(columns).toHaveCount(0);
  release();
  await expect(answers).toHaveCount(4);
  await expect(columns).toHaveText([
    /^formal.*You are formal\..*And at once\?.*You are formal\..*a few more words\./s,
    /^friendly.*You are a friend\..*And at once\?.*You are a friend\..*a few more words\./s,
  ]);
});

test('assistant-ui', async ({ page }) => {
  const guide = await Guide.open(page, 'assistant-ui');
  await guide.talks('You are a concise tutor.');
  await guide.button('Edit').click();
  await page.getByRole('textbox', { name: 'Edited text' }).fill('What is a tree?');
  await guide.button('Send edit').click();
  await expect(guide.assistant).toContainText('What is a tree? This is answer');
  await expect(guide.assistant).toContainText('a few more words.');
  await expect(guide.you.getByText('2 / 2')).toBeVisible();
  await guide.ask('Say it slow');
  await expect(guide.assistant.last()).toContainText('You asked');
  await guide.button('Stop').click();
  await page.reload();
  await expect(guide.assistant.last()).toContainText('You asked');
  await expect(guide.assistant.last()).not.toContainText('a few more words.');
  await guide.you.first().getByRole('button', { name: 'Previous version' }).click();
  await expect(guide.you).toHaveText([/What is a graph\?/]);
  await expect(guide.assistant.getByText('2 / 2')).toBeVisible();
});
