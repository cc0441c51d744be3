import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { useChat } from '@ai-sdk/react';
import { ContextEngineProvider, role, useFragments } from 'contextree';
import { BranchPicker, useContextChat } from 'contextree/ai';
import { createLocalTransport } from 'contextree/ai/local';
import { useEffect, useState } from 'react';

const address: string = import.meta.env.VITE_OLLAMA ?? 'http://localhost:11434';
const ollama = createOpenAICompatible({ name: 'ollama', baseURL: `${address}/v1` });

let chosen = '';
const transport = createLocalTransport({ model: () => ollama.chatModel(chosen), maxRetries: 0 });

export function App() {
  return (
    <ContextEngineProvider chatId="guide" userId="me">
      <Models />
      <Chat />
    </ContextEngineProvider>
  );
}

/** The models that are on this machine, or what to do when Ollama does not answer. */
function Models() {
  const [names, setNames] = useState<readonly string[]>();
  const [problem, setProblem] = useState('');
  useEffect(() => {
    installedModels().then((found) => {
      chosen ||= found[0] ?? '';
      setNames(found);
      return undefined;
    }, setProblemFrom(setProblem));
  }, []);
  if (problem !== '') return <p role="alert">{problem}</p>;
  if (names?.length === 0) return <p role="alert">Ollama has no model yet. Run: ollama pull llama3.2</p>;
  return (
    <label>
      Model{' '}
      <select onChange={(event) => (chosen = event.target.value)}>
        {names?.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </label>
  );
}

async function installedModels(): Promise<readonly string[]> {
  const response = await fetch(`${address}/api/tags`);
  if (!response.ok) throw new Error(`Ollama answered ${response.status}`);
  const { models } = (await response.json()) as { models: readonly { name: string }[] };
  return models.map(({ name }) => name);
}

function setProblemFrom(set: (words: string) => void) {
  return (error: unknown) =>
    set(
      `Ollama does not answer at ${address} (${error instanceof Error ? error.message : 'no reason given'}). ` +
        `Start it with OLLAMA_ORIGINS=${location.origin} ollama serve`,
    );
}

function Chat() {
  useFragments(role('You are a helpful assistant on the machine of the person who asks.'));
  const { messages, sendMessage, regenerate, stop, status, error } = useChat(useContextChat({ transport }));
  const [text, setText] = useState('');
  const isBusy = status === 'submitted' || status === 'streaming';
  return (
    <main>
      {messages.map((message) => (
        <article key={message.id} aria-label={message.role === 'user' ? 'You' : 'Assistant'}>
          {message.parts.map((part, i) => {
            if (part.type === 'reasoning') return <details key={i}>{part.text}</details>;
            return part.type === 'text' && <p key={i}>{part.text}</p>;
          })}
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
