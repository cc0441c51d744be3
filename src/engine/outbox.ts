import type { UIMessage } from 'ai';
import { isContextError, type ContextError } from '../errors.ts';
import type { Branch, Chat, Checkpoint, MessageNode, NodeInfo } from '../graph/graph.ts';
import { applyOps } from '../store/apply.ts';
import type { AppendOptions, AppendResult, StoreOp, StoreTransaction } from '../store/store.ts';
import type { History } from './history.ts';

/**
 * Turns that the disk would not take.
 *
 * A full disk is no reason to lose an answer. When the store refuses, the operations are carried out on the engine's
 * own records instead, by the same code that a store uses, and kept here in order. They are tried again, first to
 * last, before any later write. Until then the words live in this tab only, and `saveState` says so.
 */
export interface Unsaved {
  readonly ops: readonly StoreOp[];
}

/** Whether a store's refusal is one to wait out, with the words kept in memory. */
export function isRefusal(error: unknown): error is ContextError {
  return (
    isContextError(error, 'quota-exceeded') ||
    isContextError(error, 'store-closed') ||
    isContextError(error, 'store-unavailable') ||
    isContextError(error, 'store-blocked')
  );
}

/** How many messages these writes hold. */
export function countMessages(unsaved: readonly Unsaved[]): number {
  const ids = unsaved.flatMap(({ ops }) => ops.flatMap((op) => (op.op === 'insert' || op.op === 'replace' ? [op.id] : [])));
  return new Set(ids).size;
}

/** Carries operations out on what the engine knows, as a store would. The records get their final numbers later. */
export function applyLocally(
  history: History,
  chatId: string,
  ops: readonly StoreOp[],
  options: AppendOptions,
): Promise<AppendResult> {
  return applyOps(new LocalTransaction(history, chatId), ops, options, Date.now());
}

/** A transaction over an engine's own records. Its writes go nowhere: the engine takes in the result. */
class LocalTransaction implements StoreTransaction {
  readonly chatId: string;
  readonly deviceId = 'local';
  readonly #history: History;

  constructor(history: History, chatId: string) {
    this.#history = history;
    this.chatId = chatId;
  }

  async chat(): Promise<Chat | undefined> {
    return this.#history.chat;
  }

  async seq(): Promise<number> {
    return this.#history.seq;
  }

  async info(id: string): Promise<NodeInfo | undefined> {
    return this.#history.graph.nodes.get(id);
  }

  async node(id: string): Promise<MessageNode | undefined> {
    const info = this.#history.graph.nodes.get(id);
    if (!info) return undefined;
    const { preview: _preview, parts: _parts, ...rest } = info;
    return { ...rest, data: this.#history.body(id)?.data ?? { id, role: info.name as UIMessage['role'], parts: [] } };
  }

  async draft(id: string): Promise<UIMessage | undefined> {
    return this.#history.body(id)?.data;
  }

  async hasChildren({ id }: NodeInfo): Promise<boolean> {
    return this.#history.graph.children.has(id);
  }

  async branch(id: string): Promise<Branch | undefined> {
    const branch = this.#history.branches.get(id);
    return branch && { ...branch, headMessageId: this.#history.view(id) };
  }

  async branches(): Promise<readonly Branch[]> {
    return [...this.#history.branches.values()];
  }

  async checkpoints(): Promise<readonly Checkpoint[]> {
    return [...this.#history.checkpoints.values()];
  }

  purge(): void {}
  putChat(): void {}
  putNode(): void {}
  dropNode(): void {}
  putBranch(): void {}
  putCheckpoint(): void {}
  putChanges(): void {}
  putValue(): void {}
}
