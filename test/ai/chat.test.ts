import type { UIMessageChunk } from 'ai';
import { beforeEach, describe, expect, it } from 'vitest';
import { settle, type Exchange } from '../support/transport.ts';
import { afterReload, noteOf, openPage, words, type Page } from './story.ts';

let page: Page;

const STEP: UIMessageChunk = { type: 'start-step' };
const CALL: UIMessageChunk = { type: 'tool-input-available', toolCallId: '1', toolName: 'dice', input: {} };

/** A text of its own. */
const told = (...deltas: string[]): UIMessageChunk[] => [
  { type: 'text-start', id: 'x' },
  ...deltas.map((delta): UIMessageChunk => ({ type: 'text-delta', id: 'x', delta })),
  { type: 'text-end', id: 'x' },
];

beforeEach(async () => {
  page = await openPage();
});

describe('a turn', () => {
  it('saves the question before it is sent, and the answer before the chat is ready', async () => {
    const exchange = await page.begin('Hello?');
    expect(await page.stored()).toBe('q: Hello? | a: ');
    await exchange.say('Hi ', 'there');
    expect(page.shown()).toBe('q: Hello? | a: Hi there');
    expect(page.chats.active.status).toBe('streaming');
    await exchange.finish();
    expect(page.chats.active.status).toBe('ready');
    expect(await page.stored()).toBe('q: Hello? | a: Hi there');
    await page.chats.whenSettled();
    const [question, answer] = page.chats.active.messages;
    expect([page.engine.status(question!.id), page.engine.status(answer!.id)]).toEqual([
      'complete',
      'complete',
    ]);
  });

  it('shows the answer together with its first word, and not before', async () => {
    const exchange = await page.begin('Hello?');
    await exchange.send({ type: 'start', messageId: 'theirs' }, { type: 'start-step' });
    expect(page.chats.active.messages).toHaveLength(1);
    expect(page.chats.active.status).toBe('submitted');
    await exchange.send({ type: 'text-start', id: 't' }, { type: 'text-delta', id: 't', delta: 'Hi' });
    expect(page.shown()).toBe('q: Hello? | a: Hi');
    await exchange.finish();
    expect(await page.stored()).toBe('q: Hello? | a: Hi');
    expect(page.chats.active.messages[1]!.id).toBe('theirs');
  });
});

describe('another version', () => {
  beforeEach(() => page.ask('One?', 'First.'));

  it('of an answer is made beside it, three times, and one can page through them', async () => {
    for (const text of ['Second.', 'Third.', 'Fourth.']) {
      await page.script.answer(page.chats.active.regenerate(), text);
      expect(page.shown()).toBe(`q: One? | a: ${text}`);
    }
    expect(page.engine.state.getState().branches.map(({ name }) => name)).toEqual([
      'main',
      'main-v2',
      'main-v3',
      'main-v4',
    ]);
    expect(page.script.requests.map((exchange) => noteOf(exchange).attempt)).toEqual([0, 1, 2, 3]);
    const { ids, index } = page.engine.siblings(page.chats.active.messages[1]!.id);
    expect([ids.length, index]).toEqual([4, 3]);
    await page.engine.selectSibling(ids[0]!);
    expect(page.shown()).toBe('q: One? | a: First.');
    await page.engine.selectSibling(ids[2]!);
    expect(page.shown()).toBe('q: One? | a: Third.');
  });

  it('of a question keeps the old one with all that followed', async () => {
    await page.ask('Two?', 'Second.');
    const [root, , second] = page.chats.active.messages;
    await page.reword(second!.id, 'Deux?', 'Deuxième.');
    expect(page.shown()).toBe('q: One? | a: First. | q: Deux? | a: Deuxième.');
    await page.reword(root!.id, 'Un?', 'Premier.');
    expect(page.shown()).toBe('q: Un? | a: Premier.');
    expect(page.engine.siblings(page.chats.active.messages[0]!.id).ids).toHaveLength(2);
    expect(await page.stored('main')).toBe('q: One? | a: First. | q: Two? | a: Second.');
    expect(await page.stored('main-v2')).toBe('q: One? | a: First. | q: Deux? | a: Deuxième.');
    expect(await page.stored('main-v3')).toBe('q: Un? | a: Premier.');
  });

  it('of a later question, asked for right behind one of an earlier one, stays where it was typed', async () => {
    await page.ask('Two?', 'Second.');
    const [root, , second] = page.chats.active.messages;
    const rooted = page.chats.active.sendMessage({ text: 'Un?', messageId: root!.id });
    const edited = page.chats.active.sendMessage({ text: 'Deux?', messageId: second!.id });
    for (let i = 1; i < 3; i += 1) void page.script.next().then((exchange) => exchange.answer('Bien.'));
    await Promise.all([rooted, edited]);
    expect(page.shown()).toBe('q: One? | a: First. | q: Deux? | a: Bien.');
  });

  it('is not stopped by one who asks for it twice: the second click is on an answer that is no longer shown', async () => {
    await page.ask('One?', 'First.');
    const chat = page.chats.active;
    const messageId = chat.messages[1]!.id;
    const again = chat.regenerate({ messageId });
    const second = await page.script.next();
    await second.say('Sec');
    await expect(chat.regenerate({ messageId })).rejects.toThrow('not found');
    expect(second.isStopped).toBe(false);
    await second.answer('ond.');
    await again;
    expect(await page.stored('main-v2')).toBe('q: One? | a: Second.');
  });

  describe('that a pager asks for', () => {
    const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 100));

    it.each([
      ['at the same moment', undefined, undefined],
      ['before the first word', pause, undefined],
      ['in mid-answer', pause, 'Sec'],
    ])('twice is one: the second press of a double press comes %s', async (_, wait, word) => {
      const pager = page.engine.attached!;
      const { id } = page.chats.active.messages[1]!;
      const first = pager.regenerate(id);
      if (word) await (await page.script.next()).say(word);
      await wait?.();
      const second = pager.regenerate(id);
      await settle();
      const exchange = page.script.requests[1] ?? (await page.script.next());
      await exchange.answer(word ? 'ond.' : 'Second.');
      await Promise.all([first, second]);
      expect([page.shown(), page.script.requests.length]).toEqual(['q: One? | a: Second.', 2]);
      expect(page.engine.siblings(page.chats.active.messages[1]!.id).ids).toHaveLength(2);
    });

    it('twice with the same new words for a question is one', async () => {
      const pager = page.engine.attached!;
      const { id } = page.chats.active.messages[0]!;
      const first = pager.edit(id, 'Un?');
      const exchange = await page.script.next();
      const second = pager.edit(id, 'Un?');
      await settle();
      await exchange.answer('Premier.');
      await Promise.all([first, second]);
      expect([page.shown(), page.script.requests.length]).toEqual(['q: Un? | a: Premier.', 2]);
    });

    it('is a third one for who comes back to the first while the second grows', async () => {
      const pager = page.engine.attached!;
      const { id } = page.chats.active.messages[1]!;
      const first = pager.regenerate(id);
      const second = await page.script.next();
      await second.say('Sec');
      await page.engine.selectSibling(id);
      await page.script.answer(pager.regenerate(id), 'Third.');
      await second.answer('ond.');
      await first;
      expect(page.shown()).toBe('q: One? | a: Third.');
      expect(await page.stored('main-v2')).toBe('q: One? | a: Second.');
      expect(page.engine.siblings(id).ids).toHaveLength(3);
    });

    it('with other options is asked with these, before the first word, too', async () => {
      const pager = page.engine.attached!;
      const { id } = page.chats.active.messages[0]!;
      void pager.regenerate(id, { body: { model: 'small' } });
      const second = await page.script.next();
      await page.script.answer(pager.regenerate(id, { body: { model: 'large' } }), 'Third.');
      expect([page.shown(), second.isStopped]).toEqual(['q: One? | a: Third.', true]);
    });
  });
});

describe('a branch of its own', () => {
  it('keeps an answer that nobody looks at', async () => {
    await page.ask('One?', 'First.');
    const hidden = await page.begin('Two?', 'Sec');
    await page.engine.rewind(page.chats.active.messages[1]!.id);
    expect(page.shown()).toBe('q: One? | a: First.');
    const other = await page.begin('Other?', 'Oth');
    await hidden.say('ond.');
    await other.say('er.');
    expect(page.shown()).toBe('q: One? | a: First. | q: Other? | a: Other.');
    await hidden.finish();
    await other.finish();
    await page.chats.whenSettled();
    expect(page.shown()).toBe('q: One? | a: First. | q: Other? | a: Other.');
    await page.engine.switchBranch('main');
    expect(await page.saved('main')).toBe('q: One? | a: First. | q: Two? | a: Second.');
  });
});

describe('an answer that is cut off', () => {
  it('goes on where it stopped, in the same message and the same sentence', async () => {
    await page.begin('One?', 'The quick ', 'brown ');
    await page.chats.active.stop();
    const { id } = page.chats.active.messages[1]!;
    const exchange = await page.goOn();
    expect(words(exchange.sent.messages)).toBe('q: One? | a: The quick brown ');
    expect(page.engine.status(id)).toBe('streaming');
    await exchange.say('fox ');
    expect(page.shown()).toBe('q: One? | a: The quick brown fox ');
    await exchange.answer('jumps.');
    await page.chats.whenSettled();
    expect(await page.saved()).toBe('q: One? | a: The quick brown fox jumps.');
    expect(page.chats.active.messages[1]!.id).toBe(id);
    expect(page.engine.siblings(id).ids).toHaveLength(1);
    expect(page.engine.status(id)).toBe('complete');
  });

  it.each<[string, UIMessageChunk[], string]>([
    ['its server marks no steps', told('brown ', 'fox.'), 'The quick brown fox.'],
    ['a tool comes first', [STEP, CALL, ...told('Four.')], 'The quick /[dice input-available]/Four.'],
    ['more steps follow', [STEP, ...told('brown '), STEP, ...told('Then.')], 'The quick brown /Then.'],
  ])('joins the sentence that broke off, and no other: %s', async (_, rest, said) => {
    const cut = await page.begin('One?');
    await cut.send(...told('The quick ').slice(0, 2));
    await cut.break();
    await page.chats.whenSettled();
    const more = await page.goOn();
    await more.send(...rest);
    await more.finish();
    await page.chats.whenSettled();
    expect(await page.saved()).toBe(`q: One? | a: ${said}`);
  });

  it('is still cut off when a server answers the rest with nothing at all', async () => {
    await page.begin('One?', 'The quick ');
    await page.chats.active.stop();
    const more = page.chats.active.sendMessage();
    await (await page.script.next()).drop();
    await more;
    expect(page.shown()).toBe('q: One? | a: The quick ');
    expect(page.engine.status(page.chats.active.messages[1]!.id)).toBe('interrupted');
  });

  it('leaves no trace when it said nothing', async () => {
    const exchange = await page.begin('One?');
    await exchange.send({ type: 'start' });
    await page.chats.active.stop();
    expect(await page.saved()).toBe('q: One?');
    await page.script.answer(page.chats.active.regenerate(), 'First.');
    expect(await page.stored()).toBe('q: One? | a: First.');
    expect(page.engine.state.getState().branches).toHaveLength(1);
  });

  it.each([
    ['an error', (exchange: Exchange) => exchange.fail('overloaded'), 'error'],
    ['a broken connection', (exchange: Exchange) => exchange.break(), 'error'],
    ['a missing end', (exchange: Exchange) => exchange.drop(), 'ready'],
  ])('by %s is kept, marked, and can be tried again', async (_name, cut, status) => {
    const exchange = await page.begin('One?', 'Fir');
    await cut(exchange);
    await page.chats.whenSettled();
    expect(page.chats.active.status).toBe(status);
    expect(await page.saved()).toBe('q: One? | a: Fir');
    expect(page.engine.status(page.chats.active.messages[1]!.id)).toBe('interrupted');
    await page.script.answer(page.chats.active.regenerate(), 'First.');
    expect(page.shown()).toBe('q: One? | a: First.');
    expect(page.engine.siblings(page.chats.active.messages[1]!.id).ids).toHaveLength(2);
  });

  it('stops at once, also where the transport does not listen', async () => {
    const deaf = { ...page.script.transport, sendMessages: () => new Promise<never>(() => {}) };
    page.chats.configure({ transport: deaf });
    void page.chats.active.sendMessage({ text: 'One?' });
    await settle();
    await settle();
    await page.chats.active.stop();
    expect(page.chats.active.status).toBe('ready');
    expect(await page.stored()).toBe('q: One?');
  });

  it.each([
    ['fails', (exchange: Exchange) => exchange.fail('overloaded')],
    ['is stopped', () => page.chats.active.stop()],
    ['finds no network', undefined],
  ])('before a word of more stays whole: going on %s', async (_, cut) => {
    await page.ask('One?', 'First.');
    if (!cut) page.script.refuse(new TypeError('Failed to fetch'));
    const exchange = await page.goOn();
    await cut?.(exchange);
    await page.chats.whenSettled();
    const [, answer] = await page.store.getMessages('c');
    expect([page.shown(), answer?.status]).toEqual(['q: One? | a: First.', 'complete']);
  });

  it('after a word of more is not whole', async () => {
    await page.ask('One?', 'First.');
    const exchange = await page.goOn(' And');
    await exchange.break();
    await page.chats.whenSettled();
    expect(page.engine.status(page.chats.active.messages[1]!.id)).toBe('interrupted');
  });

  it('by a reload is there, interrupted, and goes on in the same node', async () => {
    await page.begin('One?', 'The quick ');
    page = await openPage(afterReload(page.store));
    expect(page.shown()).toBe('q: One? | a: The quick ');
    const { id } = page.chats.active.messages[1]!;
    expect(page.engine.status(id)).toBe('interrupted');
    await page.script.answer(page.chats.active.sendMessage(), 'brown fox.');
    expect(await page.saved()).toBe('q: One? | a: The quick brown fox.');
    await page.script.answer(page.chats.active.regenerate(), 'Another.');
    expect(page.engine.siblings(id).ids).toHaveLength(2);
  });
});
