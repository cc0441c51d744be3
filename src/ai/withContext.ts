import type { ChatTransport, UIMessage } from 'ai';
import type { ContextEngine } from '../engine/engine.ts';
import { lazily } from './load.ts';

/**
 * A transport for apps that keep a `Chat` of their own: each turn is saved before it is sent, each answer while it grows, and
 * each request sends the resolved context of its branch, `system` and `messages`.
 *
 * `useContextChat` does this and more. The list of the chat stays as it is: a page begins with
 * `messages: (await engine.resolve()).messages`, and a list that differs from what is saved forks. A tool result of
 * `addToolOutput()` does not fork: it is saved on the answer with the call, with the next request.
 *
 * Requests reject with `busy` where another tab writes the answer, with `store-unavailable` where code could not be loaded, and
 * with the errors of the engine.
 */
export function withContext<M extends UIMessage>(
  transport: ChatTransport<M>,
  engine: ContextEngine,
): ChatTransport<M> {
  const own = { transport: transport as unknown as ChatTransport<UIMessage>, engine };
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
