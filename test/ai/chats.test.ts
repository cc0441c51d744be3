import { afterEach, describe, expect, it, vi } from 'vitest';
import '../../src/ai/contextChat.ts';
import { createContextChats, withContext } from '../../src/ai/index.ts';
import { ContextEngine } from '../../src/engine/engine.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import { engineOn, say } from '../support/engine.ts';
import { scriptedTransport, settle } from '../support/transport.ts';
import { afterReload, noteOf, openPage, openPlainly, SDK, slowly, words, type Page } from './story.ts';

afterEach(() => {
  vi.useRealTimers();
});

/** Shows another branch than `main`. */
async function hide(page: Page): Promise<void> {
  await page.engine.rewind(page.chats.active.messages[0]!.id);
}

describe('the chats of an engine', () => {
  it('are the same for everyone who asks, with the options given last', async () => {
    const page = await openPlainly();
    const other = scriptedTransport();
    const again = createContextChats({ engine: page.engine, transport: other.transport });
    expect(again).toBe(page.chats);
    // A caller without options only looks the chats up.
    expect(createContextChats({ engine: page.engine })).toBe(page.chats);
    const sent = page.chats.active.sendMessage({ text: 'One?' });
    await (await other.next()).answer('First.');
    await sent;
    expect(page.script.requests).toHaveLength(0);
  });

  it('can be asked for a branch that is not shown, which then can be written to unseen', async () => {
    const page = await openPage();
    await page.ask('One?', 'First.');
    await page.engine.btw();
    const side = page.chats.get('main-v2')!;
    const sent = side.sendMessage({ text: 'By the way?' });
    const exchange = await page.script.next();
    expect(words(exchange.sent.messages)).toBe('q: One? | a: First. | q: By the way?');
    await exchange.answer('Yes?');
    await sent;
    expect(page.engine.branch).toBe('main');
    expect(page.shown()).toBe('q: One? | a: First.');
    expect(words(side.messages)).toBe('q: One? | a: First. | q: By the way? | a: Yes?');
    await page.engine.switchBranch('main-v2');
    expect(page.chats.active).toBe(side);
    expect(page.chats.get('main-v2')).toBe(side);
    expect(page.chats.get('nobody')).toBeUndefined();
  });

  it('tell callbacks whose turn it is, shown or not', async () => {
    const heard: string[] = [];
    const page = await openPage(undefined, {
      onData: ({ type }, { branchId }) => void heard.push(`${type} on ${nameOf(branchId)}`),
      onToolCall: ({ toolCall }, { branchId }) =>
        void heard.push(`${toolCall.toolName} on ${nameOf(branchId)}`),
      onError: ({ message }, { branchId }) => void heard.push(`${message} on ${nameOf(branchId)}`),
      onFinish: (_, { branchId }) => void heard.push(`the end on ${nameOf(branchId)}`),
    });
    const nameOf = (branchId: string | undefined): string =>
      page.engine.state.getState().branches.find(({ id }) => id === branchId)!.name;
    await page.ask('One?', 'First.');
    const main = await page.begin('Two?', 'Sec');
    await page.engine.rewind(page.chats.active.messages[0]!.id);
    await main.send(
      { type: 'data-note', data: 'n' },
      { type: 'tool-input-available', toolCallId: 'd', toolName: 'dice', input: {} },
    );
    await expect.poll(() => heard).toContain('dice on main');
    void page.chats.active.regenerate();
    const other = await page.script.next();
    await other.fail('overloaded');
    await other.drop();
    await main.finish();
    await page.chats.whenSettled();
    await settle();
    expect(heard).toEqual([
      'the end on main',
      'data-note on main',
      'dice on main',
      'overloaded on main-v2',
      'the end on main-v2',
      'the end on main',
    ]);
  });

  it('go on from what another tab saved meanwhile, when an app uses one that is not shown', async () => {
    const page = await openPage();
    await page.ask('One?', 'First.');
    const main = page.chats.active;
    await hide(page);
    const there = await openPage(page.store);
    await there.engine.switchBranch('main');
    await there.ask('Two?', 'Second.');
    const whole = 'q: One? | a: First. | q: Two? | a: Second.';
    await expect.poll(() => page.stored()).toBe(whole);
    await page.script.answer(main.sendMessage({ text: 'Three?' }), 'Third.');
    expect(await page.stored()).toBe(`${whole} | q: Three? | a: Third.`);
    expect(page.engine.state.getState().branches).toHaveLength(2);
  });

  it('that fork unseen are on their own branch, and leave theirs to another chat', async () => {
    const page = await openPage();
    await page.ask('One?', 'First.');
    const main = page.chats.active;
    await hide(page);
    await page.script.answer(main.regenerate(), 'Other.');
    expect(words(main.messages)).toBe('q: One? | a: Other.');
    const other = page.chats.get('main')!;
    expect(other).not.toBe(main);
    await expect.poll(() => words(other.messages)).toBe('q: One? | a: First.');
  });

  it('are let go with the engine, and stop only when they are told to', async () => {
    const page = await openPlainly();
    const exchange = await page.begin('One?', 'Fir');
    const gone = page.chats.dispose();
    await exchange.answer('st.');
    await gone;
    expect(await page.stored()).toBe('q: One? | a: First.');
    expect(page.engine.attached).toBeUndefined();

    const other = createContextChats({ engine: page.engine, transport: page.script.transport });
    expect(other).not.toBe(page.chats);
    void other.active.sendMessage({ text: 'Two?' });
    const second = await page.script.next();
    await second.say('Sec');
    await other.dispose({ stop: true });
    expect(second.isStopped).toBe(true);
    expect(await page.stored()).toBe('q: One? | a: First. | q: Two? | a: Sec');
  });
});

describe('moments that are easy to miss', () => {
  it('a question is not lost when an edit stops everything right after it', async () => {
    const page = await openPage();
    await page.ask('One?', 'First.');
    const [first] = page.chats.active.messages;
    void page.chats.active.sendMessage({ text: 'Two?' });
    void page.chats.active.sendMessage({ text: 'Un?', messageId: first!.id });
    await (await page.script.next()).answer('Second.');
    await (await page.script.next()).answer('Premier.');
    await page.chats.whenSettled();
    expect(await page.stored('main')).toBe('q: One? | a: First. | q: Two? | a: Second.');
    expect(await page.stored('main-v2')).toBe('q: Un? | a: Premier.');
  });

  it('a question is not lost when everything is stopped right after it', async () => {
    for (let moments = 0; moments < 20; moments += 1) {
      const page = await openPage();
      const sent = page.chats.active.sendMessage({ text: 'One?' });
      for (let moment = 0; moment < moments; moment += 1) await Promise.resolve();
      await page.chats.active.stop();
      page.script.refuse(new TypeError('Failed to fetch'));
      await sent;
      expect(await page.stored()).toBe('q: One?');
    }
  });

  it('ready means saved also when it is said by a stop', async () => {
    const page = await openPage(slowly(new InMemoryContextStore()));
    const chat = page.chats.active;
    void chat.sendMessage({ text: 'One?' });
    await (await page.script.next()).say('Fir');
    const seen: string[] = [];
    chat['~registerStatusCallback'](() =>
      seen.push(`${chat.status} ${page.engine.status(chat.messages[1]!.id)}`),
    );
    await chat.stop();
    expect(seen).toEqual(['ready interrupted']);
  });

  it('a message that is checked out while an answer grows is shown at the end of it', async () => {
    const page = await openPage();
    await page.ask('One?', 'First.');
    const [question] = page.chats.active.messages;
    await page.engine.checkout(question!.id);
    const again = page.chats.active.regenerate();
    const exchange = await page.script.next();
    await page.engine.checkout(question!.id);
    await exchange.answer('Other.');
    await again;
    await settle();
    expect(page.shown()).toBe(words(page.engine.state.getState().messages));
  });

  it('the objects that an answer grew in are kept when it is saved', async () => {
    const page = await openPage();
    const chat = page.chats.active;
    const sent = chat.sendMessage({ text: 'One?' });
    const exchange = await page.script.next();
    await exchange.say('First.');
    const [question] = chat.messages;
    await exchange.finish();
    await sent;
    const [, answer] = chat.messages;
    await settle();
    expect(chat.messages[0]).toBe(question);
    expect(chat.messages[1]).toBe(answer);
  });

  it('words that came are on the disk soon, while others are still to come', async () => {
    const page = await openPage();
    const exchange = await page.begin('One?', 'The ');
    await exchange.say('quick ');
    await exchange.say('brown ');
    await expect.poll(() => page.stored()).toBe('q: One? | a: The quick brown ');
    expect(page.chats.active.status).toBe('streaming');
    await exchange.finish();
  });

  it.runIf(SDK > 6)(
    "the AI SDK's own queue shows what waits, and each question is saved when its turn comes",
    async () => {
      const page = await openPage(undefined, { experimental_queue: true });
      const first = await page.begin('One?');
      void page.chats.active.sendMessage({ text: 'Two?' });
      await settle();
      expect(words(page.chats.active.experimental_queuedMessages)).toBe('q: Two?');
      await first.answer('First.');
      await (await page.script.next()).answer('Second.');
      expect(await page.stored()).toBe('q: One? | a: First. | q: Two? | a: Second.');
    },
  );

  it('two edits of one question at once become two versions of it', async () => {
    const page = await openPage();
    await page.ask('One?', 'First.');
    await page.ask('Two?', 'Second.');
    const { id } = page.chats.active.messages[2]!;
    void page.chats.active.sendMessage({ text: 'Deux?', messageId: id });
    void page.chats.active.sendMessage({ text: 'Zwei?', messageId: id });
    await (await page.script.next()).answer('Deuxième.');
    await (await page.script.next()).answer('Zweite.');
    await page.chats.whenSettled();
    expect(await page.stored('main-v2')).toBe('q: One? | a: First. | q: Deux? | a: Deuxième.');
    expect(await page.stored('main-v3')).toBe('q: One? | a: First. | q: Zwei? | a: Zweite.');
    expect(page.engine.siblings(id).ids).toHaveLength(3);
  });

  it.each(['new words for the question', 'another try'])(
    'Continue, pressed while the answer still grows, gives way to %s: that shows, and is saved, at once',
    async (what) => {
      const page = await openPage();
      const chat = page.chats.active;
      void chat.sendMessage({ text: 'One?' });
      const first = await page.script.next();
      await first.say('Fir');
      const isEdit = what !== 'another try';
      const [question, answer] = chat.messages;
      const continued = chat.sendMessage();
      await settle();
      if (isEdit) void chat.sendMessage({ text: 'Un?', messageId: question!.id });
      else void chat.regenerate({ messageId: answer!.id });
      const second = await page.script.next();
      await second.say('Oth');
      const now = isEdit ? 'q: Un? | a: Oth' : 'q: One? | a: Oth';
      expect([page.shown(), await page.stored('main-v2'), first.isStopped]).toEqual([now, now, true]);
      await second.answer('er.');
      await continued;
      await page.chats.whenSettled();
      expect(page.script.requests).toHaveLength(2);
      expect([page.shown(), await page.stored()]).toEqual([`${now}er.`, 'q: One? | a: Fir']);
    },
  );

  it('Continue, pressed while the answer still grows, goes on from its last word', async () => {
    const page = await openPage(slowly(new InMemoryContextStore()));
    const cut = await page.begin('One?', 'The quick ');
    const more = page.chats.active.sendMessage();
    await cut.say('brown ');
    await cut.fail('overloaded');
    const rest = await page.script.next();
    expect(words(rest.sent.messages)).toBe('q: One? | a: The quick brown ');
    await rest.answer('fox.');
    await more;
    expect(await page.stored()).toBe('q: One? | a: The quick brown fox.');
  });

  it('a chat that was never read refuses in its error, and keeps the question', async () => {
    const store = new InMemoryContextStore();
    const owner = new ContextEngine({ store, chatId: 'c', userId: 'somebody' });
    await owner.ask({ id: 'q', role: 'user', parts: [{ type: 'text', text: 'Mine' }] });
    const engine = new ContextEngine({ store, chatId: 'c', userId: 'me' });
    const { transport, requests } = scriptedTransport();
    const chats = createContextChats({ engine, transport });
    await chats.active.sendMessage({ text: 'Hello?' });
    expect(chats.active.status).toBe('error');
    expect(chats.active.error).toMatchObject({ code: 'wrong-user' });
    expect(words(chats.active.messages)).toBe('q: Hello?');
    expect(requests).toHaveLength(0);
  });
});

describe('an answer that a server still streams', () => {
  it('that breaks off again, before it said as much as before, loses none of its words', async () => {
    const page = await openPage();
    page.chats.configure({ transport: { ...page.script.transport, resumeStreamIsReplay: true } });
    await page.cut('One?', 'First.');
    const { replay, resumed } = await page.takeUp();
    await replay.say('Fir');
    expect(await page.stored()).toBe('q: One? | a: First.');
    await replay.break();
    await resumed;
    await page.chats.whenSettled();
    expect(await page.saved()).toBe('q: One? | a: First.');
    expect(page.engine.state.getState().branches).toHaveLength(1);
  });

  it('is taken up where the question is all that is left', async () => {
    const page = await openPage();
    page.script.refuse(new TypeError('Failed to fetch'));
    await page.chats.active.sendMessage({ text: 'One?' });
    const { replay, resumed } = await page.takeUp();
    await replay.answer('First.');
    await resumed;
    expect(await page.stored()).toBe('q: One? | a: First.');
  });

  it('is asked for by its branch and its id, and taken up on the node that was reserved for its first word', async () => {
    const before = await openPage();
    void before.chats.active.sendMessage({ text: 'One?' });
    const answerId = String(noteOf(await before.script.next())['answerId']);
    const page = await openPage(afterReload(before.store));
    const replay = page.script.offer();
    const reconnect = vi.spyOn(page.script.transport, 'reconnectToStream');
    const resumed = page.chats.active.resumeStream({ metadata: { own: true } });
    await settle();
    const { branch, branchId } = page.engine.state.getState();
    expect(reconnect.mock.calls[0]?.[0]).toMatchObject({
      metadata: { own: true, contextree: { branch, branchId, answerId } },
    });
    await replay.answer('First.');
    await resumed;
    expect(page.chats.active.messages.map(({ id }) => id)).toContain(answerId);
    expect(page.engine.graph().nodes).toHaveLength(2);
    expect(await page.stored()).toBe('q: One? | a: First.');
  });

  it('changes nothing where there is none, or the answer is here', async () => {
    const page = await openPage();
    await page.ask('One?', 'First.');
    await page.chats.active.resumeStream();
    page.script.offer();
    await page.chats.active.resumeStream();
    expect(page.chats.active.status).toBe('ready');
    expect(await page.stored()).toBe('q: One? | a: First.');
    expect(page.engine.state.getState().branches).toHaveLength(1);
  });
});

it.each([5, undefined, {}])('are not made for what is no engine: %o', async (engine) => {
  const refused = {
    code: 'invalid-options',
    message: expect.stringMatching(/^engine must be a ContextEngine/),
  };
  expect(() => createContextChats({ engine: engine as never })).toThrow(expect.objectContaining(refused));
  const { transport } = scriptedTransport();
  await expect(
    withContext(transport, engine as never).sendMessages({
      chatId: 'c',
      trigger: 'submit-message',
      messageId: undefined,
      messages: [],
      abortSignal: undefined,
    }),
  ).rejects.toMatchObject(refused);
});

it('is one for a branch, also where the branch of a chat merged with another while it asked again', async () => {
  const store = new InMemoryContextStore();
  await say(engineOn(store, { userId: 'me' }), 'q0');
  const deaf = new Proxy(store, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target);
      if (name === 'subscribe') return () => () => {};
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  const other = engineOn(deaf, { userId: 'me' });
  await other.ready();
  const page = await openPlainly(store);
  const { chats, engine, script } = page;
  const chat = chats.active;
  void chat.regenerate({ messageId: 'q0' });
  await script.next();
  // Another tab says more in the same moment: its way and that of the answer part.
  await say(other, 'q1');
  await expect.poll(() => engine.state.getState().branches.length).toBe(2);
  // Without its answer, the way of this chat is the beginning of the other one.
  void chat.regenerate({ messageId: 'q0' });
  await engine.rewind('q0');
  engine.state.subscribe(() => void chats.active);
  const answer = await script.next();
  expect(chats.active.isBusy).toBe(true);
  await answer.answer('words');
  await chats.whenSettled();
  expect(page.shown()).toBe('q: q0 | a: words');
});
