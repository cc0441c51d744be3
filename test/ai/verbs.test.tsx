import { useChat, type UseChatHelpers } from '@ai-sdk/react';
import { act, cleanup, render } from '@testing-library/react';
import * as ai from 'ai';
import type { FileUIPart, UIMessage } from 'ai';
import { StrictMode, useEffect, type ReactNode } from 'react';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { useContextChat, type UseContextChatOptions } from '../../src/ai/index.ts';
import { ContextEngine } from '../../src/engine/engine.ts';
import { role } from '../../src/fragment/builders.ts';
import { ContextEngineProvider } from '../../src/react/provider.tsx';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import { picked } from '../support/fileList.ts';
import { scriptedTransport, type Exchange, type ScriptedTransport } from '../support/transport.ts';
import { storedMessages } from '../support/stored.ts';
import { requestOf } from './acted.ts';
import { afterReload, SDK, words } from './story.ts';

/** Every verb of useChat, as an app calls it, and what is saved after it. */
let store: InMemoryContextStore;
let engine: ContextEngine;
let script: ScriptedTransport;
let chat: UseChatHelpers<UIMessage>;

beforeEach(async () => {
  store = new InMemoryContextStore();
  script = scriptedTransport();
});

afterEach(cleanup);

type Options = Omit<UseContextChatOptions, 'resume'> & { readonly resume?: boolean };

function Chat({ resume = false, ...options }: Options): ReactNode {
  const helpers = useChat({ ...useContextChat({ transport: script.transport, ...options }), resume });
  useEffect(() => {
    chat = helpers;
  });
  return words(helpers.messages);
}

/** Opens the page on the store, as it is then. */
async function open(options: Options = {}): Promise<void> {
  engine = new ContextEngine({ store: afterReload(store), chatId: 'c', userId: 'me' });
  render(
    <StrictMode>
      <ContextEngineProvider engine={engine}>
        <Chat {...options} />
      </ContextEngineProvider>
    </StrictMode>,
  );
  await act(() => engine.ready());
}

/** Does something, and gives the request that it leads to; its answer says these words, and grows. */
const requestAfter = (action: () => unknown, ...words: string[]): Promise<Exchange> =>
  requestOf(script, action, ...words);

async function ask(action: () => unknown, ...answer: string[]): Promise<Exchange> {
  const exchange = await requestAfter(action);
  await act(() => exchange.answer(...answer));
  return exchange;
}

/** All messages of the chat in the store, on every branch, in the order of their making. */
async function stored(): Promise<UIMessage[]> {
  return storedMessages(store);
}

const shown = (): string => words(chat.messages);

const file: FileUIPart = {
  type: 'file',
  mediaType: 'text/plain',
  filename: 'notes.txt',
  url: 'data:text/plain;base64,aGVsbG8=',
};

describe('sendMessage', () => {
  it('without a message lets the assistant begin, as with plain useChat', async () => {
    await open();
    const greeting = await ask(() => chat.sendMessage(), 'Hello.');
    expect(greeting.sent.messages).toEqual([]);
    await ask(() => chat.regenerate(), 'Good day.');
    await ask(() => chat.sendMessage({ text: 'One?' }), 'First.');
    expect(shown()).toBe('a: Good day. | q: One? | a: First.');
    expect(words(await stored())).toBe('a: Hello. | a: Good day. | q: One? | a: First.');
    cleanup();
    await open();
    expect(shown()).toBe('a: Good day. | q: One? | a: First.');
    expect(await engine.verify()).toEqual([]);
  });

  it('takes text, files and metadata', async () => {
    await open();
    const { sent } = await ask(
      () => chat.sendMessage({ text: 'One?', files: [file], metadata: { mood: 'good' } }),
      'First.',
    );
    const parts = [file, { type: 'text', text: 'One?' }];
    expect(chat.messages[0]).toMatchObject({ role: 'user', parts, metadata: { mood: 'good' } });
    expect(sent.messages[0]).toMatchObject({ parts });
    expect((await stored())[0]).toEqual(chat.messages[0]);
  });

  it('takes a list of files, as an input has it, which the app empties at once', async () => {
    await open();
    const { list, empty } = picked(new File(['hello'], 'notes.txt', { type: 'text/plain' }));
    const send = (): void => {
      void chat.sendMessage({ text: 'One?', files: list });
      empty();
    };
    await ask(send, 'First.');
    expect(chat.messages[0]!.parts).toEqual([file, { type: 'text', text: 'One?' }]);
    expect((await stored())[0]).toEqual(chat.messages[0]);
  });

  it('takes no files for no files, as JavaScript has them where nothing was picked', async () => {
    await open();
    await ask(() => chat.sendMessage({ text: 'One?', files: null as never }), 'First.');
    expect(shown()).toBe('q: One? | a: First.');
  });

  it('takes parts, and an id where the AI SDK does', async () => {
    await open();
    const parts = [
      { type: 'text', text: 'One?' } as const,
      { type: 'data-place', data: { city: 'Oslo' } } as const,
    ];
    await ask(() => chat.sendMessage({ id: 'mine', role: 'user', parts }), 'First.');
    expect((await stored())[0]).toMatchObject({ id: 'mine', parts });
  });

  it("leaves an app's own prompt alone, until there is one of fragments", async () => {
    await open();
    const body = { system: 'Mine.' };
    const own = await ask(() => chat.sendMessage({ text: 'One?' }, { body }), 'First.');
    engine.set(role('Ours.'));
    const ours = await ask(() => chat.sendMessage({ text: 'Two?' }, { body }), 'Second.');
    expect([own.sent.body, ours.sent.body]).toEqual([body, { system: '<role>Ours.</role>' }]);
  });

  it('sends a body, headers and metadata along', async () => {
    await open();
    const metadata = { reason: 'test' };
    const options = { body: { model: 'small' }, headers: { 'x-a': '1' }, metadata };
    const { sent } = await ask(() => chat.sendMessage({ text: 'One?' }, options), 'First.');
    expect(sent.body).toEqual({ model: 'small' });
    expect(sent.headers).toEqual({ 'x-a': '1' });
    expect(sent.metadata).toMatchObject({ reason: 'test', contextree: { branch: 'main', attempt: 0 } });
  });

  it('puts new words in place of a question, and its old files only where they are given', async () => {
    await open();
    await ask(() => chat.sendMessage({ text: 'One?', files: [file] }), 'First.');
    const { id } = chat.messages[0]!;
    await ask(() => chat.sendMessage({ text: 'Un?', files: [file], messageId: id }), 'Premier.');
    expect(chat.messages[0]!.parts).toEqual([file, { type: 'text', text: 'Un?' }]);
    await ask(() => chat.sendMessage({ text: 'Uno?', messageId: chat.messages[0]!.id }), 'Primo.');
    expect(chat.messages[0]!.parts).toEqual([{ type: 'text', text: 'Uno?' }]);
    expect(words(await stored())).toBe('q: One? | a: First. | q: Un? | a: Premier. | q: Uno? | a: Primo.');
    expect(engine.state.getState().branches).toHaveLength(3);
  });

  it('refuses to put words in place of an answer, as the AI SDK does', async () => {
    await open();
    await ask(() => chat.sendMessage({ text: 'One?' }), 'First.');
    await expect(chat.sendMessage({ text: 'No', messageId: chat.messages[1]!.id })).rejects.toThrow(
      'not a user message',
    );
    await expect(chat.sendMessage({ text: 'No', messageId: 'nowhere' })).rejects.toThrow('not found');
    expect(words(await stored())).toBe('q: One? | a: First.');
  });
});

describe('a message that is sent while an answer grows', () => {
  it('is refused where the app asks for it, and nothing changes', async () => {
    await open({ onBusy: 'reject' });
    const refused: unknown[] = [];
    const first = await requestAfter(() => {
      void chat.sendMessage({ text: 'One?' });
      void chat.sendMessage({ text: 'Two?' }).catch((error: unknown) => refused.push(error));
    });
    await act(() => first.say('Fir'));
    await chat.sendMessage({ text: 'Three?' }).catch((error: unknown) => refused.push(error));
    await chat.sendMessage().catch((error: unknown) => refused.push(error));
    expect(refused).toMatchObject([{ code: 'busy' }, { code: 'busy' }, { code: 'busy' }]);
    expect(shown()).toBe('q: One? | a: Fir');
    await act(() => first.finish());
    await ask(() => chat.sendMessage({ text: 'Four?' }), 'Fourth.');
    expect(words(await stored())).toBe('q: One? | a: Fir | q: Four? | a: Fourth.');
  });

  it('where it is refused, an edit and another try still stop the answer and begin', async () => {
    await open({ onBusy: 'reject' });
    await requestAfter(() => chat.sendMessage({ text: 'One?' }), 'Fir');
    await requestAfter(() => chat.regenerate(), 'Oth');
    await ask(() => chat.sendMessage({ text: 'Un?', messageId: chat.messages[0]!.id }), 'Premier.');
    expect(words(await stored())).toBe('q: One? | a: Fir | a: Oth | q: Un? | a: Premier.');
    expect(shown()).toBe('q: Un? | a: Premier.');
  });
});

describe('a tool', () => {
  const call = async (exchange: Exchange): Promise<void> => {
    await exchange.send(
      { type: 'start-step' },
      { type: 'tool-input-available', toolCallId: '1', toolName: 'dice', input: { sides: 6 } },
    );
  };

  it('that failed in the browser is kept as failed, and told to the model', async () => {
    await open();
    const exchange = await requestAfter(() => chat.sendMessage({ text: 'Roll?' }));
    await act(async () => {
      await call(exchange);
      await exchange.finish();
    });
    const failure = { state: 'output-error', errorText: 'no dice' } as const;
    await act(async () => chat.addToolOutput({ tool: 'dice' as never, toolCallId: '1', ...failure }));
    expect(words(await stored())).toBe('q: Roll? | a: [dice output-error]');
    const { sent } = await ask(() => chat.sendMessage({ text: 'And?' }), 'Sorry.');
    expect(words(sent.messages)).toBe('q: Roll? | a: [dice output-error] | q: And?');
  });

  it.runIf(SDK > 5)('that waits for a word still does so after a reload', async () => {
    await open();
    const exchange = await requestAfter(() => chat.sendMessage({ text: 'Roll?' }));
    await act(async () => {
      await call(exchange);
      await exchange.send({ type: 'tool-approval-request', approvalId: 'ok?', toolCallId: '1' });
      await exchange.finish();
    });
    cleanup();
    await open({ sendAutomaticallyWhen: ai.lastAssistantMessageIsCompleteWithApprovalResponses });
    expect(shown()).toBe('q: Roll? | a: [dice approval-requested]');
    const next = await requestAfter(() => chat.addToolApprovalResponse({ id: 'ok?', approved: true }));
    await act(async () => {
      await next.send({ type: 'tool-output-available', toolCallId: '1', output: 4 });
      await next.answer('Four.');
    });
    expect(words(await stored())).toBe('q: Roll? | a: [dice output-available]/Four.');
    expect(engine.state.getState().branches).toHaveLength(1);
  });
});

describe('the rest', () => {
  it('an error can be cleared, and the answer that broke off goes on', async () => {
    await open();
    const exchange = await requestAfter(() => chat.sendMessage({ text: 'One?' }), 'Fir');
    await act(() => exchange.fail('overloaded'));
    expect(chat.error?.message).toBe('overloaded');
    act(() => chat.clearError());
    expect([chat.status, chat.error]).toEqual(['ready', undefined]);
    await ask(() => chat.sendMessage(), 'st.');
    expect(words(await stored())).toBe('q: One? | a: First.');
  });

  it('setMessages shows a list, as one or as a function, and the next question goes on from it', async () => {
    await open();
    await ask(() => chat.sendMessage({ text: 'One?' }), 'First.');
    await ask(() => chat.sendMessage({ text: 'Two?' }), 'Second.');
    act(() => chat.setMessages((messages) => messages.slice(0, 2)));
    expect(shown()).toBe('q: One? | a: First.');
    await ask(() => chat.sendMessage({ text: 'Deux?' }), 'Deuxième.');
    expect(shown()).toBe('q: One? | a: First. | q: Deux? | a: Deuxième.');
    expect(engine.state.getState().branches).toHaveLength(2);
    act(() => chat.setMessages([]));
    await ask(() => chat.sendMessage({ text: 'Three?' }), 'Third.');
    expect(shown()).toBe('q: Three? | a: Third.');
  });
});
