import type { ChatTransport, UIMessage, UIMessageChunk } from 'ai';
import type { RecordedRequest } from './record.ts';

// The records of `engine.record()`, and what explains them.
export type { CacheCause } from './change.ts';
export type { CacheVerdict } from './explainCache.ts';
export type { RecordedRequest, RecordOptions, TimedChunk, Told } from './record.ts';

/** The part of a recorded request that is replayed: `engine.requests()` returns such requests, and so does a fixture. */
export type Replayable = Pick<RecordedRequest, 'chunks'>;

/** How it is played. */
export interface ReplayOptions {
  /** `recorded`: each chunk after the time it took. `step`: with each call of `step()`. Default `instant`. */
  readonly pace?: 'instant' | 'recorded' | 'step' | undefined;
  /** The index, from 0, of the chunk at which the stream fails. */
  readonly failAt?: number | undefined;
}

/** A transport that repeats recorded answers: it calls no server and runs no tool. */
export interface ReplayTransport<M extends UIMessage = UIMessage> extends ChatTransport<M> {
  /** Lets the next chunk pass, with the pace `step`; a call before anybody reads is not lost. */
  step(): void;
}

/**
 * A transport that replays recorded requests: for tests, and to see an answer again as it came. The first request is answered
 * by the first record of a list, and so on; after the end by the last. An aborted stream fails with the reason.
 */
export function createReplayTransport<M extends UIMessage = UIMessage>(
  record: Replayable | readonly Replayable[],
  { pace = 'instant', failAt }: ReplayOptions = {},
): ReplayTransport<M> {
  const records = [record].flat();
  const gate = gateOf();
  let asked = 0;
  const wait = (before: number, ms: number, signal: AbortSignal | undefined) => {
    if (pace === 'recorded') return pause(ms - before, signal);
    return pace === 'step' ? gate.pass() : undefined;
  };
  return {
    sendMessages: async ({ abortSignal }) => {
      const chunks = records[Math.min(asked, records.length - 1)]?.chunks ?? [];
      asked += 1;
      let at = 0;
      return new ReadableStream<UIMessageChunk>(
        {
          pull: async (controller) => {
            const next = chunks[at];
            if (next) await wait(chunks[at - 1]?.ms ?? 0, next.ms, abortSignal);
            abortSignal?.throwIfAborted();
            if (at === failAt) throw new Error(`The replay fails at part ${at}, as it was asked to.`);
            at += 1;
            if (next) controller.enqueue(next.chunk);
            else controller.close();
          },
        },
        { highWaterMark: 0 },
      );
    },
    reconnectToStream: () => Promise.resolve(null),
    step: gate.open,
  };
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, Math.max(0, ms));
    signal?.addEventListener('abort', () => resolve());
  });
}

/** A gate that lets one pass for each time that it is opened: a stream with a chunk for each time. */
function gateOf(): { readonly open: () => void; readonly pass: () => Promise<unknown> } {
  let open!: () => void;
  const reader = new ReadableStream<void>({
    start: (gate) => void (open = () => gate.enqueue()),
  }).getReader();
  return { open, pass: () => reader.read() };
}
