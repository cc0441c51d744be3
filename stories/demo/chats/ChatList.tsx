import { useChats, type ChatRow } from 'contextree';
import { useId, useState, type KeyboardEvent, type ReactNode } from 'react';
import { isClosedToUs } from '../failure.ts';
import { useWorkspace } from '../shell/Workspace.ts';
import { Icon } from '../ui/Icon.tsx';
import { ChatItem } from './ChatItem.tsx';
import { byDay } from './days.ts';
import { useChatNews } from './useChatNews.ts';
import { useChatSearch, type Found, type Search } from './useChatSearch.ts';

/** All chats by day, the last used first, those that have some words, and the way to a new one. */
export function ChatList({ current, onChoose }: ChatListProps): ReactNode {
  const { store, newChat } = useWorkspace();
  const { chats, hasMore, loadMore, rename, remove, error } = useChats(store);
  const [query, setQuery] = useState('');
  const search = useChatSearch(store, query, { chats, hasMore });
  const listed = search ? search.found.map(({ chat }) => chat) : chats;
  const news = useChatNews(store, listed, current);
  const beginNew = (): void => {
    newChat();
    onChoose();
  };
  const row = (chat: ChatRow, found?: Found): ReactNode => (
    <ChatItem
      key={chat.id}
      chat={chat}
      isCurrent={chat.id === current}
      news={news.get(chat.id)}
      snippet={found?.snippet}
      messageKey={found?.messageKey}
      rename={rename}
      remove={remove}
      onChoose={onChoose}
    />
  );
  return (
    <nav className="chats" aria-label="Chats">
      <div className="chats-head">
        <button type="button" className="row-button new-chat" onClick={beginNew}>
          <Icon name="plus" />
          <span>New chat</span>
        </button>
        {(chats.length > 0 || query !== '') && <SearchBox query={query} onChange={setQuery} />}
      </div>
      {search ? <Results search={search} row={row} /> : <Days chats={chats} row={row} />}
      {!search && chats.length === 0 && isClosedToUs(error) && (
        <p className="menu-note">Your chats can’t be listed before their database opens.</p>
      )}
      {!search && hasMore && (
        <button type="button" className="button" onClick={() => void loadMore()}>
          Show more chats
        </button>
      )}
    </nav>
  );
}

function SearchBox({ query, onChange }: SearchBoxProps): ReactNode {
  const press = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape' || query === '') return;
    // The drawer that the list stands in stays.
    event.stopPropagation();
    event.preventDefault();
    onChange('');
  };
  return (
    <div className="chat-search">
      <Icon name="search" />
      <input
        type="search"
        aria-label="Search chats"
        placeholder="Search chats"
        dir="auto"
        value={query}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={press}
      />
    </div>
  );
}

function Days({ chats, row }: { readonly chats: readonly ChatRow[]; readonly row: Row }): ReactNode {
  const id = useId();
  return byDay(chats).map((day) => (
    <section key={day.name} className="chats-day">
      <p id={`${id}-${day.name}`}>{day.name}</p>
      <ul aria-labelledby={`${id}-${day.name}`}>{day.chats.map((chat) => row(chat))}</ul>
    </section>
  ));
}

function Results({ search: { found, isOver }, row }: ResultsProps): ReactNode {
  return (
    <section className="chats-day">
      <p role="status">{resultsInWords(found.length, isOver)}</p>
      <ul aria-label="Chats found">{found.map((one) => row(one.chat, one))}</ul>
    </section>
  );
}

function resultsInWords(count: number, isOver: boolean): string {
  if (!isOver) return 'Searching…';
  if (count === 0) return 'No chat has these words.';
  return count === 1 ? '1 chat found' : `${count} chats found`;
}

type Row = (chat: ChatRow, found?: Found) => ReactNode;

interface ChatListProps {
  /** The id of the chat that is shown. */
  readonly current: string;
  /** A chat was chosen: a drawer may close. */
  readonly onChoose: () => void;
}

interface SearchBoxProps {
  readonly query: string;
  readonly onChange: (query: string) => void;
}

interface ResultsProps {
  readonly search: Search;
  readonly row: Row;
}
