/**
 * An error to show for a thrown value. The AI SDK hangs on a thrown value that is no object, and a parser's message about an
 * unreadable stream tells a person nothing; that one becomes the `cause`.
 */
export function asError(error: unknown): Error {
  if (typeof error === 'object' && error !== null)
    return isUnreadable(error) ? new Error(UNREADABLE, { cause: error }) : (error as Error);
  return new Error(typeof error === 'string' ? error : 'The transport failed without a word.');
}

/** Whether an error comes from a parser. */
export function isUnreadable(error: { readonly name?: unknown }): boolean {
  return PARSERS.test(String(error.name));
}

const PARSERS = /^(AI_(JSONParse|TypeValidation|UIMessageStream|InvalidResponseData)Error|SyntaxError)$/;

/** The message for an answer that can't be parsed. */
export const UNREADABLE =
  'The answer could not be read: the endpoint sent something else than it should. What came before is kept; try again.';
