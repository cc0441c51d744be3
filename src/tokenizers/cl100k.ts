import type { Tokenizer } from '../tokens/tokenizer.ts';
import { tokenizerOf } from './encoding.ts';

/** As `contextree/tokenizers/o200k`, in cl100k_base (GPT-4, GPT-3.5). */
export function loadTokenizer(): Promise<Tokenizer> {
  return tokenizerOf('cl100k', import('gpt-tokenizer/encoding/cl100k_base'));
}
