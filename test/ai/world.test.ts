import { describe, expect, it } from 'vitest';
import { ContextError } from '../../src/errors.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import type { ContextStore } from '../../src/store/store.ts';
import { engineOn, say } from '../support/engine.ts';
import { settle, type Exchange } from '../support/transport.ts';
import { changed, openPage, words, type Page } from './story.ts';

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
});

it('a chat that is deleted in mid-answer and brought back has the words that were drafted, and goes on', async () => {
  const store = new InMemoryContextStore();
  const page = await openPage(store);
  const exchange = await page.begin('One?');
  for (const word of ['The ', 'quick ', 'brown ', 'fox']) await exchange.say(word);
  await store.deleteChat('c', { keepFor: 10_000 });
  await expect.poll(() => exchange.isStopped).toBe(true);
  await page.chats.whenSettled();
  await store.restoreChat('c');
  await expect.poll(() => page.stored()).toBe('q: One? | a: The ');
  await expect.poll(() => page.shown()).toBe('q: One? | a: The ');
  const [, answer] = page.chats.active.messages;
  await expect.poll(() => page.engine.status(answer!.id)).toBe('interrupted');
  await page.script.answer(page.chats.active.sendMessage(), 'end.');
  expect(await page.stored()).toBe('q: One? | a: The end.');
});

/** A conversation `q0 > a0 > q1 …` of so many turns, more than a page loads when it opens. */
async function longChat(turns: number): Promise<ContextStore> {
  const engine = engineOn(undefined, { userId: 'me' });
  await say(engine, ...Array.from({ length: turns }, (_, i) => [`q${i}`, `a${i}`]).flat());
  engine.dispose();
  return engine.store;
}

describe('what the chat shows', () => {
  it('grows at its beginning as earlier messages are loaded, also while an answer grows', async () => {
    const store = await longChat(150);
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
    const store = await longChat(110);
    const page = await openPage(store);
    await page.script.answer(page.engine.attached!.edit('q0', 'Edited'), 'Answered');
    expect(page.shown()).toBe('q: Edited | a: Answered');
    const other = await openPage(store);
    await other.script.answer(other.engine.attached!.regenerate('a0'), 'Again');
    expect(other.shown()).toBe('q: q0 | a: Again');
    expect((await other.stored()).length).toBeGreaterThan(1000);
  });

  it.each([
    ['edited', (page: Page, messageId: string) => page.chats.active.sendMessage({ text: 'New', messageId })],
    ['asked again', (page: Page, messageId: string) => page.chats.active.regenerate({ messageId })],
  ])(
    'says so, to the person too, where what stands before a message that is %s cannot be read',
    async (_, act) => {
      const disk = { isGone: false };
      const store = await longChat(110);
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
