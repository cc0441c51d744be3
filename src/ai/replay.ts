import type { UIMessage, UIMessageChunk } from 'ai';
import { callsIn, isToolPart, longer, sizeOf, type Part, type ToolPart } from './message.ts';
import { endOf, joinAt, type Place } from './seam.ts';

/**
 * Reading an answer that a server repeats: from the beginning of the request, of the whole answer, or only what is new. The
 * protocol does not say which, so the chat keeps the points at which answers were continued, and compares: the first point
 * behind which both agree is the one. Until that is clear, and until the replay says more, the screen shows what is known.
 */
export interface Replay {
  /** The message to show after reading `message`: never shorter than `shown`. */
  readonly asShown: (message: UIMessage, shown: UIMessage | undefined) => UIMessage;
  /** The chunks to read for one that came in. */
  readonly hear: (chunk: UIMessageChunk) => readonly UIMessageChunk[];
}

/**
 * Reads a repeated answer. `kept` is the answer as it is known, `begun` the point at which it was last continued. Without
 * `isReplay` the AI SDK appends to the answer, so the stream may also begin where it broke off.
 */
export function replaying(kept: UIMessage | undefined, begun: Place | undefined, isReplay: boolean): Replay {
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
      // Only a server that goes on behind a tool call sends a result without its call.
      const place = fresh === message ? places(message) : (goesOn[0] ?? endOf(kept));
      return longer(shown, calls.answered(behind(kept, place, fresh, begun), message));
    },
  };
}

/**
 * The tool calls before the beginning of the replay. A server may send their results first of all, which the AI SDK does not
 * read without the call: so the call is inserted before the result, and removed again.
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

  /** A message without the calls that were inserted before their results. */
  without(message: UIMessage): UIMessage {
    const parts = message.parts.filter((part) => !this.#isOwn(part));
    return parts.length === message.parts.length ? message : { ...message, parts };
  }

  /** A message in which those calls have the results that another message has for them. */
  answered(message: UIMessage, said: UIMessage): UIMessage {
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

/** The chunk for a tool call that keeps the page from running the tool. */
function asked(call: ToolPart & { readonly toolName?: string; readonly input?: unknown }): UIMessageChunk {
  const { type, toolCallId, toolName = type.replace('tool-', ''), input } = call;
  const dynamic = type === 'dynamic-tool';
  return { type: 'tool-input-available', toolCallId, toolName, input, dynamic, providerExecuted: true };
}

/** The fields of a tool call beyond its input. */
function resultOf(call: ToolPart | undefined): object {
  const { providerExecuted: _ours, ...result } = call ?? ({} as ToolPart);
  return Object.fromEntries(Object.entries(result).filter(([, value]) => value !== undefined));
}

const START: Place = { parts: 0, text: 0 };

/** Finds the point that a message continues from: the first that agrees with it, or the last. */
function comparing(kept: UIMessage, places: readonly Place[]): (message: UIMessage) => Place {
  const known = wordsOf(kept);
  let left = places.map((place) => ({ place, since: known.slice(wordsOf(before(kept, place)).length) }));
  return (message) => {
    if (left.length > 1) {
      const said = wordsOf(message);
      const fitting = left.filter(({ since }) => since.startsWith(said) || said.startsWith(since));
      left = fitting.length > 0 ? fitting : left.slice(-1);
      // The replay has repeated all known words: what follows is new in any case.
      if (said.length >= (left[0]?.since.length ?? 0)) left = left.slice(0, 1);
    }
    return left[0]?.place ?? START;
  };
}

function behind(kept: UIMessage, place: Place, message: UIMessage, begun: Place | undefined): UIMessage {
  const cut = before(kept, place === START ? (begun ?? START) : place);
  if (place === START) return joinAt(message, cut);
  const metadata = merged(kept.metadata, message.metadata);
  return joinAt({ ...message, metadata, parts: [...cut.parts, ...message.parts] }, cut);
}

function merged(known: unknown, said: unknown): unknown {
  const areRecords = [known, said].every((one) => typeof one === 'object' && one !== null);
  return areRecords ? { ...(known as object), ...(said as object) } : (said ?? known);
}

function before(message: UIMessage, { parts: count, text }: Place): UIMessage {
  const parts = message.parts.slice(0, count);
  const last = parts.at(-1);
  if (last?.type === 'text' && last.text.length > text)
    parts[count - 1] = { ...last, text: last.text.slice(0, text), state: 'streaming' };
  return { ...message, parts };
}

/** The content of a message as one text, independent of how texts are split and what results calls have. */
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
