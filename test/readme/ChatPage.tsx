import { useChat } from '@ai-sdk/react';
import { DefaultChatTransport } from 'ai';
import { ContextEngineProvider, hint, role, useFragments, useMessageBranch } from 'contextree';
import { useContextChat } from 'contextree/ai';
import { ContextDevtools } from 'contextree/devtools';
import { useState } from 'react';

const transport = new DefaultChatTransport({ api: '/api/chat' });

export function ChatPage() {
  return (
    <ContextEngineProvider chatId="demo" userId="me">
      <Chat />
      <ContextDevtools />
    </ContextEngineProvider>
  );
}

function Chat() {
  useFragments(role('You are a concise tutor.'), hint('Answer in plain words.'));
  const { messages, sendMessage, regenerate, stop, status } = useChat(useContextChat({ transport }));
  const [text, setText] = useState('');
  const busy = status === 'submitted' || status === 'streaming';
  return (
    <main>
      {messages.map((message) => (
        <article key={message.id} aria-label={message.role === 'user' ? 'You' : 'Assistant'}>
          {message.parts.map((part, i) => part.type === 'text' && <p key={i}>{part.text}</p>)}
          <Versions id={message.id} />
          <button onClick={() => void regenerate({ messageId: message.id })}>Try again</button>
        </article>
      ))}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (text.trim() === '') return;
          void sendMessage({ text });
          setText('');
        }}
      >
        <input aria-label="Message" value={text} onChange={(event) => setText(event.target.value)} />
        {busy ? (
          <button type="button" onClick={() => void stop()}>
            Stop
          </button>
        ) : (
          <button>Send</button>
        )}
      </form>
    </main>
  );
}

function Versions({ id }: { id: string }) {
  const { branchNumber, count, goToPrevious, goToNext } = useMessageBranch(id);
  if (count < 2) return null;
  return (
    <span>
      <button onClick={() => void goToPrevious()}>‹</button> {branchNumber} / {count}{' '}
      <button onClick={() => void goToNext()}>›</button>
    </span>
  );
}
