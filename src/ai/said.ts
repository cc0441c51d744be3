/**
 * An error to show for a thrown value: the AI SDK waits for ever after a failure that is no object, and the words of a parser
 * that can't read a stream are of no use to a person. They stand in `cause`.
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
