import type { UIMessage } from 'ai';
import type { Branch, Chat, Checkpoint, MessageGraph, MessageNode, NodeInfo } from '../graph/graph.ts';
import {
  areTwo,
  byAge,
  contains,
  createGraph,
  dropNode,
  infoOf,
  isVisible,
  markChain,
  putNode,
  putNodes,
  reachable,
  siblingsOf,
} from '../graph/graph.ts';
import type { ChatRecords } from '../store/store.ts';
import { MEMORY } from './outbox.ts';
import { keepIfSame, sameItems } from './same.ts';
import { sameJson } from './sameJson.ts';
import { NO_VERSIONS } from './state.ts';
import { Unseen } from './unseen.ts';

/**
 * What one engine knows of its chat: the records as the store last told them, the bodies that were loaded, and, for
 * each branch, the head as this engine sees it.
 *
 * The last point is what two tabs turn on. A branch's stored head may be an answer that another tab is still writing.
 * This engine keeps showing the last settled message, and a turn that is sent here claims that message as its parent;
 * the store then sees that the branch has moved on and gives the turn a branch of its own. A view moves forward only
 * when the stored head is settled and nothing of ours is in flight on the branch.
 *
 * A streaming node that no tab holds any more was cut off by a reload or a crash. It reads as interrupted here at
 * once; the next write stores that. If it never said anything it is not shown at all.
 */
export class History {
  chat: Chat | undefined;
  readonly graph: MessageGraph = createGraph();
  readonly branches: Map<string, Branch> = new Map();
  readonly checkpoints: Map<string, Checkpoint> = new Map();
  readonly unseen: Unseen = new Unseen(this.graph);
  /** The change number up to which everything is known... */
  seq = 0;
  /** ...and the largest that was heard of: what is only kept in memory counts on from here. */
  lastSeq = 0;
  /** The `seq` that the next message of the chat gets. */
  nextSeq = 0;
  /** Grows when chains that were walked before are not true any more: a message got another parent, or came late. */
  moves = 0;
  /** Streaming nodes that nobody holds: to be stored as interrupted, or dropped, by the next write. */
  readonly abandoned: Set<string> = new Set();
  /** Streaming nodes that some other engine holds. */
  readonly foreign: Set<string> = new Set();
  readonly #views: Map<string, string | null> = new Map();
  readonly #bodies: Map<string, MessageNode> = new Map();
  /** Bodies that are not true any more; what replaces them may still say the same. */
  readonly #stale: Set<string> = new Set();
  readonly #versions: Map<string, Versions> = new Map();
  #reached: Set<string> | undefined;
  /** The branches that took the place of others, which may still be asked for. None leads back to where it came from. */
  readonly #successors: Map<string, string> = new Map();

  /**
   * Takes in records that the store read or wrote. Views stay where they are: {@link follow} moves them.
   * Returns the ids of messages whose words, status or place changed.
   */
  absorb(records: ChatRecords, busy: Busy): string[] {
    this.lastSeq = Math.max(this.lastSeq, records.seq);
    if (records.chat) this.chat = records.chat.deletedAt === undefined ? records.chat : undefined;
    const dropped = records.dropped.filter((id) => !busy.own.has(id));
    const changed = records.nodes.flatMap((info) => this.#changedTo(info, busy) ?? []);
    putNodes(this.graph, changed);
    for (const info of changed) this.unseen.note(info);
    if (dropped.length > 0) this.forget(dropped);
    for (const branch of records.branches) this.#absorbBranch(branch, busy.own);
    for (const checkpoint of records.checkpoints) this.checkpoints.set(checkpoint.id, checkpoint);
    return [...dropped, ...changed.map(({ id }) => id)];
  }

  /** What a message becomes in the graph; undefined where it stays as it is. */
  #changedTo(info: NodeInfo, { held, own }: Busy): NodeInfo | undefined {
    this.nextSeq = Math.max(this.nextSeq, info.seq + 1);
    const known = this.graph.nodes.get(info.id);
    // Another message, under the id of one that waits for the disk: they are told apart when that is written.
    if (known && own.has(info.id) && known.deviceId === MEMORY && known.createdAt !== info.createdAt)
      return undefined;
    const isLeft = info.status === 'streaming' && !own.has(info.id);
    mark(this.abandoned, info.id, isLeft && !held.has(info.id));
    mark(this.foreign, info.id, isLeft && held.has(info.id));
    const seen: NodeInfo = this.abandoned.has(info.id) ? { ...info, status: 'interrupted' } : info;
    // Its children came first: a turn of ours that was rebased onto what is read only now. No walk got past them.
    if (known ? known.parentId !== info.parentId : this.isFollowed(info.id)) this.#rearranged();
    // One that another tab had said under that id before a loss tells nothing of it.
    const isOwn = own.has(info.id) && !(known && areTwo(known, info));
    if (known && (isOwn ? info.rev <= known.rev : isSame(known, seen) && !this.#isMadeDo(info)))
      return moved(known, info);
    if (this.#bodies.has(info.id)) this.#stale.add(info.id);
    return seen;
  }

  /** Whether older words stand in for a message's, which were not there when they were asked for. They may be by now. */
  #isMadeDo({ id, rev }: NodeInfo): boolean {
    return (this.#bodies.get(id)?.rev ?? rev) < rev;
  }

  /** Chains that were walked before are not true any more, and neither is what they reached. */
  #rearranged(): void {
    this.moves += 1;
    this.unseen.countAnew();
    this.#recount();
  }

  /** Messages are gone: they were reserved, and nothing was ever said. Whoever looked at one looks at its parent. */
  forget(ids: readonly string[]): void {
    const gone = new Set<string | null>(ids);
    for (const [branchId, view] of this.#views) {
      let at = view;
      while (gone.has(at)) at = this.graph.nodes.get(at ?? '')?.parentId ?? null;
      if (at !== view) this.#views.set(branchId, at);
    }
    for (const id of ids) {
      dropNode(this.graph, id);
      this.#bodies.delete(id);
      this.abandoned.delete(id);
      this.foreign.delete(id);
    }
    this.unseen.forget(ids);
    this.#recount();
  }

  #absorbBranch(branch: Branch, own: Own): void {
    const before = this.branches.get(branch.id);
    this.branches.set(branch.id, branch);
    if (before?.deletedAt !== branch.deletedAt) this.#recount();
    if (!this.#views.has(branch.id))
      this.look(
        branch.id,
        this.#isOwnOrSettled(branch.headMessageId, own)
          ? branch.headMessageId
          : this.settledAt(branch.headMessageId),
      );
  }

  /**
   * Moves each view to its branch's head, where that is settled (or `own`) and the view is free to move.
   * Returns whether one moved.
   */
  follow(own: Own, isFree: (branchId: string) => boolean): boolean {
    let hasMoved = false;
    for (const { id, headMessageId } of this.branches.values()) {
      const head = this.#spoken(headMessageId);
      if (this.view(id) === head || !this.#isOwnOrSettled(head, own) || !isFree(id)) continue;
      this.look(id, head);
      hasMoved = true;
    }
    return hasMoved;
  }

  /**
   * Without the answers at the end of a chain that nobody writes any more and that never said anything. A head that is
   * not read yet (the answer to a write may tell of another tab's) stays what it is: nobody can look there so far.
   */
  #spoken(head: string | null): string | null {
    let info = this.graph.nodes.get(head ?? '');
    if (!info) return head;
    while (info && info.status !== 'streaming' && !isVisible(info))
      info = this.graph.nodes.get(info.parentId ?? '');
    return info?.id ?? null;
  }

  /**
   * What was said here under the id of another message `there` is a message of its own from now on, `ours`. What is `own` of
   * the messages behind it hangs on ours, and what is `moved` of the branches and checkpoints that end at it ends there.
   */
  setApart(ours: MessageNode, there: NodeInfo, own: Own, moved: Own): void {
    const { graph } = this;
    const kept = this.#bodies.get(there.id);
    // What waits for the disk may say more by now than it did first.
    const { data, status } = kept?.deviceId === MEMORY ? kept : ours;
    const behind = (graph.children.get(there.id) ?? []).filter((id) => own.has(id));
    const node = { ...ours, data: { ...data, id: ours.id }, status };
    this.#bodies.set(ours.id, node);
    this.#bodies.delete(there.id);
    this.#stale.delete(there.id);
    putNode(graph, infoOf(node));
    putNode(graph, there);
    this.unseen.note(there);
    for (const id of behind) putNode(graph, { ...(graph.nodes.get(id) as NodeInfo), parentId: ours.id });
    for (const [branchId, view] of this.#views)
      if (view === there.id && moved.has(branchId)) this.#views.set(branchId, ours.id);
    // Nobody else leads a branch that only this page has, nor one of a chat that was lost, where what waits for no disk stood.
    for (const [id, branch] of this.branches)
      if (branch.headMessageId === there.id && (branch.deviceId === MEMORY || ours.deviceId !== MEMORY)) {
        this.branches.set(id, { ...branch, headMessageId: ours.id });
        if (this.view(id) === there.id) this.#views.set(id, ours.id);
      }
    for (const [id, checkpoint] of this.checkpoints)
      if (checkpoint.messageId === there.id && moved.has(id))
        this.checkpoints.set(id, { ...checkpoint, messageId: ours.id });
    this.#rearranged();
  }

  /** An answer is not written here after all: one that streams under its id is another engine's. Returns whether one does. */
  leave(id: string): boolean {
    const info = this.graph.nodes.get(id);
    if (info?.status !== 'streaming' || this.abandoned.has(id)) return false;
    this.foreign.add(id);
    // As long as it has no words, only who writes it looks at it.
    if (!isVisible(info))
      for (const [branchId, view] of this.#views) if (view === id) this.look(branchId, this.settledAt(id));
    return true;
  }

  /** A deleted branch is none any more. */
  reviveBranch(branchId: string): void {
    const { deletedAt: _deleted, ...live } = this.branches.get(branchId) as Branch;
    this.branches.set(branchId, live);
    this.#recount();
  }

  /** A branch is gone: no store ever took it. */
  forgetBranch(id: string): void {
    this.branches.delete(id);
    this.#views.delete(id);
    this.#recount();
  }

  /** Forgets the branches and checkpoints that a chat which was written again has not; those that wait for the disk stay. */
  keepOnly({ branches, checkpoints }: ChatRecords, isWaiting: (branchId: string) => boolean): void {
    const there = new Set(branches.map(({ id }) => id));
    for (const { id, deviceId } of this.branches.values())
      if (!there.has(id) && deviceId !== MEMORY && !isWaiting(id)) this.forgetBranch(id);
    this.keepCheckpoints(new Set(checkpoints.map(({ id }) => id)));
  }

  /** Forgets the other checkpoints. */
  keepCheckpoints(there: ReadonlySet<string>): void {
    for (const id of this.checkpoints.keys()) if (!there.has(id)) this.checkpoints.delete(id);
  }

  /** A branch is used here: that is known before the store says when. */
  use(branchId: string): void {
    const branch = this.branches.get(branchId);
    if (branch) this.branches.set(branchId, { ...branch, usedSeq: (this.lastSeq += 1) });
  }

  /** Sees the head of a branch here from now on. */
  look(branchId: string, head: string | null): void {
    const before = this.view(branchId);
    this.#views.set(branchId, head);
    if (this.branches.get(branchId)?.deletedAt !== undefined || !this.#reached) return;
    if (before === null || contains(this.graph, head, before)) markChain(this.graph, this.#reached, head);
    else this.#recount();
  }

  /** Sees a branch as one does who comes now, where what was seen of it is on another one by now. */
  lookAgain(branchId: string): void {
    const head = this.branches.get(branchId)?.headMessageId ?? null;
    const seen = this.view(branchId);
    if (seen !== null && !contains(this.graph, head, seen)) this.look(branchId, this.settledAt(head));
  }

  #isOwnOrSettled(head: string | null, own: Own): boolean {
    return head === null || own.has(head) || this.#isSettled(head);
  }

  #isSettled(id: string): boolean {
    const info = this.graph.nodes.get(id);
    return info !== undefined && info.status !== 'streaming' && isVisible(info);
  }

  /** The last settled, visible message on the way from `id` to the root; null when there is none. */
  settledAt(id: string | null): string | null {
    let at = id;
    while (at !== null && !this.#isSettled(at)) at = this.graph.nodes.get(at)?.parentId ?? null;
    return at;
  }

  /** The last message on the way from `id` to the root whose words are here; null where there is none. */
  lastWithWords(id: string | null): string | null {
    let at = id;
    while (at !== null && !this.body(at)) at = this.graph.nodes.get(at)?.parentId ?? null;
    return at;
  }

  /** The head of a branch as this engine sees it. */
  view(branchId: string): string | null {
    return this.#views.get(branchId) ?? null;
  }

  /** Branches that are not deleted, in the order in which they were made. */
  liveBranches(): Branch[] {
    return byAge([...this.branches.values()].filter((branch) => branch.deletedAt === undefined));
  }

  /** The same with their heads as this engine sees them. */
  seenBranches(): Branch[] {
    return this.liveBranches().map((branch) => ({ ...branch, headMessageId: this.view(branch.id) }));
  }

  /** Checkpoints that are not deleted, newest first. */
  liveCheckpoints(): Checkpoint[] {
    const live = [...this.checkpoints.values()].filter((checkpoint) => checkpoint.deletedAt === undefined);
    return byAge(live).toReversed();
  }

  /** A live branch by its id, or else by its name, or else by the id that it had before. */
  findBranch(nameOrId: string): Branch | undefined {
    const byId = this.branches.get(nameOrId);
    if (byId && byId.deletedAt === undefined) return byId;
    const byName = this.liveBranches().find((branch) => branch.name === nameOrId);
    const successor = byId ? undefined : this.#successors.get(nameOrId);
    return byName ?? (successor === undefined ? undefined : this.findBranch(successor));
  }

  /** What was on a branch is on another one by now; or on the same one, where it was rebased. From there, nothing leads on. */
  lead(from: string, to: string): void {
    this.#successors.delete(to);
    if (from !== to) this.#successors.set(from, to);
  }

  /** A live checkpoint by its name, or else by its id. */
  findCheckpoint(nameOrId: string): Checkpoint | undefined {
    const live = this.liveCheckpoints();
    return live.find((checkpoint) => checkpoint.name === nameOrId) ?? live.find(({ id }) => id === nameOrId);
  }

  /** Every id that a live branch reaches. */
  reached(): ReadonlySet<string> {
    this.#reached ??= reachable(
      this.graph,
      this.liveBranches().map((branch) => this.view(branch.id)),
    );
    return this.#reached;
  }

  /** Counts anew what is reachable, after a branch or a message went. */
  #recount(): void {
    this.#reached = undefined;
  }

  /** The versions of a message and its place among them. The same object as long as nothing changed. */
  versions(id: string): Versions {
    const ids = siblingsOf(this.graph, this.reached(), id);
    const index = ids.indexOf(id);
    const known = this.#versions.get(id);
    if (known && known.index === index && sameItems(known.ids, ids)) return known;
    // One list for all of them: where there are thousands, each would keep thousands.
    const ofFirst = this.#versions.get(ids[0] ?? '')?.ids ?? ids;
    const versions = ids.length === 0 ? NO_VERSIONS : { index, ids: keepIfSame(ofFirst, ids) };
    this.#versions.set(id, versions);
    return versions;
  }

  /** The name that a fork beside the children of `parentId` is made from: the branch that holds the oldest of them. */
  forkBase(parentId: string | null, role: string, fallback: string): string {
    const branches = this.seenBranches();
    for (const id of this.graph.children.get(parentId) ?? []) {
      if (this.graph.nodes.get(id)?.name !== role || !this.reached().has(id)) continue;
      const passed = new Set<string>();
      const oldest = branches.find(({ headMessageId }) => contains(this.graph, headMessageId, id, passed));
      if (oldest) return oldest.name;
    }
    return fallback;
  }

  /** Whether some message hangs on this one. */
  isFollowed(id: string): boolean {
    return this.graph.children.has(id);
  }

  /** Whether something other than `branchId` points at a message: another branch, a checkpoint, or a child. */
  isShared(id: string, branchId: string): boolean {
    return (
      this.isFollowed(id) ||
      this.liveBranches().some(
        (branch) => branch.id !== branchId && (branch.headMessageId === id || this.view(branch.id) === id),
      ) ||
      this.liveCheckpoints().some((checkpoint) => checkpoint.messageId === id)
    );
  }

  /**
   * Keeps bodies that were loaded or written. A message that says what it said before stays the object that it is, so
   * that nobody renders it again.
   */
  keep(nodes: Iterable<MessageNode>): void {
    for (const node of nodes) {
      const known = this.#bodies.get(node.id);
      if (known && known.rev >= node.rev && !this.#stale.has(node.id)) continue;
      this.#bodies.set(
        node.id,
        known && sameJson(known.data, node.data) ? { ...node, data: known.data } : node,
      );
      this.#stale.delete(node.id);
    }
  }

  /**
   * Newer words of these were asked for: where there are none any more, those that are here stand. Without ids, they were
   * lost with the chat.
   */
  makeDo(ids: Iterable<string> = this.#stale): void {
    for (const id of ids) this.#stale.delete(id);
  }

  /** The body of a message, where it is loaded. */
  body(id: string): MessageNode | undefined {
    return this.#stale.has(id) ? undefined : this.#bodies.get(id);
  }

  /** A streaming message grew: its words, before they are stored. */
  grow(id: string, data: UIMessage): void {
    const info = this.graph.nodes.get(id);
    if (!info) return;
    const { preview: _preview, parts: _parts, ...rest } = info;
    const node: MessageNode = { ...rest, name: data.role, data };
    this.#bodies.set(id, node);
    this.#stale.delete(id);
    const grown = infoOf(node);
    putNode(this.graph, grown);
    this.unseen.note(grown);
  }

  /** Those of these ids whose bodies are not loaded. */
  missing(ids: readonly string[]): string[] {
    return ids.filter((id) => !this.body(id));
  }
}

/** Who is busy with which messages, when records are taken in. */
export interface Busy {
  /** Messages that some tab streams. */
  readonly held: ReadonlySet<string>;
  readonly own: Own;
}

/**
 * The messages on which an engine has the last word for now: those that it streams, or keeps for a store that refuses.
 * Their words here are newer than the records, as long as their revision is not.
 */
export interface Own {
  readonly has: (id: string) => boolean;
}

/**
 * Nothing is new about a message but, perhaps, its place: one that was kept in memory gets it when it is stored.
 * Undefined where that is the same, too.
 */
function moved(known: NodeInfo, info: NodeInfo): NodeInfo | undefined {
  const { parentId, depth, seq, createdAt, deviceId } = info;
  const stays = known.seq === seq && known.parentId === parentId && known.deviceId === deviceId;
  return stays ? undefined : { ...known, parentId, depth, seq, createdAt, deviceId };
}

/** The versions of a message, oldest first, and which of them it is. */
export interface Versions {
  /** Its place among them, from 0; -1 for an unknown message. */
  readonly index: number;
  readonly ids: readonly string[];
}

/** Thousands come with a chat, and mostly nobody is writing: then there is nothing to take any of them out of. */
function mark(set: Set<string>, id: string, on: boolean): void {
  if (on) set.add(id);
  else if (set.size > 0) set.delete(id);
}

function isSame(a: NodeInfo, b: NodeInfo): boolean {
  return a.rev === b.rev && a.status === b.status && a.parts === b.parts;
}
