import type { UseChatHelpers } from '@ai-sdk/react';
import type { ChatTransport, UIMessage } from 'ai';
import type { ContextStore } from 'contextree';
import { useState, type ReactNode } from 'react';

/** What both apps are given. The plain one keeps nothing, so it has no use for a store. */
export interface AppProps {
  readonly transport: ChatTransport<UIMessage>;
  /** Hears of each callback. */
  readonly log: (line: string) => void;
  readonly chatId: string;
  readonly store: ContextStore;
  /** What the app's own server has of the chat. Default: nothing. */
  readonly messages?: UIMessage[] | undefined;
  /** What makes an answer go on by itself. Default: that all of its calls have their results. */
  readonly goesOnWhen?: ((state: { messages: UIMessage[] }) => boolean) | undefined;
  /** What stands beneath each message. Default: nothing. */
  readonly beneath?: ((messageId: string) => ReactNode) | undefined;
  /** What an edit makes of a question. Default: `Edited?`. */
  readonly reworded?: (() => string) | undefined;
}

type Chat = UseChatHelpers<UIMessage>;
type Part = UIMessage['parts'][number];

/** A chat page as the documentation of the AI SDK has it: both apps show this one. */
export function ChatView({ chat, beneath, reworded }: ChatViewProps): ReactNode {
  const { messages, status, error, sendMessage, regenerate, stop, clearError } = chat;
  const isBusy = status === 'submitted' || status === 'streaming';
  return (
    <main>
      <ol>
        {messages.map((message) => (
          <Message key={message.id} message={message} chat={chat} beneath={beneath} reworded={reworded} />
        ))}
      </ol>
      {error && (
        <p role="alert">
          {error.message} <button onClick={clearError}>Dismiss</button>
        </p>
      )}
      <p role="status">{status}</p>
      {isBusy && <button onClick={() => void stop()}>Stop</button>}
      {!isBusy && messages.length > 0 && <button onClick={() => void regenerate()}>Try again</button>}
      {!isBusy && messages.length > 0 && <button onClick={() => void sendMessage()}>Continue</button>}
      <Composer chat={chat} />
    </main>
  );
}

interface ChatViewProps extends Pick<AppProps, 'beneath' | 'reworded'> {
  readonly chat: Chat;
}

interface MessageProps extends ChatViewProps {
  readonly message: UIMessage;
}

function Message({ message, chat, beneath, reworded }: MessageProps): ReactNode {
  const { mood } = (message.metadata ?? {}) as { mood?: string };
  const edit = (): void => void chat.sendMessage({ text: reworded?.() ?? 'Edited?', messageId: message.id });
  return (
    <li data-role={message.role} data-id={message.id}>
      {message.parts.map((part, i) => (
        <PartView key={i} part={part} chat={chat} />
      ))}
      {mood && <i>{mood}</i>}
      {message.role === 'user' && <button onClick={edit}>Edit</button>}
      {beneath?.(message.id)}
    </li>
  );
}

function PartView({ part, chat }: { readonly part: Part; readonly chat: Chat }): ReactNode {
  if (part.type === 'text') return <span>{part.text}</span>;
  if (part.type === 'reasoning') return <em>{part.text}</em>;
  if (part.type === 'file') return <a href={part.url}>{part.filename}</a>;
  if (part.type === 'data-weather') return <b>{JSON.stringify(part.data)}</b>;
  if ('toolCallId' in part) return <Tool call={part} chat={chat} />;
  return null;
}

interface Call {
  readonly type: string;
  readonly toolCallId: string;
  readonly state: string;
  readonly approval?: { readonly id: string };
  readonly input?: unknown;
  readonly output?: unknown;
  readonly errorText?: string;
}

/** A die, which always shows as many eyes as it can. */
function Tool({ call, chat }: { readonly call: Call; readonly chat: Chat }): ReactNode {
  const { type, toolCallId, state, approval, input, output, errorText } = call;
  const { sides } = (input ?? {}) as { sides?: number };
  const give = (): void =>
    void chat.addToolOutput({ tool: type.replace('tool-', ''), toolCallId, output: sides });
  const fail = (): void =>
    void chat.addToolOutput({
      state: 'output-error',
      tool: type.replace('tool-', ''),
      toolCallId,
      errorText: 'No dice.',
    });
  const answer = (approved: boolean) => (): void => {
    if (approval) void chat.addToolApprovalResponse({ id: approval.id, approved });
  };
  return (
    <section data-id={toolCallId}>
      {type} {state} {JSON.stringify(output)}
      {state === 'output-error' && errorText}
      {state === 'input-available' && <button onClick={give}>Give</button>}
      {state === 'input-available' && <button onClick={fail}>Fail</button>}
      {state === 'approval-requested' && <button onClick={answer(true)}>Approve</button>}
      {state === 'approval-requested' && <button onClick={answer(false)}>Deny</button>}
    </section>
  );
}

function Composer({ chat }: { readonly chat: Chat }): ReactNode {
  const [text, setText] = useState('');
  const send = (): void => {
    const files = text.includes('file')
      ? [
          {
            type: 'file' as const,
            mediaType: 'text/plain',
            filename: 'notes.txt',
            url: 'data:text/plain;base64,aGk=',
          },
        ]
      : [];
    void chat.sendMessage({ text, files, metadata: { mood: 'curious' } });
    setText('');
  };
  return (
    <form action={send}>
      <input aria-label="Message" value={text} onChange={(event) => setText(event.target.value)} />
      <button>Send</button>
    </form>
  );
}
