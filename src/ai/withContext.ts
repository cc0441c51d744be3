import type { ChatTransport, UIMessage } from 'ai';
import type { ContextEngine } from '../engine/engine.ts';
import type { PrepareRequest } from './contextChat.ts';
import { lazily } from './lazy.ts';

/** Options of {@link withContext}. */
export interface WithContextOptions<M extends UIMessage = UIMessage> {
  /** The branch of all turns, by name or id. Default: the active branch when a request is made. */
  readonly branch?: string | undefined;
  /** Changes what each request sends. */
  readonly request?: PrepareRequest<M> | undefined;
}

/**
 * A transport for apps that keep a `Chat` of their own: each turn is saved before it is sent, each answer while it grows, and
 * each request sends the resolved context of its branch, `system` and `messages`.
 *
 * `useContextChat` does this and more. The list of the chat stays as it is: a page begins with
 * `messages: (await engine.resolve()).messages`, and a list that differs from what is saved forks. A tool result of
 * `addToolOutput()` does not fork: it is saved on the answer with the call, with the next request.
 *
 * Requests reject with `branch-not-found` for an unknown `branch`, with `busy` where another tab writes the answer, with
 * `store-unavailable` where code could not be loaded, and with the errors of the engine.
 */
export function withContext<M extends UIMessage>(
  transport: ChatTransport<M>,
  engine: ContextEngine,
  options: WithContextOptions<M> = {},
): ChatTransport<M> {
  const own = { ...options, transport, engine };
  return {
    get resumeStreamIsReplay() {
      return transport.resumeStreamIsReplay ?? false;
    },
    close: () => transport.close?.(),
    sendMessages: async (sent) => (await loadOwnChat()).send(own, sent),
    reconnectToStream: async (sent) => (await loadOwnChat()).reconnect(own, sent),
  };
}

const loadOwnChat = lazily(() => import('./ownChat.ts'));
