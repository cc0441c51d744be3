import type { UIMessage, UIMessageChunk } from 'ai';
import { ContextEngine, fragment, hint, InMemoryContextStore } from 'contextree/core';
import { createContextChats } from '../../src/ai/contextChats.ts';
import type { RecordedRequest } from '../../src/record/record.ts';
import { expect, test } from 'vitest';
import { writeLine } from './line.ts';
import { median, timed } from './measure.ts';

/**
 * What it takes to say why a cache broke, in a chat of 10,000 messages in which the first fragment changed: asked for the
 * first time, with messages that were never compared or counted, and again. `npm run bench` runs it.
 */
const LENGTH = 10_000;
const WORDS = 'The quick brown fox jumps over the lazy dog while the graph remembers every word it said.';

test('explainCache() takes at most 10 ms at 10,000 messages', { timeout: 300_000 }, async () => {
  const engine = await twoRequests();
  const [, last] = engine.requests();
  const ask = (): Promise<unknown> => engine.explainCache(last?.id ?? '');
  const again: number[] = [];
  const first: number[] = [];
  await ask();
  for (let round = 0; round < 9; round += 1) {
    again.push(await timed(ask));
    const fresh = withFresh(engine);
    first.push(await timed(() => fresh.explainCache(last?.id ?? '')));
  }
  console.log(
    `| explainCache() of 10,000 messages | ${median(first).toFixed(2)} ms first | ${median(again).toFixed(2)} ms again |`,
  );
  expect(median(first)).toBeLessThanOrEqual(10);
  expect(median(again)).toBeLessThanOrEqual(10);
});

async function twoRequests(): Promise<ContextEngine> {
  const store = new InMemoryContextStore();
  await writeLine(
    store,
    Array.from({ length: LENGTH }, (_, i) => message(i)),
  );
  const engine = new ContextEngine({ store, chatId: 'c', userId: 'u' });
  const transport = { sendMessages: async () => answer(), reconnectToStream: () => Promise.resolve(null) };
  const chats = createContextChats({ engine, transport });
  await engine.ready();
  engine.record();
  engine.set(fragment('rules', WORDS.repeat(20)));
  await chats.active.sendMessage({ text: 'One?' });
  engine.clear().set(hint('Now.'), fragment('rules', WORDS.repeat(20)));
  await chats.active.sendMessage({ text: 'Two?' });
  await chats.whenSettled();
  return engine;
}

/** The same engine; each message of its requests is an object that nobody has seen. */
function withFresh(engine: ContextEngine): ContextEngine {
  const copies = new Map<UIMessage, UIMessage>();
  const fresh = (message: UIMessage): UIMessage => {
    const copy = copies.get(message) ?? { ...message };
    copies.set(message, copy);
    return copy;
  };
  const requests = engine
    .requests()
    .map((one): RecordedRequest => ({ ...one, messages: one.messages.map(fresh) }));
  return new Proxy(engine, {
    get: (target, name) => {
      if (name === 'requests') return () => requests;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' && name !== 'explainCache' ? value.bind(target) : value;
    },
  });
}

function message(i: number): UIMessage {
  const parts: UIMessage['parts'] = [{ type: 'text', text: `${i} ${WORDS}` }];
  return { id: `m${i}`, role: i % 2 === 0 ? 'user' : 'assistant', parts };
}

function answer(): ReadableStream<UIMessageChunk> {
  const chunks: UIMessageChunk[] = [
    { type: 'start' },
    { type: 'text-start', id: 't' },
    { type: 'text-delta', id: 't', delta: 'Yes.' },
    { type: 'text-end', id: 't' },
    { type: 'finish' },
  ];
  return new ReadableStream({
    start: (controller) => {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
}
