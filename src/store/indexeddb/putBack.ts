import type { Branch, Chat, MessageNode, NodeInfo } from '../../graph/graph.ts';
import { areTwo, freeNames, idApart, infoOf, isVisible } from '../../graph/graph.ts';
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
import { Places } from './places.ts';

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
 * there, a branch that has gone on in two ways becomes two, one whose name is taken by now takes the next one, and one
 * that is empty gives its place to the one of its name. A chat that was deleted since stays deleted. All that comes back
 * gets new numbers in the change sequence, beyond those that were given out before (`since`), because for every open tab
 * it is news.
 */
export async function putBack(
  rows: Rows,
  journaled: KeptChat,
  since: number,
): Promise<PutBack | 'nothing' | 'deleted' | 'taken'> {
  const { chat } = journaled;
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
  const tx = new RecordTransaction(new ChatReads(rows, chat.id), meta, new Map());
  const kept = await setApart({ tx, rows }, journaled, known);
  const keptNodes = [...kept.nodes.values()].toSorted((a, b) => a.seq - b.seq);
  const places = new Places(keptNodes, infos);
  const inPlace = (node: MessageNode): MessageNode => {
    return { ...node, parentId: places.parentOf(node.id), depth: places.depthOf(node.id) };
  };
  const coming = keptNodes
    .filter(({ id, rev }) => (known.get(id)?.rev ?? -1) < rev)
    .map((node) => ({ ...node, seq: known.get(node.id)?.seq ?? node.seq + (there?.nextSeq ?? 0) }));
  const branches = branchesOf([...kept.branches.values()], pointers.branches, places);
  const checkpoints = underFreeNames(
    newer([...kept.checkpoints.values()], pointers.checkpoints),
    pointers.checkpoints,
  );
  const isComing = new Set(coming.map(({ id }) => id));
  const others = infos.filter(({ id }) => !isComing.has(id));
  const nodes = [...(await astray(tx, others, places)), ...coming]
    .map(inPlace)
    .toSorted((a, b) => a.seq - b.seq);
  const back = coming.filter(({ id }) => !known.has(id));
  const row = chatOf(chat, there, nodes, back);
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
 * A chat whose messages have ids of their own where those that are there are others: see {@link areTwo}. A message that was
 * written again since, and said the same once, is no other one.
 */
async function setApart(
  { tx, rows }: { readonly tx: RecordTransaction; readonly rows: Rows },
  kept: KeptChat,
  there: ReadonlyMap<string, NodeInfo>,
): Promise<KeptChat> {
  const nodes = [...kept.nodes.values()].toSorted((a, b) => a.seq - b.seq);
  const taken = nodes.filter((node) => node.createdAt !== (there.get(node.id)?.createdAt ?? node.createdAt));
  if (!taken.some((node) => areTwo(node, there.get(node.id) as NodeInfo))) return kept;
  const said = new Set([...taken, ...kept.revisions].map(({ id, bodyHash }) => `${id} ${bodyHash}`));
  const ids = new Map<string | null, string>();
  for (const node of taken) {
    const { id, chatId } = node;
    const since = await rows.list('revisions', { from: [chatId, id], to: [chatId, id, []] });
    const isSame = [there.get(id), ...since].some((one) => said.has(`${id} ${one?.bodyHash}`));
    // A page that had only the end of the chat began it with what followed.
    const under = there.get(id)?.parentId ?? node.parentId;
    const isElsewhere = ids.has(node.parentId) || under !== node.parentId;
    if (!isSame || isElsewhere) ids.set(id, idApart(node));
  }
  const idOf = <Id extends string | null>(id: Id): Id => (ids.get(id) as Id | undefined) ?? id;
  const renamed = (node: MessageNode): MessageNode => {
    const { id, parentId } = node;
    if (!ids.has(id)) return { ...node, parentId: idOf(parentId) };
    const data = { ...node.data, id: idOf(id) };
    return { ...node, id: data.id, parentId: idOf(parentId), data, bodyHash: tx.bodyHash(data) };
  };
  return {
    ...kept,
    nodes: byId([...kept.nodes.values()].map(renamed)),
    revisions: kept.revisions.map(renamed),
    branches: byId(
      [...kept.branches.values()].map((branch) => ({ ...branch, headMessageId: idOf(branch.headMessageId) })),
    ),
    checkpoints: byId(
      [...kept.checkpoints.values()].map((one) => ({ ...one, messageId: idOf(one.messageId) })),
    ),
  };
}

function byId<T extends { readonly id: string }>(all: readonly T[]): Map<string, T> {
  return new Map(all.map((one) => [one.id, one]));
}

/** Messages that are there, and hang elsewhere than they are to: with a revision more, so that everybody hears of it. */
async function astray(
  tx: RecordTransaction,
  infos: readonly NodeInfo[],
  places: Places,
): Promise<MessageNode[]> {
  const found: MessageNode[] = [];
  for (const { id, parentId, depth } of infos) {
    if (places.parentOf(id) === parentId && places.depthOf(id) === depth) continue;
    const node = await tx.node(id);
    if (node) found.push({ ...node, rev: node.rev + 1 });
  }
  return found;
}

/** The branches that come back or change, each under a free name, and with the messages that it has. */
function branchesOf(kept: readonly Branch[], there: readonly Branch[], places: Places): Branch[] {
  const ownOf = ownBranches(kept, there, places);
  const coming = kept.flatMap((branch) => reconcile(branch, ownOf(branch), places) ?? []);
  const isComing = new Set(coming.map(({ id }) => id));
  const recounted = there
    .filter(({ id, headMessageId, messageCount }) => {
      return !isComing.has(id) && messageCount !== (places.countTo(headMessageId) ?? messageCount);
    })
    .map((branch) => ({ ...branch, rev: branch.rev + 1 }));
  return [...underFreeNames(coming, there), ...recounted].map((branch) => {
    return { ...branch, messageCount: places.countTo(branch.headMessageId) ?? branch.messageCount };
  });
}

/**
 * Tells which branch that is there a branch was: the one of its id, or else one of its name, begun since, where neither has
 * what the other one lacks: an empty one of a new page, or one with the words of a page that was open.
 */
function ownBranches(
  kept: readonly Branch[],
  there: readonly Branch[],
  places: Places,
): (branch: Branch) => Branch | undefined {
  const byId = new Map(there.map((branch) => [branch.id, branch]));
  const keptIds = new Set(kept.map(({ id }) => id));
  const begun = there.filter((branch) => isLive(branch) && !keptIds.has(branch.id));
  const byName = new Map(begun.map((branch) => [branch.name, branch]));
  return (branch) => {
    const { headMessageId: head, name, id } = branch;
    const other = isLive(branch) ? byName.get(name) : undefined;
    const isSame =
      other && (places.holds(head, other.headMessageId) || places.holds(other.headMessageId, head));
    return byId.get(id) ?? (isSame ? other : undefined);
  };
}

/**
 * What becomes of a branch: undefined when the one that is there holds all of it, that one with its head when it has gone
 * on from there, itself when none is there, and where both have gone on, one of its own.
 */
function reconcile(kept: Branch, there: Branch | undefined, places: Places): Branch | undefined {
  if (!there) return kept;
  if (!isLive(kept) || places.holds(there.headMessageId, kept.headMessageId)) return undefined;
  if (places.holds(kept.headMessageId, there.headMessageId))
    return { ...there, ...kept, id: there.id, rev: Math.max(there.rev, kept.rev) + 1 };
  return { ...kept, id: createHexId() };
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

/** The chat's row: what the newer of the two says, and counters that hold for both. */
function chatOf(
  kept: Chat,
  there: Chat | undefined,
  nodes: readonly MessageNode[],
  back: readonly MessageNode[],
): Chat {
  const isNewer = !there || kept.updatedAt > there.updatedAt;
  const newest = isNewer ? { ...there, ...kept } : { ...kept, ...there };
  const metadata = { ...kept.metadata, ...newest.metadata };
  return {
    ...newest,
    userId: there?.userId || kept.userId,
    activeBranchId: there?.activeBranchId ?? kept.activeBranchId,
    ...(kept.metadata || there?.metadata ? { metadata } : {}),
    // Behind a loss deletions are counted anew: a page of what was begun in between would take it for one of those.
    epoch: there?.epoch ?? 0,
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
