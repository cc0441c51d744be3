import type { ContextEngine } from 'contextree';
import { openSession } from 'contextree/session';

/** A chat from a session file, shown in place of the app's until it is closed; or why the file is no session. */
export interface SessionCopy {
  readonly engine?: ContextEngine | undefined;
  readonly failure?: string | undefined;
}

/** Opens a session file. Never rejects. Its code is loaded with the first file. */
export async function openCopy(file: Blob): Promise<SessionCopy> {
  try {
    return { engine: await openSession(file) };
  } catch (error) {
    return { failure: error instanceof Error ? error.message : String(error) };
  }
}
