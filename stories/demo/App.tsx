import type { ChatTransport, UIMessage } from 'ai';
import { isContextError, useChats, type ContextStore } from 'contextree';
import { useEffect, useMemo, useState, type ReactNode } from 'react';
import { goToChat, useAddressedChat } from './address.ts';
import { Sidebar } from './chats/Sidebar.tsx';
import { ChatPage } from './conversation/ChatPage.tsx';
import { starters, type Starter } from './conversation/Welcome.tsx';
import { local, session } from './safeStorage.ts';
import type { Settings } from './settings/settings.ts';
import { Announcer } from './shell/Announcer.tsx';
import { MenuButton } from './shell/MenuButton.tsx';
import { NoticeKeeper } from './shell/Notices.tsx';
import { useDrawer } from './shell/useDrawer.ts';
import { WorkspaceContext, type Workspace } from './shell/Workspace.ts';
import { joined, keepUnsentText, takeUnsentText, unsentChat } from './unsent.ts';
import { changeUnsentFiles, forgetHeldFiles } from './unsentFiles.ts';

/**
 * The chat app.
 *
 * The store, the transport and the settings come from outside, so that a story or a test can put others in their
 * place. When everything is cleared, in this tab or in another, the whole app begins anew: nothing that a component
 * still remembered can come back.
 */
export function App(props: AppProps): ReactNode {
  const beginnings = useBeginnings(props);
  return (
    <Announcer key={beginnings}>
      <NoticeKeeper>
        <Rooms {...props} />
      </NoticeKeeper>
    </Announcer>
  );
}

/** What the app runs on. */
export interface AppProps {
  readonly store: ContextStore;
  readonly transport: ChatTransport<UIMessage>;
  readonly settings: Settings;
}

/** How often the app began anew. */
function useBeginnings({ store, settings }: AppProps): number {
  const [times, setTimes] = useState(0);
  useEffect(
    () =>
      store.subscribe(({ kind }) => {
        if (kind !== 'clear') return;
        session.clear();
        local.clear();
        forgetHeldFiles(store);
        settings.reset();
        history.replaceState(null, '', '#/');
        setTimes((times) => times + 1);
      }),
    [store, settings],
  );
  return times;
}

function Rooms({ store, transport, settings }: AppProps): ReactNode {
  const { create, chats, isPending, error } = useChats(store);
  const drawer = useDrawer();
  const addressed = useAddressedChat();
  const chatId = addressed ?? unsentChat(create);
  useEffect(() => {
    if (addressed === null) goToChat(chatId, { replace: true });
  }, [addressed, chatId]);

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
      clearAll: () => store.clear(),
    }),
    [store, transport, settings, create],
  );
  return (
    <WorkspaceContext value={workspace}>
      <div className="app">
        <Sidebar current={chatId} drawer={drawer} canExport={!isContextError(error, 'newer-format')} />
        <ChatPage
          chatId={chatId}
          // Offered for as long as there is no chat yet; they wait until that is known.
          starters={chats.length === 0 && !isPending ? starters : NO_STARTERS}
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

const NO_STARTERS: readonly Starter[] = [];
