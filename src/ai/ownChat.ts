import type { UIMessage, UIMessageChunk } from 'ai';
import type { ContextEngine } from '../engine/engine.ts';
import { sameJson } from '../graph/same.ts';
import { expectEngine } from '../react/provider.tsx';
import { BranchChat } from './branchChat.ts';
import { keyOf } from './list.ts';
import { isToolPart, isWaiting, type Part } from './message.ts';
import { isDeleted, type ChatHost } from './host.ts';
import type { ReconnectOptions, SendOptions } from './contextChat.ts';
import { keepMessage } from './turn.ts';

/** An app's own chat, with a transport of ours. */
type ForeignChat = Pick<ChatHost, 'engine' | 'transport'>;

type Answer = ReadableStream<UIMessageChunk>;

/** Saves the turn that an app's own chat asks for, and the results that it was given for tool calls; sends its request. */
export async function send(foreign: ForeignChat, sent: SendOptions): Promise<Answer> {
  const { engine } = foreign;
  expectEngine(engine);
  await engine.ready();
  await keepResults(engine, sent.messages);
  return (await serve(foreign, (chat) => chat['makeRequest'](sent), sent)) as Answer;
}

/** Takes up the answer that a server still streams. */
export async function reconnect(
  foreign: ForeignChat,
  { abortSignal, metadata, headers, body }: ReconnectOptions,
): Promise<Answer | null> {
  expectEngine(foreign.engine);
  await foreign.engine.ready();
  return serve(foreign, (chat) => chat.resumeStream({ metadata, headers, body } as object), { abortSignal });
}

/** A hidden chat of ours makes the request with the list that came along, and both chats read the answer. */
function serve(
  { engine, transport }: ForeignChat,
  ask: (chat: BranchChat) => Promise<unknown>,
  { abortSignal, chatId = engine.chatId, messages: list }: Partial<SendOptions>,
): Promise<Answer | null> {
  return new Promise((resolve, reject) => {
    abortSignal?.throwIfAborted();
    const { branchId, messages } = engine.state.getState();
    const options = { id: chatId, onError: reject };
    const others = { isOwn: false, writes: new Set<never>(), all: () => [], sync: () => {} };
    const chat = new BranchChat({ engine, transport, options, ...others }, branchId, 1);
    // What is saved, from the first given message on, and then the given list.
    const start = messages.findIndex(({ id }) => id === list?.[0]?.id);
    chat.list.follow(messages.slice(Math.max(0, start)), []);
    if (list) chat.list.now = list;
    chat.passOn = (source) => {
      const [saving, own] = shared(source, () => chat.stop());
      resolve(own);
      return saving;
    };
    const stop = (): void => void chat.stop();
    abortSignal?.addEventListener('abort', stop, { once: true });
    // Stop the answer of a deleted chat. While a server is asked for an answer to take up, the list follows other tabs.
    const unsubscribe = engine.state.subscribe((state) => {
      if (isDeleted(engine)) stop();
      else if (!list && !chat.turn && state.branchId === chat.branchId)
        chat.list.follow(state.messages, state.remoteMessages);
    });
    void ask(chat).finally(() => {
      unsubscribe();
      resolve(null);
    });
  });
}

/** Two readers of one answer: the chat that saves it, which sets the pace, and the app's own. */
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

/** Saves tool results and approvals that an app's own chat was given, on the node of the call. */
async function keepResults(engine: ContextEngine, list: readonly UIMessage[]): Promise<void> {
  for (const message of list) {
    const key = message.role === 'assistant' ? keyOf(engine, message.id, undefined) : undefined;
    const saved = engine.message(key ?? '');
    if (key && saved && engine.status(key) !== 'streaming' && answered(saved, message))
      await keepMessage(engine, key, (now) => answered(now, message) ?? now, undefined);
  }
}

/** A saved message with the calls answered that wait in it; undefined where the given one differs in anything else, or nothing. */
function answered(saved: UIMessage, { parts }: UIMessage): UIMessage | undefined {
  const next = saved.parts.map((part, i) => (isAnswer(part, parts[i]) ? (parts[i] as Part) : part));
  const isAll = sameJson(next, parts) && !sameJson(saved.parts, parts);
  return isAll ? { ...saved, parts: next } : undefined;
}

/** Whether a waiting tool call is answered in the other part. */
function isAnswer(part: Part, now: Part | undefined): boolean {
  return isToolPart(part) && isWaiting(part) && now !== undefined && isToolPart(now) && !isWaiting(now);
}
