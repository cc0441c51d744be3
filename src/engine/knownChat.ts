import type { Chat } from '../graph/graph.ts';
import type { AppendResult, ChatRecords } from '../store/store.ts';
import type { Desk } from './desk.ts';
import type { History } from './history.ts';

/**
 * Which of the chats that had this id is the one that is known here.
 *
 * An id outlives its chat. The chat may be deleted and another one begun under its id, or the deletion may be undone;
 * everything may be cleared. And the browser may lose a chat under the open page: then another tab writes it again from what
 * that tab has, or a new page begins one anew. What is known here must not be taken for what is there by then, nor be
 * written among it unseen.
 *
 * Three things tell them apart. `epoch` counts the deletions: where it is larger there, the chat that is known was deleted.
 * Behind a loss nobody counts those before it. So where it is not larger, the moment of creation decides: a chat that was
 * brought back keeps its own, and one that was written again has another. Where everything was cleared, no row is left to
 * say so: the number of that change does, which is larger than the last one up to which the chat is known.
 *
 * The store asks the same of each write, see `epoch`, `chatCreatedAt` and `asOf` of an append.
 */
export class KnownChat {
  /** Its row as the store last told it: without what waits for the disk. */
  row: Chat | undefined;
  /** The revision of the row up to which all that others wrote is known. */
  rev = 0;
  /** The change number that what is known is true for; undefined while there is no chat in the store. */
  asOf: number | undefined;
  readonly #desk: Desk;
  readonly #history: History;
  /** The epoch of the chat that a first write would begin. */
  #nextEpoch = 0;

  constructor(desk: Desk, history: History) {
    this.#desk = desk;
    this.#history = history;
  }

  /** Learns what the store has under this id when it is opened: the chat, or what is left of one that was deleted. */
  open(stored: Chat | undefined): void {
    const { epoch = 0, deletedAt } = stored ?? {};
    this.#nextEpoch = deletedAt === undefined ? epoch : epoch + 1;
  }

  /** Learns what the store answered to a write that took the row to be at `rev`. `isBegun`: the chat was to begin with it. */
  wrote({ chat, seq, changed, chatChanged }: AppendResult, rev: number, isBegun: boolean): void {
    this.asOf = seq;
    // Another one is not known before all that is here was added to it, unless it is the one that was begun.
    if (!this.isAnother(chat) || (isBegun && changed)) this.row = chat;
    // A write that leaves the chat as it is, as one that takes a reserved answer back, is told another tab's revision.
    if (chatChanged && chat.rev === rev + 1) this.rev = chat.rev;
  }

  /** Learns what was read of it. */
  read({ chat, seq }: ChatRecords): void {
    // Where there was none so far, there is nothing yet that could be cleared or lost.
    if (chat || this.asOf !== undefined) this.asOf = seq;
    if (!chat) return;
    if (chat.deletedAt === undefined) this.row = chat;
    this.rev = chat.rev;
  }

  /** How many chats with this id were deleted before it, or before the one that a first write would begin. */
  get epoch(): number {
    return this.#history.chat?.epoch ?? this.#nextEpoch;
  }

  /** Whether this engine knows that its chat is deleted. */
  get isDeleted(): boolean {
    return this.#desk.state.getState().error?.code === 'chat-deleted';
  }

  /** Whether it was lost, and this is what another tab wrote again from what that tab had of it; or that, brought back. */
  isAnother(chat: Chat | undefined): boolean {
    const { row } = this;
    // What is left of a deleted one does not tell when it was made.
    if (!row || !chat || chat.deletedAt !== undefined || this.isBegunSince(chat)) return false;
    // Whoever begins one behind a loss knows of none that was deleted before.
    return chat.epoch <= row.epoch && chat.createdAt !== row.createdAt;
  }

  /** Whether it is deleted, even if another one has its id by now. */
  isGone({ chat, clearedSeq = 0 }: ChatRecords): boolean {
    if (clearedSeq > (this.asOf ?? Infinity) || this.isBegunSince(chat)) return true;
    if (!chat) return false;
    if (chat.deletedAt !== undefined) return this.isDeleted || chat.epoch >= this.epoch;
    // Who knows of none has nothing that could be deleted.
    return this.row !== undefined && chat.epoch > this.epoch;
  }

  /** Whether it is deleted, and this is not what was brought back, but was begun since: behind a loss nothing else tells. */
  isBegunSince(chat: Chat | undefined): boolean {
    const { createdAt } = this.row ?? {};
    if (!this.isDeleted || createdAt === undefined || chat?.createdAt === undefined) return false;
    return chat.createdAt !== createdAt;
  }
}
