import { useChats } from 'contextree';
import type { ReactNode } from 'react';
import { useWorkspace } from '../shell/Workspace.ts';
import { Icon } from '../ui/Icon.tsx';
import { ChatItem } from './ChatItem.tsx';

/** All chats, the last used first, and the way to a new one. */
export function ChatList({ current, onChoose }: ChatListProps): ReactNode {
  const { store, newChat } = useWorkspace();
  const { chats, hasMore, loadMore, rename, remove } = useChats(store);
  const beginNew = (): void => {
    newChat();
    onChoose();
  };
  return (
    <nav className="chats" aria-label="Chats">
      <button type="button" className="row-button new-chat" onClick={beginNew}>
        <Icon name="plus" />
        <span>New chat</span>
      </button>
      <ul>
        {chats.map((chat) => (
          <ChatItem
            key={chat.id}
            chat={chat}
            isCurrent={chat.id === current}
            rename={rename}
            remove={remove}
            onChoose={onChoose}
          />
        ))}
      </ul>
      {hasMore && (
        <button type="button" className="button" onClick={() => void loadMore()}>
          Show more chats
        </button>
      )}
    </nav>
  );
}

interface ChatListProps {
  /** The id of the chat that is shown. */
  readonly current: string;
  /** A chat was chosen: a drawer may close. */
  readonly onChoose: () => void;
}
