import type { ChatRow, UseChatsResult } from 'contextree';
import { useEffect, useState, type ReactNode } from 'react';
import { goToChat } from '../address.ts';
import { useNotices } from '../shell/Notices.tsx';
import { useAttempt } from '../shell/useAttempt.ts';
import { useWorkspace } from '../shell/Workspace.ts';
import { ConfirmDialog } from '../ui/ConfirmDialog.tsx';
import { forgetWords } from '../unsent.ts';
import { forgetFiles } from '../unsentFiles.ts';

/** Asks whether a chat is to be deleted, says how much that is, and offers it back for ten seconds. */
export function DeleteChat(props: DeleteChatProps): ReactNode {
  const { chat, title, isCurrent, remove, onDelete, onClose } = props;
  const { store, newChat } = useWorkspace();
  const { tell } = useNotices();
  const attempt = useAttempt();
  const removeIt = async (): Promise<void> => {
    onDelete();
    if (isCurrent) newChat();
    const undo = await remove(chat.id);
    const bringWordsBack = forgetWords(chat.id);
    const bringFilesBack = await forgetFiles(store, chat.id);
    const bringBack = async (): Promise<void> => {
      if (!(await undo())) throw new Error(`It is too late to bring ${title} back`);
      bringWordsBack();
      await bringFilesBack();
      if (isCurrent) goToChat(chat.id);
    };
    tell({
      key: `deleted ${chat.id}`,
      text: `Deleted ${title}`,
      undo: { label: 'Undo', run: () => attempt(bringBack) },
      lasts: 10_000,
    });
  };
  return (
    <ConfirmDialog title="Delete chat" confirm="Delete" onConfirm={() => attempt(removeIt)} onClose={onClose}>
      <p dir="auto">
        “{title}” and its <MessageCount chat={chat} /> will be deleted, on all of its branches.
      </p>
    </ConfirmDialog>
  );
}

/** How many messages a chat has; growing answers are counted when they are complete. */
function MessageCount({ chat: { id, messageCount } }: { readonly chat: ChatRow }): ReactNode {
  const { store } = useWorkspace();
  const [found, setFound] = useState({ beside: 0, count: 0 });
  useEffect(() => {
    let isGone = false;
    const look = async (): Promise<void> => {
      const held = await store.held(id);
      if (held.size === 0) return;
      const { nodes } = await store.getGraph(id);
      const unbegun = [...held].filter((answer) => !nodes.some((node) => node.key === answer));
      if (!isGone) setFound({ beside: messageCount, count: nodes.length + unbegun.length });
    };
    look().catch(() => {});
    return () => {
      isGone = true;
    };
  }, [store, id, messageCount]);
  const count = found.beside === messageCount ? found.count : messageCount;
  return count === 1 ? '1 message' : `${count} messages`;
}

interface DeleteChatProps extends Pick<UseChatsResult, 'remove'> {
  readonly chat: ChatRow;
  readonly title: string;
  readonly isCurrent: boolean;
  /** It is being deleted: a drawer may close, and show the way back. */
  readonly onDelete: () => void;
  /** It was decided, this way or that. */
  readonly onClose: () => void;
}
