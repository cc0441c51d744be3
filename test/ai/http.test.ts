// @vitest-environment node
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Chat } from '@ai-sdk/react';
import * as ai from 'ai';
import {
  createUIMessageStream,
  DefaultChatTransport,
  pipeUIMessageStreamToResponse,
  TextStreamChatTransport,
  type UIMessage,
} from 'ai';
import { afterEach, describe, expect, it } from 'vitest';
import { role } from '../../src/fragment/builders.ts';
import { openPage, SDK, words, type Page } from './story.ts';

let server: Server | undefined;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

type Handler = (response: ServerResponse, body: Record<string, unknown>, request: IncomingMessage) => void;

/** A page that talks to a server on this machine. */
async function pageWith(handle: Handler): Promise<{ page: Page; api: string }> {
  server = createServer((request, response) => void answer(request, response, handle));
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  const api = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/chat`;
  const page = await openPage();
  page.chats.configure({ transport: new DefaultChatTransport({ api }) });
  return { page, api };
}

/** A page whose server says the same to everybody, and keeps what it was sent. */
async function pageThatHears(...answer: string[]): Promise<{ page: Page; api: string; bodies: Body[] }> {
  const bodies: Body[] = [];
  const opened = await pageWith((response, body) => {
    bodies.push(body);
    speak(response, ...answer);
  });
  return { ...opened, bodies };
}

type Body = Record<string, unknown>;

async function answer(request: IncomingMessage, response: ServerResponse, handle: Handler): Promise<void> {
  let json = '';
  for await (const chunk of request) json += String(chunk);
  handle(response, JSON.parse(json || '{}') as Record<string, unknown>, request);
}

const speak = (response: ServerResponse, ...texts: string[]): void => {
  void pipeUIMessageStreamToResponse({
    response,
    stream: createUIMessageStream({
      execute: ({ writer }) => {
        writer.write({ type: 'start' });
        writer.write({ type: 'text-start', id: 't' });
        for (const delta of texts) writer.write({ type: 'text-delta', id: 't', delta });
        writer.write({ type: 'text-end', id: 't' });
        writer.write({ type: 'finish' });
      },
    }),
  });
};

/** An answer so far, as it stands on the line. */
const begun =
  'data: {"type":"text-start","id":"t"}\n\ndata: {"type":"text-delta","id":"t","delta":"Fir"}\n\n';

describe('over HTTP', () => {
  it('the body carries the chat, the system prompt and the conversation', async () => {
    const { page, bodies } = await pageThatHears('Fir', 'st.');
    page.engine.set(role('You are a tutor.'));
    await page.chats.active.sendMessage({ text: 'One?' });
    await page.chats.active.sendMessage({ text: 'Two?' });
    expect(bodies[1]).toMatchObject({ id: 'c', system: page.engine.render(), trigger: 'submit-message' });
    expect(words(bodies[1]!.messages as never)).toBe('q: One? | a: First. | q: Two?');
    expect(bodies[1]).not.toHaveProperty('contextree');
    expect(await page.stored()).toBe('q: One? | a: First. | q: Two? | a: First.');
  });

  it('what `request` makes of it is what arrives: body, messages, headers, branch and attempt', async () => {
    const arrived: { body: Record<string, unknown>; key: unknown; app: unknown }[] = [];
    const { page, api } = await pageWith((response, body, { headers }) => {
      arrived.push({ body, key: headers['x-key'], app: headers['x-app'] });
      speak(response, 'Fir', 'st.');
    });
    page.chats.configure({
      transport: new DefaultChatTransport({ api, headers: { 'x-app': 'a' }, body: { stream: true } }),
      // What is asked for first, as a token would be.
      request: async ({ systemPrompt, messages, branch, attempt, body, trigger, headers }) => ({
        body: { ...body, prompt: `${systemPrompt} Be quick.`, branch, attempt, why: trigger },
        messages: messages.slice(-1),
        headers: { ...Object.fromEntries(new Headers(headers)), 'x-key': await Promise.resolve('k') },
      }),
    });
    page.engine.set(role('You are a tutor.'));
    await page.chats.active.sendMessage({ text: 'One?' }, { body: { model: 'small' } });
    await page.chats.active.sendMessage({ text: 'Two?' });
    await page.chats.active.regenerate();
    const prompt = `${page.engine.render()} Be quick.`;
    expect(arrived).toMatchObject([
      { body: { model: 'small', prompt, branch: 'main', attempt: 0, why: 'submit-message' } },
      { body: { stream: true, prompt, branch: 'main', attempt: 0 }, key: 'k', app: 'a' },
      { body: { prompt, branch: 'main-v2', attempt: 1, why: 'regenerate-message' }, key: 'k' },
    ]);
    const asked = arrived.map(({ body }) => words(body.messages as never));
    expect(asked).toEqual(['q: One?', 'q: Two?', 'q: Two?']);
    for (const { body } of arrived) expect(body).not.toHaveProperty('system');
    expect(await page.stored('main-v2')).toBe('q: One? | a: First. | q: Two? | a: First.');
  });

  it('a `request` that fails is told, sends nothing, and the question can be asked again', async () => {
    let count = 0;
    const { page, api } = await pageWith((response) => {
      count += 1;
      speak(response, 'First.');
    });
    const transport = new DefaultChatTransport({ api });
    page.chats.configure({ transport, request: () => Promise.reject(new Error('no token')) });
    await page.chats.active.sendMessage({ text: 'One?' });
    expect([page.chats.active.error?.message, count]).toEqual(['no token', 0]);
    expect(await page.stored()).toBe('q: One?');
    page.chats.configure({ transport });
    await page.chats.active.regenerate();
    expect(await page.stored()).toBe('q: One? | a: First.');
  });

  it('the server sees what plain useChat sends: ids as they were given, and the one that an edit or another try names', async () => {
    const { page, api, bodies } = await pageThatHears('First.');
    const plain = new Chat<UIMessage>({ id: 'c', transport: new DefaultChatTransport({ api }) });
    const seen: unknown[] = [];
    for (const chat of [page.chats.active, plain]) {
      bodies.length = 0;
      const ask = (text: string, id: string): Promise<void> =>
        chat.sendMessage({ id, role: 'user', parts: [{ type: 'text', text }] } as never);
      await ask('One?', 'q1');
      await ask('Two?', 'q2');
      const answer = chat.messages[1]!.id;
      await chat.sendMessage({ text: 'Deux?', messageId: 'q2' });
      await chat.regenerate({ messageId: answer });
      const told = ({ trigger, messageId, messages }: Record<string, unknown>): unknown => ({
        trigger,
        messageId: messageId === answer ? 'the answer' : messageId,
        ids: (messages as UIMessage[]).map(({ id }) => (id === answer ? 'the answer' : id)),
      });
      seen.push(bodies.map(told));
    }
    expect(seen[0]).toEqual(seen[1]);
    expect(seen[0]).toMatchObject([
      { ids: ['q1'] },
      { ids: ['q1', 'the answer', 'q2'] },
      { messageId: 'q2', ids: ['q1', 'the answer', 'q2'] },
      { messageId: 'the answer', ids: ['q1'] },
    ]);
    expect(page.engine.siblings('q1').ids).toEqual(['q1']);
    expect(await page.stored()).toBe('q: One? | a: First. | q: Two? | a: First.');
    expect(await page.stored('main-v2')).toBe('q: One? | a: First. | q: Deux? | a: First.');
  });

  it.each([
    [401, 'The key is wrong.'],
    [429, 'Slow down.'],
    [500, 'Broken.'],
  ])('a %i is told, the question stays, and asking again works', async (status, text) => {
    let isBroken = true;
    const { page } = await pageWith((response) => {
      if (isBroken) response.writeHead(status, { 'content-type': 'text/plain' }).end(text);
      else speak(response, 'First.');
    });
    await page.chats.active.sendMessage({ text: 'One?' });
    expect(page.chats.active.status).toBe('error');
    expect(page.chats.active.error?.message).toContain(text);
    expect(await page.saved()).toBe('q: One?');
    isBroken = false;
    await page.chats.active.regenerate();
    expect(page.shown()).toBe('q: One? | a: First.');
    expect(page.engine.state.getState().branches).toHaveLength(1);
  });

  it('a connection that dies in mid-answer leaves the words', async () => {
    let connection: ServerResponse | undefined;
    const { page } = await pageWith((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(begun);
      connection = response;
    });
    const sent = page.chats.active.sendMessage({ text: 'One?' });
    await expect.poll(() => page.shown()).toBe('q: One? | a: Fir');
    connection?.destroy();
    await sent;
    await page.chats.whenSettled();
    expect(page.chats.active.status).toBe('error');
    expect(await page.stored()).toBe('q: One? | a: Fir');
    expect(page.engine.status(page.chats.active.messages[1]!.id)).toBe('interrupted');
  });

  it.each(['data: {"type":"text-delta","id"\n\n', 'data: {"choices":[{"delta":{"content":"st"}}]}\n\n'])(
    'a stream that no parser understands is told in plain words, and why in the cause: %s',
    async (line) => {
      const { page, api } = await pageWith((response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(begun);
        response.end(line);
      });
      const told: Error[] = [];
      page.chats.configure({
        transport: new DefaultChatTransport({ api }),
        onError: (error) => told.push(error),
      });
      await page.chats.active.sendMessage({ text: 'One?' });
      await page.chats.whenSettled();
      const { error } = page.chats.active;
      expect(error?.message).toMatch(/^The answer could not be read/);
      const { name } = Object(error?.cause) as Partial<Error>;
      expect(name).toMatch(/^AI_(JSONParse|TypeValidation)Error$/);
      expect(told).toMatchObject([{ message: error?.message }]);
      expect(await page.stored()).toBe('q: One? | a: Fir');
    },
  );

  it.each([
    ['a page of HTML', '<!doctype html><p>Log in</p>'],
    ['nothing', ''],
    ['no line of data', ': ping\n\n'],
    ['an opening, and no more', 'data: {"type":"start"}\n\n'],
  ])('an answer of 200 with %s is told as none, and the question can be asked again', async (_, body) => {
    const answers = [(response: ServerResponse) => void response.end(body)];
    const { page } = await pageWith((response) =>
      (answers.shift() ?? ((one) => speak(one, 'First.')))(response),
    );
    await page.chats.active.sendMessage({ text: 'One?' });
    expect(page.chats.active.error?.message).toMatch(
      /^(There was no answer: .* Try again, or check its address\.|The response body is empty\.)$/,
    );
    expect(await page.saved()).toBe('q: One?');
    await page.chats.active.regenerate();
    expect([await page.saved(), page.chats.active.error]).toEqual(['q: One? | a: First.', undefined]);
  });

  it('plain text is an answer too', async () => {
    const { page, api } = await pageWith((response) => response.end('Just words.'));
    page.chats.configure({ transport: new TextStreamChatTransport({ api }) });
    await page.chats.active.sendMessage({ text: 'One?' });
    expect(await page.stored()).toBe('q: One? | a: Just words.');
    expect(page.engine.status(page.chats.active.messages[1]!.id)).toBe('complete');
  });
});

/** Its other end answers every request, and has nothing to resume. */
class Socket {
  readonly readyState = 1;
  readonly bufferedAmount = 0;
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: string }) => void) | null = null;
  constructor() {
    queueMicrotask(() => this.onopen?.());
  }
  send(text: string): void {
    const { type, requestId } = JSON.parse(text) as { type: string; requestId: string };
    const spoken = [
      { type: 'start' },
      { type: 'text-start', id: 't' },
      { type: 'text-delta', id: 't', delta: 'First.' },
      { type: 'text-end', id: 't' },
      { type: 'finish' },
    ];
    const chunks = spoken.map((chunk, sequence) => ({ type: 'chunk', sequence, chunk }));
    const frames =
      type === 'send' ? [{ type: 'start' }, ...chunks, { type: 'end' }] : [{ type: 'no-active' }];
    for (const frame of frames) this.onmessage?.({ data: JSON.stringify({ requestId, ...frame }) });
  }
  close(): void {}
}

it.runIf(SDK > 6)('a socket carries questions and answers as well', async () => {
  const page = await openPage();
  const transport = new ai.WebSocketChatTransport({ url: 'ws://127.0.0.1/chat', webSocket: Socket as never });
  page.chats.configure({ transport });
  await page.chats.active.sendMessage({ text: 'One?' });
  expect(await page.saved()).toBe('q: One? | a: First.');
});
