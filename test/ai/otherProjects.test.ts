import type { UIMessage, UIMessageChunk } from 'ai';
import { beforeEach, describe, expect, it } from 'vitest';
import { toPrompt } from '../../src/ai/index.ts';
import { afterReload, openPage, words, type Page } from './story.ts';

/** Bugs that people reported of other chats with branches, and that this one must not have. */
let page: Page;
/** What the app was told of data: which, and on which branch. */
let data: string[];

beforeEach(async () => {
  data = [];
  page = await openPage(undefined, {
    onData: (part, { branchId }) => {
      const { branches } = page.engine.state.getState();
      const branch = branches.find(({ id }) => id === branchId)?.name;
      data.push(`${part.type} ${JSON.stringify(part.data)} on ${branch}`);
    },
  });
});

const say = (role: UIMessage['role'], text: string, id: string = crypto.randomUUID()): UIMessage => ({
  id,
  role,
  parts: [{ type: 'text', text }],
});

const weather = (sky: string): UIMessageChunk => ({ type: 'data-weather', id: 'w', data: { sky } });

/** The parts of the answer at the end of a branch, as they are stored. */
async function partsAtEndOf(branch: string): Promise<UIMessage['parts'] | undefined> {
  const found = (await page.store.listBranches('c')).find(({ name }) => name === branch);
  const chain = await page.store.getMessageChain('c', found?.headMessageId ?? '');
  return chain.at(-1)?.data.parts;
}

describe('data of an answer', () => {
  it('on a branch that is not shown changes nothing of the one that is', async () => {
    await page.ask('One?', 'First.');
    const hidden = await page.begin('There?');
    await hidden.send({ type: 'start' }, { type: 'start-step' }, weather('grey'));
    await page.engine.rewind(page.chats.active.messages[1]!.id);
    const shown = await page.begin('Here?');
    await shown.send({ type: 'start' }, { type: 'start-step' }, weather('clear'));
    await hidden.send({ type: 'data-note', data: 'seen once', transient: true }, weather('black'));
    await shown.finish();
    await hidden.finish();
    await page.chats.whenSettled();
    expect(page.chats.active.messages.at(-1)!.parts.at(-1)).toMatchObject({ data: { sky: 'clear' } });
    expect(data).toEqual([
      'data-weather {"sky":"grey"} on main',
      'data-weather {"sky":"clear"} on main-v2',
      'data-note "seen once" on main',
      'data-weather {"sky":"black"} on main',
    ]);
    const own = (sky: string): object[] => [
      { type: 'step-start' },
      { type: 'data-weather', id: 'w', data: { sky } },
    ];
    expect(await partsAtEndOf('main')).toEqual(own('black'));
    expect(await partsAtEndOf('main-v2')).toEqual(own('clear'));
  });

  it('are an answer, also without a word: there after a reload, with a version beside it', async () => {
    const exchange = await page.begin('Weather?');
    await exchange.send({ type: 'start' }, weather('grey'));
    await exchange.finish();
    await page.chats.whenSettled();
    page = await openPage(afterReload(page.store));
    expect(page.chats.active.messages[1]!.parts).toEqual([
      { type: 'data-weather', id: 'w', data: { sky: 'grey' } },
    ]);
    await page.script.answer(page.chats.active.regenerate(), 'Blue.');
    expect(page.engine.siblings(page.chats.active.messages[1]!.id).ids).toHaveLength(2);
    await page.ask('And?', 'Well.');
  });

  it('that are seen once are no answer, and are saved nowhere', async () => {
    const exchange = await page.begin('Weather?');
    await exchange.send({ type: 'start' }, { type: 'data-note', data: 'looking', transient: true });
    await exchange.finish();
    await page.chats.whenSettled();
    expect(data).toEqual(['data-note "looking" on main']);
    expect(await page.saved()).toBe('q: Weather?');
    await page.script.answer(page.chats.active.regenerate(), 'Grey.');
    expect(await page.stored()).toBe('q: Weather? | a: Grey.');
    expect(page.engine.state.getState().branches).toHaveLength(1);
  });
});

describe('an answer without a word', () => {
  const METADATA = { model: 'm', usage: { outputTokens: 0 } };
  const begun: UIMessageChunk = { type: 'start', messageMetadata: { model: 'm' } };
  const step: UIMessageChunk[] = [{ type: 'start-step' }, { type: 'finish-step' }];
  const finish: UIMessageChunk = { type: 'finish', messageMetadata: { usage: METADATA.usage } };

  const answerWith = async (...chunks: UIMessageChunk[]): Promise<void> => {
    const exchange = await page.begin('One?');
    await exchange.send(...chunks);
    await exchange.drop();
    await page.chats.whenSettled();
  };

  it.each([
    ['a step', [begun, ...step, finish]],
    ['a start and a finish', [begun, finish]],
    ['a finish', [{ ...finish, messageMetadata: METADATA }]],
  ])('but %s keeps its metadata, here and after a reload', async (_, chunks) => {
    await answerWith(...chunks);
    expect(page.chats.active.messages[1]?.metadata).toEqual(METADATA);
    page = await openPage(afterReload(page.store));
    expect(page.chats.active.messages[1]?.metadata).toEqual(METADATA);
    await page.ask('Two?', 'Second.');
    expect(words(page.script.requests[0]!.sent.messages)).toBe('q: One? | q: Two?');
    expect(await page.stored()).toBe('q: One? | a:  | q: Two? | a: Second.');
    expect(page.engine.state.getState().branches).toHaveLength(1);
    expect(await page.engine.verify()).toEqual([]);
  });

  it.each<[string, UIMessageChunk[]]>([
    ['that failed', [begun, ...step.slice(0, 1), { type: 'error', errorText: 'overloaded' }]],
    ['that broke off', [begun, ...step.slice(0, 1)]],
    ['of which nothing is told', [{ type: 'start' }, ...step, { type: 'finish' }]],
  ])('%s is none: the question can be asked again', async (_, chunks) => {
    await answerWith(...chunks);
    expect([page.shown(), await page.stored()]).toEqual(['q: One?', 'q: One?']);
    await page.script.answer(page.chats.active.regenerate(), 'First.');
    expect(await page.stored()).toBe('q: One? | a: First.');
    expect(page.engine.state.getState().branches).toHaveLength(1);
  });
});

describe('a message of the system in the midst of a conversation', () => {
  const rule = say('system', 'Speak French.', 's');

  beforeEach(async () => {
    await page.ask('One?', 'First.');
    page.chats.active.messages = [...page.chats.active.messages, rule];
    await page.ask('Two?', 'Deux.');
  });

  it('is saved where it stands, on the branch that it stands on', async () => {
    const stored = await page.store.getMessages('c');
    expect(stored.map(({ name }) => name)).toEqual(['user', 'assistant', 'system', 'user', 'assistant']);
    expect(page.engine.state.getState().branches).toHaveLength(1);
    page = await openPage(afterReload(page.store));
    expect(page.chats.active.messages[2]).toEqual(rule);
    await page.ask('Three?', 'Trois.');
    expect(page.engine.state.getState().branches).toHaveLength(1);
  });

  it('is sent in its place over HTTP, and in the system prompt to a model', async () => {
    const { sent } = page.script.requests[1]!;
    expect(sent.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'system', 'user']);
    const { system, messages } = await toPrompt(await page.engine.resolve());
    expect(system).toBe('Speak French.');
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
  });

  it('is not part of a version of what stands before it, and is still there beside it', async () => {
    await page.script.answer(
      page.chats.active.regenerate({ messageId: page.chats.active.messages[1]!.id }),
      'Other.',
    );
    expect(page.shown()).toBe('q: One? | a: Other.');
    expect((await toPrompt(await page.engine.resolve())).system).toBeUndefined();
    await page.engine.switchBranch('main');
    expect(page.shown()).toBe('q: One? | a: First. | a: Speak French. | q: Two? | a: Deux.');
    await page.engine.rewind('s');
    await page.ask('Four?', 'Quatre.');
    expect(page.shown()).toBe('q: One? | a: First. | a: Speak French. | q: Four? | a: Quatre.');
  });
});

it('an answer whose server knows it by another id has no second version of itself', async () => {
  const exchange = await page.begin('One?');
  await exchange.send({ type: 'start', messageId: 'server-1' });
  await exchange.answer('First.');
  await page.chats.whenSettled();
  const [, answer] = page.chats.active.messages;
  expect(page.engine.siblings(answer!.id).ids).toEqual([answer!.id]);
  const more = page.chats.active.sendMessage();
  const rest = await page.script.next();
  await rest.send({ type: 'start', messageId: 'server-2' });
  await rest.answer('And more.');
  await more;
  page = await openPage(afterReload(page.store));
  expect(page.shown()).toBe('q: One? | a: First./And more.');
  expect(page.chats.active.messages[1]!.id).toBe(answer!.id);
  expect(page.engine.siblings(answer!.id).ids).toEqual([answer!.id]);
});

describe('a list that an app brings along', () => {
  const history = [
    say('user', 'One?', 'q1'),
    say('assistant', 'First.', 'a1'),
    say('user', 'Two?', 'q2'),
    say('assistant', 'Second.', 'a2'),
  ];
  const [q1, a1, q2, a2] = history as [UIMessage, UIMessage, UIMessage, UIMessage];

  it.each<[string, UIMessage[], string]>([
    ['in its order', history, 'q: One? | a: First. | q: Two? | a: Second.'],
    ['children first', [a2, q2, a1, q1], 'a: Second. | q: Two? | a: First. | q: One?'],
    [
      'with two messages of one id',
      [q1, a1, say('user', 'Other?', 'q1'), say('assistant', 'Said.', 'a1')],
      'q: One? | a: First. | q: Other? | a: Said.',
    ],
    ['with two questions in a row', [q1, q2, a2], 'q: One? | q: Two? | a: Second.'],
  ])('%s is saved as it stands, each message on a node of its own', async (_, list, said) => {
    page.chats.active.messages = [...list];
    await page.ask('Well?', 'Yes.');
    expect(await page.saved()).toBe(`${said} | q: Well? | a: Yes.`);
    expect(words(page.script.requests[0]!.sent.messages)).toBe(`${said} | q: Well?`);
    expect(new Set(page.chats.active.messages.map(({ id }) => id)).size).toBe(list.length + 2);
    expect(page.engine.state.getState().branches).toHaveLength(1);
    expect(await page.engine.verify()).toEqual([]);
  });

  it('in which a message stands twice is saved with it once, and goes on', async () => {
    page.chats.active.messages = [q1, a1, q1, a1];
    await page.ask('Well?', 'Yes.');
    await page.ask('And?', 'No.');
    expect(await page.stored()).toBe('q: One? | a: First. | q: Well? | a: Yes. | q: And? | a: No.');
    expect(page.shown()).toContain('q: Well? | a: Yes. | q: And? | a: No.');
    expect(page.engine.state.getState().branches).toHaveLength(1);
  });

  it('is saved without an answer in it that said nothing', async () => {
    page.chats.active.messages = [q1, say('assistant', '', 'a1'), q2, a2];
    await page.ask('Well?', 'Yes.');
    expect(await page.stored()).toBe('q: One? | q: Two? | a: Second. | q: Well? | a: Yes.');
  });

  it.each<[string, (chat: Page['chats']['active']) => Promise<void>, string]>([
    ['another try at its end', (chat) => chat.regenerate(), 'q: One? | a: First. | q: Two? | a: New.'],
    ['another try in its middle', (chat) => chat.regenerate({ messageId: 'a1' }), 'q: One? | a: New.'],
    [
      'an edit of its first question',
      (chat) => chat.sendMessage({ text: 'Won?', messageId: 'q1' }),
      'q: Won? | a: New.',
    ],
    [
      'an edit of a later one',
      (chat) => chat.sendMessage({ text: 'Too?', messageId: 'q2' }),
      'q: One? | a: First. | q: Too? | a: New.',
    ],
  ])('keeps all of it when the first thing is %s', async (_, act, said) => {
    page.chats.active.messages = [...history];
    await page.script.answer(act(page.chats.active), 'New.');
    expect(await page.saved('main-v2')).toBe(said);
    expect(await page.stored('main')).toBe('q: One? | a: First. | q: Two? | a: Second.');
    expect(page.engine.siblings(page.chats.active.messages.at(-1)?.id ?? '').ids.length).toBe(
      said.includes('Won') || said.includes('Too') ? 1 : 2,
    );
    expect(await page.engine.verify()).toEqual([]);
  });

  it('keeps what a tool in it is given, though nobody is asked', async () => {
    const waiting = { type: 'tool-dice', toolCallId: 't', state: 'input-available', input: {} } as const;
    page.chats.active.messages = [q1, { id: 'a1', role: 'assistant', parts: [waiting] }];
    await page.chats.active.addToolOutput({ tool: 'dice' as never, toolCallId: 't', output: 6 });
    expect(await page.saved()).toBe('q: One? | a: [dice output-available]');
  });

  it('is saved when its pager is given other words for an answer', async () => {
    page.chats.active.messages = [...history];
    await page.engine.attached?.edit('a1', 'Another first.');
    expect(page.shown()).toBe('q: One? | a: Another first.');
    expect(await page.stored('main')).toBe('q: One? | a: First. | q: Two? | a: Second.');
  });
});
