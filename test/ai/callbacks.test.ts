import { Chat } from '@ai-sdk/react';
import type { ChatInit, UIMessage, UIMessageChunk } from 'ai';
import { describe, expect, it } from 'vitest';
import type { ContextChat, ContextChatOptions } from '../../src/ai/index.ts';
import { scriptedTransport, settle, type Exchange, type ScriptedTransport } from '../support/transport.ts';
import { openPage, words, type Page } from './story.ts';
import { allOf } from './witness.ts';

const call = (toolCallId: string): UIMessageChunk => ({
  type: 'tool-input-available',
  toolCallId,
  toolName: 'dice',
  input: { sides: 6 },
});

const result = (toolCallId: string, output: unknown) => ({
  tool: 'dice' as never,
  toolCallId,
  output: output as never,
});

/** What was called with which result, in a message. */
function thrown({ parts }: UIMessage): string {
  return parts
    .flatMap((part) => ('toolCallId' in part ? [`${part.toolCallId}: ${String(part.output)}`] : []))
    .join(', ');
}

type OnToolCall = NonNullable<ContextChatOptions['onToolCall']>;

/** A page that throws dice itself, and the calls that it heard. */
async function pageWithDice(
  give: (page: Page, toolCallId: string, asking: ContextChat) => unknown,
): Promise<{ page: Page; heard: string[] }> {
  const heard: string[] = [];
  const onToolCall: OnToolCall = ({ toolCall: { toolCallId } }, asking) => {
    heard.push(toolCallId);
    // Nobody may wait here: the stream waits for this callback, and the result for the stream.
    void give(page, toolCallId, asking);
  };
  const page: Page = await openPage(undefined, { onToolCall });
  return { page, heard };
}

async function askFor(page: Page, question: string, ...chunks: UIMessageChunk[]): Promise<Exchange> {
  const exchange = await page.begin(question);
  await exchange.send({ type: 'start' }, { type: 'start-step' }, ...chunks);
  return exchange;
}

describe('a tool that the page uses itself', () => {
  it('is heard of once for each call, and each result is saved with its call', async () => {
    const { page, heard } = await pageWithDice(({ chats }, id) =>
      chats.active.addToolOutput(result(id, `thrown ${id}`)),
    );
    const exchange = await askFor(page, 'Roll twice?', call('1'), call('2'));
    await exchange.answer('There.');
    await page.chats.whenSettled();
    expect(heard).toEqual(['1', '2']);
    expect(await page.saved()).toBe(
      'q: Roll twice? | a: [dice output-available]/[dice output-available]/There.',
    );
    expect(thrown((await page.store.getMessages('c'))[1]!.data)).toBe('1: thrown 1, 2: thrown 2');
  });

  it.each([
    ['the chat that is shown', ({ chats }: Page) => chats.active],
    ['the chat that asked', (_: Page, asking: ContextChat) => asking],
  ])('is heard of on a branch that is not shown, and its result goes there through %s', async (_, chatOf) => {
    const { page, heard } = await pageWithDice((own, id, asking) =>
      chatOf(own, asking).addToolOutput(result(id, 4)),
    );
    await page.ask('One?', 'First.');
    const hidden = await askFor(page, 'Roll?');
    await page.engine.rewind(page.chats.active.messages[1]!.id);
    const shown = await askFor(page, 'And here?', call('here'));
    await hidden.send(call('there'));
    await shown.finish();
    await hidden.answer('Four.');
    await page.chats.whenSettled();
    expect(heard).toEqual(['here', 'there']);
    expect(await page.saved('main-v2')).toBe(
      'q: One? | a: First. | q: And here? | a: [dice output-available]',
    );
    expect(await page.stored('main')).toBe(
      'q: One? | a: First. | q: Roll? | a: [dice output-available]/Four.',
    );
  });

  it('whose calls all have one id takes each result for the one that waits', async () => {
    const { page } = await pageWithDice(() => {});
    const first = await askFor(page, 'Roll?', call('call_0'));
    await first.finish();
    await page.chats.active.addToolOutput(result('call_0', 1));
    const hidden = await askFor(page, 'Again?', call('call_0'));
    await hidden.finish();
    await page.engine.rewind(page.chats.active.messages[1]!.id);
    await page.chats.active.addToolOutput(result('call_0', 2));
    await page.chats.whenSettled();
    const stored = await allOf(page.store);
    expect(stored.map(({ data }) => thrown(data))).toEqual(['', 'call_0: 1', '', 'call_0: 2']);
  });
});

type Finish = NonNullable<ChatInit<UIMessage>['onFinish']>;

/** Everything that an app is called back with for an answer. */
function listener(): { heard: string[]; onFinish: Finish; onError: (error: Error) => void } {
  const heard: string[] = [];
  return {
    heard,
    onError: ({ message }) => void heard.push(`error ${message}`),
    onFinish: ({ message, messages, ...how }) => {
      const flags = Object.entries(how).flatMap(([name, is]) => (is ? [`${name} ${String(is)}`] : []));
      heard.push([words([message]), words(messages), ...flags].join('; '));
    },
  };
}

describe('the end of an answer is told as plain useChat tells it', () => {
  type End = (script: ScriptedTransport, chat: Chat<UIMessage>) => Promise<unknown>;
  /** An answer that says something, and ends so. */
  const after =
    (end: (exchange: Exchange, chat: Chat<UIMessage>) => Promise<unknown>): End =>
    async (script, chat) => {
      const exchange = await script.next();
      await exchange.say('Fir');
      await end(exchange, chat);
    };
  const dropped = (...chunks: UIMessageChunk[]): End =>
    after(async (exchange) => {
      await exchange.send(...chunks);
      await exchange.drop();
    });
  const timeout = new DOMException('signal timed out', 'TimeoutError');
  const offline = ['Failed to fetch', 'Load failed', 'NetworkError when attempting to fetch resource.'];
  const ends: [string, End][] = [
    ['it is whole', async (script) => (await script.next()).answer('First.')],
    [
      'it came to its limit',
      dropped({ type: 'text-end', id: 't' }, { type: 'finish', finishReason: 'length' }),
    ],
    ['it is stopped', after((_, chat) => chat.stop())],
    [
      'it is stopped before a word',
      async (script, chat) => {
        await script.next();
        await settle();
        await chat.stop();
      },
    ],
    ['its server fails', after((exchange) => exchange.fail('overloaded'))],
    ['its server fails at once', async (script) => (await script.next()).fail('overloaded')],
    ['its server stops it', dropped({ type: 'abort' })],
    ['its connection is lost', after((exchange) => exchange.break(new TypeError('network error')))],
    ['it takes too long', after((exchange) => exchange.break(timeout))],
    ['its connection is closed', dropped()],
    ...offline.map((text): [string, End] => [`there is no network (${text})`, (script) => script.next()]),
    ['it is refused', (script) => script.next()],
  ];

  it.each(ends)('%s', async (what, end) => {
    const refusal = /no network \((.*)\)/.exec(what)?.[1];
    const refuse = (script: ScriptedTransport): void => {
      if (refusal) script.refuse(new TypeError(refusal));
      else if (what === 'it is refused') script.refuse(new Error('401: The key is wrong.'));
    };

    const plainly = listener();
    const script = scriptedTransport();
    refuse(script);
    const plain = new Chat<UIMessage>({ ...plainly, transport: script.transport });
    const asked = plain.sendMessage({ text: 'One?' });
    await end(script, plain);
    await asked;

    const { heard, ...callbacks } = listener();
    const page = await openPage(undefined, callbacks);
    refuse(page.script);
    const sent = page.chats.active.sendMessage({ text: 'One?' });
    await end(page.script, page.chats.active);
    await sent;
    await page.chats.whenSettled();
    expect(heard).toEqual(plainly.heard);
    expect(heard.length).toBeGreaterThan(0);
    expect(words(page.chats.active.messages)).toBe(words(plain.messages));
  });
});

it('a tool that a person cancels, so that its callback throws an AbortError, leaves a chat that goes on', async () => {
  const page = await openPage(undefined, {
    onToolCall: async () => {
      throw new DOMException('The person closed the file picker.', 'AbortError');
    },
  });
  const chat = page.chats.active;
  const asking = chat.sendMessage({ text: 'Roll?' });
  const exchange = await page.script.next();
  await exchange.send({ type: 'start' }, { type: 'start-step' }, call('1'));
  await asking;
  await settle();
  expect([chat.status, chat.isBusy]).toEqual(['ready', false]);
  void chat.sendMessage({ text: 'Again?' });
  await (await page.script.next()).answer('Six.');
  await page.chats.whenSettled();
  expect(words(chat.messages)).toContain('Six.');
});

it('an app whose own onError throws hears of that where it sent, sees the failure, and its next question is answered', async () => {
  const page = await openPage(undefined, {
    onError: () => {
      throw new Error('no toast');
    },
  });
  const sent = page.chats.active.sendMessage({ text: 'One?' });
  const failed = await page.script.next();
  await Promise.all([expect(sent).rejects.toThrow('no toast'), failed.fail('overloaded')]);
  expect(page.chats.active.error?.message).toBe('overloaded');
  await page.ask('Two?', 'Second.');
  expect(page.shown()).toBe('q: One? | q: Two? | a: Second.');
});
