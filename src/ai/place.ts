import type { UIMessage } from 'ai';
import type { ContextEngine } from '../engine/engine.ts';
import { createId } from '../fragment/id.ts';

/** Where an answer went on: what a server says again may begin there. */
export interface Place {
  /** How many parts stand before it. */
  readonly parts: number;
  /** The length of the last of them, if that is a text: more may be said in it. */
  readonly text: number;
  /** The request that was made there. One that was made since says other words behind it. */
  readonly request?: unknown;
}

/** Keeps where an answer goes on: what it is now stands before all that this request will say. */
export async function keepPlace(engine: ContextEngine, key: string, answer: UIMessage): Promise<void> {
  const isSettled = (one: string): boolean => (engine.status(one) ?? 'complete') === 'complete';
  try {
    const known = Object.keys(await engine.fieldsOf(GOING_ON));
    const over = known.filter(isSettled).map((one) => [one, null]);
    const place = { ...endOf(answer), request: createId() };
    await engine.keepFields(GOING_ON, { ...Object.fromEntries(over), [key]: place });
  } catch {
    // A disk that refuses says so with the words. Without this, a replay is judged by what it says.
  }
}

/** Where an answer went on last; undefined for one that never did. */
export async function placeOf(engine: ContextEngine, key: string | undefined): Promise<Place | undefined> {
  const places = await engine.fieldsOf(GOING_ON).catch((): Readonly<Record<string, unknown>> => ({}));
  const { parts, text, request } = Object(places[key ?? '']) as Partial<Place>;
  return typeof parts === 'number' && typeof text === 'number' ? { parts, text, request } : undefined;
}

/** The name under which it is kept with the chat where its answers went on, by the keys of these. */
const GOING_ON = 'going-on';

/** The end of an answer, as a place in it. */
export function endOf({ parts }: UIMessage): Place {
  const last = parts.at(-1);
  return { parts: parts.length, text: last?.type === 'text' ? last.text.length : 0 };
}
