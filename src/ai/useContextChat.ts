import type { UIMessage } from 'ai';
import { useEffect, useInsertionEffect, useRef, useSyncExternalStore } from 'react';
import type { ContextEngine } from '../engine/engine.ts';
import { useEngine } from '../react/provider.tsx';
import type { ContextChat, ContextChatOptions } from './contextChat.ts';
import { chatsOf } from './contextChats.ts';

/** What {@link useContextChat} takes: every option of the AI SDK's `ChatInit`, and whose conversation it is. */
export interface UseContextChatOptions<M extends UIMessage = UIMessage> extends ContextChatOptions<M> {
  /** Default: the provider's. */
  readonly engine?: ContextEngine | undefined;
  /**
   * Whether the answer that is shown stops when the component goes, and what waits behind it is left unasked. Default
   * false: it streams on, is saved, and the next one is asked.
   */
  readonly stopOnUnmount?: boolean | undefined;
  /** An option of the hook `useChat`, and refused here: `useChat({ ...useContextChat(options), resume: true })`. */
  readonly resume?: 'resume belongs to useChat: useChat({ ...useContextChat(options), resume: true })';
}

/**
 * The chat of the branch that is shown, for an untouched `useChat`: `useChat(useContextChat({ transport }))`.
 *
 * Callbacks, transport and `request` may change with each render. `messages` are shown while the conversation is empty.
 * Components of one engine share its chats; the options of the one rendered last that has any are used.
 *
 * @throws provider-missing where there is neither a provider nor `engine`
 */
export function useContextChat<M extends UIMessage = UIMessage>(
  options: UseContextChatOptions<M> = {},
): { readonly chat: ContextChat<M> } {
  const { engine: given, stopOnUnmount, ...chatOptions } = options;
  const engine = useEngine(given);
  const chats = chatsOf(engine, chatOptions);
  useInsertionEffect(() => chats.configure(chatOptions));
  const chat = useSyncExternalStore(engine.state.subscribe, chats.look, chats.lookUnread);
  const shows = useRef<typeof chats>(undefined);
  useEffect(() => {
    shows.current = chats;
    if (!stopOnUnmount) return undefined;
    return () => {
      shows.current = undefined;
      // The chat that is shown then: those of other branches go on. Under StrictMode the component is back at once.
      const { active } = chats;
      queueMicrotask(() => void (shows.current === chats || active.leave()));
    };
  }, [chats, stopOnUnmount]);
  return { chat };
}
