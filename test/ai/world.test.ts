import type { UIMessage } from 'ai';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { ContextError } from '../../src/errors.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import type { ContextStore } from '../../src/store/store.ts';
import { settle, type Exchange } from '../support/transport.ts';
import { changed, openPage, openPlainly, slowly, words, type Page } from './story.ts';

/** A store whose disk fills up on demand. */
function fillable(): { store: ContextStore; disk: { isFull: boolean }; memory: InMemoryContextStore } {
  const memory = new InMemoryContextStore();
  const disk = { isFull: false };
  const refuse = (): void => {
    if (disk.isFull) throw new ContextError('quota-exceeded', 'The disk is full.');
  };
  const store = changed(memory, {
    commit: async (...args) => {
      refuse();
      return memory.commit(...args);
    },
    saveDraft: async (...args) => {
      refuse();
      return memory.saveDraft(...args);
    },
  });
  return { store, disk, memory };
}

describe('a disk that fills up', () => {
  it('in mid-stream does not stop the answer, and the words are saved when there is room', async () => {
    const { store, disk } = fillable();
    const page = await openPage(store);
    const exchange = await page.begin('One?', 'Fir');
    disk.isFull = true;
    await exchange.say('st.');
    await exchange.finish();
    await page.chats.whenSettled();
    expect(page.chats.active.status).toBe('ready');
    expect(page.shown()).toBe('q: One? | a: First.');
    expect(page.engine.state.getState().saveState).toMatchObject({ state: 'error', pending: 1 });
    disk.isFull = false;
    await page.engine.retry();
    expect(await page.stored()).toBe('q: One? | a: First.');
  });

  it('before the question still sends it', async () => {
    const { store, disk } = fillable();
    const page = await openPage(store);
    disk.isFull = true;
    await page.ask('One?', 'First.');
    await page.ask('Two?', 'Second.');
    expect(page.shown()).toBe('q: One? | a: First. | q: Two? | a: Second.');
    expect(page.engine.state.getState().saveState.state).toBe('error');
    disk.isFull = false;
    await page.engine.retry();
    expect(await page.stored()).toBe(page.shown());
  });
});

describe('two pages on one chat', () => {
  it('follow each other while they are idle, and keep the messages that did not change', async () => {
    const store = new InMemoryContextStore();
    const one = await openPage(store);
    const two = await openPage(store);
    await one.ask('One?', 'First.');
    await expect.poll(() => two.shown()).toBe('q: One? | a: First.');
    const before = two.chats.active.messages;
    const own = one.chats.active.messages;
    await two.ask('Two?', 'Second.');
    await expect.poll(() => one.shown()).toBe('q: One? | a: First. | q: Two? | a: Second.');
    expect(two.chats.active.messages.slice(0, 2)).toEqual(before);
    expect(one.chats.active.messages[0]).toBe(own[0]);
    expect(one.chats.active.messages[1]).toBe(own[1]);
  });

  it('that ask at the same moment both keep their turn', async () => {
    const store = new InMemoryContextStore();
    const one = await openPage(store);
    const two = await openPage(store);
    await one.ask('Zero?', 'Zeroth.');
    await settle();
    const conflicts: string[] = [];
    two.engine.subscribe(
      (event) => event.type === 'conflict' && conflicts.push(`${event.from} > ${event.to}`),
    );
    const chat = two.chats.active;
    void one.chats.active.sendMessage({ text: 'One?' });
    void chat.sendMessage({ text: 'Two?' });
    const [first, second] = [await one.script.next(), await two.script.next()];
    await second.say('Sec');
    await first.answer('First.');
    await second.answer('ond.');
    await Promise.all([one.chats.whenSettled(), two.chats.whenSettled()]);
    const stored = async (tab: Page): Promise<string> => tab.stored(tab.engine.branch);
    await expect.poll(() => stored(one)).toBe('q: Zero? | a: Zeroth. | q: One? | a: First.');
    await expect.poll(() => stored(two)).toBe('q: Zero? | a: Zeroth. | q: Two? | a: Second.');
    expect([one.engine.branch, two.engine.branch].toSorted()).toEqual(['main', 'main-v2']);
    expect(conflicts).toEqual(two.engine.branch === 'main-v2' ? ['main > main-v2'] : []);
    expect(two.chats.active).toBe(chat);
    expect(two.shown()).toBe('q: Zero? | a: Zeroth. | q: Two? | a: Second.');
    await two.engine.switchBranch(one.engine.branch);
    expect(two.shown()).toBe('q: Zero? | a: Zeroth. | q: One? | a: First.');
    expect(two.chats.active).not.toBe(chat);
  });

  it('let only the one answer a call of a tool in which the answer grows', async () => {
    const store = new InMemoryContextStore();
    const [one, two] = [await openPage(store), await openPage(store)];
    const exchange = await one.begin('Roll?');
    await exchange.send({ type: 'tool-input-available', toolCallId: '1', toolName: 'dice', input: {} });
    await exchange.finish();
    await expect.poll(() => two.shown()).toBe('q: Roll? | a: [dice input-available]');
    const goingOn = await one.goOn();
    await settle();
    const output = { tool: 'dice' as never, toolCallId: '1', output: 4 as never };
    await expect(two.chats.active.addToolOutput(output)).rejects.toMatchObject({ code: 'busy' });
    await one.chats.active.addToolOutput(output);
    await goingOn.finish();
    await one.chats.whenSettled();
    expect(await one.stored()).toBe('q: Roll? | a: [dice output-available]');
    await expect.poll(() => two.shown()).toBe(one.shown());
  });

  describe('of which one gives a result of a tool while the other goes on with the answer', () => {
    let [one, two]: Page[] = [];

    beforeEach(async () => {
      const store = new InMemoryContextStore();
      [one, two] = [await openPage(slowly(store)), await openPage(slowly(store))];
      const exchange = await one.begin('Roll?');
      await exchange.send({ type: 'tool-input-available', toolCallId: '1', toolName: 'dice', input: {} });
      await exchange.finish();
      await one.chats.whenSettled();
      await vi.waitUntil(() => two?.shown() === 'q: Roll? | a: [dice input-available]', 15_000);
    });

    const result = { tool: 'dice' as never, toolCallId: '1', output: 4 };
    const give = (): Promise<void> => two!.chats.active.addToolOutput(result) as Promise<void>;
    const goOn = (): Promise<void> => one!.chats.active.sendMessage();

    it('keep the result that came first, and go on from it', async () => {
      const given = give();
      await settle();
      const gone = goOn();
      const more = await one!.script.next();
      expect(words(more.sent.messages)).toBe('q: Roll? | a: [dice output-available]');
      await more.say('Four');
      expect(one!.shown()).toBe('q: Roll? | a: [dice output-available]/Four');
      await more.answer('.');
      await Promise.all([given, gone]);
      expect([await one!.stored(), one!.chats.active.error]).toEqual([one!.shown(), undefined]);
      expect(one!.shown()).toBe('q: Roll? | a: [dice output-available]/Four.');
    });

    it('refuse the result that came second', async () => {
      const gone = goOn();
      await settle();
      await expect(give()).rejects.toMatchObject({ code: 'busy' });
      await (await one!.script.next()).finish();
      await gone;
      expect(await one!.stored()).toBe('q: Roll? | a: [dice input-available]');
    });
  });

  it('stop answering when the chat is deleted, and begin it anew with what is said', async () => {
    const store = new InMemoryContextStore();
    const page = await openPage(store);
    const exchange = await page.begin('One?', 'Fir');
    await store.deleteChat('c');
    await settle();
    await exchange.say('st');
    await settle();
    expect(exchange.isStopped).toBe(true);
    expect(page.shown()).toBe('q: One? | a: Fir');
    await page.ask('Two?', 'Second.');
    expect([page.shown(), await page.stored()]).toEqual(['q: Two? | a: Second.', 'q: Two? | a: Second.']);
  });
});

describe('a branch that is deleted in mid-answer', () => {
  let page: Page;
  let errors: unknown[];

  /** On `main` an answer grows; `main-v2` ends at the question before it. */
  const answering = async (word?: string): Promise<Exchange> => {
    errors = [];
    page = await openPage(undefined, { onError: (error) => errors.push(error) });
    await page.ask('One?', 'First.');
    await page.engine.btw();
    await page.engine.switchBranch('main');
    const exchange = await page.begin('Two?');
    if (word) await exchange.say(word);
    return exchange;
  };

  it.each([
    ['before its first word', undefined, 'main'],
    ['in sight', 'Sec', 'main'],
    ['while another one is looked at', 'Sec', 'main-v2'],
  ])('%s asks no more: its request is stopped, and nobody is told of an error', async (_, word, shown) => {
    const exchange = await answering(word);
    const chat = page.chats.active;
    await page.engine.switchBranch(shown);
    await page.engine.deleteBranch('main');
    await expect.poll(() => exchange.isStopped).toBe(true);
    await page.chats.whenSettled();
    await exchange.say('ond.');
    expect([chat.status, chat.error, errors]).toEqual(['ready', undefined, []]);
    expect([page.engine.branch, page.shown()]).toEqual(['main-v2', 'q: One? | a: First.']);
    expect(await page.engine.verify()).toEqual([]);
  });

  it('goes on on the branch that shows it, too', async () => {
    const exchange = await answering('Sec');
    await page.engine.rewind(page.chats.active.messages.at(-1)!.id);
    await page.engine.deleteBranch('main');
    await exchange.answer('ond.');
    await page.chats.whenSettled();
    await expect.poll(() => page.shown()).toBe('q: One? | a: First. | q: Two? | a: Second.');
    expect(exchange.isStopped).toBe(false);
  });

  it('asks nothing that waits on it: that stands where one looks', async () => {
    const exchange = await answering('Sec');
    void page.chats.active.sendMessage({ text: 'Three?' });
    await settle();
    await page.engine.deleteBranch('main');
    await expect.poll(() => exchange.isStopped && page.shown()).toBe('q: One? | a: First. | q: Three?');
    await page.chats.whenSettled();
    await settle();
    expect(page.script.requests).toHaveLength(2);
  });
});

it('a chat that is deleted in mid-answer and brought back has every word that was said', async () => {
  const store = new InMemoryContextStore();
  const page = await openPage(store);
  const exchange = await page.begin('One?');
  for (const word of ['The ', 'quick ', 'brown ', 'fox']) await exchange.say(word);
  await store.deleteChat('c', { keepFor: 10_000 });
  await expect.poll(() => exchange.isStopped).toBe(true);
  await page.chats.whenSettled();
  await store.restoreChat('c');
  await expect.poll(() => page.stored()).toBe('q: One? | a: The quick brown fox');
  await expect.poll(() => page.shown()).toBe('q: One? | a: The quick brown fox');
  const [, answer] = page.chats.active.messages;
  await expect.poll(() => page.engine.status(answer!.id)).toBe('interrupted');
  await page.script.answer(page.chats.active.sendMessage(), ' jumps.');
  expect(await page.stored()).toBe('q: One? | a: The quick brown fox jumps.');
});

/** A conversation of so many turns, more than a page loads when it opens. */
async function longChat(turns: number): Promise<{ store: ContextStore; messages: readonly UIMessage[] }> {
  const page = await openPlainly();
  for (let turn = 0; turn < turns; turn += 1) await page.ask(`q${turn}`, `a${turn}`);
  return { store: page.store, messages: page.chats.active.messages };
}

describe('what the chat shows', () => {
  it('is the message checked out, and a turn from there is a branch of its own', async () => {
    const page = await openPage();
    await page.ask('One?', 'First.');
    await page.ask('Two?', 'Second.');
    await page.engine.checkout(page.chats.active.messages[1]!.id);
    expect(page.shown()).toBe('q: One? | a: First.');
    await page.ask('Other?', 'Another.');
    expect(page.shown()).toBe('q: One? | a: First. | q: Other? | a: Another.');
    expect(await page.stored('main')).toBe('q: One? | a: First. | q: Two? | a: Second.');
  });

  it('is the branch made by rewind, restore and an edit of an answer', async () => {
    const page = await openPage();
    await page.ask('One?', 'First.');
    await page.engine.checkpoint('start');
    await page.ask('Two?', 'Second.');
    await page.engine.edit(page.chats.active.messages[3]!.id, 'Better.');
    expect(page.shown()).toBe('q: One? | a: First. | q: Two? | a: Better.');
    await page.engine.restore('start');
    expect(page.shown()).toBe('q: One? | a: First.');
    await page.engine.rewind(page.chats.active.messages[0]!.id);
    expect(page.shown()).toBe('q: One?');
  });

  it('grows at its beginning as earlier messages are loaded, also while an answer grows', async () => {
    const { store } = await longChat(150);
    const page = await openPage(store);
    expect(page.chats.active.messages).toHaveLength(200);
    const exchange = await page.begin('More?', 'Ye');
    const seen = page.chats.active.messages.slice(0, 200);
    await page.engine.loadMore();
    expect(page.chats.active.messages).toHaveLength(302);
    expect(page.chats.active.messages.slice(100, 300)).toEqual(seen);
    await exchange.say('s.');
    await exchange.finish();
    expect(page.shown().startsWith('q: q0 | a: a0')).toBe(true);
    expect(page.shown().endsWith('q: More? | a: Yes.')).toBe(true);
    expect(words(exchange.sent.messages).startsWith('q: q0 | a: a0')).toBe(true);
    expect(page.engine.state.getState().branches).toHaveLength(1);
  });

  it('may be versions of a message that is not loaded yet: a pager that knows its id finds it', async () => {
    const { store, messages } = await longChat(110);
    const [root, answer] = messages;
    const page = await openPage(store);
    await page.script.answer(page.engine.attached!.edit(root!.id, 'Edited'), 'Answered');
    expect(page.shown()).toBe('q: Edited | a: Answered');
    const other = await openPage(store);
    await other.script.answer(other.engine.attached!.regenerate(answer!.id), 'Again');
    expect(other.shown()).toBe('q: q0 | a: Again');
    expect((await other.stored()).length).toBeGreaterThan(1000);
  });

  it('forks at the first message that is loaded as at any other', async () => {
    const { store } = await longChat(110);
    const page = await openPage(store);
    const [oldest] = page.chats.active.messages;
    await page.reword(oldest!.id, 'Edited', 'Answered');
    const parent = page.engine.node(oldest!.id)!.parentId;
    expect(page.engine.node(page.chats.active.messages.at(-2)!.id)!.parentId).toBe(parent);
    expect(await page.stored('main-v2')).toMatch(/q: q9 \| a: a9 \| q: Edited \| a: Answered$/);
    expect(page.shown()).toMatch(/q: q9 \| a: a9 \| q: Edited \| a: Answered$/);
  });

  it.each([
    ['edited', (page: Page, messageId: string) => page.chats.active.sendMessage({ text: 'New', messageId })],
    ['asked again', (page: Page, messageId: string) => page.chats.active.regenerate({ messageId })],
  ])(
    'says so, to the person too, where what stands before a message that is %s cannot be read',
    async (_, act) => {
      const disk = { isGone: false };
      const { store } = await longChat(110);
      const bodies: ContextStore['bodies'] = async (...args) => {
        if (disk.isGone) throw new ContextError('store-unavailable', 'The disk is gone.');
        return store.bodies(...args);
      };
      const errors: string[] = [];
      const page = await openPage(changed(store, { bodies }), {
        onError: ({ message }) => errors.push(message),
      });
      const before = page.shown();
      disk.isGone = true;
      const { chats, script } = page;
      await expect(act(page, chats.active.messages[0]!.id)).rejects.toThrow('The disk is gone.');
      expect(chats.active.status).toBe('error');
      expect(chats.active.error).toMatchObject({ code: 'store-unavailable' });
      expect(errors).toEqual(['The disk is gone.']);
      expect([page.shown(), script.requests.length]).toEqual([before, 0]);
    },
  );
});
