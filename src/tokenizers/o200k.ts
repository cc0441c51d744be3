import type { Tokenizer } from '../tokens/tokenizer.ts';
import { asText, missing } from './encoding.ts';

/**
 * Counts tokens in o200k_base (GPT-4o and later), exactly. Loads its table from the optional package gpt-tokenizer,
 * once, when asked.
 *
 * @throws invalid-options where gpt-tokenizer can't be loaded
 */
export async function loadTokenizer(): Promise<Tokenizer> {
  const { countTokens } = await import('gpt-tokenizer/encoding/o200k_base').catch(missing('o200k'));
  return { name: 'o200k', exact: true, count: (text) => countTokens(text, asText) };
}
