import type { Meta, StoryObj } from '@storybook/react-vite';
import {
  type ContextEngine,
  fragment,
  hint,
  IndexedDBContextStore,
  InMemoryContextStore,
  role,
  term,
  user,
} from 'contextree';
import type { ContextDevtoolsPanel } from 'contextree/devtools/production';
import { exportSession, openSession } from 'contextree/session';
import { expect, userEvent, waitFor, within } from 'storybook/test';
import { CHAT, say, tell } from './support/earlier.ts';
import { night } from './support/night.ts';
import { openEngine } from './support/panelPage.tsx';
import { engineIn, panelIn, panelStory, pressIn, writeInto } from './support/panelStory.tsx';

/** What is kept, and what of it: storage, fragments, checkpoints, and the snapshot of all of it. */
const meta: Meta<typeof ContextDevtoolsPanel> = {
  title: 'Devtools panel/Records',
  ...panelStory,
};

export default meta;

type Story = StoryObj<typeof meta>;

async function talkOfSalt(engine: ContextEngine): Promise<void> {
  const ids = await say(
    engine,
    'How much salt goes into bread?',
    'About two percent of the flour.',
    'And into the water for pasta?',
    'Ten grams a litre.',
  );
  await engine.checkpoint('Bread', { at: ids[1] ?? '' });
  await engine.checkpoint('Pasta, with a rather long name that nobody would give twice');
}

const DATABASE = 'contextree-story-of-records';

/** Where the chats lie, how much there is, and how long writing takes. */
export const Storage: Story = {
  loaders: [
    async () => ({ engine: await openEngine(talkOfSalt, { store: new IndexedDBContextStore(DATABASE) }) }),
  ],
  beforeEach:
    ({ loaded }) =>
    () => {
      engineIn(loaded).dispose();
      void engineIn(loaded).store.close();
      indexedDB.deleteDatabase(DATABASE);
    },
  play: async ({ canvas, canvasElement }) => {
    const panel = await panelIn(canvasElement, 'Storage');
    await expect(await panel.findByText('indexeddb')).toBeVisible();
    await expect(await panel.findByText(/ of [\d.]+ .B$/)).toBeVisible();
    await userEvent.click(canvas.getByRole('button', { name: 'Say something' }));
    await expect(await panel.findByRole('row', { name: /^save 1/ })).toBeVisible();
    await userEvent.click(panel.getByRole('button', { name: 'Measure' }));
    await expect(await panel.findByRole('row', { name: /^messages \d+ [\d.]+ k?B/ })).toBeVisible();
    await userEvent.click(panel.getByRole('button', { name: 'Check' }));
    await expect(await panel.findByText('No faults found.')).toBeVisible();
  },
};

/** A store that has lost the words of a message, and one of which it never had the parent. */
async function damagedStore(): Promise<InMemoryContextStore> {
  const store = new InMemoryContextStore();
  await tell(store, CHAT, talkOfSalt);
  const bodies = store.bodies.bind(store);
  store.bodies = async (chatId, keys, records) =>
    new Map([...(await bodies(chatId, keys, records))].slice(1));
  store.examine = async () => [
    {
      kind: 'mark',
      id: 'mark name',
      reason: 'can not be read: <img src=x onerror=alert(1)>',
      isMended: true,
    },
  ];
  return store;
}

/** What a check finds is told before a repair changes anything. */
export const StorageDamaged: Story = {
  loaders: [async () => ({ engine: await openEngine(async () => {}, { store: await damagedStore() }) })],
  play: async ({ canvasElement }) => {
    const panel = await panelIn(canvasElement, 'Storage');
    await userEvent.click(await panel.findByRole('button', { name: 'Check' }));
    await expect(await panel.findByText(/findings?; a repair would mend 1$/)).toBeVisible();
    await userEvent.click(panel.getByRole('button', { name: /^Repair 1 of/ }));
    await expect(await panel.findByText(/; 1 mended$/)).toBeVisible();
    await expect(panel.queryByRole('img')).toBeNull();
  },
};

/** What the prompt is made of: each piece with its tokens, a group with those of its own pieces, and one that fails. */
export const Fragments: Story = {
  loaders: [
    async () => ({
      engine: await openEngine(async (engine) => {
        engine.set(
          role('You are a baker who explains things.'),
          fragment(
            'house rules',
            hint('Answer in plain words.'),
            hint('Grams, not cups.'),
            term('levain', 'sourdough'),
          ),
          fragment('weather', () => Promise.reject(new Error('The weather service is closed.'))),
          { ...hint('Never guess a temperature.'), persist: false },
        );
        await talkOfSalt(engine);
        engine.set(user('A question that waits to be saved'));
      }),
    }),
  ],
  play: async ({ canvasElement }) => {
    const panel = await panelIn(canvasElement, 'Fragments');
    const tree = await panel.findByRole('tree', { name: 'Fragments' });
    await expect(within(tree).getByRole('treeitem', { name: /^role: .*~\d+$/ })).toBeVisible();
    await expect(within(tree).getByText(/The weather service is closed/)).toBeVisible();
    // The number above the tree is that of what is in it, and not of the messages too.
    await expect(panel.getByRole('heading')).toHaveTextContent(/^System prompt ~\d+ \(\d+ %\)$/);
    await userEvent.click(within(tree).getByRole('treeitem', { name: /^.?house rules/ }));
    await expect(await within(tree).findByRole('treeitem', { name: /^hint 2: .*~\d+$/ })).toBeVisible();
    await expect(within(tree).getByText('wait for save()')).toBeVisible();
    await expect(within(tree).getByText('never kept')).toBeVisible();
    // What a fragment costs stays in sight in a narrow panel: its text is cut for it.
    tree.style.cssText = 'flex:none;height:200px;width:320px';
    const rows = within(tree).getAllByRole('treeitem');
    await expect(rows.filter((row) => row.scrollWidth > row.clientWidth)).toHaveLength(0);
    tree.style.cssText = '';
  },
};

/** An app that sets no fragments. */
export const FragmentsNone: Story = {
  loaders: [async () => ({ engine: await openEngine(talkOfSalt) })],
  play: async ({ canvasElement }) => {
    const panel = await panelIn(canvasElement, 'Fragments');
    await expect(await panel.findByText(/^No fragments, /)).toBeVisible();
  },
};

/** Each checkpoint with the words at which it stands; the selected one is restored, renamed or deleted. */
export const Checkpoints: Story = {
  loaders: [async () => ({ engine: await openEngine(talkOfSalt) })],
  play: async ({ canvas, canvasElement }) => {
    const panel = await panelIn(canvasElement, 'Checkpoints');
    await userEvent.click(await panel.findByTitle('Checkpoint Bread'));
    // A long name is clipped in its middle, and not at the edge of its mark.
    const long = panel.getByTitle(/^Checkpoint Pasta/);
    await expect(long.scrollWidth).toBeLessThanOrEqual(long.clientWidth);
    const rename = panel.getByRole('button', { name: 'Rename' });
    // In a panel of its usual width, 420 px with its edges, the buttons stand in one line.
    const footer = rename.closest('footer') as HTMLElement;
    footer.style.width = '418px';
    const tops = [...footer.children].map((one) => one.getBoundingClientRect().top);
    await expect(Math.max(...tops) - Math.min(...tops)).toBeLessThan(8);
    footer.style.width = '';
    await userEvent.click(rename);
    const name = panel.getByRole('textbox', { name: 'Name of the checkpoint' });
    writeInto(name, 'Two percent');
    pressIn(name, 'Enter');
    await expect(await panel.findByTitle('Checkpoint Two percent')).toBeVisible();
    await userEvent.click(panel.getByRole('button', { name: 'Restore' }));
    await expect(await canvas.findByRole('heading', { name: 'An app on main-v2' })).toBeVisible();
    await userEvent.click(panel.getByRole('button', { name: 'Delete' }));
    await waitFor(() => expect(panel.getAllByRole('option')).toHaveLength(1));
    await userEvent.click(panel.getByRole('button', { name: 'Undo' }));
    await waitFor(() => expect(panel.getAllByRole('option')).toHaveLength(2));
  },
};

/** A chat without checkpoints says how to set one. */
export const CheckpointsNone: Story = {
  loaders: [
    async () => ({ engine: await openEngine((engine) => say(engine, 'How much salt?', 'Two percent.')) }),
  ],
  play: async ({ canvasElement }) => {
    const panel = await panelIn(canvasElement, 'Checkpoints');
    await expect(await panel.findByText(/^No checkpoints yet/)).toBeVisible();
  },
};

/** The snapshot is searched, also in what is folded. */
export const SnapshotSearch: Story = {
  loaders: [async () => ({ engine: await openEngine(talkOfSalt) })],
  play: async ({ canvasElement }) => {
    const panel = await panelIn(canvasElement, 'Snapshot');
    await panel.findByRole('tree', { name: 'Snapshot' });
    const search = panel.getByRole('searchbox', { name: 'Search the snapshot' });
    writeInto(search, 'flour');
    await expect(await panel.findByText('2')).toBeVisible();
    pressIn(search, 'Enter');
    await expect(
      await panel.findByRole('treeitem', { name: /two percent of the flour/, selected: true }),
    ).toBeVisible();
  },
};

/** The chat was deleted in another tab: each view says so, or shows what is left, and none breaks. */
export const ChatDeleted: Story = {
  loaders: [
    async () => {
      const store = new InMemoryContextStore();
      const engine = await openEngine(talkOfSalt, { store });
      await store.deleteChat(CHAT);
      return { engine };
    },
  ],
  play: async ({ canvasElement }) => {
    for (const view of ['Log', 'Storage', 'Fragments', 'Checkpoints', 'Snapshot']) {
      const panel = await panelIn(canvasElement, view);
      await waitFor(() => expect(panel.queryByText(/^Loading…/)).toBeNull());
      await expect(panel.queryByText(/^This view stopped/)).toBeNull();
    }
  },
};

/** A chat that somebody exported, opened to be looked at: it says that it is a copy, and what would change it says why it can't. */
export const SessionCopy: Story = {
  loaders: [
    async () => {
      const engine = await openEngine(talkOfSalt);
      return { engine: await openSession(JSON.stringify(await exportSession(engine))) };
    },
  ],
  play: async ({ canvasElement }) => {
    const panel = await panelIn(canvasElement, 'Checkpoints');
    await expect(await panel.findByText(/^Read-only copy of story/)).toBeVisible();
    await userEvent.click(await panel.findByTitle('Checkpoint Bread'));
    await userEvent.click(panel.getByRole('button', { name: 'Delete' }));
    await expect(await panel.findByRole('alert')).toHaveTextContent(/deleteCheckpoint\(\) would change it/);
    await expect(panel.getAllByRole('option')).toHaveLength(2);
  },
};

/** A file that is no session is refused in words, and the chat stays. */
export const SessionRefused: Story = {
  loaders: [async () => ({ engine: await openEngine(talkOfSalt) })],
  play: async ({ canvasElement }) => {
    const panel = await panelIn(canvasElement, 'Snapshot');
    const input = await panel.findByLabelText('Session file');
    await userEvent.upload(input, new File(['{"a":1}'], 'a.json', { type: 'application/json' }));
    await expect(await panel.findByText(/^This is no session of contextree/)).toBeVisible();
    await userEvent.click(panel.getByRole('button', { name: 'Export session' }));
    await expect(await panel.findByText(/^Exported\./)).toBeVisible();
  },
};

/** By night. */
export const StorageDark: Story = { ...StorageDamaged, ...night };
export const FragmentsDark: Story = { ...Fragments, ...night };
export const CheckpointsDark: Story = { ...Checkpoints, ...night };
