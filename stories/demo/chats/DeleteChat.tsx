import type { ChatInfo, UseChatsResult } from 'contextree';
import { useEffect, useState, type ReactNode } from 'react';
import { goToChat } from '../address.ts';
import { useNotices } from '../shell/Notices.tsx';
import { useAttempt } from '../shell/useAttempt.ts';
import { useWorkspace } from '../shell/Workspace.ts';
import { ConfirmDialog } from '../ui/ConfirmDialog.tsx';
import { Icon } from '../ui/Icon.tsx';
import { forgetWords } from '../unsent.ts';
import { forgetFiles } from '../unsentFiles.ts';

/** Deletes a chat, once it is clear how much that is, and offers it back for ten seconds. */
export function DeleteChat({ chat, title, isCurrent, remove, onDone }: DeleteChatProps): ReactNode {
  const [asking, setAsking] = useState(false);
  const { store, newChat } = useWorkspace();
  const { tell } = useNotices();
  const attempt = useAttempt();
  const removeIt = async (): Promise<void> => {
    onDone();
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
      action: { label: 'Undo', run: () => attempt(bringBack) },
      lasts: 10_000,
    });
  };
  return (
    <>
      <button
        type="button"
        className="icon-button"
        aria-label={`Delete chat: ${title}`}
        title="Delete chat"
        onClick={() => setAsking(true)}
      >
        <Icon name="bin" />
      </button>
      {asking && (
        <ConfirmDialog
          title="Delete chat"
          confirm="Delete"
          onConfirm={() => attempt(removeIt)}
          onClose={() => setAsking(false)}
        >
          <p dir="auto">
            “{title}” and its <MessageCount chat={chat} /> will be deleted, on all of its branches.
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}

/** How many messages a chat has, with answers that grow right now: those are counted in the list when they are whole. */
function MessageCount({ chat: { id, messageCount } }: { readonly chat: ChatInfo }): ReactNode {
  const { store } = useWorkspace();
  const [found, setFound] = useState({ beside: 0, count: 0 });
  useEffect(() => {
    let isGone = false;
    const look = async (): Promise<void> => {
      const held = await store.held(id);
      if (held.size === 0) return;
      const { nodes } = await store.getGraph(id);
      const unbegun = [...held].filter((answer) => !nodes.some((node) => node.id === answer));
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
  readonly chat: ChatInfo;
  readonly title: string;
  readonly isCurrent: boolean;
  /** It is being deleted: a drawer may close, and show the way back. */
  readonly onDone: () => void;
}
