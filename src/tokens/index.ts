// contextree/tokens, in reading order: other prices and other tokenizers than those that come along.

// Models: limits and prices.
export { costOf, listModels, loadModels, registerModel, usageOf } from './models.ts';
export type { PricedCall } from './models.ts';
export type { LoadModelsOptions, ModelEntry } from './catalogue.ts';
export type { ModelInfo, ModelPrices } from './prices.ts';

// Counting.
export { estimateTokens } from './tokenizer.ts';
export type { Tokenizer } from './tokenizer.ts';
export type { BatchTokenizer } from './count.ts';

// The pieces of what `estimate()` answers.
export type { EstimateResult, FragmentShare, Limits, MessageShare, Share } from './estimate.ts';
export type { HiddenMark } from './hidden.ts';
export type { Spending, TokensByKind } from './spending.ts';
export type { MeasuredUsage } from './usage.ts';
