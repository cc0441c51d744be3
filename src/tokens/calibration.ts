/**
 * What the provider counted, and how far off an estimate was.
 *
 * A finished answer carries the provider's own count in its metadata. For that answer no estimate is needed; for the
 * next ones it tells how this model reads this chat's language: the tokens measured for an answer over the tokens
 * estimated for its text. Only what is comparable counts. The input of a request holds tools and instructions that the
 * messages don't show, and sums over several steps count the history several times; an answer of words alone is
 * exactly its output, less the tokens of thinking. One odd answer must not bend the rest, so the middle of the last
 * few decides, and within bounds: beyond them the count and the text are not about the same thing.
 */
import type { UIMessage } from 'ai';
import { running } from './running.ts';

/** Tokens that a provider counted for one answer, all of its steps together. Missing: not told. */
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

/**
 * The usage in a message's metadata (`totalUsage`, else `usage`, in the AI SDK's forms of version 5 to 7); undefined
 * where there is none. Numbers that are not counts are left out.
 */
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
  }).filter(([, count]) => isCount(count));
  return counts.length > 0 ? Object.fromEntries(counts) : undefined;
}

/** A message that tells what the provider counted, and the last one before it that does. */
interface Measured {
  readonly message: UIMessage;
  readonly usage: MeasuredUsage;
  readonly before: Measured | undefined;
}

const measuredIn = running<UIMessage, Measured | undefined>((message, before) => {
  const usage = measuredUsage(message);
  return usage ? { message, usage, before } : before;
});

/**
 * How many tokens the provider counts for one that `count` counts: multiply an estimate by it. Between 0.5 and 2;
 * undefined until an answer of some length tells. Looks at the last few measured answers of `messages` (oldest first),
 * of this model only where `modelId` is given: an answer whose metadata name another `model` is passed over.
 */
export function calibrationOf(
  messages: readonly UIMessage[],
  count: (text: string) => number,
  modelId?: string,
): number | undefined {
  const ratios: number[] = [];
  let measured = measuredIn(messages)[messages.length - 1];
  for (; measured && ratios.length < SAMPLES; measured = measured.before) {
    const ratio = ratioOf(measured, count, modelId);
    if (ratio !== undefined) ratios.push(ratio);
  }
  return middle(ratios);
}

/** Answers that are looked at. */
const SAMPLES = 5;
/** Tokens of an answer that is long enough to tell: shorter ones are mostly framing. */
const ENOUGH = 64;
const LEAST = 0.5;
const MOST = 2;

function ratioOf(
  { message, usage }: Measured,
  count: (text: string) => number,
  modelId: string | undefined,
): number | undefined {
  if (message.role !== 'assistant' || isOfAnother(message, modelId)) return undefined;
  const { output = 0, reasoning = 0 } = usage;
  const measured = output - reasoning;
  if (measured < ENOUGH) return undefined;
  const text = wordsAlone(message, reasoning > 0);
  const estimated = text === undefined ? 0 : count(text);
  return estimated < ENOUGH ? undefined : Math.min(MOST, Math.max(LEAST, measured / estimated));
}

/** An answer's text; undefined where something else was written too that its output counts. */
function wordsAlone({ parts }: UIMessage, thinkingIsKnown: boolean): string | undefined {
  let text = '';
  for (const part of parts) {
    if (part.type === 'text') text += part.text;
    else if (part.type === 'reasoning' ? !thinkingIsKnown : !isSilent(part.type)) return undefined;
  }
  return text;
}

/** Whether a part costs no output: the app's or the provider's own, not the model's words. */
function isSilent(type: string): boolean {
  return type === 'step-start' || type.startsWith('data-') || type.startsWith('source-');
}

/** Providers, gateways and apps prefix names in their ways; the last piece is the model. */
function isOfAnother({ metadata }: UIMessage, modelId: string | undefined): boolean {
  const { modelId: id, model = id } = fieldsOf(metadata);
  return modelId !== undefined && typeof model === 'string' && bareName(model) !== bareName(modelId);
}

function bareName(modelId: string): string {
  return modelId.slice(Math.max(modelId.lastIndexOf(':'), modelId.lastIndexOf('/')) + 1).toLowerCase();
}

function middle(ratios: readonly number[]): number | undefined {
  const sorted = ratios.toSorted((a, b) => a - b);
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  return low === undefined || high === undefined ? undefined : (low + high) / 2;
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
