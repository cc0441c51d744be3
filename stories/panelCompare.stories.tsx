import type { Meta, StoryObj } from '@storybook/react-vite';
import type { ContextEngine } from 'contextree';
import type { ContextDevtoolsPanel } from 'contextree/devtools/production';
import { expect, userEvent, within } from 'storybook/test';
import { say } from './support/earlier.ts';
import { night } from './support/night.ts';
import { openEngine } from './support/panelPage.tsx';
import { engineIn, panelIn, panelStory, pick, read } from './support/panelStory.tsx';
import { gpt4o, turn } from './support/turns.ts';

/** Two branches or messages of a chat, side by side. */
const meta: Meta<typeof ContextDevtoolsPanel> = { ...panelStory, title: 'Devtools panel/Compare' };

export default meta;

type Story = StoryObj<typeof meta>;

const AGAIN = 'How long may it steep?';

async function twoAnswers(engine: ContextEngine): Promise<void> {
  const { answered } = await turn(engine, 'I like tea.', 'So do many.');
  await turn(engine, 'Why is tea brown?', 'Its leaves were left to darken in the air.', { metadata: gpt4o });
  await turn(engine, AGAIN, 'Three minutes.', { metadata: gpt4o });
  await turn(engine, 'Why is green tea green?', 'Its leaves were heated before they could darken.', {
    metadata: { ...gpt4o, usage: { inputTokens: 5_300, outputTokens: 512 } },
    call: { ms: 6_100 },
    under: answered,
  });
  await turn(engine, AGAIN, 'Two minutes.', { metadata: gpt4o });
  await turn(engine, 'And the third time?', 'Longer.');
}

/** Opens the view, and gives what it shows. */
async function compare(page: HTMLElement): Promise<ReturnType<typeof within>> {
  const panel = await panelIn(page);
  await userEvent.click(panel.getByRole('tab', { name: 'Compare' }));
  return panel;
}

/** Two branches: what both have stands first, what differs word by word, and what each side took. */
export const TwoBranches: Story = {
  loaders: [async () => ({ engine: await openEngine(twoAnswers) })],
  play: async ({ canvasElement }) => {
    const panel = await compare(canvasElement);
    await expect(await panel.findByRole('button', { name: 'So do many.' })).toBeVisible();
    await expect(await panel.findByText('1 message the same')).toBeVisible();
    await expect((await panel.findAllByText('Three', { exact: false }))[0]).toBeVisible();
    const totals = within(panel.getByRole('table', { name: 'Totals' }));
    await expect(totals.getByRole('row', { name: /^Messages 4 6 \+2/ })).toBeVisible();
    await expect(totals.getByRole('row', { name: /^Time 7\.8 s 14 s/ })).toBeVisible();
    await userEvent.click(panel.getByRole('button', { name: 'So do many.' }));
    await expect(await panel.findByRole('tab', { name: 'Graph' })).toHaveAttribute('aria-selected', 'true');
  },
};

/** A message that was marked, and another one. */
export const MarkedMessage: Story = {
  loaders: [async () => ({ engine: await openEngine(twoAnswers) })],
  play: async ({ canvasElement }) => {
    const panel = await panelIn(canvasElement);
    await read(panel, 'Its leaves were left to darken in the air.');
    await pick(panel, 'Actions', 'Mark for compare');
    const back = panel.queryByRole('button', { name: 'Back' });
    if (back) await userEvent.click(back);
    await read(panel, /^Its leaves were heated/);
    await pick(panel, 'Actions', 'Compare with the marked one');
    await expect(await panel.findByRole('tab', { name: 'Compare' })).toHaveAttribute('aria-selected', 'true');
    await expect((await panel.findAllByText(/before they could/))[0]).toBeVisible();
    await expect(panel.getByRole('combobox', { name: 'A' })).toHaveDisplayValue(
      /^marked: Its leaves were left/,
    );
  },
};

/** One branch, and nothing marked. */
export const NoFork: Story = {
  loaders: [
    async () => ({ engine: await openEngine((engine) => say(engine, 'I like tea.', 'So do many.')) }),
  ],
  play: async ({ canvasElement }) => {
    const panel = await compare(canvasElement);
    await expect(await panel.findByText(/^Both are the same/)).toBeVisible();
  },
};

/** A chat in which nothing was said. */
export const Empty: Story = {
  loaders: [async () => ({ engine: await openEngine() })],
  play: async ({ canvasElement }) => {
    const panel = await compare(canvasElement);
    await expect(await panel.findByText(/^No messages yet/)).toBeVisible();
  },
};

/** Nobody told what requests used: the view says so, and estimates the words. */
export const NotTold: Story = {
  loaders: [
    async () => ({
      engine: await openEngine(async (engine) => {
        const [first = ''] = await say(engine, 'I like tea.', 'So do many.');
        await engine.rewind(first);
        await say(engine, 'Black tea.', 'That, too.');
      }),
    }),
  ],
  play: async ({ canvasElement }) => {
    const panel = await compare(canvasElement);
    const totals = within(await panel.findByRole('table', { name: 'Totals' }));
    await expect(totals.getAllByText('not told')).toHaveLength(8);
  },
};

/** What was asked for can't be had: the view says why. */
export const Failed: Story = {
  loaders: [
    async () => {
      const engine = await openEngine(twoAnswers);
      engine.compare = () => Promise.reject(new Error('the disk is gone'));
      return { engine };
    },
  ],
  play: async ({ canvasElement }) => {
    const panel = await compare(canvasElement);
    await expect(await panel.findByRole('alert')).toHaveTextContent('the disk is gone');
  },
};

/** The chat was deleted while the view was open. */
export const ChatDeleted: Story = {
  loaders: [async () => ({ engine: await openEngine(twoAnswers) })],
  play: async ({ canvasElement, loaded }) => {
    const panel = await compare(canvasElement);
    await panel.findByRole('table', { name: 'Totals' });
    const { store, chatId } = engineIn(loaded);
    await store.deleteChat(chatId);
    await expect(await panel.findByText(/^The chat could not be read: .*deleted/)).toBeVisible();
  },
};

/** By night. */
export const Dark: Story = { ...TwoBranches, ...night };
