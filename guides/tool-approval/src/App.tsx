import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { useChat } from '@ai-sdk/react';
import {
  getToolName,
  isStepCount,
  isToolUIPart,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  tool,
  type UIMessage,
} from 'ai';
import { ContextEngineProvider, guardrail, role, useFragments } from 'contextree';
import { BranchPicker, useContextChat } from 'contextree/ai';
import { createLocalTransport } from 'contextree/ai/local';
import { useState } from 'react';
import { z } from 'zod';

/** What the tool changes: a list in this page. */
const outbox: string[] = [];

const tools = {
  sendMail: tool({
    description: 'Sends a mail.',
    inputSchema: z.object({ to: z.string(), text: z.string() }),
    needsApproval: true,
    execute: ({ to, text }) => {
      outbox.push(`${to}: ${text}`);
      return { sent: true, inOutbox: outbox.length };
    },
  }),
};

const transport = createLocalTransport({
  model: createOpenAICompatible({
    name: 'endpoint',
    baseURL: import.meta.env.VITE_BASE_URL ?? 'http://localhost:11434/v1',
  }).chatModel(import.meta.env.VITE_MODEL ?? 'llama3.2'),
  tools,
  stopWhen: isStepCount(5),
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
  useFragments(
    role('You write and send mails for the person you talk to.'),
    guardrail({ rule: 'Never send a mail that was not asked for.' }),
  );
  const { messages, sendMessage, regenerate, addToolApprovalResponse, error } = useChat(
    useContextChat({
      transport,
      // An answered question goes back to the model at once.
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
    }),
  );
  const [text, setText] = useState('');
  const answer = (id: string, approved: boolean) => void addToolApprovalResponse({ id, approved });
  return (
    <main>
      {messages.map((message) => (
        <article key={message.id} aria-label={message.role === 'user' ? 'You' : 'Assistant'}>
          {message.parts.map((part, i) => (
            <Part key={i} part={part} onAnswer={answer} />
          ))}
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
      </form>
    </main>
  );
}

interface PartProps {
  readonly part: UIMessage['parts'][number];
  readonly onAnswer: (approvalId: string, approved: boolean) => void;
}

function Part({ part, onAnswer }: PartProps) {
  if (part.type === 'text') return <p>{part.text}</p>;
  if (!isToolUIPart(part)) return null;
  const name = getToolName(part);
  if (part.state !== 'approval-requested')
    return (
      <p>
        {name}: {part.state}
      </p>
    );
  return (
    <fieldset>
      <legend>May {name} be used?</legend>
      <pre>{JSON.stringify(part.input, null, 2)}</pre>
      <button onClick={() => onAnswer(part.approval.id, true)}>Approve</button>
      <button onClick={() => onAnswer(part.approval.id, false)}>Deny</button>
    </fieldset>
  );
}
