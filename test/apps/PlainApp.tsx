import { useChat } from '@ai-sdk/react';
import { lastAssistantMessageIsCompleteWithToolCalls } from 'ai';
import type { ReactNode } from 'react';
import { ChatView, type AppProps } from './ChatView.tsx';

export function App(props: AppProps): ReactNode {
  return <Chat {...props} />;
}

function Chat({ transport, log, messages = [], goesOnWhen, beneath, reworded }: AppProps): ReactNode {
  const init = {
    transport,
    messages,
    sendAutomaticallyWhen: goesOnWhen ?? lastAssistantMessageIsCompleteWithToolCalls,
    onData: ({ type }: { type: string }) => log(`data ${type}`),
    onError: ({ message }: Error) => log(`error ${message}`),
    onFinish: ({ isAbort }: { isAbort: boolean }) => log(isAbort ? 'stopped' : 'finished'),
  };
  const chat = useChat({ ...init, experimental_throttle: 10, resume: true });
  return <ChatView chat={chat} beneath={beneath} reworded={reworded} />;
}
