import type { UIMessage } from 'ai';

/** Tokens that a provider counted for one answer, all of its steps together. Absent: not reported. */
export interface MeasuredUsage {
  /** All input, cached or not. */
  readonly input?: number;
  /** All output, thinking included. */
  readonly output?: number;
  /** Of `input`: found in the provider's cache. */
  readonly cacheRead?: number;
  /** Of `input`: put into the provider's cache. */
  readonly cacheWrite?: number;
  /** Of `output`: thinking. */
  readonly reasoning?: number;
}

/** The usage in a message's metadata (`totalUsage`, else `usage`, as in AI SDK 5 to 7), counts only; undefined for none. */
export function measuredUsage({ metadata }: Pick<UIMessage, 'metadata'>): MeasuredUsage | undefined {
  if (metadata === undefined) return undefined;
  const { totalUsage, usage } = fieldsOf(metadata);
  const told = fieldsOf(totalUsage ?? usage);
  const inputs = fieldsOf(told.inputTokenDetails);
  const outputs = fieldsOf(told.outputTokenDetails);
  const counts = Object.entries({
    input: told.inputTokens,
    output: told.outputTokens,
    cacheRead: inputs.cacheReadTokens ?? told.cachedInputTokens,
    cacheWrite: inputs.cacheWriteTokens,
    reasoning: outputs.reasoningTokens ?? told.reasoningTokens,
  }).filter(([, count]) => typeof count === 'number' && count >= 0 && count < Infinity);
  return counts.length > 0 ? Object.fromEntries(counts) : undefined;
}

type Fields = Readonly<Record<string, unknown>>;

/** The fields of an object; none of anything else. */
export function fieldsOf(value: unknown): Fields {
  return Object(value) as Fields;
}
