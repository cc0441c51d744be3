import type { UIMessage } from 'ai';
import type { Branch, Chat, Checkpoint, MessageGraph, MessageNode, NodeInfo } from '../graph/graph.ts';
import {
  contains,
  createGraph,
  dropNode,
  infoOf,
  isVisible,
  markChain,
  putNode,
  reachable,
  siblingsOf,
} from '../graph/graph.ts';
import type { ChatRecords } from '../store/store.ts';

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
  /** The change number up to which everything is known. */
  seq = 0;
  /** Streaming nodes that nobody holds: to be stored as interrupted, or dropped, by the next write. */
  readonly abandoned: Set<string> = new Set();
  /** Streaming nodes that some other engine holds. */
  readonly foreign: Set<string> = new Set();
  readonly #views: Map<string, string | null> = new Map();
  readonly #bodies: Map<string, MessageNode> = new Map();
  readonly #versions: Map<string, Versions> = new Map();
  #reached: Set<string> | undefined;

  /**
   * Takes in records that the store read or wrote.
   * `held`: nodes that some tab streams; `own`: nodes that this engine streams; `follow`: whether a branch's view may
   * move to a settled head. Returns the ids of nodes whose body or place changed.
   */
  absorb(records: ChatRecords, held: ReadonlySet<string>, own: ReadonlySet<string>, follow: (branchId: string) => boolean): string[] {
    if (records.chat) this.chat = records.chat.deletedAt === undefined ? records.chat : undefined;
    const changed = [...records.dropped, ...records.nodes.filter((info) => this.#absorbNode(info, held, own)).map((info) => info.id)];
    for (const id of records.dropped) this.#forget(id);
    for (const branch of records.branches) this.#absorbBranch(branch, own);
    this.#follow(own, follow);
    for (const checkpoint of records.checkpoints) this.checkpoints.set(checkpoint.id, checkpoint);
    return changed;
  }

  #absorbNode(info: NodeInfo, held: ReadonlySet<string>, own: ReadonlySet<string>): boolean {
    const streaming = info.status === 'streaming' && !own.has(info.id);
    this.#mark(this.abandoned, info.id, streaming && !held.has(info.id));
    this.#mark(this.foreign, info.id, streaming && held.has(info.id));
    const seen = this.abandoned.has(info.id) ? { ...info, status: 'interrupted' as const } : info;
    const known = this.graph.nodes.get(info.id);
    if (known && own.has(info.id) && known.rev === info.rev) return false;
    if (known && known.rev === seen.rev && known.status === seen.status && known.parts === seen.parts) return false;
    putNode(this.graph, seen);
    if (known?.rev !== seen.rev || streaming) this.#bodies.delete(info.id);
    return true;
  }

  #mark(set: Set<string>, id: string, on: boolean): void {
    if (on) set.add(id);
    else set.delete(id);
  }

  #forget(id: string): void {
    dropNode(this.graph, id);
    this.#bodies.delete(id);
    this.abandoned.delete(id);
    this.foreign.delete(id);
    this.#reached = undefined;
  }

  #absorbBranch(branch: Branch, own: ReadonlySet<string>): void {
    this.branches.set(branch.id, branch);
    const seen = this.#views.get(branch.id);
    const isLost = seen === undefined || (seen !== null && !this.graph.nodes.has(seen));
    if (isLost) this.#views.set(branch.id, this.#isOwnOrSettled(branch.headMessageId, own) ? branch.headMessageId : this.settledAt(branch.headMessageId));
    this.#reach(branch);
  }

  /** Moves each view to its branch's head, where that is settled (or ours) and the view is free to move. */
  #follow(own: ReadonlySet<string>, follow: (branchId: string) => boolean): void {
    for (const branch of this.branches.values()) {
      const head = branch.headMessageId;
      if (this.view(branch.id) === head || !this.#isOwnOrSettled(head, own) || !follow(branch.id)) continue;
      this.#views.set(branch.id, head);
      this.#reach(branch);
    }
  }

  #isOwnOrSettled(head: string | null, own: ReadonlySet<string>): boolean {
    return head === null || own.has(head) || this.#isSettled(head);
  }

  #reach(branch: Branch): void {
    const reached = this.#reached;
    if (!reached) return;
    const view = this.view(branch.id);
    if (branch.deletedAt !== undefined || (view !== null && !this.graph.nodes.has(view))) this.#reached = undefined;
    else markChain(this.graph, reached, view);
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

  /** The head of a branch as this engine sees it. */
  view(branchId: string): string | null {
    return this.#views.get(branchId) ?? null;
  }

  /** Branches that are not deleted, in the order in which they were made. */
  liveBranches(): Branch[] {
    return [...this.branches.values()].filter((branch) => branch.deletedAt === undefined).toSorted(byAge);
  }

  /** The same with their heads as this engine sees them. */
  seenBranches(): Branch[] {
    return this.liveBranches().map((branch) => ({ ...branch, headMessageId: this.view(branch.id) }));
  }

  /** Checkpoints that are not deleted, newest first. */
  liveCheckpoints(): Checkpoint[] {
    return [...this.checkpoints.values()]
      .filter((checkpoint) => checkpoint.deletedAt === undefined)
      .toSorted((a, b) => b.createdAt - a.createdAt || b.rev - a.rev);
  }

  /** A live branch by its id, or else by its name. */
  findBranch(nameOrId: string): Branch | undefined {
    const byId = this.branches.get(nameOrId);
    if (byId && byId.deletedAt === undefined) return byId;
    return this.liveBranches().find((branch) => branch.name === nameOrId);
  }

  /** A live checkpoint by its name, or else by its id. */
  findCheckpoint(nameOrId: string): Checkpoint | undefined {
    const live = this.liveCheckpoints();
    return live.find((checkpoint) => checkpoint.name === nameOrId) ?? live.find(({ id }) => id === nameOrId);
  }

  /** Every id that a live branch reaches. */
  reached(): ReadonlySet<string> {
    this.#reached ??= reachable(this.graph, this.liveBranches().map((branch) => this.view(branch.id)));
    return this.#reached;
  }

  /** Counts anew what is reachable, after branches came or went. */
  recount(): void {
    this.#reached = undefined;
  }

  /** The versions of a message and its place among them. The same object as long as nothing changed. */
  versions(id: string): Versions {
    const ids = siblingsOf(this.graph, this.reached(), id);
    const index = ids.indexOf(id);
    const known = this.#versions.get(id);
    if (known && known.index === index && sameItems(known.ids, ids)) return known;
    const versions = ids.length === 0 ? NO_VERSIONS : { index, ids };
    this.#versions.set(id, versions);
    return versions;
  }

  /** The name that a fork beside the children of `parentId` is made from: the branch that holds the oldest of them. */
  forkBase(parentId: string | null, role: string, fallback: string): string {
    for (const id of this.graph.children.get(parentId) ?? []) {
      if (this.graph.nodes.get(id)?.name !== role || !this.reached().has(id)) continue;
      const oldest = this.seenBranches().find((branch) => contains(this.graph, branch.headMessageId, id));
      if (oldest) return oldest.name;
    }
    return fallback;
  }

  /** Whether something other than `branchId` points at a message: another branch, a checkpoint, or a child. */
  isShared(id: string, branchId: string): boolean {
    return (
      (this.graph.children.get(id)?.length ?? 0) > 0 ||
      this.liveBranches().some((branch) => branch.id !== branchId && (branch.headMessageId === id || this.view(branch.id) === id)) ||
      this.liveCheckpoints().some((checkpoint) => checkpoint.messageId === id)
    );
  }

  /** Keeps bodies that were loaded or written. */
  keep(nodes: Iterable<MessageNode>): void {
    for (const node of nodes) this.#bodies.set(node.id, node);
  }

  /** The body of a message, where it is loaded. */
  body(id: string): MessageNode | undefined {
    return this.#bodies.get(id);
  }

  /** A streaming message grew: its words, before they are stored. */
  grow(id: string, data: UIMessage): void {
    const info = this.graph.nodes.get(id);
    if (!info) return;
    const { preview: _preview, parts: _parts, ...rest } = info;
    const node: MessageNode = { ...rest, data };
    this.#bodies.set(id, node);
    putNode(this.graph, infoOf(node));
  }

  /** Ids on the way to `head` whose bodies are not loaded, oldest first. */
  missing(ids: readonly string[]): string[] {
    return ids.filter((id) => !this.#bodies.has(id));
  }

  /** The last message on the way from `id` to the root that shows; null when there is none. */
  visibleAt(id: string | null): string | null {
    let at = id === null ? undefined : this.graph.nodes.get(id);
    while (at && !isVisible(at)) at = at.parentId === null ? undefined : this.graph.nodes.get(at.parentId);
    return at?.id ?? null;
  }
}

/** The versions of a message, oldest first, and which of them it is. */
export interface Versions {
  /** Its place among them, from 0; -1 for an unknown message. */
  readonly index: number;
  readonly ids: readonly string[];
}

const NO_VERSIONS: Versions = { index: -1, ids: [] };

/** Whether two lists hold the same things in the same order. */
export function sameItems(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((item, i) => item === b[i]);
}

function byAge(a: Branch, b: Branch): number {
  return a.createdAt - b.createdAt;
}
