import type { Meta, StoryObj } from '@storybook/react-vite';
import { ContextEngine, InMemoryContextStore, user } from 'contextree';
import type { ContextDevtoolsPanel } from 'contextree/devtools/production';
import { expect, userEvent, waitFor, within } from 'storybook/test';
import { forgetTab, say } from './support/earlier.ts';
import { night } from './support/night.ts';
import { openEngine } from './support/panelPage.tsx';
import { engineIn, focused, hits, panelIn, panelStory, pick, rowOf } from './support/panelStory.tsx';
import { gpt4o, turn } from './support/turns.ts';

/** The graph of the devtools: what stands on a row, and how one finds it. */
const meta: Meta<typeof ContextDevtoolsPanel> = { ...panelStory, title: 'Devtools panel/Graph' };

export default meta;

type Story = StoryObj<typeof meta>;

/** One answer of each kind, on branches of their own. */
async function unsettled(engine: ContextEngine): Promise<void> {
  const { answered } = await turn(engine, 'What is a graph?', 'Points, and lines between some of them.', {
    metadata: gpt4o,
  });
  await turn(engine, 'Draw one.', 'A circle with', {
    status: 'interrupted',
    call: { status: 'stopped', ms: 900 },
    under: answered,
  });
  await turn(engine, 'Draw a large one.', 'This one', {
    status: 'interrupted',
    call: { status: 'failed' },
    under: answered,
  });
  await turn(engine, 'And a small one.', 'A point is', {
    status: 'interrupted',
    call: false,
    under: answered,
  });
  await turn(
    engine,
    'Print it.',
    [
      {
        type: 'tool-print',
        toolCallId: '1',
        state: 'approval-requested',
        input: { pages: 2 },
        approval: { id: 'leave' },
      },
    ],
    { under: answered },
  );
  await say(engine, 'Does anybody hear me?');
}

/** What is not settled says so on its row: stopped, failed, cut off, waiting for approval, unanswered. */
export const States: Story = {
  loaders: [async () => ({ engine: await openEngine(unsettled) })],
  play: async ({ canvasElement }) => {
    const panel = await panelIn(canvasElement);
    for (const [words, state] of [
      ['A circle with', 'stopped'],
      ['This one', 'failed'],
      ['A point is', 'cut off'],
      ['Does anybody hear me?', 'unanswered'],
    ] as const)
      await expect(await rowOf(panel, words)).toHaveTextContent(state);
    await expect(panel.getByText('waits for approval')).toBeVisible();
  },
};

/** Words that come while one looks: the row says that it grows. */
export const Growing: Story = {
  loaders: [
    async () => ({
      engine: await openEngine(async (engine) => {
        await turn(engine, 'What is a graph?', 'Points, and', { status: 'streaming' });
      }),
    }),
  ],
  play: async ({ canvasElement }) => {
    const panel = await panelIn(canvasElement);
    await expect(await rowOf(panel, 'Points, and')).toHaveTextContent('growing');
  },
};

/** Columns are chosen, and stay chosen. */
export const Columns: Story = {
  loaders: [async () => ({ engine: await openEngine(unsettled) })],
  play: async ({ canvasElement }) => {
    const panel = await panelIn(canvasElement);
    for (const name of ['tokens', 'cost', 'duration', 'model']) await pick(panel, 'Columns', name);
    const row = await rowOf(panel, 'Points, and lines between some of them.');
    await waitFor(() =>
      expect(row).toHaveTextContent(/tokens 240.*cost \$0\.\d+.*duration 3\.9 s.*model gpt-4o/),
    );
    await waitFor(async () => expect(await rowOf(panel, 'What is a graph?')).toHaveTextContent(/tokens ~\d/));
    // A narrow panel cuts no figure.
    const list = row.closest<HTMLElement>('.list');
    if (list) list.style.maxWidth = '420px';
    const cells = [...row.querySelectorAll('.cell')];
    await expect(cells.filter((cell) => cell.scrollWidth > cell.clientWidth)).toHaveLength(0);
    if (list) list.style.maxWidth = '';
    await pick(panel, 'Columns', 'cost');
    await expect(row).not.toHaveTextContent('cost');
  },
};

/** Filters find what nobody would find by words: who said it, what became of it, how it was made. */
export const Filters: Story = {
  loaders: [async () => ({ engine: await openEngine(unsettled) })],
  play: async ({ canvasElement }) => {
    const panel = await panelIn(canvasElement);
    await userEvent.click(await panel.findByRole('button', { name: 'Filter' }));
    await userEvent.selectOptions(await panel.findByRole('combobox', { name: 'state' }), 'failed');
    await waitFor(() => expect(hits(panel)).toHaveTextContent(/^1$/));
    await expect(await rowOf(panel, 'A circle with')).toHaveClass('miss');
    await userEvent.click(panel.getByRole('button', { name: 'Next hit' }));
    await expect(await rowOf(panel, 'This one')).toHaveAttribute('aria-selected', 'true');
    await userEvent.click(panel.getByRole('button', { name: 'Clear' }));
    await userEvent.selectOptions(panel.getByRole('combobox', { name: 'tool' }), 'print');
    await waitFor(() => expect(hits(panel)).toHaveTextContent(/^1$/));
    await userEvent.click(panel.getByRole('button', { name: 'Clear' }));
    await userEvent.selectOptions(panel.getByRole('combobox', { name: 'model' }), 'openai:gpt-4o');
    await waitFor(() => expect(hits(panel)).toHaveTextContent(/^1$/));
  },
};

/** With the keys alone: a checkpoint gets its name on the row, two messages are marked and compared, all keys are told. */
export const Keys: Story = {
  loaders: [async () => ({ engine: await openEngine(unsettled) })],
  play: async ({ canvasElement, loaded }) => {
    const panel = await panelIn(canvasElement);
    const grid = await panel.findByRole('treegrid');
    grid.focus();
    await userEvent.keyboard('{Home}?');
    await expect(await panel.findByText('branch from here')).toBeVisible();
    await userEvent.keyboard('?c');
    await userEvent.type(
      await panel.findByRole('textbox', { name: 'Name of the checkpoint' }),
      'begun{Enter}',
    );
    await waitFor(() => expect(engineIn(loaded).state.getState().checkpoints).toHaveLength(1));
    await expect(await panel.findByText('checkpoint begun')).toBeInTheDocument();
    await waitFor(() => expect(focused(grid)).toBe(grid));
    await userEvent.keyboard('d');
    await expect(await panel.findByText('≠')).toBeVisible();
    await userEvent.keyboard('d');
    await waitFor(() => expect(panel.queryByText('≠')).toBeNull());
    await userEvent.keyboard('d{End}d');
    await expect(await panel.findByRole('tab', { name: 'Compare' })).toHaveAttribute('aria-selected', 'true');
  },
};

/** Where messages wait for `save()`, no branch is made, and the keys say why. */
export const BranchOff: Story = {
  loaders: [
    async () => ({
      engine: await openEngine(async (engine) => {
        await unsettled(engine);
        engine.set(user('Later.'));
      }),
    }),
  ],
  play: async ({ canvasElement, loaded }) => {
    const panel = await panelIn(canvasElement);
    const grid = await panel.findByRole('treegrid');
    grid.focus();
    await userEvent.keyboard('?');
    await expect(await panel.findByText(/off: a message waits for save\(\)/)).toBeVisible();
    const branches = engineIn(loaded).state.getState().branches.length;
    await userEvent.keyboard('b');
    await expect(await panel.findByRole('alert')).toHaveTextContent(/^No branch is made: a message waits/);
    await expect(engineIn(loaded).state.getState().branches).toHaveLength(branches);
  },
};

const LONG = 'The quarterly report about the northern warehouses of';

/** Long labels give way in their middle; words of other scripts run their own way. */
export const LongLabels: Story = {
  loaders: [
    async () => ({
      engine: await openEngine(async (engine) => {
        const { answered } = await turn(engine, 'ما هو الرسم البياني؟', 'نقاط، وخطوط بين بعضها.');
        for (const year of ['2024', '2025']) {
          await turn(engine, `${LONG} ${year}`, `It is of ${year}.`, { under: answered });
          await engine.renameBranch(engine.branch, `${LONG} ${year}`);
        }
        await turn(engine, 'وماذا بعد؟', 'لا شيء.', { under: answered });
        await engine.renameBranch(engine.branch, 'مسودة التقرير الأول للمستودعات الشمالية');
        await engine.checkpoint('before the warehouses were moved to the south', { at: answered });
      }),
    }),
  ],
  play: async ({ canvasElement }) => {
    const panel = await panelIn(canvasElement);
    await expect(await panel.findByText(/^branch The quarterly report .* 2025/)).toBeInTheDocument();
    for (const year of ['2024', '2025'])
      await expect(within(await panel.findByRole('treegrid')).getByText(year)).toBeVisible();
  },
};

/** A store that never answers. */
export const Loading: Story = {
  loaders: [
    async () => {
      const store = new InMemoryContextStore();
      store.load = () => new Promise(() => {});
      forgetTab();
      return { engine: new ContextEngine({ store, chatId: 'slow', userId: 'me' }) };
    },
  ],
  play: async ({ canvasElement }) => {
    const panel = await panelIn(canvasElement);
    await expect(await panel.findByText('Reading the chat…')).toBeVisible();
  },
};

/** The chat was deleted while the panel was open. */
export const ChatDeleted: Story = {
  loaders: [async () => ({ engine: await openEngine(unsettled) })],
  play: async ({ canvasElement, loaded }) => {
    const panel = await panelIn(canvasElement);
    await rowOf(panel, 'What is a graph?');
    const { store, chatId } = engineIn(loaded);
    await store.deleteChat(chatId);
    await expect(await panel.findByText(/^The chat could not be read: .*deleted/)).toBeVisible();
  },
};

/** By night, with columns and a message beside the graph. */
export const Dark: Story = { ...Columns, ...night };
