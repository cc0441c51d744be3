import type { UIMessageChunk } from 'ai';
import type { CallFacts } from '../engine/calls.ts';
import { saidOf } from './said.ts';
import type { Call, Turn } from './turn.ts';

/**
 * Passes an answer from a transport to a chat, and saves it on the way.
 *
 * A chunk is requested when the one before it is in the chat's list, so the turn saves what the person sees, and the stream
 * closes only after the answer is saved: a chat that says `ready` has nothing left to lose.
 *
 * A stream that closes without a word and without a finish has failed: the response was a login page, an error as JSON, or
 * empty. A server that repeats an answer (`isReplay`) may have nothing more to say.
 */
export function relay(
  source: ReadableStream<UIMessageChunk>,
  turn: Turn,
  isReplay: boolean,
): ReadableStream<UIMessageChunk> {
  const reader = source.getReader();
  const passage = new Passage(turn);
  const next = async (controller: ReadableStreamDefaultController<UIMessageChunk>): Promise<void> => {
    if (passage.isSavePoint) void turn.savePoint();
    else turn.draft();
    for (let chunks: readonly UIMessageChunk[] = []; chunks.length === 0;) {
      const { done, value } = await reader.read();
      if (done) {
        await turn.end(passage.status, passage.usage);
        if (!isReplay && passage.isSilence) throw new Error(NO_ANSWER);
        return controller.close();
      }
      chunks = passage.isDelta(value) ? [value] : passage.pass(value);
      for (const chunk of chunks) controller.enqueue(chunk);
    }
  };

  const end = (how: 'stopped' | 'failed', reason: unknown): Promise<void> => {
    // The reader may have failed, and not the source.
    reader.cancel(reason).catch(() => {});
    return turn.end(how, passage.usage);
  };

  const pull = (controller: ReadableStreamDefaultController<UIMessageChunk>): Promise<void> =>
    next(controller).catch(async (error: unknown) => {
      await end('failed', error);
      controller.error(saidOf(error));
    });
  // The AI SDK cancels the stream after an error chunk.
  const cancel = (reason: unknown): Promise<void> => end(passage.isBroken ? 'failed' : 'stopped', reason);
  return new ReadableStream<UIMessageChunk>({ pull, cancel }, { highWaterMark: 0 });
}

const NO_ANSWER =
  'There was no answer: the endpoint sent nothing that can be read as one. Try again, or check its address.';

/** What the relay learns of an answer while it passes. */
class Passage {
  /** The last usage that the answer's metadata reported. */
  usage: Readonly<Record<string, unknown>> | undefined;
  readonly #turn: Turn;
  /** The first chunks of the answer, held back until one has content: the bubble appears together with its first word. */
  #opening: UIMessageChunk[] | undefined = [];
  #last: string | undefined;
  readonly #call: Call;
  readonly #tools: Map<string, { readonly at: number; readonly index: number }> = new Map();
  /** How the answer says that it ended: with its finish, an abort or an error. */
  #end: CallFacts['status'] | undefined;
  #isEmpty = true;
  /** The ids of open texts and reasoning parts. */
  readonly #open: Set<string> = new Set();

  constructor(turn: Turn) {
    this.#turn = turn;
    this.#call = turn.call ?? { startedAt: Date.now(), steps: 0 };
  }

  /** Whether the last chunk closed a step or asks for something. */
  get isSavePoint(): boolean {
    return SAVE_POINTS.test(this.#last ?? '');
  }

  /** Whether nothing came at all, not even a finish. */
  get isSilence(): boolean {
    return this.#isEmpty && !this.#end;
  }

  get isBroken(): boolean {
    return this.#end === 'failed';
  }

  /** How a closed stream ended. Without a finish, an answer with steps, open texts or no word was cut off. */
  get status(): CallFacts['status'] {
    const isWhole = !this.#isEmpty && this.#call.steps === 0 && this.#open.size === 0;
    return this.#end ?? (isWhole ? 'complete' : 'failed');
  }

  /** Whether a chunk only extends an open part. Most chunks do, and need no other work. */
  isDelta({ type }: UIMessageChunk): boolean {
    if (this.#opening || this.#end || !DELTAS.test(type)) return false;
    this.#last = type;
    return true;
  }

  /** The chunks to pass on for one that came in. */
  pass(chunk: UIMessageChunk): UIMessageChunk[] {
    const { type } = chunk;
    this.#learn(chunk);
    if (type === 'error') return [chunk];
    const named = type === 'start' ? { ...chunk, messageId: this.#turn.name(chunk.messageId) } : chunk;
    if (!this.#opening) return [named];
    this.#opening.push(named);
    return isSilent(chunk) ? [] : this.#begin(this.#opening);
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
    this.#notePart(chunk);
    if ('messageMetadata' in chunk) this.usage = usageIn(chunk.messageMetadata) ?? this.usage;
    if (type === 'start-step') this.#call.steps += 1;
    if ('toolCallId' in chunk) this.#timeTool(chunk);
    if (!isSilent(chunk)) this.#isEmpty = false;
    if (type === 'error') this.#end = 'failed';
    if (type === 'abort') this.#end = 'stopped';
    if (type !== 'finish') return;
    const reason: string | undefined = chunk.finishReason;
    if (reason !== undefined) this.#call.finishReason = reason;
    // A finish without a known reason in the middle of a text is a lost connection to the model.
    const isCut = (reason === 'other' || reason === 'unknown') && this.#open.size > 0;
    this.#end ??= isCut || reason === 'error' || reason === 'interrupted' ? 'failed' : 'complete';
  }

  /** Measures a tool from its input to its output; a later output replaces a preliminary one. */
  #timeTool({ type, toolCallId }: { readonly type: string; readonly toolCallId: string }): void {
    const [call, tools] = [this.#call, this.#tools];
    if (/^tool-input-(available|error)$/.test(type) && !tools.has(toolCallId)) {
      tools.set(toolCallId, { at: Date.now(), index: tools.size });
      (call.toolMs ??= []).push(null);
    }
    const tool = type.startsWith('tool-output-') ? tools.get(toolCallId) : undefined;
    if (tool && call.toolMs) call.toolMs[tool.index] = Date.now() - tool.at;
  }

  /** Notes which texts and thoughts are open. */
  #notePart(chunk: UIMessageChunk): void {
    const [kind, phase] = chunk.type.split('-');
    if ((kind !== 'text' && kind !== 'reasoning') || !('id' in chunk)) return;
    if (phase === 'start') this.#open.add(kind + chunk.id);
    if (phase === 'end') this.#open.delete(kind + chunk.id);
  }
}

const SAVE_POINTS = /^(finish-step|tool-input-available|tool-approval-request)$/;
const DELTAS = /^(text|reasoning|tool-input)-delta$/;

/** Whether a chunk opens an answer without showing anything. */
function isSilent(chunk: UIMessageChunk): boolean {
  if (chunk.type === 'start') return chunk.messageMetadata === undefined;
  return chunk.type === 'start-step' || chunk.type === 'text-start';
}

function usageIn(metadata: unknown): Readonly<Record<string, unknown>> | undefined {
  const usage = (metadata as { usage?: unknown } | null | undefined)?.usage;
  return typeof usage === 'object' && usage !== null ? (usage as Record<string, unknown>) : undefined;
}
