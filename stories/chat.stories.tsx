import type { Meta, StoryObj } from '@storybook/react-vite';
import { assistant, IndexedDBContextStore, user, type ContextEngine } from 'contextree';
import { expect, spyOn, userEvent, waitFor, within } from 'storybook/test';
import { pausesAfter } from './support/answers.ts';
import { ChatApp, chatScene, type ChatScene } from './support/chatScene.tsx';
import { clearData, fillDisk, refuseDatabases, thatIsSlow } from './support/disks.ts';
import { CHAT, say, tell } from './support/earlier.ts';
import { night } from './support/night.ts';

/** The chat app, whole, in every state that a person can meet. */
const meta: Meta = {
  title: 'Chat',
  render: (_args, { loaded }) => <ChatApp {...sceneIn(loaded)} />,
  beforeEach: ({ loaded }) => sceneIn(loaded).leave,
};

export default meta;

type Story = StoryObj;
type Canvas = ReturnType<typeof within>;

function sceneIn(loaded: Record<string, unknown>): ChatScene {
  return loaded['scene'] as ChatScene;
}

async function send(canvas: Canvas, text: string): Promise<HTMLElement> {
  const textbox = await canvas.findByRole('textbox', { name: 'Message' });
  textbox.focus();
  await userEvent.paste(text);
  await userEvent.keyboard('{Enter}');
  return textbox;
}

function saveState(canvas: Canvas): HTMLElement {
  return canvas.getByRole('status', { name: 'Save state' });
}

/** The newest article of that name, when there is one. */
async function latest(canvas: Canvas, name: 'You' | 'Assistant'): Promise<HTMLElement> {
  const articles = await canvas.findAllByRole('article', { name });
  return articles.at(-1) as HTMLElement;
}

const rivers = [
  'Why do rivers bend?',
  `A river never stays straight for long. Water runs **faster on the outside** of a curve, so it carries earth away
there, and slower on the inside, where it lays the earth down. A small bend becomes a large one:

1. something turns the current a little,
2. the outer bank is eaten, the inner bank grows,
3. the bend turns the current more.

In the end the loop is cut off and stays behind as an *oxbow lake*.`,
  'How fast does that happen?',
  `It depends on what the banks are made of:

| Bank | Metres a year |
| --- | --- |
| Sand | 5 to 30 |
| Clay | 0.5 to 3 |
| Rock | almost 0 |

The rule of thumb for the length of a bend is \`11 * width\`, on every scale:

\`\`\`ts
const bend = (width: number) => 11 * width;
\`\`\``,
] as const;

async function talkOfRivers(engine: ContextEngine): Promise<readonly string[]> {
  const ids = await say(engine, ...rivers);
  await engine.updateChat({ title: 'Why rivers bend' });
  return ids;
}

/** A first visit: nothing was ever said, and there is something to begin with. */
export const Empty: Story = {
  loaders: [async () => ({ scene: await chatScene() })],
  play: async ({ canvas }) => {
    const starters = await canvas.findByRole('list', { name: 'Starter prompts' });
    await expect(within(starters).getAllByRole('button')).toHaveLength(6);
    await expect(canvas.getByRole('textbox', { name: 'Message' })).toHaveValue('');
    await expect(canvas.getByRole('button', { name: 'Send' })).toBeDisabled();
    await expect(within(canvas.getByRole('navigation', { name: 'Chats' })).queryAllByRole('link')).toEqual(
      [],
    );
    await expect(canvas.queryByRole('article')).toBeNull();
  },
};

/** The first visit: a chat that is there already, and three first steps through it. */
export const FirstVisit: Story = {
  loaders: [async () => ({ scene: await chatScene({ isFirstVisit: true }) })],
  play: async ({ canvas }) => {
    await expect(await canvas.findAllByRole('article', { name: 'You' })).toHaveLength(3);
    const steps = within(await canvas.findByRole('region', { name: 'First steps' }));
    await expect(steps.getByRole('button', { name: 'Show me' })).toBeEnabled();
  },
};

/** A place beside the conversation, with what was asked there. */
export const SideQuestion: Story = {
  loaders: [async () => ({ scene: await chatScene({ before: talkOfRivers }) })],
  play: async ({ canvas }) => {
    await canvas.findAllByRole('article');
    await userEvent.click(canvas.getByRole('button', { name: 'By the way' }));
    const place = await canvas.findByRole('region', { name: 'Side question of Why do rivers bend?' });
    await send(canvas, 'And why is the sea salty?');
    await waitFor(() => expect(within(place).getByRole('button', { name: 'Bring over' })).toBeEnabled());
  },
};

/** A history that takes its time to be read. One can write meanwhile. */
export const Loading: Story = {
  loaders: [
    async () => {
      const store = new IndexedDBContextStore(`contextree-story-${crypto.randomUUID()}`);
      await tell(store, CHAT, talkOfRivers);
      return { scene: await chatScene({ store: thatIsSlow(store), chatId: CHAT }) };
    },
  ],
  play: async ({ canvas }) => {
    const skeleton = await canvas.findByRole('img', { name: 'Loading the conversation' });
    await expect(getComputedStyle(skeleton)).toMatchObject({
      animationDelay: '0.15s',
      animationFillMode: 'both',
    });
    await waitFor(() => expect(getComputedStyle(skeleton).opacity).toBe('1'));
    const link = await canvas.findByRole('link', { name: 'Why rivers bend' });
    await expect(link).toHaveAttribute('aria-current', 'page');
    await expect(canvas.getByRole('textbox', { name: 'Message' })).toBeEnabled();
    await expect(canvas.queryByRole('article')).toBeNull();
  },
};

/** What was said in earlier visits, and a place that was marked to return to. */
export const Conversation: Story = {
  loaders: [async () => ({ scene: await chatScene({ before: talkOfManyThings }) })],
  play: async ({ canvas }) => {
    await expect(await canvas.findAllByRole('article', { name: 'You' })).toHaveLength(2);
    const answer = await latest(canvas, 'Assistant');
    await expect(within(answer).getByRole('table')).toBeVisible();
    await expect(within(answer).getByRole('button', { name: 'Copy code' })).toBeVisible();
    await expect(canvas.getByRole('button', { name: 'Checkpoint The short answer' })).toBeVisible();
    const chats = within(canvas.getByRole('navigation', { name: 'Chats' }));
    await expect(chats.getAllByRole('link')).toHaveLength(3);
    await expect(chats.getByRole('link', { name: 'Untitled' })).toBeVisible();
    await waitFor(() => expect(saveState(canvas)).toHaveTextContent(/^Saved$/));
  },
};

async function talkOfManyThings(engine: ContextEngine): Promise<void> {
  const [, first = ''] = await talkOfRivers(engine);
  await engine.checkpoint('The short answer', { at: first });
  await tell(engine.store, 'cats', (other) => say(other, 'A name for a grey cat?', 'Pebble.'));
  await tell(engine.store, 'bread', async (other) => {
    await say(other, 'Why does bread rise?', 'Yeast breathes.');
    await other.updateChat({ title: 'Why bread rises' });
  });
}

/** Asked, and nothing said yet. */
export const Waiting: Story = {
  loaders: [async () => ({ scene: await chatScene({ transport: pausesAfter(0) }) })],
  play: async ({ canvas }) => {
    await send(canvas, 'Why do rivers bend?');
    const answer = await latest(canvas, 'Assistant');
    await expect(answer).toHaveAttribute('aria-busy', 'true');
    await expect(answer).toHaveTextContent(/^$/);
    await expect(canvas.getByRole('button', { name: 'Stop' })).toBeVisible();
  },
};

/** An answer grows. The textbox stays, and so does the focus. */
export const Streaming: Story = {
  loaders: [async () => ({ scene: await chatScene({ before: talkOfRivers, transport: pausesAfter(24) }) })],
  play: async ({ canvas }) => {
    const textbox = await send(canvas, 'And why is the sea salty?');
    await waitFor(async () => {
      const answer = await latest(canvas, 'Assistant');
      await expect(answer).toHaveAttribute('aria-busy', 'true');
      await expect(answer.textContent?.split(' ').length).toBeGreaterThan(20);
    });
    await expect(canvas.getByRole('button', { name: 'Stop' })).toBeVisible();
    await expect(canvas.queryByRole('button', { name: 'Send' })).toBeNull();
    await expect(textbox).toHaveFocus();
  },
};

/** The next question is sent before the answer is complete: it waits behind it, on the narrowest phone, too. */
export const NextQuestion: Story = {
  globals: { viewport: { value: 'phone', isRotated: false } },
  loaders: [async () => ({ scene: await chatScene({ transport: pausesAfter(24) }) })],
  play: async ({ canvas, canvasElement }) => {
    await send(canvas, 'Why do rivers bend?');
    await canvas.findByRole('button', { name: 'Stop' });
    await send(canvas, 'And why is the sea salty?');
    await expect(await canvas.findByRole('button', { name: 'Take back' })).toBeVisible();
    await expect(await latest(canvas, 'You')).toHaveTextContent('Waiting');
    await expect(document.documentElement.scrollWidth).toBe(320);
    await expect(tooSmall(canvasElement)).toEqual([]);
  },
};

/** The tab went away in the middle of an answer. What was said by then is here, and can go on. */
export const Interrupted: Story = {
  loaders: [async () => ({ scene: await chatScene({ before: leaveInMidAnswer }) })],
  play: async ({ canvas }) => {
    const answer = await latest(canvas, 'Assistant');
    await expect(answer).toHaveTextContent('Salt comes from');
    await expect(await within(answer).findByText('Interrupted')).toBeVisible();
    await expect(within(answer).getByRole('button', { name: 'Continue' })).toBeEnabled();
    await expect(within(answer).getByRole('button', { name: 'Try again' })).toBeEnabled();
    await expect(answer).not.toHaveAttribute('aria-busy');
  },
};

/** A tab that dies says no goodbye: its answer stands in the store as streaming, and nobody holds it any more. */
async function leaveInMidAnswer(engine: ContextEngine): Promise<void> {
  await say(engine, 'Why is the sea salty?', 'Rain washes it out of the rocks.', 'Where does it come from?');
  await engine.updateChat({ title: 'The salt of the sea' });
  spyOn(engine.store, 'hold').mockResolvedValue(() => {});
  const id = await engine.ask([], { parentId: engine.headMessageId ?? null });
  const text = 'Salt comes from two places: from rocks on land, which the rain dissolves, and from';
  await engine.updateMessage(id, { id, role: 'assistant', parts: [{ type: 'text', text }] });
}

/** The model refused before its first word. The question stays. */
export const Failed: Story = {
  loaders: [async () => ({ scene: await chatScene() })],
  play: async ({ canvas }) => {
    await send(canvas, '/fail 401');
    const alert = await canvas.findByRole('alert');
    const answer = alert.closest('article') as HTMLElement;
    await expect(answer).toHaveAccessibleName('Assistant');
    await expect(alert).toHaveTextContent('The model refused the API key (401)');
    await expect(within(answer).getByRole('button', { name: 'Try again' })).toBeEnabled();
    await expect(canvas.getByRole('article', { name: 'You' })).toHaveTextContent('/fail 401');
    await expect(canvas.getByRole('button', { name: 'Send' })).toBeVisible();
  },
};

/** The model failed in the middle of a sentence. What it had said stays. */
export const FailedMidway: Story = {
  loaders: [async () => ({ scene: await chatScene() })],
  play: async ({ canvas }) => {
    await send(canvas, '/fail after 12');
    const alert = await canvas.findByRole('alert');
    const answer = alert.closest('article') as HTMLElement;
    await expect(answer).toHaveAccessibleName('Assistant');
    await expect(await within(answer).findByText('Interrupted')).toBeVisible();
    await expect(answer.textContent?.split(' ').length).toBeGreaterThan(12);
    await expect(within(answer).getByRole('button', { name: 'Try again' })).toBeEnabled();
  },
};

/** The disk is full. The answer came all the same, and the app says what it could not keep. */
export const NotSaved: Story = {
  loaders: [async () => ({ scene: await chatScene({ before: talkOfRivers }) })],
  beforeEach: () => fillDisk(),
  play: async ({ canvas }) => {
    await send(canvas, 'And why is the sea salty?');
    const alert = await within(saveState(canvas)).findByRole('alert');
    await expect(alert).toHaveTextContent('Not saved');
    await expect(alert).toHaveTextContent('The disk is full');
    await expect(within(alert).getByRole('button', { name: 'Retry' })).toBeEnabled();
    await waitFor(() => expect(canvas.getAllByRole('article')).toHaveLength(6));
    await waitFor(async () => expect(await latest(canvas, 'Assistant')).toHaveTextContent('salty'));
  },
};

/** The browser refuses to keep anything. One can talk, and is told what that means. */
export const MemoryOnly: Story = {
  loaders: [async () => ({ scene: await chatScene() })],
  beforeEach: () => refuseDatabases(),
  play: async ({ canvas }) => {
    await expect(await canvas.findByRole('note')).toHaveTextContent('Kept in memory only');
    await send(canvas, 'Why is the sea salty?');
    await waitFor(() => expect(saveState(canvas)).toHaveTextContent('In memory only'));
    await expect(await canvas.findAllByRole('article')).toHaveLength(2);
    await expect(canvas.queryByText('Not saved')).toBeNull();
  },
};

/** The browser cleared the data of a chat that is open. The app says so, and saves it again. */
export const Lost: Story = {
  loaders: [
    async () => {
      const name = `contextree-story-${crypto.randomUUID()}`;
      const store = new IndexedDBContextStore(name);
      return { name, scene: await chatScene({ store, before: talkOfRivers }) };
    },
  ],
  play: async ({ canvas, loaded }) => {
    await canvas.findAllByRole('article');
    await clearData(String(loaded['name']));
    const alert = await canvas.findByRole('alert', {}, { timeout: 10_000 });
    await expect(alert).toHaveTextContent(/^This browser cleared what was saved. 4 messages of this chat/);
    await expect(saveState(canvas)).toHaveTextContent('Not saved');
    await userEvent.click(within(alert).getByRole('button', { name: 'Try again' }));
    await waitFor(() => expect(canvas.queryByRole('alert')).toBeNull());
    await expect(canvas.getAllByRole('article')).toHaveLength(4);
    await waitFor(() => expect(saveState(canvas)).toHaveTextContent(/^Saved$/));
  },
};

/** Two versions of one answer side by side, what differs marked in both. */
export const Compared: Story = {
  loaders: [async () => ({ scene: await chatScene({ before: nameACat }) })],
  play: async ({ canvas }) => {
    await showsVersion(canvas, 2, 'Ash');
    await userEvent.click(canvas.getByRole('button', { name: 'Compare versions' }));
    const dialog = within(await canvas.findByRole('dialog', { name: 'Compare versions' }));
    await waitFor(() => expect(dialog.getAllByText('Keep this one')).toHaveLength(2));
    await waitFor(() => expect(dialog.getByRole('region', { name: 'Version 2' })).toHaveTextContent('Ash'));
  },
};

/** A question as long as a page: its beginning, and the rest on demand. */
export const LongQuestion: Story = {
  loaders: [
    async () => ({
      scene: await chatScene({
        before: (engine) => say(engine, 'A river bends once more. '.repeat(400), 'That is a long river.'),
      }),
    }),
  ],
  play: async ({ canvas }) => {
    const more = await canvas.findByRole('button', { name: /^Show more/ });
    await expect(more).toHaveAttribute('aria-expanded', 'false');
    await expect(canvas.getByRole('article', { name: 'You' }).textContent?.length).toBeLessThan(1000);
  },
};

/** The list of chats, searched: where the words are stands below the title. */
export const FoundChat: Story = {
  loaders: [async () => ({ scene: await chatScene({ before: talkOfRivers }) })],
  play: async ({ canvas }) => {
    await userEvent.type(await canvas.findByRole('searchbox', { name: 'Search chats' }), 'oxbow');
    const found = await canvas.findByRole('list', { name: 'Chats found' });
    await waitFor(() => expect(within(found).getByRole('link')).toHaveTextContent(/Why rivers bend.*oxbow/));
  },
};

/** Three versions of one answer, the second of them on show, and the branches in their list. */
export const Versions: Story = {
  loaders: [async () => ({ scene: await chatScene({ before: nameACat }) })],
  play: async ({ canvas }) => {
    await showsVersion(canvas, 2, 'Ash');
    await userEvent.click(canvas.getByRole('button', { name: /^Branch: / }));
    const rows = within(await canvas.findByRole('list', { name: 'All branches' }));
    await expect(rows.getAllByRole('listitem')).toHaveLength(3);
  },
};

async function nameACat(engine: ContextEngine): Promise<void> {
  const [, first = ''] = await say(engine, 'A name for a grey cat?', 'Pebble. Short, round, and grey.');
  const second = await engine.edit(first, 'Ash: what is left of a fire, and as soft.');
  await engine.edit(second, 'Professor Fog. He will arrive late, and in silence.');
  // The versions have one id; the first edit is the second of three.
  await engine.selectSibling(engine.siblings(second).keys[1] ?? second);
  await engine.updateChat({ title: 'A name for a cat' });
}

async function showsVersion(canvas: Canvas, version: number, words: string): Promise<void> {
  const group = await canvas.findByRole('group', { name: `Version ${version} of 3` });
  await expect(group.closest('article')).toHaveTextContent(words);
}

/** Two files wait beside the box; a third one went with an earlier question. */
export const Attachments: Story = {
  loaders: [async () => ({ scene: await chatScene({ before: showALeaf }) })],
  play: async ({ canvas, canvasElement }) => {
    const earlier = await latest(canvas, 'You');
    await expect(within(earlier).getByRole('img', { name: 'leaf.svg' })).toBeVisible();
    const input = canvasElement.querySelector<HTMLInputElement>('form input[type=file]');
    if (input) await userEvent.upload(input, [leaf, new File(['Water the moss.'], 'notes on moss.txt')]);
    const waiting = await canvas.findByRole('list', { name: 'Attached files' });
    await expect(within(waiting).getAllByRole('button')).toHaveLength(2);
    await expect(canvas.getByRole('button', { name: 'Send' })).toBeEnabled();
  },
};

const drawing =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 60 40"><path d="M5 35Q10 5 55 5Q50 35 5 35L35 18" fill="#8fbf7f" stroke="#2b6653"/></svg>';
const leaf = new File([drawing], 'leaf.svg', { type: 'image/svg+xml' });

async function showALeaf(engine: ContextEngine): Promise<void> {
  const url = `data:image/svg+xml;base64,${btoa(drawing)}`;
  const file = { type: 'file' as const, mediaType: leaf.type, filename: leaf.name, url };
  const text = { type: 'text' as const, text: 'Which tree is this?' };
  await engine.set(user({ id: 'leaf', role: 'user', parts: [file, text] })).save();
  await engine.set(assistant('A beech, by its shape.')).save();
  await engine.updateChat({ title: 'A leaf' });
}

/** A tool wants to change something, and waits for a word. */
export const ToolWaiting: Story = {
  loaders: [async () => ({ scene: await chatScene() })],
  play: async ({ canvas }) => {
    await send(canvas, '/approve Tidy the shelf');
    const card = await canvas.findByRole('group', { name: 'May deleteFile be used?' });
    await expect(card.closest('article')).toHaveAccessibleName('Assistant');
    await expect(within(card).getByRole('button', { name: 'Approve' })).toBeEnabled();
    await expect(within(card).getByRole('button', { name: 'Deny' })).toBeEnabled();
    await expect(canvas.getByText('waits for your answer')).toBeVisible();
  },
};

/** An address that leads nowhere. */
export const UnknownChat: Story = {
  loaders: [async () => ({ scene: await chatScene({ chatId: 'of-another-browser' }) })],
  play: async ({ canvas }) => {
    await expect(await canvas.findByRole('heading', { name: 'Unknown chat', level: 1 })).toBeVisible();
    await expect(canvas.getByRole('button', { name: 'Start a new chat' })).toBeEnabled();
    await expect(canvas.queryByRole('textbox', { name: 'Message' })).toBeNull();
  },
};

/** Another tab deleted the chat while one was writing in it. The words are not lost. */
export const DeletedElsewhere: Story = {
  loaders: [
    async () => {
      const name = `contextree-story-${crypto.randomUUID()}`;
      const store = new IndexedDBContextStore(name);
      return { name, scene: await chatScene({ store, before: talkOfRivers }) };
    },
  ],
  play: async ({ canvas, loaded }) => {
    await canvas.findAllByRole('article');
    await userEvent.type(canvas.getByRole('textbox', { name: 'Message' }), 'One more thing');
    const otherTab = new IndexedDBContextStore(String(loaded['name']));
    await otherTab.deleteChat(CHAT);
    await otherTab.close();
    await expect(await canvas.findByRole('alert')).toHaveTextContent('This chat was deleted in another tab');
    await expect(canvas.getByRole('textbox', { name: 'Message' })).toHaveValue('One more thing');
    await expect(canvas.getByRole('button', { name: 'Continue in a new chat' })).toBeEnabled();
    await expect(canvas.getByRole('button', { name: 'Send' })).toBeDisabled();
  },
};

/** The narrowest phone. Nothing sticks out, and everything is large enough for a thumb. */
export const Narrow: Story = {
  globals: { viewport: { value: 'phone', isRotated: false } },
  loaders: [async () => ({ scene: await chatScene({ before: talkOfRivers }) })],
  play: async ({ canvas, canvasElement }) => {
    await expect(innerWidth).toBe(320);
    await canvas.findAllByRole('article');
    await expect(document.documentElement.scrollWidth).toBe(320);
    await expect(canvas.queryByRole('navigation', { name: 'Chats' })).toBeNull();
    await expect(canvas.getByRole('button', { name: 'Open chats' })).toBeVisible();
    await expect(tooSmall(canvasElement)).toEqual([]);
  },
};

/** The same phone with its drawer open. */
export const NarrowDrawer: Story = {
  ...Narrow,
  play: async ({ canvas, canvasElement }) => {
    await canvas.findAllByRole('article');
    await userEvent.click(canvas.getByRole('button', { name: 'Open chats' }));
    const chats = await canvas.findByRole('navigation', { name: 'Chats' });
    await expect(within(chats).getByRole('link', { name: 'Why rivers bend' })).toBeVisible();
    await expect(within(chats).getByRole('button', { name: 'Chat actions: Why rivers bend' })).toBeVisible();
    await waitFor(() => expect(canvas.getByRole('button', { name: 'Close chats' })).toHaveFocus());
    await expect(tooSmall(canvasElement)).toEqual([]);
  },
};

/** The names of things to press that are less than 44 CSS pixels wide or high. */
function tooSmall(place: HTMLElement): (string | null)[] {
  return [...place.querySelectorAll('button, select, summary, nav a')]
    .filter((control) => control.checkVisibility({ visibilityProperty: true }))
    .filter((control) => {
      const { width, height } = control.getBoundingClientRect();
      return width < 44 || height < 44;
    })
    .map((control) => control.getAttribute('aria-label') ?? control.textContent);
}

/** By night. */
export const Dark: Story = {
  ...Conversation,
  globals: night.globals,
  parameters: night.parameters,
  play: async ({ canvas }) => {
    await canvas.findAllByRole('article');
    await expect(lightnessOf(getComputedStyle(document.body).backgroundColor)).toBeLessThan(64);
    await expect(lightnessOf(getComputedStyle(document.body).color)).toBeGreaterThan(192);
  },
};

/** The mean of a colour's channels, 0 to 255. */
function lightnessOf(colour: string): number {
  const [red = 0, green = 0, blue = 0] = (colour.match(/[\d.]+/g) ?? []).map(Number);
  return (red + green + blue) / 3;
}

/** Arabic and Hebrew: each paragraph runs the way of its own words. */
export const RightToLeft: Story = {
  loaders: [async () => ({ scene: await chatScene({ before: talkFromTheRight }) })],
  play: async ({ canvas }) => {
    await canvas.findAllByRole('article');
    for (const words of ['أسرع', 'يحفر الضفة الخارجية', 'ולמה הים מלוח?', 'כי הגשם שוטף מלח']) {
      await expect(directionOf(canvas.getByText(new RegExp(words.replace('?', '\\?'))))).toBe('rtl');
    }
    await expect(directionOf(canvas.getByText('English stays as it is.'))).toBe('ltr');
    await expect(directionOf(canvas.getByRole('heading', { level: 1 }))).toBe('rtl');
    const textbox = canvas.getByRole('textbox', { name: 'Message' });
    await userEvent.type(textbox, 'ומה עם האגמים?');
    await expect(directionOf(textbox)).toBe('rtl');
  },
};

async function talkFromTheRight(engine: ContextEngine): Promise<void> {
  await say(
    engine,
    'لماذا تنحني الأنهار؟',
    `لأن الماء يجري **أسرع** في الجانب الخارجي:

- يحفر الضفة الخارجية
- ويترك الرمل في الداخل

English stays as it is.`,
    'ולמה הים מלוח?',
    'כי הגשם שוטף מלח מן הסלעים, והנהרות נושאים אותו אל הים.',
  );
  await engine.updateChat({ title: 'لماذا تنحني الأنهار؟' });
}

function directionOf(element: HTMLElement): string {
  return getComputedStyle(element).direction;
}
