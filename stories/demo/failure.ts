import { isContextError, type ContextErrorCode } from 'contextree';

/**
 * A failure in words for the person who was chatting: what happened and what to do.
 *
 * Failures come from an endpoint, the network, a model, or the store. Most messages are clear and are shown as they are. A few
 * are written for programmers, and are replaced here.
 */
export function describeFailure(error: unknown): string {
  const message = messageOf(error);
  if (isContextError(error, 'newer-format')) return OLDER_PAGE;
  if (isNotLoaded(error)) return NOT_LOADED;
  if (isClosedToUs(error)) return NOT_OPENED;
  if (isContextError(error)) return gone[error.code] ?? sentence(message);
  const status = statusOf(error) ?? statusIn(message);
  const words = status === undefined ? undefined : wordsForStatus(status);
  if (words !== undefined) return words;
  if (isUnreachable(message)) {
    return 'The model could not be reached. Check the network and the base URL in Model settings, then try again.';
  }
  if (/invalid url|failed to parse url/i.test(message))
    return 'The base URL is not an address. Correct it in Model settings, then try again.';
  const kind = /(?:file part media type|media type) '?([\w.+/*-]+)'?.*not supported/i.exec(message)?.[1];
  if (kind !== undefined)
    return `This model can’t read files of this kind (${kind}). Branch off before them, or choose another model.`;
  if (isBrokenOff(message)) return BROKEN_OFF;
  if (/json parsing failed|not valid json|type validation failed/i.test(message)) return UNREADABLE;
  return message === '' ? 'The answer failed, and nothing said why. Try again.' : sentence(message);
}

/** What is said of something that was deleted in the meantime: its keys and names mean nothing to a person. */
const gone: Readonly<Partial<Record<ContextErrorCode, string>>> = {
  'branch-not-found': 'This branch is not there any more.',
  'checkpoint-not-found': 'This checkpoint is not there any more.',
  'message-not-found': 'This message is not there any more.',
};

/** Whether a part of the app did not come over the network. */
export function isNotLoaded(error: unknown): boolean {
  return isContextError(error, 'store-unavailable') && /^code of contextree/i.test(messageOf(error));
}

/** Whether the database of the chats does not open: it may open later, and what is in it is untouched. */
export function isClosedToUs(error: unknown): boolean {
  const isRefused = isContextError(error, 'store-unavailable') || isContextError(error, 'store-blocked');
  return isRefused && !isNotLoaded(error);
}

/** The browser's own message about a failure, for details; undefined where there is none. */
export function wordsOfBrowser(error: unknown): string | undefined {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error || cause instanceof DOMException ? String(cause) : undefined;
}

/** Said of an answer whose stream ended without an end. */
export const BROKEN_OFF =
  'The answer broke off before its end. What arrived is kept; continue it, or try again.';

/** The same, where nothing arrived: what a page that is no endpoint leads to. */
const NOTHING_CAME =
  'The answer ended before its first word. Try again; if this stays, check the base URL in Model settings.';

const UNREADABLE =
  'The endpoint sent something that can’t be read as an answer. Try again; if this stays, check the base URL in ' +
  'Model settings.';

/** Said of an answer that ended as it should, and said nothing. */
export const WITHOUT_A_WORD =
  'The model ended its answer without a word. Try again; if this stays, check the model and the base URL in Model ' +
  'settings.';

/** Words for a failure before anything of the answer arrived. */
export function beforeFirstWord(words: string): string {
  return words === BROKEN_OFF ? NOTHING_CAME : words;
}

const NOT_LOADED = 'A part of this app could not be loaded. Check the network, then try again.';

const NOT_OPENED =
  'This browser can’t open the database of your chats just now. They are still in it. Try again; closing other tabs, or ' +
  'starting the browser again, often helps.';

const OLDER_PAGE =
  'A newer version of this app was used in this browser, and this page can’t read what it wrote. All of it is ' +
  'untouched. Reload to get the newer version; if this stays, update the app.';

function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message;
  return typeof error === 'string' ? error : '';
}

function statusOf(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('statusCode' in error)) return undefined;
  return typeof error.statusCode === 'number' ? error.statusCode : undefined;
}

/** A status that a sentence speaks of, such as "401 Unauthorized" or "status code 503". */
function statusIn(message: string): number | undefined {
  const status = /(?:^|\bstatus(?: code)?:? |\bHTTP )([45]\d\d)\b/i.exec(message)?.[1];
  if (status !== undefined) return Number(status);
  if (/unauthori[sz]ed|(?:invalid|incorrect|missing) api key/i.test(message)) return 401;
  return /too many requests|rate limit/i.test(message) ? 429 : undefined;
}

function wordsForStatus(status: number): string | undefined {
  if (status === 401)
    return 'The model refused the API key (401). Check it in Model settings, then try again.';
  if (status === 403) return 'The model refused this request (403). Check what the API key may do.';
  if (status === 404) return 'The endpoint does not know this model or address (404). Check Model settings.';
  if (status === 429)
    return 'The model is busy or its limit is reached (429). Wait a moment, then try again.';
  return status >= 500 ? `The model failed on its side (${status}). Try again in a moment.` : undefined;
}

/** A stream that ended early, as the AI SDK, Chromium, Firefox, Safari and Node put it. */
function isBrokenOff(message: string): boolean {
  return /without a finish reason|failed to process successful response|^network error$|error in input stream|network connection was lost|^terminated$/i.test(
    message.trim(),
  );
}

function isUnreachable(message: string): boolean {
  return /failed to fetch|networkerror|load failed|cannot connect to api|fetch failed|err_/i.test(message);
}

function sentence(message: string): string {
  const text = message.trim();
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
