import type { UIMessage } from 'ai';
import { fieldsOf, measuredUsage, type MeasuredUsage } from '../tokens/usage.ts';

/**
 * What is known of a request that made an answer, or some of it.
 *
 * A body tells what was said, and is read when somebody looks at it. How long it took, who said it and what it cost is
 * asked of whole branches at once, so it is a mark beside the topology: small, and there before any body is.
 */
export interface CallFacts {
  /** When it was sent, in ms since epoch. */
  readonly startedAt: number;
  /** From then until the first word, in ms; absent where no word came, and where nobody told. */
  readonly firstMs?: number;
  /** From then until its end, in ms. */
  readonly ms: number;
  /** `stopped`: by a person or by the app; `failed`: with an error, or cut off before its finish. */
  readonly status: 'complete' | 'stopped' | 'failed';
  /** Steps of the model in it: more than one where it called tools on the server. */
  readonly steps: number;
  /** How long each of its tools ran that gave its result within it, in ms, in the order of their calls; null for any other. */
  readonly toolMs?: readonly (number | null)[];
  /** As the model gave it: `stop`, `length`, `tool-calls`; absent where it was not told. */
  readonly finishReason?: string;
  /** Told by the answer's metadata (`modelId`, `model`); absent otherwise. */
  readonly model?: string;
  /** Tokens, told by the answer's metadata (`totalUsage`, `usage`); absent otherwise. */
  readonly usage?: MeasuredUsage;
}

/** What is kept: the last requests of an answer, characters of a model's name, tools whose times are told (of more none). */
const KEPT = { requests: 20, name: 64, tools: 12 };

/** The facts of an answer with those of one more request, and what its message tells of that. */
export function withCall(known: unknown, call: CallFacts, { metadata }: UIMessage): readonly CallFacts[] {
  const { modelId, model = modelId } = fieldsOf(metadata);
  const usage = measuredUsage({ metadata });
  const named = typeof model === 'string' ? { model: model.slice(0, KEPT.name) } : {};
  const { toolMs = [], ...rest } = call;
  const ran = toolMs.length > 0 && toolMs.length <= KEPT.tools ? { toolMs } : {};
  return [...callsIn(known), { ...named, ...(usage ? { usage } : {}), ...rest, ...ran }].slice(
    -KEPT.requests,
  );
}

/** The facts that a mark holds, oldest first; none where it is no list of them. */
export function callsIn(value: unknown): readonly CallFacts[] {
  return Array.isArray(value) ? (value as readonly CallFacts[]) : NONE;
}

const NONE: readonly CallFacts[] = [];
