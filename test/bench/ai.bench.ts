import { useChat } from '@ai-sdk/react';
import type { ChatTransport, UIMessage, UIMessageChunk } from 'ai';
import { ContextEngine, ContextEngineProvider, IndexedDBContextStore } from 'contextree';
import { createContextChats, useContextChat } from 'contextree/ai';
import { createElement, useLayoutEffect, type FunctionComponent, type ReactNode } from 'react';
import { createRoot } from 'react-dom/client';
import { expect, test, vi } from 'vitest';
import { cdp } from 'vitest/browser';
import { writeLine } from './line.ts';
import { listOf, report } from './measure.ts';

/**
 * What a streamed answer costs, on a real IndexedDB, against the same stream in a plain useChat: in time, in renders, in bytes
 * and in memory. Figures are ratios within one run: both sides are measured in turns, so that a busy machine slows
 * both. `npm run bench` runs them; RESULTS.md keeps the last figures.
 */
const WORDS = 300;

/** A transport that says a word when it is told to. */
interface Speaker {
  readonly transport: ChatTransport<UIMessage>;
  /** Resolves when the next request has come. */
  asked(): Promise<void>;
  send(...chunks: UIMessageChunk[]): void;
  end(): void;
}

function speaker(): Speaker {
  let controller: ReadableStreamDefaultController<UIMessageChunk>;
  let came = Promise.withResolvers<void>();
  return {
    transport: {
      sendMessages: async () => {
        const stream = new ReadableStream<UIMessageChunk>({ start: (opened) => void (controller = opened) });
        came.resolve();
        return stream;
      },
      reconnectToStream: async () => null,
    },
    asked: async () => {
      await came.promise;
      came = Promise.withResolvers<void>();
    },
    send: (...chunks) => chunks.forEach((chunk) => controller.enqueue(chunk)),
    end: () => controller.close(),
  };
}

interface Shown {
  messages: readonly UIMessage[];
  status: string;
  send: (text: string) => void;
}

/** A page with a chat on it, as far as a measurement needs it. */
interface App extends Shown {
  readonly speaker: Speaker;
  renders: number;
  rendered(): void;
  shown(now: Shown): void;
  /** Called after each commit. */
  committed: () => void;
}

const LAST = 20;

/** Shows the end of the conversation, and says when it has. */
function useShown(app: App, { messages, status, sendMessage }: ReturnType<typeof useChat>): ReactNode {
  app.rendered();
  useLayoutEffect(() => app.shown({ messages, status, send: (text) => void sendMessage({ text }) }));
  const text = (message: UIMessage): string =>
    message.parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  return createElement(
    'ol',
    null,
    messages.slice(-LAST).map((message) => createElement('li', { key: message.id }, text(message))),
  );
}

function newApp(): App {
  return {
    speaker: speaker(),
    renders: 0,
    messages: [],
    status: '',
    send: () => {},
    committed: () => {},
    rendered() {
      this.renders += 1;
    },
    shown(now) {
      Object.assign(this, now);
      this.committed();
    },
  };
}

function plainApp(messages: UIMessage[]): App {
  const app = newApp();
  const Chat = (): ReactNode => useShown(app, useChat({ transport: app.speaker.transport, messages }));
  mount(createElement(Chat));
  return app;
}

async function contextApp(engine: ContextEngine, loaded: number): Promise<App> {
  const app = newApp();
  if (loaded > 0) await engine.loadMore(loaded);
  const Chat = (): ReactNode => useShown(app, useChat(useContextChat({ transport: app.speaker.transport })));
  mount(createElement(Provider, { engine }, createElement(Chat)));
  await engine.ready();
  return app;
}

/** Children are given behind the props. */
const Provider: FunctionComponent<{ readonly engine: ContextEngine; readonly children?: ReactNode }> =
  ContextEngineProvider;

function mount(node: ReactNode): void {
  const container = document.body.appendChild(document.createElement('div'));
  createRoot(container).render(node);
}

/** Resolves with the commit after which a condition holds. */
async function until(app: App, holds: () => boolean): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  app.committed = () => holds() && resolve();
  app.committed();
  await promise;
}

/** Per word. */
interface Streamed {
  /** ms */
  readonly time: number;
  readonly renders: number;
}

/** Asks, and streams an answer word by word, each when the one before it is on the page. */
async function streamed(app: App, words: number): Promise<Streamed> {
  await until(app, () => app.status === 'ready');
  app.send('And then?');
  await app.speaker.asked();
  app.speaker.send({ type: 'start' }, { type: 'start-step' }, { type: 'text-start', id: 't' });
  const before = app.renders;
  const start = performance.now();
  for (let word = 0; word < words; word += 1) {
    const delta = `word-${word} `;
    app.speaker.send({ type: 'text-delta', id: 't', delta });
    await until(app, () => endOf(app.messages.at(-1)).endsWith(delta));
  }
  const [time, renders] = [performance.now() - start, app.renders - before];
  app.speaker.send({ type: 'text-end', id: 't' }, { type: 'finish-step' }, { type: 'finish' });
  app.speaker.end();
  await until(app, () => app.status === 'ready');
  return { time: time / words, renders: renders / words };
}

function endOf(message: UIMessage | undefined): string {
  const part = message?.parts.at(-1);
  return part?.type === 'text' ? part.text : '';
}

/** A chat of `length` messages of about 1 kB in a row. */
async function engineWith(length: number): Promise<ContextEngine> {
  const store = new IndexedDBContextStore(`bench-${crypto.randomUUID()}`);
  await writeLine(store, listOf(length));
  return new ContextEngine({ store, chatId: 'c', userId: 'u' });
}

/** The quickest quarter ends here: what others do on the machine only ever makes a figure worse. */
const quartile = (times: readonly number[]): number =>
  times.toSorted((a, b) => a - b)[times.length >> 2] as number;

interface Compared {
  /** ms per word. */
  readonly times: readonly [number, number];
  /** Renders per word, of all rounds. */
  readonly renders: readonly [number, number];
}

/** Streams answers into two apps in turns. */
async function compared(a: App, b: App, rounds: number): Promise<Compared> {
  const runs: (readonly [Streamed, Streamed])[] = [];
  for (let round = 0; round <= rounds; round += 1)
    runs.push([await streamed(a, WORDS), await streamed(b, WORDS)]);
  const warm = runs.slice(1);
  const side = (i: 0 | 1): readonly Streamed[] => warm.map((run) => run[i]);
  const time = (i: 0 | 1): number => quartile(side(i).map((run) => run.time));
  const renders = (i: 0 | 1): number => side(i).reduce((sum, run) => sum + run.renders, 0) / rounds;
  return { times: [time(0), time(1)], renders: [renders(0), renders(1)] };
}

test(
  'a streamed word costs at most 1.15 times a word in a plain useChat, and no render more',
  { timeout: 300_000 },
  async () => {
    const plain = plainApp(listOf(100));
    const ours = await contextApp(await engineWith(100), 0);
    await until(ours, () => ours.messages.length === 100);
    const { times, renders } = await compared(plain, ours, 48);
    const ratio = times[1] / times[0];
    report('a streamed word against plain `useChat`', ratio, figures(times));
    report(
      'renders of a word against plain `useChat`',
      renders[1] / renders[0],
      `${renders[1]} / ${renders[0]}`,
    );
    expect(ratio).toBeLessThanOrEqual(1.15);
    expect(renders[1]).toBeLessThanOrEqual(renders[0]);
  },
);

test(
  'a streamed word at 10,000 messages costs at most 1.2 times one at 100',
  { timeout: 300_000 },
  async () => {
    const short = await contextApp(await engineWith(100), 0);
    const long = await contextApp(await engineWith(10_000), 0);
    await until(long, () => long.messages.length >= 200);
    const atBoth = (await compared(short, long, 8)).times;
    report('a streamed word at 10,000 messages against at 100', atBoth[1] / atBoth[0], figures(atBoth));
    const whole = await contextApp(await engineWith(10_000), 10_000);
    await until(whole, () => whole.messages.length === 10_000);
    const plain = plainApp(listOf(10_000));
    await until(plain, () => plain.messages.length === 10_000);
    const listed = (await compared(plain, whole, 8)).times;
    report(
      'a streamed word with 10,000 in the list against plain `useChat`',
      listed[1] / listed[0],
      figures(listed),
    );
    expect(atBoth[1] / atBoth[0]).toBeLessThanOrEqual(1.2);
  },
);

test.each([
  ['as fast as the page goes', 0],
  ['5 ms between words', 5],
  ['20 ms between words', 20],
  ['100 ms between words', 100],
  ['20 ms between words of four letters', 20, 'word'],
  ['20 ms between words, and a tool called after each hundred', 20, 'steps'],
  ['20 ms between pieces of what a tool is asked', 20, 'input'],
] as const)(
  'an answer of 1,000 words, %s, writes at most 5 times its bytes',
  { timeout: 300_000 },
  async (pace, pause, kind?: Kind) => {
    const app = await contextApp(await engineWith(100), 0);
    await until(app, () => app.messages.length === 100);
    const written = await bytesOf(() => spoken(app, 1000, pause, kind));
    const own = bytes(app.messages.at(-1));
    report(`bytes written for an answer of 1,000 words, ${pace}`, written / own, `${written} / ${own} bytes`);
    expect(written / own).toBeLessThanOrEqual(5);
  },
);

/** What an answer is made of: words with their number, if not told. */
type Kind = 'word' | 'steps' | 'input';

/** Streams an answer at a pace, in ms between words. */
async function spoken(app: App, words: number, pause: number, kind?: Kind): Promise<void> {
  await until(app, () => app.status === 'ready');
  app.send('And then?');
  await app.speaker.asked();
  app.speaker.send({ type: 'start' }, { type: 'start-step' }, ...opening(kind));
  for (let word = 0; word < words; word += 1) {
    if (kind === 'steps' && word % 100 === 99) app.speaker.send(...callOf(word));
    const delta = kind === 'word' ? 'word' : `word-${word} `;
    app.speaker.send(
      kind === 'input'
        ? { type: 'tool-input-delta', toolCallId: 't', inputTextDelta: delta }
        : { type: 'text-delta', id: 't', delta },
    );
    if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause));
    else await until(app, () => endOf(app.messages.at(-1)).endsWith(delta));
  }
  app.speaker.send(...closing(kind), { type: 'finish-step' }, { type: 'finish' });
  app.speaker.end();
  await until(app, () => app.status === 'ready');
}

function opening(kind: Kind | undefined): UIMessageChunk[] {
  if (kind !== 'input') return [{ type: 'text-start', id: 't' }];
  return [
    { type: 'tool-input-start', toolCallId: 't', toolName: 'write' },
    { type: 'tool-input-delta', toolCallId: 't', inputTextDelta: '{"text":"' },
  ];
}

function closing(kind: Kind | undefined): UIMessageChunk[] {
  if (kind !== 'input') return [{ type: 'text-end', id: 't' }];
  const input = { text: Array.from({ length: 1000 }, (_, word) => `word-${word} `).join('') };
  return [{ type: 'tool-input-available', toolCallId: 't', toolName: 'write', input }];
}

/** A tool that is called and answers, between two steps. */
function callOf(word: number): UIMessageChunk[] {
  const [toolCallId, toolName] = [`call-${word}`, 'look'];
  return [
    { type: 'text-end', id: 't' },
    { type: 'tool-input-available', toolCallId, toolName, input: { at: word } },
    { type: 'tool-output-available', toolCallId, output: { found: word } },
    { type: 'finish-step' },
    { type: 'start-step' },
    { type: 'text-start', id: 't' },
  ];
}

/** The bytes that are put into IndexedDB meanwhile, as JSON. */
async function bytesOf(run: () => Promise<void>): Promise<number> {
  let written = 0;
  const spies = (['put', 'add'] as const).map((name) => {
    const original = IDBObjectStore.prototype[name];
    return vi.spyOn(IDBObjectStore.prototype, name).mockImplementation(function (
      this: IDBObjectStore,
      ...args
    ) {
      written += bytes(args[0]);
      return original.apply(this, args);
    });
  });
  await run();
  for (const spy of spies) spy.mockRestore();
  return written;
}

function bytes(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value)).length;
}

test('200 switches leave the heap within 10 % of 20', { timeout: 300_000 }, async () => {
  const engine = await engineWith(100);
  const app = await contextApp(engine, 0);
  await until(app, () => app.messages.length === 100);
  const chats = createContextChats({ engine, transport: app.speaker.transport });
  for (let branch = 0; branch < 200; branch += 1) await engine.rewind(`m${99 - (branch % 50)}`);
  const names = engine.state.getState().branches.map(({ name }) => name);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const switched = async (times: number): Promise<number> => {
    for (let i = 0; i < times; i += 1) {
      await engine.switchBranch(names[i % names.length] as string);
      await until(app, () => app.messages === chats.active.messages);
    }
    await vi.advanceTimersByTimeAsync(61_000);
    return heap();
  };
  const after20 = await switched(20);
  const after200 = await switched(180);
  vi.useRealTimers();
  report(
    'heap after 200 switches against after 20',
    after200 / after20,
    `${megabytes(after200)} / ${megabytes(after20)}`,
  );
  expect(after200 / after20).toBeLessThanOrEqual(1.1);
});

async function heap(): Promise<number> {
  const session = cdp() as unknown as { send(method: string): Promise<{ usedSize: number }> };
  await session.send('HeapProfiler.collectGarbage');
  await session.send('HeapProfiler.collectGarbage');
  return (await session.send('Runtime.getHeapUsage')).usedSize;
}

const megabytes = (size: number): string => `${(size / 1e6).toFixed(1)} MB`;
const figures = ([theirs, ours]: readonly [number, number]): string =>
  `${ours.toFixed(3)} ms / ${theirs.toFixed(3)} ms`;
