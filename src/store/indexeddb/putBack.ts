import type { Branch, Chat, MessageNode } from '../../graph/graph.ts';
import { freeNames, infoOf, isVisible } from '../../graph/graph.ts';
import { RecordTransaction } from '../append.ts';
import { referToBlob } from '../blobs.ts';
import { ChatReads } from '../chatReads.ts';
import { createHexId } from '../hexId.ts';
import { fragmentsKey } from '../keys.ts';
import { ofChat } from '../layout.ts';
import { readMeta } from '../meta.ts';
import { isLive } from '../pointers.ts';
import { loadPointers } from '../reads.ts';
import type { Rows } from '../rows.ts';
import type { Change } from '../store.ts';
import type { KeptChat } from './journal.ts';

/** What came back of a chat. */
export interface PutBack {
  readonly chatId: string;
  readonly messages: number;
  /** The change sequence after it. */
  readonly seq: number;
}

/**
 * Puts a chat back, in one transaction, or says why not: there is `nothing` of it, it was `deleted` since, or its id is
 * `taken` by another person's chat.
 *
 * The person may have gone on meanwhile, in the same chat. So nothing is overwritten that is as new: of a record that
 * is there in two revisions the higher one stays, messages that come back take their places behind those that are
 * there, a branch that has gone on in two ways becomes two, and one whose name is taken by now takes the next one. A
 * chat that was deleted since stays deleted. All that comes back gets new numbers in the change sequence, beyond those
 * that were given out before (`since`), because for every open tab it is news.
 */
export async function putBack(
  rows: Rows,
  kept: KeptChat,
  since: number,
): Promise<PutBack | 'nothing' | 'deleted' | 'taken'> {
  const { chat } = kept;
  if (!chat) return 'nothing';
  const key = fragmentsKey(chat.id);
  const span = ofChat(chat.id);
  const [stored, there, pointers, infos, value] = await Promise.all([
    readMeta(rows),
    rows.get('chats', chat.id),
    loadPointers(rows, chat.id),
    rows.list('nodes', span),
    rows.get('values', key),
  ]);
  if (!isLive(chat) || (there && !isLive(there))) return 'deleted';
  // One whose row was lost is nobody's, and may be anybody's.
  if (there && there.userId !== chat.userId && there.userId !== '' && chat.userId !== '') return 'taken';

  const meta = { ...stored, seq: Math.max(stored.seq, since) };
  const known = new Map(infos.map((info) => [info.id, info]));
  const nodes = [...kept.nodes.values()]
    .toSorted((a, b) => a.seq - b.seq)
    .filter(({ id, rev }) => (known.get(id)?.rev ?? -1) < rev)
    .map((node) => ({ ...node, seq: known.get(node.id)?.seq ?? node.seq + (there?.nextSeq ?? 0) }));
  const parents = new Map([...kept.nodes.values(), ...infos].map(({ id, parentId }) => [id, parentId]));
  const branchesThere = new Map(pointers.branches.map((branch) => [branch.id, branch]));
  const coming = [...kept.branches.values()].map((branch) => reconcile(branch, branchesThere, parents));
  const branches = underFreeNames(coming.filter(isThing), pointers.branches);
  const checkpoints = underFreeNames(
    newer([...kept.checkpoints.values()], pointers.checkpoints),
    pointers.checkpoints,
  );
  const back = nodes.filter(({ id }) => !known.has(id));
  const row = chatOf(chat, there, nodes, back);

  const tx = new RecordTransaction(new ChatReads(rows, chat.id), meta, new Map());
  tx.putChat(row);
  for (const branch of branches) tx.putBranch(branch);
  for (const checkpoint of checkpoints) tx.putCheckpoint(checkpoint);
  for (const node of kept.revisions) rows.put('revisions', node, [chat.id, node.id, node.rev]);
  for (const [hash, bytes] of kept.blobs) {
    rows.put('blobs', { hash, bytes });
    referToBlob(rows, chat.id, hash);
  }
  if (kept.fragments && value === undefined) tx.putValue(key, kept.fragments.value);
  const changes: Change[] = [
    { kind: 'chat', record: row } as const,
    ...nodes.map((record) => ({ kind: 'node', record }) as const),
    ...branches.map((record) => ({ kind: 'branch', record }) as const),
    ...checkpoints.map((record) => ({ kind: 'checkpoint', record }) as const),
  ].map(({ kind, record: { id, rev } }, i) => {
    return { seq: meta.seq + i + 1, kind, op: 'put', chatId: chat.id, id, rev };
  });
  tx.putChanges(changes);
  for (const node of nodes.toReversed()) tx.putNode(node, infoOf(node));
  await tx.settleBlobs();
  return { chatId: chat.id, messages: back.filter(shows).length, seq: meta.seq + changes.length };
}

interface Pointer {
  readonly id: string;
  readonly name: string;
  readonly rev: number;
  readonly deletedAt?: number;
}

/**
 * What becomes of a branch: undefined when the one that is there holds all of it, itself when it is not there or has
 * gone on from there, and where both have gone on, one of its own.
 */
function reconcile(
  kept: Branch,
  all: ReadonlyMap<string, Branch>,
  parents: ReadonlyMap<string, string | null>,
): Branch | undefined {
  const there = all.get(kept.id);
  if (!there) return kept;
  if (!isLive(kept) || holds(parents, there.headMessageId, kept.headMessageId)) return undefined;
  if (holds(parents, kept.headMessageId, there.headMessageId))
    return { ...there, ...kept, rev: Math.max(there.rev, kept.rev) + 1 };
  return { ...kept, id: createHexId() };
}

/** Whether one message lies on the way from another one to the root. */
function holds(parents: ReadonlyMap<string, string | null>, head: string | null, id: string | null): boolean {
  const seen = new Set<string>();
  let at = head;
  while (at !== null && at !== id && !seen.has(at)) {
    seen.add(at);
    at = parents.get(at) ?? null;
  }
  return at === id;
}

/** Those that are not there, or older there. */
function newer<T extends Pointer>(kept: readonly T[], there: readonly T[]): T[] {
  const known = new Map(there.map((one) => [one.id, one]));
  return kept.filter(({ id, rev }) => (known.get(id)?.rev ?? -1) < rev);
}

/** These, each under its name, or the next one where another one has it by now. */
function underFreeNames<T extends Pointer>(coming: readonly T[], there: readonly T[]): T[] {
  const ids = new Set(coming.map(({ id }) => id));
  const names = new Set(there.filter((one) => isLive(one) && !ids.has(one.id)).map(({ name }) => name));
  const freeName = freeNames(names);
  return coming.map((one) => {
    const name = isLive(one) && names.has(one.name) ? freeName(one.name) : one.name;
    if (isLive(one)) names.add(name);
    return { ...one, name };
  });
}

function isThing<T>(thing: T | undefined): thing is T {
  return thing !== undefined;
}

/** The chat's row: what the newer of the two says, and counters that hold for both. */
function chatOf(
  kept: Chat,
  there: Chat | undefined,
  nodes: readonly MessageNode[],
  back: readonly MessageNode[],
): Chat {
  const newest = !there || kept.rev > there.rev ? { ...there, ...kept } : { ...kept, ...there };
  const metadata = { ...kept.metadata, ...newest.metadata };
  return {
    ...newest,
    userId: there?.userId || kept.userId,
    ...(kept.metadata || there?.metadata ? { metadata } : {}),
    epoch: there?.epoch ?? kept.epoch,
    createdAt: Math.min(kept.createdAt, there?.createdAt ?? Infinity),
    updatedAt: Math.max(kept.updatedAt, there?.updatedAt ?? 0),
    nextSeq: nodes.reduce((next, { seq }) => Math.max(next, seq + 1), there?.nextSeq ?? 0),
    messageCount: (there?.messageCount ?? 0) + back.filter(shows).length,
    rev: Math.max(kept.rev, there?.rev ?? 0) + 1,
  };
}

function shows(node: MessageNode): boolean {
  return isVisible(infoOf(node));
}
