import { lastAssistantMessageIsCompleteWithToolCalls } from 'ai';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ContextChat } from '../../src/ai/index.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import type { ContextStore } from '../../src/store/store.ts';
import { settle, type Exchange } from '../support/transport.ts';
import { storedNodes } from '../support/stored.ts';
import { changed, openPage, slowly, words, type Page } from './story.ts';

/** Two tabs of one chat, and presses in both before either can know of the other. */
let here: Page;
let there: Page;

/** A store of a tab that gets all notices late. */
function hearLate(store: ContextStore): ContextStore {
  return changed(store, {
    subscribe: (listener) => store.subscribe((notice) => void setTimeout(() => listener(notice), 30)),
  });
}

async function open(disk: (store: ContextStore) => ContextStore): Promise<void> {
  const store = new InMemoryContextStore();
  here = await openPage(disk(store));
  await here.begin('One?', 'Fir');
  await here.chats.active.stop();
  await here.chats.whenSettled();
  there = await openPage(disk(store));
  expect([here.shown(), there.shown()]).toEqual(['q: One? | a: Fir', 'q: One? | a: Fir']);
}

type Press = (chat: ContextChat) => Promise<void>;

const goOn: Press = (chat) => chat.sendMessage();
const again: Press = (chat) => chat.regenerate();
const thisAgain: Press = (chat) => chat.regenerate({ messageId: chat.messages[1]!.id });
const thisQuestion: Press = (chat) => chat.regenerate({ messageId: chat.messages[0]!.id });

/** Presses in both tabs at once; returns which one won, once its request is made. */
async function pressBoth(first: Press, second: Press): Promise<{ winner: Page; loser: Page }> {
  const pressed = [first(here.chats.active), second(there.chats.active)];
  // One was asked here before.
  const requests = (): number => here.script.requests.length + there.script.requests.length - 1;
  await expect.poll(() => requests() > 0 && [here, there].some(({ chats }) => chats.active.error)).toBe(true);
  expect(requests()).toBe(1);
  const [winner, loser] = there.script.requests.length === 0 ? [here, there] : [there, here];
  expect(loser.chats.active.error).toMatchObject({ code: 'busy' });
  expect(loser.shown()).toMatch(/^q: One\? \| a: Fir/);
  await (await winner.script.next()).answer('st.');
  await Promise.all(pressed);
  await Promise.all([here.chats.whenSettled(), there.chats.whenSettled()]);
  return { winner, loser };
}

const give = (page: Page, toolCallId: string, output: number): Promise<void> =>
  page.chats.active.addToolOutput({ tool: 'dice' as never, toolCallId, output }) as Promise<void>;

describe('pressed in two tabs at the same moment', () => {
  beforeEach(() => open(slowly));

  it('an answer goes on once', async () => {
    const { loser } = await pressBoth(goOn, goOn);
    await expect.poll(() => [here.shown(), there.shown()]).toEqual(Array(2).fill('q: One? | a: First.'));
    await expect.poll(() => loser.chats.active.status).toBe('ready');
    expect((await here.store.listBranches('c')).map(({ name }) => name)).toEqual(['main']);
  });

  it.each([
    ['once more and once more', again, again],
    ['once more by its id, and by its question', thisAgain, thisQuestion],
  ])('one other answer is asked for: %s', async (_name, first, second) => {
    const { winner, loser } = await pressBoth(first, second);
    expect(winner.shown()).toBe('q: One? | a: st.');
    await expect.poll(() => loser.shown()).toBe('q: One? | a: Fir');
    expect((await here.store.listBranches('c')).map(({ name }) => name)).toEqual(['main', 'main-v2']);
    await loser.script.answer(goOn(loser.chats.active), 'st, too.');
    expect(loser.shown()).toBe('q: One? | a: First, too.');
  });

  it.each([
    ['first, and another one second', goOn, again],
    ['second, and another one first', again, goOn],
  ])('an answer goes on, or another one is asked for: the first %s', async (_name, first, second) => {
    await pressBoth(first, second);
    const nodes = await storedNodes(here.store);
    const answers = nodes.filter(({ data }) => data.role === 'assistant').map(({ data }) => words([data]));
    expect([['a: First.'], ['a: Fir', 'a: st.']]).toContainEqual(answers);
  });
});

it('an answer that fails at once where it was asked for leaves no error where it was not', async () => {
  await open(slowly);
  const pressed = [again(here.chats.active), again(there.chats.active)];
  const asked = (): Page[] => [here, there].filter(({ script }, i) => script.requests.length > 1 - i);
  await expect.poll(() => asked().length).toBe(1);
  const [winner] = asked() as [Page];
  await (await winner.script.next()).fail('Down.');
  await Promise.allSettled(pressed);
  const loser = winner === here ? there : here;
  await expect.poll(() => loser.chats.active.status).toBe('ready');
  expect(loser.chats.active.error).toBeUndefined();
});

describe('given in two tabs at the same moment', () => {
  beforeEach(async () => {
    const store = new InMemoryContextStore();
    const options = { sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls };
    here = await openPage(slowly(store), options);
    const exchange = await here.begin('Roll!');
    for (const toolCallId of ['1', '2'])
      await exchange.send({ type: 'tool-input-available', toolCallId, toolName: 'dice', input: {} });
    await exchange.finish();
    await here.chats.whenSettled();
    there = await openPage(slowly(store), options);
  });

  it('the results of two calls are both kept, and the answer goes on once', async () => {
    await Promise.all([give(here, '1', 3), give(there, '2', 5)]);
    const requests = (): Exchange[] => [...here.script.requests.slice(1), ...there.script.requests];
    await expect.poll(() => requests().length).toBe(1);
    const [message] = requests()[0]!.sent.messages.slice(-1);
    expect(message!.parts).toMatchObject([{ output: 3 }, { output: 5 }]);
    await requests()[0]!.answer('Eight.');
    const all = 'q: Roll! | a: [dice output-available]/[dice output-available]/Eight.';
    await expect.poll(() => [here.shown(), there.shown()]).toEqual([all, all]);
    expect(requests()).toHaveLength(1);
  });

  it('one of two results of one call is kept, and the other one refused in words', async () => {
    const given = await Promise.allSettled([give(here, '1', 3), give(there, '1', 4)]);
    const [kept] = given.flatMap(({ status }, i) => (status === 'fulfilled' ? [3 + i] : []));
    const [refused] = given.flatMap((one) => (one.status === 'rejected' ? [one.reason as Error] : []));
    expect(refused).toMatchObject({
      code: 'head-moved',
      message: expect.stringContaining('was answered before'),
    });
    for (const { chats } of [here, there])
      await expect.poll(() => chats.active.messages[1]!.parts[0]).toMatchObject({ output: kept });
  });
});

describe('offered to two tabs at the same moment', () => {
  beforeEach(() => open(slowly));

  it('an answer that a server still streams is taken up once', async () => {
    const offered = [here.script.offer(), there.script.offer()] as const;
    const resumed = [here.chats.active.resumeStream(), there.chats.active.resumeStream()];
    await expect.poll(() => offered.some(({ isStopped }) => isStopped)).toBe(true);
    const taken = offered.find(({ isStopped }) => !isStopped)!;
    await taken.answer('First.');
    await Promise.all(resumed);
    await expect.poll(() => [here.shown(), there.shown()]).toEqual(Array(2).fill('q: One? | a: First.'));
    expect([here, there].map(({ chats }) => chats.active.error)).toEqual([undefined, undefined]);
    expect((await here.store.listBranches('c')).map(({ name }) => name)).toEqual(['main']);
  });
});

describe('asked behind an answer that goes on in another tab', () => {
  beforeEach(() => open(slowly));

  it.each([
    ['which is known', (store: ContextStore) => store],
    ['which is not known yet', hearLate],
  ])('a question waits for its words: %s', async (_name, read) => {
    there = await openPage(read(here.store));
    const growing = await here.goOn();
    const asked = there.chats.active.sendMessage({ text: 'Two?' });
    await expect.poll(() => there.stored()).toContain('q: Two?');
    await growing.say('s');
    await settle();
    expect(there.script.requests).toHaveLength(0);
    await growing.answer('t.');
    await here.chats.whenSettled();
    const own = await there.script.next();
    expect(words(own.sent.messages)).toBe('q: One? | a: First. | q: Two?');
    await own.answer('Second.');
    await asked;
    const all = 'q: One? | a: First. | q: Two? | a: Second.';
    await expect.poll(() => [here.shown(), there.shown()]).toEqual([all, all]);
  });

  it('a question that is stopped while it waits is there, and was not asked', async () => {
    const growing = await here.goOn();
    const asked = there.chats.active.sendMessage({ text: 'Two?' });
    await expect.poll(() => there.stored()).toContain('q: Two?');
    await there.chats.active.stop();
    await asked;
    await growing.answer('st.');
    await here.chats.whenSettled();
    await expect.poll(() => there.shown()).toBe('q: One? | a: First. | q: Two?');
    expect(there.script.requests).toHaveLength(0);
  });

  it('and an answer behind which another tab asked first does not go on', async () => {
    const asked = there.chats.active.sendMessage({ text: 'Two?' });
    const more = here.chats.active.sendMessage();
    const own = await there.script.next();
    await more;
    expect(here.chats.active.error).toMatchObject({ code: 'busy' });
    await own.answer('Second.');
    await asked;
    await expect.poll(() => here.shown()).toBe('q: One? | a: Fir | q: Two? | a: Second.');
  });
});

it('an answer that two chats of one engine show goes on in one of them', async () => {
  await open((store) => store);
  const aside = here.chats.get((await here.engine.btw()).id)!;
  await expect.poll(() => words(aside.messages)).toBe('q: One? | a: Fir');
  const pressed = [here.chats.active.sendMessage(), aside.sendMessage()];
  await (await here.script.next()).answer('st.');
  await Promise.all(pressed);
  expect([here.chats.active.error, aside.error]).toContainEqual(expect.objectContaining({ code: 'busy' }));
  expect(await here.stored()).toBe('q: One? | a: First.');
});

it('two questions follow each other where the app wants no fork', async () => {
  const store = new InMemoryContextStore();
  here = await openPage(slowly(store), { onConflict: 'rebase' });
  await here.ask('One?', 'First.');
  there = await openPage(slowly(store), { onConflict: 'rebase' });
  const asked = [here, there].map((page, i) => page.ask(`${i + 2}?`, 'So.'));
  await Promise.all(asked);
  await Promise.all([here.chats.whenSettled(), there.chats.whenSettled()]);
  expect((await store.listBranches('c')).map(({ name }) => name)).toEqual(['main']);
  const stored = await here.stored();
  expect(stored).toMatch(
    /^q: One\? \| a: First\. \| q: (2\? \| a: So\. \| q: 3|3\? \| a: So\. \| q: 2)\? \| a: So\.$/,
  );
  await expect.poll(() => [here.shown(), there.shown()]).toEqual([stored, stored]);
});
