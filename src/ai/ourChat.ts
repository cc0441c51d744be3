import type { Chat } from '@ai-sdk/react';
import type { ChatStatus, ChatTransport, UIMessage } from 'ai';
import type { ContextEngine } from '../engine/engine.ts';
import type { ContextChat, ContextChatOptions } from './contextChat.ts';
import type { Line } from './line.ts';
import type { List } from './list.ts';

/** A `BranchChat`, as the code sees it that is loaded with the first turn. */
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
  /** The answer that grows, or grew last. */
  turn?: Growing | undefined;
  /** The turn that is being saved. */
  opening?: Promise<unknown> | undefined;
  /** The answer that is being taken up. */
  taking?: Promise<unknown> | undefined;
  /** Whether the last request was answered with nothing: to ask again by itself would have no end. */
  isMute?: boolean | undefined;
  /** What is shown of an answer as it is read: one that goes on is what it was, and more. */
  asShown: (message: M, shown: M | undefined) => M;
  /** What waits for its turn, once something does. */
  queue?: Waiting | undefined;
  /** What calls are given here, until it is saved. */
  readonly writes: Set<PromiseLike<unknown>>;
  /** Whether a resumed stream repeats the answer from its beginning: AI SDK 5 knows no other way. */
  readonly isReplay: boolean;
  ready(): Promise<void>;
  /** Resolves when the last turn, and what calls were given, is saved. */
  settled(): Promise<unknown>;
  /** Stops the growing answers; questions that wait stay for the next page that opens the chat. */
  leave(): Promise<void>;
  /** Lets the answer at the end go on by itself. */
  goOn(): void;
  /** Says in the chat what was refused. */
  tell(error: Error): void;
}

/** A message as it is handed to `sendMessage()`. */
export type Message<M extends UIMessage> = NonNullable<Parameters<Chat<M>['sendMessage']>[0]>;

/** What a chat needs of the registry that made it. */
export interface ChatHost<M extends UIMessage> {
  readonly engine: ContextEngine;
  /** The app's options, as they are now. */
  readonly options: ContextChatOptions<M>;
  readonly transport: ChatTransport<M>;
  /** Whether its lists are what the person sees; not where another chat reads along. */
  readonly isOwn: boolean;
  /** What calls are given in chats where no answer streams, until it is saved. */
  readonly writes: Set<PromiseLike<unknown>>;
  /** Puts a chat on a branch: on the one that it is about to make, too, so that it is there when that is shown. */
  register(branchId: string, chat: OurChat<M>): void;
  /** Takes a chat off a branch, if it is there. */
  unregister(branchId: string, chat: OurChat<M>): void;
  /** All chats, the one that is shown first. */
  all(): readonly OurChat<M>[];
  /** Looks at what the engine shows now: while a chat was busy, its branch may have moved. */
  sync(): void;
}

/** The answer of a chat: see `turn.ts`. */
export interface Growing {
  readonly id: string;
  readonly key: string;
  /** The key of the answer that this one is a version of, as long as it has no node of its own. */
  readonly versionOf: string | undefined;
  /** Whether it still grows; no longer as soon as its end is being saved. */
  readonly isOpen: boolean;
  /** Whether the end is saved. */
  readonly isSettled: boolean;
  readonly settled: Promise<void>;
  savePoint(): Promise<boolean>;
}

/** What waits for its turn, as a turn and other chats see it: see `queue.ts`. */
export interface Waiting {
  /** Whether some of what an earlier page left is put into the list: another tab shows it too, and may ask it now. */
  readonly hasPlaced: boolean;
  /** Whether the turn of a message comes. */
  isWaiting(id: string | undefined): boolean;
  /** A turn was saved, maybe on a new branch: its questions leave the queue, and the others move to that branch. */
  turned(): void;
  /** A turn was refused, and its list is what it was: what an earlier page left waits behind that again. */
  refused(): void;
}

/** The name under which questions that wait for their turn are kept with the chat. */
export const QUEUED = 'queued';

/** Whether an answer is asked for, or grows. */
export function isAsking({ status }: { readonly status: ChatStatus }): boolean {
  return status === 'submitted' || status === 'streaming';
}

/** The AI SDK's own copy of the answer, made before the request. The AI SDK writes into it until the answer has ended. */
export function copyIn(chat: object): UIMessage | undefined {
  const { activeResponse } = chat as { activeResponse?: { state: { message: UIMessage } } };
  return activeResponse?.state.message;
}

/** The id that servers know a conversation by, whatever branch of it is asked about. */
export function conversationOf<M extends UIMessage>({ options, engine }: ChatHost<M>): string {
  return options.id ?? engine.chatId;
}

/** Whether something can be sent: the AI SDK breaks on a text, and shows an object without any of these as it is. */
export function isMessage(given: object): boolean {
  return ['text', 'files', 'parts'].some((key) => key in new Object(given));
}

/**
 * A message in the form that takes effect at once. Files that have to be read first stay for the AI SDK to read, in a list
 * of their own: apps empty the field in the same moment, and a browser empties the field's list with it.
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
