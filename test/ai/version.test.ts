import type { UIMessageChunk } from 'ai';
import { beforeEach, describe, expect, it } from 'vitest';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import type { ContextStore } from '../../src/store/store.ts';
import { type Exchange } from '../support/transport.ts';
import { afterReload, noteOf, openPage, words, type Page } from './story.ts';

/**
 * Continue on an answer in the middle of a conversation makes a version of it, with its first word: a version without new words
 * would repeat the answer, and nobody asked for that.
 */

let store: ContextStore;
let page: Page;
/** The answer that was cut off, in mid-conversation. */
let cut: string;

const CALL: UIMessageChunk = { type: 'tool-input-available', toolCallId: 't1', toolName: 'dice', input: {} };

async function open(...chunks: UIMessageChunk[]): Promise<void> {
  page = await openPage(store);
  const exchange = await page.begin('One?', 'The quick ');
  await exchange.send(...chunks);
  await exchange.break();
  await page.chats.whenSettled();
  cut = page.chats.active.messages[1]!.id;
  await page.ask('Two?', 'Second.');
  await page.engine.checkout(cut);
}

/** Presses Continue. */
async function goOn(): Promise<{ readonly more: Promise<void>; readonly exchange: Exchange }> {
  const more = page.chats.active.sendMessage();
  return { more, exchange: await page.script.next() };
}

/** Nothing is left of a version without new words. */
async function expectNothing(at = page): Promise<void> {
  const { branches } = at.engine.state.getState();
  expect(branches.map(({ name }) => name)).toEqual(['main']);
  expect(at.engine.siblings(cut)).toMatchObject({ index: 0, ids: [cut] });
  expect((await store.load('c')).messages).toHaveLength(4);
  expect(await page.stored()).toBe('q: One? | a: The quick  | q: Two? | a: Second.');
}

beforeEach(async () => {
  store = new InMemoryContextStore();
  await open();
});

describe('an answer in mid-conversation that goes on', () => {
  it('is what it was until a word is added, and a version then', async () => {
    const { more, exchange } = await goOn();
    expect(words(exchange.sent.messages)).toBe('q: One? | a: The quick ');
    expect(noteOf(exchange)).toMatchObject({ branch: 'main', attempt: 1 });
    expect(page.chats.active.status).toBe('submitted');
    await expectNothing();
    await exchange.say('brown ');
    await expect.poll(() => page.shown()).toBe('q: One? | a: The quick brown ');
    const { id } = page.chats.active.messages[1]!;
    expect(id).toBe(cut);
    const { keys } = page.engine.siblings(id);
    expect(page.engine.siblings(id)).toMatchObject({ index: 1, ids: [cut, cut] });
    expect(noteOf(exchange)).toMatchObject({ answerId: id, branchId: page.chats.active.branchId });
    await exchange.answer('fox.');
    await more;
    expect(await page.stored('main-v2')).toBe('q: One? | a: The quick brown fox.');
    expect(await page.stored()).toBe('q: One? | a: The quick  | q: Two? | a: Second.');
    expect(keys.map((key) => page.engine.status(key))).toEqual(['interrupted', 'complete']);
  });

  it.each<[string, (exchange: Exchange) => Promise<unknown>, string]>([
    ['is stopped', () => page.chats.active.stop(), 'ready'],
    ['fails', (exchange) => exchange.fail('overloaded'), 'error'],
    ['loses its connection', (exchange) => exchange.break(), 'error'],
    ['is answered with nothing', (exchange) => exchange.drop(), 'ready'],
    ['is answered with an end alone', (exchange) => exchange.finish({ usage: { totalTokens: 3 } }), 'ready'],
    ['is answered with a text without a word', (exchange) => exchange.answer(''), 'ready'],
  ])('leaves nothing when it %s before a word', async (_name, end, status) => {
    const { more, exchange } = await goOn();
    await exchange.send({ type: 'start', messageMetadata: { model: 'small' } }, { type: 'start-step' });
    await end(exchange);
    await more;
    await expectNothing();
    expect(page.chats.active.status).toBe(status);
    expect(page.shown()).toBe('q: One? | a: The quick ');
    expect(page.chats.active.messages[1]!.id).toBe(cut);
    await page.engine.switchBranch('main');
    const { more: again, exchange: second } = await goOn();
    await second.answer(' And more.');
    await again;
    expect(await page.stored()).toBe('q: One? | a: The quick  | q: Two? | a: Second./ And more.');
  });

  it('leaves nothing when it is stopped before it is asked for', async () => {
    const more = page.chats.active.sendMessage();
    await page.chats.active.stop();
    await more;
    await expectNothing();
    expect(page.shown()).toBe('q: One? | a: The quick ');
  });

  it('leaves nothing when its page goes before a word', async () => {
    await goOn();
    const next = await openPage(afterReload(store));
    await expectNothing(next);
    expect(next.shown()).toBe('q: One? | a: The quick  | q: Two? | a: Second.');
    await next.ask('Three?', 'Third.');
    expect(await next.stored()).toBe(
      'q: One? | a: The quick  | q: Two? | a: Second. | q: Three? | a: Third.',
    );
  });

  it('goes on where it is when its page goes after a word', async () => {
    const { exchange } = await goOn();
    await exchange.say('brown ');
    await expect.poll(() => page.stored('main-v2')).toBe('q: One? | a: The quick brown ');
    const next = await openPage(afterReload(store));
    expect(next.shown()).toBe('q: One? | a: The quick brown ');
    const { replay, resumed } = await next.takeUp();
    await replay.answer('brown ', 'fox.');
    await resumed;
    expect(await next.saved('main-v2')).toBe('q: One? | a: The quick brown fox.');
  });

  it('keeps its words when the person looks elsewhere before the first of them', async () => {
    const { more, exchange } = await goOn();
    const chat = page.chats.active;
    await page.engine.btw();
    await page.engine.switchBranch('main-v2');
    expect(page.chats.active).not.toBe(chat);
    await exchange.answer('brown fox.');
    await more;
    expect(page.engine.branch).toBe('main-v2');
    expect(await page.stored('main-v3')).toBe('q: One? | a: The quick brown fox.');
    expect(page.chats.get('main-v3')).toBe(chat);
    expect(words(page.chats.get('main')!.messages)).toBe('');
    await expect.poll(() => words(page.chats.get('main')!.messages)).toContain('Second.');
  });

  it('is asked what is sent meanwhile when it is whole', async () => {
    const { more, exchange } = await goOn();
    const sent = page.chats.active.sendMessage({ text: 'Three?' });
    await exchange.answer('brown fox.');
    await more;
    await (await page.script.next()).answer('Third.');
    await sent;
    expect(await page.stored('main-v2')).toBe('q: One? | a: The quick brown fox. | q: Three? | a: Third.');
  });

  it('is refused while that answer grows in another tab', async () => {
    const there = await openPage(store);
    await there.engine.checkout(cut);
    const { id } = await there.engine.btw();
    await there.engine.switchBranch(id);
    const own = await there.goOn('brown ');
    await expect.poll(() => page.engine.status(cut)).toBe('streaming');
    await page.chats.active.sendMessage();
    expect(page.chats.active.error).toMatchObject({ code: 'busy' });
    await own.answer('fox.');
    await there.chats.whenSettled();
    expect(page.script.requests).toHaveLength(2);
  });
});

describe('an answer in mid-conversation that goes on in two tabs', () => {
  /** Another tab at the same answer. */
  async function openThere(disk = store): Promise<Page> {
    const there = await openPage(disk);
    await there.engine.checkout(cut);
    return there;
  }
  /** The other tab was refused, and shows the answer as it was; this tab's version is the only one. */
  async function expectOne(there: Page, own: Exchange): Promise<void> {
    expect(there.chats.active.error).toMatchObject({ code: 'busy' });
    expect(there.shown()).toBe('q: One? | a: The quick ');
    await own.answer('fox.');
    await page.chats.whenSettled();
    expect(await page.stored('main-v2')).toBe('q: One? | a: The quick brown fox.');
    await expect.poll(() => there.engine.state.getState().branches.length).toBe(2);
    expect((await store.load('c')).messages).toHaveLength(5);
  }

  it('asks once: the other tab is refused before the first word, and may ask when this one has given up', async () => {
    const there = await openThere();
    const { exchange: own, more } = await goOn();
    await there.chats.active.sendMessage();
    expect(there.chats.active.error).toMatchObject({ code: 'busy' });
    expect([there.script.requests.length, own.isStopped]).toEqual([0, false]);
    await page.chats.active.stop();
    await more;
    await expectNothing();
    await there.script.answer(there.chats.active.sendMessage(), 'red fox.');
    expect(there.shown()).toBe('q: One? | a: The quick red fox.');
  });

  it('asks nothing for a tab that sees the version grow', async () => {
    const there = await openThere();
    const { exchange: own } = await goOn();
    await own.say('brown ');
    await expect.poll(() => there.engine.graph().nodes.length).toBe(5);
    await there.chats.active.sendMessage();
    expect(there.script.requests).toHaveLength(0);
    await expectOne(there, own);
  });
});

describe('a call in an answer in mid-conversation', () => {
  const give = { tool: 'dice', toolCallId: 't1', output: 6 } as never;
  const given = 'a: The quick /[dice output-available]';

  it('gets it there, and in the version, when it comes before the first word', async () => {
    store = new InMemoryContextStore();
    await open(CALL);
    const { more, exchange } = await goOn();
    await page.chats.active.addToolOutput(give);
    expect(await page.stored()).toBe(`q: One? | ${given} | q: Two? | a: Second.`);
    await exchange.answer('A six.');
    await more;
    expect(await page.stored('main-v2')).toBe(`q: One? | ${given}/A six.`);
  });
});
