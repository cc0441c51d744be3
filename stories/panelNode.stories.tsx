import type { Meta, StoryObj } from '@storybook/react-vite';
import type { UIMessage } from 'ai';
import { InMemoryContextStore, type ContextEngine } from 'contextree';
import type { ContextDevtoolsPanel } from 'contextree/devtools/production';
import { expect, fireEvent, userEvent, waitFor, within } from 'storybook/test';
import { say } from './support/earlier.ts';
import { night } from './support/night.ts';
import { openEngine } from './support/panelPage.tsx';
import { engineIn, focused, panelIn, panelStory, pick, read } from './support/panelStory.tsx';
import { gpt4o, turn } from './support/turns.ts';

/** All that the devtools know of one message. */
const meta: Meta<typeof ContextDevtoolsPanel> = { ...panelStory, title: 'Devtools panel/Node' };

export default meta;

type Story = StoryObj<typeof meta>;

const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAYAAACNMs+9AAAAFUlEQVR42mP8z8BQz0AEYBxVSF+FABJADveWkH6oAAAAAElFTkSuQmCC';

const everyKind: UIMessage['parts'] = [
  { type: 'reasoning', text: 'They want to know how the leaves get their colour. I should look it up.' },
  { type: 'step-start' },
  {
    type: 'tool-searchDocs',
    toolCallId: 'call-1',
    state: 'output-available',
    input: { query: 'why is tea brown', limit: 2 },
    output: { hits: [{ title: 'Oxidation', score: 0.93 }] },
  },
  {
    type: 'dynamic-tool',
    toolName: 'weather',
    toolCallId: 'call-2',
    state: 'output-error',
    input: { city: 'Kandy' },
    errorText: 'The weather service is closed.',
  },
  { type: 'text', text: 'Oxygen turns the green of the leaves brown, as it does with a cut apple.' },
  { type: 'source-url', sourceId: 's1', url: 'https://example.com/tea', title: 'On tea' },
  { type: 'source-url', sourceId: 's2', url: 'javascript:alert(1)', title: 'A link that would run' },
  {
    type: 'source-document',
    sourceId: 's3',
    mediaType: 'application/pdf',
    title: 'Leaves',
    filename: 'leaves.pdf',
  },
  { type: 'file', mediaType: 'image/png', filename: 'leaf.png', url: PIXEL },
  { type: 'file', mediaType: 'image/png', filename: 'far.png', url: 'https://example.com/far.png' },
  { type: 'data-progress', data: { done: 3, of: 4 } },
];

async function ofEveryKind(engine: ContextEngine): Promise<void> {
  await turn(engine, 'Why is tea brown?', everyKind, {
    metadata: gpt4o,
    call: { steps: 2, toolMs: [312, 1_200], finishReason: 'stop' },
  });
  await engine.checkpoint('before the apple');
}

/** Each kind of part is drawn as what it is, with what its request told. */
export const EveryKind: Story = {
  loaders: [async () => ({ engine: await openEngine(ofEveryKind) })],
  play: async ({ canvasElement }) => {
    const node = await read(await panelIn(canvasElement), /^Oxygen turns the green/);
    await expect(await node.findByText('searchDocs')).toBeVisible();
    await expect(node.getByText(/done - 312 ms|312 ms/)).toBeInTheDocument();
    await expect(node.getByText('The weather service is closed.')).toBeInTheDocument();
    await expect(node.getByRole('link', { name: 'https://example.com/tea' })).toHaveAttribute(
      'rel',
      'noreferrer noopener',
    );
    await expect(node.queryByRole('link', { name: /javascript/ })).toBeNull();
    await expect(node.getByRole('img', { name: 'leaf.png' })).toBeInTheDocument();
    await expect(node.queryByRole('img', { name: 'far.png' })).toBeNull();
    const facts = node.getByText(/^complete - openai:gpt-4o - 240 out - 3\.9 s$/);
    if (!facts.closest('details')?.open) await userEvent.click(facts);
    await expect(node.getByText('openai:gpt-4o')).toBeVisible();
    await expect(
      node.getByText('5,200 in, 4,100 of them cached, 240 out, 60 of them reasoning'),
    ).toBeVisible();
    await expect(node.getByText('after 480 ms')).toBeVisible();
    await expect(node.getByText('3.9 s in 2 steps')).toBeVisible();
    await expect(node.getByText('before the apple (here)')).toBeVisible();
    await userEvent.click(node.getByRole('button', { name: 'JSON' }));
    await expect(await node.findByText(/"type": "tool-searchDocs"/)).toBeInTheDocument();
  },
};

/** Nobody told the model, the usage or the time: the view says so, and estimates what it can. */
export const NotTold: Story = {
  loaders: [
    async () => ({
      engine: await openEngine((engine) =>
        say(engine, 'Why is tea brown?', 'Its leaves were left to darken.'),
      ),
    }),
  ],
  play: async ({ canvasElement }) => {
    const node = await read(await panelIn(canvasElement), 'Its leaves were left to darken.');
    await expect(await node.findAllByText('not told')).toHaveLength(5);
    await expect(await node.findByText(/^~\d+ tokens$/)).toBeInTheDocument();
  },
};

/** An answer that was changed twice: what became of it, word by word. */
export const Revisions: Story = {
  loaders: [
    async () => ({
      engine: await openEngine(async (engine) => {
        const { answered } = await turn(
          engine,
          'Why is tea brown?',
          'Its leaves were left to darken in the air.',
        );
        for (const text of ['Its leaves darken in the air.', 'Its leaves turn brown in the air.'])
          await engine.updateMessage(answered, {
            id: 'any',
            role: 'assistant',
            parts: [{ type: 'text', text }],
          });
      }),
    }),
  ],
  play: async ({ canvasElement }) => {
    const node = await read(await panelIn(canvasElement), 'Its leaves turn brown in the air.');
    await userEvent.click(await node.findByRole('button', { name: 'Revisions' }));
    await expect(await node.findByText('turn brown')).toBeVisible();
    await expect(node.getAllByRole('heading')).toHaveLength(2);
  },
};

/** A message that was never changed has no revisions. */
export const NoRevisions: Story = {
  ...NotTold,
  play: async ({ canvasElement }) => {
    const node = await read(await panelIn(canvasElement), 'Its leaves were left to darken.');
    await userEvent.click(await node.findByRole('button', { name: 'Revisions' }));
    await expect(await node.findByText('It was never changed.')).toBeVisible();
  },
};

/** A question in other words, on a branch of its own; no model is asked. */
export const EditAsBranch: Story = {
  loaders: [async () => ({ engine: await openEngine(ofEveryKind) })],
  play: async ({ canvasElement, loaded }) => {
    const panel = await panelIn(canvasElement);
    const node = await read(panel, 'Why is tea brown?');
    await pick(panel, 'Actions', 'Edit as a new branch');
    const words = await node.findByRole('textbox', { name: 'Words 1 of 1' });
    await waitFor(() => expect(focused(words)).toBe(words));
    await fireEvent.change(words, { target: { value: 'Why is tea green?' } });
    await userEvent.click(node.getByRole('button', { name: 'Save as a new branch' }));
    await waitFor(() => expect(engineIn(loaded).state.getState().branches).toHaveLength(2));
    const edited = within(await panel.findByRole('region', { name: 'Selected message' }));
    await expect((await edited.findAllByText('Why is tea green?')).at(-1)).toBeVisible();
  },
};

/** The record of a message is there, and its words are not: a damaged disk. */
export const WordsLost: Story = {
  loaders: [
    async () => {
      const store = new InMemoryContextStore();
      const before = await openEngine(ofEveryKind, { store });
      before.dispose();
      const readBodies = store.bodies.bind(store);
      store.bodies = async (chatId, keys, records) => {
        const bodies = new Map(await readBodies(chatId, keys, records));
        for (const [key, { message }] of bodies) if (message.role === 'user') bodies.delete(key);
        return bodies;
      };
      return { engine: await openEngine(undefined, { store }) };
    },
  ],
  play: async ({ canvasElement }) => {
    const node = await read(await panelIn(canvasElement), 'Why is tea brown?');
    await expect(await node.findByText(/^Its content is lost/)).toBeVisible();
  },
};

/** Parts that no version of the AI SDK would write are shown as they lie, and the rest of the message with them. */
export const DamagedParts: Story = {
  loaders: [
    async () => {
      const engine = await openEngine((one) => turn(one, 'What is left?', 'Still here.'));
      const broken = [{ type: 'file' }, { type: 'reasoning' }, null, { type: 'text', text: 'Still here.' }];
      const parts = broken as unknown as UIMessage['parts'];
      const message = engine.message.bind(engine);
      engine.message = (id) => {
        const known = message(id);
        return known?.role === 'assistant' ? { ...known, parts } : known;
      };
      return { engine };
    },
  ],
  play: async ({ canvasElement }) => {
    const node = await read(await panelIn(canvasElement), 'Still here.');
    await expect(await node.findAllByText('damaged part')).toHaveLength(2);
    await expect(node.getByText('Still here.')).toBeVisible();
  },
};

/** By night. */
export const Dark: Story = { ...EveryKind, ...night };
