import { ContextError, isContextError } from '../../errors.ts';
import { isDead, isFull, isTooLarge, nameOf } from './connection.ts';

// Errors of a database, explained. Loaded on the first one.

/** The error for a failed transaction. */
export function explain(error: unknown, name: string): ContextError {
  if (isContextError(error)) return error;
  const cause = { cause: error, details: { database: name } };
  if (isFull(error)) {
    const message = `The disk is full, or this site's share of it: nothing was saved.`;
    return new ContextError('quota-exceeded', message, cause);
  }
  if (isTooLarge(error)) {
    const message = 'A message, a file or a value is larger than this browser takes: nothing was saved.';
    return new ContextError('quota-exceeded', message, cause);
  }
  if (isDead(error)) {
    const message = `Database "${name}" lost its connection twice. Try again.`;
    return new ContextError('store-closed', message, cause);
  }
  const message = `Database "${name}" refused what it should take: ${String(error)}`;
  return new ContextError('invariant', message, cause);
}

/** The error for a database that does not open. */
export function refused(error: unknown, name: string): ContextError {
  const cause = { cause: error, details: { database: name } };
  if (isContextError(error) || isFull(error)) return explain(error, name);
  if (nameOf(error) === 'VersionError') {
    const message = `Database "${name}" was written by a newer version of contextree. Reload the page to get it.`;
    return new ContextError('newer-format', message, cause);
  }
  return new ContextError('store-unavailable', `Database "${name}" can't be opened: ${String(error)}`, cause);
}
