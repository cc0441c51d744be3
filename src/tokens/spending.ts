import type { UIMessage } from 'ai';
import { measuredUsage, type MeasuredUsage } from './calibration.ts';
import type { ModelPrices } from './prices.ts';

/** Tokens that were used, as the provider counted them, and what they cost at the prices of the model asked for. */
export interface Spending {
  /** Who told: the chat's own count (`trackUsage`, all branches), or the metadata of the messages estimated. */
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

/** What was spent: by the chat if its metadata keep count, else by these messages; null where nobody tells. */
export function spendingOf(
  chatMetadata: unknown,
  messages: readonly UIMessage[],
  prices: ModelPrices | null | undefined,
): Spending | null {
  const ofChat = measuredUsage({ metadata: chatMetadata });
  const told = ofChat ? [ofChat] : messages.flatMap((message) => measuredUsage(message) ?? []);
  if (told.length === 0) return null;
  const tokens = sumOf(told.map(byKind));
  return { of: ofChat ? 'chat' : 'messages', tokens, cost: prices ? costOf(tokens, prices) : null };
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

function sumOf(all: readonly TokensByKind[]): TokensByKind {
  const sum = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 };
  for (const tokens of all) for (const kind of KINDS) sum[kind] += tokens[kind];
  return sum;
}

const KINDS = ['input', 'cacheRead', 'cacheWrite', 'output', 'reasoning'] as const;

/** What has no price of its own costs what it is a kind of: input or output. */
function costOf(
  tokens: TokensByKind,
  { input, output, cacheRead = input, cacheWrite = input, reasoning = output }: ModelPrices,
): TokensByKind & { readonly total: number } {
  const cost = {
    input: dollars(tokens.input, input),
    cacheRead: dollars(tokens.cacheRead, cacheRead),
    cacheWrite: dollars(tokens.cacheWrite, cacheWrite),
    output: dollars(tokens.output, output),
    reasoning: dollars(tokens.reasoning, reasoning),
  };
  return { ...cost, total: KINDS.reduce((total, kind) => total + cost[kind], 0) };
}

/** Tokens at a price per million of them, in US dollars. */
export function dollars(tokens: number, price: number): number {
  return (tokens * price) / 1_000_000;
}
