import type { ChatRow, UseChatsResult } from 'contextree';
import { memo, useEffect, useId, useRef, useState, type ReactNode, type RefObject } from 'react';
import { addressOf } from '../address.ts';
import { withoutNews, type News } from '../conversation/useBranchNews.ts';
import { wantMessage } from '../shell/wanted.ts';
import { calm, UNTITLED } from '../titles.ts';
import { Icon } from '../ui/Icon.tsx';
import { NameDialog } from '../ui/NameDialog.tsx';
import { usePassFocus } from '../ui/usePassFocus.ts';
import { DeleteChat } from './DeleteChat.tsx';
import type { SnippetPiece } from './useChatSearch.ts';

/** One chat in the list: its link, its news, and behind one button renaming and deleting. */
export const ChatItem = memo(function ChatItem(props: ChatItemProps): ReactNode {
  const { chat, isCurrent, news, snippet = NO_PIECES, messageKey, rename, remove, onChoose } = props;
  const title = calm(chat.title ?? UNTITLED);
  const newsId = useId();
  const item = usePassFocus<HTMLLIElement>(focusNearest);
  const { isOpen, setOpen, opener, choose } = useActions(item);
  const [asking, setAsking] = useState<'name' | 'deletion'>();
  // Back and a reload may show a chat from far down the list.
  useEffect(() => {
    if (isCurrent) item.current?.scrollIntoView({ block: 'nearest' });
  }, [isCurrent, item]);
  return (
    <li ref={item} className="chat-item" data-open={isOpen || undefined}>
      <a
        href={addressOf(chat.id)}
        aria-current={isCurrent ? 'page' : undefined}
        aria-describedby={news && newsId}
        title={title}
        onClick={({ ctrlKey, metaKey, shiftKey }) => {
          // With one of these keys the chat opens in another tab or window.
          if (messageKey !== undefined && !ctrlKey && !metaKey && !shiftKey) wantMessage(chat.id, messageKey);
          onChoose();
        }}
      >
        <span dir="auto">{title}</span>
        {snippet.length > 0 && <Snippet pieces={snippet} />}
      </a>
      {news && <i id={newsId} className="dot" data-news={news} role="img" aria-label={IN_WORDS[news]} />}
      <button
        ref={opener}
        type="button"
        className="icon-button"
        aria-label={`Chat actions: ${title}`}
        aria-expanded={isOpen}
        title="Chat actions"
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name="more" />
      </button>
      {isOpen && (
        <div className="chat-actions" role="group" aria-label={`Actions of ${title}`}>
          <button
            type="button"
            className="word-button"
            aria-label={`Rename chat: ${title}`}
            onClick={choose(() => setAsking('name'))}
          >
            <Icon name="pencil" />
            Rename
          </button>
          <button
            type="button"
            className="word-button"
            aria-label={`Delete chat: ${title}`}
            onClick={choose(() => setAsking('deletion'))}
          >
            <Icon name="bin" />
            Delete
          </button>
        </div>
      )}
      {asking === 'name' && (
        <NameDialog
          title="Rename chat"
          initial={chat.title ?? ''}
          onSave={(name) => withoutNews(chat, () => rename(chat.id, name))}
          onClose={() => setAsking(undefined)}
        />
      )}
      {asking === 'deletion' && (
        <DeleteChat
          chat={chat}
          title={title}
          isCurrent={isCurrent}
          remove={remove}
          onDelete={onChoose}
          onClose={() => setAsking(undefined)}
        />
      )}
    </li>
  );
});

const NO_PIECES: readonly SnippetPiece[] = [];

const IN_WORDS: Readonly<Record<News, string>> = { growing: 'An answer is growing', unread: 'A new answer' };

function Snippet({ pieces }: { readonly pieces: readonly SnippetPiece[] }): ReactNode {
  return (
    <small dir="auto">
      {pieces.map(({ text, isHit }, i) => (isHit ? <mark key={i}>{text}</mark> : text))}
    </small>
  );
}

/** Focuses the chat next to one that is removed, or what is left of an empty list. */
function focusNearest(item: HTMLLIElement): void {
  const nav = item.closest('nav');
  const items = [...(nav?.querySelectorAll('.chat-item') ?? [])];
  const at = items.indexOf(item);
  const nearest = items[at + 1] ?? items[at - 1];
  (nearest ?? nav)?.querySelector('button')?.focus();
}

/** The actions of a row: open until one is chosen, or somebody goes elsewhere. */
function useActions(item: RefObject<HTMLElement | null>): Actions {
  const [isOpen, setOpen] = useState(false);
  const opener = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!isOpen) return;
    const leave = (event: Event): void => {
      if (!(event.target instanceof Node && item.current?.contains(event.target))) setOpen(false);
    };
    const press = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape') return;
      // The drawer that the row stands in stays.
      event.stopPropagation();
      opener.current?.focus();
      setOpen(false);
    };
    const row = item.current;
    document.addEventListener('pointerdown', leave);
    document.addEventListener('focusin', leave);
    row?.addEventListener('keydown', press);
    return () => {
      document.removeEventListener('pointerdown', leave);
      document.removeEventListener('focusin', leave);
      row?.removeEventListener('keydown', press);
    };
  }, [isOpen, item]);
  const choose = (act: () => void) => () => {
    // The dialog gives the focus back to where it came from.
    opener.current?.focus();
    setOpen(false);
    act();
  };
  return { isOpen, setOpen, opener, choose };
}

interface Actions {
  readonly isOpen: boolean;
  readonly setOpen: (isOpen: boolean) => void;
  readonly opener: RefObject<HTMLButtonElement | null>;
  readonly choose: (act: () => void) => () => void;
}

interface ChatItemProps extends Pick<UseChatsResult, 'rename' | 'remove'> {
  readonly chat: ChatRow;
  readonly isCurrent: boolean;
  readonly news: News | undefined;
  /** Where the words are that were searched for. */
  readonly snippet: readonly SnippetPiece[] | undefined;
  /** The message that is shown when the chat is opened from here. */
  readonly messageKey: string | undefined;
  readonly onChoose: () => void;
}
