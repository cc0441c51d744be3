/** US dollars per million tokens. Missing: the provider has no such price. */
export interface ModelPrices {
  readonly input: number;
  readonly output: number;
  /** Input that the provider found in its cache. */
  readonly cacheRead?: number;
  /** Input that the provider put into its cache. */
  readonly cacheWrite?: number;
  /** Tokens that the model thought with, where they cost other than `output`. */
  readonly reasoning?: number;
}

/** A model: its windows, its prices, and the day they were read. */
export interface ModelInfo {
  /** `provider:model`. */
  readonly id: string;
  readonly name?: string;
  /** Tokens that a request may hold, answer included; null where it is unknown. */
  readonly context: number | null;
  /** Tokens that an answer may have; null where it is unknown. */
  readonly output: number | null;
  /** Null where they are unknown. */
  readonly prices: ModelPrices | null;
  /** `YYYY-MM-DD`: the day the figures were read. */
  readonly asOf: string;
  /** Address of what they were read from. */
  readonly source?: string;
  /** The encoding that counts its tokens exactly, where that is published. */
  readonly encoding?: 'o200k' | 'cl100k';
}

/** The models that are known without asking anybody. */
export const PRICE_TABLE: readonly ModelInfo[] = [
  {
    id: 'openai:gpt-4o',
    context: 128_000,
    output: 16_384,
    prices: { input: 2.5, output: 10, cacheRead: 1.25 },
    asOf: '2026-09-23',
    source: 'https://github.com/pydantic/genai-prices',
    encoding: 'o200k',
  },
  {
    id: 'openai:gpt-4o-mini',
    context: 128_000,
    output: 16_384,
    prices: { input: 0.15, output: 0.6, cacheRead: 0.075 },
    asOf: '2026-09-23',
    source: 'https://github.com/pydantic/genai-prices',
    encoding: 'o200k',
  },
];
