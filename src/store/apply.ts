import type { UIMessage } from 'ai';
import { ContextError } from '../errors.ts';
import type { Branch, Chat, Checkpoint, MessageNode, NodeInfo } from '../graph/graph.ts';
import { infoOf, isVisible, nextBranchName } from '../graph/graph.ts';
import type { AppendOptions, AppendResult, Change, StoreOp, StoreTransaction } from './store.ts';

/**
 * What the operations of an append mean, once, for every store.
 *
 * A store could implement each operation where its data lies. Then there would be as many meanings as stores, and the
 * hard questions (what if the head has moved? what if the answer to the last call got lost?) would be answered once
 * per layout. Here they are answered over a handful of reads and writes, and a store only brings those.
 *
 * The shape is: read, decide, write. The operations are carried out in order on a picture of the chat in memory, which
 * reads what it needs from the transaction. Nothing is written until the last one has been understood. Only then are
 * all records put, without waiting in between. A refusal half-way has therefore nothing to undo, and every thing that
 * changed is written once, with one revision and one number in the change sequence, however many operations touched it.
 *
 * Three questions come before the operations:
 * - Is this the chat that the caller means? Another user's is refused. So is one that was deleted since the caller
 *   opened it: `epoch` counts the deletions, and a write of an older epoch must not bring a deleted chat back to life.
 * - Has this been done before? When the answer to a call got lost, the caller repeats it. All its messages are there
 *   then, and its heads are where it wanted them or beyond. The result describes what is there; nothing is written,
 *   and usage is not counted twice.
 * - Has a head moved since the caller looked? Then its messages belong behind a message that is no longer the last.
 *   They go to a branch of their own (`fork`: each answer keeps the context that it was given), or behind the new last
 *   one (`rebase`), or nowhere (`error`).
 */
export async function applyOps(
  tx: StoreTransaction,
  ops: readonly StoreOp[],
  options: AppendOptions,
  now: number,
): Promise<AppendResult> {
  const work = await begin(tx, options, now);
  if (await isRepetition(work, ops)) return finish(work);
  if (options.onConflict === 'rebase') await planRebase(work, ops);
  for (const op of ops) await carryOut(work, op);
  return finish(work);
}

/** Format version of the records that are written here. */
const RECORD_VERSION = 1;

/** The chat as it will be, and what has to be written for it. */
interface Work {
  readonly tx: StoreTransaction;
  readonly options: AppendOptions;
  readonly now: number;
  readonly seq: number;
  /** Whether this write creates the chat: what the transaction still holds of a deleted one is not looked at. */
  readonly isNew: boolean;
  chat: Chat;
  /** Messages that were written, or found as they should be: those that the result shows. */
  readonly nodes: Map<string, MessageNode>;
  /** The messages of `nodes` that are to be put; with the stored version of those that it replaces. */
  readonly puts: Map<string, MessageNode | undefined>;
  readonly dropped: Map<string, NodeInfo>;
  readonly branches: Map<string, Branch>;
  readonly checkpoints: Map<string, Checkpoint>;
  readonly values: Map<string, unknown>;
  /** One entry per changed thing, in the order of the first change; numbers are given at the end. */
  readonly changes: Map<string, Omit<Change, 'seq'>>;
  /** Branches whose `usedSeq` becomes the number of their change. */
  readonly used: Set<string>;
  /** New parents of messages that are rebased. */
  readonly rebased: Map<string, string | null>;
  /** Where the rest of a turn goes when its first part went to a branch of its own. */
  readonly forks: Map<string, string>;
  conflict: { readonly policy: 'fork' | 'rebase'; readonly from: Branch; readonly to: string } | undefined;
}

async function begin(tx: StoreTransaction, options: AppendOptions, now: number): Promise<Work> {
  const [stored, seq] = await Promise.all([tx.chat(), tx.seq()]);
  const isNew = admit(tx.chatId, stored, options);
  const work: Work = {
    tx,
    options,
    now,
    seq,
    isNew,
    chat: isNew || !stored ? newChat(tx.chatId, stored, options, now) : stored,
    nodes: new Map(),
    puts: new Map(),
    dropped: new Map(),
    branches: new Map(),
    checkpoints: new Map(),
    values: new Map(),
    changes: new Map(),
    used: new Set(),
    rebased: new Map(),
    forks: new Map(),
    conflict: undefined,
  };
  if (isNew) createMain(work);
  return work;
}

/** Whether the chat has to be created. Refuses writers to another's chat, and those who don't know that it was deleted. */
function admit(chatId: string, stored: Chat | undefined, { userId, epoch }: AppendOptions): boolean {
  if (!stored) return true;
  const isDeleted = stored.deletedAt !== undefined;
  if (!isDeleted && stored.userId !== userId) {
    const message = `chat "${chatId}" belongs to user "${stored.userId}", not "${userId}"`;
    throw new ContextError('wrong-user', message, { details: { chatId, owner: stored.userId, userId } });
  }
  if (isDeleted ? epoch <= stored.epoch : epoch < stored.epoch) {
    const message = `Chat "${chatId}" was deleted. Open it anew to begin another one with this id.`;
    throw new ContextError('chat-deleted', message, { details: { chatId, epoch, stored: stored.epoch } });
  }
  return isDeleted;
}

/** A chat as it begins. One that takes the place of a deleted one goes on with its revisions. */
function newChat(id: string, tombstone: Chat | undefined, options: AppendOptions, now: number): Chat {
  return {
    id,
    userId: options.userId,
    ...(options.metadata ? { metadata: options.metadata } : {}),
    createdAt: now,
    updatedAt: now,
    activeBranchId: options.mainBranchId,
    rev: tombstone?.rev ?? 0,
    messageCount: 0,
    nextSeq: 0,
    epoch: tombstone ? tombstone.epoch + 1 : options.epoch,
  };
}

function createMain(work: Work): void {
  setChat(work, {});
  createBranch(work, work.options.mainBranchId, 'main', undefined);
  work.used.add(work.options.mainBranchId);
}

// --- Has this been done before? ------------------------------------------------------------------------------------

/** Whether the caller asks for what it has asked for already. Only new messages can tell: their ids are made by it. */
async function isRepetition(work: Work, ops: readonly StoreOp[]): Promise<boolean> {
  const inserted = new Set(ops.filter((op) => op.op === 'insert').map((op) => op.id));
  if (work.isNew || inserted.size === 0) return false;
  for (const op of ops) {
    if (await isDone(work, op, inserted)) continue;
    work.conflict = undefined;
    return false;
  }
  for (const id of inserted) await find(work, id);
  return true;
}

async function isDone(work: Work, op: StoreOp, inserted: ReadonlySet<string>): Promise<boolean> {
  if (op.op === 'insert') {
    const node = await work.tx.node(op.id);
    return node !== undefined && sameContent(node.data, op.data);
  }
  if (op.op === 'branch') return show(work, await findBranch(work, op.id)) !== undefined;
  return op.op !== 'head' || isHeadDone(work, op, inserted);
}

async function isHeadDone(work: Work, op: HeadOp, inserted: ReadonlySet<string>): Promise<boolean> {
  const target = op.messageId;
  if (target === null || !inserted.has(target)) return true;
  const branch = show(work, await findBranch(work, op.branchId));
  if (branch && branch.headMessageId !== op.expected && (await holds(work, branch, target))) return true;
  const fork = show(work, await findBranch(work, op.forkId));
  if (!branch || !fork || !(await holds(work, fork, target))) return false;
  work.conflict ??= { policy: 'fork', from: branch, to: fork.id };
  return true;
}

/** Whether a message lies on the way from a branch's head to the root. Costs the distance between them. */
async function holds(work: Work, branch: Branch, id: string): Promise<boolean> {
  const depth = (await findInfo(work, id))?.depth ?? Infinity;
  let at = branch.headMessageId === null ? undefined : await findInfo(work, branch.headMessageId);
  while (at && at.depth > depth && at.parentId !== null) at = await findInfo(work, at.parentId);
  return at?.id === id;
}

/** Whether two messages say the same: role, parts and metadata as JSON. */
function sameContent(a: UIMessage, b: UIMessage): boolean {
  return contentOf(a) === contentOf(b);
}

function contentOf({ role, parts, metadata }: UIMessage): string {
  return JSON.stringify([role, parts, metadata]);
}

// --- Has a head moved? ----------------------------------------------------------------------------------------------

/**
 * Finds the new parents of a turn whose head has moved: its first message goes behind the head that is there now.
 * A head that moves without new messages can't be rebased: it would take the other's turn out of its branch.
 */
async function planRebase(work: Work, ops: readonly StoreOp[]): Promise<void> {
  const moved = new Set<string>();
  for (const op of ops) {
    if (op.op !== 'head' || moved.has(op.branchId)) continue;
    moved.add(op.branchId);
    const branch = await findBranch(work, op.branchId);
    if (!branch || !isLive(branch) || branch.headMessageId === op.expected) continue;
    const first = firstOfTurn(ops, op);
    if (first !== undefined) work.rebased.set(first, branch.headMessageId);
  }
}

/** The id of the first message of the turn that ends at the operation's target and begins behind its expected head. */
function firstOfTurn(ops: readonly StoreOp[], head: HeadOp): string | undefined {
  const parents = new Map(ops.filter((op) => op.op === 'insert').map((op) => [op.id, op.parentId]));
  for (let id = head.messageId; id !== null && parents.has(id);) {
    const parentId = parents.get(id) ?? null;
    if (parentId === head.expected) return id;
    parents.delete(id);
    id = parentId;
  }
  return undefined;
}

// --- The operations -------------------------------------------------------------------------------------------------

type InsertOp = Extract<StoreOp, { op: 'insert' }>;
type ReplaceOp = Extract<StoreOp, { op: 'replace' }>;
type HeadOp = Extract<StoreOp, { op: 'head' }>;
type ChatOp = Extract<StoreOp, { op: 'chat' }>;

async function carryOut(work: Work, op: StoreOp): Promise<void> {
  switch (op.op) {
    case 'insert':
      return insert(work, op);
    case 'replace':
      return replace(work, op);
    case 'drop':
      return drop(work, op.id);
    case 'head':
      return moveHead(work, op);
    case 'branch':
      return makeBranch(work, op);
    case 'rename-branch':
      return renameBranch(work, op.id, op.name);
    case 'delete-branch':
      return deleteBranch(work, op.id);
    case 'restore-branch':
      return restoreBranch(work, op.id);
    case 'use':
      return activate(work, await getBranch(work, op.branchId));
    case 'checkpoint':
      return makeCheckpoint(work, op.id, op.name, op.messageId);
    case 'rename-checkpoint':
      return renameCheckpoint(work, op.id, op.name);
    case 'delete-checkpoint':
      return deleteCheckpoint(work, op.id);
    case 'chat':
      return updateChat(work, op);
    case 'set':
      work.values.set(op.key, op.value);
  }
}

async function insert(work: Work, op: InsertOp): Promise<void> {
  const parentId = work.rebased.has(op.id) ? (work.rebased.get(op.id) ?? null) : op.parentId;
  const known = await find(work, op.id);
  if (known) {
    if (known.parentId === parentId && sameContent(known.data, op.data)) return;
    const message = `Message "${op.id}" is there already, with other words or in another place. Take a new id.`;
    throw new ContextError('head-moved', message, { details: { reason: 'id-taken', id: op.id } });
  }
  const parent = parentId === null ? undefined : await getInfo(work, parentId);
  const node: MessageNode = {
    id: op.id,
    chatId: work.chat.id,
    parentId,
    name: op.data.role,
    type: 'message',
    data: op.data,
    createdAt: op.createdAt ?? work.now,
    status: op.status,
    ...(op.sources ? { sources: op.sources } : {}),
    seq: work.chat.nextSeq,
    depth: (parent?.depth ?? 0) + 1,
    rev: 0,
    deviceId: work.tx.deviceId,
    v: RECORD_VERSION,
  };
  setNode(work, node, undefined);
  setChat(work, { nextSeq: node.seq + 1, updatedAt: work.now });
}

/** A message that this append has written, or that was there; the result tells of it. */
async function find(work: Work, id: string): Promise<MessageNode | undefined> {
  const node = work.nodes.get(id) ?? (work.isNew ? undefined : await work.tx.node(id));
  if (node && !work.dropped.has(id)) work.nodes.set(id, node);
  return node;
}

async function replace(work: Work, op: ReplaceOp): Promise<void> {
  const before = await find(work, op.id);
  if (!before) throw messageNotFound(op.id);
  const draft = before.status === 'streaming' && !op.data ? await work.tx.draft(op.id) : undefined;
  const after = { ...before, data: op.data ?? draft ?? before.data, status: op.status ?? before.status };
  if (after.status === before.status && sameContent(after.data, before.data)) return;
  if (op.rev !== undefined && op.rev !== before.rev) {
    const message = `Message "${op.id}" was changed meanwhile: revision ${before.rev}, not ${op.rev}.`;
    const details = { reason: 'rev', id: op.id, expected: op.rev, actual: before.rev };
    throw new ContextError('head-moved', message, { details });
  }
  setNode(work, after, before);
  setChat(work, { updatedAt: work.now });
}

/** Takes a reserved message back. One that has words by now, or a message behind it, stays. */
async function drop(work: Work, id: string): Promise<void> {
  const info = await findInfo(work, id);
  if (!info) return;
  if (isVisible(info) || (await work.tx.draft(id))?.parts.length || (await isFollowed(work, info))) {
    await find(work, id);
    return;
  }
  work.nodes.delete(id);
  work.puts.delete(id);
  work.dropped.set(id, info);
  touch(work, 'node', info, 'delete');
  await movePointers(work, info);
}

async function isFollowed(work: Work, info: NodeInfo): Promise<boolean> {
  for (const node of work.puts.keys()) if (work.nodes.get(node)?.parentId === info.id) return true;
  return !work.isNew && work.tx.hasChildren(info);
}

/** Branches and checkpoints that end at a message that goes end at its parent. */
async function movePointers(work: Work, { id, parentId, depth }: NodeInfo): Promise<void> {
  for (const branch of await allBranches(work)) {
    if (branch.headMessageId === id)
      setBranch(work, branch, { headMessageId: parentId, messageCount: depth - 1 });
  }
  for (const checkpoint of await allCheckpoints(work)) {
    if (checkpoint.messageId !== id) continue;
    setCheckpoint(work, checkpoint, parentId === null ? { deletedAt: work.now } : { messageId: parentId });
  }
}

async function moveHead(work: Work, op: HeadOp): Promise<void> {
  const branch = await getBranch(work, op.branchId);
  const target = op.messageId === null ? undefined : await getInfo(work, op.messageId);
  if (isLive(branch) && (branch.headMessageId === op.expected || branch.headMessageId === op.messageId)) {
    setHead(work, branch, target);
  } else if (isLive(branch) && work.rebased.has(firstRebased(work, op) ?? '')) {
    work.conflict ??= { policy: 'rebase', from: branch, to: branch.id };
    setHead(work, branch, target);
  } else if (work.options.onConflict === 'error') {
    throw headMoved(branch, op);
  } else {
    await forkTurn(work, branch, op, target);
  }
}

/** The message of this turn that got a new parent. */
function firstRebased(work: Work, op: HeadOp): string | undefined {
  let node = op.messageId === null ? undefined : work.nodes.get(op.messageId);
  while (node && !work.rebased.has(node.id))
    node = node.parentId === null ? undefined : work.nodes.get(node.parentId);
  return node?.id;
}

function headMoved(branch: Branch, { expected }: HeadOp): ContextError {
  const { name, headMessageId: actual } = branch;
  const message = isLive(branch)
    ? `Branch "${name}" has moved on: its head is "${actual}", not "${expected}". Read it again and repeat.`
    : `Branch "${name}" was deleted meanwhile. Write to another one.`;
  return new ContextError('head-moved', message, { details: { branch: name, expected, actual } });
}

/** Gives a turn a branch of its own; the branch that it was meant for stays as the other tab left it. */
async function forkTurn(work: Work, from: Branch, op: HeadOp, target: NodeInfo | undefined): Promise<void> {
  const name = nextBranchName(from.name, await liveNames(work));
  createBranch(work, op.forkId, name, target);
  work.used.add(op.forkId);
  setChat(work, { updatedAt: work.now });
  work.forks.set(op.branchId, op.forkId);
  work.conflict ??= { policy: 'fork', from, to: op.forkId };
}

function setHead(work: Work, branch: Branch, target: NodeInfo | undefined): void {
  const headMessageId = target?.id ?? null;
  show(work, branch);
  if (branch.headMessageId === headMessageId) return;
  setBranch(work, branch, { headMessageId, messageCount: target?.depth ?? 0 });
  work.used.add(branch.id);
  setChat(work, { updatedAt: work.now });
}

async function makeBranch(work: Work, op: Extract<StoreOp, { op: 'branch' }>): Promise<void> {
  const target = op.messageId === null ? undefined : await getInfo(work, op.messageId);
  const known = await findBranch(work, op.id);
  if (show(work, known)) return;
  const names = await liveNames(work);
  if (op.name !== undefined && names.includes(op.name)) throw nameTaken(work, 'Branch', op.name);
  const base = op.base ?? (await getBranch(work, work.chat.activeBranchId)).name;
  createBranch(work, op.id, op.name ?? nextBranchName(base, names), target);
}

async function renameBranch(work: Work, id: string, name: string): Promise<void> {
  const branch = await getBranch(work, id);
  if (branch.name === name) return;
  if ((await liveNames(work)).includes(name)) throw nameTaken(work, 'Branch', name);
  setBranch(work, branch, { name });
}

async function deleteBranch(work: Work, id: string): Promise<void> {
  const branch = await getBranch(work, id);
  if (!isLive(branch)) return;
  const others = (await allBranches(work)).filter((other) => other.id !== branch.id && isLive(other));
  const next = others.toSorted((a, b) => b.usedSeq - a.usedSeq)[0];
  if (!next) {
    const message = `Branch "${branch.name}" is the last one of chat "${work.chat.id}" and stays.`;
    throw new ContextError('last-branch', message, {
      details: { branch: branch.name, chatId: work.chat.id },
    });
  }
  setBranch(work, branch, { deletedAt: work.now });
  if (work.chat.activeBranchId === branch.id) setChat(work, { activeBranchId: next.id });
}

async function restoreBranch(work: Work, id: string): Promise<void> {
  const { deletedAt, ...branch } = await getBranch(work, id);
  if (deletedAt === undefined) return;
  const names = await liveNames(work);
  setBranch(work, branch, {
    name: names.includes(branch.name) ? nextBranchName(branch.name, names) : branch.name,
  });
}

function activate(work: Work, branch: Branch): void {
  setBranch(work, branch, {});
  work.used.add(branch.id);
  if (work.chat.activeBranchId !== branch.id) setChat(work, { activeBranchId: branch.id });
}

async function makeCheckpoint(work: Work, id: string, name: string, messageId: string): Promise<void> {
  await getInfo(work, messageId);
  const all = await allCheckpoints(work);
  const known =
    all.find((other) => isLive(other) && other.name === name) ?? all.find((other) => other.id === id);
  const { deletedAt, ...before } = known ?? { id, chatId: work.chat.id, rev: 0, made: nextSeq(work) };
  const isThere = known?.name === name && known.messageId === messageId && deletedAt === undefined;
  if (isThere) work.checkpoints.set(known.id, known);
  else setCheckpoint(work, { ...before, name, messageId, createdAt: work.now }, {});
}

async function renameCheckpoint(work: Work, id: string, name: string): Promise<void> {
  const all = await allCheckpoints(work);
  const checkpoint = findCheckpoint(work, all, id);
  if (checkpoint.name === name) return;
  if (all.some((other) => isLive(other) && other.name === name)) throw nameTaken(work, 'Checkpoint', name);
  setCheckpoint(work, checkpoint, { name });
}

async function deleteCheckpoint(work: Work, id: string): Promise<void> {
  const checkpoint = findCheckpoint(work, await allCheckpoints(work), id);
  if (isLive(checkpoint)) setCheckpoint(work, checkpoint, { deletedAt: work.now });
}

function updateChat(work: Work, { title, metadata, usage }: ChatOp): void {
  const sum = usage && { usage: addUsage(work.chat.metadata?.['usage'], usage) };
  const { title: _, ...untitled } = work.chat;
  if (title === null) work.chat = untitled;
  setChat(work, {
    ...(typeof title === 'string' ? { title } : {}),
    ...(metadata || sum ? { metadata: { ...work.chat.metadata, ...metadata, ...sum } } : {}),
  });
}

/** Usage so far and more of it: numbers are added, at any depth; of anything else the newer stays. */
function addUsage(sum: unknown, more: unknown): unknown {
  if (typeof more === 'number') return (typeof sum === 'number' ? sum : 0) + more;
  if (typeof more !== 'object' || more === null || Array.isArray(more)) return more ?? sum;
  const before = typeof sum === 'object' && sum !== null ? (sum as Record<string, unknown>) : {};
  const added = Object.entries(more).map(([key, value]) => [key, addUsage(before[key], value)] as const);
  return { ...before, ...Object.fromEntries(added) };
}

// --- What is there --------------------------------------------------------------------------------------------------

function isLive(thing: { readonly deletedAt?: number }): boolean {
  return thing.deletedAt === undefined;
}

async function findInfo(work: Work, id: string): Promise<NodeInfo | undefined> {
  if (work.dropped.has(id)) return undefined;
  const node = work.nodes.get(id);
  if (node) return infoOf(node);
  return work.isNew ? undefined : work.tx.info(id);
}

async function getInfo(work: Work, id: string): Promise<NodeInfo> {
  const info = await findInfo(work, id);
  if (!info) throw messageNotFound(id);
  return info;
}

function messageNotFound(id: string): ContextError {
  return new ContextError('message-not-found', `Message "${id}" not found`, { details: { id } });
}

/**
 * A branch by its id, deleted ones too. The id that the caller would have given to `main` means the `main` that is
 * there: two tabs may begin the same chat at the same moment.
 */
async function findBranch(work: Work, id: string): Promise<Branch | undefined> {
  const branchId = work.forks.get(id) ?? id;
  const known = work.branches.get(branchId) ?? (work.isNew ? undefined : await work.tx.branch(branchId));
  if (known || branchId !== work.options.mainBranchId) return known;
  const [main] = await allBranches(work);
  return main;
}

/** Lets the result tell of a branch, changed or not. */
function show(work: Work, branch: Branch | undefined): Branch | undefined {
  if (branch) work.branches.set(branch.id, branch);
  return branch;
}

async function getBranch(work: Work, id: string): Promise<Branch> {
  const branch = await findBranch(work, id);
  if (branch) return branch;
  const message = `Branch "${id}" not found in chat "${work.chat.id}"`;
  throw new ContextError('branch-not-found', message, { details: { branch: id, chatId: work.chat.id } });
}

async function allBranches(work: Work): Promise<Branch[]> {
  return merged(work.isNew ? [] : await work.tx.branches(), work.branches);
}

async function allCheckpoints(work: Work): Promise<Checkpoint[]> {
  return merged(work.isNew ? [] : await work.tx.checkpoints(), work.checkpoints);
}

function merged<T extends { readonly id: string }>(
  stored: readonly T[],
  changed: ReadonlyMap<string, T>,
): T[] {
  return [...new Map([...stored.map((thing) => [thing.id, thing] as const), ...changed]).values()];
}

async function liveNames(work: Work): Promise<string[]> {
  return (await allBranches(work)).filter(isLive).map((branch) => branch.name);
}

function findCheckpoint(work: Work, all: readonly Checkpoint[], id: string): Checkpoint {
  const checkpoint = all.find((other) => other.id === id);
  if (checkpoint) return checkpoint;
  const message = `Checkpoint "${id}" not found in chat "${work.chat.id}"`;
  throw new ContextError('checkpoint-not-found', message, {
    details: { checkpoint: id, chatId: work.chat.id },
  });
}

function nameTaken(work: Work, kind: 'Branch' | 'Checkpoint', name: string): ContextError {
  const message = `${kind} "${name}" exists already in chat "${work.chat.id}". Choose another name.`;
  return new ContextError('name-taken', message, { details: { name, chatId: work.chat.id } });
}

// --- What will be written -------------------------------------------------------------------------------------------

/** Enters a thing among the changes and gives it its next revision, once per append. */
function touch<T extends { readonly id: string; readonly rev: number }>(
  work: Work,
  kind: Change['kind'],
  thing: T,
  op: Change['op'] = 'put',
): T {
  const key = `${kind} ${thing.id}`;
  const rev = work.changes.get(key)?.rev ?? thing.rev + 1;
  work.changes.set(key, { kind, op, chatId: work.chat.id, id: thing.id, rev });
  return { ...thing, rev };
}

/** The number that the next thing to change will get: new branches and checkpoints keep it as their order. */
function nextSeq(work: Work): number {
  return work.seq + work.changes.size + 1;
}

function setChat(work: Work, change: Partial<Chat>): void {
  work.chat = touch(work, 'chat', { ...work.chat, ...change });
}

function setNode(work: Work, node: MessageNode, replaced: MessageNode | undefined): void {
  const messageCount = work.chat.messageCount + countOf(node) - countOf(replaced);
  if (messageCount !== work.chat.messageCount) setChat(work, { messageCount });
  if (!work.puts.has(node.id)) work.puts.set(node.id, replaced);
  work.nodes.set(node.id, touch(work, 'node', node));
}

function countOf(node: MessageNode | undefined): number {
  return node && isVisible(infoOf(node)) ? 1 : 0;
}

function createBranch(work: Work, id: string, name: string, head: NodeInfo | undefined): void {
  const { chat, now, tx } = work;
  const branch = {
    id,
    chatId: chat.id,
    name,
    headMessageId: head?.id ?? null,
    messageCount: head?.depth ?? 0,
    createdAt: now,
    updatedAt: now,
    usedSeq: 0,
    rev: 0,
    deviceId: tx.deviceId,
    made: nextSeq(work),
  };
  setBranch(work, branch, {});
}

function setBranch(work: Work, branch: Branch, change: Partial<Branch>): void {
  work.branches.set(branch.id, touch(work, 'branch', { ...branch, ...change, updatedAt: work.now }));
}

function setCheckpoint(work: Work, checkpoint: Checkpoint, change: Partial<Checkpoint>): void {
  work.checkpoints.set(checkpoint.id, touch(work, 'checkpoint', { ...checkpoint, ...change }));
}

/** Numbers the changes, writes all that changed, and tells what is there now. Does not wait. */
function finish(work: Work): AppendResult {
  const changes = number(work.seq, [...work.changes.values()]);
  for (const { kind, id, seq } of changes)
    if (kind === 'branch' && work.used.has(id)) markUsed(work, id, seq);
  write(work, changes);
  const { chat, branches, checkpoints, nodes, dropped, conflict } = work;
  const written = [...nodes.values()].toSorted((a, b) => a.seq - b.seq);
  const to = conflict && branches.get(conflict.to);
  return {
    seq: work.seq + changes.length,
    chat,
    branches: [...branches.values()],
    checkpoints: [...checkpoints.values()],
    nodes: written.map(infoOf),
    dropped: [...dropped.keys()],
    written,
    ...(conflict && to ? { conflict: { ...conflict, to } } : {}),
  };
}

function markUsed(work: Work, id: string, seq: number): void {
  const branch = work.branches.get(id);
  if (branch) work.branches.set(id, { ...branch, usedSeq: seq });
}

function number(seq: number, changes: readonly Omit<Change, 'seq'>[]): Change[] {
  return changes.map((change, i) => ({ seq: seq + i + 1, ...change }));
}

function write(work: Work, changes: readonly Change[]): void {
  const { tx, chat } = work;
  if (work.isNew) tx.purge();
  if (changes.some(({ kind }) => kind === 'chat')) tx.putChat(chat);
  for (const [id, replaced] of work.puts) tx.putNode(work.nodes.get(id) as MessageNode, replaced);
  for (const info of work.dropped.values()) tx.dropNode(info);
  for (const { kind, id } of changes) {
    if (kind === 'branch') tx.putBranch(work.branches.get(id) as Branch);
    if (kind === 'checkpoint') tx.putCheckpoint(work.checkpoints.get(id) as Checkpoint);
  }
  for (const [key, value] of work.values) tx.putValue(key, value);
  if (changes.length > 0) tx.putChanges(changes);
}
