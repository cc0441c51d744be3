import { isStepCount, type ChatTransport, type UIMessage } from 'ai';
import { createLocalTransport } from 'contextree/ai/local';
import { describeFailure } from './failure.ts';
import { createDemoModel, createDemoTools } from './model.ts';
import { browserModel } from './settings/browserModel.ts';
import { endpointModel } from './settings/endpoint.ts';
import type { Settings } from './settings/settings.ts';

/**
 * Who answers: the model that the settings name at the moment of the question, generated in this browser.
 *
 * The demo model has tools, and is told how often a question was asked, so that `Try again` gives another answer. A
 * model behind an endpoint gets neither: not every one can use tools, and it varies by itself. It is asked once; who
 * wants it asked again sees why it failed, and has a button.
 */
export function createAnswers(
  settings: Settings,
  { speed = 1 }: AnswerOptions = {},
): ChatTransport<UIMessage> {
  const demo = createLocalTransport({
    model: createDemoModel({ speed }),
    tools: createDemoTools(),
    stopWhen: isStepCount(4),
    providerOptions: ({ attempt }) => ({ demo: { attempt } }),
    errorText: describeFailure,
  });
  const endpoint = createLocalTransport({
    model: () => endpointModel(settings.get()),
    maxRetries: 0,
    errorText: describeFailure,
  });
  const browser = createLocalTransport({ model: browserModel(), errorText: describeFailure });
  const chosen = (): ChatTransport<UIMessage> => {
    const { baseUrl, ownModel } = settings.get();
    if (baseUrl !== '') return endpoint;
    return ownModel ? browser : demo;
  };
  return {
    sendMessages: (request) => chosen().sendMessages(request),
    reconnectToStream: (request) => chosen().reconnectToStream(request),
  };
}

interface AnswerOptions {
  /** Pace of the demo model: 1 as people read, 0 without delays. */
  readonly speed?: number;
}
