import type { UIMessage, UIMessageChunk } from 'ai';
import { callsIn, isToolPart, longer, sizeOf, type Part, type ToolPart } from './message.ts';
import { endOf, type Place } from './place.ts';
import { joinAt, seamOf } from './seam.ts';

/**
 * What a server says again.
 *
 * A page that comes back asks for the answer that its server still streams, and hears it from a beginning on. Which?
 * Mostly that of the request: of an answer that was let go on, only what was said since. Some servers tell all of the
 * answer, some connections only what is new, and nothing in the protocol says who does what. So where an answer went on
 * is kept beside the chat, and what comes is compared with what is known: the first beginning behind which both say the
 * same is the one. Until that is clear, and until the replay says more, what is known stays on the screen.
 */

/** How an answer is read that is said again. */
export interface Replay<M extends UIMessage> {
  /** What is made of a message as it was read: never less than what was `shown` before. */
  readonly asShown: (message: M, shown: M | undefined) => M;
  /** What is made of a chunk before it is read. */
  readonly hear: (chunk: UIMessageChunk) => readonly UIMessageChunk[];
}

/**
 * Reads an answer that is said again: `kept` is what is known of it, `begun` where it went on last. Without `isReplay`
 * the AI SDK reads on, and it may also be said only from there on where it broke off.
 */
export function replaying<M extends UIMessage>(
  kept: M | undefined,
  begun: Place | undefined,
  isReplay: boolean,
): Replay<M> {
  if (!kept) return { asShown: (message) => message, hear: (chunk) => [chunk] };
  const goesOn = [...(begun ? [begun] : []), ...(isReplay ? [] : [endOf(kept)])];
  const calls = new Calls(kept);
  const places = comparing(kept, [START, ...goesOn]);
  return {
    hear: (chunk) => (isReplay ? calls.hear(chunk) : [chunk]),
    asShown: (message, listed) => {
      if (message.id !== kept.id) return message;
      const shown = listed?.id === kept.id ? listed : kept;
      const isListed = sizeOf(message) === sizeOf(shown) && wordsOf(message) === wordsOf(shown);
      if (isListed) return longer(shown, message);
      const fresh = calls.without(message);
      // A result without its call comes only from a server that goes on behind the call.
      const place = fresh === message ? places(message) : (goesOn[0] ?? endOf(kept));
      return longer(shown, calls.answered(behind(kept, place, fresh, begun), message));
    },
  };
}

/**
 * The calls that stand before what is said again. Their results may be in it: a server carries out what a person
 * allowed, and says so first of all. The AI SDK reads no result without its call, so the call is said before it, and
 * taken out again.
 */
class Calls {
  readonly #known: ReadonlyMap<string, ToolPart>;
  readonly #met: Set<string> = new Set();
  readonly #repeated: Set<string> = new Set();

  constructor(kept: UIMessage) {
    this.#known = callsById(kept);
  }

  hear(chunk: UIMessageChunk): readonly UIMessageChunk[] {
    if (!('toolCallId' in chunk) || this.#met.has(chunk.toolCallId)) return [chunk];
    this.#met.add(chunk.toolCallId);
    const call = this.#known.get(chunk.toolCallId);
    if (!call || chunk.type.startsWith('tool-input')) return [chunk];
    this.#repeated.add(chunk.toolCallId);
    return [asked(call), chunk];
  }

  /** A message as it was said, without the calls that were put before their results. */
  without<M extends UIMessage>(message: M): M {
    const parts = message.parts.filter((part) => !this.#isOwn(part));
    return parts.length === message.parts.length ? message : { ...message, parts };
  }

  /** A message in which those calls are what became of them in another one. */
  answered<M extends UIMessage>(message: M, said: UIMessage): M {
    if (this.#repeated.size === 0) return message;
    const results = callsById(said);
    const parts = message.parts.map((part) =>
      this.#isOwn(part) ? { ...part, ...resultOf(results.get(part.toolCallId)) } : part,
    );
    return { ...message, parts };
  }

  #isOwn(part: Part): part is Part & ToolPart {
    return isToolPart(part) && this.#repeated.has(part.toolCallId);
  }
}

function callsById(message: UIMessage): ReadonlyMap<string, ToolPart> {
  return new Map(callsIn(message).map((call) => [call.toolCallId, call]));
}

/** The chunk that says a call, and lets no page carry it out. */
function asked(call: ToolPart & { readonly toolName?: string; readonly input?: unknown }): UIMessageChunk {
  const { type, toolCallId, toolName = type.replace('tool-', ''), input } = call;
  const dynamic = type === 'dynamic-tool';
  return { type: 'tool-input-available', toolCallId, toolName, input, dynamic, providerExecuted: true };
}

/** What a call has beyond its being asked. */
function resultOf(call: ToolPart | undefined): object {
  const { providerExecuted: _ours, ...result } = call ?? ({} as ToolPart);
  return Object.fromEntries(Object.entries(result).filter(([, value]) => value !== undefined));
}

const START: Place = { parts: 0, text: 0 };

/** Which of these places a message goes on from, the first that fits; the last where none does. */
function comparing(kept: UIMessage, places: readonly Place[]): (message: UIMessage) => Place {
  const known = wordsOf(kept);
  let left = places.map((place) => ({ place, since: known.slice(wordsOf(before(kept, place)).length) }));
  return (message) => {
    if (left.length > 1) {
      const said = wordsOf(message);
      const fitting = left.filter(({ since }) => since.startsWith(said) || said.startsWith(since));
      left = fitting.length > 0 ? fitting : left.slice(-1);
      // All that was known has been said again: what follows is new, whatever it is like.
      if (said.length >= (left[0]?.since.length ?? 0)) left = left.slice(0, 1);
    }
    return left[0]?.place ?? START;
  };
}

/** What was said again, behind what stood before it. */
function behind<M extends UIMessage>(kept: M, place: Place, message: M, begun: Place | undefined): M {
  const seam = seamOf(before(kept, place === START ? (begun ?? START) : place));
  if (place === START) return joinAt(message, seam);
  const parts = [...before(kept, place).parts, ...message.parts];
  return joinAt({ ...message, metadata: merged(kept.metadata, message.metadata), parts }, seam);
}

function merged(known: unknown, said: unknown): unknown {
  const areRecords = [known, said].every((one) => typeof one === 'object' && one !== null);
  return areRecords ? { ...(known as object), ...(said as object) } : (said ?? known);
}

/** A message as far as a place in it. */
function before<M extends UIMessage>(message: M, { parts: count, text }: Place): M {
  const parts = message.parts.slice(0, count);
  const last = parts.at(-1);
  if (last?.type === 'text' && last.text.length > text)
    parts[count - 1] = { ...last, text: last.text.slice(0, text), state: 'streaming' };
  return { ...message, parts };
}

/** All that a message says, as one text: however its texts are parted, and whatever became of its calls. */
function wordsOf({ parts }: UIMessage): string {
  return parts
    .map((part) => {
      if (part.type === 'text') return part.text;
      if (part.type === 'step-start') return '';
      const id = 'toolCallId' in part ? part.toolCallId : '';
      return `\0${part.type}\0${id}\0${'text' in part ? part.text : ''}`;
    })
    .join('');
}
