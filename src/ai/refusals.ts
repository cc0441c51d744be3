import { ContextError } from '../errors.ts';

/** Throws for a value that is no message; the error names the wrong field. */
export function refuseMessage(given: unknown): never {
  throw new ContextError(
    'invalid-messages',
    'sendMessage() takes an object with text, files or parts, as in ' +
      `sendMessage({ text: 'Hello' }), and was given ${kindOf(given)}.`,
    { details: { given } },
  );
}

/** Throws for a transport's result that is no stream. */
export function refuseStream(given: unknown): never {
  const kind = given == null ? String(given) : kindOf(given);
  throw new ContextError(
    'invalid-options',
    `The transport gave ${kind} in place of an answer. Its sendMessages() has to return a ReadableStream of ` +
      'UI message chunks, as toUIMessageStream() of the AI SDK makes one; DefaultChatTransport does that for an endpoint.',
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
