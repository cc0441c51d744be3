import * as ai from 'ai';
import { DefaultChatTransport, TextStreamChatTransport, type ChatTransport, type UIMessage } from 'ai';
import { InMemoryContextStore, type ContextStore } from 'contextree';
import { BranchPicker } from 'contextree/ai';
import type { ReactNode } from 'react';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createLocalTransport } from '../../src/ai/local.ts';
import { createDemoModel } from '../../stories/demo/model.ts';
import { allOf } from '../ai/witness.ts';
import { afterReload, SDK, words } from '../ai/story.ts';
import { Clock } from '../support/clock.ts';
import type { Exchange } from '../support/transport.ts';
import { loadApp, openApp, type AppPage, type Opening } from './page.tsx';

/**
 * What the suite in test/ai tells, which drives this app by what `useChat` gives it: here somebody types into its fields,
 * presses its buttons and looks at its screen, at the pace of a page, which takes up what a server still says. All on one
 * clock, so that no story waits for anything.
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

/** The chat is none the worse: what it shows is saved, and it answers. */
async function goesOn(branch = 'main'): Promise<void> {
  const before = app.seen();
  expect(await stored(branch)).toBe(before);
  await talk('Well?', 'Yes.');
  expect(app.seen()).toBe(`${before} | q: Well? | a: Yes.`);
  expect(await stored(branch)).toBe(app.seen());
  expect(app.status()).toBe('ready');
}

const dice = (toolCallId = '1') =>
  ({ type: 'tool-input-available', toolCallId, toolName: 'dice', input: { sides: 6 } }) as const;

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

  it('Try again: each version is kept', async () => {
    await talk('One?', 'First.');
    for (const version of ['Second.', 'Third.']) {
      await serve((await press('Try again')).answer(version));
      expect(app.seen()).toBe(`q: One? | a: ${version}`);
    }
    expect([await stored('main'), await stored('main-v2')]).toEqual([
      'q: One? | a: First.',
      'q: One? | a: Second.',
    ]);
    await goesOn('main-v3');
  });

  it('Edit: the old question is kept with its answer, also one that still grew', async () => {
    await talk('One?', 'First.');
    const cut = await ask('Two?');
    await serve(cut.say('Sec'));
    const edited = await edit(2, 'Edited?');
    expect(cut.isStopped).toBe(true);
    await serve(edited.answer('Third.'));
    expect(app.seen()).toBe('q: One? | a: First. | q: Edited? | a: Third.');
    expect(await stored()).toBe('q: One? | a: First. | q: Two? | a: Sec');
    await goesOn('main-v2');
  });

  it('Edit, of an older question: what followed it is kept, and the new one stands where it stood', async () => {
    await talk('One?', 'First.');
    await talk('Two?', 'Second.');
    const edited = await edit(0, 'Edited?');
    expect(words(edited.sent.messages)).toBe('q: Edited?');
    await serve(edited.answer('Other.'));
    expect(app.seen()).toBe('q: Edited? | a: Other.');
    expect(await stored()).toBe('q: One? | a: First. | q: Two? | a: Second.');
    await goesOn('main-v2');
  });

  it('a pager beneath each message: every version, with what followed it, also after a reload', async () => {
    const beneath = (messageId: string): ReactNode => <BranchPicker messageId={messageId} />;
    app = await open(store, { beneath });
    await talk('One?', 'First.');
    await talk('Two?', 'Second.');
    await serve((await edit(0, 'Edited?')).answer('Other.'));
    await serve((await press('Try again')).answer('Third.'));
    const turn = async (name: string, message: number): Promise<string> => {
      push(name, app, message);
      await time.pass(30);
      return app.seen();
    };
    expect(await turn('Previous version', 1)).toBe('q: Edited? | a: Other.');
    expect(await turn('Previous version', 0)).toBe('q: One? | a: First. | q: Two? | a: Second.');
    app.kill();
    app = await open(afterReload(store), { beneath });
    expect(await turn('Next version', 0)).toBe('q: Edited? | a: Other.');
    expect(await turn('Next version', 1)).toBe('q: Edited? | a: Third.');
    await goesOn('main-v2-v2');
  });

  it('Stop and Continue: the sentence goes on', async () => {
    await serve((await ask('One?')).say('The quick '));
    push('Stop');
    await time.pass(30);
    expect([app.status(), await stored()]).toEqual(['ready', 'q: One? | a: The quick ']);
    await serve((await press('Continue')).answer('brown fox.'));
    expect(app.seen()).toBe('q: One? | a: The quick brown fox.');
    await goesOn();
  });

  it('Dismiss: an error goes, and what was said stays', async () => {
    const cut = await ask('One?');
    await serve(cut.say('Fir'));
    await serve(cut.fail('overloaded'));
    expect([app.alert(), app.status()]).toEqual(['overloaded Dismiss', 'error']);
    push('Dismiss');
    await time.pass(30);
    expect([app.alert(), app.status()]).toEqual(['', 'ready']);
    await serve((await press('Continue')).answer('st.'));
    expect(app.seen()).toBe('q: One? | a: First.');
    await goesOn();
  });
});

describe('an answer that is cut', () => {
  it.each([
    ['by a lost connection', (exchange: Exchange) => exchange.break()],
    ['by a closed one', (exchange: Exchange) => exchange.drop()],
  ])('%s is kept, and can be tried again', async (_, cut) => {
    const exchange = await ask('One?');
    await serve(exchange.say('Fir'));
    await serve(cut(exchange));
    expect(app.seen()).toBe('q: One? | a: Fir');
    await serve((await press('Try again')).answer('First.'));
    expect([await stored(), await stored('main-v2')]).toEqual(['q: One? | a: Fir', 'q: One? | a: First.']);
    await goesOn('main-v2');
  });

  it('by a reload is there, and goes on', async () => {
    const cut = await ask('One?');
    for (const word of ['The ', 'quick ']) await serve(cut.say(word));
    await time.pass(1000);
    await reload();
    expect(app.seen()).toBe('q: One? | a: The quick ');
    await serve((await press('Continue')).answer('brown fox.'));
    expect(app.seen()).toBe('q: One? | a: The quick brown fox.');
    await goesOn();
  });

  it('before its first word leaves the question', async () => {
    app.script.refuse(new TypeError('Failed to fetch'));
    await ask('One?');
    await time.pass(30);
    expect([app.seen(), app.alert(), app.status()]).toEqual(['q: One?', 'Failed to fetch Dismiss', 'error']);
    await serve((await press('Try again')).answer('First.'));
    await goesOn();
  });
});

describe('a branch that is not shown', () => {
  it('streams on, and takes what its tool is given', async () => {
    await talk('One?', 'First.');
    const hidden = await ask('Roll?');
    await serve(hidden.send(dice()));
    const { engine } = app;
    await time.during(engine.rewind(engine.state.getState().messages[0]!.id));
    await time.pass(30);
    expect(app.seen()).toBe('q: One?');
    const other = await press('Try again');
    await serve(other.say('Oth'));
    await serve(hidden.say('Rolling.'));
    await serve(other.answer('er.'));
    await serve(hidden.finish());
    expect(app.seen()).toBe('q: One? | a: Other.');
    await time.during(engine.switchBranch('main'));
    await time.pass(30);
    expect(app.seen()).toBe('q: One? | a: First. | q: Roll? | a: [dice input-available]/Rolling.');
    push('Give');
    await time.pass(30);
    expect(await stored()).toContain('[dice output-available]/Rolling.');
  });
});

describe('a tool', () => {
  it('is given its result, and the answer goes on by itself', async () => {
    const exchange = await ask('Roll?');
    await serve(exchange.send({ type: 'start-step' }, dice(), { type: 'finish-step' }));
    await serve(exchange.finish());
    const more = await press('Give');
    expect(words(more.sent.messages)).toBe('q: Roll? | a: [dice output-available]');
    await serve(more.answer('Four.'));
    expect(app.seen()).toBe('q: Roll? | a: [dice output-available]/Four.');
    await goesOn();
  });

  it('is given its result in mid-stream, and the words after it do not take it back', async () => {
    const exchange = await ask('Roll?');
    await serve(exchange.send({ type: 'start' }, dice()));
    push('Give');
    await time.pass(30);
    await serve(exchange.say('There.'));
    await serve(exchange.drop());
    expect(app.seen()).toBe('q: Roll? | a: [dice output-available]/There.');
    expect(await stored()).toBe(app.seen());
  });

  it('keeps its result through a reload', async () => {
    const exchange = await ask('Roll?');
    await serve(exchange.send({ type: 'start-step' }, dice(), { type: 'finish-step' }));
    await serve(exchange.finish());
    await reload();
    const more = await press('Give');
    await serve(more.answer('Four.'));
    await reload();
    expect(app.seen()).toBe('q: Roll? | a: [dice output-available]/Four.');
    await goesOn();
  });

  it.runIf(SDK > 5).each(['Approve', 'Deny'])(
    'that asks for leave waits for %s, also after a reload',
    async (leave) => {
      const exchange = await ask('Roll?');
      await serve(
        exchange.send({ type: 'start-step' }, dice(), {
          type: 'tool-approval-request',
          approvalId: 'ok?',
          toolCallId: '1',
        }),
      );
      await serve(exchange.finish());
      await reload();
      expect(app.seen()).toBe('q: Roll? | a: [dice approval-requested]');
      push(leave);
      await time.pass(30);
      const [, answer] = await allOf(store);
      expect(answer?.data.parts.at(-1)).toMatchObject({
        state: 'approval-responded',
        approval: { approved: leave === 'Approve' },
      });
      const more = app.script.requests.at(-1) ?? (await press('Continue'));
      expect(words(more.sent.messages)).toBe('q: Roll? | a: [dice approval-responded]');
    },
  );
});

describe.runIf(SDK > 5)('an app that goes on by itself when all leave is given', () => {
  it.each(['Approve', 'Deny'])('%s: the last word makes it go on, once', async (leave) => {
    const goesOnWhen = ai.lastAssistantMessageIsCompleteWithApprovalResponses;
    app = await open((store = new InMemoryContextStore()), {
      settings: { sendAutomaticallyWhen: goesOnWhen },
    });
    const exchange = await ask('Roll twice?');
    const asks = ['1', '2'].flatMap((toolCallId) => [
      dice(toolCallId),
      { type: 'tool-approval-request', approvalId: `ok-${toolCallId}`, toolCallId } as const,
    ]);
    await serve(exchange.send({ type: 'start-step' }, ...asks));
    await serve(exchange.finish());
    push(leave);
    await time.pass(50);
    expect(app.script.requests).toHaveLength(1);
    const more = await press(leave);
    expect(words(more.sent.messages)).toBe(
      'q: Roll twice? | a: [dice approval-responded]/[dice approval-responded]',
    );
    await serve(more.answer('So be it.'));
    expect(app.script.requests).toHaveLength(2);
    expect(app.seen()).toContain('/So be it.');
    await goesOn();
  });

  it('offline: the word is kept, and Continue asks again', async () => {
    const goesOnWhen = ai.lastAssistantMessageIsCompleteWithApprovalResponses;
    app = await open((store = new InMemoryContextStore()), {
      settings: { sendAutomaticallyWhen: goesOnWhen },
    });
    const exchange = await ask('Roll?');
    const asking = { type: 'tool-approval-request', approvalId: 'ok', toolCallId: '1' } as const;
    await serve(exchange.send({ type: 'start-step' }, dice(), asking));
    await serve(exchange.finish());
    app.script.refuse(new TypeError('Failed to fetch'));
    await press('Approve');
    await time.pass(50);
    expect([app.alert(), await stored()]).toEqual([
      'Failed to fetch Dismiss',
      'q: Roll? | a: [dice approval-responded]',
    ]);
    await reload();
    await serve((await press('Continue')).answer('Four.'));
    expect(app.seen()).toBe('q: Roll? | a: [dice approval-responded]/Four.');
  });
});

describe('two tabs', () => {
  it('follow each other, and what both ask at once is kept on a branch each', async () => {
    const other = await open();
    await talk('One?', 'First.');
    expect(other.seen()).toBe('q: One? | a: First.');
    const [mine, theirs] = [await ask('Two?'), await ask('Three?', other)];
    await serve(theirs.answer('Third.'));
    await serve(mine.answer('Second.'));
    expect(app.seen()).toBe('q: One? | a: First. | q: Two? | a: Second.');
    expect(other.seen()).toBe('q: One? | a: First. | q: Three? | a: Third.');
    expect([await stored(), await stored('main-v2')]).toEqual([app.seen(), other.seen()]);
  });

  it('of which one writes: the other one sees it grow, and begins nothing beside it', async () => {
    const other = await open();
    const exchange = await ask('One?');
    await serve(exchange.say('The quick '));
    await time.pass(1000);
    expect(other.seen()).toBe('q: One? | a: The quick ');
    push('Try again', other);
    await time.pass(1000);
    expect([other.alert(), other.script.requests.length]).toEqual([
      expect.stringContaining('another tab'),
      0,
    ]);
    await serve(exchange.answer('brown fox.'));
    expect([other.seen(), other.alert()]).toEqual(['q: One? | a: The quick brown fox.', '']);
    expect(await store.listBranches('c')).toHaveLength(1);
    await serve((await press('Try again', other)).answer('The slow one.'));
    expect(other.seen()).toBe('q: One? | a: The slow one.');
  });

  it('of which one dies in mid-answer: the other one goes on in the same place', async () => {
    const other = await open();
    await serve((await ask('One?')).say('The quick '));
    await time.pass(1000);
    app.kill();
    await time.pass(5000);
    expect(other.seen()).toBe('q: One? | a: The quick ');
    await serve((await press('Continue', other)).answer('brown fox.'));
    expect(await stored()).toBe('q: One? | a: The quick brown fox.');
    expect(await store.listBranches('c')).toHaveLength(1);
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

describe('what nobody asked for', () => {
  const text = [
    { type: 'text-start', id: 't' },
    { type: 'text-delta', id: 't', delta: 'Fir' },
  ] as const;
  const end = { type: 'text-end', id: 't' } as const;
  const finish = { type: 'finish' } as const;

  it.each<[string, readonly unknown[], string]>([
    ['no start', [...text, end, finish], 'Fir'],
    ['nothing but a finish', [finish], ''],
    ['words after the finish', [...text, end, finish, { ...text[1], delta: 'late' }], 'Fir'],
    ['two finishes', [...text, end, finish, finish], 'Fir'],
    ['one id for two texts', [...text, end, ...text, end, finish], 'Fir/Fir'],
    ['a text that never began', [...text, { ...text[1], id: 'x' }], 'Fir'],
    [
      'the result of a tool that nobody called',
      [...text, { type: 'tool-output-available', toolCallId: 'x', output: 1 }],
      'Fir',
    ],
    ['a chunk that is none', [...text, null], 'Fir'],
    ['a kind of chunk that nobody knows', [text[0], { type: 'hologram' }, text[1], end, finish], 'Fir'],
    ['the id of the question', [{ type: 'start', messageId: 'q' }, ...text, end, finish], 'Fir'],
    [
      'a function in its metadata',
      [{ type: 'start', messageMetadata: { retry: () => {} } }, ...text, end, finish],
      'Fir',
    ],
  ])('in an answer (%s) loses nothing', async (_, chunks, said) => {
    const exchange = await ask('One?');
    await serve(exchange.send(...(chunks as never[])));
    await serve(exchange.drop());
    expect(app.seen()).toBe(said ? `q: One? | a: ${said}` : 'q: One?');
    await goesOn();
  });

  it.each([
    ['an error', new Error('401: The key is wrong.'), '401: The key is wrong.'],
    ['a text', 'no', 'no'],
    ['nothing', undefined, 'The transport failed without a word.'],
  ])('of a transport that throws %s at once is said, and the question stays', async (_, thrown, said) => {
    let isBroken = true;
    const { transport } = app.script;
    const { sendMessages } = transport;
    transport.sendMessages = (sent) => {
      if (!isBroken) return sendMessages(sent);
      throw thrown;
    };
    await time.during(app.type('One?'));
    await time.pass(50);
    expect([app.seen(), app.alert()]).toEqual(['q: One?', `${said} Dismiss`]);
    isBroken = false;
    await serve((await press('Try again')).answer('First.'));
    await goesOn();
  });
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
