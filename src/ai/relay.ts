import type { UIMessage, UIMessageChunk } from 'ai';
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
): ReadableStream<UIMessageChunk> {
  const reader = source.getReader();
  const passage = new Passage(turn.options.id);

  const next = async (controller: ReadableStreamDefaultController<UIMessageChunk>): Promise<void> => {
    if (passage.isStep) void turn.savePoint();
    else turn.draft();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) {
        await turn.end(passage.status, passage.usage);
        controller.close();
        return;
      }
      const chunks = passage.pass(value);
      for (const chunk of chunks) {
        turn.options.take?.(chunk);
        controller.enqueue(chunk);
      }
      if (chunks.length > 0) return;
    }
  };

  return new ReadableStream<UIMessageChunk>(
    {
      pull: (controller) =>
        next(controller).catch(async (error: unknown) => {
          await turn.end('interrupted', passage.usage);
          controller.error(error);
        }),
      cancel: (reason) => {
        reader.cancel(reason).catch(() => {});
        return turn.end('interrupted', passage.usage);
      },
    },
    { highWaterMark: 0 },
  );
}

/** Reads the protocol as it passes: gives the answer its id, and finds out whether it came to its end. */
class Passage {
  readonly #id: string;
  /** The opening of the answer, held back until it says something: a bubble appears together with its first word. */
  #opening: UIMessageChunk[] | undefined = [];
  #hasSteps = false;
  #isFinished = false;
  #isBroken = false;
  /** Texts and thoughts that were begun and not closed. */
  readonly #open: Set<string> = new Set();
  /** Whether the last chunk closed a step. */
  isStep = false;
  /** The usage that the answer's metadata told last. */
  usage: Readonly<Record<string, unknown>> | undefined;

  constructor(id: string) {
    this.#id = id;
  }

  /**
   * How an answer whose stream has ended came to its end. One that uses steps, or has not closed its texts, was cut if
   * there was no finish; a transport made by hand may know neither.
   */
  get status(): 'complete' | 'interrupted' {
    const isWhole = this.#isFinished || (!this.#hasSteps && this.#open.size === 0);
    return isWhole && !this.#isBroken ? 'complete' : 'interrupted';
  }

  /** What to hand on for a chunk that came in. Words that stray in after the finish are dropped. */
  pass(chunk: UIMessageChunk): UIMessageChunk[] {
    const isStray = this.#note(chunk);
    if (chunk.type === 'error') return [chunk];
    const named = chunk.type === 'start' ? { ...chunk, messageId: this.#id } : chunk;
    if (!this.#opening) return isStray ? [] : [named];
    this.#opening.push(named);
    return isSilent(chunk) ? [] : this.#begin(this.#opening);
  }

  #begin(opening: UIMessageChunk[]): UIMessageChunk[] {
    this.#opening = undefined;
    const hasStart = opening.some(({ type }) => type === 'start');
    return hasStart ? opening : [{ type: 'start', messageId: this.#id }, ...opening];
  }

  /** Remembers what a chunk says of the answer. True for the words of a part that is not open, after the finish. */
  #note(chunk: UIMessageChunk): boolean {
    const { type } = chunk;
    this.isStep = type === 'finish-step';
    if ('messageMetadata' in chunk) this.usage = usageIn(chunk.messageMetadata) ?? this.usage;
    if (type === 'start-step') this.#hasSteps = true;
    if (type === 'error' || type === 'abort') this.#isBroken = true;
    if (type === 'finish') this.#finish(chunk.finishReason);
    const [kind, phase] = type.split('-');
    if ((kind !== 'text' && kind !== 'reasoning') || !('id' in chunk)) return false;
    const part = kind + chunk.id;
    if (phase === 'start') this.#open.add(part);
    const isOpen = this.#open.has(part);
    if (phase === 'end') this.#open.delete(part);
    return this.#isFinished && !isOpen;
  }

  /** A finish that knows no reason, in the middle of a text, is a model's connection that was cut. */
  #finish(reason: string | undefined): void {
    this.#isFinished = true;
    const isCut = (reason === 'other' || reason === 'unknown') && this.#open.size > 0;
    if (isCut || reason === 'error' || reason === 'interrupted') this.#isBroken = true;
  }
}

/** Whether a chunk opens an answer without showing anything. */
function isSilent(chunk: UIMessageChunk): boolean {
  if (chunk.type === 'start') return chunk.messageMetadata === undefined;
  return chunk.type === 'start-step' || chunk.type === 'text-start';
}

function usageIn(metadata: unknown): Readonly<Record<string, unknown>> | undefined {
  const usage = (metadata as { usage?: unknown } | null | undefined)?.usage;
  return typeof usage === 'object' && usage !== null ? (usage as Record<string, unknown>) : undefined;
}
