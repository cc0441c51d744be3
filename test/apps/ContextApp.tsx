import { useChat } from '@ai-sdk/react';
import { lastAssistantMessageIsCompleteWithToolCalls } from 'ai';
import { ContextEngineProvider } from 'contextree';
import { useContextChat } from 'contextree/ai';
import { useState, type ReactNode } from 'react';
import { ChatView, type AppProps } from './ChatView.tsx';

export function App(props: AppProps): ReactNode {
  return (
    <ContextEngineProvider chatId={props.chatId} userId="me" store={props.store}>
      <Chat {...props} />
    </ContextEngineProvider>
  );
}

function Chat({
  chatId,
  transport,
  messages = [],
  throttle = 50,
  resume = true,
  settings,
}: AppProps): ReactNode {
  const [notices, setNotices] = useState<readonly string[]>([]);
  const note = (line: string): void => setNotices((before) => [...before, line]);
  const init = {
    id: chatId,
    transport,
    messages,
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
    onToolCall: ({ toolCall }: { toolCall: { toolName: string } }) => note(`call ${toolCall.toolName}`),
    onData: ({ type }: { type: string }) => note(`data ${type}`),
    onError: ({ message }: Error) => note(`error ${message}`),
    onFinish: ({ isAbort }: { isAbort: boolean }) => note(isAbort ? 'stopped' : 'finished'),
    ...settings,
  };
  const chat = useChat({ ...useContextChat(init), experimental_throttle: throttle, resume });
  return <ChatView chat={chat} notices={notices} />;
}
