import { readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai';
import { sameJson } from '../engine/sameJson.ts';
import { saidOf } from './said.ts';
import type { Turn } from './turn.ts';

/**
 * Lets an answer pass from a transport to a chat, and keeps it on the way.
 *
 * The stream is pulled, one chunk at a time, and not split: a chunk is asked for when the one before it has been read
 * and taken into the chat's list, so what the turn keeps is what the person sees. It also means that the end can wait:
 * the stream closes only after the answer is saved, and a chat that says `ready` has nothing left to lose.
 */
export function relay<M extends UIMessage>(
  source: ReadableStream<UIMessageChunk>,
  turn: Turn<M>,
  { mustSpeak = false, hear = alone }: Passing = {},
): ReadableStream<UIMessageChunk> {
  const reader = source.getReader();
  /** Whether what was passed on last is saved. */
  let isKept = false;
  const passage = passageOf(turn.options.id, turn.options.version !== undefined);

  const next = async (controller: ReadableStreamDefaultController<UIMessageChunk>): Promise<void> => {
    if (passage.isSavePoint()) void (isKept || turn.savePoint());
    else turn.draft();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) {
        await turn.end(passage.status(), passage.usage());
        if (mustSpeak && passage.isSilence()) throw new Error(NO_ANSWER);
        controller.close();
        return;
      }
      if (hear === alone && passage.isDelta(value)) {
        turn.options.take?.(value);
        controller.enqueue(value);
        return;
      }
      const chunks = hear(value).flatMap((heard) => passage.pass(heard));
      const begun = passage.hasBegun() ? turn.begin() : undefined;
      if (begun) await begun;
      // What is said again is not known to be new: it is kept when it has been compared.
      isKept = hear === alone && chunks.some(asks) && (await keepAhead(turn, chunks));
      for (const chunk of chunks) {
        turn.options.take?.(chunk);
        controller.enqueue(chunk);
      }
      if (chunks.length > 0) return;
    }
  };

  return new ReadableStream<UIMessageChunk>(
    {
      pull: async (controller) => {
        try {
          await next(controller);
        } catch (error) {
          // It may not be the source that failed: nobody reads on.
          reader.cancel(error).catch(() => {});
          await turn.end('interrupted', passage.usage());
          controller.error(saidOf(error));
        }
      },
      cancel: (reason) => {
        reader.cancel(reason).catch(() => {});
        return turn.end('interrupted', passage.usage());
      },
    },
    { highWaterMark: 0 },
  );
}

/** How an answer passes. */
export interface Passing {
  /**
   * Whether a stream that closes without a word and without a finish has failed, and says so: what came was no answer,
   * but the page of a login, an error as JSON, or nothing. Default false.
   */
  readonly mustSpeak?: boolean;
  /** What is made of each chunk before it passes. Default: it passes as it is. */
  readonly hear?: (chunk: UIMessageChunk) => readonly UIMessageChunk[];
}

function alone(chunk: UIMessageChunk): readonly UIMessageChunk[] {
  return [chunk];
}

/** Whether a chunk asks something of the person or the page, who may answer at once. */
function asks(chunk: UIMessageChunk): boolean {
  if (chunk.type === 'tool-input-available') return !chunk.providerExecuted;
  return chunk.type === 'tool-approval-request';
}

/** How long a question waits for a disk, in ms. */
const LONGEST_WAIT = 1000;

/**
 * Saves what an answer is about to ask. Who sees a button may press it, or reload the page before it: so it is there
 * when it is on the disk, and after a reload again. A disk that refuses, or takes long, keeps no question back.
 */
async function keepAhead<M extends UIMessage>(
  turn: Turn<M>,
  chunks: readonly UIMessageChunk[],
): Promise<boolean> {
  const { id, read } = turn.options;
  const now = (): M => read() ?? ({ id, role: 'assistant', parts: [] } as UIMessage as M);
  const keep = async (): Promise<boolean> => {
    const before = now();
    const message = await readOn(before, chunks);
    // What is given to another call in this moment is saved by whoever takes it, and must not be written over.
    const isStill = (): boolean => sameJson(now(), before);
    return message !== undefined && isStill() && (await turn.savePoint(message)) && isStill();
  };
  let timer: ReturnType<typeof setTimeout> | undefined;
  const patience = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), LONGEST_WAIT);
  });
  return Promise.race([keep().catch(() => false), patience]).finally(() => clearTimeout(timer));
}

/** A message with some chunks read, by the AI SDK itself: nobody else knows what it makes of them. */
async function readOn<M extends UIMessage>(
  before: M,
  chunks: readonly UIMessageChunk[],
): Promise<M | undefined> {
  const stream = new ReadableStream<UIMessageChunk>({
    start: (controller) => {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  let message: M | undefined;
  for await (const next of readUIMessageStream<M>({ message: structuredClone(before), stream }))
    message = next;
  return message;
}

const SAVE_POINTS: ReadonlySet<string> = new Set([
  'finish-step',
  'tool-input-available',
  'tool-approval-request',
]);

const NO_ANSWER =
  'There was no answer: the endpoint sent nothing that can be read as one. Try again, or check its address.';

const DELTAS: ReadonlySet<string> = new Set(['text-delta', 'reasoning-delta', 'tool-input-delta']);

/** What was learned of an answer from the chunks that passed. */
interface Passage {
  /**
   * Whether a chunk only says more of what has begun: it passes as it is, and nothing is learned of it. Most chunks do, so
   * what else is done for one is paid for hundreds of times in an answer.
   */
  isDelta(chunk: UIMessageChunk): boolean;
  /** What to hand on for a chunk that came in. Words that stray in after the finish are dropped. */
  pass(chunk: UIMessageChunk): UIMessageChunk[];
  /** Whether the answer was handed on as far as its first word. */
  hasBegun(): boolean;
  /** Whether the last chunk closed a step, or asks something of the person or the page, who may answer at once. */
  isSavePoint(): boolean;
  /** Whether nothing was said, and not even that it is finished. */
  isSilence(): boolean;
  /** The usage that the answer's metadata told last. */
  usage(): Readonly<Record<string, unknown>> | undefined;
  /**
   * How an answer whose stream has ended came to its end. One that uses steps, has not closed its texts or said nothing
   * at all was cut if there was no finish; a transport made by hand may know neither.
   */
  status(): 'complete' | 'interrupted';
}

/**
 * Reads the protocol as it passes: gives the answer its id, and finds out whether it came to its end. With `isMore` it
 * begins with a word that is new, and with nothing else: a finish alone does not tell whose it is.
 */
function passageOf(messageId: string, isMore: boolean): Passage {
  /** The opening of the answer, held back until it says something: a bubble appears together with its first word. */
  let opening: UIMessageChunk[] | undefined = [];
  let last: UIMessageChunk['type'] | undefined;
  let usage: Readonly<Record<string, unknown>> | undefined;
  let hasSteps = false;
  let isFinished = false;
  let isBroken = false;
  let isEmpty = true;
  /** Texts and thoughts that were begun and not closed. */
  const open = new Set<string>();

  /** True for the words of a part that is not open. */
  const isStray = (chunk: UIMessageChunk): boolean => {
    const [kind, phase] = chunk.type.split('-');
    if ((kind !== 'text' && kind !== 'reasoning') || !('id' in chunk)) return false;
    const part = kind + chunk.id;
    if (phase === 'start') open.add(part);
    return !(phase === 'end' ? open.delete(part) : open.has(part));
  };

  /** A finish that knows no reason, in the middle of a text, is a model's connection that was cut. */
  const finish = (reason: string | undefined): void => {
    isFinished = true;
    const isCut = (reason === 'other' || reason === 'unknown') && open.size > 0;
    if (isCut || reason === 'error' || reason === 'interrupted') isBroken = true;
  };

  const begin = (held: UIMessageChunk[]): UIMessageChunk[] => {
    opening = undefined;
    return held.some(({ type }) => type === 'start') ? held : [{ type: 'start', messageId }, ...held];
  };

  return {
    isDelta: ({ type }) => {
      if (opening || isFinished || !DELTAS.has(type)) return false;
      last = type;
      return true;
    },
    pass: (chunk) => {
      const { type } = chunk;
      last = type;
      if ('messageMetadata' in chunk) usage = usageIn(chunk.messageMetadata) ?? usage;
      if (type === 'start-step') hasSteps = true;
      if (!isSilent(chunk)) isEmpty = false;
      if (type === 'error' || type === 'abort') isBroken = true;
      if (type === 'error') return [chunk];
      if (type === 'finish') finish(chunk.finishReason);
      if (isStray(chunk) && isFinished) return [];
      const named = type === 'start' ? { ...chunk, messageId } : chunk;
      if (!opening) return [named];
      if (isMore && isLast(chunk)) return [{ ...chunk, messageMetadata: undefined }];
      opening.push(named);
      return isSilent(chunk) || (isMore && isWordless(chunk)) ? [] : begin(opening);
    },
    hasBegun: () => opening === undefined,
    isSavePoint: () => last !== undefined && SAVE_POINTS.has(last),
    isSilence: () => isEmpty && !isFinished,
    usage: () => usage,
    status: () => {
      const isWhole = isFinished || (!isEmpty && !hasSteps && open.size === 0);
      return isWhole && !isBroken ? 'complete' : 'interrupted';
    },
  };
}

/** Whether a chunk opens an answer without showing anything. */
function isSilent(chunk: UIMessageChunk): boolean {
  if (chunk.type === 'start') return chunk.messageMetadata === undefined;
  return chunk.type === 'start-step' || chunk.type === 'text-start';
}

/** Whether a chunk closes what said nothing, or tells of it only. */
function isWordless(chunk: UIMessageChunk): boolean {
  return WORDLESS.has(chunk.type) || ('delta' in chunk && chunk.delta === '');
}

const WORDLESS: ReadonlySet<string> = new Set(['start', 'text-end', 'finish-step', 'message-metadata']);

function isLast({ type }: UIMessageChunk): boolean {
  return type === 'finish' || type === 'abort';
}

function usageIn(metadata: unknown): Readonly<Record<string, unknown>> | undefined {
  const usage = (metadata as { usage?: unknown } | null | undefined)?.usage;
  return typeof usage === 'object' && usage !== null ? (usage as Record<string, unknown>) : undefined;
}
