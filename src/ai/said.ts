import { ContextError } from '../errors.ts';

/**
 * An error to show for whatever was thrown: the AI SDK waits for ever after a failure that is no object, and what a
 * parser says of a stream that it can't read helps nobody who only wanted an answer. That stands in `cause`.
 */
export function saidOf(error: unknown): Error {
  if (typeof error === 'object' && error !== null)
    return isUnreadable(error) ? unreadable(error) : (error as Error);
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

function unreadable(cause: object): Error {
  return new Error(UNREADABLE, { cause });
}

/** Refuses to send what is no message, for whoever wrote the call. */
export function refuseMessage(given: unknown): never {
  throw new ContextError(
    'invalid-messages',
    'sendMessage() takes an object with text, files or parts, as in ' +
      `sendMessage({ text: 'Hello' }), and was given ${kindOf(given)}.`,
    { details: { given } },
  );
}

function kindOf(given: unknown): string {
  if (typeof given === 'string') return `the string ${JSON.stringify(given.slice(0, 40))}`;
  if (Array.isArray(given)) return 'an array';
  if (typeof given !== 'object') return `a ${typeof given}`;
  const { name } = (given as Partial<object>).constructor ?? Object;
  if (name !== 'Object') return `a ${name}`;
  const keys = Object.keys(given as object).slice(0, 5);
  return keys.length > 0 ? `an object with ${keys.join(', ')}` : 'an empty object';
}

/** @throws invalid-options for what a transport gave in place of a stream */
export function expectStream(given: unknown): void {
  if (typeof (given as Partial<ReadableStream> | null | undefined)?.getReader === 'function') return;
  const kind = given == null ? String(given) : kindOf(given);
  throw new ContextError(
    'invalid-options',
    `The transport gave ${kind} in place of an answer. Its sendMessages() has to return a ReadableStream of ` +
      'UI message chunks, as toUIMessageStream() of the AI SDK makes one; DefaultChatTransport does that for an endpoint.',
    { details: { given } },
  );
}
