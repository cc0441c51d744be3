import type { UIMessage, UIMessageChunk } from 'ai';
import type { CallFacts } from '../engine/calls.ts';
import { lazily } from './lazy.ts';
import { saidOf } from './said.ts';
import type { Call, Turn } from './turn.ts';

/** How an answer passes. */
export interface Passing {
  /**
   * Whether a stream that closes without a word and without a finish has failed, and says so: what came was no answer,
   * but the page of a login, an error as JSON, or nothing. Default false.
   */
  readonly mustSpeak?: boolean;
  /** Told when the node of a version is made, with its first word. */
  readonly begun?: (() => Promise<void>) | undefined;
  /** What is made of each chunk before it passes. Default: it passes as it is. */
  readonly hear?: ((chunk: UIMessageChunk) => readonly UIMessageChunk[]) | undefined;
}

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
  { mustSpeak = false, hear, begun }: Passing = {},
): ReadableStream<UIMessageChunk> {
  const reader = source.getReader();
  const passage = new Passage(turn);
  /** Whether what was passed on last is saved. */
  let isKept = false;

  const passed = async (value: UIMessageChunk): Promise<readonly UIMessageChunk[]> => {
    if (!hear && passage.isDelta(value)) return [value];
    const chunks = (hear?.(value) ?? [value]).flatMap((heard) => passage.pass(heard));
    const making = passage.hasBegun ? turn.begin() : undefined;
    if (making) await making.then(begun);
    // What is said again is not known to be new: it is kept when it has been compared.
    isKept = !hear && chunks.some(asks) && (await keeps(turn, chunks));
    return chunks;
  };

  const next = async (controller: ReadableStreamDefaultController<UIMessageChunk>): Promise<void> => {
    if (!passage.isSavePoint) turn.draft();
    else if (!isKept) void turn.savePoint();
    for (let chunks: readonly UIMessageChunk[] = []; chunks.length === 0;) {
      const { done, value } = await reader.read();
      if (done) {
        await turn.end(passage.status, passage.usage);
        if (mustSpeak && passage.isSilence) throw new Error(NO_ANSWER);
        return controller.close();
      }
      chunks = await passed(value);
      for (const chunk of chunks) controller.enqueue(chunk);
    }
  };

  const end = (how: 'stopped' | 'failed', reason: unknown): Promise<void> => {
    // It may not be the source that failed: nobody reads on.
    reader.cancel(reason).catch(() => {});
    return turn.end(how, passage.usage);
  };

  const pull = (controller: ReadableStreamDefaultController<UIMessageChunk>): Promise<void> =>
    next(controller).catch(async (error: unknown) => {
      await end('failed', error);
      controller.error(saidOf(error));
    });
  // The AI SDK reads no further than an error.
  const cancel = (reason: unknown): Promise<void> => end(passage.isBroken ? 'failed' : 'stopped', reason);
  return new ReadableStream<UIMessageChunk>({ pull, cancel }, { highWaterMark: 0 });
}

/** Whether a chunk asks something of the person or the page, who may answer at once. */
function asks(chunk: UIMessageChunk): boolean {
  if (chunk.type === 'tool-input-available') return !chunk.providerExecuted;
  return chunk.type === 'tool-approval-request';
}

/** Without this code, no question is kept back. */
async function keeps<M extends UIMessage>(
  turn: Turn<M>,
  chunks: readonly UIMessageChunk[],
): Promise<boolean> {
  const code = await loadKeeper().catch(() => undefined);
  return code ? code.keepAhead(turn, chunks) : false;
}

const loadKeeper = lazily(() => import('./keepAhead.ts'));

const NO_ANSWER =
  'There was no answer: the endpoint sent nothing that can be read as one. Try again, or check its address.';

/**
 * What is learned of an answer as it passes. A version begins with a word that is new, and with nothing else: a finish alone
 * does not tell whose it is.
 */
class Passage<M extends UIMessage> {
  /** The usage that the answer's metadata told last. */
  usage: Readonly<Record<string, unknown>> | undefined;
  readonly #turn: Turn<M>;
  readonly #isVersion: boolean;
  /** The opening of the answer, held back until it says something: a bubble appears together with its first word. */
  #opening: UIMessageChunk[] | undefined = [];
  #last: string | undefined;
  readonly #call: Call;
  readonly #tools: Map<string, { readonly at: number; readonly index: number }> = new Map();
  #isFinished = false;
  #isStopped = false;
  /** Whether an error was passed on. */
  isBroken = false;
  #isEmpty = true;
  /** Texts and thoughts that were begun and not closed. */
  readonly #open: Set<string> = new Set();

  constructor(turn: Turn<M>) {
    this.#turn = turn;
    this.#isVersion = turn.versionOf !== undefined;
    this.#call = turn.call ?? { startedAt: Date.now(), steps: 0 };
  }

  /** Whether the answer was handed on as far as its first word. */
  get hasBegun(): boolean {
    return this.#opening === undefined;
  }

  /** Whether the last chunk closed a step, or asks something. */
  get isSavePoint(): boolean {
    return SAVE_POINTS.test(this.#last ?? '');
  }

  /** Whether nothing was said, and not even that it is finished. */
  get isSilence(): boolean {
    return this.#isEmpty && !this.#isFinished;
  }

  /**
   * How an answer whose stream has ended came to its end. One that uses steps, has not closed its texts or said nothing
   * at all was cut if there was no finish; a transport made by hand may know neither.
   */
  get status(): CallFacts['status'] {
    if (this.#isStopped) return 'stopped';
    const isWhole = this.#isFinished || (!this.#isEmpty && this.#call.steps === 0 && this.#open.size === 0);
    return isWhole && !this.isBroken ? 'complete' : 'failed';
  }

  /** Whether a chunk only says more of what has begun. Most do, and nothing else is done for them. */
  isDelta({ type }: UIMessageChunk): boolean {
    if (this.#opening || this.#isFinished || !DELTAS.test(type)) return false;
    this.#last = type;
    return true;
  }

  /** What to hand on for a chunk that came in. Words that stray in after the finish are dropped. */
  pass(chunk: UIMessageChunk): UIMessageChunk[] {
    const { type } = chunk;
    this.#learn(chunk);
    if (type === 'error') return [chunk];
    if (this.#isStray(chunk) && this.#isFinished) return [];
    const named = type === 'start' ? { ...chunk, messageId: this.#turn.name(chunk.messageId) } : chunk;
    if (!this.#opening) return [named];
    if (this.#isVersion && LAST.test(type))
      return [{ ...chunk, messageMetadata: undefined } as UIMessageChunk];
    this.#opening.push(named);
    return isSilent(chunk) || (this.#isVersion && isWordless(chunk)) ? [] : this.#begin(this.#opening);
  }

  #begin(held: UIMessageChunk[]): UIMessageChunk[] {
    this.#opening = undefined;
    this.#call.firstMs = Date.now() - this.#call.startedAt;
    const messageId = this.#turn.name(undefined);
    return held.some(({ type }) => type === 'start') ? held : [{ type: 'start', messageId }, ...held];
  }

  #learn(chunk: UIMessageChunk): void {
    const { type } = chunk;
    this.#last = type;
    if ('messageMetadata' in chunk) this.usage = usageIn(chunk.messageMetadata) ?? this.usage;
    if (type === 'start-step') this.#call.steps += 1;
    if ('toolCallId' in chunk) this.#timeTool(chunk);
    if (!isSilent(chunk)) this.#isEmpty = false;
    if (type === 'error') this.isBroken = true;
    if (type === 'abort') this.#isStopped = true;
    if (type !== 'finish') return;
    this.#isFinished = true;
    const reason: string | undefined = chunk.finishReason;
    if (reason !== undefined) this.#call.finishReason = reason;
    // One that knows no reason, in the middle of a text, is a model's connection that was cut.
    const isCut = (reason === 'other' || reason === 'unknown') && this.#open.size > 0;
    if (isCut || reason === 'error' || reason === 'interrupted') this.isBroken = true;
  }

  /** A tool runs from its input to its output; a later output takes the place of a preliminary one. */
  #timeTool({ type, toolCallId }: { readonly type: string; readonly toolCallId: string }): void {
    const [call, tools] = [this.#call, this.#tools];
    if (/^tool-input-(available|error)$/.test(type) && !tools.has(toolCallId)) {
      tools.set(toolCallId, { at: Date.now(), index: tools.size });
      (call.toolMs ??= []).push(null);
    }
    const tool = type.startsWith('tool-output-') ? tools.get(toolCallId) : undefined;
    if (tool && call.toolMs) call.toolMs[tool.index] = Date.now() - tool.at;
  }

  /** True for the words of a part that is not open. */
  #isStray(chunk: UIMessageChunk): boolean {
    const [kind, phase] = chunk.type.split('-');
    if ((kind !== 'text' && kind !== 'reasoning') || !('id' in chunk)) return false;
    const part = kind + chunk.id;
    if (phase === 'start') this.#open.add(part);
    return !(phase === 'end' ? this.#open.delete(part) : this.#open.has(part));
  }
}

const SAVE_POINTS = /^(finish-step|tool-input-available|tool-approval-request)$/;
const DELTAS = /^(text|reasoning|tool-input)-delta$/;
const LAST = /^(finish|abort)$/;
const WORDLESS = /^(start|text-end|finish-step|message-metadata)$/;

/** Whether a chunk opens an answer without showing anything. */
function isSilent(chunk: UIMessageChunk): boolean {
  if (chunk.type === 'start') return chunk.messageMetadata === undefined;
  return chunk.type === 'start-step' || chunk.type === 'text-start';
}

/** Whether a chunk closes what said nothing, or tells of it only. */
function isWordless(chunk: UIMessageChunk): boolean {
  return WORDLESS.test(chunk.type) || ('delta' in chunk && chunk.delta === '');
}

function usageIn(metadata: unknown): Readonly<Record<string, unknown>> | undefined {
  const usage = (metadata as { usage?: unknown } | null | undefined)?.usage;
  return typeof usage === 'object' && usage !== null ? (usage as Record<string, unknown>) : undefined;
}
