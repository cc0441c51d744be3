import type { ReactNode } from 'react';
import { useWorkspace } from '../shell/Workspace.ts';

/** An address that leads nowhere, and the ways on; words that wait there are led on above. */
export function UnknownChat({ isEmpty }: { readonly isEmpty: boolean }): ReactNode {
  const { newChat } = useWorkspace();
  return (
    <section className="welcome">
      <h2>There is nothing here</h2>
      <p>
        No chat was found at this address. It may have been deleted, or it was begun in another browser: chats
        stay where they were written.
      </p>
      {isEmpty && (
        <button type="button" className="button button-primary" onClick={() => newChat()}>
          Start a new chat
        </button>
      )}
    </section>
  );
}
