import type { Chat } from '@ai-sdk/react';
import type { ChatStatus, ChatTransport, UIMessage } from 'ai';
import type { ContextEngine } from '../engine/engine.ts';
import type { ContextChat, ContextChatOptions } from './contextChat.ts';
import type { Line } from './line.ts';
import type { List } from './list.ts';

/** A `BranchChat`, as the code that is loaded with the first turn sees it. */
export interface OurChat<M extends UIMessage> extends ContextChat<M> {
  readonly host: ChatHost<M>;
  readonly engine: ContextEngine;
  /** The AI SDK's own verbs. */
  readonly own: Pick<
    Chat<M>,
    'sendMessage' | 'regenerate' | 'stop' | 'resumeStream' | 'addToolOutput' | 'addToolApprovalResponse'
  >;
  readonly list: List<M>;
  readonly line: Line;
  branchId: string | undefined;
  /** The growing answer, or the last one. */
  turn?: Growing | undefined;
  /** The turn that is just being saved. */
  opening?: Promise<unknown> | undefined;
  /** The answer that is just being taken up. */
  taking?: Promise<unknown> | undefined;
  /** Whether the last answer was empty: sending again automatically would not end. */
  isMute?: boolean | undefined;
  /** What to show of an answer while it is read: a continued answer is shown with its earlier words. */
  asShown: (message: M, shown: M | undefined) => M;
  /** The queue, once a question had to wait. */
  queue?: Waiting | undefined;
  /** Tool results given in this chat that are not saved yet. */
  readonly writes: Set<PromiseLike<unknown>>;
  /** Whether a resumed stream repeats the answer from its beginning: AI SDK 5 knows no other way. */
  readonly isReplay: boolean;
  ready(): Promise<void>;
  /** Resolves when the last turn, and all tool results, are saved. */
  settled(): Promise<unknown>;
  /** Stops growing answers; queued questions stay for the next page that opens the chat. */
  leave(): Promise<void>;
  /** Sends the last answer on, as `sendAutomaticallyWhen` asks. */
  goOn(): void;
  /** Reports an error in the chat. */
  tell(error: Error): void;
}

/** A message as it is handed to `sendMessage()`. */
export type Message<M extends UIMessage> = NonNullable<Parameters<Chat<M>['sendMessage']>[0]>;

/** What a chat needs from the registry that made it. */
export interface ChatHost<M extends UIMessage> {
  readonly engine: ContextEngine;
  /** The app's current options. */
  readonly options: ContextChatOptions<M>;
  readonly transport: ChatTransport<M>;
  /** Whether a person sees these chats' lists; false for the chats behind {@link withContext}. */
  readonly isOwn: boolean;
  /** Tool results given in any chat, outside of a streaming answer, that are not saved yet. */
  readonly writes: Set<PromiseLike<unknown>>;
  /** Puts a chat on a branch, before the branch is made, so that the chat is there when the branch is shown. */
  register(branchId: string, chat: OurChat<M>): void;
  /** Takes a chat off a branch, if it is there. */
  unregister(branchId: string, chat: OurChat<M>): void;
  /** All chats, the one that is shown first. */
  all(): readonly OurChat<M>[];
  /** Updates the chats from the engine: a branch may have moved while its chat was busy. */
  sync(): void;
}

/** The answer of a chat, see `turn.ts`. */
export interface Growing {
  readonly id: string;
  readonly key: string;
  /** The key of the answer of which this one is a version, until this one has a node of its own. */
  readonly versionOf: string | undefined;
  /** Whether the answer still grows; false as soon as its end is being saved. */
  readonly isOpen: boolean;
  /** Whether the end is saved. */
  readonly isSettled: boolean;
  readonly settled: Promise<void>;
  savePoint(): Promise<boolean>;
}

/** The queue, as a turn and other chats see it, see `queue.ts`. */
export interface Waiting {
  /** Whether the list holds questions that an earlier page left queued: another tab shows them, too, and may ask them now. */
  readonly hasPlaced: boolean;
  /** Whether a message is queued and will be asked. */
  isWaiting(id: string | undefined): boolean;
  /** Called after a turn was saved: its questions leave the queue, and the others move to the turn's branch. */
  turned(): void;
  /** Called after a turn was refused: questions that an earlier page left are queued again. */
  refused(): void;
}

/** The name of the record that keeps queued questions with the chat. */
export const QUEUED = 'queued';

/** Whether an answer is requested or grows. */
export function isAsking({ status }: { readonly status: ChatStatus }): boolean {
  return status === 'submitted' || status === 'streaming';
}

/** The AI SDK's own copy of the growing answer, which it made before the request and writes into until the answer ends. */
export function copyIn(chat: object): UIMessage | undefined {
  const { activeResponse } = chat as { activeResponse?: { state: { message: UIMessage } } };
  return activeResponse?.state.message;
}

/** The id under which servers know a conversation, on each of its branches. */
export function conversationOf<M extends UIMessage>({ options, engine }: ChatHost<M>): string {
  return options.id ?? engine.chatId;
}

/** Whether a value can be sent: the AI SDK breaks on a string, and shows an object without any of these fields as it is. */
export function isMessage(given: object): boolean {
  return ['text', 'files', 'parts'].some((key) => key in new Object(given));
}

/**
 * A message with its text as parts. A `FileList` is copied into an array for the AI SDK to read: apps empty the input in the
 * same moment, and the browser empties the `FileList` with it.
 */
export function asParts<M extends UIMessage>(message: Message<M>): Message<M> {
  const { text, files, parts, ...rest } = message as Words;
  if (parts) return message;
  if (files && !Array.isArray(files)) {
    const own: PropertyDescriptorMap = Object.getOwnPropertyDescriptors<object>([...files]);
    return { ...message, files: Object.create(files, own) } as Message<M>;
  }
  const said = text === undefined ? [] : [{ type: 'text', text }];
  return { ...rest, parts: [...(files ?? []), ...said] } as unknown as Message<M>;
}

/** A message as an app may send it. */
export interface Words extends Partial<UIMessage> {
  readonly text?: string;
  readonly files?: FileList | UIMessage['parts'] | null;
}
