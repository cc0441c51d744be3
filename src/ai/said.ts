/**
 * An error to show for whatever was thrown: the AI SDK waits for ever after a failure that is no object, and what a
 * parser says of a stream that it can't read helps nobody who only wanted an answer. That stands in `cause`.
 */
export function saidOf(error: unknown): Error {
  if (typeof error === 'object' && error !== null)
    return isUnreadable(error) ? new Error(UNREADABLE, { cause: error }) : (error as Error);
  return new Error(typeof error === 'string' ? error : 'The transport failed without a word.');
}

/** Whether an error is a parser's. */
export function isUnreadable(error: { readonly name?: unknown }): boolean {
  return PARSERS.test(String(error.name));
}

const PARSERS = /^(AI_(JSONParse|TypeValidation|UIMessageStream|InvalidResponseData)Error|SyntaxError)$/;

/** What is said of an answer that no parser understands. */
export const UNREADABLE =
  'The answer could not be read: the endpoint sent something else than it should. What came before is kept; try again.';
