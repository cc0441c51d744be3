import type { UIMessage } from 'ai';
import type { ContextEngine } from '../engine/engine.ts';
import { createId } from '../fragment/id.ts';

/** A point at which an answer was continued: a replay by a server may begin there. */
export interface Place {
  /** How many parts stand before the point. */
  readonly parts: number;
  /** The length of the last of these parts, if it is a text: it may grow. */
  readonly text: number;
  /** The request made at this point. A later request says other words behind it. */
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
