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
  const passage = new Passage(turn.id);

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
        turn.take(chunk);
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
      cancel: async (reason) => {
        await Promise.all([turn.end('interrupted', passage.usage), reader.cancel(reason).catch(() => {})]);
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
  readonly #open: Set<string> = new Set();
  /** Whether the last chunk closed a step. */
  isStep = false;
  /** The usage that the answer's metadata told last. */
  usage: Readonly<Record<string, unknown>> | undefined;

  constructor(id: string) {
    this.#id = id;
  }

  /**
   * How an answer whose stream has ended came to its end. Without a finish chunk the connection was cut; but a
   * transport made by hand may know no steps and no finish, and then closed parts are a proper end.
   */
  get status(): 'complete' | 'interrupted' {
    if (this.#isBroken) return 'interrupted';
    const wasCut = this.#hasSteps || this.#open.size > 0;
    return this.#isFinished || !wasCut ? 'complete' : 'interrupted';
  }

  /** What to hand on for a chunk that came in. */
  pass(chunk: UIMessageChunk): UIMessageChunk[] {
    this.isStep = chunk.type === 'finish-step';
    this.#note(chunk);
    if (chunk.type === 'error') return [chunk];
    const named = chunk.type === 'start' ? { ...chunk, messageId: this.#id } : chunk;
    if (!this.#opening) return this.#follows(chunk) ? [named] : [];
    this.#opening.push(named);
    return isSilent(chunk) ? [] : this.#begin(this.#opening);
  }

  #begin(opening: UIMessageChunk[]): UIMessageChunk[] {
    this.#opening = undefined;
    for (const chunk of opening) this.#follows(chunk);
    const hasStart = opening.some(({ type }) => type === 'start');
    return hasStart ? opening : [{ type: 'start', messageId: this.#id }, ...opening];
  }

  #note(chunk: UIMessageChunk): void {
    if ('messageMetadata' in chunk) this.usage = usageIn(chunk.messageMetadata) ?? this.usage;
    if (chunk.type === 'start-step') this.#hasSteps = true;
    if (chunk.type === 'error' || chunk.type === 'abort') this.#isBroken = true;
    if (chunk.type !== 'finish') return;
    this.#isFinished = true;
    if (chunk.finishReason === 'error' || chunk.finishReason === 'interrupted') this.#isBroken = true;
  }

  /** Whether a chunk continues what was begun. After the finish, stray words of a part that is not open are dropped. */
  #follows(chunk: UIMessageChunk): boolean {
    const [kind, phase] = chunk.type.split('-');
    if ((kind !== 'text' && kind !== 'reasoning') || !('id' in chunk)) return true;
    const part = `${kind} ${chunk.id}`;
    const isOpen = this.#open.has(part);
    if (phase === 'start') this.#open.add(part);
    if (phase === 'end') this.#open.delete(part);
    return isOpen || phase === 'start' || !this.#isFinished;
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
