import type { UIMessage } from 'ai';
import type { ContextEngine } from '../engine/engine.ts';
import type { Seam } from './seam.ts';

/**
 * Whether an answer that a server still streams has a place: after a question, also one that is about to be saved, or
 * where an answer was cut off.
 */
export function mayGoOn(engine: ContextEngine, last: UIMessage | undefined): boolean {
  if (!last) return false;
  return last.role === 'user' || (engine.status(last.id) ?? 'complete') !== 'complete';
}

/** The version of an answer that says more; the second one, where they say as much. */
export function longer<M extends UIMessage>(first: M | undefined, second: M): M {
  return first && sizeOf(first) > sizeOf(second) ? first : second;
}

function sizeOf({ parts }: UIMessage): number {
  return parts.reduce((size, part) => size + ('text' in part ? part.text.length : 1), 0);
}

/** The seam of an answer that is to go on; undefined where there is none, or it did not break off in a text. */
export function seamOf(answer: UIMessage | undefined): Seam | undefined {
  const last = answer?.parts.at(-1);
  if (!answer || last?.type !== 'text' || last.state !== 'streaming') return undefined;
  return { id: answer.id, at: answer.parts.length, text: last.text };
}
