import { errorOf } from './reason.ts';
import type { ContextEngine } from 'contextree';

/** A chat from a session file, shown in place of the app's until it is closed; or why the file is no session. */
export interface SessionCopy {
  readonly engine?: ContextEngine | undefined;
  readonly failure?: string | undefined;
}

/** Shows another copy than before. */
export type ShowCopy = (next: (before: SessionCopy) => SessionCopy) => void;

/** Opens a session file, and shows it: what is no session leaves the one before. */
export async function openCopy(file: Blob | undefined, show: ShowCopy): Promise<void> {
  if (!file) return;
  try {
    const { openSession } = await import('contextree/session');
    const engine = await openSession(file);
    show(() => ({ engine }));
  } catch (error) {
    const failure = errorOf(error).message;
    show((before) => ({ ...before, failure }));
  }
}

/**
 * Opens a file when it is dropped, and allows that while it is dragged, when a browser shows no file yet. Without this, the
 * browser would leave the page for the file.
 */
export function openDropped(event: React.DragEvent, show: ShowCopy): void {
  const { types, files } = event.dataTransfer;
  if (!types.includes('Files')) return;
  event.preventDefault();
  void openCopy(files[0], show);
}
