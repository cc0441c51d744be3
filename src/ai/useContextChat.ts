import type { UIMessage } from 'ai';
import { useEffect, useInsertionEffect, useRef, useSyncExternalStore } from 'react';
import type { ContextEngine } from '../engine/engine.ts';
import { useEngine } from '../react/provider.tsx';
import type { ContextChat, ContextChatOptions } from './contextChat.ts';
import { chatsOf } from './contextChats.ts';

/** Options of {@link useContextChat}: every option of the AI SDK's `ChatInit`, and the engine. */
export interface UseContextChatOptions<M extends UIMessage = UIMessage> extends ContextChatOptions<M> {
  /** Default: the engine of the provider. */
  readonly engine?: ContextEngine | undefined;
  /**
   * Whether unmounting the component stops the shown answer and leaves queued questions unasked. Default false: the answer
   * streams on and is saved, and queued questions are asked.
   */
  readonly stopOnUnmount?: boolean | undefined;
  /** `resume` is an option of the hook `useChat`, and refused here: `useChat({ ...useContextChat(options), resume: true })`. */
  readonly resume?: 'resume belongs to useChat: useChat({ ...useContextChat(options), resume: true })';
}

/**
 * The chat of the active branch, for an unchanged `useChat`: `useChat(useContextChat({ transport }))`.
 *
 * Callbacks, transport and `request` may change with each render, and belong here: `useChat` ignores those that stand beside a
 * chat, as in `useChat({ ...useContextChat(), onFinish })`. `messages` are shown while the conversation is empty.
 * Components of one engine share its chats; the options of the last rendered component that passes any are used.
 *
 * @throws provider-missing where there is neither a provider nor `engine`
 */
export function useContextChat<M extends UIMessage = UIMessage>(
  options: UseContextChatOptions<M> = {},
): { readonly chat: ContextChat<M> } {
  const { engine: given, stopOnUnmount, ...rest } = options;
  const chatOptions = rest as unknown as ContextChatOptions;
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
      // Stop the chat that is active at that time; chats of other branches go on. Under StrictMode the component mounts again
      // at once.
      const { active } = chats;
      queueMicrotask(() => void (shows.current === chats || active.leave()));
    };
  }, [chats, stopOnUnmount]);
  return { chat: chat as unknown as ContextChat<M> };
}
