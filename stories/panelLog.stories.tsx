import type { Meta, StoryObj } from '@storybook/react-vite';
import { ContextEngine, InMemoryContextStore, role } from 'contextree';
import type { ContextDevtoolsPanel } from 'contextree/devtools/production';
import { expect, userEvent, waitFor, within } from 'storybook/test';
import { USER } from './demo/shell/Workspace.ts';
import { CHAT, say, tell } from './support/earlier.ts';
import { night } from './support/night.ts';
import { openEngine } from './support/panelPage.tsx';
import { type Canvas, engineIn, panelIn, panelStory, writeInto } from './support/panelStory.tsx';

/** What happened when: the events of the engine, and the history of the chat. */
const meta: Meta<typeof ContextDevtoolsPanel> = {
  title: 'Devtools panel/Log',
  ...panelStory,
};

export default meta;

type Story = StoryObj<typeof meta>;

/** A talk with a second try, a checkpoint, a new name and a way back. */
async function talkOfBread(engine: ContextEngine): Promise<void> {
  const [, answer = ''] = await say(
    engine,
    'How long does bread dough rise?',
    'An hour or two in a warm kitchen, until it has doubled.',
    'And in the fridge?',
    'Overnight: the cold slows the yeast, and the taste gets better.',
  );
  await engine.checkpoint('Cold rise', { at: answer });
  await engine.rewind(answer);
  await say(
    engine,
    'What if it rises too long?',
    'It falls together, and tastes of beer. Knead it once more.',
  );
  await engine.renameBranch('main', 'The right way');
  await engine.btw();
  await engine.undo();
}

/** Where an element ends, in whole pixels: browsers scroll by no less. */
function bottomOf(element: HTMLElement): number {
  return Math.round(element.getBoundingClientRect().bottom);
}

async function lines(panel: Canvas): Promise<HTMLElement[]> {
  return within(await panel.findByRole('listbox')).getAllByRole('option');
}

/** Events as they came, the newest at the top, with what each took. One is selected, and says all it knows. */
export const Events: Story = {
  loaders: [async () => ({ engine: await openEngine() })],
  play: async ({ canvasElement, loaded }) => {
    const panel = await panelIn(canvasElement, 'Log');
    await expect(await panel.findByText(/^Nothing has happened yet/)).toBeVisible();
    const engine = engineIn(loaded).set(role('You are a concise tutor.'));
    await talkOfBread(engine);
    await waitFor(async () => expect((await lines(panel)).length).toBeGreaterThan(6));
    await userEvent.click(panel.getByText('create, Cold rise'));
    await expect(panel.getByRole('group', { name: 'Content' })).toHaveTextContent('"checkpoint"');
    await expect(panel.getByRole('button', { name: 'Show in Graph' })).toBeEnabled();
    writeInto(panel.getByRole('searchbox', { name: 'Filter events' }), 'save');
    await waitFor(async () => expect(await lines(panel)).toHaveLength(2));
    writeInto(panel.getByRole('searchbox', { name: 'Filter events' }), '');
    // In a panel of its usual width, 420 px with its edges, both bars have one line, also while paused.
    await userEvent.click(panel.getByRole('button', { name: 'Pause' }));
    await say(engine, 'And rye?', 'Three days.');
    for (const name of [/^Resume/, 'Show in Graph']) {
      const bar = panel.getByRole('button', { name }).parentElement as HTMLElement;
      bar.style.width = '418px';
      await expect(bar.offsetHeight).toBeLessThan(40);
      bar.style.width = '';
    }
    await userEvent.click(panel.getByRole('button', { name: /^Resume/ }));
  },
};

/** Each message and operation is a step. At one of them the chat is shown as it was right after it. */
export const History: Story = {
  loaders: [async () => ({ engine: await openEngine(talkOfBread) })],
  play: async ({ canvas, canvasElement }) => {
    const panel = await panelIn(canvasElement, 'Log');
    await userEvent.click(await panel.findByRole('button', { name: 'History' }));
    const steps = await lines(panel);
    await expect(steps.at(-1)).toHaveTextContent(/btw.*undone/);
    const past = await panel.findByRole('region', { name: 'The chat at this step' });
    await waitFor(() => expect(within(past).getAllByRole('row')).toHaveLength(6));
    writeInto(panel.getByRole('slider', { name: 'Step' }), '1');
    await waitFor(() => expect(within(past).getAllByRole('row')).toHaveLength(2));
    await userEvent.click(panel.getByRole('button', { name: 'Go back to here' }));
    await waitFor(() => expect(canvas.getAllByRole('article')).toHaveLength(2));
    // The panel shows that a moment later than the app.
    await waitFor(() => expect(panel.getByRole('button', { name: 'Go back to here' })).toBeDisabled());
    await userEvent.click(
      panel.getByText('How long does bread dough rise?', { selector: '[role=option] *' }),
    );
  },
};

/** In a panel with little room the list stands above the graph: a line divides them, and both show the selected step. */
export const HistoryLong: Story = {
  loaders: [
    async () => ({
      engine: await openEngine((engine) => say(engine, ...Array.from({ length: 40 }, (_, i) => `Line ${i}`))),
    }),
  ],
  decorators: [(Shown) => <div style={{ width: 620 }}>{Shown()}</div>],
  play: async ({ canvasElement }) => {
    const panel = await panelIn(canvasElement, 'Log');
    await userEvent.click(await panel.findByRole('button', { name: 'History' }));
    const past = await panel.findByRole('region', { name: 'The chat at this step' });
    const list = panel.getByRole('listbox', { name: /^Messages and operations/ });
    await waitFor(() => expect(past).toHaveStyle({ borderTopStyle: 'solid', borderLeftStyle: 'none' }));
    const last = within(list).getByRole('option', { selected: true });
    await waitFor(() => expect(bottomOf(last)).toBeLessThanOrEqual(bottomOf(list)));
    await expect(within(past).getByText('Line 39')).toBeVisible();
  },
};

/** A chat in which nothing was said has no history. */
export const HistoryEmpty: Story = {
  loaders: [async () => ({ engine: await openEngine() })],
  play: async ({ canvasElement }) => {
    const panel = await panelIn(canvasElement, 'Log');
    await userEvent.click(await panel.findByRole('button', { name: 'History' }));
    await expect(await panel.findByText(/^No messages yet/)).toBeVisible();
  },
};

/** Another tab renamed a branch: what it was called before, this one does not know, and says so of each earlier step. */
export const HistoryPartial: Story = {
  loaders: [
    async () => {
      const store = new InMemoryContextStore();
      await tell(store, CHAT, talkOfBread);
      const engine = await openEngine(async () => {}, { store });
      const other = new ContextEngine({ store, chatId: CHAT, userId: USER });
      await other.renameBranch('The right way', 'Of another tab');
      await other.checkpoint('Theirs');
      other.dispose();
      return { engine };
    },
  ],
  play: async ({ canvasElement }) => {
    const panel = await panelIn(canvasElement, 'Log');
    await userEvent.click(await panel.findByRole('button', { name: 'History' }));
    await panel.findByRole('region', { name: 'The chat at this step' });
    const note = /^Names and checkpoints may differ/;
    await expect(panel.queryByText(note)).toBeNull();
    writeInto(panel.getByRole('slider', { name: 'Step' }), '1');
    await expect(await panel.findByText(note)).toBeVisible();
  },
};

/** By night. */
export const EventsDark: Story = { ...Events, ...night };
export const HistoryDark: Story = { ...History, ...night };
