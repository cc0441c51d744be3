import type { UIMessage } from 'ai';
import { beforeEach, describe, expect, it } from 'vitest';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import { settle } from '../support/transport.ts';
import { openPage, words, type Page } from './story.ts';

let page: Page;

beforeEach(async () => {
  page = await openPage();
  await page.ask('One?', 'First.');
  await page.ask('Two?', 'Second.');
});

const say = (role: 'user' | 'assistant', text: string, id: string = crypto.randomUUID()): UIMessage => ({
  id,
  role,
  parts: [{ type: 'text', text }],
});

describe('a list that the app changed', () => {
  it('changes nothing by itself', async () => {
    page.chats.active.messages = page.chats.active.messages.slice(0, 2);
    expect(page.shown()).toBe('q: One? | a: First.');
    await page.engine.updateChat({ title: 'A title' });
    expect(page.shown()).toBe('q: One? | a: First.');
    expect(await page.stored()).toBe('q: One? | a: First. | q: Two? | a: Second.');
  });

  it('stays as it is while others write to the branch', async () => {
    page.chats.active.messages = page.chats.active.messages.slice(0, 2);
    const other = await openPage(page.store);
    await other.ask('Three?', 'Third.');
    await settle();
    expect(page.engine.state.getState().messages).toHaveLength(6);
    expect(page.shown()).toBe('q: One? | a: First.');
  });

  it('shares what other branches hold, and copies none of it', async () => {
    const main = page.chats.active.messages;
    await page.script.answer(page.chats.active.regenerate({ messageId: main[1]!.id }), 'Other.');
    page.chats.active.messages = main;
    await page.ask('Three?', 'Third.');
    expect(page.chats.active.messages.slice(0, 4).map(({ id }) => id)).toEqual(main.map(({ id }) => id));
    expect(page.engine.node(page.chats.active.messages[4]!.id)!.parentId).toBe(main[3]!.id);
    expect((await page.store.load('c')).messages).toHaveLength(7);
  });

  it('forks where it left what is saved, when the next question is sent', async () => {
    page.chats.active.messages = page.chats.active.messages.slice(0, 2);
    await page.ask('Three?', 'Third.');
    expect(page.shown()).toBe('q: One? | a: First. | q: Three? | a: Third.');
    expect(await page.stored('main')).toBe('q: One? | a: First. | q: Two? | a: Second.');
    expect(await page.stored('main-v2')).toBe(page.shown());
  });

  it('begins anew when it was emptied', async () => {
    page.chats.active.messages = [];
    await page.ask('Anew?', 'Yes.');
    expect(await page.stored('main-v2')).toBe('q: Anew? | a: Yes.');
    expect(words(page.script.requests.at(-1)!.sent.messages)).toBe('q: Anew?');
    expect(page.engine.siblings(page.chats.active.messages[0]!.id).ids).toHaveLength(2);
  });

  it('keeps both versions of a message that was changed under its id', async () => {
    const [first, second, ...rest] = page.chats.active.messages;
    page.chats.active.messages = [
      { ...first!, parts: [{ type: 'text', text: 'Changed?' }] },
      second!,
      ...rest,
    ];
    await page.ask('Three?', 'Third.');
    expect(await page.stored('main-v2')).toBe(
      'q: Changed? | a: First. | q: Two? | a: Second. | q: Three? | a: Third.',
    );
    expect(await page.stored('main')).toBe('q: One? | a: First. | q: Two? | a: Second.');
    expect(page.shown()).toBe(await page.stored('main-v2'));
  });
});

it('an older answer that the app gave other words goes on from these, and stays what it was beside them', async () => {
  const [question, answer] = page.chats.active.messages;
  page.chats.active.messages = [question!, { ...answer!, parts: [{ type: 'text', text: 'Changed.' }] }];
  await page.script.answer(page.chats.active.sendMessage(), 'And more.');
  expect(await page.saved('main-v2')).toBe('q: One? | a: Changed./And more.');
  expect(await page.stored('main')).toBe('q: One? | a: First. | q: Two? | a: Second.');
});

describe('messages to begin with', () => {
  it('are shown while there is nothing else, and saved with the first question', async () => {
    const store = new InMemoryContextStore();
    const fresh = await openPage(store, { messages: [say('assistant', 'Welcome.', 'welcome')] });
    expect(fresh.shown()).toBe('a: Welcome.');
    expect(await fresh.stored()).toBe('');
    await fresh.ask('One?', 'First.');
    expect(await fresh.stored()).toBe('a: Welcome. | q: One? | a: First.');
    const again = await openPage(store, { messages: [say('assistant', 'Welcome.', 'welcome')] });
    expect(again.shown()).toBe('a: Welcome. | q: One? | a: First.');
  });
});

describe('a question that no store can keep as it is', () => {
  it('is kept, shown and sent without what no JSON holds', async () => {
    const metadata = { mood: 'curious', callback: () => {}, size: 5n };
    const sent = page.chats.active.sendMessage({ text: 'Odd?', metadata });
    const exchange = await page.script.next();
    expect(exchange.sent.messages.at(-1)!.metadata).toEqual({ mood: 'curious', size: '5' });
    await exchange.answer('Even.');
    await sent;
    await page.ask('Three?', 'Third.');
    const all = 'q: One? | a: First. | q: Two? | a: Second. | q: Odd? | a: Even. | q: Three? | a: Third.';
    expect(await page.saved()).toBe(all);
    expect(page.engine.state.getState().branches).toHaveLength(1);
  });
});
