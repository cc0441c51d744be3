import type { UIMessage } from 'ai';
import type { MessageStatus } from '../graph/graph.ts';
import type { Fork, NodeInfo } from '../graph/messages.ts';
import type { Revision } from '../store/store.ts';
import type { CallFacts } from './calls.ts';
import type { Comparison } from './compare.ts';
import { ownOptions } from './desk.ts';
import type { Operation } from './history.ts';
import { Opening } from './opening.ts';
import type { AddOptions, MessageContent } from './options.ts';
import { NO_VERSIONS, type BranchInfo, type CheckpointInfo, type Versions } from './state.ts';

/**
 * What an engine does with branches and checkpoints, and answers of messages and their versions.
 *
 * Methods run one after another in the order in which they were called. Questions that are answered at once have their
 * empty answers until the chat is read; answers are equal until they change.
 */
export class Verbs extends Opening {
  // ------------------------------------------------------------------ branches

  /** A new version of a message beside the old one, without asking a model; resolves to its id. */
  async edit(id: string, content: MessageContent): Promise<string> {
    const own = ownOptions(content);
    return (await this.with('tree')).tree.edit(id, own);
  }

  /** Makes a branch that ends at a message, and switches to it. Pending messages are dropped. */
  async rewind(messageId: string): Promise<BranchInfo> {
    const { pending } = this.desk;
    return (await this.with('tree')).tree.rewind(pending, messageId);
  }

  /** Goes back to a checkpoint: makes a branch that ends there, and switches to it. */
  async restore(checkpoint: string): Promise<BranchInfo> {
    const { pending } = this.desk;
    return (await this.with('tree')).tree.restore(pending, checkpoint);
  }

  /** "By the way": makes a branch that ends where this one does, and stays. Pending messages stay too. */
  async btw(): Promise<BranchInfo> {
    return (await this.with('tree')).tree.btw();
  }

  /**
   * Shows another branch as soon as its words are here, and resolves when it is stored which one is shown. Pending messages
   * are dropped.
   */
  async switchBranch(nameOrId: string): Promise<void> {
    const { pending } = this.desk;
    return (await this.with('tree')).tree.switchBranch(pending, nameOrId);
  }

  /** Shows a message: the branch whose head it is, or the branch used last that holds it, up to it. Makes no branch. */
  async checkout(id: string): Promise<void> {
    return (await this.with('tree')).tree.checkout(id);
  }

  /** Gives a branch another name. Rejects with `name-taken`. */
  async renameBranch(nameOrId: string, name: string): Promise<BranchInfo> {
    return (await this.with('tree')).tree.renameBranch(nameOrId, name);
  }

  /** Deletes a branch; its messages stay where other branches hold them. The last one can't go (`last-branch`). */
  async deleteBranch(nameOrId: string): Promise<void> {
    const { pending } = this.desk;
    return (await this.with('tree')).tree.deleteBranch(pending, nameOrId);
  }

  /**
   * Settled messages behind another one, in one durable transaction, without asking a model: on a branch that ends there,
   * or on a new one. What is shown stays. Rejects with `invalid-messages`, `message-not-found`, `branch-not-found`, and with
   * `invalid-options` for no messages, and for a branch that ends elsewhere.
   */
  async add(messages: readonly UIMessage[], options: AddOptions): Promise<BranchInfo> {
    const [own, how] = [ownOptions(messages), ownOptions(options)];
    return (await this.with('tree')).tree.add(own, how);
  }

  /**
   * Takes back what was done last with a branch or a checkpoint, also by an earlier visit; undefined where there is nothing.
   * A branch that has gained messages since is only switched away from. Rejects with `overtaken` where another tab came
   * after.
   */
  async undo(): Promise<Operation | undefined> {
    return (await this.with('tree')).tree.undo();
  }

  /** Does again what was taken back last; undefined where there is nothing. Rejects with `overtaken`, as `undo()` does. */
  async redo(): Promise<Operation | undefined> {
    return (await this.with('tree')).tree.redo();
  }

  /** The operation log of this device: the last 1,000, oldest first. */
  operations(): readonly Operation[] {
    return this.questions?.operations() ?? NONE;
  }

  // ------------------------------------------------------------------ checkpoints

  /** Names the head, or any message of the chat. A name that exists moves and keeps its id. */
  async checkpoint(name: string, options?: { readonly at?: string }): Promise<CheckpointInfo> {
    const own = ownOptions(options);
    return (await this.with('tree')).tree.checkpoint(name, own);
  }

  /** Gives a checkpoint another name. Rejects with `name-taken`. */
  async renameCheckpoint(name: string, to: string): Promise<CheckpointInfo> {
    return (await this.with('tree')).tree.renameCheckpoint(name, to);
  }

  /** Deletes a checkpoint; the message that it named stays. */
  async deleteCheckpoint(name: string): Promise<void> {
    return (await this.with('tree')).tree.deleteCheckpoint(name);
  }

  // ------------------------------------------------------------------ messages and their versions

  /** The versions of a message that live branches reach, and its place among them. Total. */
  siblings(id: string): Versions {
    return this.questions?.siblings(id) ?? NO_VERSIONS;
  }

  /** Shows another version of a message: the branch used last among those that hold it. */
  async selectSibling(id: string): Promise<void> {
    return (await this.with('tree')).tree.selectSibling(id);
  }

  /** The places where the chat continues in more than one way, in the order in which they were made. */
  forks(): readonly Fork[] {
    return this.questions?.forks() ?? NONE;
  }

  /** Whether a message is whole, growing or cut short; undefined for an unknown one. */
  status(id: string): MessageStatus | undefined {
    return this.questions?.status(id);
  }

  /** What is known of a message without its body: parent, role, status, depth; undefined for an unknown one. */
  node(id: string): NodeInfo | undefined {
    return this.questions?.node(id);
  }

  /** @internal All messages of an id: that of the chain of a branch first, then the newest. */
  nodesOf(id: string, branchId: string | undefined): readonly NodeInfo[] {
    return this.questions?.nodesOf(id, branchId) ?? NONE;
  }

  /** A message that is loaded; undefined otherwise. */
  message(id: string): UIMessage | undefined {
    return this.questions?.message(id);
  }

  /**
   * Whether the message with this id says what this one says: role, parts and metadata, but for reminders, which an
   * interface may show or not. Undefined where it is not loaded and begins alike.
   */
  matches(message: UIMessage, key?: string): boolean | undefined {
    return this.questions?.matches(message, key);
  }

  /** @internal The key of the last message of a branch, also of one that another tab is writing. */
  lastOf(branchId: string): string | undefined {
    return this.questions?.lastOf(branchId);
  }

  /** @internal The id of the branch used last that holds a message, by key; undefined for none. */
  branchHolding(key: string): string | undefined {
    return this.questions?.branchHolding(key);
  }

  // ------------------------------------------------------------------ how an answer came about

  /**
   * What is known of the requests that made an answer, oldest first, the last 20; empty where none was made here or nobody
   * told. Equal until it changes. `contextree/ai` tells of each one, in the transaction that ends the turn.
   */
  calls(id: string): readonly CallFacts[] {
    return this.questions?.calls(id) ?? NONE;
  }

  /**
   * What a message said before it was changed: versions that were settled when they were replaced, oldest first, the last 20.
   * Drafts and steps of an answer are none. Rejects with `message-not-found`.
   */
  async revisions(id: string): Promise<readonly Revision[]> {
    return (await this.opened()).revisions(id);
  }

  /**
   * Two messages, or branches by name or id, from the last message that both have: what was said after it, message beside
   * message. A branch stands for its last message; '' for an empty one. Reads the bodies of both sides.
   * Rejects with `message-not-found`.
   */
  async compare(a: string, b: string): Promise<Comparison> {
    return (await this.opened()).compare(a, b);
  }
}

const NONE: readonly never[] = [];
