import type { UIMessage } from 'ai';
import { beforeEach, describe, expect, it } from 'vitest';
import { createContextChats, type ContextChat, type ContextChats } from '../../src/ai/index.ts';
import { ContextEngine } from '../../src/engine/engine.ts';
import { role } from '../../src/fragment/builders.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import { scriptedTransport, settle, type ScriptedTransport } from '../support/transport.ts';

let store: InMemoryContextStore;
let engine: ContextEngine;
let script: ScriptedTransport;
let chats: ContextChats;

beforeEach(async () => {
  store = new InMemoryContextStore();
  ({ engine, script, chats } = await open());
});

async function open(): Promise<{ engine: ContextEngine; script: ScriptedTransport; chats: ContextChats }> {
  const engine = new ContextEngine({ store, chatId: 'c', userId: 'u' });
  await engine.ready();
  const script = scriptedTransport();
  return { engine, script, chats: createContextChats({ engine, transport: script.transport }) };
}

/** A list as words: `q: hello | a: hi`. */
function words(messages: readonly UIMessage[]): string {
  return messages.map(({ role, parts }) => `${role === 'user' ? 'q' : 'a'}: ${textOf(parts)}`).join(' | ');
}

function textOf(parts: UIMessage['parts']): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('/');
}

const shown = (): string => words(chats.active.messages);

/** What a new tab would read. */
async function stored(branch = 'main'): Promise<string> {
  const records = await store.listBranches('c');
  const head = records.find(({ name }) => name === branch)?.headMessageId;
  return head ? words((await store.getMessageChain('c', head)).map(({ data }) => data)) : '';
}

async function ask(text: string, ...answer: string[]): Promise<void> {
  const sent = chats.active.sendMessage({ text });
  await (await script.next()).answer(...answer);
  await sent;
}

describe('a turn', () => {
  it('saves the question before it is sent, and the answer before the chat is ready', async () => {
    const sent = chats.active.sendMessage({ text: 'Hello?' });
    const exchange = await script.next();
    expect(await stored()).toBe('q: Hello? | a: ');
    await exchange.say('Hi ', 'there');
    expect(shown()).toBe('q: Hello? | a: Hi there');
    expect(chats.active.status).toBe('streaming');
    await exchange.finish();
    expect(chats.active.status).toBe('ready');
    expect(await stored()).toBe('q: Hello? | a: Hi there');
    await sent;
    const [question, answer] = chats.active.messages;
    expect([engine.status(question!.id), engine.status(answer!.id)]).toEqual(['complete', 'complete']);
  });

  it('sends the system prompt and the conversation', async () => {
    engine.set(role('You are a tutor.'));
    await ask('One?', 'First.');
    await ask('Two?', 'Second.');
    const { sent } = script.requests[1]!;
    expect(sent.chatId).toBe('c');
    expect(words(sent.messages)).toBe('q: One? | a: First. | q: Two?');
    expect(sent.body).toEqual({ system: engine.render() });
    expect(sent.metadata).toMatchObject({ contextree: { branch: 'main', attempt: 0 } });
  });

  it('sends what `request` makes of it', async () => {
    chats.configure({
      transport: script.transport,
      request: ({ systemPrompt, messages, attempt }) => ({
        body: { prompt: systemPrompt, attempt },
        messages: messages.slice(-1),
        headers: { 'x-key': 'k' },
      }),
    });
    await ask('One?', 'First.');
    await ask('Two?', 'Second.');
    const { sent } = script.requests[1]!;
    expect(words(sent.messages)).toBe('q: Two?');
    expect(sent.body).toEqual({ prompt: '', attempt: 0 });
    expect(sent.headers).toEqual({ 'x-key': 'k' });
  });

  it('shows the answer together with its first word, and not before', async () => {
    void chats.active.sendMessage({ text: 'Hello?' });
    const exchange = await script.next();
    await exchange.send({ type: 'start', messageId: 'theirs' }, { type: 'start-step' });
    expect(chats.active.messages).toHaveLength(1);
    expect(chats.active.status).toBe('submitted');
    await exchange.send({ type: 'text-start', id: 't' }, { type: 'text-delta', id: 't', delta: 'Hi' });
    expect(shown()).toBe('q: Hello? | a: Hi');
    await exchange.finish();
    expect(await stored()).toBe('q: Hello? | a: Hi');
    expect(chats.active.messages[1]!.id).not.toBe('theirs');
  });

  it('queues questions that are sent at once', async () => {
    const both = Promise.all([chats.active.sendMessage({ text: 'One?' }), chats.active.sendMessage({ text: 'Two?' })]);
    const first = await script.next();
    await first.say('First.');
    expect(script.requests).toHaveLength(1);
    await first.finish();
    await (await script.next()).answer('Second.');
    await both;
    expect(shown()).toBe('q: One? | a: First. | q: Two? | a: Second.');
    expect(await stored()).toBe(shown());
  });

  it('adds the tokens used to the chat', async () => {
    const sent = chats.active.sendMessage({ text: 'One?' });
    const exchange = await script.next();
    await exchange.say('First.');
    await exchange.finish({ usage: { inputTokens: 3, outputTokens: 4 } });
    await sent;
    await ask('Two?', 'Second.');
    expect(engine.chat?.metadata?.usage).toMatchObject({ inputTokens: 3, outputTokens: 4 });
  });
});

describe('another version', () => {
  beforeEach(() => ask('One?', 'First.'));

  it('of an answer is made beside it, three times, and one can page through them', async () => {
    for (const text of ['Second.', 'Third.', 'Fourth.']) {
      const again = chats.active.regenerate();
      await (await script.next()).answer(text);
      await again;
      expect(shown()).toBe(`q: One? | a: ${text}`);
    }
    expect(engine.state.getState().branches.map(({ name }) => name)).toEqual(['main', 'main-v2', 'main-v3', 'main-v4']);
    expect(script.requests.map(({ sent }) => (sent.metadata as { contextree: { attempt: number } }).contextree.attempt)).toEqual([
      0, 1, 2, 3,
    ]);
    const { ids, index } = engine.siblings(chats.active.messages[1]!.id);
    expect([ids.length, index]).toEqual([4, 3]);
    await engine.selectSibling(ids[0]!);
    expect(shown()).toBe('q: One? | a: First.');
    await engine.selectSibling(ids[2]!);
    expect(shown()).toBe('q: One? | a: Third.');
  });

  it('of a question keeps the old one with all that followed', async () => {
    await ask('Two?', 'Second.');
    const [root, , second] = chats.active.messages;
    const edited = chats.active.sendMessage({ text: 'Deux?', messageId: second!.id });
    await (await script.next()).answer('Deuxième.');
    await edited;
    expect(shown()).toBe('q: One? | a: First. | q: Deux? | a: Deuxième.');
    const rooted = chats.active.sendMessage({ text: 'Un?', messageId: root!.id });
    await (await script.next()).answer('Premier.');
    await rooted;
    expect(shown()).toBe('q: Un? | a: Premier.');
    expect(engine.siblings(chats.active.messages[0]!.id).ids).toHaveLength(2);
    expect(await stored('main')).toBe('q: One? | a: First. | q: Two? | a: Second.');
    expect(await stored('main-v2')).toBe('q: One? | a: First. | q: Deux? | a: Deuxième.');
    expect(await stored('main-v3')).toBe('q: Un? | a: Premier.');
  });

  it('of an answer in the middle leaves what followed on its branch', async () => {
    await ask('Two?', 'Second.');
    const again = chats.active.regenerate({ messageId: chats.active.messages[1]!.id });
    await (await script.next()).answer('Erste.');
    await again;
    expect(shown()).toBe('q: One? | a: Erste.');
    expect(await stored('main')).toBe('q: One? | a: First. | q: Two? | a: Second.');
  });

  it('of an answer can be asked for on its question', async () => {
    const again = chats.active.regenerate({ messageId: chats.active.messages[0]!.id });
    await (await script.next()).answer('Again.');
    await again;
    expect(shown()).toBe('q: One? | a: Again.');
    expect(engine.siblings(chats.active.messages[1]!.id).ids).toHaveLength(2);
  });

  it('stops the answer that grows, keeps what it said, and begins anew', async () => {
    void chats.active.sendMessage({ text: 'Two?' });
    const cut = await script.next();
    await cut.say('Sec');
    const again = chats.active.regenerate();
    const next = await script.next();
    expect(cut.isStopped).toBe(true);
    await next.answer('Second.');
    await again;
    expect(shown()).toBe('q: One? | a: First. | q: Two? | a: Second.');
    expect(await stored('main')).toBe('q: One? | a: First. | q: Two? | a: Sec');
  });

  it('throws for a message that is not there, as the AI SDK does', async () => {
    await expect(chats.active.regenerate({ messageId: 'nobody' })).rejects.toThrow(/nobody/);
    await expect(chats.active.sendMessage({ text: 'x', messageId: 'nobody' })).rejects.toThrow(/nobody/);
    expect(shown()).toBe('q: One? | a: First.');
  });
});

describe('a branch of its own', () => {
  it('keeps an answer that nobody looks at', async () => {
    await ask('One?', 'First.');
    void chats.active.sendMessage({ text: 'Two?' });
    const hidden = await script.next();
    await hidden.say('Sec');
    await engine.rewind(chats.active.messages[1]!.id);
    expect(shown()).toBe('q: One? | a: First.');
    const visible = chats.active.sendMessage({ text: 'Other?' });
    const other = await script.next();
    await other.say('Oth');
    await hidden.say('ond.');
    await other.say('er.');
    expect(shown()).toBe('q: One? | a: First. | q: Other? | a: Other.');
    await hidden.finish();
    await other.finish();
    await visible;
    expect(shown()).toBe('q: One? | a: First. | q: Other? | a: Other.');
    await engine.switchBranch('main');
    expect(shown()).toBe('q: One? | a: First. | q: Two? | a: Second.');
    expect(await stored('main')).toBe(shown());
  });
});

describe('an answer that is cut off', () => {
  it('is kept when it is stopped, and ready means saved', async () => {
    void chats.active.sendMessage({ text: 'One?' });
    await (await script.next()).say('Fir');
    await chats.active.stop();
    expect(chats.active.status).toBe('ready');
    expect(await stored()).toBe('q: One? | a: Fir');
    expect(engine.status(chats.active.messages[1]!.id)).toBe('interrupted');
  });

  it('goes on where it stopped, in the same message and the same sentence', async () => {
    void chats.active.sendMessage({ text: 'One?' });
    await (await script.next()).say('The quick ', 'brown ');
    await chats.active.stop();
    const { id } = chats.active.messages[1]!;
    const more = chats.active.sendMessage();
    const exchange = await script.next();
    expect(words(exchange.sent.messages)).toBe('q: One? | a: The quick brown ');
    expect(engine.status(id)).toBe('streaming');
    await exchange.say('fox ');
    expect(shown()).toBe('q: One? | a: The quick brown fox ');
    await exchange.answer('jumps.');
    await more;
    expect(shown()).toBe('q: One? | a: The quick brown fox jumps.');
    expect(await stored()).toBe(shown());
    expect(chats.active.messages[1]!.id).toBe(id);
    expect(engine.siblings(id).ids).toHaveLength(1);
    expect(engine.status(id)).toBe('complete');
  });

  it('leaves no trace when it said nothing', async () => {
    void chats.active.sendMessage({ text: 'One?' });
    const exchange = await script.next();
    await exchange.send({ type: 'start' });
    await chats.active.stop();
    expect(shown()).toBe('q: One?');
    expect(await stored()).toBe('q: One?');
    const again = chats.active.regenerate();
    await (await script.next()).answer('First.');
    await again;
    expect(await stored()).toBe('q: One? | a: First.');
    expect(engine.state.getState().branches).toHaveLength(1);
  });

  it.each([
    ['an error', (exchange: Awaited<ReturnType<ScriptedTransport['next']>>) => exchange.fail('overloaded'), 'error'],
    ['a broken connection', (exchange: Awaited<ReturnType<ScriptedTransport['next']>>) => exchange.break(), 'error'],
    ['a missing end', (exchange: Awaited<ReturnType<ScriptedTransport['next']>>) => exchange.drop(), 'ready'],
  ])('by %s is kept, marked, and can be tried again', async (_name, cut, status) => {
    const sent = chats.active.sendMessage({ text: 'One?' });
    const exchange = await script.next();
    await exchange.say('Fir');
    await cut(exchange);
    await sent;
    await chats.whenSettled();
    expect(chats.active.status).toBe(status);
    expect(shown()).toBe('q: One? | a: Fir');
    expect(await stored()).toBe('q: One? | a: Fir');
    expect(engine.status(chats.active.messages[1]!.id)).toBe('interrupted');
    const again = chats.active.regenerate();
    await (await script.next()).answer('First.');
    await again;
    expect(shown()).toBe('q: One? | a: First.');
    expect(engine.siblings(chats.active.messages[1]!.id).ids).toHaveLength(2);
  });

  it('before its first word leaves the question, which can be asked again', async () => {
    script.refuse(new TypeError('Failed to fetch'));
    await chats.active.sendMessage({ text: 'One?' });
    await script.next();
    expect(chats.active.status).toBe('error');
    expect(chats.active.error?.message).toBe('Failed to fetch');
    expect(shown()).toBe('q: One?');
    expect(await stored()).toBe('q: One?');
    const again = chats.active.regenerate();
    await (await script.next()).answer('First.');
    await again;
    expect(await stored()).toBe('q: One? | a: First.');
    expect(engine.state.getState().branches).toHaveLength(1);
  });

  it('stops at once, also where the transport does not listen', async () => {
    const deaf = { ...script.transport, sendMessages: () => new Promise<never>(() => {}) };
    chats.configure({ transport: deaf });
    void chats.active.sendMessage({ text: 'One?' });
    await settle();
    await settle();
    await chats.active.stop();
    expect(chats.active.status).toBe('ready');
    expect(await stored()).toBe('q: One?');
  });

  it('by a reload is there, interrupted, and goes on in the same node', async () => {
    void chats.active.sendMessage({ text: 'One?' });
    await (await script.next()).say('The quick ');
    await settle();
    store = reloaded(store);
    const before = engine;
    ({ engine, script, chats } = await open());
    expect(before).not.toBe(engine);
    expect(shown()).toBe('q: One? | a: The quick ');
    const { id } = chats.active.messages[1]!;
    expect(engine.status(id)).toBe('interrupted');
    const more = chats.active.sendMessage();
    await (await script.next()).answer('brown fox.');
    await more;
    expect(shown()).toBe('q: One? | a: The quick brown fox.');
    expect(await stored()).toBe(shown());
    const again = chats.active.regenerate();
    await (await script.next()).answer('Another.');
    await again;
    expect(engine.siblings(id).ids).toHaveLength(2);
  });
});

/** The same data, as a page finds it that was loaded anew: the locks fell with the old page. */
function reloaded(before: InMemoryContextStore): InMemoryContextStore {
  return new Proxy(before, {
    get: (target, key) => {
      if (key === 'held') return async () => new Set();
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
