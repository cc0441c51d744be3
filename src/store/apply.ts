import type { UIMessage } from 'ai';
import { ContextError, type ContextErrorCode } from '../errors.ts';
import type { Branch, Chat, Checkpoint, MessageNode, NodeInfo } from '../graph/graph.ts';
import { infoOf, isVisible } from '../graph/graph.ts';
import { bySeq } from './order.ts';
import { isLive, Pointers } from './pointers.ts';
import type { AppendOptions, AppendResult, Change, OpNamed, StoreOp, StoreTransaction } from './store.ts';

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
 *   And where the disk has lost the chat, only the caller knows what else is to be written again, or to be added first to
 *   what another tab has written of it: a write that was meant for what is lost is refused, too.
 * - Has this been done before? When the answer to a call got lost, the caller repeats it. All its messages are there
 *   then, and its heads are where it wanted them or beyond. The result describes what is there; nothing is written,
 *   and usage is not counted twice. If somebody took its reserved answer back meanwhile, the turn goes on where it is.
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
  const [stored, seq] = await Promise.all([tx.chat(), tx.seq()]);
  const begin = stored ? 0 : ((await tx.wordsEnd?.()) ?? 0);
  if (begin === 0 && isLost(stored, options)) refuseLost(tx.chatId, stored, options);
  if (isAnother(stored, options)) refuseAnother(tx.chatId);
  const append = new Append(tx, options, now, stored, seq, begin);
  if (!(await append.wasDone(ops))) await append.carryOut(ops);
  return append.finish();
}

/** Format version of the records that are written here. */
const RECORD_VERSION = 1;

/** Of so many calls a chat knows that it has counted their usage. */
const KEPT_USAGE = 8;

/** Where a chat begins. */
const ROOT = { depth: 0 };

const NONE: ReadonlySet<string> = new Set();

type HeadOp = OpNamed<'head'>;

/** How far the way from a head to the root was gone. */
interface Way {
  readonly passed: Set<string>;
  at: NodeInfo | undefined;
  /** The depth of the one passed last. */
  last: number;
}

/** Branches that turns were given under one id, and which of them was found last. */
interface Forks {
  readonly ids: string[];
  at: number;
}

/** A message as it will be. */
interface Entry {
  readonly node: Writable<MessageNode>;
  /** Whether it is put, because it changed, or as it was examined. */
  readonly put: 'changed' | 'mended' | undefined;
  /** What it was before it changed; undefined for a new one. */
  readonly replaced: MessageNode | undefined;
}

/** The chat as it will be, and what has to be written for it. */
class Append {
  readonly #tx: StoreTransaction;
  readonly #options: AppendOptions;
  readonly #now: number;
  /** What the chat is listed by. */
  readonly #updatedAt: number;
  readonly #seq: number;
  /** Whether this write creates the chat: what the transaction still holds of a deleted one is not looked at. */
  readonly #isNew: boolean;
  /** Where its first message goes: behind the words of a chat of which nothing else is left, which stay for a repair. */
  readonly #begin: number;
  readonly #storedRev: number;
  #chat: Chat;
  /** Messages that were written, or found as they should be: those that the result tells of. */
  readonly #nodes = new Map<string, Entry>();
  readonly #dropped = new Map<string, NodeInfo>();
  /** How many of these messages follow each message, from the first that is dropped on. */
  #followers: Map<string | null, number> | undefined;
  readonly #branches: Pointers<Branch>;
  /** The one used last at the end; some of them may be deleted by now. */
  #byUse: Branch[] | undefined;
  readonly #checkpoints: Pointers<Checkpoint>;
  readonly #values = new Map<string, unknown>();
  /** The fields of records that are merged, by key; null for one that goes. */
  readonly #merged = new Map<string, Fields>();
  /** Those of the chat's metadata, once one of them changes. */
  #metadata: Fields | undefined;
  /** One entry per changed thing, by its kind and its id; numbered in the order of the first change. */
  readonly #changes: Readonly<Record<Change['kind'], Map<string, Change>>> = {
    chat: new Map(),
    node: new Map(),
    branch: new Map(),
    checkpoint: new Map(),
  };
  /** New messages that were looked up, and are there. */
  #found: ReadonlySet<string> | undefined;
  /** New messages that are there already, and whether a turn goes on from them: wherever they are now. */
  readonly #there = new Set<string>();
  #isTakenUp = false;
  /** By head. They are gone before anything changes. */
  readonly #ways = new Map<string | null, Way>();
  /** New parents of messages that are rebased. */
  readonly #rebased = new Map<string, string | null>();
  /** Whether a message is one of these, or follows one. */
  readonly #moved = new Map<string, boolean | undefined>();
  /** Where the rest of a turn goes when its first part went to a branch of its own. */
  readonly #forks = new Map<string, string>();
  /** Where turns of one id went. */
  readonly #given = new Map<string, Forks>();
  #conflict: { readonly policy: 'fork' | 'rebase'; readonly from: Branch; readonly to: string } | undefined;

  constructor(
    tx: StoreTransaction,
    options: AppendOptions,
    now: number,
    stored: Chat | undefined,
    seq: number,
    begin: number,
  ) {
    this.#begin = begin;
    this.#tx = tx;
    this.#options = options;
    this.#now = now;
    this.#updatedAt = tx.moment?.(now) ?? now;
    this.#seq = seq;
    this.#isNew = !stored || admit(stored, options);
    this.#branches = new Pointers(
      async (id) => (this.#isNew ? undefined : tx.branch(id)),
      async () => (this.#isNew ? [] : tx.branches()),
    );
    this.#checkpoints = new Pointers(
      async (id) => (await this.#checkpoints.all()).find((checkpoint) => checkpoint.id === id),
      async () => (this.#isNew ? [] : tx.checkpoints()),
    );
    this.#storedRev = stored?.rev ?? 0;
    this.#chat = stored && !this.#isNew ? stored : newChat(tx.chatId, stored, options, now, begin);
    // One whose row was lost is of whoever writes to it.
    if (this.#chat.userId === '') this.#setChat({ userId: options.userId });
    if (!this.#isNew) return;
    this.#setChat({ updatedAt: this.#updatedAt });
    this.#create(options.mainBranchId, 'main', undefined, true);
  }

  // --- Has this been done before? ----------------------------------------------------------------------------------

  /** Whether the caller asks for what it has asked for already. Only new messages can tell: their ids are made by it. */
  async wasDone(ops: readonly StoreOp[]): Promise<boolean> {
    const first = ops.find((op) => op.op === 'insert');
    if (this.#isNew || !first || !(await this.#isDone(first, NONE))) return false;
    const inserted = new Set(idsOf(ops));
    for (const op of ops) {
      if (await this.#isDone(op, inserted)) continue;
      this.#conflict = undefined;
      return false;
    }
    // The caller may not have heard of what it replaced, either.
    for (const op of ops) if (op.op === 'insert' || op.op === 'replace') await this.#findNode(op.id);
    return true;
  }

  async #isDone(op: StoreOp, inserted: ReadonlySet<string>): Promise<boolean> {
    if (op.op === 'branch') return this.#tell(await this.#findBranch(op.id)) !== undefined;
    if (op.op === 'restore-branch') return (await this.#findBranch(op.id))?.deletedAt === undefined;
    if (op.op === 'checkpoint')
      return (
        ((await this.#checkpoints.find(op.id)) ?? (await this.#checkpoints.named(op.name))) !== undefined
      );
    if (op.op === 'head')
      return op.messageId === null || !inserted.has(op.messageId) || this.#isThere(op, op.messageId);
    if (op.op !== 'insert') return true;
    const node = await this.#tx.node(op.id);
    if (!node || !sameContent(node.data, op.data)) return false;
    this.#there.add(op.id);
    return true;
  }

  /** Whether a head has moved to its target, or beyond it, or the target went to its fork. */
  async #isThere(op: HeadOp, target: string): Promise<boolean> {
    const from = this.#tell(await this.#findBranch(op.branchId));
    if (from && from.headMessageId !== op.expected && (await this.#holds(from, target))) return true;
    const fork = await this.#forkHolding(op.forkId, target);
    if (!from || !fork) return false;
    this.#tell(fork);
    this.#conflict ??= { policy: 'fork', from, to: fork.id };
    return true;
  }

  /** The branch that a turn was given under this id, if it holds a message. Of many, the one found last is asked first. */
  async #forkHolding(forkId: string, id: string): Promise<Branch | undefined> {
    const forks = await this.#forksOf(forkId);
    for (let asked = 0; asked < forks.ids.length; asked += 1) {
      const fork = await this.#findBranch(forks.ids[forks.at] ?? '');
      if (fork && (await this.#holds(fork, id))) return fork;
      forks.at = (forks.at + 1) % forks.ids.length;
    }
    return undefined;
  }

  /** The branches that turns were given under this id: one given later has a number behind it. */
  async #forksOf(forkId: string): Promise<Forks> {
    const forks = this.#given.get(forkId) ?? { ids: [], at: 0 };
    this.#given.set(forkId, forks);
    while (await this.#findBranch(nextId(forkId, forks))) forks.ids.push(nextId(forkId, forks));
    return forks;
  }

  /**
   * The operations of a turn of which only a part is there: the answer to the first attempt got lost, and then somebody
   * took the reserved message back at its end. The rest goes on where that part went.
   */
  async #takeUp(ops: readonly StoreOp[]): Promise<readonly StoreOp[]> {
    const inserts = ops.filter((op) => op.op === 'insert');
    if (inserts.some((op) => !this.#there.has(op.id) && !isReserved(op))) return ops;
    const parents = parentsOf(ops);
    const lasts = new Map<string, string | undefined>([...this.#there].map((id) => [id, id]));
    const rest: StoreOp[] = [];
    for (const op of ops)
      rest.push(op.op === 'head' ? await this.#takeUpHead(op, upward(op.messageId, lasts, parents)) : op);
    return rest;
  }

  /** `last`: the last message of the turn that is there. */
  async #takeUpHead(op: HeadOp, last: string | undefined): Promise<HeadOp> {
    if (last === undefined) return op;
    const from = await this.#getBranch(op.branchId);
    const fork = await this.#forkHolding(op.forkId, last);
    if (!fork && !(await this.#holds(from, last))) return op;
    this.#isTakenUp = true;
    if (fork) {
      this.#tell(from);
      this.#forks.set(op.branchId, fork.id);
      this.#conflict ??= { policy: 'fork', from, to: fork.id };
    }
    return { ...op, expected: last };
  }

  /**
   * Whether a message lies on the way from a branch's head to the root. Costs the distance between them, of which what was
   * gone for another message counts: a turn may be one of thousands. Each step has to lead nearer to the root, because
   * records that are damaged may lead round in a ring.
   */
  async #holds({ headMessageId }: Branch, id: string): Promise<boolean> {
    const depth = (await this.#findInfo(id))?.depth ?? Infinity;
    const way = this.#ways.get(headMessageId) ?? {
      passed: new Set(),
      at: await this.#findInfo(headMessageId),
      last: Infinity,
    };
    this.#ways.set(headMessageId, way);
    while (way.at && way.at.depth > depth && way.at.depth < way.last) {
      way.passed.add(way.at.id);
      way.last = way.at.depth;
      way.at = await this.#findInfo(way.at.parentId);
    }
    return way.at?.id === id || way.passed.has(id);
  }

  // --- The operations ----------------------------------------------------------------------------------------------

  async carryOut(asked: readonly StoreOp[]): Promise<void> {
    this.#refuseUnlessKnown();
    const ops = this.#there.size === 0 ? asked : await this.#takeUp(asked);
    await this.#expect(idsOf(ops));
    if (this.#options.onConflict === 'rebase') await this.#planRebase(ops);
    for (const op of ops) if (op.op !== 'insert' || !this.#insertNext(op)) await this.#carryOutOne(op);
  }

  /** Who decides by what was written must know all of it. */
  #refuseUnlessKnown(): void {
    const { chatRev: expected } = this.#options;
    const actual = this.#storedRev;
    if (this.#isNew || expected === undefined || expected === actual) return;
    const message = `The chat was written to meanwhile: revision ${actual}, not ${expected}. Read it again and repeat.`;
    refuse('head-moved', message, { reason: 'chat', expected, actual });
  }

  /** Looks up what is to be inserted. Where the row of the chat counts wrongly, no message is written over another. */
  async #expect(ids: readonly string[]): Promise<void> {
    if (this.#isNew || ids.length === 0) return;
    const { nextSeq = this.#chat.nextSeq, there } = (await this.#tx.expect?.(ids, this.#chat.nextSeq)) ?? {};
    this.#found = there;
    if (nextSeq !== this.#chat.nextSeq) this.#setChat({ nextSeq });
  }

  async #carryOutOne(op: StoreOp): Promise<void> {
    switch (op.op) {
      case 'insert':
        return this.#insert(op);
      case 'replace':
        return this.#replace(op);
      case 'drop':
        return this.#drop(op);
      case 'head':
        return this.#moveHead(op);
      case 'branch':
        return this.#makeBranch(op);
      case 'rename-branch':
        return this.#renameBranch(op.id, op.name);
      case 'delete-branch':
        return this.#deleteBranch(op.id);
      case 'restore-branch':
        return this.#restoreBranch(op.id);
      case 'use':
        return this.#use(op.branchId);
      case 'checkpoint':
        return this.#makeCheckpoint(op);
      case 'rename-checkpoint':
        return this.#renameCheckpoint(op.id, op.name);
      case 'delete-checkpoint':
        return this.#deleteCheckpoint(op.id);
      case 'chat':
        return this.#updateChat(op);
      case 'mend':
        return this.#mend(op);
      case 'set':
        this.#merged.delete(op.key);
        this.#values.set(op.key, op.value);
        return;
      case 'merge':
        return this.#merge(op);
    }
  }

  /**
   * Inserts a message of which it is certain that it is new, behind one that was inserted or is none; false for any other.
   * So are nearly all messages of an import, and for these nothing is asked and nobody waits.
   */
  #insertNext(op: OpNamed<'insert'>): boolean {
    const { id, parentId } = op;
    const isNew = this.#isNew || this.#found?.has(id) === false;
    if (!isNew || this.#nodes.has(id) || this.#dropped.has(id) || this.#rebased.has(id)) return false;
    const parent = parentId === null ? ROOT : this.#nodes.get(parentId)?.node;
    if (parent) this.#place(op, parentId, parent.depth);
    return parent !== undefined;
  }

  async #insert(op: OpNamed<'insert'>): Promise<void> {
    const { id, data } = op;
    const parentId = this.#rebased.has(id) ? (this.#rebased.get(id) ?? null) : op.parentId;
    const known = await this.#findNode(id);
    if (known) {
      const isInPlace = known.parentId === parentId || (this.#isTakenUp && this.#there.has(id));
      if (isInPlace && sameContent(known.data, data)) return;
      const message = `Message "${id}" is there already, with other words or in another place. Take a new id.`;
      refuse('head-moved', message, { reason: 'id-taken', id });
    }
    const { depth } = (await this.#getTarget(parentId)) ?? ROOT;
    this.#place(op, parentId, depth);
  }

  /** Puts a new message at the end of the chat, behind a parent of this depth. */
  #place(
    { id, data, status, createdAt = this.#now, sources, rev = 1 }: OpNamed<'insert'>,
    parentId: string | null,
    depth: number,
  ): void {
    const chat = this.#ownChat();
    const node = {
      id,
      chatId: this.#tx.chatId,
      name: data.role,
      type: 'message',
      data,
      createdAt,
      status,
      parentId,
      seq: chat.nextSeq,
      depth: depth + 1,
      rev: rev - 1,
      deviceId: this.#tx.deviceId,
      v: RECORD_VERSION,
      bodyHash: '',
    } as const;
    chat.nextSeq += 1;
    this.#setNode(sources ? { ...node, sources } : node);
  }

  async #replace({ id, data, status, rev, createdAt }: OpNamed<'replace'>): Promise<void> {
    const found = await this.#findNode(id);
    const before = found && isFrom(found, createdAt) ? found : messageNotFound(id);
    const draft = before.status === 'streaming' && !data ? await this.#tx.draft(id) : undefined;
    const words = data ?? draft ?? before.data;
    const after = { ...before, name: words.role, data: words, status: status ?? before.status };
    if (after.status === before.status && sameContent(after.data, before.data)) return;
    if (rev !== undefined && rev !== before.rev) {
      const message = `Message "${id}" was changed in another tab at this moment. Look at it, and try again.`;
      refuse('head-moved', message, { reason: 'rev', id, expected: rev, actual: before.rev });
    }
    this.#setNode(after, before);
  }

  /** Takes a reserved message back. One that has words by now, or a message behind it, stays, and grows no more. */
  async #drop({ id, createdAt }: OpNamed<'drop'>): Promise<void> {
    const info = await this.#findInfo(id);
    if (!info || !isFrom(info, createdAt)) return;
    if (isVisible(info)) return void (await this.#findNode(id));
    if ((await this.#tx.draft(id))?.parts.length || (await this.#isFollowed(info)))
      return this.#replace({ op: 'replace', id, status: 'interrupted' });
    if (this.#nodes.delete(id)) this.#count(info.parentId, -1);
    this.#dropped.set(id, info);
    this.#touch('node', info, 'delete');
    await this.#movePointers(info);
  }

  async #isFollowed(info: NodeInfo): Promise<boolean> {
    if (!this.#followers) {
      this.#followers = new Map();
      for (const { node } of this.#nodes.values()) this.#count(node.parentId, 1);
    }
    return this.#followers.get(info.id) ? true : !this.#isNew && this.#tx.hasChildren(info);
  }

  /** Counts a message of this append, or one less, among those that follow its parent. */
  #count(parentId: string | null, by: 1 | -1): void {
    this.#followers?.set(parentId, (this.#followers.get(parentId) ?? 0) + by);
  }

  /** Branches and checkpoints that end at a message that goes end at its parent. */
  async #movePointers({ id, parentId, depth }: NodeInfo): Promise<void> {
    for (const branch of await this.#branches.endingAt(id))
      this.#setBranch(branch, { headMessageId: parentId, messageCount: depth - 1 });
    for (const checkpoint of await this.#checkpoints.endingAt(id))
      this.#setCheckpoint(checkpoint, parentId === null ? { deletedAt: this.#now } : { messageId: parentId });
  }

  #updateChat({ title, metadata, usage, usageId }: OpNamed<'chat'>): void {
    const { title: before, ...chat } = this.#chat;
    const after = title === undefined ? before : (title ?? undefined);
    this.#chat = after === undefined ? chat : { ...chat, title: after };
    const { usageIds = [] } = chat;
    const isCounted = usageId !== undefined && usageIds.includes(usageId);
    this.#setChat(
      usageId === undefined || isCounted ? {} : { usageIds: [...usageIds, usageId].slice(-KEPT_USAGE) },
    );
    if (!metadata && !usage) return;
    this.#metadata ??= fieldsOf(chat.metadata);
    const sum = usage && !isCounted && addUsage(this.#metadata.get('usage'), usage);
    for (const [name, field] of fieldsOf(metadata)) this.#metadata.set(name, field);
    if (sum) this.#metadata.set('usage', sum);
  }

  async #merge({ key, value }: OpNamed<'merge'>): Promise<void> {
    let fields = this.#merged.get(key);
    if (!fields) {
      fields = fieldsOf(this.#values.get(key) ?? (this.#isNew ? undefined : await this.#tx.value(key)));
      this.#merged.set(key, fields);
    }
    for (const [name, field] of Object.entries(value)) fields.set(name, field);
  }

  /** Takes records over as they were examined; drafts stay as they are, and bodies that are in their places. */
  async #mend({
    seq,
    chat,
    nodes,
    bodies = [],
    files,
    dropped,
    branches,
    checkpoints,
  }: OpNamed<'mend'>): Promise<void> {
    if (seq !== this.#seq) {
      const message = 'The chat was written to while it was examined. Examine it again.';
      refuse('head-moved', message, { reason: 'seq', expected: seq, actual: this.#seq });
    }
    // A chat of which only words were left has the branch that leads to them.
    if (this.#isNew && branches.length > 0) {
      this.#branches.clear();
      this.#changes.branch.delete(this.#options.mainBranchId);
    }
    for (const info of dropped) this.#tx.dropNode(info);
    for (const [hash, bytes] of files ?? []) this.#tx.putFile?.(hash, bytes);
    const found = new Map(bodies.map((body) => [body.id, body]));
    this.#followers = undefined;
    for (const info of nodes) {
      const node = await this.#tx.node(info.id, info);
      if (!node) continue;
      const { parentId, depth } = info;
      const data = found.get(info.id) ?? node.data;
      const mended = { ...node, data, parentId, depth, rev: this.#touch('node', node).rev };
      this.#nodes.set(info.id, { node: mended, put: 'mended', replaced: undefined });
    }
    for (const branch of branches) this.#setBranch(branch, {});
    for (const checkpoint of checkpoints) this.#setCheckpoint(checkpoint, {});
    if (!chat) return;
    const { messageCount, checkpointCount, nextSeq, activeBranchId } = chat;
    const counts = checkpointCount === undefined ? {} : { checkpointCount };
    this.#setChat({ messageCount, ...counts, nextSeq, activeBranchId });
  }

  // --- Heads -------------------------------------------------------------------------------------------------------

  /**
   * Finds the new parents of turns whose head has moved: the first message goes behind the head that is there now.
   * A head that moves without new messages can't be rebased: it would take the other's turn out of its branch.
   */
  async #planRebase(ops: readonly StoreOp[]): Promise<void> {
    const parents = parentsOf(ops);
    const firsts = new Map<string | null, Map<string, string | undefined>>();
    for (const [id, parentId] of parents)
      firsts.set(parentId, (firsts.get(parentId) ?? new Map<string, string>()).set(id, id));
    const seen = new Set<string>();
    for (const op of ops) {
      if (op.op !== 'head' || seen.has(op.branchId)) continue;
      seen.add(op.branchId);
      const branch = await this.#findBranch(op.branchId);
      // The first of the new messages that end at the target and begin behind the expected head.
      const first = upward(op.messageId, firsts.get(op.expected) ?? new Map<string, string>(), parents);
      const isAhead = branch && isLive(branch) && branch.headMessageId !== op.expected;
      if (!isAhead || first === undefined) continue;
      this.#rebased.set(first, branch.headMessageId);
      this.#moved.set(first, true);
    }
  }

  async #moveHead(op: HeadOp): Promise<void> {
    const branch = await this.#getBranch(op.branchId);
    const target = await this.#getTarget(op.messageId);
    const isBegun = !this.#isNew || branch.headMessageId !== null;
    const isExpected = !isBegun || [op.expected, op.messageId].includes(branch.headMessageId);
    if (isLive(branch) && (isExpected || this.#isRebased(op.messageId))) {
      if (!isExpected) this.#conflict ??= { policy: 'rebase', from: branch, to: branch.id };
      this.#setHead(branch, target);
    } else if (this.#options.onConflict === 'error') {
      refuseHead(branch, op);
    } else {
      await this.#forkTurn(branch, op, target);
    }
  }

  /** Whether a message belongs to a turn that got a new parent. */
  #isRebased(id: string | null): boolean {
    const parents = { get: (child: string) => this.#nodes.get(child)?.node.parentId };
    return upward(id, this.#moved, parents) ?? false;
  }

  /** Gives a turn a branch of its own; the branch that it was meant for stays as the other tab left it. */
  async #forkTurn(from: Branch, op: HeadOp, target: NodeInfo | undefined): Promise<void> {
    const { branchId } = op;
    // One of that id is there when this was done before, and has moved on since.
    const forkId = nextId(op.forkId, await this.#forksOf(op.forkId));
    this.#create(forkId, await this.#branches.nextName(from.name), target, true);
    this.#setChat({ updatedAt: this.#updatedAt });
    this.#forks.set(branchId, forkId);
    const before = this.#conflict;
    if (!before || before.to === from.id)
      this.#conflict = { policy: 'fork', from: before?.from ?? from, to: forkId };
  }

  #setHead(branch: Branch, target: NodeInfo | undefined): void {
    const headMessageId = target?.id ?? null;
    this.#tell(branch);
    if (branch.headMessageId === headMessageId) return;
    this.#setBranch(branch, { headMessageId, messageCount: target?.depth ?? 0 }, true);
    this.#setChat({ updatedAt: this.#updatedAt });
  }

  // --- Branches and checkpoints ------------------------------------------------------------------------------------

  async #makeBranch({ id, name, base, messageId }: OpNamed<'branch'>): Promise<void> {
    const target = await this.#getTarget(messageId);
    const known = this.#tell(await this.#findBranch(id));
    // It was lost, and written again by a tab that had not its words.
    if (known && target && isLive(known) && (await this.#isBefore(known, target)))
      this.#setHead(known, target);
    if (known) return;
    const isFree = name !== undefined && !(await this.#branches.named(name));
    if (name !== undefined && !isFree && base === undefined) nameTaken('branch', name, this.#tx.chatId);
    // Where it is told what it is named after, the branch shown may be one that is not known here.
    const free = async (): Promise<string> =>
      this.#branches.nextName(base ?? (await this.#getBranch(this.#chat.activeBranchId)).name);
    this.#create(id, isFree ? name : await free(), target);
  }

  /** Whether a branch ends on the way to a message. */
  async #isBefore(branch: Branch, { id }: NodeInfo): Promise<boolean> {
    const { headMessageId: head } = branch;
    return head === null || (head !== id && (await this.#holds({ ...branch, headMessageId: id }, head)));
  }

  async #renameBranch(id: string, name: string): Promise<void> {
    const branch = await this.#getBranch(id);
    if (branch.name === name) return;
    if (await this.#branches.named(name)) nameTaken('branch', name, this.#tx.chatId);
    this.#setBranch(branch, { name });
  }

  async #renameCheckpoint(id: string, name: string): Promise<void> {
    const checkpoint = await this.#getCheckpoint(id);
    if (checkpoint.name === name) return;
    if (await this.#checkpoints.named(name)) nameTaken('checkpoint', name, this.#tx.chatId);
    this.#setCheckpoint(checkpoint, { name });
  }

  async #deleteBranch(branchId: string): Promise<void> {
    const branch = await this.#getBranch(branchId);
    const { id, name } = branch;
    if (!isLive(branch)) return;
    if ((await this.#branches.counts()).live < 2) {
      const message = `Branch "${name}" is the last one of this chat and stays.`;
      refuse('last-branch', message, { branch: name, chatId: this.#tx.chatId });
    }
    this.#setBranch(branch, { deletedAt: this.#now });
    if (this.#chat.activeBranchId !== id) return;
    const next = await this.#lastUsed();
    if (next) this.#setChat({ activeBranchId: next.id });
  }

  async #lastUsed(): Promise<Branch | undefined> {
    this.#byUse ??= (await this.#branches.all()).toReversed().toSorted((a, b) => a.usedSeq - b.usedSeq);
    for (let last = this.#byUse.at(-1); last; last = this.#byUse.at(-1)) {
      const now = await this.#branches.find(last.id);
      if (now && isLive(now)) return now;
      this.#byUse.pop();
    }
    return undefined;
  }

  /** A branch that was deleted comes back, under another name where its own is taken. */
  async #restoreBranch(id: string): Promise<void> {
    const { deletedAt, ...branch } = await this.#getBranch(id);
    if (deletedAt === undefined) return;
    const isTaken = (await this.#branches.named(branch.name)) !== undefined;
    this.#setBranch(branch, isTaken ? { name: await this.#branches.nextName(branch.name) } : {});
  }

  /** A branch that was deleted meanwhile is not shown; the result tells that it is gone. */
  async #use(branchId: string): Promise<void> {
    const branch = await this.#getBranch(branchId);
    if (!isLive(branch)) return void this.#tell(branch);
    this.#setBranch(branch, {}, true);
    if (this.#chat.activeBranchId !== branch.id) this.#setChat({ activeBranchId: branch.id });
  }

  async #makeCheckpoint({ id, name, messageId }: OpNamed<'checkpoint'>): Promise<void> {
    await this.#getTarget(messageId);
    const known = (await this.#checkpoints.named(name)) ?? (await this.#checkpoints.find(id));
    const { deletedAt, ...before } = known ?? { id, chatId: this.#tx.chatId, rev: 0 };
    const isThere = known?.name === name && known.messageId === messageId && deletedAt === undefined;
    if (isThere) return this.#checkpoints.tell(known);
    const { all } = await this.#checkpoints.counts();
    this.#setCheckpoint({ ...before, name, messageId, createdAt: this.#now, made: this.#nextSeq }, {});
    // Counted, because nothing else would tell of one that is lost.
    if (!known) this.#setChat({ checkpointCount: (this.#chat.checkpointCount ?? all) + 1 });
  }

  async #deleteCheckpoint(id: string): Promise<void> {
    const checkpoint = await this.#getCheckpoint(id);
    if (isLive(checkpoint)) this.#setCheckpoint(checkpoint, { deletedAt: this.#now });
  }

  // --- What is there -----------------------------------------------------------------------------------------------

  /** A message that this append has written, or that was there; the result tells of it. */
  async #findNode(id: string): Promise<MessageNode | undefined> {
    if (this.#dropped.has(id)) return undefined;
    const known = this.#nodes.get(id)?.node;
    if (known || this.#isNew) return known;
    const node = await this.#tx.node(id);
    if (!node) return undefined;
    this.#nodes.set(id, { node, put: undefined, replaced: undefined });
    this.#count(node.parentId, 1);
    return node;
  }

  async #findInfo(id: string | null): Promise<NodeInfo | undefined> {
    if (id === null || this.#dropped.has(id)) return undefined;
    const known = this.#nodes.get(id);
    if (known) return infoOf(known.node);
    return this.#isNew ? undefined : this.#tx.info(id);
  }

  /** What a pointer is to point at; undefined for null. */
  async #getTarget(id: string | null): Promise<NodeInfo | undefined> {
    return (await this.#findInfo(id)) ?? (id === null ? undefined : messageNotFound(id));
  }

  /**
   * A branch by its id, deleted ones too. The id that the caller would have given to `main` means the `main` that is
   * there: two tabs may begin the same chat at the same moment.
   */
  async #findBranch(id: string): Promise<Branch | undefined> {
    const branchId = this.#forks.get(id) ?? id;
    const known = await this.#branches.find(branchId);
    return known ?? (branchId === this.#options.mainBranchId ? (await this.#branches.all())[0] : undefined);
  }

  async #getBranch(id: string): Promise<Branch> {
    return (await this.#findBranch(id)) ?? notFound('branch', id, this.#tx.chatId);
  }

  async #getCheckpoint(id: string): Promise<Checkpoint> {
    return (await this.#checkpoints.find(id)) ?? notFound('checkpoint', id, this.#tx.chatId);
  }

  /** Lets the result tell of a branch, changed or not. */
  #tell(branch: Branch | undefined): Branch | undefined {
    if (branch) this.#branches.tell(branch);
    return branch;
  }

  // --- What will be written ----------------------------------------------------------------------------------------

  /** The number that the next thing to change will get: new branches and checkpoints keep it as their order. */
  get #nextSeq(): number {
    const { chat, node, branch, checkpoint } = this.#changes;
    return this.#seq + chat.size + node.size + branch.size + checkpoint.size + 1;
  }

  /** Enters a thing among the changes: with its next revision and the next number, once per append. */
  #touch(
    kind: Change['kind'],
    { id, rev }: { readonly id: string; readonly rev: number },
    op: Change['op'] = 'put',
  ): Change {
    const before = this.#changes[kind].get(id);
    if (before?.op === op) return before;
    const { seq, rev: next } = before ?? { seq: this.#nextSeq, rev: rev + 1 };
    const change = { seq, kind, op, chatId: this.#tx.chatId, id, rev: next };
    this.#changes[kind].set(id, change);
    return change;
  }

  #setChat(change: Partial<Chat>): void {
    Object.assign(this.#ownChat(), change);
  }

  /** The chat, to be changed in place: an import changes it with each of its messages. */
  #ownChat(): Writable<Chat> {
    const isOwn = this.#changes.chat.size > 0;
    if (!isOwn) this.#chat = { ...this.#chat, rev: this.#touch('chat', this.#chat).rev };
    return this.#chat;
  }

  /** Takes over a node, which becomes what is written: an import makes thousands, and no copies of them. */
  #setNode(node: Writable<MessageNode>, replaced?: MessageNode): void {
    const chat = this.#ownChat();
    chat.messageCount += countOf(node) - countOf(replaced);
    chat.updatedAt = this.#updatedAt;
    const known = this.#nodes.get(node.id);
    if (!known) this.#count(node.parentId, 1);
    node.rev = this.#touch('node', node).rev;
    this.#nodes.set(node.id, { node, put: 'changed', replaced: known?.put ? known.replaced : replaced });
  }

  #create(id: string, name: string, head: NodeInfo | undefined, isUsed = false): void {
    const { chatId, deviceId } = this.#tx;
    const times = { createdAt: this.#now, updatedAt: this.#now, usedSeq: 0, made: this.#nextSeq };
    const branch = { id, chatId, name, headMessageId: head?.id ?? null, messageCount: head?.depth ?? 0 };
    this.#setBranch({ ...branch, ...times, rev: 0, deviceId }, {}, isUsed);
  }

  /** `isUsed`: whether the branch is shown or written, and not only managed. */
  #setBranch(branch: Branch, change: Partial<Branch>, isUsed = false): void {
    const { seq, rev } = this.#touch('branch', branch);
    const usedSeq = isUsed ? seq : branch.usedSeq;
    this.#branches.tell({ ...branch, ...change, updatedAt: this.#now, usedSeq, rev });
    if (change.deletedAt === undefined) this.#byUse = undefined;
  }

  #setCheckpoint(checkpoint: Checkpoint, change: Partial<Checkpoint>): void {
    const { rev } = this.#touch('checkpoint', checkpoint);
    this.#checkpoints.tell({ ...checkpoint, ...change, rev });
  }

  /** Writes all that changed, and tells what is there now. Does not wait. */
  finish(): AppendResult {
    const seq = this.#nextSeq - 1;
    if (this.#metadata) this.#setChat({ metadata: recordOf(this.#metadata) });
    const nodes = this.#write();
    const written: MessageNode[] = [];
    for (const { node, put } of this.#nodes.values()) {
      written.push(node);
      if (!put) nodes.push(infoOf(node));
    }
    const to = this.#conflict && this.#branches.toldOf(this.#conflict.to);
    return {
      seq,
      changed: seq > this.#seq,
      chatChanged: this.#changes.chat.size > 0,
      chat: this.#chat,
      branches: this.#branches.told,
      checkpoints: this.#checkpoints.told,
      nodes: bySeq(nodes),
      dropped: [...this.#dropped.keys()],
      written: bySeq(written),
      ...(this.#conflict && to ? { conflict: { ...this.#conflict, to } } : {}),
    };
  }

  /**
   * Puts what changed, and gives the messages of it. They come last, from the newest to the oldest: there may be many, and
   * a store that keeps the newest in a form of their own can work on those while the others are put together.
   */
  #write(): NodeInfo[] {
    const tx = this.#tx;
    const { chat, node, branch, checkpoint } = this.#changes;
    const changes = [chat, node, branch, checkpoint].flatMap((some) => [...some.values()]);
    if (this.#isNew && this.#begin === 0) tx.purge(true);
    if (changes.length > 0) tx.putChanges(bySeq(changes));
    if (chat.size > 0) tx.putChat(this.#chat);
    for (const info of this.#dropped.values()) tx.dropNode(info);
    for (const one of this.#branches.told) if (branch.has(one.id)) tx.putBranch(one);
    for (const one of this.#checkpoints.told) if (checkpoint.has(one.id)) tx.putCheckpoint(one);
    for (const [key, value] of this.#values) tx.putValue(key, value);
    for (const [key, fields] of this.#merged)
      tx.putValue(key, Object.fromEntries([...fields].filter(([, field]) => field !== null)));
    const infos: NodeInfo[] = [];
    for (const { node: one, put, replaced } of [...this.#nodes.values()].toReversed()) {
      if (!put) continue;
      // Of one that is mended the sum stays as it was: it may be what tells of the damage.
      if (put === 'changed') one.bodyHash = tx.bodyHash(one.data);
      const info = infoOf(one);
      infos.push(info);
      tx.putNode(one, info, replaced);
    }
    return infos.toReversed();
  }
}

// --- Chats ----------------------------------------------------------------------------------------------------------

/** Whether the chat was deleted and begins anew. Refuses writers to another's chat, and those of before the deletion. */
function admit(stored: Chat, { userId, epoch }: AppendOptions): boolean {
  const isDeleted = !isLive(stored);
  if (!isDeleted && stored.userId !== userId && stored.userId !== '') {
    const message = `chat "${stored.id}" belongs to user "${stored.userId}", not "${userId}"`;
    refuse('wrong-user', message, { chatId: stored.id, owner: stored.userId, userId });
  }
  if (isDeleted ? epoch <= stored.epoch : epoch < stored.epoch) {
    const message = 'This chat was deleted. Open it anew to begin another one with its id.';
    refuse('chat-deleted', message, { chatId: stored.id, epoch, stored: stored.epoch });
  }
  return isDeleted;
}

/** A chat as it begins. One that takes the place of a deleted one goes on with its revisions. */
function newChat(
  id: string,
  tombstone: Chat | undefined,
  options: AppendOptions,
  now: number,
  nextSeq: number,
): Chat {
  const { userId, metadata, mainBranchId: activeBranchId } = options;
  const epoch = tombstone ? tombstone.epoch + 1 : options.epoch;
  const counters = { rev: tombstone?.rev ?? 0, messageCount: 0, nextSeq, epoch };
  return {
    id,
    userId,
    ...(metadata ? { metadata } : {}),
    createdAt: now,
    updatedAt: now,
    activeBranchId,
    ...counters,
  };
}

/** Usage so far and more of it: numbers are added, at any depth; of anything else the newer stays. */
function addUsage(sum: unknown, more: unknown): unknown {
  if (typeof more === 'number') return (typeof sum === 'number' ? sum : 0) + more;
  if (typeof more !== 'object' || more === null || Array.isArray(more)) return more ?? sum;
  const fields = sum instanceof Map ? (sum as Fields) : fieldsOf(sum);
  for (const [name, field] of fieldsOf(more)) fields.set(name, addUsage(fields.get(name), field));
  return fields;
}

/** The fields of a record that grows: to copy it with each would take the square of their number. */
type Fields = Map<string, unknown>;

function fieldsOf(record: unknown): Fields {
  return new Map(Object.entries(typeof record === 'object' ? (record ?? {}) : {}));
}

function recordOf(fields: Fields): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    [...fields].map(([name, field]) => [name, field instanceof Map ? recordOf(field as Fields) : field]),
  );
}

// --- Messages -------------------------------------------------------------------------------------------------------

/** Whether two messages say the same: role, parts and metadata as JSON. */
function sameContent(a: UIMessage, b: UIMessage): boolean {
  return contentOf(a) === contentOf(b);
}

function contentOf({ role, parts, metadata }: UIMessage): string {
  return JSON.stringify([role, parts, metadata]);
}

function nextId(forkId: string, { ids }: Forks): string {
  return ids.length === 0 ? forkId : `${forkId}+${ids.length}`;
}

type Writable<T> = { -readonly [Field in keyof T]: T[Field] };

function countOf(node: MessageNode | undefined): number {
  return node && isVisible({ status: node.status, parts: node.data.parts.length }) ? 1 : 0;
}

/** The new messages, and what each follows. */
function parentsOf(ops: readonly StoreOp[]): Map<string, string | null> {
  return new Map(ops.flatMap((op) => (op.op === 'insert' ? [[op.id, op.parentId]] : [])));
}

/**
 * What is known of a message, or of the nearest one before it of which something is known; the same is known from then on
 * of those between: one way may be gone up from each of its thousands.
 */
function upward<T>(
  id: string | null,
  known: Map<string, T | undefined>,
  parents: { readonly get: (id: string) => string | null | undefined },
): T | undefined {
  const passed: string[] = [];
  let at: string | null | undefined = id;
  while (typeof at === 'string' && !known.has(at)) {
    // A ring ends where it began.
    known.set(at, undefined);
    passed.push(at);
    at = parents.get(at);
  }
  const found = known.get(at ?? '');
  for (const one of passed) known.set(one, found);
  return found;
}

/** The messages that are to be inserted. */
function idsOf(ops: readonly StoreOp[]): string[] {
  const ids: string[] = [];
  for (const op of ops) if (op.op === 'insert') ids.push(op.id);
  return ids;
}

/** Whether a message has no words yet: only such a one is ever taken back. */
function isReserved({ status, data }: OpNamed<'insert'>): boolean {
  return status === 'streaming' && data.parts.length === 0;
}

// --- Refusals -------------------------------------------------------------------------------------------------------

function refuse(code: ContextErrorCode, message: string, details: Readonly<Record<string, unknown>>): never {
  throw new ContextError(code, message, { details });
}

/** Whether there is nothing of the chat that a caller knows: but, perhaps, of one that was begun and deleted behind the loss. */
function isLost(stored: Chat | undefined, { asOf, epoch, chatCreatedAt }: AppendOptions): boolean {
  if (!stored) return asOf !== undefined;
  return !isLive(stored) && stored.epoch < epoch && chatCreatedAt !== undefined;
}

function refuseLost(chatId: string, stored: Chat | undefined, { asOf }: AppendOptions): never {
  const message = `Chat "${chatId}" is gone: the browser lost it. Write it again from what is known of it.`;
  refuse('chat-missing', message, { chatId, asOf, epoch: stored ? stored.epoch + 1 : 0 });
}

function refuseAnother(chatId: string): never {
  const message = `The browser lost chat "${chatId}", and another tab wrote it again. Add what is known of it first.`;
  refuse('chat-missing', message, { chatId, reason: 'another' });
}

/**
 * Whether a chat is not the one that a caller knows, but was written again behind a loss: perhaps by one who knew nothing of
 * those that were deleted before.
 */
function isAnother(stored: Chat | undefined, { epoch, chatCreatedAt }: AppendOptions): boolean {
  if (!stored || !isLive(stored) || chatCreatedAt === undefined) return false;
  return stored.createdAt !== chatCreatedAt && stored.epoch <= epoch;
}

/** Whether a message was created at this moment, where that is asked: another one of its id was at another. */
function isFrom({ createdAt }: NodeInfo | MessageNode, moment: number | undefined): boolean {
  return moment === undefined || moment === createdAt;
}

function messageNotFound(id: string): never {
  return refuse('message-not-found', `Message "${id}" not found`, { id });
}

function notFound(kind: 'branch' | 'checkpoint', id: string, chatId: string): never {
  return refuse(`${kind}-not-found`, `${titleOf(kind)} "${id}" not found in chat "${chatId}"`, {
    [kind]: id,
    chatId,
  });
}

function nameTaken(kind: 'branch' | 'checkpoint', name: string, chatId: string): never {
  const message = `${titleOf(kind)} "${name}" exists already in this chat. Choose another name.`;
  return refuse('name-taken', message, { name, chatId });
}

function titleOf(kind: 'branch' | 'checkpoint'): string {
  return kind === 'branch' ? 'Branch' : 'Checkpoint';
}

function refuseHead(branch: Branch, { expected }: HeadOp): never {
  const { name, headMessageId: actual } = branch;
  const message = isLive(branch)
    ? `Branch "${name}" has moved on: its head is "${actual}", not "${expected}". Read it again and repeat.`
    : `Branch "${name}" was deleted meanwhile. Write to another one.`;
  return refuse('head-moved', message, { branch: name, expected, actual });
}
