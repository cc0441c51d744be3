import { ContextError, reasonOf } from '../errors.ts';
import { isRecord } from '../fragment/fragment.ts';
import type { MessageStatus } from '../graph/graph.ts';
import type { ContextEngineOptions, ContinueOptions } from './engine.ts';
import { expectOption, isStore } from './expect.ts';

/**
 * What an app hands in, looked at before it can do harm.
 *
 * Types hold it in TypeScript, and nothing does where values come from JSON, from an address or from plain JavaScript.
 * An id that is no text is a record that can't be found again, and a count that is no number a list without an end.
 */

/** Throws `invalid-options` for an engine that can't be what its options ask for. */
export function expectEngineOptions(options: ContextEngineOptions): void {
  const { chatId, userId, store, metadata, validate, onConflict = 'fork' } = options;
  expectOption(typeof chatId === 'string', 'chatId', 'a text', chatId);
  expectOption(typeof userId === 'string', 'userId', 'a text', userId);
  expectOption(isNone(store) || isStore(store), 'store', 'a ContextStore', store);
  expectOption(isNone(metadata) || isRecord(metadata), 'metadata', 'a record', metadata);
  expectOption(isNone(validate) || typeof validate === 'function', 'validate', 'a function', validate);
  expectOption(POLICIES.has(onConflict), 'onConflict', 'fork, rebase or error', onConflict);
}

const POLICIES: ReadonlySet<string> = new Set(['fork', 'rebase', 'error']);

/** Throws `invalid-options` for a turn whose new records could not be found by their ids. */
export function expectIds({ id, forkId }: ContinueOptions): void {
  expectOption(id === undefined || isId(id), 'id', 'a text that is not empty', id);
  expectOption(forkId === undefined || isId(forkId), 'forkId', 'a text that is not empty', forkId);
}

/** The name without the space around it. Throws `invalid-options` for one that is no text, or empty. */
export function expectName(name: unknown, what: string): string {
  const trimmed = typeof name === 'string' ? name.trim() : '';
  if (trimmed) return trimmed;
  const message = `A ${what} needs a name: got "${reasonOf(name)}".`;
  throw new ContextError('invalid-options', message, { details: { name } });
}

/** Throws `invalid-options` for a status that no message can have. */
export function expectStatus(status: MessageStatus): void {
  expectOption(STATUSES.has(status), 'status', 'complete, streaming or interrupted', status);
}

const STATUSES: ReadonlySet<string> = new Set(['complete', 'streaming', 'interrupted']);

function isId(id: unknown): boolean {
  return typeof id === 'string' && id !== '';
}

function isNone(value: unknown): boolean {
  return value === undefined || value === null;
}
