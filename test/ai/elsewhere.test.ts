import type { UIMessage } from 'ai';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import { settle, type Exchange } from '../support/transport.ts';
import { openPage, words, type Page } from './story.ts';

/** Two tabs on one chat, and an answer that grows in the first. */
let here: Page;
let there: Page;
let exchange: Exchange;
let sent: Promise<void>;

beforeEach(async () => {
  const store = new InMemoryContextStore();
  here = await openPage(store);
  await here.ask('One?', 'First.');
  there = await openPage(store);
  sent = here.chats.active.sendMessage({ text: 'Two?' });
  exchange = await here.script.next();
  await exchange.say('Sec');
  await vi.waitUntil(() => there.shown() === 'q: One? | a: First. | q: Two? | a: Sec', 15_000);
});

function list(): UIMessage[] {
  return there.chats.active.messages;
}

describe('an answer that another tab is writing', () => {
  it('grows in the list, and no other message is made anew', async () => {
    const [one, first] = list();
    await exchange.say('ond');
    await expect.poll(() => there.shown()).toBe('q: One? | a: First. | q: Two? | a: Second');
    expect(list()[0]).toBe(one);
    expect(list()[1]).toBe(first);
    await exchange.answer('.');
    await sent;
    await expect.poll(() => there.shown()).toBe('q: One? | a: First. | q: Two? | a: Second.');
    expect(there.chats.active.status).toBe('ready');
    expect(new Set(list().map(({ id }) => id)).size).toBe(4);
    await there.ask('Three?', 'Third.');
    expect(await there.stored()).toBe('q: One? | a: First. | q: Two? | a: Second. | q: Three? | a: Third.');
  });

  it.each([
    ['asked for once more', () => there.chats.active.regenerate()],
    ['asked for once more by its id', () => there.chats.active.regenerate({ messageId: list()[3]!.id })],
    ['asked for by its question', () => there.chats.active.regenerate({ messageId: list()[2]!.id })],
    ['continued', () => there.chats.active.sendMessage()],
  ])('gets no second one beside it when it is %s', async (_, act) => {
    await act();
    expect(there.chats.active.error).toMatchObject({ code: 'busy' });
    expect(there.script.requests).toHaveLength(0);
    expect(there.shown()).toBe('q: One? | a: First. | q: Two? | a: Sec');
    there.chats.active.clearError();
    await exchange.answer('ond.');
    await sent;
    await expect.poll(() => there.shown()).toBe('q: One? | a: First. | q: Two? | a: Second.');
    await there.script.answer(there.chats.active.regenerate(), 'Other.');
    expect(there.shown()).toBe('q: One? | a: First. | q: Two? | a: Other.');
    expect(await there.stored('main')).toBe('q: One? | a: First. | q: Two? | a: Second.');
  });

  it('does not keep the person from asking: what is asked hangs on words that stay', async () => {
    const own = await there.begin('Deux?');
    expect(words(own.sent.messages)).toBe('q: One? | a: First. | q: Deux?');
    expect(there.shown()).toBe('q: One? | a: First. | q: Deux?');
    await own.answer('Deuxième.');
    await there.chats.whenSettled();
    await exchange.answer('ond.');
    await sent;
    await settle();
    expect(there.shown()).toBe('q: One? | a: First. | q: Deux? | a: Deuxième.');
    expect(await there.stored('main')).toBe('q: One? | a: First. | q: Two? | a: Second.');
    expect(await there.stored('main-v2')).toBe('q: One? | a: First. | q: Deux? | a: Deuxième.');
  });

  it('leaves the question before it to be edited, and its own one too', async () => {
    await there.reword(list()[0]!.id, 'Un?', 'Premier.');
    expect(there.shown()).toBe('q: Un? | a: Premier.');
    await there.engine.switchBranch('main');
    await expect.poll(() => there.shown()).toBe('q: One? | a: First. | q: Two? | a: Sec');
    await there.reword(list()[2]!.id, 'Deux?', 'Deuxième.');
    expect(there.shown()).toBe('q: One? | a: First. | q: Deux? | a: Deuxième.');
    await exchange.answer('ond.');
    await sent;
    expect(await there.stored('main')).toBe('q: One? | a: First. | q: Two? | a: Second.');
  });

  it('grows in a list that the app has changed, too', async () => {
    there.chats.active.messages = list().slice(2);
    await exchange.answer('ond.');
    await sent;
    await expect.poll(() => there.shown()).toBe('q: Two? | a: Second.');
    await expect.poll(() => there.engine.state.getState().remoteMessages).toEqual([]);
    await there.ask('Three?', 'Third.');
    expect(there.shown()).toBe('q: Two? | a: Second. | q: Three? | a: Third.');
    expect(await there.stored('main')).toContain('q: Two? | a: Second.');
  });
});

it('an answer that another tab goes on with grows in its place', async () => {
  await here.chats.active.stop();
  await sent;
  await expect.poll(() => there.engine.state.getState().remoteMessages).toEqual([]);
  const rest = await here.goOn('ond,');
  await expect.poll(() => there.shown()).toBe('q: One? | a: First. | q: Two? | a: Second,');
  await rest.answer(' as I said.');
  await here.chats.whenSettled();
  await expect.poll(() => there.shown()).toBe('q: One? | a: First. | q: Two? | a: Second, as I said.');
  await there.ask('Three?', 'Third.');
  expect(await there.stored()).toBe(
    'q: One? | a: First. | q: Two? | a: Second, as I said. | q: Three? | a: Third.',
  );
});

describe('a tab that is opened while another one waits for the first word', () => {
  beforeEach(async () => {
    const store = new InMemoryContextStore();
    here = await openPage(store);
    await here.ask('One?', 'First.');
    sent = here.chats.active.sendMessage({ text: 'Two?' });
    exchange = await here.script.next();
    there = await openPage(store);
  });

  it.each([
    ['once more', () => there.chats.active.regenerate()],
    ['for more', () => there.chats.active.sendMessage()],
  ])('shows no empty answer, and does not ask %s', async (_, act) => {
    expect(there.shown()).toBe('q: One? | a: First. | q: Two?');
    await act();
    expect(there.chats.active.error).toMatchObject({ code: 'busy' });
    expect(there.script.requests).toHaveLength(0);
    await exchange.answer('Second.');
    await sent;
    await expect.poll(() => there.shown()).toBe('q: One? | a: First. | q: Two? | a: Second.');
    expect(there.chats.active.status).toBe('ready');
  });

  it('leaves the answer to it also when the server offers it', async () => {
    const offered = there.script.offer();
    const resumed = there.chats.active.resumeStream();
    await settle();
    await offered.answer('Second.');
    await exchange.answer('Second.');
    await Promise.all([sent, resumed]);
    await there.chats.whenSettled();
    expect((await there.store.listBranches('c')).map(({ name }) => name)).toEqual(['main']);
  });
});

describe('the first answer of a chat, in a tab that was open before its question was saved', () => {
  beforeEach(async () => {
    const store = new InMemoryContextStore();
    here = await openPage(store);
    const look = slowLook(here);
    void here.chats.active.resumeStream();
    sent = here.chats.active.sendMessage({ text: 'One?' });
    // It waits for the look, and so there is a chat, with nothing in it.
    await vi.waitUntil(() => here.shown() === 'q: One?', 15_000);
    there = await openPage(store);
    look.end();
    exchange = await here.script.next();
    await exchange.say('Fir');
    await vi.waitUntil(() => there.shown() === 'q: One? | a: Fir', 15_000);
    // Nothing of it is settled here.
    await vi.waitUntil(() => there.engine.state.getState().messages.length === 0, 15_000);
  });

  const edit = (): Promise<void> => there.chats.active.sendMessage({ text: 'Un?', messageId: list()[0]!.id });

  it.each([
    ['as it is', edit],
    [
      'while the server is asked for an answer to take up',
      () => {
        const look = slowLook(there);
        void there.chats.active.resumeStream();
        setTimeout(look.end, 50);
        return edit();
      },
    ],
  ])('lets its question be edited, %s', async (_, act) => {
    await there.script.answer(act(), 'Premier.');
    expect(there.shown()).toBe('q: Un? | a: Premier.');
    await exchange.answer('st.');
    await sent;
    expect(await there.stored('main')).toBe('q: One? | a: First.');
    expect(await there.stored('main-v2')).toBe('q: Un? | a: Premier.');
  });

  it('keeps its last words when its question is edited at their moment', async () => {
    const answered = exchange.answer('st.');
    const edited = edit();
    await (await there.script.next()).answer('Premier.');
    await Promise.all([answered, edited, sent]);
    expect(await there.stored('main')).toBe('q: One? | a: First.');
    expect(await there.stored('main-v2')).toBe('q: Un? | a: Premier.');
  });
});

/** Delays the answer of a page's server that there is nothing to take up. */
function slowLook({ chats, script }: Page): { readonly end: () => void } {
  let end: () => void = () => {};
  const looked = new Promise<null>((resolve) => {
    end = () => resolve(null);
  });
  chats.configure({ transport: { ...script.transport, reconnectToStream: () => looked } });
  return { end };
}
