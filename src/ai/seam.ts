import type { UIMessage } from 'ai';
import type { ContextEngine } from '../engine/engine.ts';
import { createId } from '../fragment/id.ts';
import { longer, sizeOf } from './message.ts';

/**
 * A continued answer with the cut text and its continuation as one part: the AI SDK would begin a new one, and a paragraph. The
 * same object where there is no continuation, or `cut`, the answer as it was, did not break off in a text.
 */
export function joinAt(message: UIMessage, cut: UIMessage | undefined): UIMessage {
  const at = cut?.parts.length ?? 0;
  const [last, before] = [cut?.parts[at - 1], message.parts[at - 1]];
  if (cut?.id !== message.id || last?.type !== 'text' || last.state !== 'streaming') return message;
  const next = message.parts[at]?.type === 'step-start' ? at + 1 : at;
  const after = message.parts[next];
  if (before?.type !== 'text' || after?.type !== 'text' || before.text !== last.text) return message;
  const whole = { ...before, ...after, text: before.text + after.text };
  return { ...message, parts: [...message.parts.slice(0, at - 1), whole, ...message.parts.slice(next + 1)] };
}

/** A point at which an answer was continued: a replay by a server may begin there. */
export interface Place {
  /** How many parts stand before the point. */
  readonly parts: number;
  /** The length of the last of these parts, if it is a text: it may grow. */
  readonly text: number;
  /** The request that began at this point; a later one continues with other words. */
  readonly request?: unknown;
}

/** Keeps the point at which a request continues an answer, as the answer is now. */
export async function keepPlace(engine: ContextEngine, key: string, answer: UIMessage): Promise<void> {
  const isSettled = (one: string): boolean => (engine.status(one) ?? 'complete') === 'complete';
  try {
    const known = Object.keys(await engine.readFields(GOING_ON));
    const over = known.filter(isSettled).map((one) => [one, null]);
    const place = { ...endOf(answer), request: createId() };
    await engine.keepFields(GOING_ON, { ...Object.fromEntries(over), [key]: place });
  } catch {
    // If the disk refuses, saving the words reports that. Without this record, a replay is compared by its words.
  }
}

/** The point at which an answer was last continued; undefined for an answer that never was. */
export async function placeOf(engine: ContextEngine, key: string | undefined): Promise<Place | undefined> {
  const places = await engine.readFields(GOING_ON).catch((): Readonly<Record<string, unknown>> => ({}));
  const { parts, text, request } = Object(places[key ?? '']) as Partial<Place>;
  return typeof parts === 'number' && typeof text === 'number' ? { parts, text, request } : undefined;
}

/** The name of the record that keeps these points with the chat, by the keys of the answers. */
const GOING_ON = 'going-on';

/** The end of an answer, as a point in it. */
function endOf({ parts }: UIMessage): Place {
  const last = parts.at(-1);
  return { parts: parts.length, text: last?.type === 'text' ? last.text.length : 0 };
}

// ------------------------------------------------------------------ what a server repeats

/**
 * How to show an answer that a server repeats: from the beginning of the request, of the whole answer, or only what is new. The
 * protocol does not say which, so the chat keeps the points at which answers were continued, and compares: the first point
 * behind which both agree is the one. Until that is clear, and until the replay says more, the screen shows what is known.
 *
 * `kept` is the answer as it is known, `begun` the point at which it was last continued. Without `isReplay` the AI SDK appends
 * to the answer, so the stream may also begin where it broke off. What the result shows is never shorter than `listed`.
 */
export function replaying(
  kept: UIMessage | undefined,
  begun: Place | undefined,
  isReplay: boolean,
): (message: UIMessage, listed: UIMessage | undefined) => UIMessage {
  if (!kept) return (message) => message;
  const places = [START, ...(begun ? [begun] : []), ...(isReplay ? [] : [endOf(kept)])];
  return (message, listed) => {
    if (message.id !== kept.id) return message;
    const shown = listed?.id === kept.id ? listed : kept;
    const isListed = sizeOf(message) === sizeOf(shown) && wordsOf(message) === wordsOf(shown);
    return longer(
      shown,
      isListed ? message : behind(kept, beginningOf(message, kept, places), message, begun),
    );
  };
}

const START: Place = { parts: 0, text: 0 };

/** The point in the known answer that a message continues from: the first that agrees with it, or the last. */
function beginningOf(message: UIMessage, kept: UIMessage, places: readonly Place[]): Place {
  const [known, said] = [wordsOf(kept), wordsOf(message)];
  const agrees = (place: Place): boolean => {
    const since = known.slice(wordsOf(before(kept, place)).length);
    return since.startsWith(said) || said.startsWith(since);
  };
  return places.find(agrees) ?? places.at(-1) ?? START;
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
