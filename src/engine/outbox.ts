import type { UIMessage } from 'ai';
import { isContextError, type ContextError } from '../errors.ts';
import type { Branch, Chat, Checkpoint, MessageNode, NodeInfo } from '../graph/graph.ts';
import { applyOps } from '../store/apply.ts';
import type { AppendOptions, AppendResult, StoreOp, StoreTransaction } from '../store/store.ts';
import { bodySum } from '../store/sum.ts';
import type { History } from './history.ts';

/**
 * Turns that the disk would not take.
 *
 * A full disk is no reason to lose an answer. When the store refuses, the operations are carried out on the engine's
 * own records instead, by the same code that a store uses, and kept here in order. They are tried again, first to
 * last, before any later write. Until then the words live in this tab only, and `saveState` says so.
 *
 * Trying again may stop half-way. What is still here is then newer than what the store tells: its words are kept as
 * they are, and the branches that it moves stay where it moved them.
 */
export class Outbox {
  #writes: readonly (readonly StoreOp[])[] = [];

  get isEmpty(): boolean {
    return this.#writes.length === 0;
  }

  /** How many messages wait here. */
  get count(): number {
    return this.messageIds().size;
  }

  add(ops: readonly StoreOp[]): void {
    this.#writes = [...this.#writes, ops];
  }

  /** Hands out the first write; it is put back if `send` rejects. */
  async sendFirst(send: (ops: readonly StoreOp[]) => Promise<unknown>): Promise<void> {
    const [first, ...rest] = this.#writes;
    if (!first) return;
    this.#writes = rest;
    try {
      await send(first);
    } catch (error) {
      this.#writes = [first, ...this.#writes];
      throw error;
    }
  }

  /** The messages that wait here, or whose newer words do. */
  messageIds(): Set<string> {
    return new Set(
      this.#writes.flat().flatMap((op) => (op.op === 'insert' || op.op === 'replace' ? [op.id] : [])),
    );
  }

  /** Whether a branch has another head here than in the store. */
  movesHead(branchId: string): boolean {
    return this.#writes.flat().some((op) => op.op === 'head' && op.branchId === branchId);
  }

  /** The first part of what is here went to a branch of its own: the rest follows it there. */
  redirect(from: string, to: string): void {
    const turn = (op: StoreOp): StoreOp =>
      (op.op === 'head' || op.op === 'use') && op.branchId === from ? { ...op, branchId: to } : op;
    this.#writes = this.#writes.map((ops) => ops.map(turn));
  }
}

/** Whether a store's refusal is one to wait out, with the words kept in memory. */
export function isRefusal(error: unknown): error is ContextError {
  return isContextError(error) && REFUSALS.has(error.code);
}

const REFUSALS: ReadonlySet<string> = new Set([
  'quota-exceeded',
  'store-closed',
  'store-unavailable',
  'store-blocked',
  'newer-format',
]);

/** The device of records that no store has taken yet. */
export const MEMORY = 'memory';

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
  readonly deviceId = MEMORY;
  readonly #history: History;

  constructor(history: History, chatId: string) {
    this.#history = history;
    this.chatId = chatId;
  }

  async chat(): Promise<Chat | undefined> {
    const { chat, nextSeq } = this.#history;
    return chat && { ...chat, nextSeq };
  }

  async seq(): Promise<number> {
    return this.#history.lastSeq;
  }

  async info(id: string): Promise<NodeInfo | undefined> {
    return this.#history.graph.nodes.get(id);
  }

  async node(id: string): Promise<MessageNode | undefined> {
    const info = this.#history.graph.nodes.get(id);
    if (!info) return undefined;
    const { preview: _preview, parts: _parts, ...rest } = info;
    return {
      ...rest,
      data: this.#history.body(id)?.data ?? { id, role: info.name as UIMessage['role'], parts: [] },
    };
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

  bodyHash(body: UIMessage): string {
    return bodySum(JSON.stringify(body));
  }

  async value(): Promise<undefined> {
    return undefined;
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
