import type { LocalTransportOptions } from 'contextree/ai/local';
import type { UIMessage } from 'ai';

/**
 * How long a model thought, kept with its answer.
 *
 * Nothing of a stored answer says when its thoughts came. Whoever generates it measures, one answer at a time, and puts
 * the times into its metadata.
 */

type TellMetadata = NonNullable<LocalTransportOptions['messageMetadata']>;

/** Measures the thoughts of one request. */
export function measureThoughts(): TellMetadata {
  const times: number[] = [];
  let begun = 0;
  return ({ part }) => {
    if (part.type === 'reasoning-start') begun = Date.now();
    if (part.type !== 'reasoning-end') return undefined;
    times.push(Date.now() - begun);
    return { thoughtMs: [...times] };
  };
}

/** How long the thoughts of a message took that so many others stand before, in ms; undefined where nobody measured. */
export function thoughtMs({ metadata, parts }: UIMessage, place: number): number | undefined {
  const { thoughtMs } = Object(metadata) as { readonly thoughtMs?: unknown };
  if (!Array.isArray(thoughtMs)) return undefined;
  // An answer that was continued has the times of the last request only.
  const count = parts.filter((part) => part?.type === 'reasoning').length;
  const ms: unknown = thoughtMs[thoughtMs.length - count + place];
  return typeof ms === 'number' ? ms : undefined;
}
