import { ContextError } from '../errors.ts';
import type { Tokenizer } from '../tokens/tokenizer.ts';

/**
 * Counts tokens in o200k_base (GPT-4o and later), exactly. Loads its table from the optional package gpt-tokenizer, once, when asked.
 *
 * @throws invalid-options where gpt-tokenizer is not installed
 */
export async function loadTokenizer(): Promise<Tokenizer> {
  const { countTokens } = await import('gpt-tokenizer/encoding/o200k_base').catch((cause: unknown) => {
    throw new ContextError(
      'invalid-options',
      'The o200k tokenizer needs gpt-tokenizer: npm install gpt-tokenizer',
      { cause },
    );
  });
  // What looks like a control token in a chat is text that somebody typed.
  const asText = { disallowedSpecial: new Set<string>() };
  return { name: 'o200k', exact: true, count: (text) => countTokens(text, asText) };
}
