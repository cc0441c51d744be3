import { ContextError } from '../errors.ts';
import type { Tokenizer } from '../tokens/tokenizer.ts';

/** The function of gpt-tokenizer that counts in one encoding. */
export type CountTokens = (text: string, options: { readonly disallowedSpecial: Set<string> }) => number;

/** What looks like a control token in a chat is text that a person typed. */
export const asText: Parameters<CountTokens>[1] = { disallowedSpecial: new Set() };

/** The tokenizer of an encoding. Throws `invalid-options` where its table can't be had, and says how to get it. */
export async function tokenizerOf(
  name: string,
  table: Promise<{ readonly countTokens: CountTokens }>,
): Promise<Tokenizer> {
  const { countTokens } = await table.catch((cause: unknown) => {
    const message = `The ${name} tokenizer needs gpt-tokenizer, which could not be loaded: npm install gpt-tokenizer; if it is installed, its file could not be fetched, so try again.`;
    throw new ContextError('invalid-options', message, { details: { tokenizer: name }, cause });
  });
  return { name, exact: true, count: (text) => countTokens(text, asText) };
}
