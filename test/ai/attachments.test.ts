import type { UIMessage } from 'ai';
import { describe, expect, it } from 'vitest';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import { openPage, type Page } from './story.ts';

const bytes = String.fromCharCode(...Array.from({ length: 4000 }, (_, i) => i % 256));
const picture = {
  type: 'file' as const,
  mediaType: 'image/png',
  filename: 'cat.png',
  url: `data:image/png;base64,${btoa(bytes)}`,
};
const drawn = { type: 'file', mediaType: 'image/png', url: picture.url } as const;

function files(messages: readonly UIMessage[]): UIMessage['parts'] {
  return messages.flatMap(({ parts }) => parts.filter(({ type }) => type === 'file'));
}

/** Sends a picture, which is answered. */
async function showCat({ chats, script }: Page): Promise<void> {
  await script.answer(chats.active.sendMessage({ text: 'What is this?', files: [picture] }), 'A cat.');
}

describe('a file that is sent', () => {
  it('is the same part for the model, in the chat, on each branch and after a reload', async () => {
    const store = new InMemoryContextStore();
    const page = await openPage(store);
    const sent = page.chats.active.sendMessage({ text: 'What is this?', files: [picture] });
    const exchange = await page.script.next();
    expect(files(exchange.sent.messages)).toEqual([picture]);
    await exchange.answer('A cat.');
    await sent;
    await page.script.answer(page.chats.active.regenerate(), 'A dog.');
    const [question] = page.chats.active.messages;
    const edited = page.chats.active.sendMessage({
      messageId: question!.id,
      parts: [...question!.parts.filter(({ type }) => type === 'file'), { type: 'text', text: 'And this?' }],
    });
    await (await page.script.next()).answer('A cat.');
    await edited;
    expect(files(page.chats.active.messages)).toEqual([picture]);
    const fresh = await openPage(store);
    expect(fresh.chats.active.messages).toEqual(page.chats.active.messages);
    for (const branch of ['main', 'main-v2', 'main-v3'])
      expect(files((await fresh.engine.resolve({ branch })).messages)).toEqual([picture]);
    expect((await fresh.engine.estimate()).tokens).toBeLessThan(200);
  });

  it('goes on with an edit of the words alone', async () => {
    const page = await openPage();
    await showCat(page);
    const edited = page.engine.attached!.edit(page.chats.active.messages[0]!.id, 'And who?');
    const exchange = await page.script.next();
    expect(files(exchange.sent.messages)).toEqual([picture]);
    await exchange.answer('Tom.');
    await edited;
  });
});

it('stands in a snapshot with its size, and in the chat as it is', async () => {
  const page = await openPage();
  await showCat(page);
  const { fragments } = await page.engine.inspect();
  const url = `data:image/png;base64,[${picture.url.length} characters]`;
  expect(files(fragments.persisted)).toEqual([{ ...picture, url }]);
  expect(files(page.chats.active.messages)).toEqual([picture]);
});

describe('a file that a model makes', () => {
  it('is kept while the answer grows, when it is cut, and when it goes on', async () => {
    const store = new InMemoryContextStore();
    const page = await openPage(store);
    const exchange = await page.begin('Draw a cat.');
    await exchange.send({ type: 'start' }, drawn);
    const saved = async (): Promise<UIMessage['parts']> =>
      files((await (await openPage(store)).engine.resolve({ branch: 'main' })).messages);
    await expect
      .poll(async () => files((await store.getMessages('c')).map(({ data }) => data)))
      .toEqual([drawn]);
    await exchange.say('A cat.');
    await exchange.break();
    await page.chats.whenSettled();
    expect(await saved()).toEqual([drawn]);
    await page.script.answer(page.chats.active.sendMessage(), 'It purrs.');
    expect(await saved()).toEqual([drawn]);
  });
});
