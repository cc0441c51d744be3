import type { Meta, StoryObj } from '@storybook/react-vite';
import { fragment, hint, role, type ContextEngine } from 'contextree';
import type { ContextDevtoolsPanel } from 'contextree/devtools/production';
import { expect, userEvent, waitFor } from 'storybook/test';
import { openEngine } from './support/panelPage.tsx';
import { panelIn, panelStory, rowOf, type Canvas } from './support/panelStory.tsx';
import { ask, HOUSE_RULES, recordedChats } from './support/recordedChat.ts';

/**
 * A chat in which an answer surprises, on three branches. The panel alone says why, in at most four clicks each: other words
 * were asked, a fragment of the prompt was another one, and what the provider had cached was of no use.
 */
const meta: Meta<typeof ContextDevtoolsPanel> = { ...panelStory, title: 'Devtools panel/Debug' };

export default meta;

type Story = StoryObj<typeof meta>;

const SHORT = { ...hint('Answer in one sentence.'), id: 'length' };
const LONG = { ...hint('Answer in detail, with the reasons.'), id: 'length' };
const WINTER = { ...fragment('season', 'It is winter: offer a warm tea first.'), id: 'season' };
const HOUSE = [
  role('You are the help desk of a tea house.'),
  { ...fragment('rules', HOUSE_RULES), id: 'rules' },
];

async function threeWays(engine: ContextEngine): Promise<void> {
  const chats = recordedChats(engine, {
    answers: [
      'Oolong is half oxidised: between green and black tea.',
      'Three to five minutes.',
      'Two minutes, and no longer: green leaves give their bitterness to water that is too hot for too long.',
      'Yes, twice.',
    ],
  });
  engine.set(...HOUSE, SHORT);
  await ask(chats, 'What is oolong?');
  const answered = engine.headMessageId ?? '';
  await ask(chats, 'How long does oolong steep?');

  await engine.rewind(answered);
  engine.unset('length').set(LONG);
  await ask(chats, 'How long does green tea steep?');

  await engine.rewind(answered);
  engine.clear().set(WINTER, ...HOUSE, SHORT);
  await ask(chats, 'Can I use the leaves twice?');
}

const loaders: Story['loaders'] = [async () => ({ engine: await openEngine(threeWays) })];

/** Clicks and chooses, and counts that: no answer may take more than four. */
function hand(): Hand {
  let acts = 0;
  const count = (): Promise<void> => expect((acts += 1)).toBeLessThanOrEqual(4);
  return {
    click: async (button) => {
      await count();
      await userEvent.click(button);
    },
    choose: async (list, option) => {
      await count();
      await userEvent.selectOptions(list, option);
    },
  };
}

interface Hand {
  readonly click: (button: HTMLElement) => Promise<void>;
  readonly choose: (list: HTMLElement, option: string) => Promise<void>;
}

function tab(panel: Canvas, name: string): HTMLElement {
  return panel.getByRole('tab', { name });
}

/** Two answers to what looked like one question: word by word, it was another one. */
export const OtherWords: Story = {
  loaders,
  play: async ({ canvasElement }) => {
    const [panel, { click, choose }] = [await panelIn(canvasElement), hand()];
    await click(tab(panel, 'Compare'));
    await choose(await panel.findByRole('combobox', { name: 'A' }), 'What is oolong?');
    await choose(panel.getByRole('combobox', { name: 'B' }), 'How long does green tea steep?');
    await expect(await panel.findByText('oolong', { selector: 'del' })).toBeVisible();
    await expect(panel.getByText('green tea', { selector: 'ins' })).toBeVisible();
  },
};

/** An answer that is longer than the others: its prompt asked for that, where the turn before did not. */
export const OtherFragment: Story = {
  loaders,
  play: async ({ canvasElement }) => {
    const [panel, { click }] = [await panelIn(canvasElement), hand()];
    await click(await rowOf(panel, /^Two minutes/));
    await click(tab(panel, 'Prompt'));
    await click(await panel.findByRole('button', { name: 'Difference' }));
    const difference = await panel.findByRole('group', { name: 'Content' });
    await waitFor(async () => {
      await expect(difference.querySelector('del')).toHaveTextContent('one sentence');
      await expect(difference.querySelector('ins')).toHaveTextContent('detail, with the reasons');
    });
  },
};

/** A short answer that cost as much as a long one: a fragment in front of the rules had them read anew. */
export const LostCache: Story = {
  loaders,
  play: async ({ canvasElement }) => {
    const [panel, { click }] = [await panelIn(canvasElement), hand()];
    await click(tab(panel, 'Cost'));
    await click(await panel.findByText('broke'));
    await expect(await panel.findByText('The fragment "season" was added before what stayed.')).toBeVisible();
    await expect(panel.getByText(/tokens billed again, \$0\.00\d+/)).toBeVisible();
  },
};
