import type { ReactNode } from 'react';
import { useAttempt } from '../shell/useAttempt.ts';
import { Drawing } from '../ui/Drawing.tsx';
import { useWorkspace } from '../shell/Workspace.ts';
import { useIsMemoryInstead } from './memoryInstead.ts';
import { useMoveOn } from './useMoveOn.ts';

/** An address that leads nowhere, and the ways on; words that wait there are led on above. */
export function UnknownChat({ chatId, isEmpty }: UnknownChatProps): ReactNode {
  const { newChat } = useWorkspace();
  const cannotLook = useIsMemoryInstead();
  if (cannotLook) return <NotLookedFor chatId={chatId} />;
  return (
    <section className="welcome">
      <Drawing name="nowhere" />
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

/** The browser refuses its database: whether the chat exists is not known. */
function NotLookedFor({ chatId }: Pick<UnknownChatProps, 'chatId'>): ReactNode {
  const moveOn = useMoveOn(chatId);
  const attempt = useAttempt();
  return (
    <section className="welcome">
      <Drawing name="broken" />
      <h2>This chat can’t be opened now</h2>
      <p>
        This browser refuses the database in which chats are kept. One that was written here is still in it:
        try again, or allow this site to store data first.
      </p>
      <div className="choices">
        <button type="button" className="button button-primary" onClick={() => location.reload()}>
          Try again
        </button>
        <button type="button" className="button" onClick={() => attempt(moveOn)}>
          Go on in memory
        </button>
      </div>
    </section>
  );
}

interface UnknownChatProps {
  readonly chatId: string;
  /** Whether no words wait there. */
  readonly isEmpty: boolean;
}
