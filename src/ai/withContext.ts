import type { ChatStatus, ChatTransport, UIMessage } from 'ai';
import { refuseToLoad } from '../errors.ts';
import type { ContextEngine } from '../engine/engine.ts';
import type { OwnChat } from './ownChat.ts';
import type { PrepareRequest } from './transport.ts';

/** How {@link withContext} asks. */
export interface WithContextOptions<M extends UIMessage = UIMessage> {
  /** The branch that turns go to, by name or id. Default: the one that is active when a request is made. */
  readonly branch?: string | undefined;
  /** Changes what goes out. */
  readonly request?: PrepareRequest<M> | undefined;
  /**
   * The chat that this transport belongs to, as soon as there is one: its list shows what is saved, follows when the
   * branch moves, while no answer grows in it, and results of tools are saved as they are given. Without it the list
   * stays as it is, and the next question goes on from what it shows: a page that comes back begins the chat with
   * `messages: (await engine.resolve()).messages`, or the question is a first one again, on a branch of its own.
   */
  readonly chat?: (() => FollowingChat<M> | undefined) | undefined;
}

/** What a chat needs to follow: the AI SDK's `Chat` has it. */
export interface FollowingChat<M extends UIMessage = UIMessage> {
  messages: M[];
  readonly status: ChatStatus;
  /** @internal How the AI SDK's own `Chat` says that its list has changed. */
  readonly '~registerMessagesCallback'?: (onChange: () => void) => () => void;
}

/**
 * A transport that keeps what passes: each turn is saved before it is sent, each answer while it grows, and what is
 * sent is the resolved context of its branch, `system` and `messages`.
 *
 * For apps that keep a `Chat` of their own; `useContextChat` does this and more. A list that differs from what is
 * saved forks, as `planTurn` has it; a tool's result that `addToolOutput()` put there does not, it is saved in the
 * answer that asked, with the next request. `close()` lets go of the engine.
 *
 * Requests reject with `branch-not-found` for a `branch` that is not there, with `busy` where another tab writes the
 * answer, with `store-unavailable` where code could not be loaded, and with what the engine refuses.
 */
export function withContext<M extends UIMessage>(
  transport: ChatTransport<M>,
  engine: ContextEngine,
  options: WithContextOptions<M> = {},
): ChatTransport<M> {
  let loading: Promise<OwnChat<M>> | undefined;
  const load = async (): Promise<OwnChat<M>> => {
    const { ownChat } = await import('./ownChat.ts').catch((error: unknown) => {
      loading = undefined;
      return refuseToLoad(error);
    });
    return ownChat(transport, engine, options);
  };
  const own = (): Promise<OwnChat<M>> => (loading ??= load());
  if (options.chat) own().catch(() => {});
  return {
    get resumeStreamIsReplay() {
      return transport.resumeStreamIsReplay ?? false;
    },
    close: () => {
      void loading?.then((chat) => chat.release()).catch(() => {});
      transport.close?.();
    },
    sendMessages: async (sent) => (await own()).send(sent),
    reconnectToStream: async (sent) => (await own()).reconnect(sent),
  };
}
