/**
 * The one error class of the package, and its codes.
 *
 * An app meets three kinds of failure: the caller asked for something that is not there or not allowed, the world refused
 * (another tab, a full disk, a closed connection), or we are wrong ourselves. The code tells which; the message says what
 * happened, with which value, and what to do; `details` carries the values as fields, so that no app has to parse a sentence.
 */

/** Mistakes of the caller: fix the call. */
type CallerErrorCode =
  | 'branch-not-found'
  | 'checkpoint-not-found'
  | 'message-not-found'
  | 'invalid-fragment'
  | 'invalid-messages'
  | 'provider-missing'
  | 'invalid-options'
  | 'invalid-import'
  | 'wrong-user'
  | 'empty-branch'
  | 'overtaken'
  | 'name-taken'
  | 'last-branch'
  | 'chat-missing'
  | 'busy'
  | 'aborted';

/** Failures of the environment: try again, or tell the person. */
type WorldErrorCode =
  | 'head-moved'
  | 'store-blocked'
  | 'store-unavailable'
  | 'store-closed'
  | 'quota-exceeded'
  | 'data-loss'
  | 'chat-deleted'
  | 'newer-format';

/** Every code that a `ContextError` can carry; `invariant` is a bug of ours, please report it. */
export type ContextErrorCode = CallerErrorCode | WorldErrorCode | 'invariant';

/** Options of a `ContextError`, beside its message. */
export interface ContextErrorOptions {
  /** The values in the message, by name. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** The error underneath, where there is one. */
  readonly cause?: unknown;
}

const BRAND: symbol = Symbol.for('contextree:error');

/**
 * Every failure that contextree reports.
 *
 * Branch on `code`, show `message`, read values from `details`. Test with {@link isContextError}:
 * an app may hold two copies of the package, and `instanceof` would tell them apart.
 */
export class ContextError extends Error {
  readonly code: ContextErrorCode;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: ContextErrorCode, message: string, options: ContextErrorOptions = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.name = 'ContextError';
    this.code = code;
    this.details = options.details ?? {};
    Object.defineProperty(this, BRAND, { value: true });
  }
}

/** Whether a caught value is a `ContextError`, from any copy of the package; with `code`, of that code. */
export function isContextError(value: unknown, code?: ContextErrorCode): value is ContextError {
  if (typeof value !== 'object' || value === null) return false;
  try {
    return BRAND in value && (code === undefined || (value as ContextError).code === code);
  } catch {
    // A thrown proxy may throw here.
    return false;
  }
}

/** A thrown or refused value as an error's text shows it: at most 200 characters. Never throws. @internal */
export function reasonOf(value: unknown): string {
  try {
    const text = String(value instanceof Error ? value.message : value);
    return text.length > 200 ? `${text.slice(0, 199)}…` : text;
  } catch {
    return 'unknown';
  }
}

/** Reads a caller's values; what getters, proxies, a field of `null` and too deep nesting throw becomes `code`. @internal */
export function readFrom<T>(what: string, read: () => T, code: ContextErrorCode = 'invalid-options'): T {
  try {
    return read();
  } catch (cause) {
    if (isContextError(cause)) throw cause;
    throw new ContextError(code, `${what} can't be read: ${reasonOf(cause)}.`, { cause });
  }
}

/** Whether a value is an object other than null and lists. @internal */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Throws `invalid-options` for a listener that is no function: each event would fail later, far from here. @internal */
export function expectListener(listener: unknown): void {
  if (typeof listener === 'function') return;
  throw new ContextError('invalid-options', 'A listener must be a function.');
}

/** Throws `store-unavailable` for code that could not be loaded: the page is offline, or older than its server. @internal */
export function refuseToLoad(cause: unknown): never {
  const message = `Code of contextree could not be loaded: ${reasonOf(cause)}. Try again.`;
  throw new ContextError('store-unavailable', message, { cause });
}

/** The error for a call that has to wait until an answer ends; `id`: that of the answer, if known. @internal */
export function busy(id?: string): ContextError {
  const message = 'An answer still grows here, or in another tab. Wait for it, or stop it there.';
  return new ContextError('busy', message, id === undefined ? {} : { details: { id } });
}
