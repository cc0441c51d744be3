import type { UIMessage } from 'ai';
import type { ContextEngine } from '../engine/engine.ts';
import { createId } from '../fragment/id.ts';

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
    const known = Object.keys(await engine.fieldsOf(GOING_ON));
    const over = known.filter(isSettled).map((one) => [one, null]);
    const place = { ...endOf(answer), request: createId() };
    await engine.keepFields(GOING_ON, { ...Object.fromEntries(over), [key]: place });
  } catch {
    // If the disk refuses, saving the words reports that. Without this record, a replay is compared with the answer by its
    // words.
  }
}

/** The point at which an answer was last continued; undefined for an answer that never was. */
export async function placeOf(engine: ContextEngine, key: string | undefined): Promise<Place | undefined> {
  const places = await engine.fieldsOf(GOING_ON).catch((): Readonly<Record<string, unknown>> => ({}));
  const { parts, text, request } = Object(places[key ?? '']) as Partial<Place>;
  return typeof parts === 'number' && typeof text === 'number' ? { parts, text, request } : undefined;
}

/** The name of the record that keeps these points with the chat, by the keys of the answers. */
const GOING_ON = 'going-on';

/** The end of an answer, as a point in it. */
export function endOf({ parts }: UIMessage): Place {
  const last = parts.at(-1);
  return { parts: parts.length, text: last?.type === 'text' ? last.text.length : 0 };
}
