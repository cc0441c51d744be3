import type { Meta, StoryObj } from '@storybook/react-vite';
import { fragment, hint, IndexedDBContextStore, role, type ContextEngine } from 'contextree';
import { registerModel } from 'contextree/tokens';
import type { ContextDevtoolsPanel } from 'contextree/devtools/production';
import { expect, userEvent, waitFor, within } from 'storybook/test';
import { say } from './support/earlier.ts';
import { night } from './support/night.ts';
import { MANY, openEngine, tenThousandMessages, thirtyBranches } from './support/panelPage.tsx';
import { type Canvas, panelIn, panelStory, rowsIn } from './support/panelStory.tsx';

/** The devtools panel beside an app. */
const meta: Meta<typeof ContextDevtoolsPanel> = { ...panelStory, title: 'Devtools panel' };

export default meta;

type Story = StoryObj<typeof meta>;

/** A chat in which nothing was said. */
export const Empty: Story = {
  loaders: [async () => ({ engine: await openEngine() })],
  play: async ({ canvasElement }) => {
    const panel = await panelIn(canvasElement);
    await expect(panel.getByRole('region', { name: 'contextree devtools' })).toBeVisible();
    await expect(panel.getByRole('tab', { name: 'Graph' })).toHaveAttribute('aria-selected', 'true');
    await expect(panel.getByText(/^No messages yet/)).toBeVisible();
    await expect(panel.queryByRole('row')).toBeNull();
  },
};

/** Thirty branches: each has a line and a label; a click looks at what was said there, and a button shows it in the app. */
export const ThirtyBranches: Story = {
  loaders: [async () => ({ engine: await openEngine(thirtyBranches) })],
  play: async ({ canvas, canvasElement }) => {
    const panel = await panelIn(canvasElement);
    await expect(await panel.findByText(/ - 30 branches$/)).toBeVisible();
    await expect(panel.getByText(/^active branch Words 1 of the first try/)).toBeInTheDocument();
    await expect(panel.getByText(/A good start/)).toBeVisible();
    const levels = (await rowsIn(panel)).map((row) => Number(row.getAttribute('aria-level')));
    await expect(Math.max(...levels)).toBeGreaterThan(Math.min(...levels) + 2);
    await userEvent.click(panel.getByText('Other answer of try 29'));
    await expect(await panel.findByRole('region', { name: 'Selected message' })).toBeVisible();
    await userEvent.click(panel.getByRole('button', { name: 'Check out' }));
    const back = panel.queryByRole('button', { name: 'Back' });
    if (back) await userEvent.click(back);
    await expect(await canvas.findByRole('heading', { name: 'An app on main-v30' })).toBeVisible();
    await expect(await panel.findByText(/^active branch Other answer of try 29/)).toBeInTheDocument();
  },
};

/** 10,000 messages: only the rows in sight are mounted, wherever one looks. */
export const TenThousandMessages: Story = {
  loaders: [async () => ({ engine: await openEngine(undefined, { store: await tenThousandMessages() }) })],
  play: async ({ canvas, canvasElement }) => {
    await expect(await canvas.findByText(`Message ${MANY}`)).toBeVisible();
    const panel = await panelIn(canvasElement);
    await expect(await panel.findByText(`${MANY.toLocaleString('en')} messages - 20 branches`)).toBeVisible();
    const grid = await panel.findByRole('treegrid');
    await expect(Number(grid.getAttribute('aria-rowcount'))).toBeGreaterThan(9000);
    for (const [key, words] of [
      ['{Home}', 'Message 1'],
      ['{End}', `Message ${MANY}`],
    ] as const) {
      grid.focus();
      await userEvent.keyboard(key);
      // Where there is room, the message stands beside the graph, too.
      await expect((await panel.findAllByText(words))[0]).toBeVisible();
      await expect((await rowsIn(panel)).length).toBeLessThan(60);
    }
    await expect((grid.getRootNode() as ShadowRoot).querySelectorAll('*').length).toBeLessThan(500);
    grid.scrollTop = grid.scrollHeight / 2;
    await waitFor(async () => {
      const [first, ...others] = await rowsIn(panel);
      const place = Number(first?.getAttribute('aria-rowindex'));
      await expect(place).toBeGreaterThan(4000);
      await expect(place).toBeLessThan(6000);
      await expect(others.length).toBeLessThan(60);
    });
  },
};

async function talkOfTea(engine: ContextEngine): Promise<void> {
  engine.set(role('You are a concise tutor.'), hint('Answer in plain words.'));
  const [, answer = ''] = await say(
    engine,
    'Why is tea brown?',
    'Its leaves were left to darken in the air.',
  );
  await engine.edit(answer, 'Oxygen turns the green of the leaves brown, as it does with a cut apple.');
}

async function talkTo(engine: ContextEngine, modelId: string): Promise<void> {
  await talkOfTea(engine);
  await engine.updateChat({ metadata: { modelId } });
  await engine.trackUsage({
    inputTokens: 5_200,
    cachedInputTokens: 4_100,
    outputTokens: 1_900,
    reasoningTokens: 700,
  });
}

/** What a model would be sent now, how large that is, what it costs, and where it goes. */
export const Prompt: Story = {
  loaders: [async () => ({ engine: await openEngine((engine) => talkTo(engine, 'openai:gpt-4o')) })],
  play: async ({ canvasElement }) => {
    const panel = await panelIn(canvasElement);
    await userEvent.click(panel.getByRole('tab', { name: 'Prompt' }));
    await expect(await panel.findByText(/<role>You are a concise tutor\.<\/role>/)).toBeVisible();
    await expect(panel.getByText(/ of a context of 128,000, /)).toBeVisible();
    await expect(panel.getByText(/prices of \d{4}-\d\d-\d\d/)).toBeVisible();
    await expect(panel.getByText(/^Spent so far \$/)).toBeVisible();
    await expect(panel.getByText('Why is tea brown?')).toBeVisible();
    await userEvent.selectOptions(panel.getByRole('combobox', { name: 'Format' }), 'Markdown');
    await expect(await panel.findByText(/^## Role/)).toBeVisible();
  },
};

/** A prompt that is longer than what the model reads says so before it is sent. */
export const PromptTooLong: Story = {
  loaders: [
    async () => {
      await registerModel({ id: 'story:small', context: 20, prices: { input: 2, output: 8 } });
      return { engine: await openEngine((engine) => talkTo(engine, 'story:small')) };
    },
  ],
  play: async ({ canvasElement }) => {
    const panel = await panelIn(canvasElement);
    await userEvent.click(panel.getByRole('tab', { name: 'Prompt' }));
    await expect(await panel.findByText(/ of a context of 20, -[\d,]+ left$/)).toBeVisible();
  },
};

/** Everything that the engine knows about its context. */
export const Snapshot: Story = {
  loaders: [async () => ({ engine: await openEngine(talkOfTea) })],
  play: async ({ canvasElement }) => {
    const panel = await panelIn(canvasElement);
    await userEvent.click(panel.getByRole('tab', { name: 'Snapshot' }));
    const tree = await panel.findByRole('tree', { name: 'Snapshot' });
    await expect(within(tree).getByRole('treeitem', { name: /chatId: *"story"/ })).toBeVisible();
    await expect(panel.getByRole('button', { name: 'Copy JSON' })).toBeEnabled();
  },
};

/** A fragment that can't be had right now. The view says so in words, and the app beside it goes on. */
export const PromptUnavailable: Story = {
  loaders: [
    async () => {
      const weather = fragment('weather', () => Promise.reject(new Error('The weather service is closed.')));
      const talk = (engine: ContextEngine): Promise<unknown> => talkOfTea(engine.set(weather));
      return { engine: await openEngine(talk) };
    },
  ],
  play: async ({ canvas, canvasElement }) => {
    const panel = await panelIn(canvasElement);
    await userEvent.click(panel.getByRole('tab', { name: 'Prompt' }));
    const alert = await panel.findByRole('alert');
    await expect(alert).toHaveTextContent(/The weather service is closed\./);
    await goesOn(canvas);
  },
};

/** An engine of another version of the package: what it tells of itself is not what this panel knows. */
async function unknownEngine(): Promise<ContextEngine> {
  const engine = await openEngine(async (one) => {
    await talkOfTea(one);
    await one.btw();
  });
  engine.compare = () =>
    Promise.resolve({ turns: 3 } as unknown as Awaited<ReturnType<typeof engine.compare>>);
  return engine;
}

/** A view that breaks stops alone: the other views work, and so does the app. */
export const ViewStopped: Story = {
  loaders: [async () => ({ engine: await unknownEngine() })],
  play: async ({ canvas, canvasElement }) => {
    const panel = await panelIn(canvasElement);
    await userEvent.click(panel.getByRole('tab', { name: 'Compare' }));
    const alert = await panel.findByRole('alert');
    await expect(alert).toHaveTextContent(/^This view stopped: .+The app goes on as before\./);
    await goesOn(canvas);
    await userEvent.click(panel.getByRole('tab', { name: 'Graph' }));
    await waitFor(async () => expect(await rowsIn(panel)).toHaveLength(5));
    await userEvent.click(panel.getByRole('tab', { name: 'Compare' }));
    await expect(await panel.findByRole('button', { name: 'Try again' })).toBeEnabled();
  },
};

async function goesOn(app: Canvas): Promise<void> {
  await userEvent.click(app.getByRole('button', { name: 'Say something' }));
  await expect(await app.findByText('I am.')).toBeVisible();
}

const LATER = 'contextree-story-of-a-later-version';

/** The database is that of a later version of this library, as after a step back. */
export const ChatUnreadable: Story = {
  loaders: [
    async () => {
      const request = indexedDB.open(LATER, 10_000);
      await new Promise((resolve) => request.addEventListener('success', resolve));
      request.result.close();
      return { engine: await openEngine(undefined, { store: new IndexedDBContextStore(LATER) }) };
    },
  ],
  beforeEach: () => () => {
    indexedDB.deleteDatabase(LATER);
  },
  play: async ({ canvas, canvasElement }) => {
    const panel = await panelIn(canvasElement);
    await expect(
      await panel.findByText(/^The chat could not be read: .*newer version of contextree/),
    ).toBeVisible();
    await expect(canvas.getByRole('heading', { name: 'An app on main' })).toBeVisible();
  },
};

/** By night. */
export const Dark: Story = {
  ...ThirtyBranches,
  ...night,
  play: async ({ canvasElement }) => {
    const panel = await panelIn(canvasElement);
    await userEvent.click(await panel.findByText('Other answer of try 29'));
    await expect(await panel.findByRole('region', { name: 'Selected message' })).toBeVisible();
  },
};
