import { assistant, ContextEngine, InMemoryContextStore, user, type ContextStore } from 'contextree';
import { expect, test } from 'vitest';
import { exportData } from '../../stories/demo/settings/exportData.ts';
import { importData, importedInWords } from '../../stories/demo/settings/importData.ts';

/** A store with a chat: a question, two answers, a checkpoint and a title. */
async function withChat(): Promise<ContextStore> {
  const store = new InMemoryContextStore();
  const engine = new ContextEngine({ store, chatId: 'c', userId: 'local' });
  await engine.set(user('Why do rivers bend?', { id: 'q' }), assistant('They wander.')).save();
  await engine.checkpoint('start', { at: 'q' });
  await engine.rewind('q');
  await engine.set(assistant('They must.')).save();
  await engine.updateChat({ title: 'Rivers' });
  engine.dispose();
  return store;
}

async function said(store: ContextStore, chatId = 'c'): Promise<unknown> {
  const engine = new ContextEngine({ store, chatId, userId: 'local' });
  await engine.ready();
  const { branches, checkpoints, chat } = engine.state.getState();
  const words = await Promise.all(
    branches.map(async ({ headKey }) =>
      (await store.getMessageChain(chatId, headKey ?? '')).map(({ data }) => data.parts),
    ),
  );
  engine.dispose();
  return [branches.map(({ name }) => name), checkpoints.map(({ name }) => name), chat?.title, words];
}

test('what was exported is there again in an empty browser: versions, branches, checkpoints, titles', async () => {
  const store = await withChat();
  const text = JSON.stringify(await exportData(store));
  const other = new InMemoryContextStore();
  expect(await importData(other, text)).toEqual({ chats: 1, messages: 3, damaged: [] });
  expect(await said(other)).toEqual(await said(store));
  expect(await importData(other, text)).toEqual({ chats: 0, messages: 0, damaged: [] });
  expect((await other.listChats()).map(({ title, branchCount }) => [title, branchCount])).toEqual([
    ['Rivers', 2],
  ]);
});

test('a chat that went on since gains nothing and loses nothing; one that was deleted comes back as another', async () => {
  const store = await withChat();
  const text = JSON.stringify(await exportData(store));
  const engine = new ContextEngine({ store, chatId: 'c', userId: 'local' });
  await engine.set(user('And brooks?')).save();
  const before = await said(store);
  expect(await importData(store, text)).toEqual({ chats: 0, messages: 0, damaged: [] });
  expect(await said(store)).toEqual(before);
  engine.dispose();

  await store.deleteChat('c');
  expect(await importData(store, text)).toEqual({ chats: 1, messages: 3, damaged: [] });
  expect(await importData(store, text)).toEqual({ chats: 0, messages: 0, damaged: [] });
  expect((await store.listChats()).map(({ id, title }) => [id, title])).toEqual([['c-2', 'Rivers']]);
});

test.each(['', '[]', '{"format":"other"}', '{"format":"contextree-demo","version":2,"chats":[]}'])(
  'a file that is no export is refused in words: %s',
  async (text) => {
    await expect(importData(new InMemoryContextStore(), text)).rejects.toThrow(
      'was not exported by this app',
    );
  },
);

test.each<[string, (chat: Whole) => unknown]>([
  ['nothing', () => null],
  ['no chat', () => ({})],
  ['no messages', (whole) => ({ ...whole, messages: undefined })],
  ['an empty id', (whole) => ({ ...whole, chat: { ...whole.chat, id: '' } })],
  ['no sums', (whole) => withVersion(whole, { sum: undefined })],
  ['broken parts', (whole) => withVersion(whole, { body: { id: 'q', role: 'user', parts: [{}, 1] } })],
])('a damaged chat (%s) is named and left out whole, and the others come in', async (_, damage) => {
  const file = await exportData(await withChat());
  const broken = damage(file.chats[0]!) as Whole | null;
  const store = new InMemoryContextStore();
  const imported = await importData(store, JSON.stringify({ ...file, chats: [broken, ...file.chats] }));
  const name = broken?.chat ? 'Chat 1 (“Rivers”)' : 'Chat 1';
  expect(importedInWords(imported)).toBe(
    `Imported 1 chat with 3 messages. ${name} of this file is damaged, and nothing of it was imported.`,
  );
  expect((await store.listChats()).map(({ id }) => id)).toEqual(['c']);
});

type Whole = Awaited<ReturnType<typeof exportData>>['chats'][number];

/** The chat with something else in its last message. */
function withVersion(whole: Whole, change: object): object {
  const messages = whole.messages.map((message, i) =>
    i < whole.messages.length - 1
      ? message
      : { ...message, versions: message.versions.map((version) => ({ ...version, ...change })) },
  );
  return { ...whole, messages };
}
