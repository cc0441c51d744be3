import type { Chat } from '../graph/graph.ts';
import type { Change, StoreTransaction } from './store.ts';

/**
 * Deleting a chat, in two steps.
 *
 * First it disappears: the row says so, and nobody finds the chat any more, but every message is still there. Then its
 * bytes go, and what stays is a tombstone that keeps late writers out. Between the two lies the time in which it can be
 * brought back. The moment of the second step is written in the row, so any tab can take it, also after a restart.
 */
export interface RemovedChat extends Chat {
  /** When the content goes, ms since epoch; absent when it is gone. */
  readonly purgeAt?: number;
}

/** What is left of a chat that was deleted. */
export function tombstone({ id, userId, rev, epoch, deletedAt }: Chat): Chat {
  return { id, userId, rev, epoch, deletedAt } as Chat;
}

/** Whether nothing is left of a chat but its tombstone. */
export function isBuried({ deletedAt, purgeAt }: RemovedChat): boolean {
  return deletedAt !== undefined && purgeAt === undefined;
}

/** What deleting a chat leaves of it; undefined when there is nothing to delete. */
export type Removal = (tx: StoreTransaction) => Promise<RemovedChat | undefined>;

/** Deletes a chat (of this user), at once or in `keepFor` ms. */
export function removal(
  { userId, keepFor }: { readonly userId?: string; readonly keepFor?: number },
  now: number,
): Removal {
  return async (tx) => {
    const chat: RemovedChat | undefined = await tx.chat();
    // Words of which nobody knows whose they are go where nobody is named.
    if (!chat && userId === undefined && (await tx.wordsEnd?.())) tx.purge();
    if (!chat || (userId !== undefined && chat.userId !== userId)) return undefined;
    if (chat.deletedAt !== undefined && (chat.purgeAt === undefined || keepFor !== undefined))
      return undefined;
    const removed = { ...chat, deletedAt: now, rev: chat.rev + 1 };
    return keepFor === undefined ? tombstone(removed) : { ...removed, purgeAt: momentIn(now, keepFor) };
  };
}

/** Takes the content of a deleted chat whose time is over, unless it was brought back, or is gone already. */
export function purge(now: number): Removal {
  return async (tx) => {
    const chat = await tx.chat();
    return chat && isDue(chat, now) ? tombstone(chat) : undefined;
  };
}

/** A moment that a row can tell: one that is infinitely far away reads as none, and the chat as gone for good. */
function momentIn(now: number, ms: number): number {
  return Math.min(now + Math.max(ms, 0), Number.MAX_VALUE);
}

function isDue({ purgeAt = Infinity }: RemovedChat, now: number): boolean {
  return purgeAt <= now;
}

/** Leaves this of a chat. */
export async function leave(tx: StoreTransaction, left: RemovedChat): Promise<void> {
  if (isBuried(left)) tx.purge();
  enter(tx, left, await tx.seq(), 'delete');
}

/**
 * Takes a chat away and puts nothing, not even its tombstone. Gives whether nothing is left of it: the row of one that was
 * deleted, and whose content was only due to go, stays where it is.
 */
export async function takeAway(tx: StoreTransaction & { dropChat(): void }, now: number): Promise<boolean> {
  const chat = await tx.chat();
  tx.purge();
  if (chat && isDue(chat, now)) return false;
  tx.dropChat();
  return true;
}

/** Brings the chat back; undefined when its content is gone, or due to go. */
export async function bringBack(tx: StoreTransaction, now: number): Promise<Change | undefined> {
  const [chat, seq] = await Promise.all([tx.chat() as Promise<RemovedChat | undefined>, tx.seq()]);
  if (chat?.purgeAt === undefined || isDue(chat, now)) return undefined;
  const { deletedAt: _deleted, purgeAt: _due, ...live } = chat;
  return enter(tx, { ...live, rev: chat.rev + 1 }, seq, 'put');
}

function enter(tx: StoreTransaction, chat: RemovedChat, seq: number, op: Change['op']): Change {
  const change: Change = { seq: seq + 1, kind: 'chat', op, chatId: chat.id, id: chat.id, rev: chat.rev };
  tx.putChat(chat);
  tx.putChanges([change]);
  return change;
}
