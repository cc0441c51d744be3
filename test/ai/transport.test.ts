import { AbstractChat, type ChatState, type ChatStatus, type UIMessage } from 'ai';
import { beforeEach, describe, expect, it } from 'vitest';
import { withContext } from '../../src/ai/index.ts';
import { openPage, words, type Page } from './story.ts';

/** A chat that somebody keeps without us: the AI SDK's own, over the plainest state. */
class OwnChat extends AbstractChat<UIMessage> {
  constructor(page: Page, branch?: string) {
    super({
      state: new PlainState(),
      transport: withContext(page.script.transport, page.engine, { branch }),
    });
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
  const sent = chat.sendMessage({ text, ...(messageId === undefined ? {} : { messageId }) });
  await (await page.script.next()).answer(answer);
  await sent;
}

describe('withContext, around a transport of a chat of one’s own', () => {
  it('saves questions and answers, and sends the context', async () => {
    await ask('One?', 'First.');
    await ask('Two?', 'Second.');
    expect(await page.stored()).toBe('q: One? | a: First. | q: Two? | a: Second.');
    expect(words(page.script.requests[1]!.sent.messages)).toBe('q: One? | a: First. | q: Two?');
    expect(page.script.requests[1]!.sent.body).toEqual({ system: '' });
    expect(chat.messages.map(({ id }) => id)).toEqual(
      page.engine.state.getState().messages.map(({ id }) => id),
    );
  });

  it('keeps the old version of what is regenerated or edited', async () => {
    await ask('One?', 'First.');
    const again = chat.regenerate();
    await (await page.script.next()).answer('Another.');
    await again;
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
    const more = chat.sendMessage();
    await (await page.script.next()).answer('st.');
    await more;
    expect(await page.stored()).toBe('q: One? | a: Fir/st.');
    expect(page.engine.status(chat.messages[1]!.id)).toBe('complete');
  });

  it('goes on where the chat holds only the end of the conversation', async () => {
    await ask('One?', 'First.');
    await ask('Two?', 'Second.');
    const late = new OwnChat(page);
    late.messages = chat.messages.slice(2);
    const sent = late.sendMessage({ text: 'Three?' });
    await (await page.script.next()).answer('Third.');
    await sent;
    expect(await page.stored()).toBe('q: One? | a: First. | q: Two? | a: Second. | q: Three? | a: Third.');
    expect(page.engine.state.getState().branches).toHaveLength(1);
  });

  it('goes to the branch that it was given', async () => {
    await ask('One?', 'First.');
    await page.engine.btw();
    const side = new OwnChat(page, 'main-v2');
    side.messages = chat.messages;
    const sent = side.sendMessage({ text: 'By the way?' });
    await (await page.script.next()).answer('Yes?');
    await sent;
    expect(page.engine.branch).toBe('main');
    expect(await page.stored('main')).toBe('q: One? | a: First.');
    expect(await page.stored('main-v2')).toBe('q: One? | a: First. | q: By the way? | a: Yes?');
  });
});
