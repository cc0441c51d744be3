import { APICallError } from 'ai';

/** Where the demo model would be, if it were anywhere. */
const nowhere = 'demo://model';

const sentences = {
  401: 'The API key was refused (401). Open Model settings and check the key.',
  429: 'Too many requests (429). The model asks for a pause: wait a moment, then try again.',
  500: 'The server of the model met an error of its own (500). Your question is fine; try again.',
  before: 'The model could not be reached, so there is no answer yet. Your question is kept; try again.',
  midway: 'The connection broke in the middle of the answer. What arrived is kept; try again.',
} as const;

/** Which failure: an HTTP status, or a connection that broke before or after the first word. */
export type FailureKind = keyof typeof sentences;

/**
 * A failure as a real endpoint reports it: the AI SDK's own `APICallError`, with `statusCode` where there is one and a
 * message that can be shown as it is. It is not retried behind the person's back, because they asked to see it.
 */
export function failure(kind: FailureKind): APICallError {
  return new APICallError({
    message: sentences[kind],
    url: nowhere,
    requestBodyValues: {},
    isRetryable: false,
    ...(typeof kind === 'number' && { statusCode: kind }),
  });
}
