import type { ChatTransport, UIMessage } from 'ai';
import { isContextError, useChats, type ContextStore } from 'contextree';
import { useCallback, useEffect, useMemo, useState, type ReactNode } from 'react';
import { goToChat, useAddressedChat } from './address.ts';
import { Sidebar } from './chats/Sidebar.tsx';
import { ChatPage } from './conversation/ChatPage.tsx';
import type { Losses } from './losses.ts';
import { local, session } from './safeStorage.ts';
import type { Settings } from './settings/settings.ts';
import { Announcer } from './shell/Announcer.tsx';
import { MenuButton } from './shell/MenuButton.tsx';
import { NoticeKeeper, useNotices } from './shell/Notices.tsx';
import { SessionDrop } from './shell/SessionDrop.tsx';
import { useDrawer } from './shell/useDrawer.ts';
import { useCalmDoubleClicks } from './shell/once.ts';
import { noteVisit, useFirstVisit, type FirstChat } from './shell/useFirstVisit.ts';
import { WorkspaceContext, type Workspace } from './shell/Workspace.ts';
import { forgetHeldWords, joined, keepUnsentText, takeUnsentText, unsentChat } from './unsent.ts';
import { changeUnsentFiles, forgetHeldFiles } from './unsentFiles.ts';

/**
 * The chat app.
 *
 * The store, the transport and the settings are props, so that a story or a test can use others. When everything is cleared, in
 * this tab or in another, the whole app is mounted anew, so that no component shows anything it remembers.
 */
export function App(props: AppProps): ReactNode {
  const { beginnings, startOver } = useBeginnings(props);
  useCalmDoubleClicks();
  return (
    <Announcer key={beginnings}>
      <NoticeKeeper>
        <Rooms {...props} startOver={startOver} />
        <SessionDrop />
      </NoticeKeeper>
    </Announcer>
  );
}

/** What the app runs on. */
export interface AppProps {
  readonly store: ContextStore;
  readonly transport: ChatTransport<UIMessage>;
  readonly settings: Settings;
  /** Reports what the browser lost of the store; without it, nobody is told. */
  readonly losses?: Losses;
  /** The chat that a first visit opens; default: an empty one. */
  readonly firstChat?: FirstChat;
}

/** How often the app began anew, and the way to let it. */
function useBeginnings({ store, settings }: AppProps): Beginnings {
  const [beginnings, setTimes] = useState(0);
  const startOver = useCallback(() => setTimes((times) => times + 1), []);
  useEffect(
    () =>
      store.subscribe(({ kind }) => {
        if (kind !== 'clear') return;
        session.clear();
        local.clear();
        noteVisit();
        forgetHeldWords();
        forgetHeldFiles(store);
        settings.reset();
        history.replaceState(null, '', '#/');
        startOver();
      }),
    [store, settings, startOver],
  );
  return { beginnings, startOver };
}

interface Beginnings {
  readonly beginnings: number;
  readonly startOver: () => void;
}

function Rooms({
  store: given,
  transport,
  settings,
  losses,
  firstChat,
  startOver,
}: AppProps & Pick<Beginnings, 'startOver'>): ReactNode {
  const { tell } = useNotices();
  useEffect(() => losses?.follow((text) => tell({ key: 'lost', text })), [losses, tell]);
  const drawer = useDrawer();
  const addressed = useAddressedChat();
  const { store, isFirst } = useFirstVisit(given, firstChat, addressed !== null);
  const { create, error } = useChats(store);
  const chatId = addressed ?? (firstChat && isFirst !== 'no' ? firstChat.id : unsentChat(create));
  useEffect(() => {
    if (addressed === null && isFirst !== 'open') goToChat(chatId, { replace: true });
  }, [addressed, isFirst, chatId]);

  const workspace: Workspace = useMemo(
    () => ({
      store,
      transport,
      settings,
      newChat: (words = '', files = []) => {
        const chatId = unsentChat(create);
        if (files.length > 0) void changeUnsentFiles(store, chatId, (kept) => [...kept, ...files]);
        openNewChat(chatId, words);
      },
      startOver,
      clearAll: () => store.clear(),
    }),
    [store, transport, settings, create, startOver],
  );
  return (
    <WorkspaceContext value={workspace}>
      <div className="app" data-graph={isFirst === 'no' ? undefined : ''}>
        <Sidebar current={chatId} drawer={drawer} canExport={!isContextError(error, 'newer-format')} />
        <ChatPage
          chatId={chatId}
          isFirst={isFirst !== 'no' && chatId === firstChat?.id}
          hasSteps={chatId === firstChat?.id}
          covered={drawer.isOpen}
          menuButton={<MenuButton drawer={drawer} />}
        />
      </div>
    </WorkspaceContext>
  );
}

function openNewChat(chatId: string, words: string): void {
  keepUnsentText(chatId, joined([takeUnsentText(chatId), words]));
  goToChat(chatId);
}
