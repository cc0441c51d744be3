import type { ChatTransport, UIMessage } from 'ai';
import { comesLate } from './ui/late.tsx';

/**
 * A transport whose code is loaded after the page, so that a visitor who reads first waits for no model. It is loaded with the
 * first question, or when the page is idle; after a failure the next question tries again.
 */
export function createLateAnswers(load: () => Promise<ChatTransport<UIMessage>>): ChatTransport<UIMessage> {
  let coming: Promise<ChatTransport<UIMessage>> | undefined;
  const loaded = (): Promise<ChatTransport<UIMessage>> => {
    coming ??= load().catch((error: unknown) => {
      coming = undefined;
      throw error;
    });
    return coming;
  };
  comesLate(loaded);
  const answers: ChatTransport<UIMessage> & { readonly runsDry: boolean } = {
    sendMessages: async (request) => (await loaded()).sendMessages(request),
    reconnectToStream: async (request) => (await loaded()).reconnectToStream(request),
    // As those of `createAnswers`: a run of the devtools runs no tool.
    runsDry: true,
  };
  return answers;
}
