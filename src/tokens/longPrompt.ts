import type { ModelPrices } from './prices.ts';

// Apart from the table, which is a chunk of its own: who counts costs need not load it.

/** The prices of a request with so many tokens of input: those of a long prompt where it is one. */
export function pricesAt(prices: ModelPrices, inputTokens: number): ModelPrices {
  const { longPrompt, ...plain } = prices;
  if (!longPrompt || inputTokens <= longPrompt.above) return plain;
  const { input, output, cacheRead, cacheWrite, reasoning } = plain;
  return {
    input: times(input, longPrompt.input),
    output: times(output, longPrompt.output),
    ...(cacheRead === undefined ? {} : { cacheRead: times(cacheRead, longPrompt.input) }),
    ...(cacheWrite === undefined ? {} : { cacheWrite: times(cacheWrite, longPrompt.input) }),
    ...(reasoning === undefined ? {} : { reasoning: times(reasoning, longPrompt.output) }),
  };
}

/** Without the last digits that binary fractions leave: 0.1 three times is 0.3. */
function times(price: number, factor: number): number {
  return Number((price * factor).toPrecision(6));
}
