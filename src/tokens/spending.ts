import type { UIMessage } from 'ai';
import { measuredUsage, type MeasuredUsage } from './calibration.ts';
import { pricesAt } from './longPrompt.ts';
import type { ModelPrices } from './prices.ts';
import { running, type Running } from './running.ts';

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
  const usage = measuredUsage({ metadata: chatMetadata });
  if (usage) return { of: 'chat', ...spentOn({ usage, isOne: false }, undefined, prices) };
  const spent = spentBy(prices)(messages)[messages.length - 1];
  return spent ? { of: 'messages', ...spent } : null;
}

type Spent = Pick<Spending, 'tokens' | 'cost'>;

/** What messages have spent, for each list of prices. */
const sums = new WeakMap<object, Running<UIMessage, Spent | undefined>>();
const UNPRICED = {};

function spentBy(prices: ModelPrices | null | undefined): Running<UIMessage, Spent | undefined> {
  const key = prices ?? UNPRICED;
  const known = sums.get(key);
  if (known) return known;
  const spent = running<UIMessage, Spent | undefined>((message, before) => {
    const usage = measuredUsage(message);
    return usage ? spentOn({ usage, isOne: stepsOf(message) < 2 }, before, prices) : before;
  });
  sums.set(key, spent);
  return spent;
}

/** Usage that was told in one number. */
interface Requests {
  readonly usage: MeasuredUsage;
  /** Whether it is that of a single request; of a sum over several nobody knows which of them were long. */
  readonly isOne: boolean;
}

function stepsOf({ parts }: UIMessage): number {
  return parts.filter(({ type }) => type === 'step-start').length;
}

/** What was spent before, and on these requests. */
function spentOn(
  requests: Requests,
  before: Spent | undefined,
  prices: ModelPrices | null | undefined,
): Spent {
  const tokens = plus(before?.tokens ?? NONE, byKind(requests.usage));
  if (!prices) return { tokens, cost: null };
  const cost = plus(before?.cost ?? NONE, billOf(requests, prices));
  return { tokens, cost: { ...cost, total: KINDS.reduce((total, kind) => total + cost[kind], 0) } };
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

const NONE: TokensByKind = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 };
const KINDS = ['input', 'cacheRead', 'cacheWrite', 'output', 'reasoning'] as const;

function plus(a: TokensByKind, b: TokensByKind): TokensByKind {
  const sum = { ...NONE };
  for (const kind of KINDS) sum[kind] = a[kind] + b[kind];
  return sum;
}

/** In US dollars. What has no price of its own costs what it is a kind of: input or output. */
function billOf({ usage, isOne }: Requests, prices: ModelPrices): TokensByKind {
  const rate = isOne ? pricesAt(prices, usage.input ?? 0) : prices;
  const { input, output, cacheRead = input, cacheWrite = input, reasoning = output } = rate;
  const tokens = byKind(usage);
  return {
    input: dollars(tokens.input, input),
    cacheRead: dollars(tokens.cacheRead, cacheRead),
    cacheWrite: dollars(tokens.cacheWrite, cacheWrite),
    output: dollars(tokens.output, output),
    reasoning: dollars(tokens.reasoning, reasoning),
  };
}

/** Tokens at a price per million of them, in US dollars. */
export function dollars(tokens: number, price: number): number {
  return (tokens * price) / 1_000_000;
}
