'use client';

import { useChat } from '@ai-sdk/react';
import { DefaultChatTransport } from 'ai';
import { ContextEngineProvider, hint, role, useFragments } from 'contextree';
import { BranchPicker, useContextChat } from 'contextree/ai';
import { useState } from 'react';

const transport = new DefaultChatTransport({ api: '/api/chat' });

export function Chat() {
  return (
    <ContextEngineProvider chatId="guide" userId="me">
      <Conversation />
    </ContextEngineProvider>
  );
}

function Conversation() {
  useFragments(role('You are a concise tutor.'), hint('Answer in plain words.'));
  const { messages, sendMessage, regenerate, stop, status, error } = useChat(useContextChat({ transport }));
  const [text, setText] = useState('');
  const isBusy = status === 'submitted' || status === 'streaming';
  return (
    <main>
      {messages.map((message) => (
        <article key={message.id} aria-label={message.role === 'user' ? 'You' : 'Assistant'}>
          {message.parts.map((part, i) => part.type === 'text' && <p key={i}>{part.text}</p>)}
          <BranchPicker messageId={message.id} />
          <button onClick={() => void regenerate({ messageId: message.id })}>Try again</button>
        </article>
      ))}
      {error && <p role="alert">{error.message}</p>}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (text.trim() !== '') void sendMessage({ text });
          setText('');
        }}
      >
        <input aria-label="Message" value={text} onChange={(event) => setText(event.target.value)} />
        <button>Send</button>
        {isBusy && (
          <button type="button" onClick={() => void stop()}>
            Stop
          </button>
        )}
      </form>
    </main>
  );
}
