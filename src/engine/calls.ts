import type { UIMessage } from 'ai';
import { fieldsOf, measuredUsage, type MeasuredUsage } from '../tokens/usage.ts';

/**
 * What is known of the requests behind an answer.
 *
 * The words of a message are in its body, which is read when somebody shows it. Time, model and cost are asked for whole
 * branches at once, so they are a mark beside the topology: small, and loaded before any body.
 */
export interface CallFacts {
  /** When the request was sent, in ms since epoch. */
  readonly startedAt: number;
  /** From then until the first word, in ms; absent where no word came, and where the transport did not report it. */
  readonly firstMs?: number;
  /** From then until the end of the answer, in ms. */
  readonly ms: number;
  /** `stopped`: by a person or by the app; `failed`: with an error, or cut off before its finish. */
  readonly status: 'complete' | 'stopped' | 'failed';
  /** How many steps of the model it took: more than one where it called tools on the server. */
  readonly steps: number;
  /**
   * How long each tool ran, in ms, in the order of the calls; null for a tool whose result did not come within this request.
   */
  readonly toolMs?: readonly (number | null)[];
  /** As the model reported it: `stop`, `length`, `tool-calls`; absent where it was not reported. */
  readonly finishReason?: string;
  /** From the answer's metadata (`modelId`, `model`); absent otherwise. */
  readonly model?: string;
  /** Token counts from the answer's metadata (`totalUsage`, `usage`); absent otherwise. */
  readonly usage?: MeasuredUsage;
}

/**
 * The limits of what is kept: requests per answer (the last ones), characters of a model's name, tools with times (of more
 * tools, none are kept).
 */
const KEPT = { requests: 20, name: 64, tools: 12 };

/** The facts of an answer with those of one more request, and with the model and usage that its message reports. */
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

/** The facts in a mark's value, oldest first; none for a value that is no list of them. */
export function callsIn(value: unknown): readonly CallFacts[] {
  return Array.isArray(value) ? (value as readonly CallFacts[]) : NONE;
}

const NONE: readonly CallFacts[] = [];
