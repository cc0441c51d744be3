import type { Meta, StoryObj } from '@storybook/react-vite';
import { fragment, hint, role, type ContextEngine } from 'contextree';
import { ContextDevtoolsPanel } from 'contextree/devtools/production';
import { expect, fireEvent, userEvent, waitFor, within } from 'storybook/test';
import { say } from './support/earlier.ts';
import { night } from './support/night.ts';
import { openEngine, PanelPage } from './support/panelPage.tsx';
import { ask, recordedChats, talkAgainstTheClock } from './support/recordedChat.ts';

/** What was sent, what it cost, and how it is asked again. */
const meta: Meta<typeof ContextDevtoolsPanel> = {
  title: 'Devtools panel/Requests',
  component: ContextDevtoolsPanel,
  argTypes: { engine: { control: false }, theme: { control: 'radio', options: ['light', 'dark', 'system'] } },
  render: ({ theme = 'system', run }, { loaded }) => (
    <PanelPage engine={engineIn(loaded)} theme={theme} {...(run && { run })} />
  ),
  beforeEach:
    ({ loaded }) =>
    () =>
      engineIn(loaded).dispose(),
};

export default meta;

type Story = StoryObj<typeof meta>;
type Canvas = ReturnType<typeof within>;

function engineIn(loaded: Record<string, unknown>): ContextEngine {
  return loaded['engine'] as ContextEngine;
}

/** What stands in the panel's shadow root, when it is there. */
async function panelIn(page: HTMLElement): Promise<Canvas> {
  const inside = await waitFor(() => {
    const roots = [...page.querySelectorAll('div')].map(({ shadowRoot }) =>
      shadowRoot?.querySelector('.root'),
    );
    const found = roots.find((root) => root?.querySelector('[role=tab]'));
    if (!found) throw new Error('The panel is not there yet.');
    return found as HTMLElement;
  });
  return within(inside);
}

/** Opens a view; where there are more tabs than room, it is there all the same. */
async function openView(page: HTMLElement, name: string): Promise<Canvas> {
  const panel = await panelIn(page);
  await userEvent.click(panel.getByRole('tab', { name }));
  return panel;
}

/** Selects a message in the graph, and then a view: all views look at it. */
async function openViewAt(page: HTMLElement, words: string, name: string): Promise<Canvas> {
  const panel = await panelIn(page);
  const [row] = await panel.findAllByText(words);
  await userEvent.click(row as HTMLElement);
  return openView(page, name);
}

const ANSWER = /^Three to five minutes/;

async function answerOf(page: HTMLElement, view: string): Promise<Canvas> {
  const panel = await panelIn(page);
  const [row] = await panel.findAllByText(ANSWER);
  await userEvent.click(row as HTMLElement);
  return openView(page, view);
}

const clock: Pick<Story, 'loaders'> = {
  loaders: [async () => ({ engine: await openEngine(talkAgainstTheClock) })],
};

/** The prompt of an answer as it was sent. A click on a fragment finds it in the text, and one on the text finds the fragment. */
export const PromptRecorded: Story = {
  ...clock,
  play: async ({ canvasElement }) => {
    const panel = await answerOf(canvasElement, 'Prompt');
    await expect(await panel.findByText(/^As recorded for this answer/)).toBeVisible();
    await expect(panel.getByText('<now>It is 10:02 on Thursday, 26 November 2026.</now>')).toBeVisible();
    const fragments = panel.getByRole('list', { name: 'Fragments' });
    const row = within(fragments).getByRole('button', { name: /^clock/ });
    await userEvent.click(row);
    const text = panel.getByRole('button', { name: /^<now>/ });
    await expect(text).toHaveAttribute('aria-pressed', 'true');
    await userEvent.click(panel.getByRole('button', { name: /^<hint>/ }));
    await expect(within(fragments).getByRole('button', { name: /^hint/ })).toHaveAttribute(
      'aria-pressed',
      'true',
    );
    await expect(row).toHaveAttribute('aria-pressed', 'false');
  },
};

/** Nobody recorded this answer: what today's fragments make of it is shown, and said to be that. */
export const PromptNotRecorded: Story = {
  loaders: [
    async () => ({
      engine: await openEngine(async (engine) => {
        engine.set(role('You are a concise tutor.'));
        await say(engine, 'Why is tea brown?', 'Its leaves were left to darken in the air.');
      }),
    }),
  ],
  play: async ({ canvasElement }) => {
    const panel = await openViewAt(canvasElement, 'Its leaves were left to darken in the air.', 'Prompt');
    await expect(
      await panel.findByText('Not recorded: for this answer, with today’s fragments'),
    ).toBeVisible();
    await userEvent.click(panel.getByRole('button', { name: 'Next request' }));
    await expect(await panel.findByText('What would be sent next')).toBeVisible();
  },
};

/** Four formats side by side, with the tokens of each. */
export const PromptFormats: Story = {
  ...clock,
  play: async ({ canvasElement }) => {
    const panel = await openView(canvasElement, 'Prompt');
    await userEvent.click(await panel.findByRole('button', { name: 'Formats' }));
    await expect(await panel.findByRole('region', { name: 'TOML' })).toHaveTextContent('rules = ["Rule 1:');
    await expect(panel.getAllByText(/shortest/)).not.toHaveLength(0);
  },
};

/** What the prompt says that it did not say in the turn before: here, another minute. */
export const PromptDifference: Story = {
  ...clock,
  play: async ({ canvasElement }) => {
    const panel = await answerOf(canvasElement, 'Prompt');
    await userEvent.click(await panel.findByRole('button', { name: 'Difference' }));
    await waitFor(async () => {
      const words = panel.getByRole('group', { name: 'Content' });
      await expect(words.querySelector('del')).toHaveTextContent('01');
      await expect(words.querySelector('ins')).toHaveTextContent('02');
      await expect(words).toHaveTextContent('1 then, 3 now');
    });
    // All of it fits a narrow panel.
    const scroll = panel.getByRole('group', { name: 'Content' });
    scroll.style.maxWidth = '320px';
    await expect(scroll.scrollWidth).toBe(scroll.clientWidth);
    scroll.style.maxWidth = '';
  },
};

/** Each turn against the window of its model. The clock in the first fragment is why the cache broke, and what it cost. */
export const CostOfTurns: Story = {
  ...clock,
  play: async ({ canvasElement }) => {
    const panel = await openView(canvasElement, 'Cost');
    await expect(
      await panel.findByText(/^Spent: \$0\.\d+ on this branch, \$0\.\d+ in this chat/),
    ).toBeVisible();
    await expect(panel.getAllByText(/free of 128,000/)[0]).toBeVisible();
    // Each turn asks for itself why its cache broke.
    await waitFor(() => expect(panel.getAllByText('broke')).toHaveLength(2));
    const broken = panel.getAllByText('broke');
    await userEvent.click(broken[0] as HTMLElement);
    await expect((await panel.findAllByText(/holds a date or a time, and that changed/))[0]).toBeVisible();
    await expect(panel.getAllByText(/Move the time to the end/)[0]).toBeVisible();
    await userEvent.selectOptions(panel.getByRole('combobox', { name: /Priced as/ }), 'openai:gpt-4o-mini');
    await expect(await panel.findByText(/, had openai:gpt-4o-mini answered/)).toBeVisible();
  },
};

/** Nobody told who answered, or how many tokens that took: there are bars, and no prices. */
export const CostNotTold: Story = {
  loaders: [
    async () => ({
      engine: await openEngine(async (engine) => {
        engine.set(hint('Be brief.'));
        const chats = recordedChats(engine, { model: '', tellsUsage: false });
        await ask(chats, 'Why is tea brown?');
      }),
    }),
  ],
  play: async ({ canvasElement }) => {
    const panel = await openView(canvasElement, 'Cost');
    await expect(await panel.findByText('Cost not told')).toBeVisible();
    await expect(panel.getByText('model not told - usage not told')).toBeVisible();
    await expect(await panel.findByText('first')).toBeVisible();
  },
};

/** Answers of an earlier visit: their bars are there, and nothing was recorded of their requests. */
export const CostNotRecorded: Story = {
  loaders: [
    async () => ({
      engine: await openEngine(async (engine) => {
        await say(engine, 'Why is tea brown?', 'Its leaves were left to darken in the air.');
      }),
    }),
  ],
  play: async ({ canvasElement }) => {
    const panel = await openView(canvasElement, 'Cost');
    await expect(await panel.findByText('Cache: not recorded')).toBeVisible();
  },
};

/** A chat in which nothing was said. */
export const CostEmpty: Story = {
  loaders: [async () => ({ engine: await openEngine() })],
  play: async ({ canvasElement }) => {
    const panel = await openView(canvasElement, 'Cost');
    await expect(await panel.findByText('No answers yet.')).toBeVisible();
  },
};

/** A fragment that can't be had: the view says so, and nothing else stops. */
export const CostUnavailable: Story = {
  loaders: [
    async () => ({
      engine: await openEngine(async (engine) => {
        await say(engine, 'Why is tea brown?', 'Its leaves were left to darken in the air.');
        engine.set(fragment('weather', () => Promise.reject(new Error('The weather service is closed.'))));
      }),
    }),
  ],
  play: async ({ canvasElement }) => {
    const panel = await openView(canvasElement, 'Cost');
    await expect(await panel.findByRole('alert')).toHaveTextContent(/weather service/);
  },
};

/** The same question to two models, without one of the fragments; what came stays here, and one of them is kept. */
export const RunTwoModels: Story = {
  args: { run: { models: ['openai:gpt-4o', 'openai:gpt-4o-mini'] } },
  loaders: [
    async () => ({
      engine: await openEngine(async (engine) => {
        engine.set(role('You are a concise tutor.'), hint('Answer in plain words.'));
        const chats = recordedChats(engine, {
          runsDry: true,
          answers: [
            'Its leaves were left to darken in the air.',
            'Oxygen turns the green of the leaves brown, as it does with a cut apple.',
            'Its leaves were left to dry and darken in the open air.',
          ],
        });
        await ask(chats, 'Why is tea brown?');
      }),
    }),
  ],
  play: async ({ canvasElement, loaded }) => {
    const engine = engineIn(loaded);
    const panel = await openView(canvasElement, 'Run');
    await userEvent.click(await panel.findByRole('checkbox', { name: /^hint/ }));
    await userEvent.click(panel.getByRole('checkbox', { name: 'openai:gpt-4o-mini' }));
    await userEvent.click(panel.getByRole('button', { name: 'Run' }));
    await waitFor(() => expect(panel.getAllByText('done')).toHaveLength(2));
    await expect(engine.graph().nodes).toHaveLength(2);
    await userEvent.click((await panel.findAllByText(/^\+\d+ -\d+$/))[0] as HTMLElement);
    await expect(await panel.findByRole('region', { name: 'Difference' })).toBeVisible();
    await userEvent.click(panel.getAllByRole('button', { name: 'Keep' })[1] as HTMLElement);
    await expect(await panel.findByText('Kept as main-v2')).toBeVisible();
    await expect(engine.graph().nodes).toHaveLength(3);
    const [answered, kept] = engine.state.getState().branches.map(({ headKey }) => headKey);
    await expect(engine.node(kept ?? '')?.sources).toEqual([answered]);
  },
};

/** The first words of a long fragment take the free width of the panel, and end there. */
export const RunLongFragments: Story = {
  loaders: [
    async () => ({
      engine: await openEngine(async (engine) => {
        engine.set(role('You are a concise tutor.'), hint('Answer in plain words. '.repeat(40)));
        await ask(recordedChats(engine), 'Why is tea brown?');
      }),
    }),
  ],
  play: async ({ canvasElement }) => {
    const panel = await openView(canvasElement, 'Run');
    const fragments = await panel.findByRole('group', { name: 'Fragments' });
    for (const width of ['', '420px', '320px']) {
      fragments.style.maxWidth = width;
      const { right } = fragments.getBoundingClientRect();
      const long = within(fragments).getByText(/^<hint>/);
      await expect(right - long.getBoundingClientRect().right).toBeCloseTo(9, 0);
      const short = within(fragments).getByText(/^<role>/);
      await expect(short.scrollWidth).toBe(short.clientWidth);
      const scroll = panel.getByRole('group', { name: 'Content' });
      await expect(scroll.scrollWidth).toBe(scroll.clientWidth);
    }
    fragments.style.maxWidth = '';
  },
};

/** Over HTTP a server may run tools for any request: the panel asks first, and what is safe has the focus. */
export const RunOverHttp: Story = {
  loaders: [
    async () => ({
      engine: await openEngine(async (engine) => {
        const chats = recordedChats(engine, { model: '' });
        await ask(chats, 'Why is tea brown?');
      }),
    }),
  ],
  play: async ({ canvasElement }) => {
    const panel = await openView(canvasElement, 'Run');
    await userEvent.click(await panel.findByRole('button', { name: 'Run' }));
    const dialog = await panel.findByRole('alertdialog', { name: 'Your server may run tools' });
    const cancel = within(dialog).getByRole('button', { name: 'Cancel' });
    await expect((cancel.getRootNode() as ShadowRoot).activeElement).toBe(cancel);
    await userEvent.keyboard('{Escape}');
    await expect(panel.queryByRole('alertdialog')).toBeNull();
    await expect(panel.getByText(/^Nothing was run here yet/)).toBeVisible();
    await userEvent.click(panel.getByRole('button', { name: 'Run' }));
    await expect(await panel.findByRole('button', { name: 'Run anyway' })).toBeVisible();
  },
};

/** A model that fails is a row that says why. */
export const RunFailed: Story = {
  loaders: [
    async () => ({
      engine: await openEngine(async (engine) => {
        await say(engine, 'Why is tea brown?', 'Its leaves were left to darken in the air.');
        recordedChats(engine, { runsDry: true, fails: true });
      }),
    }),
  ],
  play: async ({ canvasElement }) => {
    const panel = await openView(canvasElement, 'Run');
    await userEvent.click(await panel.findByRole('button', { name: 'Run' }));
    await expect(await panel.findByText(/^failed: 503: the model is overloaded/)).toBeVisible();
  },
};

/** An app without a chat of contextree: there is nobody to ask. */
export const RunNobody: Story = {
  loaders: [
    async () => ({
      engine: await openEngine(async (engine) => {
        await say(engine, 'Why is tea brown?', 'Its leaves were left to darken in the air.');
      }),
    }),
  ],
  play: async ({ canvasElement }) => {
    const panel = await openView(canvasElement, 'Run');
    await expect(await panel.findByText(/^No chat is attached/)).toBeVisible();
  },
};

/** A chat in which nothing was asked. */
export const RunEmpty: Story = {
  loaders: [
    async () => ({
      engine: await openEngine(async (engine) => {
        recordedChats(engine);
      }),
    }),
  ],
  play: async ({ canvasElement }) => {
    const panel = await openView(canvasElement, 'Run');
    await expect(await panel.findByText(/^No question yet/)).toBeVisible();
    await userEvent.click(panel.getByRole('button', { name: 'Recorded' }));
    await expect(await panel.findByText(/^Not recorded/)).toBeVisible();
  },
};

/** An answer as it came, part by part; it can fail where one wants to see that, and become a test. */
export const Recorded: Story = {
  ...clock,
  play: async ({ canvasElement }) => {
    const panel = await openView(canvasElement, 'Run');
    await userEvent.click(await panel.findByRole('button', { name: 'Recorded' }));
    await expect(await panel.findByText(/Each time it needs a minute more\.$/)).toBeVisible();
    await fireEvent.change(panel.getByRole('spinbutton', { name: 'Fail at chunk' }), {
      target: { value: '7' },
    });
    await expect(await panel.findByText('Yes, two or three')).toBeVisible();
    await expect(panel.getByText(/^Fails here/)).toBeVisible();
    await expect(panel.getByRole('button', { name: 'Save as fixture' })).toBeEnabled();
  },
};

/** A request that failed. */
export const RecordedFailure: Story = {
  loaders: [
    async () => ({
      engine: await openEngine(async (engine) => {
        await ask(recordedChats(engine, { fails: true }), 'Why is tea brown?');
      }),
    }),
  ],
  play: async ({ canvasElement }) => {
    const panel = await openView(canvasElement, 'Run');
    await userEvent.click(await panel.findByRole('button', { name: 'Recorded' }));
    await expect(await panel.findByText(/^Failed: 503/)).toBeVisible();
  },
};

/** By night. */
export const CostByNight: Story = { ...CostOfTurns, ...night };
export const RunByNight: Story = {
  ...RunTwoModels,
  ...night,
  args: { ...RunTwoModels.args, ...night.args },
};
export const PromptByNight: Story = {
  ...PromptRecorded,
  ...night,
};
