import type { UseChatHelpers } from '@ai-sdk/react';
import type { ChatInit, ChatTransport, UIMessage } from 'ai';
import type { ContextStore } from 'contextree';
import { createContext, use, useRef, useState, type Context, type ReactNode, type SubmitEvent } from 'react';

/** The props of both apps. The plain one keeps nothing, so it does not use a store. */
export interface AppProps {
  readonly chatId: string;
  readonly transport: ChatTransport<UIMessage>;
  /** What the app's own server has of the chat. Default: nothing. */
  readonly messages?: UIMessage[] | undefined;
  /** How often the page is shown anew while an answer grows, in ms. Default: 50. */
  readonly throttle?: number | undefined;
  /** Whether an answer that the server still streams is taken up when the page opens. Default: true. */
  readonly resume?: boolean | undefined;
  /** Settings of this page only. */
  readonly settings?: Partial<ChatInit<UIMessage>> | undefined;
  readonly store: ContextStore;
}

type Chat = UseChatHelpers<UIMessage>;
type Part = UIMessage['parts'][number];

/** Further content of the view: beneath each message, and beneath all of them. */
export interface Additions {
  readonly beneathMessage?: ((messageId: string) => ReactNode) | undefined;
  readonly beneathChat?: ((chat: Chat) => ReactNode) | undefined;
}

export const Additions: Context<Additions> = createContext<Additions>({});

/** A chat page as the documentation of the AI SDK has it: both apps show this one. `notices`: what happened so far. */
export function ChatView({ chat, notices }: ChatViewProps): ReactNode {
  const { messages, status, error, sendMessage, regenerate, stop, clearError } = chat;
  const { beneathChat } = use(Additions);
  const isBusy = status === 'submitted' || status === 'streaming';
  return (
    <main>
      <ol>
        {messages.map((message) => (
          <Message key={message.id} message={message} chat={chat} />
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
      {beneathChat?.(chat)}
      <div role="log">
        {notices.map((notice, i) => (
          <p key={i}>{notice}</p>
        ))}
      </div>
    </main>
  );
}

interface ChatViewProps {
  readonly chat: Chat;
  readonly notices: readonly string[];
}

interface MessageProps {
  readonly message: UIMessage;
  readonly chat: Chat;
}

function Message({ message, chat }: MessageProps): ReactNode {
  const { mood } = (message.metadata ?? {}) as { mood?: string };
  const { beneathMessage } = use(Additions);
  const [isEdited, setEdited] = useState(false);
  const save = (text: string): void => {
    setEdited(false);
    void chat.sendMessage({ text, messageId: message.id });
  };
  return (
    <li data-role={message.role} data-id={message.id}>
      {message.parts.map((part, i) => (
        <PartView key={i} part={part} chat={chat} />
      ))}
      {mood && <i>{mood}</i>}
      {message.role === 'user' && !isEdited && <button onClick={() => setEdited(true)}>Edit</button>}
      <button onClick={() => chat.setMessages((all) => all.filter(({ id }) => id !== message.id))}>
        Delete
      </button>
      {isEdited && <Editor before={textOf(message)} save={save} cancel={() => setEdited(false)} />}
      {beneathMessage?.(message.id)}
    </li>
  );
}

interface EditorProps {
  readonly before: string;
  readonly save: (text: string) => void;
  readonly cancel: () => void;
}

function Editor({ before, save, cancel }: EditorProps): ReactNode {
  const [text, setText] = useState(before);
  return (
    <fieldset>
      <input aria-label="New words" value={text} onChange={(event) => setText(event.target.value)} />
      <button onClick={() => save(text)}>Save</button>
      <button onClick={cancel}>Cancel</button>
    </fieldset>
  );
}

function textOf({ parts }: UIMessage): string {
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

function PartView({ part, chat }: { readonly part: Part; readonly chat: Chat }): ReactNode {
  if (part.type === 'text') return <span>{part.text}</span>;
  if (part.type === 'reasoning') return <em>{part.text}</em>;
  if (part.type === 'file') return <a href={part.url}>{part.filename}</a>;
  if (part.type === 'source-url') return <cite>{part.title}</cite>;
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
  const [files, setFiles] = useState<FileList>();
  const picker = useRef<HTMLInputElement>(null);
  const send = (event: SubmitEvent): void => {
    event.preventDefault();
    const options = { headers: { 'x-app': 'chat' }, body: { length: text.length } };
    void chat.sendMessage({ text, ...(files && { files }), metadata: { mood: 'curious' } }, options);
    setText('');
    setFiles(undefined);
    if (picker.current) picker.current.value = '';
  };
  return (
    <form onSubmit={send}>
      <input
        type="file"
        multiple
        aria-label="Files"
        ref={picker}
        onChange={(event) => setFiles(event.target.files ?? undefined)}
      />
      <input aria-label="Message" value={text} onChange={(event) => setText(event.target.value)} />
      <button>Send</button>
    </form>
  );
}
