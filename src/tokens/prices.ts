/**
 * What models cost and how much they hold, as far as two sources say the same. Each row names its sources, newest first; a
 * model whose prices they contradict is left out, a window that they contradict, or that only one lists, is null. `asOf` is the
 * day of the newest source. Prices are those of the provider's own API; `pricesAt` reads those of long prompts.
 */

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
  /** Missing: a prompt of any length costs the same. */
  readonly longPrompt?: LongPrompt;
}

/** The input size above which the whole request costs more, and the factors. */
interface LongPrompt {
  /** Tokens of input, cached ones among them; a request with more is a long one. */
  readonly above: number;
  /** Times the prices of input: plain, read from the cache, written to it. */
  readonly input: number;
  /** Times the prices of output. */
  readonly output: number;
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
  /** `YYYY-MM-DD`: the last day that the figures are known to have stood. */
  readonly asOf: string;
  /** Address of what they were read from. */
  readonly source?: string;
  /** The encoding that counts its tokens exactly, where that is published. */
  readonly encoding?: 'o200k' | 'cl100k';
}

/**
 * What was read: where it is, and the day it was published, or read by its publisher from the provider's pages. p, g and z have
 * prices and windows, c prices, t windows and encodings; those below are about single models.
 */
const SOURCES = {
  p: ['https://github.com/earendil-works/pi/tree/main/packages/ai', '2026-11-10'],
  g: ['https://github.com/pydantic/genai-prices/tree/main/prices/providers', '2026-09-23'],
  c: ['https://github.com/RenKoya1/ai-sdk-cost-calculator', '2026-09-23'],
  z: ['https://github.com/texra-ai/llm-zoo', '2026-09-23'],
  t: ['https://github.com/niieani/gpt-tokenizer', '2026-08-16'],
  /** Anthropic's prices. */
  k: ['https://github.com/kurofune/claudit/releases/tag/v1.9.2', '2026-10-24'],
  /** Haiku 5.5: windows, and the lower of its prices. */
  h: ['https://platform.claude.com/docs/en/models/haiku-5-5/overview', '2026-10-07'],
  /** Prices of GPT-6.1 Sol. */
  s: ['https://github.com/KZCFG/AILSA-SubSwitch/releases/tag/v1.0.0-g', '2026-10-01'],
  /** Prices and windows of GPT-6.1 Sol. */
  w: ['https://docs.laozhang.ai/en/announcements/gpt-6-1-sol-2026-10', '2026-10-13'],
  /** Prices of both 6.1 models, and Terra's windows. */
  l: ['https://docs.litellm.ai/blog/gpt-6-1-terra', '2026-10-26'],
  /** Windows of both 6.1 models; the page names a month only. */
  v: [
    'https://documentation.s3ns.fr/gemini-enterprise-agent-platform/models/partner-models/openai/gpt-6-1-sol',
    '2026-11-01',
  ],
} as const;

/**
 * The models in groups, which begin with what their models share: provider, encoding, long prompts (from how many tokens on,
 * times the prices of input and output). A model: name, context, longest answer; dollars for input, output, cache read, cache
 * write; sources, newest first. The catalogue p says 272,000 for gpt-5.4 to 5.6, where its agent stops before the dearer rate;
 * the others give the window.
 */
const TABLE = `openai o200k
gpt-4o 128e3 16384 2.5 10 1.25 - pgczt
gpt-4o-mini 128e3 16384 0.15 0.6 0.075 - pgczt
gpt-4.1 1047576 32768 2 8 0.5 - pgczt
gpt-4.1-mini 1047576 32768 0.4 1.6 0.1 - pgczt
gpt-4.1-nano 1047576 32768 0.1 0.4 0.025 - pgczt
o1 200e3 100e3 15 60 7.5 - pgczt
o3 200e3 100e3 2 8 0.5 - pgczt
o3-mini 200e3 100e3 1.1 4.4 0.55 - pgczt
o4-mini 200e3 100e3 1.1 4.4 0.275 - pgczt
gpt-5 400e3 128e3 1.25 10 0.125 - pgczt
gpt-5-mini 400e3 128e3 0.25 2 0.025 - pgczt
gpt-5-nano 400e3 128e3 0.05 0.4 0.005 - pgczt
gpt-5.1 400e3 128e3 1.25 10 0.125 - pgczt
gpt-5.2 400e3 128e3 1.75 14 0.175 - pgczt
gpt-5.4-mini 400e3 128e3 0.75 4.5 0.075 - pgczt
gpt-5.4-nano 400e3 128e3 0.2 1.25 0.02 - pgczt

openai o200k 272e3 2 1.5
gpt-5.4 1050e3 128e3 2.5 15 0.25 - pgczt
gpt-5.5 1050e3 128e3 5 30 0.5 - pgczt
gpt-5.6-luna 1050e3 128e3 0.2 1.2 0.02 0.25 pgczt
gpt-5.6-terra 1050e3 128e3 2 12 0.2 2.5 pgczt
gpt-5.6-sol 1050e3 128e3 4 20 0.4 5 pgczt

openai - 272e3 2 1.5
gpt-6-luna 1050e3 128e3 0.1 0.5 0.01 0.125 pgcz
gpt-6-sol 1050e3 128e3 2 10 0.2 2.5 pgcz
gpt-6-astra 1050e3 128e3 10 50 1 12.5 pgcz
gpt-6.1-terra 1050e3 128e3 1 5 0.05 - pvl
gpt-6.1-sol 1050e3 128e3 2 10 0.1 - pvws

anthropic -
claude-haiku-4-5 200e3 64e3 1 5 0.1 1.25 pgcz
claude-sonnet-4-5 200e3 64e3 3 15 0.3 3.75 pgcz
claude-sonnet-4-6 1e6 - 3 15 0.3 3.75 pgcz
claude-sonnet-5 1e6 128e3 2 10 0.2 2.5 pgcz
claude-sonnet-5-5 1e6 - 2 10 0.1 - pkg
claude-opus-4-5 200e3 - 5 25 0.5 6.25 pgc
claude-opus-4-6 1e6 128e3 5 25 0.5 6.25 pgcz
claude-opus-4-7 1e6 128e3 5 25 0.5 6.25 pgcz
claude-opus-4-8 1e6 128e3 5 25 0.5 6.25 pgcz
claude-opus-5 1e6 128e3 5 25 0.5 6.25 pgcz
claude-opus-5-5 1e6 128e3 4 20 0.2 5 pgcz
claude-fable-5 1e6 128e3 10 50 1 12.5 pgcz
claude-fable-5-1 1e6 128e3 10 50 0.25 12.5 pgcz

anthropic - 100e3 5 5
claude-haiku-5-5 1e6 128e3 0.1 0.5 0.01 0.125 pkh

google -
gemini-2.5-flash-lite 1048576 - 0.1 0.4 0.01 - pgc
gemini-2.5-flash 1048576 65536 0.3 2.5 0.03 - pgcz
gemini-3-flash-preview 1048576 - 0.5 3 0.05 - pgc
gemini-3.1-flash-lite 1048576 65536 0.25 1.5 0.025 - pgcz
gemini-3.5-flash-lite 1048576 65536 0.3 2.5 0.03 - pgcz
gemini-3.5-flash 1048576 65536 1.5 9 0.15 - pgcz
gemini-3.7-flash 1048576 65536 0.75 3.75 0.075 - pgcz
gemini-3.8-flash 1048576 65536 0.75 3.75 0.075 - pgcz

google - 200e3 2 1.5
gemini-2.5-pro 1048576 65536 1.25 10 0.125 - pgcz
gemini-3.1-pro-preview 1048576 65536 2 12 0.2 - pgcz

xai - 200e3 2 2
grok-4.3 1e6 - 1.25 2.5 0.2 - pgcz
grok-4.5 500e3 - 2 6 0.3 - pgcz
grok-4.6 500e3 - 2 6 0.5 - pgcz
grok-4.7 500e3 - 2 6 0.5 - pcz

deepseek -
deepseek-flash 1e6 - 0.3 1.2 0.006 - pc

mistral -
ministral-8b-2512 262144 - 0.15 0.15 0.015 - pg
mistral-small-2603 262144 - 0.15 0.6 0.015 - pg
mistral-medium-latest - - 1.5 7.5 0.15 - pg
mistral-large-2512 262144 - 0.5 1.5 0.05 - pg
codestral-2508 256e3 - 0.3 0.9 0.03 - pg
devstral-2512 262144 - 0.4 2 0.04 - pg

groq -
llama-3.1-8b-instant - - 0.05 0.08 - - pg
llama-3.3-70b-versatile - - 0.59 0.79 - - pg
openai/gpt-oss-20b 131072 - 0.075 0.3 0.0375 - pg
openai/gpt-oss-120b 131072 - 0.15 0.6 0.075 - pg

moonshotai -
kimi-k2.6 262144 - 0.95 4 0.16 - pg
kimi-k2.7-code 262144 - 0.95 4 0.19 - pgz
kimi-k3 1048576 1048576 3 15 0.3 - pgz

zai -
glm-5.2 1e6 131072 1.4 4.4 0.26 - pgz
glm-5.3 1e6 131072 1.4 4.4 0.26 - pgz

amazon-bedrock -
amazon.nova-micro-v1:0 128e3 - 0.035 0.14 0.00875 - pg
amazon.nova-lite-v1:0 300e3 - 0.06 0.24 0.015 - pg
amazon.nova-pro-v1:0 300e3 - 0.8 3.2 0.2 - pg`;

/** The built-in models, by provider. */
export const PRICE_TABLE: readonly ModelInfo[] = TABLE.split('\n\n').flatMap((group) => {
  const [[provider, encoding, ...long] = [], ...rows] = group.split('\n').map((line) => line.split(' '));
  const [above, ...times] = long.map(Number);
  const longPrompt = above && { longPrompt: { above, input: times[0], output: times[1] } };
  return rows.map(([model, ...columns]) => {
    const figures = columns.map((column) => (column === '-' ? undefined : Number(column)));
    const [context, answer, input, output, cacheRead, cacheWrite] = figures;
    const [source, asOf] = SOURCES[columns.at(-1)?.[0] as keyof typeof SOURCES];
    const cached = { ...(cacheRead && { cacheRead }), ...(cacheWrite && { cacheWrite }) };
    const prices = { input, output, ...cached, ...longPrompt } as ModelPrices;
    const limits = { context: context ?? null, output: answer ?? null };
    const counted = encoding === 'o200k' && { encoding: encoding as 'o200k' };
    return { id: `${provider}:${model}`, ...limits, prices, asOf, source, ...counted };
  });
});
