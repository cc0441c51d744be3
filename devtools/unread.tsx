import type { EngineState } from 'contextree';
import type { ReactNode } from 'react';

/** What to show in place of a chat that is not read: that it is awaited, or why it can't be. Nothing for a read one. */
export function unread({ status, error }: EngineState): ReactNode {
  if (status === 'ready') return null;
  return (
    <p className="words">
      {status === 'loading' ? 'Reading the chat…' : `The chat could not be read: ${error?.message}`}
    </p>
  );
}
