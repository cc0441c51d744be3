import { ContextError, reasonOf } from '../errors.ts';
import type { ContextStore } from '../store/store.ts';

// The little of `options.ts` that a page needs before it reads.

/** Throws `invalid-options` for an option that is not what it must be. */
export function expectOption(holds: boolean, option: string, what: string, value: unknown): void {
  if (holds) return;
  const message = `${option} must be ${what}, and is ${reasonOf(value)}.`;
  throw new ContextError('invalid-options', message, { details: { option, value } });
}

/** Whether a value is a store, of any copy of the package or of an app's own. */
export function isStore(value: unknown): value is ContextStore {
  return typeof (value as Partial<ContextStore> | null | undefined)?.append === 'function';
}
