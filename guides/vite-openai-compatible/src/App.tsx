import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { useChat } from '@ai-sdk/react';
import { ContextEngineProvider, hint, role, useFragments } from 'contextree';
import { BranchPicker, useContextChat } from 'contextree/ai';
import { createLocalTransport } from 'contextree/ai/local';
import { useState } from 'react';

// The key is the visitor's own: it lives in this variable and is gone with the page.
let apiKey = '';

const transport = createLocalTransport({
  model: () =>
    createOpenAICompatible({
      name: 'endpoint',
      baseURL: import.meta.env.VITE_BASE_URL ?? 'https://api.openai.com/v1',
      ...(apiKey !== '' && { apiKey }),
    }).chatModel(import.meta.env.VITE_MODEL ?? 'gpt-4.1-mini'),
  // What an endpoint says when it refuses is shown as it is; asking again is up to the person.
  maxRetries: 0,
});

export function App() {
  return (
    <ContextEngineProvider chatId="guide" userId="me">
      <label>
        API key{' '}
        <input type="password" autoComplete="off" onChange={(event) => (apiKey = event.target.value)} />
      </label>
      <Chat />
    </ContextEngineProvider>
  );
}

function Chat() {
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
