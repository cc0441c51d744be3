import { errorOf } from './reason.ts';
import type { ContextEngine } from 'contextree';

/** A chat from a session file, shown in place of the app's until it is closed; or why the file is no session. */
export interface SessionCopy {
  readonly engine?: ContextEngine | undefined;
  readonly failure?: string | undefined;
}

/** Opens a session file, and gives what is shown then: what is no session leaves the one before. Never rejects. */
export async function openCopy(file: Blob): Promise<(before: SessionCopy) => SessionCopy> {
  try {
    const { openSession } = await import('contextree/session');
    const engine = await openSession(file);
    return () => ({ engine });
  } catch (error) {
    const failure = errorOf(error).message;
    return (before) => ({ ...before, failure });
  }
}
