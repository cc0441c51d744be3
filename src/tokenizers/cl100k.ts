import type { Tokenizer } from '../tokens/tokenizer.ts';
import { asText, missing } from './encoding.ts';

/**
 * Counts tokens in cl100k_base (GPT-4, GPT-3.5), exactly. Loads its table from the optional package gpt-tokenizer,
 * once, when asked.
 *
 * @throws invalid-options where gpt-tokenizer can't be loaded
 */
export async function loadTokenizer(): Promise<Tokenizer> {
  const { countTokens } = await import('gpt-tokenizer/encoding/cl100k_base').catch(missing('cl100k'));
  return { name: 'cl100k', exact: true, count: (text) => countTokens(text, asText) };
}
