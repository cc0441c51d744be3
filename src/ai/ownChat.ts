import type { ChatStatus, ChatTransport, UIMessage, UIMessageChunk } from 'ai';
import type { ContextEngine } from '../engine/engine.ts';
import { onLeaving } from '../engine/leaving.ts';
import { sameItems, sameJson } from '../engine/same.ts';
import { expectEngine } from '../react/provider.tsx';
import { BranchChat } from './branchChat.ts';
import { headOf, keyOf, listAfter, withId } from './list.ts';
import { isToolPart, isWaiting, type Part } from './message.ts';
import { isAsking, type ChatHost } from './ourChat.ts';
import type { PrepareRequest, ReconnectOptions, SendOptions } from './contextChat.ts';
import { isDeleted, keepMessage } from './turn.ts';

/** Options of {@link withContext}. */
export interface WithContextOptions<M extends UIMessage = UIMessage> {
  /** The branch of all turns, by name or id. Default: the active branch when a request is made. */
  readonly branch?: string | undefined;
  /** Changes what each request sends. */
  readonly request?: PrepareRequest<M> | undefined;
  /**
   * Returns the chat that uses this transport, as soon as there is one. Its list then shows what is saved and follows the
   * active branch while no answer grows in it, and tool results are saved when they are given. Without `chat` the list stays as
   * it is, and the next question continues from what it shows. A page that reloads must then begin with `messages: (await
   * engine.resolve()).messages`; otherwise its question is a first one, on a branch of its own.
   */
  readonly chat?: (() => FollowingChat<M> | undefined) | undefined;
}

/** What a chat needs so that its list can follow: the AI SDK's `Chat` has it. */
export interface FollowingChat<M extends UIMessage = UIMessage> {
  messages: M[];
  readonly status: ChatStatus;
  /** @internal Subscribes to changes of the list, on the AI SDK's own `Chat`. */
  readonly '~registerMessagesCallback'?: (onChange: () => void) => () => void;
}

/** An app's own chat, with a transport of ours. */
interface ForeignChat<M extends UIMessage> extends WithContextOptions<M> {
  readonly engine: ContextEngine;
  readonly transport: ChatTransport<M>;
}

type Answer = ReadableStream<UIMessageChunk>;

/** What the transport of an app's own chat calls. */
export interface OwnChat<M extends UIMessage> {
  send(sent: SendOptions<M>): Promise<Answer>;
  reconnect(sent: ReconnectOptions<M>): Promise<Answer | null>;
  /** Lets go of the engine: the list stops following. */
  readonly release: () => void;
}

/**
 * Saves the turns of an app's own `Chat`. A hidden chat of ours makes each request with the list that came along, and both
 * chats read the answer.
 */
export function ownChat<M extends UIMessage>(foreign: ForeignChat<M>): OwnChat<M> {
  const { engine, transport, request } = foreign;
  expectEngine(engine);
  const follower = followerOf(foreign);

  const serve = async (
    ask: (chat: BranchChat<M>) => Promise<unknown>,
    { abortSignal, chatId }: { readonly abortSignal?: AbortSignal | undefined; readonly chatId?: string },
    list?: readonly M[],
  ): Promise<Answer | null> => {
    let refuse: ((error: Error) => void) | undefined;
    const host: ChatHost<M> = {
      engine,
      transport,
      options: { request, id: chatId ?? engine.chatId, onError: (error) => refuse?.(error) },
      isOwn: false,
      writes: new Set(),
      register: () => {},
      unregister: () => {},
      all: () => [],
      // The other chat reads the end of the answer within this task.
      sync: () => void setTimeout(follower.sync),
    };
    const chat = new BranchChat<M>(host, idOfBranch(foreign), 1);
    await begin(chat, list);
    abortSignal?.throwIfAborted();
    const stop = (): void => void chat.stop();
    abortSignal?.addEventListener('abort', stop, { once: true });
    // Stop the answer of a deleted chat. While a server is asked for an answer to take up, the list follows other tabs.
    const unsubscribe = engine.state.subscribe((state) => {
      if (isDeleted(engine)) stop();
      else if (!list && !chat.turn && state.branchId === chat.branchId)
        chat.list.follow(state.messages as readonly M[], state.remoteMessages as readonly M[]);
    });
    return new Promise((resolve, reject) => {
      chat.passOn = (source) => {
        const [saving, own] = shared(source, () => chat.stop());
        resolve(own);
        return saving;
      };
      refuse = reject;
      void ask(chat).finally(() => {
        unsubscribe();
        resolve(null);
      });
    });
  };

  return {
    send: async (sent) => {
      await engine.ready();
      await keepResults(engine, sent.messages);
      return (await serve((chat) => chat['makeRequest'](sent), sent, sent.messages)) as Answer;
    },
    reconnect: async ({ abortSignal, metadata, headers, body }) => {
      await engine.ready();
      return serve((chat) => chat.resumeStream({ metadata, headers, body } as object), { abortSignal });
    },
    release: follower.release,
  };
}

function idOfBranch<M extends UIMessage>({ engine, branch }: ForeignChat<M>): string {
  const { branches, branchId } = engine.state.getState();
  return branches.find(({ id, name }) => id === branch || name === branch)?.id ?? branch ?? branchId;
}

/** Sets a chat's list to what is saved, from the first given message on, and then to the given list. */
async function begin<M extends UIMessage>(
  { engine, branchId, list }: BranchChat<M>,
  given?: readonly M[],
): Promise<void> {
  const { messages: shown, branchId: active } = engine.state.getState();
  const at = headOf(engine, branchId);
  const isRead = branchId === active || at === undefined;
  const messages = (isRead ? shown : (await engine.resolve({ at })).messages) as readonly M[];
  const start = messages.findIndex(({ id }) => id === given?.[0]?.id);
  list.follow(messages.slice(Math.max(0, start)), []);
  if (given) list.now = given;
}

/**
 * Two readers of one answer: the chat that saves it, which sets the pace, and the app's own. Only what both have read is saved.
 */
function shared(source: Answer, stop: () => Promise<void>): readonly [saving: Answer, own: Answer] {
  const reader = source.getReader();
  let sink: ReadableStreamDefaultController<UIMessageChunk> | undefined;
  const start = (own: ReadableStreamDefaultController<UIMessageChunk>): void => void (sink = own);
  const cancel = (): Promise<void> => {
    sink = undefined;
    return stop();
  };
  const pull = async (saving: ReadableStreamDefaultController<UIMessageChunk>): Promise<void> => {
    const { done, value } = await reader.read().catch((error: unknown) => {
      sink?.error(error);
      throw error;
    });
    for (const one of [sink, saving])
      if (done) one?.close();
      else one?.enqueue(value);
  };
  const end = async (reason: unknown): Promise<void> => {
    await reader.cancel(reason);
    sink?.close();
  };
  const saving = new ReadableStream<UIMessageChunk>({ pull, cancel: end }, { highWaterMark: 0 });
  return [saving, new ReadableStream<UIMessageChunk>({ start, cancel })];
}

/** Makes the list of an app's chat follow the active branch. */
function followerOf<M extends UIMessage>({
  engine,
  chat,
  branch,
}: ForeignChat<M>): {
  readonly sync: () => void;
  readonly release: () => void;
} {
  let followed: readonly UIMessage[] | undefined;
  let unregister: (() => void) | undefined;
  const sync = (): void => {
    const own = chat?.();
    // Save tool results when they are given, on each change of the list.
    unregister ??= own?.['~registerMessagesCallback']?.(() => {
      if (!isAsking(own)) keepResults(engine, own.messages).catch(() => {});
    });
    const { status, messages } = engine.state.getState();
    if (!own || branch !== undefined || status !== 'ready' || messages === followed || isAsking(own)) return;
    followed = messages;
    // A tool result that was just given is saved with the next request; until then the list keeps it.
    const next = listAfter(engine, own.messages, messages as readonly M[]).map((message) => {
      const mine = withId(own.messages, message.id);
      return mine && isAnswered(message, mine) ? mine : message;
    });
    if (!sameItems(own.messages, next)) own.messages = next;
  };
  sync();
  // Read the chat if no hook or provider does. If the read fails, the first request reports that.
  if (chat) engine.ready().catch(() => {});
  const releases = [
    engine.state.subscribe(sync),
    () => unregister?.(),
    onLeaving(() => void keepResults(engine, chat?.()?.messages ?? []).catch(() => {})),
  ];
  return { sync, release: () => releases.forEach((release) => release()) };
}

/**
 * Saves tool results and approvals that an app's own chat was given, on the node of the call. That chat reports them with its
 * next request only.
 */
async function keepResults(engine: ContextEngine, list: readonly UIMessage[]): Promise<void> {
  for (const message of list) {
    const key = message.role === 'assistant' ? keyOf(engine, message.id, undefined) : undefined;
    const saved = engine.message(key ?? '');
    const answer = (now: UIMessage): UIMessage => (isAnswered(now, message) ? message : now);
    if (key && saved && engine.status(key) !== 'streaming' && isAnswered(saved, message))
      await keepMessage(engine, key, answer, undefined);
  }
}

/** Whether a message equals the saved one, except for tool calls that wait there and are answered here. */
function isAnswered(saved: UIMessage, { parts }: UIMessage): boolean {
  return (
    saved.parts.length === parts.length &&
    saved.parts.some((part, i) => isAnswer(part, parts[i])) &&
    saved.parts.every((part, i) => isAnswer(part, parts[i]) || sameJson(part, parts[i]))
  );
}

/** Whether a waiting tool call is answered in the other part. */
function isAnswer(part: Part, now: Part | undefined): boolean {
  return isToolPart(part) && isWaiting(part) && now !== undefined && isToolPart(now) && !isWaiting(now);
}
