import type { UIMessage } from 'ai';
import { ContextError } from '../errors.ts';
import type { Branch, Chat, Checkpoint, MessageNode, NodeInfo } from '../graph/graph.ts';
import { previewOf } from '../graph/graph.ts';
import type { BranchInfo, ChatFilter, ChatInfo, CheckpointInfo, StoreNotice } from './store.ts';

/** The live branches of a chat as people see them, in the order given. */
export function branchInfos(chat: Chat | undefined, branches: readonly Branch[]): BranchInfo[] {
  return branches
    .filter((branch) => branch.deletedAt === undefined)
    .map(({ id, name, headMessageId, messageCount, createdAt }) => {
      return { id, name, headMessageId, isActive: id === chat?.activeBranchId, messageCount, createdAt };
    });
}

/** The live checkpoints of a chat as people see them, newest first; given in the order in which they were made. */
export function checkpointInfos(checkpoints: readonly Checkpoint[]): CheckpointInfo[] {
  return checkpoints
    .filter((checkpoint) => checkpoint.deletedAt === undefined)
    .toReversed()
    .toSorted((a, b) => b.createdAt - a.createdAt)
    .map(({ id, name, messageId, createdAt }) => ({ id, name, messageId, createdAt }));
}

/** A chat as a list shows it. */
export function chatInfo(chat: Chat, branches: readonly Branch[]): ChatInfo {
  const { id, userId, title, metadata, messageCount, createdAt, updatedAt } = chat;
  const branchCount = branchInfos(chat, branches).length;
  return { id, userId, title, metadata, messageCount, branchCount, createdAt, updatedAt };
}

/** The chats that a filter lets through, the last updated first. Deleted ones are left out. */
export function filterChats(chats: readonly Chat[], filter: ChatFilter): Chat[] {
  const { userId, metadata, limit, offset = 0 } = filter;
  return chats
    .filter((chat) => chat.deletedAt === undefined)
    .filter((chat) => userId === undefined || chat.userId === userId)
    .filter((chat) => !metadata || chat.metadata?.[metadata.key] === metadata.value)
    .toSorted((a, b) => b.updatedAt - a.updatedAt)
    .slice(offset, limit === undefined ? undefined : offset + limit);
}

/** A streaming message with what it has said since it was stored. */
export function withDraft(node: MessageNode, draft: UIMessage | undefined): MessageNode {
  return draft && node.status === 'streaming' ? { ...node, data: draft } : node;
}

/** The same without bodies. */
export function infoWithDraft(info: NodeInfo, draft: UIMessage | undefined): NodeInfo {
  if (!draft || info.status !== 'streaming') return info;
  return { ...info, preview: previewOf(draft), parts: draft.parts.length };
}

/** What `getMessages` rejects with when there is no such chat. */
export function chatNotFound(chatId: string): ContextError {
  return new ContextError('chat-missing', `Chat "${chatId}" not found`, { details: { chatId } });
}

/** Those who listen to a store. One that throws does not keep the others from hearing. */
export class Listeners {
  readonly #listeners = new Set<(notice: StoreNotice) => void>();

  add(listener: (notice: StoreNotice) => void): () => void {
    const own = (notice: StoreNotice): void => listener(notice);
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  tell(notice: StoreNotice): void {
    for (const listener of this.#listeners) {
      try {
        listener(notice);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }

  clear(): void {
    this.#listeners.clear();
  }
}
