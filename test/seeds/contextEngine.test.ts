import { generateText } from 'ai';
import {
  assistant,
  assistantText,
  ContextEngine,
  hint,
  InMemoryContextStore,
  role,
  user,
  XmlRenderer,
} from 'contextree/core';
import { toPrompt } from 'contextree/ai';
import { describe, expect, test } from 'vitest';
import { branchesIn, texts } from '../support/engine.ts';
import { modelThatSays } from './model.ts';

/** The flows of the engine's reference page. */
function open(store = new InMemoryContextStore()) {
  const context = new ContextEngine({
    store,
    chatId: 'chat-001',
    userId: 'user-001',
    metadata: { source: 'web' },
  });
  return { store, context, branches: () => branchesIn(store, 'chat-001') };
}

test('properties before and after the first save', async () => {
  const { context } = open();
  expect([context.chatId, context.branch, context.headMessageId, context.chat]).toEqual([
    'chat-001',
    'main',
    undefined,
    null,
  ]);
  context.set(user('Hello', { id: 'q1' }));
  await context.save();
  expect([context.branch, context.headMessageId]).toEqual(['main', 'q1']);
  expect(context.chat).toMatchObject({ id: 'chat-001', userId: 'user-001', metadata: { source: 'web' } });
  expect(context.chat?.createdAt).toBeGreaterThan(1_600_000_000_000);
});

test('save() returns the head, and the pending lane is empty afterwards', async () => {
  const { context } = open();
  context.set(user('Hello'));
  context.set(assistantText('Hi there!', { id: 'msg-abc123' }));
  expect(await context.save()).toEqual({ headMessageId: 'msg-abc123' });
  expect(await context.save()).toEqual({ headMessageId: 'msg-abc123' });
});

test('render() gives the fragments alone', () => {
  const { context } = open();
  context.set(role('You are helpful.'), user('Hello!'));
  expect(context.render(new XmlRenderer())).toBe('<role>You are helpful.</role>');
});

test('rewind: the wrong answer stays on its branch', async () => {
  const { context, branches } = open();
  context.set(user({ id: 'q1', role: 'user', parts: [{ type: 'text', text: 'What is 2+2?' }] }));
  context.set(assistantText('The answer is 5.'));
  await context.save();
  expect(await context.rewind('q1')).toMatchObject({ name: 'main-v2', headMessageId: 'q1' });
  context.set(assistantText('The answer is 4.'));
  await context.save();
  expect(await branches()).toEqual({
    main: 'What is 2+2? > The answer is 5.',
    'main-v2': 'What is 2+2? > The answer is 4.',
  });
});

test('checkpoint and restore: both choices are kept, across sessions', async () => {
  const { store, context, branches } = open();
  context.set(user('Should I learn Python or JavaScript?'));
  context.set(assistantText('Both are great!', { id: 'msg-xxx' }));
  await context.save();
  expect(await context.checkpoint('before-choice')).toMatchObject({
    name: 'before-choice',
    messageId: 'msg-xxx',
  });
  context.set(user('Python'));
  await context.save();
  const later = open(store).context;
  await later.restore('before-choice');
  expect(later.branch).toBe('main-v2');
  later.set(user('I want to learn JavaScript.'));
  await later.save();
  expect(await branches()).toEqual({
    main: 'Should I learn Python or JavaScript? > Both are great! > Python',
    'main-v2': 'Should I learn Python or JavaScript? > Both are great! > I want to learn JavaScript.',
  });
});

test('switchBranch clears what is pending', async () => {
  const { store, context } = open();
  context.set(user('one', { id: 'q1' }), assistant('two'));
  await context.save();
  await context.rewind('q1');
  expect((await store.listBranches(context.chatId)).map(({ name }) => name)).toEqual(['main', 'main-v2']);
  context.set(user('forgotten'));
  await context.switchBranch('main');
  expect(texts((await context.resolve()).messages)).toBe('one > two');
});

test('btw: another question beside the first', async () => {
  const { context, branches } = open();
  context.set(user('What is the weather?'));
  await context.save();
  const side = await context.btw();
  expect([side.name, context.branch]).toEqual(['main-v2', 'main']);
  await context.switchBranch(side.name);
  context.set(user('Also, what time is it?'));
  await context.save();
  expect(await branches()).toEqual({
    main: 'What is the weather?',
    'main-v2': 'What is the weather? > Also, what time is it?',
  });
});

test('btw keeps what is pending where it was', async () => {
  const { context, branches } = open();
  context.set(user('What is the weather?'));
  await context.save();
  context.set(user('In Lisbon, I mean'));
  await context.btw();
  expect(context.branch).toBe('main');
  expect(texts((await context.resolve()).messages)).toBe('What is the weather? > In Lisbon, I mean');
  await context.save();
  expect(await branches()).toEqual({
    main: 'What is the weather? > In Lisbon, I mean',
    'main-v2': 'What is the weather?',
  });
});

test('updateChat merges metadata', async () => {
  const { context } = open();
  await context.updateChat({ title: 'Python Learning Session', metadata: { tags: ['python', 'beginner'] } });
  expect(context.chat).toMatchObject({
    title: 'Python Learning Session',
    metadata: { source: 'web', tags: ['python', 'beginner'] },
  });
});

test('inspect has everything, and survives JSON', async () => {
  const { context } = open();
  context.set(role('You are helpful.'), user('saved'));
  await context.save();
  context.set(user('pending words'));
  const snapshot = await context.inspect({ modelId: 'openai:gpt-4o', renderer: new XmlRenderer() });
  expect(JSON.parse(JSON.stringify(snapshot, null, 2))).toMatchObject({
    estimate: { provider: 'openai', model: 'gpt-4o', tokens: expect.any(Number) },
    rendered: '<role>You are helpful.</role>',
    fragments: {
      context: [{ name: 'role', data: 'You are helpful.' }],
      pending: [{ role: 'user', parts: [{ text: 'pending words' }] }],
      persisted: [{ role: 'user', parts: [{ text: 'saved' }] }],
    },
    graph: { nodes: [{ content: 'saved' }], branches: [{ name: 'main', isActive: true }], checkpoints: [] },
    meta: { chatId: 'chat-001', branch: 'main', timestamp: expect.any(Number) },
  });
});

describe('complete flows', () => {
  test('a turn: resolve, generate, save', async () => {
    const { store, context } = open();
    const model = modelThatSays('Hello, human.');
    context.set(role('You are a friendly assistant.'), hint('Keep responses brief.'));
    context.set(user('Hi'));
    const { text } = await generateText({
      model,
      ...(await toPrompt(await context.resolve({ renderer: new XmlRenderer() }))),
    });
    context.set(assistant(text));
    await context.save();
    expect(await branchesIn(store, 'chat-001')).toEqual({ main: 'Hi > Hello, human.' });
  });

  test('branching: a second answer under another hint', async () => {
    const { context, branches } = open();
    const model = modelThatSays('A function that calls itself.', 'A doll inside a doll.');
    const ask = async () =>
      (await generateText({ model, ...(await toPrompt(await context.resolve())) })).text;
    context.set(role('You are helpful.'), user('Explain recursion', { id: 'q1' }));
    context.set(assistant(await ask()));
    await context.save();
    await context.rewind('q1');
    context.set(hint('Explain like I am 5 years old.'));
    context.set(assistant(await ask()));
    await context.save();
    expect(await branches()).toEqual({
      main: 'Explain recursion > A function that calls itself.',
      'main-v2': 'Explain recursion > A doll inside a doll.',
    });
    expect(model.doGenerateCalls[1]?.prompt[0]).toMatchObject({
      role: 'system',
      content: '<role>You are helpful.</role>\n<hint>Explain like I am 5 years old.</hint>',
    });
  });
});

test('deviation: engine.branch names the real branch after a reload', async () => {
  const { store, context } = open();
  context.set(user('one', { id: 'q1' }), assistant('two'));
  await context.save();
  await context.rewind('q1');
  const reloaded = open(store).context;
  await reloaded.ready();
  expect(reloaded.branch).toBe('main-v2');
});

test('deviation: an edited message keeps row id and message id the same', async () => {
  const { store, context } = open();
  context.set(user('one', { id: 'q1' }), assistantText('two', { id: 'a1' }));
  await context.save();
  context.set(assistantText('better', { id: 'a1' }));
  const { headMessageId } = await context.save();
  expect(await store.getMessage('chat-001', headMessageId as string)).toMatchObject({
    id: headMessageId,
    data: { id: headMessageId },
  });
});

test('deviation: a message belongs to its chat, whatever ids there are in others', async () => {
  const { store, context, branches } = open();
  context.set(user('mine', { id: 'q1' }));
  await context.save();
  const other = new ContextEngine({ store, chatId: 'chat-002', userId: 'user-001' });
  other.set(user('theirs', { id: 'q1' }));
  await other.save();
  expect(await branches()).toEqual({ main: 'mine' });
  expect(texts((await other.resolve()).messages)).toBe('theirs');
});

test('deviation: saving moves updatedAt', async () => {
  const { context } = open();
  context.set(user('one'));
  await context.save();
  const before = context.chat?.updatedAt as number;
  await new Promise((resolve) => setTimeout(resolve, 3));
  context.set(assistant('two'));
  await context.save();
  expect(context.chat?.updatedAt).toBeGreaterThan(before);
});

test('deviation: resolve() only reads; the chat and main are written with the first words', async () => {
  const { store, context } = open();
  context.set(role('You are helpful.'), user('one'));
  await context.resolve();
  expect([await store.listChats(), await store.listBranches('chat-001'), context.chat]).toEqual([
    [],
    [],
    null,
  ]);
  await context.save();
  expect([(await store.listChats()).length, await branchesIn(store, 'chat-001')]).toEqual([
    1,
    { main: 'one' },
  ]);
});

test('deviation: what a model takes is toPrompt(await resolve()); systemPrompt and UIMessages are not passed as they are', async () => {
  const { context } = open();
  context.set(role('You are helpful.'), user('Hi'));
  const resolved = await context.resolve();
  expect(Object.keys(resolved).toSorted()).toEqual(['messages', 'systemPrompt']);
  expect(await toPrompt(resolved)).toMatchObject({
    system: resolved.systemPrompt,
    instructions: resolved.systemPrompt,
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
  });
});
