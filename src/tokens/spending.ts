import type { UIMessage } from 'ai';
import { toldBy, type Told } from './calibration.ts';
import type { ModelPrices } from './prices.ts';
import { measuredUsage, type MeasuredUsage } from './usage.ts';

/** Tokens that were used, as the provider counted them, and what they cost at the prices of the model asked for. */
export interface Spending {
  /** The source of the count: the chat's own sum (`trackUsage`, all branches), or the metadata of the messages estimated. */
  readonly of: 'chat' | 'messages';
  readonly tokens: TokensByKind;
  /** US dollars; null where the price is unknown. */
  readonly cost: (TokensByKind & { readonly total: number }) | null;
}

/** A number for each kind of tokens that may have a price of its own. They do not overlap. */
export interface TokensByKind {
  /** Read, and not in the provider's cache. */
  readonly input: number;
  /** Read from the provider's cache. */
  readonly cacheRead: number;
  /** Read, and put into the provider's cache. */
  readonly cacheWrite: number;
  /** Answered, without thinking. */
  readonly output: number;
  readonly reasoning: number;
}

/** What was spent: by the chat if its metadata keep count, else by these messages; null where neither has a count. */
export function spendingOf(
  chatMetadata: unknown,
  messages: readonly UIMessage[],
  prices: ModelPrices | null | undefined,
): Spending | null {
  const usage = measuredUsage({ metadata: chatMetadata });
  const told = usage ? [{ usage, isOne: false }] : messages.map(toldBy).filter((one) => one !== null);
  if (told.length === 0) return null;
  const tokens = sumOf(told.map((one) => byKind(one.usage)));
  const cost = prices ? sumOf(told.map((one) => billOf(one, prices))) : null;
  return { of: usage ? 'chat' : 'messages', tokens, cost: cost && { ...cost, total: total(cost) } };
}

function byKind(usage: MeasuredUsage): TokensByKind {
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0, reasoning = 0 } = usage;
  return {
    input: Math.max(0, input - cacheRead - cacheWrite),
    cacheRead,
    cacheWrite,
    output: Math.max(0, output - reasoning),
    reasoning,
  };
}

const KINDS = ['input', 'cacheRead', 'cacheWrite', 'output', 'reasoning'] as const;

function ofKinds(make: (kind: keyof TokensByKind) => number): TokensByKind {
  return Object.fromEntries(KINDS.map((kind) => [kind, make(kind)])) as unknown as TokensByKind;
}

function sumOf(all: readonly TokensByKind[]): TokensByKind {
  return ofKinds((kind) => all.reduce((sum, one) => sum + one[kind], 0));
}

function total(cost: TokensByKind): number {
  return KINDS.reduce((sum, kind) => sum + cost[kind], 0);
}

/** In US dollars. What has no price of its own costs what it is a kind of: input or output. */
function billOf({ usage, isOne }: Told, prices: ModelPrices): TokensByKind {
  const { input, output, ...own } = isOne ? pricesAt(prices, usage.input ?? 0) : prices;
  const rates = { input, output, cacheRead: input, cacheWrite: input, reasoning: output, ...own };
  const tokens = byKind(usage);
  return ofKinds((kind) => dollars(tokens[kind], rates[kind]));
}

/** What one answer cost, in US dollars. */
export function priceOf(told: Told, prices: ModelPrices): number {
  return total(billOf(told, prices));
}

/** Tokens at a price per million of them, in US dollars. */
export function dollars(tokens: number, price: number): number {
  return (tokens * price) / 1_000_000;
}

/** The prices of a request with so many tokens of input: those of a long prompt where it is one. */
export function pricesAt(prices: ModelPrices, inputTokens: number): ModelPrices {
  const { longPrompt, ...plain } = prices;
  if (!longPrompt || inputTokens <= longPrompt.above) return plain;
  const dearer = { ...plain };
  for (const kind of KINDS) {
    const factor = kind === 'output' || kind === 'reasoning' ? longPrompt.output : longPrompt.input;
    // Without the last digits that binary fractions leave: 0.1 three times is 0.3.
    const price = Number(((plain[kind] ?? 0) * factor).toPrecision(6));
    if (plain[kind] !== undefined) dearer[kind] = price;
  }
  return dearer;
}
