// The code for branches is loaded before the first press of a pager: tests check right after it.
import '../../src/engine/tree.ts';
import * as ai from 'ai';
import { DefaultChatTransport, TextStreamChatTransport, type ChatTransport, type UIMessage } from 'ai';
import { InMemoryContextStore, type ContextStore } from 'contextree';
import { BranchPicker } from 'contextree/ai';
import type { ReactNode } from 'react';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createLocalTransport } from '../../src/ai/local.ts';
import { createDemoModel } from '../../stories/demo/model.ts';
import { afterReload, SDK, words } from '../ai/story.ts';
import { Clock } from '../support/clock.ts';
import type { Exchange } from '../support/transport.ts';
import { loadApp, openApp, type AppPage, type Opening } from './page.tsx';

/**
 * The suite in test/ai drives this app by what `useChat` gives it. Here a person types into its fields, presses its buttons and
 * looks at its screen, at the pace of a page, which takes up what a server still streams. All on one clock, so that no story
 * waits.
 */
let time: Clock;
let store: InMemoryContextStore;
let pages: AppPage[];
let app: AppPage;

beforeAll(loadApp);

beforeEach(async () => {
  time = new Clock(4);
  time.install();
  store = new InMemoryContextStore();
  pages = [];
  app = await open();
});

afterEach(async () => {
  for (const page of pages) page.kill();
  await time.pass(100);
  time.remove();
});

async function open(on: ContextStore = store, opening: Opening = {}): Promise<AppPage> {
  const page = await time.during(openApp(on, opening));
  if (!page) throw new Error('The app does not open.');
  pages.push(page);
  await time.pass(30);
  return page;
}

/** The page dies and opens again, and its locks are gone. */
async function reload(): Promise<void> {
  app.kill();
  app = await open(afterReload(store));
}

/** Types a question; the request that it leads to. */
async function ask(text: string, page = app): Promise<Exchange> {
  const before = page.script.requests.length;
  await time.during(page.type(text));
  return requestAfter(before, page);
}

/** Presses a button; the request that it leads to. */
async function press(name: string, page = app, message?: number): Promise<Exchange> {
  const before = page.script.requests.length;
  push(name, page, message);
  return requestAfter(before, page);
}

/** Puts other words in the place of a question; the request that they lead to. */
async function edit(message: number, text: string): Promise<Exchange> {
  const before = app.script.requests.length;
  await time.during(app.edit(message, text) ?? Promise.resolve());
  return requestAfter(before, app);
}

async function requestAfter(before: number, page: AppPage): Promise<Exchange> {
  for (let ms = 0; ms < 100 && page.script.requests.length === before; ms += 10) await time.pass(10);
  const exchange = page.script.requests[before];
  if (!exchange) throw new Error(`Nothing was asked; the page says: ${page.seen()} ${page.alert()}`);
  return exchange;
}

function push(name: string, page = app, message?: number): void {
  if (!page.press(name, message)) throw new Error(`There is no button "${name}".`);
}

/** Lets a server do something, and the page show it. */
async function serve(action: Promise<void>): Promise<void> {
  await time.during(action);
  await time.pass(30);
}

/** A question and its answer. */
async function talk(question: string, answer: string): Promise<void> {
  await serve((await ask(question)).answer(answer));
}

/** What another page would find on a branch. */
async function stored(branch = 'main'): Promise<string> {
  const head = (await store.listBranches('c')).find(({ name }) => name === branch)?.headMessageId;
  return head ? words((await store.getMessageChain('c', head)).map(({ data }) => data)) : '';
}

/** The chat still works: what it shows is saved, and it answers. */
async function goesOn(branch = 'main'): Promise<void> {
  const before = app.seen();
  expect(await stored(branch)).toBe(before);
  await talk('Well?', 'Yes.');
  expect(app.seen()).toBe(`${before} | q: Well? | a: Yes.`);
  expect(await stored(branch)).toBe(app.seen());
  expect(app.status()).toBe('ready');
}

describe('the buttons', () => {
  it('Send: one after the other, also while an answer grows', async () => {
    const first = await ask('One?');
    await time.during(Promise.race([app.type('Two?'), time.pass(100)]));
    await serve(first.say('Fir'));
    expect([app.seen(), app.script.requests.length]).toEqual(['q: One? | a: Fir | q: Two?', 1]);
    await serve(first.answer('st.'));
    await serve((await requestAfter(1, app)).answer('Second.'));
    expect(app.seen()).toBe('q: One? | a: First. | q: Two? | a: Second.');
    await goesOn();
  });

  it('a pager beneath each message: every version, with what followed it, also after a reload', async () => {
    const beneath = (messageId: string): ReactNode => <BranchPicker messageId={messageId} />;
    app = await open(store, { beneath });
    await talk('One?', 'First.');
    await talk('Two?', 'Second.');
    await serve((await edit(0, 'Edited?')).answer('Other.'));
    await serve((await press('Try again')).answer('Third.'));
    const turnTo = async (shown: string, name: string, message: number): Promise<void> => {
      push(name, app, message);
      // On a busy machine the code for branches comes late.
      for (let waits = 0; waits < 100 && app.seen() !== shown; waits += 1) await time.pass(30);
      expect(app.seen()).toBe(shown);
    };
    await turnTo('q: Edited? | a: Other.', 'Previous version', 1);
    await turnTo('q: One? | a: First. | q: Two? | a: Second.', 'Previous version', 0);
    app.kill();
    app = await open(afterReload(store), { beneath });
    await turnTo('q: Edited? | a: Other.', 'Next version', 0);
    await turnTo('q: Edited? | a: Third.', 'Next version', 1);
    await goesOn('main-v3');
  });
});

it('a file is the same part for the model, another version, and after a reload', async () => {
  app.attach(new File(['hi'], 'notes.txt', { type: 'text/plain' }));
  const first = await ask('One, with a file?');
  const [file] = first.sent.messages[0]!.parts;
  expect(file).toEqual({
    type: 'file',
    mediaType: 'text/plain',
    filename: 'notes.txt',
    url: 'data:text/plain;base64,aGk=',
  });
  await serve(first.answer('First.'));
  const again = await press('Try again');
  expect(again.sent.messages[0]!.parts[0]).toEqual(file);
  await serve(again.answer('Other.'));
  await reload();
  const more = await ask('And?');
  expect(more.sent.messages[0]!.parts[0]).toEqual(file);
});

describe('every transport', () => {
  const sse = (chunks: readonly object[]): string =>
    chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('') + 'data: [DONE]\n\n';
  const fetched = (body: string, type: string) => async (): Promise<Response> =>
    new Response(body, { headers: { 'content-type': type } });
  const spoken = [
    { type: 'start' },
    { type: 'text-start', id: 't' },
    { type: 'text-delta', id: 't', delta: 'First.' },
    { type: 'text-end', id: 't' },
    { type: 'finish' },
  ];

  const local: [string, () => ChatTransport<UIMessage>, RegExp] = [
    'local',
    () => createLocalTransport({ model: createDemoModel({ speed: 0, sleep: () => Promise.resolve() }) }),
    /One\?/,
  ];

  const direct: typeof local = [
    'Direct',
    () =>
      new ai.DirectChatTransport({
        agent: new ai.ToolLoopAgent({
          model: createDemoModel({ speed: 0, sleep: () => Promise.resolve() }),
        }),
      }) as ChatTransport<UIMessage>,
    /One\?/,
  ];

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
      const chunks = spoken.map((chunk, sequence) => ({ type: 'chunk', sequence, chunk }));
      const frames =
        type === 'send' ? [{ type: 'start' }, ...chunks, { type: 'end' }] : [{ type: 'no-active' }];
      for (const frame of frames) this.onmessage?.({ data: JSON.stringify({ requestId, ...frame }) });
    }
    close(): void {}
  }
  const socket: typeof local = [
    'WebSocket',
    () => new ai.WebSocketChatTransport({ url: 'ws://127.0.0.1/chat', webSocket: Socket as never }),
    /^First\.$/,
  ];

  it.each<[string, () => ChatTransport<UIMessage>, RegExp]>([
    [
      'Default',
      () => new DefaultChatTransport({ fetch: fetched(sse(spoken), 'text/event-stream') }),
      /^First\.$/,
    ],
    ['Text', () => new TextStreamChatTransport({ fetch: fetched('First.', 'text/plain') }), /^First\.$/],
    // The model of the demo speaks the language of 7; test/ai/local.test.ts has others.
    ...(SDK === 7 ? [local, direct, socket] : []),
  ])('%s', async (_, transport, said) => {
    const page = await open(new InMemoryContextStore(), { transport: transport() });
    await time.during(Promise.race([page.type('One?'), time.pass(3000)]));
    for (let round = 0; round < 50 && page.status() !== 'ready'; round += 1) await time.pass(20);
    expect(page.seen().replace('q: One? | a: ', '')).toMatch(said);
    expect(page.alert()).toBe('');
    const { messages } = await page.engine.resolve();
    expect(words(messages)).toBe(page.seen());
  });

  it.each([
    ['a page of HTML', '<!doctype html><p>Log in</p>', 'text/html', ''],
    ['nothing', '', 'text/event-stream', ''],
    ['no line of data', ': ping\n\n', 'text/event-stream', ''],
    ['JSON as text', '{"error":"no such model"}', 'text/plain', ''],
    [
      'an opening, and no more',
      sse(spoken.slice(0, 1)).replace('data: [DONE]\n\n', ''),
      'text/event-stream',
      '',
    ],
    [
      'half a chunk',
      sse(spoken.slice(0, 3)).replace('[DONE]\n\n', '{"type":"text-del'),
      'text/event-stream',
      'First.',
    ],
  ])(
    'that was answered 200 with %s leaves the question, and can be tried again',
    async (_, body, type, said) => {
      const answers = [fetched(body, type), fetched(sse(spoken), 'text/event-stream')];
      const transport = new DefaultChatTransport({
        fetch: async (_url, init) =>
          init?.method === 'POST' ? answers.shift()!() : new Response(null, { status: 204 }),
      });
      app = await open((store = new InMemoryContextStore()), { transport });
      await time.during(app.type('One?'));
      await time.pass(50);
      expect(app.seen()).toBe(said ? `q: One? | a: ${said}` : 'q: One?');
      expect(app.alert()).toMatch(
        said
          ? /^$/
          : /^(There was no answer: .* Try again, or check its address\.|The response body is empty\.) Dismiss$/,
      );
      push('Try again');
      for (let round = 0; round < 20; round += 1) await time.pass(20);
      expect([app.seen(), app.alert()]).toEqual(['q: One? | a: First.', '']);
      expect(await stored(said ? 'main-v2' : 'main')).toBe(app.seen());
    },
  );
});
