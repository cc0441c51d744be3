import type { ChatInfo, UseChatsResult } from 'contextree';
import { memo, useEffect, useState, type ReactNode } from 'react';
import { addressOf } from '../address.ts';
import { UNTITLED } from '../titles.ts';
import { Icon } from '../ui/Icon.tsx';
import { NameDialog } from '../ui/NameDialog.tsx';
import { usePassFocus } from '../ui/usePassFocus.ts';
import { DeleteChat } from './DeleteChat.tsx';

/** One chat in the list: the way to it, another name for it, and its end. */
export const ChatItem = memo(function ChatItem(props: ChatItemProps): ReactNode {
  const { chat, isCurrent, rename, remove, onChoose } = props;
  const title = chat.title ?? UNTITLED;
  const item = usePassFocus<HTMLLIElement>(focusNewChat);
  // Back and a reload may show a chat from far down the list.
  useEffect(() => {
    if (isCurrent) item.current?.scrollIntoView({ block: 'nearest' });
  }, [isCurrent, item]);
  return (
    <li ref={item} className="chat-item">
      <a
        href={addressOf(chat.id)}
        aria-current={isCurrent ? 'page' : undefined}
        dir="auto"
        title={title}
        onClick={onChoose}
      >
        {title}
      </a>
      <RenameChat chat={chat} title={title} rename={rename} />
      <DeleteChat chat={chat} title={title} isCurrent={isCurrent} remove={remove} onDone={onChoose} />
    </li>
  );
});

/** What is left of a list without chats. */
function focusNewChat(item: HTMLLIElement): void {
  item.closest('nav')?.querySelector('button')?.focus();
}

function RenameChat({ chat, title, rename }: RenameChatProps): ReactNode {
  const [renaming, setRenaming] = useState(false);
  return (
    <>
      <button
        type="button"
        className="icon-button"
        aria-label={`Rename chat: ${title}`}
        title="Rename chat"
        onClick={() => setRenaming(true)}
      >
        <Icon name="pencil" />
      </button>
      {renaming && (
        <NameDialog
          title="Rename chat"
          initial={chat.title ?? ''}
          onSave={(name) => rename(chat.id, name)}
          onClose={() => setRenaming(false)}
        />
      )}
    </>
  );
}

type Actions = Pick<UseChatsResult, 'rename' | 'remove'>;

interface ChatItemProps extends Actions {
  readonly chat: ChatInfo;
  readonly isCurrent: boolean;
  readonly onChoose: () => void;
}

interface RenameChatProps extends Pick<Actions, 'rename'> {
  readonly chat: ChatInfo;
  readonly title: string;
}
