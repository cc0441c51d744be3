import { isStepCount, type ChatTransport, type UIMessage } from 'ai';
import { createLocalTransport } from 'contextree/ai/local';
import { describeFailure } from '../demo/failure.ts';
import { createDemoModel, createDemoTools } from '../demo/model.ts';

/** The demo model, which says so many words at once and then holds its breath: a picture of an answer that grows. */
export function pausesAfter(words: number): ChatTransport<UIMessage> {
  let said = 0;
  const sleep = (): Promise<void> => (said++ < words ? Promise.resolve() : new Promise(() => {}));
  return createLocalTransport({
    model: createDemoModel({ sleep }),
    tools: createDemoTools(),
    stopWhen: isStepCount(4),
    errorText: describeFailure,
  });
}
