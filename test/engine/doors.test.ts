import { NOTHING } from '../../src/graph/graph.ts';
import { describe, expect, test } from 'vitest';
import { ContextEngine } from '../../src/engine/engine.ts';
import { isContextError, type ContextErrorCode } from '../../src/errors.ts';
import { hint } from '../../src/fragment/builders.ts';
import { fragment } from '../../src/fragment/fragment.ts';
import { assistant, toMessageFragment, user } from '../../src/fragment/message.ts';
import { fromFragment, toFragment } from '../../src/fragment/serialize.ts';
import * as reminders from '../../src/reminders.ts';
import { MarkdownRenderer } from '../../src/render/markdown.ts';
import { XmlRenderer } from '../../src/render/xml.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import { engineOn, said, say } from '../support/engine.ts';

/**
 * What JavaScript lets an app hand in against the types: each door that takes values refuses them by a code of ours,
 * and its text shows at most 200 characters of them.
 */

const LONG = 'x'.repeat(5000);

const boom = (): never => {
  throw new Error(LONG);
};

const hostile: [string, () => unknown][] = [
  ['a proxy', () => new Proxy({}, { get: boom, has: boom, ownKeys: boom, getPrototypeOf: boom })],
  ['a revoked proxy', revoked],
  ['a getter that throws', () => Object.defineProperty({}, 'a', { enumerable: true, get: boom })],
  ['4,000 levels', () => ({ a: nested(4000) })],
];

const long: [string, () => unknown][] = [
  ['a long text', () => LONG],
  ['a long symbol', () => Symbol(LONG)],
  ['a long number', () => 10n ** 4000n],
  ['a long list', () => Array.from({ length: 5000 }, () => 'x')],
];

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

function nested(levels: number): unknown {
  let value: unknown = 'x';
  for (let i = 0; i < levels; i++) value = i % 2 ? [value] : { a: value };
  return value;
}

/** The code of the refusal, and whether its text is short; else what happened instead. */
async function refusal(enter: () => unknown): Promise<string> {
  try {
    await enter();
    return 'taken';
  } catch (error) {
    if (!isContextError(error)) return `not ours: ${(error as Error).name}`;
    return error.message.length < 400 ? error.code : `${error.code}, in ${error.message.length} characters`;
  }
}

type Door = [name: string, enter: (value: never) => unknown];

async function withTurn(enter: (engine: ContextEngine) => unknown): Promise<void> {
  const engine = engineOn();
  await say(engine, 'q1');
  await enter(engine);
}

const records: Door[] = [
  ['new ContextEngine({ metadata })', (metadata) => engineOn(undefined, { metadata }).ready()],
  ['updateChat({ metadata })', (metadata) => engineOn().updateChat({ metadata })],
  ['updateChat({ metadata: { a } })', (a) => engineOn().updateChat({ metadata: { a } })],
  ['updateChat()', (updates) => engineOn().updateChat(updates)],
  ['trackUsage()', (usage) => engineOn().trackUsage(usage)],
];

describe.each(records)('%s', (_door, enter) => {
  test.each(hostile)('refuses %s', async (_what, make) => {
    expect(await refusal(() => enter(make() as never))).toBe('invalid-options');
  });
});

const unreadable = hostile.slice(0, 3);

const options: Door[] = [
  ['resolve()', (given) => engineOn().resolve(given)],
  ['save()', (given) => engineOn().save(given)],
  ['continue()', (given) => engineOn().ask(said('q1'), given)],
  ['checkpoint()', (given) => withTurn((engine) => engine.checkpoint('c', given))],
  ['estimate()', (given) => engineOn().estimate(given)],
  ['inspect()', (given) => engineOn().inspect(given)],
  ['edit()', (given) => withTurn((engine) => engine.edit('q1', given))],
  ['fromFragment()', (given) => fromFragment(hint('x'), { registry: given })],
  ['toFragment()', (given) => toFragment({ type: 'hint', text: 'x' }, { registry: given })],
  ['reminder()', (given) => reminders.reminder('x', given)],
  ['usageExceeds()', (given) => reminders.usageExceeds(given)],
];

describe.each(options)('%s', (_door, enter) => {
  test.each(unreadable)('refuses %s as its options', async (_what, make) => {
    expect(await refusal(() => enter(make() as never))).toBe('invalid-options');
  });
});

const [[, proxy] = ['', revoked]] = hostile;

const others: [...Door, code: ContextErrorCode][] = [
  ['new ContextEngine()', (given) => new ContextEngine(given), 'invalid-options'],
  ['new ContextEngine({ store })', (store) => engineOn(store).ready(), 'invalid-options'],
  ['new ContextEngine({ chatId })', (chatId) => engineOn(undefined, { chatId }).ready(), 'invalid-options'],
  ['new ContextEngine({ userId })', (userId) => engineOn(undefined, { userId }).ready(), 'invalid-options'],
  ['render()', (renderer) => engineOn().render(renderer), 'invalid-options'],
  ['new XmlRenderer()', (given) => new XmlRenderer(given), 'invalid-options'],
  ['new MarkdownRenderer()', (given) => new MarkdownRenderer(given), 'invalid-options'],
  ['contentMatches()', (pattern) => reminders.contentMatches(pattern), 'invalid-options'],
  ['estimate({ messages })', (messages) => engineOn().estimate({ messages }), 'invalid-options'],
  ['a list of chats', (given) => new InMemoryContextStore().listChats(given), 'invalid-options'],
  ['a list of so many chats', (limit) => new InMemoryContextStore().listChats({ limit }), 'invalid-options'],
  ['subscribe()', (given) => engineOn().subscribe(given), 'invalid-options'],
  ['set()', (given) => engineOn().set(given), 'invalid-fragment'],
  ['set() of a fragment with it', (data) => engineOn().set(fragment('x', data)), 'invalid-fragment'],
  ['user()', (content) => user(content), 'invalid-messages'],
  ['user() with options', (given) => user('x', given), 'invalid-messages'],
  ['assistant() with options', (given) => assistant('x', given), 'invalid-messages'],
  ['toMessageFragment()', (given) => toMessageFragment(given), 'invalid-messages'],
  ['continue() of a message', (message) => engineOn().ask(message), 'invalid-messages'],
];

test.each(others)('%s refuses a proxy', async (_door, enter, code) => {
  expect(await refusal(() => enter(proxy() as never))).toBe(code);
});

const named: Readonly<Record<string, (engine: ContextEngine, id: never) => unknown>> = {
  'ask({ parentId })': (engine, parentId) => engine.ask(said('q2'), { parentId }),
  'add({ parentId })': (engine, parentId) => engine.add([said('q2')], { parentId }),
  updateMessage: (engine, id) => engine.updateMessage(id, said('q1', 'x')),
  'updateMessage by a function': (engine, id) => engine.updateMessage(id, (saved) => saved),
  edit: (engine, id) => engine.edit(id, 'x'),
  rewind: (engine, id) => engine.rewind(id),
  checkout: (engine, id) => engine.checkout(id),
  selectSibling: (engine, id) => engine.selectSibling(id),
  'checkpoint({ at })': (engine, at) => engine.checkpoint('x', { at }),
  compare: (engine, id) => engine.compare(id, 'q1'),
  revisions: (engine, id) => engine.revisions(id),
  'resolve({ at })': (engine, at) => engine.resolve({ at }),
};

test.each(Object.entries(named))('%s takes nothing but a key or an id', async (_name, enter) => {
  await withTurn(async (engine) => {
    for (const id of [5, {}, [], Symbol('q1')])
      expect(await refusal(() => enter(engine, id as never))).toBe('message-not-found');
    expect(await engine.verify()).toEqual([]);
  });
});

const values: [...Door, code: ContextErrorCode][] = [
  ['store', (store) => engineOn(store).ready(), 'invalid-options'],
  ['onConflict', (onConflict) => engineOn(undefined, { onConflict }).ready(), 'invalid-options'],
  ['validate', (validate) => engineOn(undefined, { validate }).ready(), 'invalid-options'],
  ['the branch to show', (name) => engineOn().switchBranch(name), 'branch-not-found'],
  ['the checkpoint to restore', (name) => engineOn().restore(name), 'checkpoint-not-found'],
  ['the message to go back to', (id) => engineOn().rewind(id), 'message-not-found'],
  ['a number of turns', (n) => reminders.everyNTurns(n), 'invalid-options'],
  ['the target of a reminder', (target) => reminders.reminder('x', { target }), 'invalid-options'],
  ['updates of a chat', (updates) => engineOn().updateChat(updates), 'invalid-options'],
  ['a recorded request', (id) => engineOn().explainCache(id), 'invalid-options'],
  ['a predicate', (predicate) => reminders.and(predicate), 'invalid-options'],
  [
    'the options of a store',
    (given) => new InMemoryContextStore().commit('c', NOTHING, given),
    'invalid-options',
  ],
  ['the type of a fragment', (type) => toFragment({ type }), 'invalid-fragment'],
];

describe.each(values)('an error about %s', (_door, enter, code) => {
  test.each(long)('is short for %s', async (_what, make) => {
    expect(await refusal(() => enter(make() as never))).toBe(code);
  });
});

test.each(long.slice(1))('an error about the name of a checkpoint is short for %s', async (_what, make) => {
  expect(await refusal(async () => withTurn((engine) => engine.checkpoint(make() as never)))).toBe(
    'invalid-options',
  );
});

test('an error about a fragment with a long name shows its beginning', () => {
  const message = `Fragment "${LONG.slice(0, 199)}…": data is of type bigint, which is no plain data`;
  expect(() => new XmlRenderer().render([{ name: LONG, data: 1n as never }])).toThrow(
    expect.objectContaining({ code: 'invalid-fragment', message }),
  );
});
