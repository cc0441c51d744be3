import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { useChat } from '@ai-sdk/react';
import type { UIMessage } from 'ai';
import { ContextEngineProvider, user, useBranches, useEngine } from 'contextree';
import { createContextChats, type ContextChat, type ContextChats } from 'contextree/ai';
import { createLocalTransport } from 'contextree/ai/local';
import { useState } from 'react';

/** Two ways to say the same; each is the system prompt of the branch with its name. */
const prompts: Readonly<Record<string, string>> = {
  formal: 'You are formal. Write full sentences.',
  friendly: 'You are a friend. Write as you would talk.',
};

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
      <SideBySide />
    </ContextEngineProvider>
  );
}

function SideBySide() {
  const engine = useEngine();
  const { branches, remove } = useBranches();
  const [chats] = useState(() =>
    createContextChats({
      engine,
      transport,
      request: ({ branch }) => ({ body: { system: promptOf(branch) } }),
    }),
  );
  const [text, setText] = useState('');
  return (
    <main>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (text.trim() !== '') void askAll(chats, text);
          setText('');
        }}
      >
        <input aria-label="Message" value={text} onChange={(event) => setText(event.target.value)} />
        <button>Ask both</button>
      </form>
      <div style={{ display: 'flex', gap: '2rem' }}>
        {branches.map(({ id, name }) => {
          const chat = chats.get(id);
          const others = branches.filter((branch) => branch.id !== id);
          return (
            <section key={id} aria-label={name} style={{ flex: 1 }}>
              <h2>{name}</h2>
              {chat && <Column chat={chat} />}
              {others.map((other) => (
                <button key={other.id} onClick={() => void remove(other.id)}>
                  Go on with {name} only
                </button>
              ))}
            </section>
          );
        })}
      </div>
    </main>
  );
}

function Column({ chat }: { readonly chat: ContextChat<UIMessage> }) {
  const { messages, error } = useChat({ chat });
  return (
    <>
      {messages.map((message) => (
        <article key={message.id} aria-label={message.role === 'user' ? 'You' : 'Assistant'}>
          {message.parts.map((part, i) => part.type === 'text' && <p key={i}>{part.text}</p>)}
        </article>
      ))}
      {error && <p role="alert">{error.message}</p>}
    </>
  );
}

/** The prompt of a branch. What this throws is said in the branch's chat: better than to ask without a prompt. */
function promptOf(branch: string): string {
  const prompt = prompts[branch];
  if (prompt === undefined)
    throw new Error(
      `There is no prompt for the branch "${branch}". Add one to prompts, or remove the branch.`,
    );
  return prompt;
}

/** Asks on every branch at once; the first question makes the branches. */
async function askAll(chats: ContextChats<UIMessage>, text: string): Promise<void> {
  const { engine } = chats;
  // Until the conversation is read there seem to be no branches.
  await engine.ready();
  const { branches } = engine.state.getState();
  if (branches.length > 0) {
    await Promise.all(branches.map(({ id }) => chats.get(id)?.sendMessage({ text })));
    return;
  }
  // One question, saved once; two branches that end at it; an answer on each.
  await engine.set(user(text)).save();
  const other = await engine.btw();
  const [first = '', second = ''] = Object.keys(prompts);
  await engine.renameBranch(engine.branch ?? '', first);
  await engine.renameBranch(other.id, second);
  await Promise.all([first, second].map((name) => chats.get(name)?.regenerate()));
}
