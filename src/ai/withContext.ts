import type { ChatTransport, UIMessage } from 'ai';
import type { ContextEngine } from '../engine/engine.ts';
import { lazily } from './lazy.ts';
import type { OwnChat, WithContextOptions } from './ownChat.ts';

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
