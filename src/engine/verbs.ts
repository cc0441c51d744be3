import type { UIMessage } from 'ai';
import { refuseToLoad } from '../errors.ts';
import type { MessageStatus } from '../graph/graph.ts';
import type { Fork, NodeInfo } from '../graph/messages.ts';
import type { Revision } from '../store/store.ts';
import type { CallFacts } from './calls.ts';
import type { Comparison } from './compare.ts';
import { ownOptions } from './desk.ts';
import { Face } from './face.ts';
import type { Operation } from './history.ts';
import type { AddOptions, MessageContent } from './options.ts';
import type { Questions } from './questions.ts';
import type { Session } from './session.ts';
import { NO_VERSIONS, type BranchInfo, type CheckpointInfo, type Versions } from './state.ts';

/**
 * The engine's methods for branches, checkpoints and versions. They run in the order of their calls. Synchronous queries return
 * empty results until the chat is read; results stay the same objects until they change.
 */
export abstract class Verbs extends Face {
  /**
   * @internal The session, once its code is loaded and the chat is read; with more of its code, for which later calls wait, too.
   *   After a failure the next call tries again.
   */
  protected abstract opened(code?: 'saves' | 'tree'): Promise<Session>;

  /** @internal The synchronous queries; undefined until the chat is read. */
  protected abstract get questions(): Questions | undefined;

  /** Adds a version of a message beside it, without calling a model; resolves to its id. */
  async edit(id: string, content: MessageContent): Promise<string> {
    const own = ownOptions(content);
    return (await this.opened('tree')).tree.edit(id, own);
  }

  /** Makes a branch that ends at a message, and switches to it. Pending messages are dropped. */
  async rewind(messageId: string): Promise<BranchInfo> {
    const { pending } = this.desk;
    return (await this.opened('tree')).tree.rewind(pending, messageId);
  }

  /** Goes back to a checkpoint: makes a branch that ends there, and switches to it. */
  async restore(checkpoint: string): Promise<BranchInfo> {
    const { pending } = this.desk;
    return (await this.opened('tree')).tree.restore(pending, checkpoint);
  }

  /** "By the way": makes a branch that ends where this one does, and stays on this one. Pending messages stay too. */
  async btw(): Promise<BranchInfo> {
    return (await this.opened('tree')).tree.btw();
  }

  /** Shows another branch once its messages are loaded; resolves when that is stored. Pending messages are dropped. */
  async switchBranch(nameOrId: string): Promise<void> {
    const { pending } = this.desk;
    return (await this.opened('tree')).tree.switchBranch(pending, nameOrId);
  }

  /**
   * Shows a message: the branch that ends there, or else the most recently used one that holds it, up to it. Makes no branch.
   */
  async checkout(id: string): Promise<void> {
    return (await this.opened('tree')).tree.checkout(id);
  }

  /** Gives a branch another name. Rejects with `name-taken`. */
  async renameBranch(nameOrId: string, name: string): Promise<BranchInfo> {
    return (await this.opened('tree')).tree.renameBranch(nameOrId, name);
  }

  /** Deletes a branch; messages that other branches hold stay. Rejects with `last-branch` for the last one. */
  async deleteBranch(nameOrId: string): Promise<void> {
    const { pending } = this.desk;
    return (await this.opened('tree')).tree.deleteBranch(pending, nameOrId);
  }

  /**
   * Adds settled messages in one durable transaction, without calling a model: on the named branch, which must end at
   * `parentId`, or on a new one. The shown branch stays. `undo()` shows the branch as it was before. Rejects with `invalid-messages`,
   * `message-not-found`, `branch-not-found`, and `invalid-options` for no messages and for a branch that ends elsewhere.
   */
  async add(messages: readonly UIMessage[], options: AddOptions): Promise<BranchInfo> {
    const [own, how] = [ownOptions(messages), ownOptions(options)];
    return (await this.opened('tree')).tree.add(own, how);
  }

  /**
   * Undoes the last operation on a branch or checkpoint, also one of an earlier visit; undefined where there is none. A branch
   * that has gained messages since is only switched away from. Rejects with `overtaken` where another tab changed the same
   * branch or checkpoint later.
   */
  async undo(): Promise<Operation | undefined> {
    return (await this.opened('tree')).tree.history.undo();
  }

  /** Redoes the operation that was undone last; undefined where there is none. Rejects with `overtaken`. */
  async redo(): Promise<Operation | undefined> {
    return (await this.opened('tree')).tree.history.redo();
  }

  /** The operation log of this device: the last 1,000, oldest first. */
  operations(): readonly Operation[] {
    return this.questions?.operations() ?? NONE;
  }

  /**
   * Puts a checkpoint on the head, or on any message of the chat. An existing checkpoint of that name moves, and keeps its id.
   */
  async checkpoint(name: string, options?: { readonly at?: string }): Promise<CheckpointInfo> {
    const own = ownOptions(options);
    return (await this.opened('tree')).tree.checkpoint(name, own);
  }

  /** Renames a checkpoint. Rejects with `name-taken`. */
  async renameCheckpoint(name: string, to: string): Promise<CheckpointInfo> {
    return (await this.opened('tree')).tree.renameCheckpoint(name, to);
  }

  /** Deletes a checkpoint; its message stays. */
  async deleteCheckpoint(name: string): Promise<void> {
    return (await this.opened('tree')).tree.deleteCheckpoint(name);
  }

  /** The versions of a message that live branches reach, and its index among them. Never throws. */
  siblings(id: string): Versions {
    return this.questions?.siblings(id) ?? NO_VERSIONS;
  }

  /** Shows another version of a message, on the most recently used branch that holds it. */
  async selectSibling(id: string): Promise<void> {
    return (await this.opened('tree')).tree.selectSibling(id);
  }

  /** The messages with more than one continuation, in the order in which they forked. */
  forks(): readonly Fork[] {
    return this.questions?.forks() ?? NONE;
  }

  /** Whether a message is complete, streaming or interrupted; undefined for an unknown one. */
  status(id: string): MessageStatus | undefined {
    return this.questions?.status(id);
  }

  /** The facts of a message without its body; undefined for an unknown one. */
  node(id: string): NodeInfo | undefined {
    return this.questions?.node(id);
  }

  /** @internal All messages with an id: first the one on the branch's chain, then the newest. */
  nodesOf(id: string, branchId: string | undefined): readonly NodeInfo[] {
    return this.questions?.nodesOf(id, branchId) ?? NONE;
  }

  /** A message, if it is loaded; undefined otherwise. */
  message(id: string): UIMessage | undefined {
    return this.questions?.message(id);
  }

  /**
   * Whether the saved message of this id has the same role, parts and metadata, reminders aside. Undefined where it is not
   * loaded and only its preview can be compared.
   */
  matches(message: UIMessage, key?: string): boolean | undefined {
    return this.questions?.matches(message, key);
  }

  /** @internal The key of a branch's last message, even if another tab is writing that one. */
  lastOf(branchId: string): string | undefined {
    return this.questions?.lastOf(branchId);
  }

  /** @internal The id of the most recently used branch that holds a message, by key; undefined for none. */
  branchHolding(key: string): string | undefined {
    return this.questions?.branchHolding(key);
  }

  /**
   * The facts of the requests behind an answer, oldest first, the last 20; [] where none are known. The same array until they
   * change.
   */
  calls(id: string): readonly CallFacts[] {
    return this.questions?.calls(id) ?? NONE;
  }

  /** The last 20 settled versions of a message that were replaced, oldest first. Rejects with `message-not-found`. */
  async revisions(id: string): Promise<readonly Revision[]> {
    const { key } = (await this.opened()).writer.view.message(id);
    return this.store.revisions(this.chatId, key);
  }

  /**
   * Compares two messages, or two branches by name or id (which stand for their heads), from their last common message on.
   * Reads the bodies of both sides. Rejects with `message-not-found`.
   */
  async compare(a: string, b: string): Promise<Comparison> {
    const { writer, questions } = await this.opened();
    const { compareIn } = await import('./compare.ts').catch(refuseToLoad);
    return writer.inTurn(() => compareIn(writer, questions, a, b));
  }
}

const NONE: readonly never[] = [];
