import { ContextError } from '../errors.ts';

/** The error for a call that has to wait until an answer ends; `id`: that of the answer, if known. */
export function busy(id?: string): ContextError {
  const message = 'An answer still grows here, or in another tab. Wait for it, or stop it there.';
  return new ContextError('busy', message, id === undefined ? {} : { details: { id } });
}
