import type { UIMessage } from 'ai';
import { calibrationOf } from './calibration.ts';
import { countMessage, countText, type AnyTokenizer } from './count.ts';
import { hiddenInMessage, hiddenMarks, type HiddenMark } from './hidden.ts';
import type { ModelInfo } from './prices.ts';
import { dollars, pricesAt, spendingOf, type Spending } from './spending.ts';

/**
 * What a model call will read, and what that costs: the system prompt in one piece, and the messages. The pieces of the prompt
 * are counted alone, and add up to about the total. Where earlier answers report the provider's own count, the estimate is
 * scaled by its ratio to ours; `counted` holds the unscaled count.
 */

/** How large a prompt is, and what sending it costs. Plain data. */
export interface EstimateResult {
  /** The model's id without its provider; '' when none was asked for. */
  readonly model: string;
  readonly provider: string;
  /** What the model reads: system prompt and messages, in tokens. */
  readonly tokens: number;
  /** The same as the tokenizer counts it, before calibration. */
  readonly counted: number;
  /** The tokenizer's name: `o200k`; `~` for the estimate. */
  readonly tokenizer: string;
  /** Whether a real encoding counted. Show other numbers with `~`. */
  readonly exact: boolean;
  /** What `counted` was multiplied by, between 0.5 and 2; null where no answer tells what the provider counted. */
  readonly calibration: number | null;
  /** US dollars for reading this once, with nothing of it cached; null where the price is unknown. */
  readonly cost: number | null;
  /** The day on which prices and limits were true, as `2026-11-21`; null for an unknown model. */
  readonly asOf: string | null;
  readonly limits: Limits;
  /** The system prompt in one piece. */
  readonly systemPrompt: Share;
  /** Each fragment rendered alone. */
  readonly fragments: readonly FragmentShare[];
  /** Each message, oldest first. */
  readonly messages: readonly MessageShare[];
  /** What was used so far, as the provider counted it; null without such a count. */
  readonly spent: Spending | null;
}

/** What a model takes, in tokens; null where that is unknown. */
export interface Limits {
  readonly context: number | null;
  /** The longest answer. */
  readonly output: number | null;
  /** Whether the prompt is longer than what the model reads. */
  readonly exceedsContext: boolean;
  /** What the context holds beside the prompt and what is reserved for the answer; below 0 when that is too much. */
  readonly left: number | null;
}

/** One piece of a prompt. */
export interface Share {
  readonly tokens: number;
  /** US dollars; null where the price is unknown. */
  readonly cost: number | null;
  /** Of the whole, from 0 to 1. */
  readonly share: number;
  /** Zero-width, bidirectional and tag characters in it, which a model reads and no screen shows; absent without any. */
  readonly hidden?: readonly HiddenMark[];
}

/** A fragment as a piece of a prompt. */
export interface FragmentShare extends Share {
  readonly id?: string;
  readonly name: string;
  /** Why it could not be rendered; it then counts nothing. */
  readonly problem?: string;
}

/** A message as a piece of a prompt. */
export interface MessageShare extends Share {
  readonly id: string;
  readonly role: UIMessage['role'];
}

/** What an estimate is made from. */
export interface EstimateInput {
  readonly modelId: string;
  readonly model: ModelInfo | undefined;
  readonly tokenizer: AnyTokenizer;
  readonly systemPrompt: string;
  /** The fragments, each with its text when it is rendered alone. */
  readonly fragments: readonly {
    readonly id?: string | undefined;
    readonly name: string;
    readonly text: string;
    readonly problem?: string;
  }[];
  readonly messages: readonly UIMessage[];
  /** Tokens kept free for the answer. */
  readonly reserve: number;
  /** Where `trackUsage` keeps its count. */
  readonly chatMetadata: unknown;
}

/** Puts an estimate together. Counts what was not counted before. */
export function estimatePrompt(input: EstimateInput): EstimateResult {
  const { modelId, model, tokenizer, systemPrompt, fragments, messages } = input;
  const calibration = calibrate(input);
  const prompt = countText(tokenizer, systemPrompt);
  const counts = messages.map((message) => countMessage(tokenizer, message));
  const counted = counts.reduce((sum, count) => sum + count, prompt);
  const tokens = Math.round(counted * (calibration ?? 1));
  const price = model?.prices ? pricesAt(model.prices, tokens).input : null;
  const shareOf = (count: number, marks: readonly HiddenMark[]): Share => {
    const own = Math.round(count * (calibration ?? 1));
    const cost = price === null ? null : dollars(own, price);
    return { tokens: own, cost, share: count / (counted || 1), ...(marks.length > 0 && { hidden: marks }) };
  };
  return {
    ...splitId(modelId),
    tokens,
    counted,
    tokenizer: tokenizer.name,
    exact: tokenizer.exact,
    calibration,
    cost: shareOf(counted, []).cost,
    asOf: model?.asOf ?? null,
    limits: limitsOf(model, tokens, input.reserve),
    systemPrompt: shareOf(prompt, hiddenMarks(systemPrompt)),
    fragments: fragments.map(({ id, name, text, problem }) => ({
      ...(id !== undefined && { id }),
      name,
      ...shareOf(countText(tokenizer, text), hiddenMarks(text)),
      ...(problem !== undefined && { problem }),
    })),
    messages: messages.map((message, i) => ({
      id: message.id,
      role: message.role,
      ...shareOf(counts[i] ?? 0, hiddenInMessage(message)),
    })),
    spent: spendingOf(input.chatMetadata, messages, model?.prices),
  };
}

/** A real encoding needs no correction: what the provider counts beyond it is framing and tools, not these words. */
function calibrate({ tokenizer, messages, modelId }: EstimateInput): number | null {
  if (tokenizer.exact) return null;
  return calibrationOf(messages, (text) => countText(tokenizer, text), modelId || undefined) ?? null;
}

function splitId(modelId: string): { readonly model: string; readonly provider: string } {
  const [, provider = '', model = modelId] = /^([^:]*):(.*)$/s.exec(modelId) ?? [];
  return { model, provider };
}

function limitsOf(model: ModelInfo | undefined, tokens: number, reserve: number): Limits {
  const { context = null, output = null } = model ?? {};
  return {
    context,
    output,
    exceedsContext: context !== null && tokens > context,
    left: context === null ? null : context - tokens - reserve,
  };
}
