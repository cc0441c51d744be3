import type { ChatTransport, UIMessage, UIMessageChunk } from 'ai';

/**
 * A transport that says what a test tells it to, when it tells it to: no clock, no network, every chunk by hand.
 * It does what real ones do on an abort: the stream fails with an AbortError.
 */
export interface ScriptedTransport {
  readonly transport: ChatTransport<UIMessage>;
  /** Every request so far, oldest first. */
  readonly requests: readonly Exchange[];
  /** The next request, when it comes. */
  next(): Promise<Exchange>;
  /** The whole answer to the request that this makes, until it is over. */
  answer(asking: PromiseLike<unknown>, ...words: string[]): Promise<void>;
  /** What the next requests reject with, before a chunk; oldest first. */
  refuse(...errors: unknown[]): void;
  /** The stream that a reconnect finds: the next one that none has found yet. */
  offer(): Exchange;
}

type Sent = Parameters<ChatTransport<UIMessage>['sendMessages']>[0];

/** One request and its answer. Each method resolves when what it sent has been read. */
export interface Exchange {
  readonly sent: Sent;
  readonly stream: ReadableStream<UIMessageChunk>;
  /** Whether the reader let go, or the request was aborted; nobody reads it then. */
  readonly isStopped: boolean;
  /** Whether it was ended. */
  readonly isClosed: boolean;
  /** Whether nothing was sent. */
  readonly isSilent: boolean;
  /** Whether all that was sent has been read: who takes an answer up may need a moment before it looks. */
  readonly isRead: boolean;
  /** Whoever reads it is gone, and the server goes on. */
  leave(): void;
  /** All of it so far, and what comes, for whoever takes it up. */
  replay(signal?: AbortSignal): ReadableStream<UIMessageChunk>;
  /** Words, in a text part that is opened by the first of them. */
  say(...words: string[]): Promise<void>;
  /** Any chunks. */
  send(...chunks: UIMessageChunk[]): Promise<void>;
  /** Closes what is open, and the stream, with a finish. */
  finish(metadata?: object): Promise<void>;
  /** The text that a reader would have by now, of everything said so far. */
  answer(...words: string[]): Promise<void>;
  /** An error chunk, as a server sends it. */
  fail(errorText: string): Promise<void>;
  /** The connection fails. */
  break(error?: Error): Promise<void>;
  /** The connection is closed without a finish. */
  drop(): Promise<void>;
}

export function scriptedTransport(): ScriptedTransport {
  const requests: Exchange[] = [];
  const waiting: ((exchange: Exchange) => void)[] = [];
  const errors: unknown[] = [];
  let taken = 0;
  const offered: Exchange[] = [];

  const transport: ChatTransport<UIMessage> = {
    sendMessages: async (sent) => {
      const exchange = exchangeOf(sent, errors.length > 0);
      requests.push(exchange);
      const waiter = waiting.shift();
      if (waiter) {
        taken += 1;
        waiter(exchange);
      }
      if (errors.length > 0) throw errors.shift();
      return exchange.stream;
    },
    reconnectToStream: async () => offered.shift()?.stream ?? null,
  };

  const next = async (): Promise<Exchange> => {
    const known = requests[taken];
    if (!known) return new Promise((resolve) => waiting.push(resolve));
    taken += 1;
    return known;
  };
  return {
    transport,
    requests,
    next,
    answer: async (asking, ...words) => {
      await (await next()).answer(...words);
      await asking;
    },
    refuse: (...next) => {
      errors.push(...next);
    },
    offer: () => {
      const exchange = exchangeOf({} as Sent);
      offered.push(exchange);
      return exchange;
    },
  };
}

/** One reader of an answer. */
interface Pipe {
  readonly stream: ReadableStream<UIMessageChunk>;
  readonly controller: ReadableStreamDefaultController<UIMessageChunk>;
  isStopped: boolean;
}

function pipeOf(signal: AbortSignal | undefined): Pipe {
  let controller!: ReadableStreamDefaultController<UIMessageChunk>;
  const stream = new ReadableStream<UIMessageChunk>({
    start: (opened) => {
      controller = opened;
    },
    cancel: () => {
      pipe.isStopped = true;
    },
  });
  const pipe: Pipe = { stream, controller, isStopped: false };
  signal?.addEventListener('abort', () => {
    if (pipe.isStopped) return;
    pipe.isStopped = true;
    controller.error(new DOMException('This operation was aborted', 'AbortError'));
  });
  return pipe;
}

/** A refused one has ended before it began. */
function exchangeOf(sent: Sent, isRefused = false): Exchange {
  const first = pipeOf(sent.abortSignal);
  first.isStopped = isRefused;
  const pipes = [first];
  const told: UIMessageChunk[] = [];
  let hasText = false;
  const open = (): Pipe[] => pipes.filter(({ isStopped }) => !isStopped);

  const send = async (...chunks: UIMessageChunk[]): Promise<void> => {
    if (open().length > 0) told.push(...chunks);
    for (const { controller } of open()) for (const chunk of chunks) controller.enqueue(chunk);
    await settle();
  };
  const opening = (): UIMessageChunk[] => {
    if (hasText) return [];
    hasText = true;
    return [{ type: 'start' }, { type: 'start-step' }, { type: 'text-start', id: 't' }];
  };
  const say = (...words: string[]): Promise<void> =>
    send(...opening(), ...words.map((delta) => ({ type: 'text-delta', id: 't', delta }) as const));
  const finish = async (metadata?: object): Promise<void> => {
    const end: UIMessageChunk[] = hasText ? [{ type: 'text-end', id: 't' }, { type: 'finish-step' }] : [];
    await send(...end, { type: 'finish', ...(metadata ? { messageMetadata: metadata } : {}) });
    await close();
  };
  const close = async (): Promise<void> => {
    for (const { controller } of open()) controller.close();
    await settle();
  };

  return {
    sent,
    stream: first.stream,
    get isStopped() {
      return open().length === 0;
    },
    get isClosed() {
      return open().length > 0 && open().every(({ controller }) => controller.desiredSize === 0);
    },
    get isSilent() {
      return told.length === 0;
    },
    get isRead() {
      return open().every(({ controller }) => controller.desiredSize === 1);
    },
    leave: () => {
      for (const pipe of pipes) pipe.isStopped = true;
    },
    replay: (signal) => {
      const pipe = pipeOf(signal);
      for (const chunk of told) pipe.controller.enqueue(chunk);
      pipes.push(pipe);
      return pipe.stream;
    },
    send,
    say,
    finish,
    answer: async (...words) => {
      await say(...words);
      await finish();
    },
    fail: (errorText) => send({ type: 'error', errorText }),
    break: async (error = new TypeError('network error')) => {
      for (const { controller } of open()) controller.error(error);
      await settle();
    },
    drop: close,
  };
}

/** A task later: everything that was under way in microtasks is done. */
export async function settle(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 0));
}
