import { Chat } from '@ai-sdk/react';
import type { ChatInit, ChatRequestOptions, ChatStatus, ChatTransport, UIMessage, UIMessageChunk } from 'ai';
import type { ContextEngine } from '../engine/engine.ts';
import type { ContextChat, ContextChatOptions } from './contextChat.ts';
import { busy, type Jobs } from './jobs.ts';
import { List } from './list.ts';
import type { Turn } from './turn.ts';

/** What the code of a chat's turns, queue and tool calls needs of it; the verbs are in `branchChat.ts`. */
export abstract class OurChat extends Chat<UIMessage> implements ContextChat {
  readonly host: ChatHost;
  readonly engine: ContextEngine;
  /** The AI SDK's own verbs. */
  readonly own: Pick<Chat<UIMessage>, Verb>;
  readonly list: List;
  abstract readonly jobs: Jobs;
  branchId: string | undefined;
  /** The id of the branch that a turn is just making, if it needs one: the chat is there when the branch is shown. */
  forkId = '';
  /** The growing answer, or the last one. */
  turn: Turn | undefined;
  /** The turn that is just being saved, or the answer that is just being taken up. */
  opening: Promise<unknown> | undefined;
  /** Resolves when the server has said whether it still streams an answer; undefined while the chat asks no server. */
  resuming: Promise<unknown> | undefined;
  /** What to show of an answer while it is read: a continued answer is shown with its earlier words. */
  asShown: (message: UIMessage, shown: UIMessage | undefined) => UIMessage = (message) => message;
  /** Takes an answer before it is read: the chats behind `withContext` read it with a second one. */
  passOn: (answer: ReadableStream<UIMessageChunk>) => ReadableStream<UIMessageChunk> = (answer) => answer;
  /** The queue, once a question had to wait. */
  queue: Waiting | undefined;
  /** Tool results given in this chat that are not saved yet. */
  readonly writes: Set<PromiseLike<unknown>> = new Set();

  constructor(host: ChatHost, init: ChatInit<UIMessage>, branchId: string | undefined) {
    super(init);
    this.host = host;
    this.engine = host.engine;
    this.branchId = branchId;
    this.list = new List(host.engine, this.state, init.messages ?? []);
    this.own = { ...(this as Pick<Chat<UIMessage>, Verb>) };
  }

  get waiting(): readonly UIMessage[] {
    return this.queue?.waiting ?? NONE;
  }

  get isBusy(): boolean {
    return isAsking(this) || this.turn?.isSettled === false || this.writes.size > 0;
  }

  abstract get hasWork(): boolean;

  /** Whether a resumed stream repeats the answer from its beginning: AI SDK 5 knows no other way. */
  get isReplay(): boolean {
    return this.host.transport.resumeStreamIsReplay ?? !(this.own.addToolApprovalResponse as unknown);
  }

  /** Resolves when the chat is read. Rejects with the error of the read. */
  abstract ready(): Promise<void>;

  /** Resolves when the last turn, and all tool results that were given until its end, are saved. */
  async settled(): Promise<void> {
    await Promise.allSettled([this.turn?.settled]);
    await Promise.allSettled(this.writes);
  }

  abstract whenQueued(): Promise<void>;

  async whenSettled(): Promise<void> {
    await this.settled();
    await this.whenQueued();
  }

  /** Stops growing answers; queued questions stay for the next page that opens the chat. */
  leave(): Promise<void> {
    this.queue?.leave();
    return this.stop();
  }

  /** Called when the chat may have become idle: the next request may begin, and the list may follow its branch. */
  moved(): void {
    this.jobs.look();
    this.host.sync();
  }

  abstract say(message: Message | undefined, options: ChatRequestOptions | undefined): Promise<void>;

  /** Refuses, with `busy`, an answer beside the one of `messageId` (default: the last) that another tab writes. */
  isSecond(messageId?: string): boolean {
    const isSecond = this.list.remoteMessages.some(({ id }) => id === (messageId ?? id));
    if (isSecond) this.tell(busy());
    return isSecond;
  }

  fail(error: unknown): never {
    this.tell(error as Error);
    throw error;
  }

  /** Reports an error in the chat. */
  tell(error: Error): void {
    this.host.options.onError?.(error, this);
    if (!isAsking(this)) super.setStatus({ status: 'error', error });
  }
}

const NONE: readonly never[] = [];

type Verb =
  | 'sendMessage'
  | 'regenerate'
  | 'stop'
  | 'resumeStream'
  | 'addToolOutput'
  | 'addToolApprovalResponse';

/** A message as it is handed to `sendMessage()`. */
export type Message = NonNullable<Parameters<Chat<UIMessage>['sendMessage']>[0]>;

/** What a chat needs from the registry that made it. */
export interface ChatHost {
  readonly engine: ContextEngine;
  /** The app's current options. */
  readonly options: ContextChatOptions;
  readonly transport: ChatTransport<UIMessage>;
  /** Tool results given in any chat, outside of a streaming answer, that are not saved yet. */
  readonly writes: Set<PromiseLike<unknown>>;
  /** Whether a person sees these chats' lists; false for the chats behind {@link withContext}. */
  readonly isOwn: boolean;
  /** All chats, the one that is shown first. */
  all(): readonly OurChat[];
  /** Updates the chats from the engine: a branch may have moved while its chat was busy. */
  sync(): void;
}

/** The queue, as a turn and other chats see it, see `queue.ts`. */
export interface Waiting {
  /** The questions that will be asked, oldest first; the same array until they change. */
  readonly waiting: readonly UIMessage[];
  /** Whether the list holds questions that an earlier page left queued: another tab shows them, too, and may ask them now. */
  readonly hasPlaced: boolean;
  isWaiting(id: string | undefined): boolean;
  /** From now on its questions are asked only when a person says so. */
  leave(): void;
  sayAnew(message: Message, options: ChatRequestOptions | undefined): Promise<boolean> | undefined;
  placeLeft(id?: string): void;
  /** Called when the chat has changed, here or in another tab: what was asked leaves the queue, the rest is on the chat's branch. */
  followed(): void;
}

export const QUEUED = 'queued';

/** Whether an answer is requested or grows. */
export function isAsking({ status }: { readonly status: ChatStatus }): boolean {
  return status === 'submitted' || status === 'streaming';
}

/** Whether the chat is deleted, here or in another tab, and not begun anew. */
export function isDeleted(engine: ContextEngine): boolean {
  return engine.state.getState().error?.code === 'chat-deleted';
}

/** The AI SDK's own copy of the growing answer, which it made before the request and writes into until the answer ends. */
export function copyIn(chat: object): UIMessage | undefined {
  const { activeResponse } = chat as { activeResponse?: { state: { message: UIMessage } } };
  return activeResponse?.state.message;
}

/** The id under which servers know a conversation, on each of its branches. */
export function chatIdOf({ options, engine }: ChatHost): string {
  return options.id ?? engine.chatId;
}

/** Whether a value can be sent: the AI SDK breaks on a string, and shows an object without any of these fields as it is. */
export function isMessage(given: object): boolean {
  return ['text', 'files', 'parts'].some((key) => key in new Object(given));
}

/** A message with its text as parts, and a `FileList` as a copy: apps empty the input, and its list, in the same moment. */
export function asParts(message: Message): Message {
  const { text, files, parts, ...rest } = message as Words;
  if (parts) return message;
  if (files && !Array.isArray(files)) {
    const own: PropertyDescriptorMap = Object.getOwnPropertyDescriptors<object>([...files]);
    return { ...message, files: Object.create(files, own) } as Message;
  }
  const said = text === undefined ? [] : [{ type: 'text', text }];
  return { ...rest, parts: [...(files ?? []), ...said] } as unknown as Message;
}

/** A message as an app may send it. */
export interface Words extends Partial<UIMessage> {
  readonly text?: string;
  readonly files?: FileList | UIMessage['parts'] | null;
}
