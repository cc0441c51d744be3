import type { Chat } from '@ai-sdk/react';
import {
  convertFileListToFileUIParts,
  type ChatStatus,
  type ChatTransport,
  type CreateUIMessage,
  type FileUIPart,
  type UIMessage,
} from 'ai';
import type { ContextEngine } from '../engine/engine.ts';
import type { BranchChat } from './branchChat.ts';
import type { ContextChatOptions } from './contextChat.ts';

/** What a chat needs from the registry that made it. */
export interface ChatHost {
  readonly engine: ContextEngine;
  /** The app's current options. */
  readonly options: ContextChatOptions;
  readonly transport: ChatTransport<UIMessage>;
  /** Whether a person sees these chats' lists; false for the chats behind {@link withContext}. */
  readonly isOwn: boolean;
  /** Tool results given in any chat, outside of a streaming answer, that are not saved yet. */
  readonly writes: Set<PromiseLike<unknown>>;
  /** All chats, the one that is shown first. */
  all(): readonly BranchChat[];
  /** Updates the chats from the engine: a branch may have moved while its chat was busy. */
  sync(): void;
}

/** The name of the record in the store that keeps queued questions. */
export const QUEUED = 'queued';

/** The id under which servers know a conversation, on each of its branches. */
export function chatIdOf({ options, engine }: ChatHost): string {
  return options.id ?? engine.chatId;
}

/** Whether the chat is deleted, here or in another tab, and not begun anew. */
export function isDeleted(engine: ContextEngine): boolean {
  return engine.state.getState().error?.code === 'chat-deleted';
}

/** Whether an answer is requested or grows. */
export function isAsking({ status }: { readonly status: ChatStatus }): boolean {
  return status === 'submitted' || status === 'streaming';
}

/** The AI SDK's own copy of the growing answer, which it made before the request and writes into until the answer ends. */
export function copyIn(chat: object): UIMessage | undefined {
  const { activeResponse } = chat as { activeResponse?: { state: { message: UIMessage } } };
  return activeResponse?.state.message;
}

// ------------------------------------------------------------------ what is sent

/** A message as it is handed to `sendMessage()`, and with its text and files as parts. */
export type Message = NonNullable<Parameters<Chat<UIMessage>['sendMessage']>[0]>;
export type Said = CreateUIMessage<UIMessage> & { readonly messageId?: string };

/** Whether a value can be sent: the AI SDK breaks on a string, and shows an object without any of these fields as it is. */
export function isMessage(given: object): boolean {
  return ['text', 'files', 'parts'].some((key) => key in new Object(given));
}

/** A message in parts. Files are read at once: apps empty the input, and its list, in the same moment. */
export async function inParts(message: Message): Promise<Said> {
  const { text, files, parts, ...rest } = message as Partial<Said> & { text?: string; files?: Files };
  if (parts) return { ...rest, parts };
  const read = Array.isArray(files) ? files : await convertFileListToFileUIParts(files ?? undefined);
  return { ...rest, parts: [...read, ...(text === undefined ? [] : [{ type: 'text' as const, text }])] };
}

type Files = FileList | FileUIPart[] | null;
