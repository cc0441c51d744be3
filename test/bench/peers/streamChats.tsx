import { useChat } from '@ai-sdk/react';
import { ContextEngine, ContextEngineProvider, IndexedDBContextStore, type StoreOp } from 'contextree';
import { useContextChat } from 'contextree/ai';
import { useEffect, useLayoutEffect, type ComponentType, type ReactNode } from 'react';
import { createRoot } from 'react-dom/client';
import { scriptedTransport, type Exchange } from '../../support/transport.ts';

/**
 * The same chat in a page, kept in different ways.
 *
 * Answers come word by word, through a transport of the AI SDK, into a `useChat`, and the end of the chat is on the
 * page. One has contextree around it; one gives its messages to assistant-ui's external store and shows what that has;
 * one writes them as one JSON text whenever they change. TanStack AI has a chat of its own, and is given the same words.
 */
export interface Chat {
  /** Asks a question; resolves when its answer has begun. */
  ask(): Promise<void>;
  /** One word more of the answer; resolves when it is shown. */
  say(word: string): Promise<void>;
  /** Ends the answer; resolves when the next question may come. */
  end(): Promise<void>;
  /** The last message. */
  answer(): object | undefined;
}

/** Opens a chat of so many messages, each of a kilobyte. */
export type Open = (length: number) => Promise<Chat>;

/** Not imported from `ai`: a peer may have installed another version of it in this folder. */
type UIMessage = ReturnType<typeof useChat>['messages'][number];

const QUESTION = 'And then?';
const TEXT =
  'The quick brown fox jumps over the lazy dog while the graph remembers every word it said. '.repeat(11);

const listOf = (length: number): UIMessage[] =>
  Array.from({ length }, (_, i) => ({
    id: `m${i}`,
    role: i % 2 === 0 ? 'user' : 'assistant',
    parts: [{ type: 'text', text: `${i} ${TEXT}` }],
  }));

/** A plain `useChat`, which keeps nothing. */
export const plain: Open = async (length) => {
  const messages = listOf(length);
  return mounted(length, ({ page }) => {
    const chat = useChat({ transport: page.transport, messages });
    return <End page={page} chat={chat} messages={chat.messages} />;
  });
};

/** contextree; as an app has it, with the last 200 messages in the list, or with all of them. */
export function ours(listed: 'the last' | 'all'): Open {
  return async (length) => {
    const engine = await engineWith(length);
    await engine.ready();
    if (listed === 'all') await engine.loadMore(length);
    const count = engine.state.getState().messages.length;
    const Listed = ({ page }: Shows): ReactNode => {
      const chat = useChat(useContextChat({ transport: page.transport }));
      return <End page={page} chat={chat} messages={chat.messages} />;
    };
    return mounted(count, ({ page }) => (
      <ContextEngineProvider engine={engine}>
        <Listed page={page} />
      </ContextEngineProvider>
    ));
  };
}

async function engineWith(length: number): Promise<ContextEngine> {
  const store = new IndexedDBContextStore(`ours-${crypto.randomUUID()}`);
  const inserts = listOf(length).map((data, i): StoreOp => {
    return { op: 'insert', id: data.id, parentId: i === 0 ? null : `m${i - 1}`, data, status: 'complete' };
  });
  const head = { op: 'head', branchId: 'main', expected: null, messageId: `m${length - 1}` } as const;
  const options = { userId: 'u', epoch: 0, mainBranchId: 'main' };
  await store.append('c', [...inserts, { ...head, forkId: 'fork' }], options);
  return new ContextEngine({ store, chatId: 'c', userId: 'u' });
}

/** The messages as one JSON text in IndexedDB, written whenever they change: how apps without a library do it. */
export const oneText: Open = async (length) => {
  const messages = listOf(length);
  const db = await database(`text-${crypto.randomUUID()}`);
  const save = (now: readonly UIMessage[]): void => {
    db.transaction('texts', 'readwrite').objectStore('texts').put(JSON.stringify(now), 'chat');
  };
  return mounted(length, ({ page }) => {
    const chat = useChat({ transport: page.transport, messages });
    useEffect(() => save(chat.messages), [chat.messages]);
    return <End page={page} chat={chat} messages={chat.messages} />;
  });
};

function database(name: string): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(name);
    request.onupgradeneeded = () => request.result.createObjectStore('texts');
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error(`${name} was not opened`));
  });
}

// --- assistant-ui ---------------------------------------------------------------------------------------------------

// Of each package only what is called here, and imported under a name that `stream.ts` gives it: it need not be
// installed where types are checked.

interface Adapter {
  readonly messages: readonly UIMessage[];
  readonly convertMessage: (message: UIMessage) => object;
  readonly isRunning: boolean;
  readonly onNew: () => Promise<void>;
}

function adapterOf({ messages, status }: ReturnType<typeof useChat>): Adapter {
  return { messages, convertMessage, isRunning: status !== 'ready', onNew: async () => {} };
}

function convertMessage({ id, role, parts }: UIMessage): object {
  return { id, role, content: parts.filter(({ type }) => type === 'text') };
}

const SET_ADAPTER = '__internal_setAdapter';

/** The store itself, which is given the messages of a plain `useChat` with each render. */
export const externalCore: Open = async (length) => {
  const module: string = '/assistant-ui-core.js';
  const { ExternalStoreThreadRuntimeCore: Core } = (await import(module)) as {
    ExternalStoreThreadRuntimeCore: new (
      context: object,
      adapter: object,
    ) => { readonly [SET_ADAPTER]: (adapter: Adapter) => void };
  };
  const messages = listOf(length);
  const empty: Adapter = { messages, convertMessage, isRunning: false, onNew: async () => {} };
  const core = new Core({ getModelContext: () => ({}) }, empty);
  return mounted(length, ({ page }) => {
    const chat = useChat({ transport: page.transport, messages });
    useLayoutEffect(() => core[SET_ADAPTER](adapterOf(chat)));
    return <End page={page} chat={chat} messages={chat.messages} />;
  });
};

interface Threaded {
  readonly id: string;
  readonly content: UIMessage['parts'];
}

/** The same store in its React hooks, as an app has it: what is shown is what they give. */
export const externalStore: Open = async (length) => {
  const module: string = '/assistant-ui.js';
  const { AssistantRuntimeProvider, useExternalStoreRuntime } = (await import(module)) as {
    AssistantRuntimeProvider: ComponentType<{ readonly runtime: object; readonly children: ReactNode }>;
    useExternalStoreRuntime: (adapter: Adapter) => object;
  };
  const store: string = '/assistant-ui-store.js';
  const { useAuiState } = (await import(store)) as {
    useAuiState: <T>(select: (state: { thread: { messages: readonly Threaded[] } }) => T) => T;
  };
  const Thread = ({ page, chat }: Shows & Pick<Shown, 'chat'>): ReactNode => {
    const threaded = useAuiState(({ thread }) => thread.messages);
    const end = threaded.slice(-LAST).map(({ id, content }) => ({ id, parts: content }));
    return <End page={page} chat={chat} messages={end} count={threaded.length} />;
  };
  const messages = listOf(length);
  return mounted(length, ({ page }) => {
    const chat = useChat({ transport: page.transport, messages });
    const runtime = useExternalStoreRuntime(adapterOf(chat));
    return (
      <AssistantRuntimeProvider runtime={runtime}>
        <Thread page={page} chat={chat} />
      </AssistantRuntimeProvider>
    );
  });
};

// --- A chat with React ----------------------------------------------------------------------------------------------

/** How many messages are on the page. */
const LAST = 20;

type Ended = Pick<UIMessage, 'id' | 'parts'>;

interface Shows {
  readonly page: Page;
}

interface Shown {
  readonly chat: ReturnType<typeof useChat>;
  readonly messages: readonly Ended[];
  /** How many there are in all, where these are only the last of them. */
  readonly count?: number;
}

/** The end of the chat; the page is told what is on it. */
function End({ page, chat, messages, count = messages.length }: Shows & Shown): ReactNode {
  useLayoutEffect(() => page.committed({ chat, messages, count }));
  return (
    <ol>
      {messages.slice(-LAST).map(({ id, parts }) => (
        <li key={id}>{textOf(parts)}</li>
      ))}
    </ol>
  );
}

const textOf = (parts: UIMessage['parts']): string =>
  parts.map((part) => (part.type === 'text' ? part.text : '')).join('');

async function mounted(count: number, Shows: ComponentType<Shows>): Promise<Chat> {
  const page = new Page();
  createRoot(document.body.appendChild(document.createElement('div'))).render(<Shows page={page} />);
  await page.until(({ chat, count: now }) => chat.status === 'ready' && now === count);
  return page;
}

/** A chat of React's: what is said in it, and what it has put on the page. */
class Page implements Chat {
  readonly #script = scriptedTransport();
  #answer: Exchange | undefined;
  #shown: Required<Shown> | undefined;
  #committed: (shown: Required<Shown>) => void = () => {};

  readonly transport = this.#script.transport;

  /** Called behind each commit. */
  committed(shown: Required<Shown>): void {
    this.#shown = shown;
    this.#committed(shown);
  }

  /** Resolves with the commit after which a condition holds. */
  async until(holds: (shown: Required<Shown>) => boolean): Promise<void> {
    if (this.#shown && holds(this.#shown)) return;
    await new Promise<void>((resolve) => {
      this.#committed = (shown) => holds(shown) && resolve();
    });
    this.#committed = () => {};
  }

  async ask(): Promise<void> {
    void this.#shown?.chat.sendMessage({ text: QUESTION });
    this.#answer = await this.#script.next();
  }

  async say(word: string): Promise<void> {
    void this.#answer?.say(word);
    await this.until(({ messages }) => textOf(messages.at(-1)?.parts ?? []).endsWith(word));
  }

  async end(): Promise<void> {
    void this.#answer?.finish();
    await this.until(({ chat }) => chat.status === 'ready');
  }

  answer(): object | undefined {
    return this.#shown?.chat.messages.at(-1);
  }
}

// --- TanStack AI ----------------------------------------------------------------------------------------------------

interface TanStack {
  readonly ChatClient: new (options: object) => {
    sendMessage(text: string): Promise<void>;
    getMessages(): readonly TanStackMessage[];
  };
  readonly stream: (open: () => AsyncIterable<object>) => object;
  readonly indexedDBPersistence: (options: { readonly databaseName: string }) => object;
}

interface TanStackMessage {
  readonly parts: readonly { readonly type: string; readonly content?: string }[];
}

/** TanStack AI's chat with the persistence in IndexedDB that it brings along. */
export const tanstack: Open = async (length) => {
  const module: string = '/tanstack.js';
  const { ChatClient, stream, indexedDBPersistence } = (await import(module)) as TanStack;
  const about = { messageId: 'a', runId: 'r', threadId: 'c', timestamp: 1 };
  let answer: ReadableStreamDefaultController<object> | undefined;
  let asked = Promise.withResolvers<void>();
  let sent: Promise<void> | undefined;
  let changed: (messages: readonly TanStackMessage[]) => void = () => {};
  const client = new ChatClient({
    threadId: 'c',
    initialMessages: listOf(length).map(({ id, role, parts }) => {
      return { id, role, parts: [{ type: 'text', content: textOf(parts) }] };
    }),
    persistence: indexedDBPersistence({ databaseName: `tanstack-${crypto.randomUUID()}` }),
    connection: stream(() => {
      const answering = new ReadableStream<object>({ start: (controller) => void (answer = controller) });
      asked.resolve();
      return answering;
    }),
    onMessagesChange: (messages: readonly TanStackMessage[]) => changed(messages),
  });
  return {
    async ask() {
      asked = Promise.withResolvers<void>();
      sent = client.sendMessage(QUESTION);
      await asked.promise;
      answer?.enqueue({ type: 'RUN_STARTED', ...about });
      answer?.enqueue({ type: 'TEXT_MESSAGE_START', role: 'assistant', ...about });
    },
    async say(word) {
      const shown = Promise.withResolvers<void>();
      changed = (messages) => {
        if (messages.at(-1)?.parts.at(-1)?.content?.endsWith(word)) shown.resolve();
      };
      answer?.enqueue({ type: 'TEXT_MESSAGE_CONTENT', delta: word, ...about });
      await shown.promise;
    },
    async end() {
      answer?.enqueue({ type: 'TEXT_MESSAGE_END', ...about });
      answer?.enqueue({ type: 'RUN_FINISHED', finishReason: 'stop', ...about });
      answer?.close();
      await sent;
    },
    answer: () => client.getMessages().at(-1),
  };
};
