import { useEffect, useMemo, useState } from 'react';
import { useStore } from 'zustand';
import { expectOption, isStore, ownOptions } from '../engine/desk.ts';
import { createId } from '../fragment/id.ts';
import { defaultStore } from '../store/default.ts';
import type { ChatRow as ChatInfo, ContextStore } from '../store/store.ts';
import { ChatList, type ChatListState } from './chatList.ts';
import { useProvidedEngine } from './provider.tsx';
import { LOCAL_USER } from './registry.ts';
import { keeping } from './useEngineState.ts';
import { useActions, type AsyncAction } from './usePending.ts';

/** Options of {@link useChats}. */
export interface UseChatsOptions {
  /** Default: the user of the nearest provider, else `local`. */
  readonly userId?: string | undefined;
}

/** A user's chats, and the actions on them. Functions are stable. */
export interface UseChatsResult extends AsyncAction {
  /** The last updated first; live, with changes of other tabs. Empty until `isPending` is false for the first time. */
  readonly chats: readonly ChatInfo[];
  /** Whether there are chats after the last one shown. */
  readonly hasMore: boolean;
  /** Shows 50 more. */
  readonly loadMore: () => Promise<void>;
  /** The id of a new chat. Nothing is stored or listed before something is said in it. */
  readonly create: () => string;
  /** Changes the title of a chat; null removes it. Rejects with `chat-deleted` when there is no such chat. */
  readonly rename: (chatId: string, title: string | null) => Promise<void>;
  /**
   * Removes a chat: from the list at once, from the disk after 10 seconds. Resolves to a function that restores it until then,
   * and resolves to whether it did. A full disk can't note that it is to be deleted: then the page has to stay open so long.
   */
  readonly remove: (chatId: string) => Promise<() => Promise<boolean>>;
}

/**
 * The chats in a store: the given one, else that of the nearest provider, else the page's IndexedDB. Needs no provider. On a
 * server nothing is opened and the list is empty.
 * @throws invalid-options for a value that is no store
 */
export function useChats(store?: ContextStore, options: UseChatsOptions = {}): UseChatsResult {
  const engine = useProvidedEngine();
  const chosen = store ?? engine?.store ?? defaultStore();
  expectOption(isStore(chosen), 'store', 'a ContextStore', chosen);
  const userId = ownOptions(options).userId ?? engine?.userId ?? LOCAL_USER;
  const list = useMemo(() => new ChatList(chosen, userId), [chosen, userId]);
  useEffect(() => list.follow(), [list]);

  const [select] = useState(() => keeping((state: ChatListState) => state));
  const { found, hasMore, leaving, isLoading, error: readError } = useStore(list.state, select);
  const { isPending, error, ...actions } = useActions(list, actionsOf);
  const chats = useMemo(() => found.filter(({ id }) => !leaving.includes(id)), [found, leaving]);
  return {
    chats,
    hasMore,
    ...actions,
    create: createId,
    isPending: isPending || isLoading,
    error: error ?? readError,
  };
}

const actionsOf = (list: ChatList) => ({
  loadMore: () => list.loadMore(),
  rename: (chatId: string, title: string | null) => list.rename(chatId, title),
  remove: (chatId: string) => list.remove(chatId),
});
