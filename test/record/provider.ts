import type { UIMessage } from 'ai';
import { createLocalTransport, type LocalTransportOptions } from '../../src/ai/local.ts';
import { createContextChats, type ContextChats } from '../../src/ai/contextChats.ts';
import type { RequestParts, ResolvedRequest } from '../../src/ai/contextChat.ts';
import { ContextEngine } from '../../src/engine/engine.ts';
import type { ContextRenderer } from '../../src/render/renderer.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import { openPlainly, type Page } from '../ai/story.ts';

type Model = Extract<LocalTransportOptions['model'], { specificationVersion: 'v4' }>;
type Part = Awaited<ReturnType<Model['doStream']>>['stream'] extends ReadableStream<infer P> ? P : never;

/** A provider that keeps what it has read, as real ones do: the longest beginning, in blocks of 128 tokens. */
export class Provider {
  readonly #read: string[] = [];
  /** Tokens of the last call that were served from the cache. */
  served = 0;
  /** Whether it forgets what it has read. */
  misses = false;
  /** Whether it tells what it served. */
  tells = true;
  /** What the next answers say; a call of a tool where one is named. */
  answers: string[] = [];

  model(modelId = 'gpt-4o'): Model {
    return {
      specificationVersion: 'v4',
      provider: 'openai.chat',
      modelId,
      supportedUrls: {},
      doGenerate: () => Promise.reject(new Error('not here')),
      doStream: async ({ prompt, tools }) => {
        // A turn at a time, as models see it: what a call says is the beginning of what the next one says.
        const text = `${modelId}${JSON.stringify(tools ?? [])}${JSON.stringify(prompt).slice(0, -1)}`;
        const shared = this.misses ? 0 : Math.max(0, ...this.#read.map((one) => alike(one, text)));
        this.#read.push(text);
        const total = Math.round(text.length / CHARACTERS);
        this.served = Math.floor(shared / CHARACTERS / 128) * 128;
        const cacheRead = this.tells ? this.served : undefined;
        const said = this.answers.shift() ?? `Answer ${this.#read.length}.`;
        return { stream: streamOf(partsOf(said, total, cacheRead)) };
      },
    };
  }
}

const CHARACTERS = 4;

function alike(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  return at;
}

function partsOf(said: string, total: number, cacheRead: number | undefined): Part[] {
  const [, toolName] = /^call (\w+)$/.exec(said) ?? [];
  const words: Part[] =
    toolName === undefined
      ? [
          { type: 'text-start', id: 't' },
          { type: 'text-delta', id: 't', delta: said },
          { type: 'text-end', id: 't' },
        ]
      : [{ type: 'tool-call', toolCallId: `call-${said}`, toolName, input: '{}' }];
  const unified = toolName === undefined ? 'stop' : 'tool-calls';
  return [
    { type: 'stream-start', warnings: [] },
    ...words,
    {
      type: 'finish',
      finishReason: { unified, raw: unified },
      usage: {
        inputTokens: { total, noCache: undefined, cacheRead, cacheWrite: undefined },
        outputTokens: { total: 4, text: 4, reasoning: 0 },
      },
    },
  ];
}

function streamOf(parts: readonly Part[]): ReadableStream<Part> {
  return new ReadableStream({
    start: (controller) => {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });
}

/** A page whose chat asks this provider in the browser, and records; the options are those of the next request. */
export async function recordedPage(provider: Provider, renderer?: ContextRenderer): Promise<Recorded> {
  const options = { model: provider.model() };
  let parts: (request: ResolvedRequest) => RequestParts = () => ({});
  const engine = new ContextEngine({
    store: new InMemoryContextStore(),
    chatId: 'c',
    userId: 'me',
    renderer,
  });
  const chats = createContextChats({
    engine,
    transport: {
      sendMessages: (sent) => createLocalTransport(options).sendMessages(sent),
      reconnectToStream: () => Promise.resolve(null),
    },
    request: (request) => parts(request),
  });
  await engine.ready();
  return {
    engine,
    chats,
    stop: engine.record(),
    use: (more) => void Object.assign(options, more),
    send: (how) => {
      parts = how;
    },
    say: async (text) => {
      await chats.active.sendMessage({ text });
      await chats.whenSettled();
    },
  };
}

export interface Recorded {
  readonly engine: ContextEngine;
  readonly chats: ContextChats;
  readonly stop: () => void;
  /** Other options of the transport from now on. */
  readonly use: (options: Partial<LocalTransportOptions>) => void;
  /** What the app makes of each request from now on. */
  readonly send: (how: (request: ResolvedRequest) => RequestParts) => void;
  /** A question and its answer. */
  readonly say: (text: string) => Promise<void>;
}

/** The words of a message. */
export function textOf(message: UIMessage | undefined): string {
  return message?.parts.map((part) => (part.type === 'text' ? part.text : '')).join('') ?? '';
}

/** A page over a transport of the test's own, which records. */
export async function recordingPage(options?: Parameters<typeof openPlainly>[1]): Promise<Page> {
  const page = await openPlainly(undefined, options);
  page.engine.record();
  return page;
}

/** A text of about 1,500 tokens, which no provider finds too short to keep. */
export const LONG: string = Array.from({ length: 300 }, (_, i) => `Rule ${i}: keep it short.`).join(' ');
