import type { Tokenizer } from '../tokens/tokenizer.ts';
import { tokenizerOf } from './encoding.ts';

/**
 * Counts tokens in cl100k_base (GPT-4, GPT-3.5), exactly. Loads its table from the optional package gpt-tokenizer,
 * once, when asked.
 *
 * @throws invalid-options where gpt-tokenizer can't be loaded
 */
export function loadTokenizer(): Promise<Tokenizer> {
  return tokenizerOf('cl100k', import('gpt-tokenizer/encoding/cl100k_base'));
}
