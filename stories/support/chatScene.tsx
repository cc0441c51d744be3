import type { ChatTransport, UIMessage } from 'ai';
import { IndexedDBContextStore, type ContextEngine, type ContextStore } from 'contextree';
import { StrictMode, type ReactNode } from 'react';
import { addressOf } from '../demo/address.ts';
import { createAnswers } from '../demo/answers.ts';
import { App } from '../demo/App.tsx';
import { firstChat } from '../demo/firstChat.ts';
import { FIRST_CHAT } from '../demo/firstKeys.ts';
import type { FirstChat } from '../demo/shell/useFirstVisit.ts';
import { createSettings, type Settings } from '../demo/settings/settings.ts';
import { CHAT, forgetTab, tell } from './earlier.ts';
import '../demo/styles/index.css';

/**
 * The whole chat app, in a state that someone can meet.
 *
 * Nothing of ours is played by something else. The app is the demo, the store is a database of the browser, and what
 * stands in it was written by an engine before the app is opened on it, as if in an earlier visit. What only happens
 * while one looks (an answer that grows, a disk that fills up) happens in the story itself.
 */
export interface ChatScene {
  readonly store: ContextStore;
  readonly transport: ChatTransport<UIMessage>;
  readonly settings: Settings;
  /** The chat that a first visit opens on, where this is one. */
  readonly firstChat?: FirstChat;
  /** The chat in the address; without it, the address names none. */
  readonly chatId?: string;
  /** Leaves the browser as it was found. */
  readonly leave: () => void;
}

/** What a scene is made of beyond the usual: a chat, an empty database, answers at once. */
export interface SceneOptions {
  /** What was said in earlier visits. */
  readonly before?: (engine: ContextEngine) => Promise<unknown>;
  /** Another place to keep chats. */
  readonly store?: ContextStore;
  /** Another one who answers. */
  readonly transport?: ChatTransport<UIMessage>;
  /** Another chat to open than the one that was talked in. */
  readonly chatId?: string;
  /** Whether the app is opened for the first time. Default false. */
  readonly isFirstVisit?: boolean;
}

/** Sets a scene: writes what was said before, and puts the chat into the address. */
export async function chatScene({ before, isFirstVisit, ...given }: SceneOptions = {}): Promise<ChatScene> {
  const name = `contextree-story-${crypto.randomUUID()}`;
  const store = given.store ?? new IndexedDBContextStore(name);
  if (before) await tell(store, CHAT, before);
  const chatId = given.chatId ?? (before && CHAT);
  const settings = createSettings();
  const leave = (): void => {
    history.replaceState(null, '', location.pathname + location.search);
    void store.close();
    indexedDB.deleteDatabase(name);
  };
  history.replaceState(null, '', chatId === undefined ? '#/' : addressOf(chatId));
  forgetTab();
  return {
    store,
    transport: given.transport ?? createAnswers(settings, { speed: 0 }),
    settings,
    leave,
    ...(isFirstVisit && { firstChat: { id: FIRST_CHAT, records: async () => firstChat(Date.now()) } }),
    ...(chatId !== undefined && { chatId }),
  };
}

/** The app in a scene. */
export function ChatApp({ store, transport, settings, firstChat: first }: ChatScene): ReactNode {
  return (
    <StrictMode>
      <App store={store} transport={transport} settings={settings} {...(first && { firstChat: first })} />
    </StrictMode>
  );
}
