import type { UIMessageChunk } from 'ai';
import { beforeEach, describe, expect, it } from 'vitest';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import type { ContextStore } from '../../src/store/store.ts';
import { type Exchange } from '../support/transport.ts';
import { afterReload, noteOf, openPage, words, type Page } from './story.ts';

/**
 * Continue on an answer in the middle of a conversation makes a version of it, which begins with its words: what stands behind
 * the answer stays as it is.
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

beforeEach(async () => {
  store = new InMemoryContextStore();
  await open();
});

describe('an answer in mid-conversation that goes on', () => {
  it('is a version, which begins with its words; what stands behind it stays', async () => {
    const { more, exchange } = await goOn();
    expect(words(exchange.sent.messages)).toBe('q: One? | a: The quick ');
    const { branchId } = page.chats.active;
    expect(noteOf(exchange)).toMatchObject({ branch: 'main-v2', branchId, answerId: cut, attempt: 1 });
    expect([page.chats.active.status, page.shown()]).toEqual(['submitted', 'q: One? | a: The quick ']);
    await exchange.say('brown ');
    await expect.poll(() => page.shown()).toBe('q: One? | a: The quick brown ');
    const { keys } = page.engine.siblings(cut);
    expect(page.engine.siblings(cut)).toMatchObject({ index: 1, ids: [cut, cut] });
    await exchange.answer('fox.');
    await more;
    expect(await page.stored('main-v2')).toBe('q: One? | a: The quick brown fox.');
    expect(await page.stored()).toBe('q: One? | a: The quick  | q: Two? | a: Second.');
    expect(keys.map((key) => page.engine.status(key))).toEqual(['interrupted', 'complete']);
  });

  it.each<[string, (exchange: Exchange) => Promise<unknown>, string]>([
    ['is stopped', () => page.chats.active.stop(), 'ready'],
    ['fails', (exchange) => exchange.fail('overloaded'), 'error'],
    ['is answered with nothing', (exchange) => exchange.drop(), 'ready'],
  ])('shows what it was when it %s before a word, and goes on in place then', async (_name, end, status) => {
    const { more, exchange } = await goOn();
    await exchange.send({ type: 'start', messageMetadata: { model: 'small' } }, { type: 'start-step' });
    await end(exchange);
    await more;
    expect([page.chats.active.status, page.shown()]).toEqual([status, 'q: One? | a: The quick ']);
    expect(page.engine.status(cut)).toBe('interrupted');
    const { more: again, exchange: second } = await goOn();
    await second.answer('fox.');
    await again;
    expect(await page.stored('main-v2')).toBe('q: One? | a: The quick fox.');
    expect(await page.stored()).toBe('q: One? | a: The quick  | q: Two? | a: Second.');
    expect(page.engine.state.getState().branches).toHaveLength(2);
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

it('an answer in mid-conversation goes on once when two tabs ask for it', async () => {
  const there = await openPage(store);
  await there.engine.checkout(cut);
  const { exchange, more } = await goOn();
  await there.chats.active.sendMessage();
  expect(there.chats.active.error).toMatchObject({ code: 'busy' });
  expect([there.script.requests.length, there.shown()]).toEqual([0, 'q: One? | a: The quick ']);
  await exchange.answer('fox.');
  await more;
  expect(await page.stored('main-v2')).toBe('q: One? | a: The quick fox.');
  await expect.poll(() => there.engine.state.getState().branches.length).toBe(2);
  expect((await store.load('c')).messages).toHaveLength(5);
});

it('a call in an answer in mid-conversation gets its result in the version that goes on', async () => {
  store = new InMemoryContextStore();
  await open(CALL);
  const { more, exchange } = await goOn();
  await page.chats.active.addToolOutput({ tool: 'dice' as never, toolCallId: 't1', output: 6 });
  await exchange.answer('A six.');
  await more;
  expect(await page.stored('main-v2')).toBe('q: One? | a: The quick /[dice output-available]/A six.');
});
