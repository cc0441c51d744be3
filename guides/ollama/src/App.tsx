import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { useChat } from '@ai-sdk/react';
import { ContextEngineProvider, role, useFragments, useMessageBranch } from 'contextree';
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
  const [{ names, problem }, setFound] = useState<Found>({});
  useEffect(() => {
    void lookForModels().then(setFound);
  }, []);
  if (problem !== undefined) return <p role="alert">{problem}</p>;
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

interface Found {
  readonly names?: readonly string[];
  readonly problem?: string;
}

/** Finds out what is installed, and takes the first of it; says what is wrong where there is nothing to take. */
async function lookForModels(): Promise<Found> {
  try {
    const response = await fetch(`${address}/api/tags`);
    if (!response.ok) throw new Error(`Ollama answered ${response.status}`);
    const { models } = (await response.json()) as { models: readonly { name: string }[] };
    const [first] = models;
    if (!first) return { problem: 'Ollama has no model yet. Run: ollama pull llama3.2' };
    chosen ||= first.name;
    return { names: models.map(({ name }) => name) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'no reason given';
    const remedy = `Start it with OLLAMA_ORIGINS=${location.origin} ollama serve`;
    return { problem: `Ollama does not answer at ${address} (${reason}). ${remedy}` };
  }
}

function Chat() {
  useFragments(role('You are a helpful assistant on the machine of the person who asks.'));
  const { messages, sendMessage, regenerate, stop, status, error } = useChat(useContextChat({ transport }));
  const [text, setText] = useState('');
  const isBusy = status === 'submitted' || status === 'streaming';
  const last = messages.at(-1);
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
      {last && !isBusy && <Continue messageId={last.id} onContinue={() => void sendMessage()} />}
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

interface ContinueProps {
  readonly messageId: string;
  readonly onContinue: () => void;
}

/** Goes on with an answer that was cut off, on the same message; nothing for one that is whole. */
function Continue({ messageId, onContinue }: ContinueProps) {
  const { status } = useMessageBranch(messageId);
  return status === 'interrupted' && <button onClick={onContinue}>Continue</button>;
}
