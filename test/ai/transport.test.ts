import { AbstractChat, type ChatState, type ChatStatus, type UIMessage } from 'ai';
import { beforeEach, describe, expect, it } from 'vitest';
import { withContext } from '../../src/ai/index.ts';
import { settle } from '../support/transport.ts';
import { openPage, words, type Page } from './story.ts';

/** An app's own chat: the AI SDK's, over the plainest state. */
class OwnChat extends AbstractChat<UIMessage> {
  constructor(page: Page) {
    super({ state: new PlainState(), transport: withContext(page.script.transport, page.engine) });
  }
}

class PlainState implements ChatState<UIMessage> {
  status: ChatStatus = 'ready';
  error: Error | undefined = undefined;
  messages: UIMessage[] = [];
  pushMessage = (message: UIMessage): void => {
    this.messages = [...this.messages, message];
  };
  popMessage = (): void => {
    this.messages = this.messages.slice(0, -1);
  };
  replaceMessage = (index: number, message: UIMessage): void => {
    this.messages = this.messages.with(index, structuredClone(message));
  };
  snapshot = <T>(value: T): T => structuredClone(value);
}

let page: Page;
let chat: OwnChat;

beforeEach(async () => {
  page = await openPage();
  chat = new OwnChat(page);
});

async function ask(text: string, answer: string, messageId?: string): Promise<void> {
  const question = { text, ...(messageId === undefined ? {} : { messageId }) };
  await page.script.answer(chat.sendMessage(question), answer);
}

/** A question whose answer breaks off behind these words. */
async function cutOff(words: string): Promise<void> {
  void chat.sendMessage({ text: 'One?' });
  const cut = await page.script.next();
  await cut.say(words);
  await cut.break();
  await expect.poll(() => page.stored()).toBe(`q: One? | a: ${words}`);
}

describe('withContext, around a transport of a chat of one’s own', () => {
  it('saves questions and answers, and sends the context', async () => {
    await ask('One?', 'First.');
    await ask('Two?', 'Second.');
    expect(await page.stored()).toBe('q: One? | a: First. | q: Two? | a: Second.');
    expect(words(page.script.requests[1]!.sent.messages)).toBe('q: One? | a: First. | q: Two?');
    expect(page.script.requests[1]!.sent.body).toBeUndefined();
    expect(chat.messages.map(({ id }) => id)).toEqual(
      page.engine.state.getState().messages.map(({ id }) => id),
    );
  });

  it('keeps the old version of what is regenerated or edited', async () => {
    await ask('One?', 'First.');
    await page.script.answer(chat.regenerate(), 'Another.');
    await ask('Un?', 'Premier.', chat.messages[0]!.id);
    await ask('Deux?', 'Deuxième.');
    expect(await page.stored('main')).toBe('q: One? | a: First.');
    expect(await page.stored('main-v2')).toBe('q: One? | a: Another.');
    expect(await page.stored('main-v3')).toBe('q: Un? | a: Premier. | q: Deux? | a: Deuxième.');
    expect(page.engine.branch).toBe('main-v3');
  });

  it('keeps what an answer said until it was stopped, and goes on in the same node', async () => {
    void chat.sendMessage({ text: 'One?' });
    await (await page.script.next()).say('Fir');
    await chat.stop();
    await expect.poll(() => page.stored()).toBe('q: One? | a: Fir');
    await page.script.answer(chat.sendMessage(), 'st.');
    expect(await page.stored()).toBe('q: One? | a: Fir/st.');
    expect(page.engine.status(chat.messages[1]!.id)).toBe('complete');
  });

  it.each<[string, () => Promise<unknown>]>([
    ['branch', () => page.engine.deleteBranch('main')],
    ['chat', () => page.store.deleteChat('c')],
  ])('asks no more when the %s is deleted, and tells nobody of an error', async (_, remove) => {
    await ask('One?', 'First.');
    await page.engine.btw();
    await page.engine.switchBranch('main');
    const sent = chat.sendMessage({ text: 'Two?' });
    const exchange = await page.script.next();
    await exchange.say('Sec');
    await remove();
    await sent;
    expect([exchange.isStopped, chat.status, chat.error]).toEqual([true, 'ready', undefined]);
    expect(words(chat.messages)).toBe('q: One? | a: First. | q: Two? | a: Sec');
  });

  it('goes on where the chat holds only the end of the conversation', async () => {
    await ask('One?', 'First.');
    await ask('Two?', 'Second.');
    const late = new OwnChat(page);
    late.messages = chat.messages.slice(2);
    await page.script.answer(late.sendMessage({ text: 'Three?' }), 'Third.');
    expect(await page.stored()).toBe('q: One? | a: First. | q: Two? | a: Second. | q: Three? | a: Third.');
    expect(page.engine.state.getState().branches).toHaveLength(1);
  });

  it('goes on with the answer that a request names, wherever it stands in the list', async () => {
    await ask('One?', 'First.');
    await ask('Two?', 'Second.');
    const { messages } = chat;
    const own = withContext(page.script.transport, page.engine);
    const named = { chatId: 'c', messages, messageId: messages[1]!.id, abortSignal: undefined };
    const more = await own.sendMessages({ ...named, trigger: 'submit-message' });
    await page.script.answer(more.pipeTo(new WritableStream()), 'And more.');
    expect(await page.stored()).toBe('q: One? | a: First./And more. | q: Two? | a: Second.');
  });

  it('takes up an answer that a server still streams, on the node that was cut off', async () => {
    await cutOff('Fir');
    const { id } = page.engine.state.getState().messages[1]!;
    const late = new OwnChat(page);
    late.messages = page.engine.state.getState().messages.slice(0, 1);
    const replay = page.script.offer();
    const resumed = late.resumeStream();
    await settle();
    await replay.answer('Fir', 'st.');
    await resumed;
    expect(await page.stored()).toBe('q: One? | a: First.');
    expect(page.engine.status(id)).toBe('complete');
    page.script.offer();
    await late.resumeStream();
    expect(late.status).toBe('ready');
    expect(await page.stored()).toBe('q: One? | a: First.');
  });
});

describe("a tool's result, given in a chat of one's own", () => {
  async function roll(output: unknown = 4): Promise<void> {
    const sent = chat.sendMessage({ text: 'Roll?' });
    const asked = await page.script.next();
    await asked.send(
      { type: 'start' },
      { type: 'start-step' },
      { type: 'tool-input-available', toolCallId: 'd', toolName: 'dice', input: {} },
      { type: 'finish-step' },
    );
    await asked.finish();
    await sent;
    await chat.addToolOutput({ tool: 'dice' as never, toolCallId: 'd', output: output as never });
  }

  it('goes to the node that asked with the next request, and makes no version of it', async () => {
    await roll();
    await ask('And?', 'Four.');
    const all = 'q: Roll? | a: [dice output-available] | q: And? | a: Four.';
    expect(words(page.script.requests[1]!.sent.messages)).toBe(
      'q: Roll? | a: [dice output-available] | q: And?',
    );
    expect(await page.stored()).toBe(all);
    expect(page.engine.state.getState().branches).toHaveLength(1);
  });

  it.each<[string, unknown]>([
    ['a date', { at: new Date(0) }],
    ['a big number', { size: 10n }],
  ])('with %s in it makes no version either', async (_, output) => {
    await roll(output);
    await ask('And?', 'Four.');
    expect(await page.stored()).toBe('q: Roll? | a: [dice output-available] | q: And? | a: Four.');
    expect(page.engine.state.getState().branches).toHaveLength(1);
  });
});
