import type { ChatTransport, UIMessage } from 'ai';
import { createLocalTransport } from 'contextree/ai/local';
import { createDemoModel, createDemoTools } from './model.ts';
import { endpointModel } from './settings/endpoint.ts';
import type { Settings } from './settings/settings.ts';

/**
 * Who answers: the model that the settings name at the moment of the question, generated in this browser.
 * A chat keeps one transport for life, so this one looks the model up anew for each request.
 */
export function createAnswers(settings: Settings, { speed = 1 }: AnswerOptions = {}): ChatTransport<UIMessage> {
  const tools = createDemoTools();
  const demo = createLocalTransport({ model: createDemoModel({ speed }), tools });
  const current = (): ChatTransport<UIMessage> => {
    const chosen = settings.get();
    return chosen.baseUrl === '' ? demo : createLocalTransport({ model: endpointModel(chosen) });
  };
  return {
    sendMessages: (request) => current().sendMessages(request),
    reconnectToStream: (request) => current().reconnectToStream(request),
  };
}

interface AnswerOptions {
  /** Pace of the demo model: 1 as people read, 0 without delays. */
  readonly speed?: number;
}
