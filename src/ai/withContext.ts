import type { ChatTransport, UIMessage } from 'ai';
import type { ContextEngine } from '../engine/engine.ts';
import { lazily } from './lazy.ts';
import type { OwnChat, WithContextOptions } from './ownChat.ts';

/**
 * A transport for apps that keep a `Chat` of their own: each turn is saved before it is sent, each answer while it grows, and
 * each request sends the resolved context of its branch, `system` and `messages`.
 *
 * `useContextChat` does this and more. A list that differs from what is saved forks, as `planTurn` says. A tool result of
 * `addToolOutput()` does not fork: it is saved on the answer with the call, with the next request. `close()` lets go of the
 * engine.
 *
 * Requests reject with `branch-not-found` for an unknown `branch`, with `busy` where another tab writes the answer, with
 * `store-unavailable` where code could not be loaded, and with the errors of the engine.
 */
export function withContext<M extends UIMessage>(
  transport: ChatTransport<M>,
  engine: ContextEngine,
  options: WithContextOptions<M> = {},
): ChatTransport<M> {
  let own: OwnChat<M> | undefined;
  const load = async (): Promise<OwnChat<M>> => {
    const code = await loadOwnChat();
    return (own ??= code.ownChat({ ...options, transport, engine }));
  };
  if (options.chat) load().catch(() => {});
  return {
    get resumeStreamIsReplay() {
      return transport.resumeStreamIsReplay ?? false;
    },
    close: () => {
      own?.release();
      transport.close?.();
    },
    sendMessages: async (sent) => (await load()).send(sent),
    reconnectToStream: async (sent) => (await load()).reconnect(sent),
  };
}

const loadOwnChat = lazily(() => import('./ownChat.ts'));
