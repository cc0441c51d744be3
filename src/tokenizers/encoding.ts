import { ContextError } from '../errors.ts';

/** For the option of gpt-tokenizer: what looks like a control token in a chat is text that a person typed. */
export const asText: { readonly disallowedSpecial: Set<string> } = { disallowedSpecial: new Set() };

/** What to do where the table of an encoding can't be had: throws `invalid-options` and says how to get it. */
export function missing(name: string): (cause: unknown) => never {
  return (cause) => {
    throw new ContextError(
      'invalid-options',
      `The ${name} tokenizer needs gpt-tokenizer, which could not be loaded: npm install gpt-tokenizer; if it is installed, its file could not be fetched, so try again.`,
      { details: { tokenizer: name }, cause },
    );
  };
}
