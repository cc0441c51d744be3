import type { ChatTransport, UIMessage, UIMessageChunk } from 'ai';
import { beforeEach, describe, expect, it } from 'vitest';
import { toPrompt } from '../../src/ai/index.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import { settle } from '../support/transport.ts';
import { openPage, SDK, words, type Page } from './story.ts';

/**
 * Bad input from providers, servers, apps and newer versions. Whatever comes: the question is kept, the words so far are kept,
 * the failure is reported once, and the next question is answered.
 */
let page: Page;

beforeEach(async () => {
  page = await openPage();
});

const hello: UIMessageChunk[] = [
  { type: 'text-start', id: 't' },
  { type: 'text-delta', id: 't', delta: 'Fir' },
];

const spoken: UIMessageChunk[] = [...hello, { type: 'text-end', id: 't' }];
const finish: UIMessageChunk = { type: 'finish' };

/** Asks, lets a stream of these chunks answer, and waits until all is saved. */
async function answeredWith(...chunks: unknown[]): Promise<void> {
  const exchange = await page.begin('One?');
  await exchange.send(...(chunks as UIMessageChunk[]));
  await exchange.drop();
  await page.chats.whenSettled();
}

/** The chat still works: what it shows is saved, and it answers. */
async function goesOn(): Promise<void> {
  const before = page.shown();
  expect(await page.stored()).toBe(before);
  await page.ask('Well?', 'Yes.');
  expect(page.chats.active.status).toBe('ready');
  expect(await page.stored()).toBe(`${before} | q: Well? | a: Yes.`);
  expect(page.engine.state.getState().branches).toHaveLength(1);
}

describe('a request that fails', () => {
  it.each([
    ['as a timeout', new DOMException('signal timed out', 'TimeoutError')],
    ['as a lost connection', new TypeError('Failed to fetch')],
    ['as a provider says it', Object.assign(new Error('Overloaded'), { statusCode: 529 })],
    ['with a text', 'no'],
    ['with nothing', undefined],
  ])('%s leaves the question, and can be asked again', async (_, error) => {
    page.script.refuse(error);
    await page.chats.active.sendMessage({ text: 'One?' }).catch(() => {});
    expect(page.chats.active.isBusy).toBe(false);
    expect(await page.stored()).toBe('q: One?');
    await page.script.next();
    await page.script.answer(page.chats.active.regenerate(), 'First.');
    expect(page.shown()).toBe('q: One? | a: First.');
    await goesOn();
  });

  it.each(['at once', 'in mid-answer'])('by a timeout %s is an error, not a stop', async (moment) => {
    const exchange = await page.begin('One?');
    if (moment === 'in mid-answer') await exchange.say('Fir');
    await exchange.break(new DOMException('signal timed out', 'TimeoutError'));
    await page.chats.whenSettled();
    expect(page.chats.active.status).toBe('error');
    expect(await page.saved()).toBe(moment === 'at once' ? 'q: One?' : 'q: One? | a: Fir');
    page.chats.active.clearError();
    expect(page.chats.active.status).toBe('ready');
    await goesOn();
  });
});

describe('a transport', () => {
  const sync = (broken: Partial<Record<keyof ChatTransport<UIMessage>, unknown>>): ChatTransport<UIMessage> =>
    ({ ...page.script.transport, ...broken }) as ChatTransport<UIMessage>;
  const thrower = (): never => {
    throw new Error('not configured');
  };

  it('that throws synchronously fails the turn, not the page', async () => {
    page.chats.configure({ transport: sync({ sendMessages: thrower, reconnectToStream: thrower }) });
    await page.chats.active.sendMessage({ text: 'One?' });
    expect(page.chats.active.error?.message).toBe('not configured');
    expect(await page.stored()).toBe('q: One?');
    await page.chats.active.resumeStream();
    expect(page.chats.active.error?.message).toBe('not configured');
    page.chats.configure({ transport: page.script.transport });
    await goesOn();
  });

  it.each([
    ['nothing', undefined, 'gave undefined'],
    ['what `fetch` gives', new Response('Hi.'), 'gave a Response'],
    ['a text', 'Hi.', 'gave the string "Hi."'],
  ])(
    'that gives %s in place of a stream is told so, and fails the turn, not the page',
    async (_, given, told) => {
      page.chats.configure({ transport: sync({ sendMessages: async () => given }) });
      await page.chats.active.sendMessage({ text: 'One?' });
      expect(page.chats.active.status).toBe('error');
      expect(page.chats.active.error).toMatchObject({ code: 'invalid-options' });
      expect(page.chats.active.error?.message).toContain(told);
      expect(page.chats.active.error?.message).toContain('ReadableStream');
      expect(await page.stored()).toBe('q: One?');
      page.chats.configure({ transport: page.script.transport });
      await goesOn();
    },
  );
});

describe('a stream', () => {
  it.each<[string, unknown[], string, 'ready' | 'error']>([
    [
      'with words for a text that never began',
      [...hello, { type: 'text-delta', id: 'x', delta: 'st' }],
      'Fir',
      'error',
    ],
    ['with the end of a text that never began', [...hello, { type: 'text-end', id: 'x' }], 'Fir', 'error'],
    [
      'with a result of a tool that nobody called',
      [...hello, { type: 'tool-output-available', toolCallId: 'x', output: 1 }],
      'Fir',
      'error',
    ],
    ['with a chunk that is none', [...hello, null], 'Fir', 'error'],
    ['with two finishes', [...spoken, finish, finish], 'Fir', 'ready'],
    ['with two texts of one id, one after the other', [...spoken, ...spoken, finish], 'Fir/Fir', 'ready'],
  ])('%s', async (_, chunks, said, status) => {
    await answeredWith(...chunks);
    expect(page.chats.active.status).toBe(status);
    expect(page.shown()).toBe(said ? `q: One? | a: ${said}` : 'q: One?');
    const ending = page.engine.status(page.chats.active.messages[1]?.id ?? 'none');
    expect(ending).toBe(said ? { ready: 'complete', error: 'interrupted' }[status] : undefined);
    await goesOn();
  });

  it('with a kind of chunk that is not known yet keeps the words around it', async () => {
    await answeredWith(hello[0], { type: 'hologram', x: 1 }, hello[1], { type: 'text-end', id: 't' }, finish);
    expect(page.shown()).toBe('q: One? | a: Fir');
    await goesOn();
  });

  it('that gives every answer the same id keeps each on a node of its own', async () => {
    await answeredWith({ type: 'start', messageId: 'same' }, ...spoken, finish);
    const exchange = await page.begin('Two?');
    await exchange.send({ type: 'start', messageId: 'same' }, ...spoken, finish);
    await exchange.drop();
    await page.chats.whenSettled();
    expect(page.shown()).toBe('q: One? | a: Fir | q: Two? | a: Fir');
    await goesOn();
  });

  it('with a function in the metadata of an answer keeps the rest of them', async () => {
    await answeredWith({ type: 'start', messageMetadata: { model: 'm', retry: () => {} } }, ...spoken, {
      type: 'finish',
      messageMetadata: { usage: { inputTokens: 1 } },
    });
    expect(page.chats.active.status).toBe('ready');
    const [, stored] = await page.store.getMessages('c');
    expect(stored?.data.metadata).toEqual({ model: 'm', usage: { inputTokens: 1 } });
    await goesOn();
  });
});

describe.runIf(SDK > 6)('a step that its server takes back', () => {
  const text = (id: string, delta: string): UIMessageChunk[] => [
    { type: 'text-start', id },
    { type: 'text-delta', id, delta },
  ];
  const wrong: UIMessageChunk[] = [{ type: 'start-step' }, ...text('1', 'Wrong'), { type: 'reset-step' }];

  const said = (id: string, delta: string): UIMessageChunk[] => [
    ...text(id, delta),
    { type: 'text-end', id },
    { type: 'finish-step' },
  ];

  it.each<[string, UIMessageChunk[], string, string]>([
    [
      'is not part of the answer, which is whole',
      [...wrong, ...said('2', 'Right.'), finish],
      'Right.',
      'complete',
    ],
    ['and says nothing in its place, is what was said', wrong, 'Wrong', 'interrupted'],
    [
      'leaves the steps before it',
      [{ type: 'start-step' }, ...said('0', 'First.'), ...wrong],
      'First.',
      'interrupted',
    ],
  ])('%s', async (_, chunks, words, status) => {
    await answeredWith(...chunks);
    expect(page.shown()).toBe(`q: One? | a: ${words}`);
    expect(page.engine.status(page.chats.active.messages[1]!.id)).toBe(status);
    await goesOn();
  });
});

describe('what is no message', () => {
  it.each<[string, unknown, string]>([
    ['a text', 'One?', 'the string "One?"'],
    ['no text', '', 'the string ""'],
    ['a number', 5, 'a number'],
    ['a list of parts', [{ type: 'text', text: 'One?' }], 'an array'],
    ['a message of AI SDK 4', { role: 'user', content: 'One?' }, 'an object with role, content'],
    ['nothing but the name of a question', { messageId: 'q' }, 'an object with messageId'],
    ['an empty object', {}, 'an empty object'],
  ])('is refused in words, and nothing is asked: %s', async (_, given, told) => {
    await page.ask('One?', 'First.');
    const sent = page.chats.active.sendMessage(given as never);
    await expect(sent).rejects.toMatchObject({ code: 'invalid-messages' });
    await expect(sent).rejects.toThrow(`sendMessage({ text: 'Hello' }), and was given ${told}.`);
    expect([page.chats.active.status, page.chats.active.error]).toEqual(['ready', undefined]);
    expect(page.script.requests).toHaveLength(1);
    await goesOn();
  });
});

describe('a message', () => {
  it('with an id that was used before gets one of its own', async () => {
    await page.ask('One?', 'First.');
    const { id } = page.chats.active.messages[0]!;
    await page.script.answer(
      page.chats.active.sendMessage({ id, role: 'user', parts: [{ type: 'text', text: 'Two?' }] }),
      'Second.',
    );
    expect(page.shown()).toBe('q: One? | a: First. | q: Two? | a: Second.');
    expect(new Set(page.chats.active.messages.map((message) => message.id)).size).toBe(4);
    await goesOn();
  });

  it('with an id that another branch holds gets one of its own, and that branch keeps its words', async () => {
    await page.ask('One?', 'First.');
    const { id } = page.chats.active.messages[0]!;
    await page.reword(id, 'Un?', 'Premier.');
    await page.script.answer(
      page.chats.active.sendMessage({ id, role: 'user', parts: [{ type: 'text', text: 'Two?' }] }),
      'Second.',
    );
    expect(await page.stored('main')).toBe('q: One? | a: First.');
    expect(await page.saved('main-v2')).toBe('q: Un? | a: Premier. | q: Two? | a: Second.');
  });

  it.each([
    ['nothing in it', { parts: [] }],
    ['parts that are none', { parts: 'One?' }],
    ['a part without a type', { parts: [{}] }],
    [
      'a function in its metadata, and words',
      { parts: [{ type: 'text', text: 'One?' }], metadata: { retry: () => {} } },
    ],
    ['a function in its metadata', { parts: [], metadata: { retry: () => {} } }],
    ['itself in its metadata', { parts: [{ type: 'text', text: 'One?' }], metadata: cyclic() }],
  ])('with %s harms nothing', async (_, message) => {
    await page.ask('One?', 'First.');
    const sent = page.chats.active.sendMessage(message as never).catch(() => {});
    for (let pause = 0; pause < 5; pause += 1) await settle();
    if (page.script.requests.length > 1) await (await page.script.next()).finish();
    await sent;
    await page.chats.whenSettled();
    page.chats.active.clearError();
    // AI SDK 5 and 6 show what it is before it is refused, and a view may break on that: then the app is shown anew.
    await expect.poll(() => page.shown()).toContain('q: One? | a: First.');
    expect(await page.stored()).toContain('q: One? | a: First.');
    await page.ask('Well?', 'Yes.');
    expect(await page.stored()).toContain('q: Well? | a: Yes.');
  });
});

function cyclic(): object {
  const metadata: { self?: object } = {};
  metadata.self = metadata;
  return metadata;
}

describe('a history of a newer AI SDK', () => {
  /** What it holds, and the first AI SDK that takes it. */
  const newer: [string, object, number][] = [
    ['a part of a kind that nobody knows', { type: 'hologram', depth: 3 }, Infinity],
    ['a custom part', { type: 'custom', kind: 'acme.note', data: {} }, 7],
    [
      'a file of a thought',
      { type: 'reasoning-file', mediaType: 'image/png', url: 'data:image/png;base64,aGk=' },
      7,
    ],
    [
      'what a person threw in between two steps',
      { type: 'steering-message', id: 's', parts: [{ type: 'text', text: 'Be brief.' }] },
      7,
    ],
    ['a text with citations', { type: 'text', text: 'Said.', citations: [{ type: 'url' }] }, 5],
    ['a tool that was denied', denied('output-denied'), 6],
    ['a tool in a state that nobody knows', denied('half-done'), Infinity],
  ];

  it.each(newer.map(([what, part, since]) => [what, part, SDK >= since] as const))(
    'that holds %s is shown and kept, and sent where it is known',
    async (_, part, isSent) => {
      const store = new InMemoryContextStore();
      const other = await openPage(store);
      const history = [
        { id: 'q', role: 'user', parts: [{ type: 'text', text: 'One?' }] },
        { id: 'a', role: 'assistant', parts: [part, { type: 'text', text: 'First.' }] },
      ] as unknown as UIMessage[];
      other.chats.active.messages = history;
      await other.ask('Two?', 'Second.');
      page = await openPage(store);
      expect(page.chats.active.messages[1]).toEqual(history[1]);
      await page.ask('Three?', 'Third.');
      const [request] = page.script.requests;
      expect(JSON.stringify(request!.sent.messages).includes(JSON.stringify(part))).toBe(isSent);
      expect(words(request!.sent.messages)).toContain('First.');
      expect((await page.store.getMessages('c'))[1]!.data).toEqual(history[1]);
      await expect(toPrompt(await page.engine.resolve())).resolves.toHaveProperty('messages');
    },
  );
});

function denied(state: string): object {
  const approval = { id: 'ok?', approved: false };
  return { type: 'tool-dice', toolCallId: '1', state, input: { sides: 6 }, approval };
}
