import type { UIMessage } from 'ai';
import { describe, expect, it } from 'vitest';
import type { ContextEvent } from '../../src/engine/state.ts';
import { hint, role } from '../../src/fragment/builders.ts';
import { fragment } from '../../src/fragment/fragment.ts';
import { withContext } from '../../src/ai/withContext.ts';
import { ContextEngine } from '../../src/engine/engine.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import { noteOf, openPlainly, type Page } from '../ai/story.ts';
import { scriptedTransport } from '../support/transport.ts';
import { Provider, recordedPage, recordingPage, textOf } from './provider.ts';

/** What each recorded request asked. */
const asked = ({ engine }: Page): string[] =>
  engine.requests().map(({ messages }) => textOf(messages.at(-1)));

describe('a recorded request', () => {
  it('is what the transport got, and what came back, with its times', async () => {
    const page = await recordingPage({
      request: () => ({ headers: { authorization: 'Bearer secret' } }),
    });
    page.engine.set(role('A tutor.'), { ...hint('Be brief.'), id: 'brief' });
    await page.ask('One?', 'Yes.', ' Of course.');
    await page.chats.whenSettled();
    const [request] = page.engine.requests();
    const [question, answer] = page.engine.state.getState().messages;
    const { sent } = page.script.requests[0]!;
    expect(request).toMatchObject({
      answerId: answer!.id,
      parentKey: page.engine.node(question!.id)!.key,
      trigger: 'submit-message',
      attempt: 0,
      renderer: 'xml',
      status: 'done',
      headerNames: ['authorization'],
      system: (sent.body as { system: string }).system,
    });
    expect(request!.messages).toBe(sent.messages);
    expect(request!.chunks.map(({ chunk: { type } }) => type)).toContain('text-delta');
    expect(request!.chunks.every(({ ms }, i, all) => ms >= (all[i - 1]?.ms ?? 0))).toBe(true);
    expect(request!.firstMs).toBeLessThanOrEqual(request!.ms!);
    expect(JSON.stringify(request)).not.toContain('secret');
    const pieces = request!.spans.map(({ start, end }) => request!.system.slice(start, end));
    expect(request!.spans.map(({ fragment: { name } }) => name)).toEqual(['role', 'hint']);
    expect(pieces).toEqual(['<role>A tutor.</role>', '<hint>Be brief.</hint>']);
    expect(request!.sections.map(({ kind, id }) => `${kind} ${id}`)).toEqual([
      'fragment role',
      'fragment brief',
      `message ${question!.id}`,
    ]);
  });

  it('knows which fragment is where also when the app adds words, or a value is loaded', async () => {
    const page = await recordingPage({
      request: ({ systemPrompt }) => ({ body: { system: `Dear model,\n${systemPrompt}` } }),
    });
    page.engine.set(fragment('day', () => 'Monday'));
    await page.ask('One?', 'Yes.');
    const [{ system, spans, sections } = { system: '', spans: [], sections: [] }] = page.engine.requests();
    expect(spans.map(({ start, end }) => system.slice(start, end))).toEqual(['<day>Monday</day>']);
    expect(spans[0]!.fragment).toBe(page.engine.state.getState().fragments[0]);
    expect(sections.map(({ id, text }) => `${id}: ${text}`).slice(0, 2)).toEqual([
      'system: Dear model,\n',
      'day: <day>Monday</day>',
    ]);
  });

  it('is told of by events, with ids and never with content', async () => {
    const page = await openPlainly();
    const events: ContextEvent[] = [];
    page.engine.subscribe((event) => event.type === 'request' && events.push(event));
    page.engine.record();
    await page.ask('Secret?', 'Yes.');
    expect(events.map((event) => 'phase' in event && event.phase)).toEqual(['start', 'end']);
    expect(JSON.stringify(events)).not.toContain('Secret');
  });

  it('has the model, tools and usage that a transport in the browser tells', async () => {
    const { engine, say } = await recordedPage(new Provider());
    await say('One?');
    expect(engine.requests()[0]).toMatchObject({
      model: 'openai:gpt-4o',
      usage: { cacheRead: 0, output: 4 },
      steps: 1,
      told: { model: 'openai:gpt-4o', tools: {} },
    });
  });

  it('says how it failed, and that it was stopped', async () => {
    const page = await recordingPage({ onError: () => {} });
    page.script.refuse(new Error('401: no key'));
    await page.chats.active.sendMessage({ text: 'One?' });
    const sent = page.chats.active.sendMessage({ text: 'Two?' });
    await (await page.script.next()).say('Well');
    await page.chats.active.stop();
    await sent;
    expect(page.engine.requests().map(({ status, error }) => [status, error])).toEqual([
      ['failed', '401: no key'],
      ['stopped', undefined],
    ]);
  });
});

describe('a request of a chat that is not ours', () => {
  it('is recorded, too: it goes through the same transport', async () => {
    const engine = new ContextEngine({ store: new InMemoryContextStore(), chatId: 'c', userId: 'me' });
    const script = scriptedTransport();
    engine.record();
    const transport = withContext(script.transport, engine);
    const messages: UIMessage[] = [{ id: 'q1', role: 'user', parts: [{ type: 'text', text: 'One?' }] }];
    const sent = { chatId: 'c', messages, messageId: undefined, abortSignal: undefined };
    const answer = await transport.sendMessages({ ...sent, trigger: 'submit-message' });
    await script.answer(answer.pipeTo(new WritableStream()), 'Yes.');
    expect(engine.requests()).toMatchObject([{ status: 'done', messages: [{ id: 'q1' }] }]);
  });
});

describe('recording', () => {
  it('costs nothing and keeps nothing as long as nobody records', async () => {
    const page = await openPlainly();
    await page.ask('One?', 'Yes.');
    expect(page.engine.requests()).toEqual([]);
    expect(noteOf(page.script.requests[0]!)).not.toHaveProperty('tell');
  });

  it('ends with the last one who records, and keeps what there is', async () => {
    const page = await openPlainly();
    const [one, other] = [page.engine.record(), page.engine.record()];
    one();
    await page.ask('One?', 'Yes.');
    other();
    await page.ask('Two?', 'Yes.');
    expect(page.engine.requests()).toHaveLength(1);
    page.engine.record();
    await page.ask('Three?', 'Yes.');
    expect(page.engine.requests()).toHaveLength(2);
  });

  it('keeps the last requests, and the greatest number that somebody asked for', async () => {
    const page = await openPlainly();
    page.engine.record({ last: 2 });
    const stop = page.engine.record({ last: 3 });
    for (const text of ['1', '2', '3', '4']) await page.ask(text, 'Yes.');
    expect(asked(page)).toEqual(['2', '3', '4']);
    stop();
    await page.ask('5', 'Yes.');
    expect(asked(page)).toEqual(['4', '5']);
  });

  it('gives up old requests for new ones beyond its bytes, and cuts one that is too large alone', async () => {
    const page = await openPlainly();
    page.engine.record({ bytes: 3_000 });
    await page.ask('1', 'x'.repeat(1_500));
    await page.ask('2', 'y'.repeat(1_500));
    expect(asked(page)).toEqual(['2']);
    await page.ask('3', 'z'.repeat(2_000), 'z'.repeat(2_000));
    const [last] = page.engine.requests();
    expect(page.engine.requests()).toHaveLength(1);
    expect(last!.truncated).toBe(true);
    expect(textOf(page.engine.state.getState().messages.at(-1))).toHaveLength(4_000);
  });

  it('refuses nothing: a transport that gives no stream fails as before', async () => {
    const page = await recordingPage({
      transport: { sendMessages: async () => 'nothing' as never, reconnectToStream: async () => null },
      onError: () => {},
    });
    await page.chats.active.sendMessage({ text: 'One?' });
    expect(page.chats.active.error?.message).toContain('gave the string "nothing"');
  });
});
