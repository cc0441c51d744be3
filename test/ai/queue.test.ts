import { afterEach, describe, expect, it, vi } from 'vitest';
import { lastAssistantMessageIsCompleteWithToolCalls, type UIMessage } from 'ai';
import type { ContextChat, ContextChatOptions } from '../../src/ai/index.ts';
import { ContextError, isContextError } from '../../src/errors.ts';
import { loadMore } from '../../src/ai/load.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import type { ContextStore } from '../../src/store/store.ts';
import { fieldsIn } from '../support/stored.ts';
import type { Exchange } from '../support/transport.ts';
import { afterReload, changed, openPage, words, type Page } from './story.ts';

const { setTimeout: later } = globalThis;
/** Waits for a task of the browser, also with a fake clock: writes to memory are done then. */
const settle = (): Promise<void> => new Promise((resolve) => later(resolve));

/** The questions in the store's queue, oldest first. */
async function kept(store: ContextStore): Promise<string> {
  await settle();
  const entries = Object.values(await fieldsIn(store, 'queued')) as Entry[];
  return words(entries.toSorted((a, b) => a.at - b.at).map(({ message }) => message));
}

interface Entry {
  readonly at: number;
  readonly message: UIMessage;
}

/** Whether a write contains queued questions. */
function writesWaiting([, { marks }]: Parameters<ContextStore['commit']>): boolean {
  return marks.some(({ id }) => id.startsWith('waiting '));
}

type Sent = Parameters<ContextChat['sendMessage']>[0];

function codeOf(error: unknown): unknown {
  return isContextError(error) ? error.code : error;
}

/** A page with a growing answer, and two queued questions that are saved. */
async function waitingPage(
  store?: ContextStore,
  options: Parameters<typeof openPage>[1] = {},
): Promise<Waiting> {
  const page = await openPage(store, options);
  const chat = page.chats.active;
  // Until it has come, what is sent shows a moment later.
  await loadMore();
  void chat.sendMessage({ text: 'One?' });
  const first = await page.script.next();
  await first.say('Fir');
  const sent = ['Two?', 'Three?'].map((text) => chat.sendMessage({ text }));
  await settle();
  return { page, chat, first, sent };
}

interface Waiting {
  readonly page: Page;
  readonly chat: ContextChat;
  /** The answer that grows. */
  readonly first: Exchange;
  /** The promises of the two questions. */
  readonly sent: readonly Promise<void>[];
}

/** The page is gone, and another one is opened. */
async function reload({ store }: Page, options = {}): Promise<Page> {
  await settle();
  const page = await openPage(afterReload(store), options);
  void page.chats.active;
  // The code of the queue is loaded a moment after the conversation.
  await loadMore();
  await settle();
  return page;
}

const idOf = (chat: ContextChat, text: string): string =>
  chat.messages.find((message) => words([message]).includes(text))?.id ?? '';

async function answerAll(page: Page, ...answers: string[]): Promise<void> {
  for (const answer of answers) await (await page.script.next()).answer(answer);
  await page.chats.whenSettled();
  await settle();
}

describe('a question that is sent while an answer grows', () => {
  it('is shown at once, behind the answer, and kept; each is asked in its turn, and kept no longer', async () => {
    const { page, chat, first, sent } = await waitingPage();
    expect(page.shown()).toBe('q: One? | a: Fir | q: Two? | q: Three?');
    expect(words(chat.waiting)).toBe('q: Two? | q: Three?');
    expect(await kept(page.store)).toBe('q: Two? | q: Three?');
    const { waiting } = chat;
    await first.say('st.');
    expect(page.shown()).toBe('q: One? | a: First. | q: Two? | q: Three?');
    // The same array while nothing changes: a view compares it.
    expect([chat.waiting === waiting, chat.messages === chat.messages]).toEqual([true, true]);
    const ids = chat.messages.slice(2).map(({ id }) => id);
    await first.finish();
    const second = await page.script.next();
    expect(words(second.sent.messages)).toBe('q: One? | a: First. | q: Two?');
    expect([page.shown(), words(chat.waiting)]).toEqual([
      'q: One? | a: First. | q: Two? | q: Three?',
      'q: Three?',
    ]);
    await second.answer('Second.');
    await answerAll(page, 'Third.');
    await Promise.all(sent);
    expect(await page.saved()).toBe('q: One? | a: First. | q: Two? | a: Second. | q: Three? | a: Third.');
    expect([chat.messages[2]?.id, chat.messages[4]?.id]).toEqual(ids);
    expect([await kept(page.store), await page.store.held('c')]).toEqual(['', new Set()]);
  });

  it('is kept before the chat says that it is ready', async () => {
    const store = new InMemoryContextStore();
    const commit = store.commit.bind(store);
    const { chat, first } = await waitingPage(store);
    let write = (): void => {};
    store.commit = async (...args) => {
      if (writesWaiting(args)) await new Promise<void>((resolve) => (write = resolve));
      return commit(...args);
    };
    void chat.sendMessage({ text: 'Four?' });
    let isQueued = false;
    void chat.whenQueued().then(() => (isQueued = true));
    await settle();
    void chat.stop();
    await first.finish().catch(() => {});
    await settle();
    expect([chat.status, isQueued]).toEqual(['streaming', false]);
    write();
    await chat.whenQueued();
    expect(await kept(store)).toContain('Four?');
  });

  it('is kept before the chat is made, while its page still asks the server for an answer to take up', async () => {
    const page = await openPage();
    const reconnectToStream = (): Promise<null> => new Promise(() => {});
    page.chats.configure({ transport: { ...page.script.transport, reconnectToStream } });
    void page.chats.active.resumeStream();
    void page.chats.active.sendMessage({ text: 'One?' });
    await expect.poll(() => page.shown()).toBe('q: One?');
    expect(await kept(page.store)).toBe('q: One?');
    const reloaded = await reload(page);
    expect(reloaded.shown()).toBe('q: One?');
    await reloaded.ask('Two?', 'Second.');
    expect(await reloaded.stored()).toBe('q: One? | q: Two? | a: Second.');
    expect(await kept(page.store)).toBe('');
    // A page that still has it queued shows it once.
    await settle();
    expect(page.shown().split('One?')).toHaveLength(2);
  });
});

describe('a question that can be saved by nobody', () => {
  const wordless: Sent = { role: 'user', parts: [{ type: 'text' } as never] };
  const partless: Sent = { role: 'user', parts: 'Four?' as never };

  it.each([
    ['a text without one', wordless],
    ['parts that are none', partless],
  ])(
    'with %s is neither shown nor kept, and refused in its turn; what waits behind it is asked',
    async (_, bad) => {
      const errors: unknown[] = [];
      const { page, chat, first } = await waitingPage(undefined, {
        onError: (error) => errors.push(codeOf(error)),
      });
      const sent = [chat.sendMessage(bad), chat.sendMessage({ text: 'Five?' })];
      await settle();
      expect(page.shown()).toBe('q: One? | a: Fir | q: Two? | q: Three? | q: Five?');
      expect(await kept(page.store)).toBe('q: Two? | q: Three? | q: Five?');
      await first.finish();
      await answerAll(page, 'Second.', 'Third.', 'Fifth.');
      await Promise.all(sent);
      expect(errors).toContain('invalid-messages');
      const all = 'q: Two? | a: Second. | q: Three? | a: Third. | q: Five? | a: Fifth.';
      expect(await page.stored()).toBe(`q: One? | a: Fir | ${all}`);
      expect(await kept(page.store)).toBe('');
    },
  );

  it('is no other words for one that waits: it stays what it was, and the app is told', async () => {
    const errors: unknown[] = [];
    const { page, chat } = await waitingPage(undefined, { onError: (error) => errors.push(codeOf(error)) });
    const anew = chat.sendMessage({ ...wordless, messageId: idOf(chat, 'Two?') });
    await expect(anew).rejects.toMatchObject({ code: 'invalid-messages' });
    chat.messages = chat.messages.map((message) =>
      message.id === idOf(chat, 'Three?') ? { ...message, ...(partless as object) } : message,
    );
    expect(errors).toEqual(['invalid-messages']);
    expect(page.shown()).toBe('q: One? | a: Fir | q: Two? | q: Three?');
    expect(await kept(page.store)).toBe('q: Two? | q: Three?');
  });
});

describe('a question whose id is taken', () => {
  const asked = (id: string, text: string): Sent => ({ id, role: 'user', parts: [{ type: 'text', text }] });

  it('by another one that waits gets one of its own: both are kept, and each is forgotten for itself', async () => {
    const { page, chat, first } = await waitingPage();
    void chat.sendMessage(asked('same', 'Four?'));
    void chat.sendMessage(asked('same', 'Five?'));
    expect(new Set(chat.messages.map(({ id }) => id)).size).toBe(chat.messages.length);
    await first.finish();
    for (const answer of ['Second.', 'Third.']) await (await page.script.next()).answer(answer);
    await page.script.next();
    expect(await kept(page.store)).toBe('q: Five?');
    expect((await reload(page)).shown()).toContain('q: Four? | q: Five?');
  });
});

describe('what waits, while it waits', () => {
  it.each<[string, (messages: UIMessage[]) => UIMessage[]]>([
    ['with a note at the answer', (list) => [list[0]!, { ...list[1]!, metadata: { cost: 1 } }]],
    ['without the answer', (list) => list.slice(0, -1)],
    ['without the question', (list) => list.slice(1)],
  ])('stays when an app sets that list %s', async (_, made) => {
    const { page, chat, first } = await waitingPage(undefined, {
      onFinish: ({ messages }) => {
        if (messages.length === 2) chat.messages = made(messages);
      },
    });
    await first.finish();
    await settle();
    expect(page.shown()).toContain('q: Two? | q: Three?');
    await answerAll(page, 'Second.', 'Third.');
    expect(page.shown()).toContain('q: Two? | a: Second. | q: Three? | a: Third.');
  });

  it.each<[string, (messages: UIMessage[]) => UIMessage[]]>([
    ['that it was told of', (messages) => messages],
    ['as a server gives it back', (messages) => structuredClone(messages)],
    ['of a server, with new ids', (messages) => messages.map((message, i) => ({ ...message, id: `s${i}` }))],
  ])('stays when an app sets a list long after an answer is finished: the one %s', async (_, made) => {
    const { page, chat, first } = await waitingPage(undefined, {
      onFinish: ({ messages }) => {
        told ??= messages;
      },
    });
    let told: UIMessage[] | undefined;
    await first.finish();
    const second = await page.script.next();
    await second.say('Sec');
    chat.messages = [...made(told!), ...chat.messages.slice(2)];
    expect(page.shown()).toBe('q: One? | a: Fir | q: Two? | a: Sec | q: Three?');
    await chat.stop();
    await answerAll(page, 'Third.');
    expect(page.shown()).toContain('q: Two? | a: Sec | q: Three? | a: Third.');
    expect(await kept(page.store)).toBe('');
  });

  it('is asked with the options of its new words, and where they have none with those that it was sent with', async () => {
    const { page, chat, first } = await waitingPage();
    void chat.sendMessage({ text: 'Four?' }, { body: { tone: 'dry' } });
    void chat.sendMessage({ text: 'Five?' }, { body: { tone: 'dry' } });
    await chat.sendMessage({ text: 'Two!', messageId: idOf(chat, 'Two?') }, { body: { tone: 'warm' } });
    await chat.sendMessage({ text: 'Four!', messageId: idOf(chat, 'Four?') }, { headers: { tone: 'warm' } });
    await chat.sendMessage({ text: 'Five!', messageId: idOf(chat, 'Five?') });
    await first.finish();
    await answerAll(page, '2', '3', '4', '5');
    expect(page.script.requests.slice(1).map(({ sent }) => [sent.body, sent.headers])).toEqual([
      [{ tone: 'warm' }, undefined],
      [undefined, undefined],
      [undefined, { tone: 'warm' }],
      [{ tone: 'dry' }, undefined],
    ]);
  });

  it('is taken back by a list without it', async () => {
    const { page, chat, first, sent } = await waitingPage();
    chat.messages = chat.messages.filter(({ id }) => id !== idOf(chat, 'Two?'));
    expect(page.shown()).toBe('q: One? | a: Fir | q: Three?');
    await first.finish();
    await answerAll(page, 'Third.');
    await Promise.all(sent);
    expect(await page.stored()).toBe('q: One? | a: Fir | q: Three? | a: Third.');
    expect(await kept(page.store)).toBe('');
  });

  it('gets other words by a list that has them, and by its id', async () => {
    const { page, chat, first } = await waitingPage();
    chat.messages = chat.messages.map((message) =>
      message.id === idOf(chat, 'Two?') ? { ...message, parts: [{ type: 'text', text: 'Deux?' }] } : message,
    );
    await chat.sendMessage({ text: 'Trois?', messageId: idOf(chat, 'Three?') });
    expect(page.shown()).toBe('q: One? | a: Fir | q: Deux? | q: Trois?');
    expect(await kept(page.store)).toBe('q: Deux? | q: Trois?');
    await first.finish();
    await answerAll(page, 'Deuxième.', 'Troisième.');
    expect(await page.stored()).toBe(
      'q: One? | a: Fir | q: Deux? | a: Deuxième. | q: Trois? | a: Troisième.',
    );
    expect(page.engine.state.getState().branches).toHaveLength(1);
  });

  it('is asked next when the answer is stopped, or fails', async () => {
    for (const end of ['stop', 'fail'] as const) {
      const { page, chat, first } = await waitingPage();
      await (end === 'stop' ? chat.stop() : first.fail('overloaded'));
      expect(page.shown()).toBe('q: One? | a: Fir | q: Two? | q: Three?');
      await answerAll(page, 'Second.', 'Third.');
      expect(await page.stored()).toBe('q: One? | a: Fir | q: Two? | a: Second. | q: Three? | a: Third.');
      expect(await kept(page.store)).toBe('');
    }
  });

  it('waits on behind another try of the answer, with no id or with its own', async () => {
    for (const isNamed of [false, true]) {
      const { page, chat, first } = await waitingPage();
      const { id } = chat.messages[1]!;
      void chat.regenerate(isNamed ? { messageId: id } : {});
      const again = await page.script.next();
      expect([first.isStopped, words(again.sent.messages)]).toEqual([true, 'q: One?']);
      await again.say('Oth');
      expect(page.shown()).toBe('q: One? | a: Oth | q: Two? | q: Three?');
      await again.finish();
      await answerAll(page, 'Second.', 'Third.');
      expect(await page.saved('main-v2')).toBe(
        'q: One? | a: Oth | q: Two? | a: Second. | q: Three? | a: Third.',
      );
      expect([await page.stored(), await kept(page.store)]).toEqual(['q: One? | a: Fir', '']);
    }
  });

  it('waits on behind new words for an earlier question, which are saved at once', async () => {
    const { page, chat } = await waitingPage();
    void chat.sendMessage({ text: 'Un?', messageId: idOf(chat, 'One?') });
    void chat.sendMessage({ text: 'Four?' });
    const edited = await page.script.next();
    await edited.say('Pre');
    expect(page.shown()).toBe('q: Un? | a: Pre | q: Two? | q: Three? | q: Four?');
    const reloaded = await reload(page);
    expect(reloaded.shown()).toBe('q: Un? | a: Pre | q: Two? | q: Three? | q: Four?');
    expect(await reloaded.stored()).toBe('q: One? | a: Fir');
  });

  it('is on its branch when another one is looked at, and goes on there', async () => {
    const { page, first } = await waitingPage();
    await page.engine.btw();
    await page.engine.switchBranch('main-v2');
    expect(page.shown()).not.toContain('Two?');
    await first.finish();
    await answerAll(page, 'Second.', 'Third.');
    await page.engine.switchBranch('main');
    expect(await page.saved()).toBe('q: One? | a: Fir | q: Two? | a: Second. | q: Three? | a: Third.');
  });

  it('stands in the list when another tab deletes the chat, and is there again when that is undone', async () => {
    const { page, chat } = await waitingPage();
    await page.store.deleteChat('c', { keepFor: 60_000 });
    await settle();
    await page.chats.whenSettled();
    await settle();
    expect(words(chat.messages)).toContain('q: Two? | q: Three?');
    // No page holds the locks of them.
    expect(await page.store.held('c')).toEqual(new Set());
    await page.store.restoreChat('c');
    const reloaded = await reload(page);
    expect(reloaded.shown()).toBe('q: One? | a: Fir | q: Two? | q: Three?');
  });

  it('stands where one looks when its branch is deleted, and is not asked where nobody looks', async () => {
    const errors: unknown[] = [];
    const { page, first } = await waitingPage(undefined, { onError: (error) => errors.push(error) });
    await page.engine.btw();
    await page.engine.deleteBranch('main');
    void page.chats.active;
    await vi.waitFor(() => expect(page.shown()).toBe('q: One? | q: Two? | q: Three?'));
    await first.answer('st.');
    await page.chats.whenSettled();
    await settle();
    expect([page.script.requests.length, errors, words(page.chats.active.waiting)]).toEqual([1, [], '']);
    void page.chats.active.regenerate();
    await answerAll(page, 'Third.');
    expect(page.shown()).toBe('q: One? | q: Two? | q: Three? | a: Third.');
    expect([await page.stored('main-v2'), await kept(page.store)]).toEqual([page.shown(), '']);
  });
});

describe('a disk that refuses for a while', () => {
  const full = new ContextError('quota-exceeded', 'The disk is full.');
  const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);
  let isFull = false;
  let attempts = 0;
  /** A store that refuses queued questions while it is full. */
  const moody = (): ContextStore => {
    const store = new InMemoryContextStore();
    return changed(store, {
      commit: async (...args) => {
        if (writesWaiting(args)) {
          attempts += 1;
          if (isFull) throw full;
        }
        return store.commit(...args);
      },
    });
  };
  afterEach(() => {
    vi.useRealTimers();
    isFull = false;
  });

  it('keeps a question as soon as it takes it, and is asked ever less often', async () => {
    const { page, chat } = await waitingPage(moody());
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    isFull = true;
    void chat.sendMessage({ text: 'Four?' });
    await pass(0);
    expect(page.shown()).toContain('q: Three? | q: Four?');
    expect(await kept(page.store)).toBe('q: Two? | q: Three?');
    attempts = 0;
    await pass(60_000);
    expect(attempts).toBeGreaterThan(3);
    expect(attempts).toBeLessThan(8);
    isFull = false;
    await pass(30_000);
    expect(await kept(page.store)).toBe('q: Two? | q: Three? | q: Four?');
    attempts = 0;
    await pass(60_000);
    expect(attempts).toBe(0);
  });

  it('is told as it is of a turn, until it takes the question, also when it is asked again by hand', async () => {
    const { page, chat } = await waitingPage(moody());
    isFull = true;
    void chat.sendMessage({ text: 'Four?' });
    await settle();
    const told = (): unknown => page.engine.state.getState().saveState;
    expect(told()).toEqual({ state: 'error', error: full, pending: 1 });
    await expect(page.engine.retry()).rejects.toBe(full);
    isFull = false;
    await page.engine.retry();
    expect([told(), await kept(page.store)]).toEqual([
      { state: 'saved', pending: 0 },
      'q: Two? | q: Three? | q: Four?',
    ]);
  });
});

describe('a question that waits behind an answer that asks the page for something', () => {
  /** The answer has ended with a tool call for the page, and a question that was sent before is queued. */
  async function askingPage(options: ContextChatOptions = {}): Promise<Pick<Waiting, 'page' | 'chat'>> {
    const page = await openPage(undefined, {
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
      ...options,
    });
    const chat = page.chats.active;
    void chat.sendMessage({ text: 'Roll?' });
    const first = await page.script.next();
    await first.send({ type: 'start' }, { type: 'start-step' });
    void chat.sendMessage({ text: 'Two?' });
    const dice = { toolCallId: 'k', toolName: 'dice', input: {} };
    await first.send({ type: 'tool-input-available', ...dice }, { type: 'finish-step' });
    await first.finish();
    await settle();
    return { page, chat };
  }
  const give = (chat: ContextChat): Promise<void> =>
    Promise.resolve(chat.addToolOutput({ tool: 'dice' as never, toolCallId: 'k', output: 4 }));

  it('is asked when that is given and the answer went on', async () => {
    const { page, chat } = await askingPage();
    const shown = (): unknown[] => [page.shown(), words(chat.waiting), chat.status];
    const all = 'q: Roll? | a: [dice input-available] | q: Two?';
    await expect.poll(shown).toEqual([all, 'q: Two?', 'ready']);
    expect(page.script.requests).toHaveLength(1);
    await give(chat);
    await answerAll(page, 'Four.', 'Second.');
    expect(words(page.script.requests[1]!.sent.messages)).toBe('q: Roll? | a: [dice output-available]');
    expect(await page.saved()).toBe('q: Roll? | a: [dice output-available]/Four. | q: Two? | a: Second.');
  });

  it('is asked at once by stop(), which stops nothing then', async () => {
    const { page, chat } = await askingPage();
    await chat.stop();
    await answerAll(page, 'Second.');
    expect(page.shown()).toBe('q: Roll? | a: [dice input-available] | q: Two? | a: Second.');
  });

  it('is asked before the next one, which the person sends with the call in sight', async () => {
    const { page, chat } = await askingPage();
    void chat.sendMessage({ text: 'Three?' });
    await answerAll(page, 'Second.', 'Third.');
    expect(page.shown()).toBe(
      'q: Roll? | a: [dice input-available] | q: Two? | a: Second. | q: Three? | a: Third.',
    );
  });

  it('is taken back, and holds nothing up then', async () => {
    const { page, chat } = await askingPage();
    chat.messages = chat.messages.slice(0, 2);
    await settle();
    await give(chat);
    await answerAll(page, 'Four.');
    expect(page.shown()).toBe('q: Roll? | a: [dice output-available]/Four.');
    await page.ask('Three?', 'Third.');
    expect(await kept(page.store)).toBe('');
  });
});

describe('what waited when the page was left', () => {
  it('stands at the end of its branch, is not asked by itself, and nothing is written for it', async () => {
    const { page } = await waitingPage();
    const { seq } = await page.store.load('c');
    const reloaded = await reload(page);
    expect(reloaded.shown()).toBe('q: One? | a: Fir | q: Two? | q: Three?');
    expect([reloaded.chats.active.waiting, reloaded.chats.active.status]).toEqual([[], 'ready']);
    expect(reloaded.script.requests).toHaveLength(0);
    expect((await page.store.load('c')).seq).toBe(seq);
    expect(await kept(page.store)).toBe('q: Two? | q: Three?');
  });

  it('is asked by another try', async () => {
    const reloaded = await reload((await waitingPage()).page);
    void reloaded.chats.active.regenerate();
    await answerAll(reloaded, 'Third.');
    expect(await reloaded.saved()).toBe('q: One? | a: Fir | q: Two? | q: Three? | a: Third.');
    expect([await kept(reloaded.store), reloaded.engine.state.getState().branches.length]).toEqual(['', 1]);
  });

  it('is asked by its id, and what stands behind it still waits to be asked', async () => {
    const reloaded = await reload((await waitingPage()).page);
    const chat = reloaded.chats.active;
    void reloaded.engine.attached?.regenerate(idOf(chat, 'Two?'));
    await answerAll(reloaded, 'Second.');
    expect(reloaded.shown()).toBe('q: One? | a: Fir | q: Two? | a: Second. | q: Three?');
    void chat.sendMessage({ text: 'Trois?', messageId: idOf(chat, 'Three?') });
    await answerAll(reloaded, 'Troisième.');
    expect(await reloaded.saved()).toBe(
      'q: One? | a: Fir | q: Two? | a: Second. | q: Trois? | a: Troisième.',
    );
    expect([await kept(reloaded.store), reloaded.engine.state.getState().branches.length]).toEqual(['', 1]);
  });

  it('stands before a question that is sent while the disk is still read', async () => {
    const { page } = await waitingPage();
    const store = afterReload(page.store);
    const reloaded = await openPage(
      changed(store, {
        get: async (key) => {
          await new Promise((resolve) => setTimeout(resolve, 30));
          return store.get(key);
        },
      }),
    );
    await reloaded.ask('Four?', 'Fourth.');
    expect(await reloaded.saved()).toBe('q: One? | a: Fir | q: Two? | q: Three? | q: Four? | a: Fourth.');
  });

  it('stays where it was typed when an earlier question gets other words', async () => {
    const reloaded = await reload((await waitingPage()).page);
    const chat = reloaded.chats.active;
    void chat.sendMessage({ text: 'Un?', messageId: idOf(chat, 'One?') });
    await answerAll(reloaded, 'Premier.');
    expect(reloaded.shown()).toBe('q: Un? | a: Premier.');
    await reloaded.engine.switchBranch('main');
    void reloaded.chats.active;
    await settle();
    expect(reloaded.shown()).toBe('q: One? | a: Fir | q: Two? | q: Three?');
  });

  it('stays behind the answer that a server still streams, and is asked behind it', async () => {
    const { page } = await waitingPage();
    const reloaded = await reload(page);
    const replay = reloaded.script.offer();
    const resumed = reloaded.chats.active.resumeStream();
    void reloaded.chats.active.sendMessage({ text: 'Four?' });
    await replay.say('Fir', 'st.');
    expect(reloaded.shown()).toBe('q: One? | a: First. | q: Two? | q: Three? | q: Four?');
    await replay.finish();
    await resumed;
    await answerAll(reloaded, 'Fourth.');
    expect(await reloaded.saved()).toBe('q: One? | a: First. | q: Two? | q: Three? | q: Four? | a: Fourth.');
  });

  it('is only as good as it was kept: what no message is, is left alone', async () => {
    const { page } = await waitingPage();
    await page.engine.keepFields('queued', { bad: 5, worse: { place: 'x' }, worst: 'text' });
    expect((await reload(page)).shown()).toBe('q: One? | a: Fir | q: Two? | q: Three?');
  });
});

describe('what waits in another tab', () => {
  it('is not shown here while that tab is there, and is when it is saved', async () => {
    const { page, first } = await waitingPage();
    const other = await openPage(page.store);
    await settle();
    expect(other.shown()).not.toContain('Two?');
    await other.ask('Four?', 'Fourth.');
    await first.finish();
    await answerAll(page, 'Second.', 'Third.');
    expect(await page.stored()).toBe('q: One? | a: Fir | q: Two? | a: Second. | q: Three? | a: Third.');
  });

  it('loses nothing when both tabs keep something at the same moment', async () => {
    const store = new InMemoryContextStore();
    const { page } = await waitingPage(store);
    const other = await openPage(store);
    void other.chats.active.sendMessage({ text: 'Uno?' });
    await other.script.next();
    void page.chats.active.sendMessage({ text: 'Four?' });
    void other.chats.active.sendMessage({ text: 'Due?' });
    await settle();
    expect((await kept(store)).split(' | ').toSorted()).toEqual([
      'q: Due?',
      'q: Four?',
      'q: Three?',
      'q: Two?',
    ]);
  });

  it.runIf(globalThis.document)(
    'is shown by one that was open all the time, when that tab has died',
    async () => {
      const store = new InMemoryContextStore();
      let isDead = false;
      const held = async (id: string): Promise<ReadonlySet<string>> => (isDead ? new Set() : store.held(id));
      const other = await openPage(changed(store, { held }));
      void other.chats.active;
      await loadMore();
      await waitingPage(store);
      await settle();
      isDead = true;
      await settle();
      expect(other.shown()).not.toContain('Two?');
      window.dispatchEvent(new Event('focus'));
      await settle();
      expect(other.shown()).toBe('q: One? | a: Fir | q: Two? | q: Three?');
      other.chats.active.messages = other.chats.active.messages.slice(0, 3);
      window.dispatchEvent(new Event('focus'));
      await settle();
      expect(other.shown()).toBe('q: One? | a: Fir | q: Two?');
    },
  );

  it('is asked once when both press for it at the same moment: the other tab is told that it is busy', async () => {
    for (const isNamed of [false, true]) {
      const { page } = await waitingPage();
      const errors: unknown[] = [];
      const onError = (error: unknown): void => void errors.push((error as { code?: string }).code);
      await page.chats.dispose({ stop: true });
      page.engine.dispose();
      const tabs = [await openPage(page.store, { onError }), await openPage(page.store, { onError })];
      await vi.waitFor(() => {
        for (const tab of tabs) expect(tab.shown()).toBe('q: One? | a: Fir | q: Two? | q: Three?');
      });
      for (const { chats } of tabs)
        void chats.active.regenerate(isNamed ? { messageId: idOf(chats.active, 'Three?') } : {});
      await settle();
      await vi.waitFor(() => expect(errors).toEqual(['busy']));
      const asked = tabs.filter(({ script }) => script.requests.length > 0);
      expect(asked).toHaveLength(1);
      await answerAll(asked[0]!, 'Third.');
      await vi.waitFor(() => {
        for (const tab of tabs)
          expect(tab.shown()).toBe('q: One? | a: Fir | q: Two? | q: Three? | a: Third.');
      });
      for (const { engine } of tabs) expect(engine.state.getState().branches).toHaveLength(1);
      expect(await kept(page.store)).toBe('');
    }
  });
});
