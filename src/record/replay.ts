import type { ChatTransport, UIMessage, UIMessageChunk } from 'ai';
import type { RecordedRequest } from './record.ts';

// What `engine.record()` keeps, and what is said of it.
export type { CacheCause } from './change.ts';
export type { CacheVerdict } from './explainCache.ts';
export type { RecordedRequest, RecordOptions, TimedChunk, Told } from './record.ts';

/** What of a recorded request is played again: `engine.requests()` gives them, and so does a fixture. */
export type Replayable = Pick<RecordedRequest, 'chunks'>;

/** How it is played. */
export interface ReplayOptions {
  /** `recorded`: each part after the time it took. `step`: when `step()` says so. Default `instant`. */
  readonly pace?: 'instant' | 'recorded' | 'step' | undefined;
  /** The stream fails instead of giving this part, counted from 0. */
  readonly failAt?: number | undefined;
}

/** A transport that answers as one did before: no server is asked, and no tool is run by it. */
export interface ReplayTransport<M extends UIMessage = UIMessage> extends ChatTransport<M> {
  /** Lets the next part pass, where the pace is `step`; one that comes before anybody reads is not lost. */
  step(): void;
}

/**
 * A transport that plays recorded requests: for tests, and to look at an answer again as it came. Of a list the first
 * request is answered by the first, and after the last one the last. An aborted stream fails with the reason.
 */
export function createReplayTransport<M extends UIMessage = UIMessage>(
  record: Replayable | readonly Replayable[],
  { pace = 'instant', failAt }: ReplayOptions = {},
): ReplayTransport<M> {
  const records = [record].flat();
  const gate = gateOf();
  let asked = 0;
  const wait = (before: number, ms: number, signal: AbortSignal | undefined): Promise<void> | undefined => {
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
    const timer = setTimeout(resolve, Math.max(0, ms));
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** Lets one pass for each time that it is opened. */
function gateOf(): { readonly open: () => void; readonly pass: () => Promise<void> } {
  const waiting: (() => void)[] = [];
  let opened = 0;
  return {
    open: () => {
      const next = waiting.shift();
      if (next) next();
      else opened += 1;
    },
    pass: () =>
      new Promise((resolve) => {
        if (opened === 0) waiting.push(resolve);
        else resolve();
        opened = Math.max(0, opened - 1);
      }),
  };
}
