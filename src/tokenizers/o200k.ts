import type { Tokenizer } from '../tokens/tokenizer.ts';
import { tokenizerOf } from './encoding.ts';

/**
 * Counts tokens in o200k_base (GPT-4o and later), exactly. Loads its table from the optional package gpt-tokenizer,
 * once, when asked.
 * @throws invalid-options where gpt-tokenizer can't be loaded
 */
export function loadTokenizer(): Promise<Tokenizer> {
  return tokenizerOf('o200k', import('gpt-tokenizer/encoding/o200k_base'));
}
