import { ContextError } from '../errors.ts';
import type { Tokenizer } from '../tokens/tokenizer.ts';

/**
 * Counts tokens in cl100k_base (GPT-4, GPT-3.5), exactly. Loads its table from the optional package gpt-tokenizer, once, when asked.
 *
 * @throws invalid-options where gpt-tokenizer is not installed
 */
export async function loadTokenizer(): Promise<Tokenizer> {
  const { countTokens } = await import('gpt-tokenizer/encoding/cl100k_base').catch((cause: unknown) => {
    throw new ContextError(
      'invalid-options',
      'The cl100k tokenizer needs gpt-tokenizer: npm install gpt-tokenizer',
      { cause },
    );
  });
  // What looks like a control token in a chat is text that somebody typed.
  const asText = { disallowedSpecial: new Set<string>() };
  return { name: 'cl100k', exact: true, count: (text) => countTokens(text, asText) };
}
