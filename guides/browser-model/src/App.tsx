import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { useChat } from '@ai-sdk/react';
import { ContextEngineProvider, role, useFragments } from 'contextree';
import { BranchPicker, useContextChat } from 'contextree/ai';
import { createLocalTransport } from 'contextree/ai/local';
import { useEffect, useState } from 'react';
import { availability, browserModel, download, type Availability } from './browserModel.ts';

const elsewhere = createOpenAICompatible({
  name: 'elsewhere',
  baseURL: import.meta.env.VITE_BASE_URL ?? 'http://localhost:11434/v1',
}).chatModel(import.meta.env.VITE_MODEL ?? 'llama3.2');

let isHere = false;
const transport = createLocalTransport({ model: () => (isHere ? browserModel() : elsewhere), maxRetries: 0 });

export function App() {
  return (
    <ContextEngineProvider chatId="guide" userId="me">
      <WhoAnswers />
      <Chat />
    </ContextEngineProvider>
  );
}

/** Says which model answers, and offers the browser's own where it has to be downloaded first. */
function WhoAnswers() {
  const [state, setState] = useState<Availability>();
  const [share, setShare] = useState<number>();
  useEffect(() => {
    const look = async () => {
      const found = await availability();
      isHere = found === 'available';
      setState(found);
    };
    void look();
  }, []);
  const fetchModel = async () => {
    setShare(0);
    await download(setShare);
    isHere = true;
    setState('available');
  };
  if (state === undefined) return <p role="status">Looking for a model…</p>;
  if (state === 'available') return <p role="status">The model of this browser answers.</p>;
  return (
    <>
      <p role="status">The model of this browser is not here; another one answers.</p>
      {state !== 'unavailable' && (
        <button disabled={share !== undefined} onClick={() => void fetchModel()}>
          {share === undefined ? 'Download the model of this browser' : `${Math.round(share * 100)} %`}
        </button>
      )}
    </>
  );
}

function Chat() {
  useFragments(role('You are a helpful assistant inside a web page. Answer in two sentences.'));
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
