import { isStepCount, type ChatTransport, type UIMessage } from 'ai';
import { createLocalTransport } from 'contextree/ai/local';
import { describeFailure } from './failure.ts';
import { createDemoModel, createDemoTools } from './model.ts';
import { browserModel } from './settings/browserModel.ts';
import { endpointModel } from './settings/endpoint.ts';
import type { Settings } from './settings/settings.ts';
import { measureThoughts } from './thoughtTime.ts';

/**
 * Answers of the model that the settings name at the time of the question, generated in this browser.
 *
 * The demo model has tools, and gets the number of earlier versions, so that `Try again` gives another answer. A model behind
 * an endpoint gets neither: not every one can use tools, and it varies by itself. A failing model is not asked again by itself:
 * the person sees why it failed, and has a button.
 */
export function createAnswers(
  settings: Settings,
  { speed = 1 }: AnswerOptions = {},
): ChatTransport<UIMessage> {
  const model = createDemoModel({ speed });
  const tools = createDemoTools();
  // One transport for each request: it measures the thoughts of one answer.
  const demo = (): Answering =>
    createLocalTransport({
      ...common(),
      model,
      tools,
      stopWhen: isStepCount(4),
      providerOptions: ({ attempt }) => ({ demo: { attempt } }),
    });
  const endpoint = (): Answering =>
    createLocalTransport({
      ...common(),
      model: () => endpointModel(settings.get()),
      maxRetries: 0,
    });
  const ownModelOfBrowser = browserModel();
  const browser = (): Answering => createLocalTransport({ ...common(), model: ownModelOfBrowser });
  const chosen = (): Answering => {
    const { baseUrl, ownModel } = settings.get();
    if (baseUrl !== '') return endpoint();
    return ownModel ? browser() : demo();
  };
  const answers: ChatTransport<UIMessage> & { readonly runsDry: boolean } = {
    sendMessages: (request) => chosen().sendMessages(request),
    reconnectToStream: (request) => chosen().reconnectToStream(request),
    // All of them are local, and a run of the devtools runs no tool.
    runsDry: true,
  };
  return answers;
}

const common = () => ({ errorText: describeFailure, messageMetadata: measureThoughts() });

type Answering = ChatTransport<UIMessage>;

interface AnswerOptions {
  /** Pace of the demo model: 1 as people read, 0 without delays. */
  readonly speed?: number;
}
