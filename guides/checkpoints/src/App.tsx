import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { useChat } from '@ai-sdk/react';
import { ContextEngineProvider, role, useCheckpoint, useFragments, type CheckpointInfo } from 'contextree';
import { BranchPicker, useContextChat } from 'contextree/ai';
import { createLocalTransport } from 'contextree/ai/local';
import { useState } from 'react';

const transport = createLocalTransport({
  model: createOpenAICompatible({
    name: 'endpoint',
    baseURL: import.meta.env.VITE_BASE_URL ?? 'http://localhost:11434/v1',
  }).chatModel(import.meta.env.VITE_MODEL ?? 'llama3.2'),
  maxRetries: 0,
});

export function App() {
  return (
    <ContextEngineProvider chatId="guide" userId="me">
      <Chat />
    </ContextEngineProvider>
  );
}

function Chat() {
  useFragments(role('You help to write a text. Answer with the whole text as it is now.'));
  const { messages, sendMessage, status, error } = useChat(useContextChat({ transport }));
  const { checkpoints, checkpoint, restore, remove } = useCheckpoint();
  const [text, setText] = useState('');
  const isBusy = status === 'submitted' || status === 'streaming';

  /** Marks where the conversation stands, and only then lets the model loose on it. */
  const rewriteAll = async () => {
    await checkpoint(freeName(checkpoints));
    await sendMessage({ text: 'Rewrite all of it from scratch.' });
  };

  return (
    <main>
      {messages.map((message) => (
        <article key={message.id} aria-label={message.role === 'user' ? 'You' : 'Assistant'}>
          {message.parts.map((part, i) => part.type === 'text' && <p key={i}>{part.text}</p>)}
          <BranchPicker messageId={message.id} />
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
      </form>
      <button disabled={isBusy || messages.length === 0} onClick={() => void rewriteAll()}>
        Rewrite everything
      </button>
      <ul aria-label="Checkpoints">
        {checkpoints.map(({ id, name }) => (
          <li key={id}>
            <button onClick={() => void restore(name)}>Back to {name}</button>
            <button aria-label={`Forget ${name}`} onClick={() => void remove(name)}>
              ×
            </button>
          </li>
        ))}
      </ul>
    </main>
  );
}

/** A name that no checkpoint has: one that has it would move, and its way back would be lost. */
function freeName(checkpoints: readonly CheckpointInfo[]): string {
  const names = checkpoints.map(({ name }) => name);
  let number = names.length + 1;
  while (names.includes(`before rewrite ${number}`)) number += 1;
  return `before rewrite ${number}`;
}
