import type { UIMessage } from 'ai';
import { ContextError, reasonOf } from '../errors.ts';
import {
  chainIds,
  contains,
  isVisible,
  lastUsedWith,
  type Branch,
  type Checkpoint,
  type MessageGraph,
  type MessageNode,
  type NodeInfo,
} from '../graph/graph.ts';
import type { BranchInfo, CheckpointInfo } from '../store/store.ts';
import type { Desk } from './desk.ts';
import { Elsewhere } from './elsewhere.ts';
import type { History, Own } from './history.ts';
import { keepIfSame } from './same.ts';
import { sameJson } from './sameJson.ts';
import type { EngineState } from './state.ts';

/** How many messages of a chain are loaded at first, and by each `loadMore()`. */
export const PAGE = 200;

/** How many messages of other branches are read ahead: about a megabyte. */
const AHEAD = 1000;

/**
 * What is shown of a chat: one branch, up to its head or to a message checked out, and of that chain the last messages.
 *
 * The chain is kept as a list of ids. The next head is usually a descendant of the last one; then only what is new is
 * walked, and only what is new is loaded. What was loaded further up stays loaded while the two chains share it.
 */
export class View {
  /** The branch shown. */
  activeId: string;
  /** The message checked out, when it is not the head of its branch. */
  at: string | null = null;
  /** Grows with each change of the graph. */
  revision = 0;
  readonly #desk: Desk;
  readonly #history: History;
  readonly #own: () => Own;
  readonly #mayFollow: (branchId: string) => boolean;
  readonly #elsewhere: Elsewhere;
  /** The ids of the active chain, root first, and the index of the first one that is loaded. */
  #shown: Shown = { head: null, ids: [], from: 0, moves: 0 };
  /** Those of the chain whose words are nowhere. */
  #lost: ReadonlySet<string> = new Set();

  constructor(
    desk: Desk,
    history: History,
    session: {
      readonly own: () => Own;
      /** Whether the view of a branch may move with another tab's turn. */
      readonly mayFollow: (branchId: string) => boolean;
    },
  ) {
    this.activeId = desk.mainBranchId;
    this.#desk = desk;
    this.#history = history;
    this.#elsewhere = new Elsewhere(desk, history);
    this.#own = session.own;
    this.#mayFollow = session.mayFollow;
  }

  /** How many messages of the chain are loaded. */
  get loadedCount(): number {
    return this.#shown.ids.length - this.#shown.from;
  }

  /** The branch shown; `main`, to be, in a chat that nothing was saved to. */
  active(): Pick<Branch, 'id' | 'name'> {
    return this.#history.branches.get(this.activeId) ?? { id: this.activeId, name: 'main' };
  }

  /** Shows a branch, up to its head or to `at`, with its last messages loaded. Where they can't be read the view stays. */
  async show(branchId: string, at: string | null = null): Promise<void> {
    await this.foresee(branchId, at);
    await this.open(branchId, at);
  }

  /** Shows a branch, up to its head or to `at`: as soon as its words are here. */
  async open(branchId: string, at: string | null = null): Promise<void> {
    this.activeId = branchId;
    this.at = at;
    await this.refresh();
  }

  /** Goes on showing a message: where its branch leads elsewhere by now, on the one used last that holds it. */
  stayWith(id: string | null): void {
    const history = this.#history;
    const to = history.liveBranches().map((branch) => {
      return this.#mayFollow(branch.id) ? branch : { ...branch, headMessageId: history.view(branch.id) };
    });
    const active = to.find((branch) => branch.id === this.activeId);
    if (id === null || (active && contains(history.graph, active.headMessageId, id))) return;
    this.activeId = lastUsedWith(history.graph, to, id)?.id ?? this.activeId;
  }

  /** Lets the views follow what is settled elsewhere, leaves a branch that is gone, and loads what is shown. */
  async refresh(): Promise<void> {
    const { activeId } = this;
    const seen = this.#history.view(activeId);
    if (this.#history.follow(this.#own(), (branchId) => this.#mayFollow(branchId))) this.revision += 1;
    if (this.#isAdrift && this.branchToOpen() !== activeId) return this.show(this.branchToOpen());
    if (this.at !== null && this.#isPassed(this.at)) this.at = null;
    const head = this.head();
    try {
      await this.loadShown(0);
    } catch (error) {
      // Nobody goes on from words that can't be read.
      this.#history.look(activeId, seen);
      throw error;
    }
    await this.look();
    // Another branch may be shown by now.
    if (this.activeId !== activeId || this.head() !== head) await this.refresh();
  }

  /** Looks at what another tab is writing here; not while a message before the head is checked out. */
  async look(): Promise<void> {
    if (this.at === null) await this.#elsewhere.read(this.activeId, this.head());
  }

  /** Whether the branch shown was deleted by another tab, or never came to be, because another tab made `main` first. */
  get #isAdrift(): boolean {
    const { chat, branches } = this.#history;
    const active = branches.get(this.activeId);
    return (
      chat !== undefined && (!active || active.deletedAt !== undefined) && this.#mayFollow(this.activeId)
    );
  }

  /** Whether a message checked out is no longer one before the head: it is the head by now, or it was taken back. */
  #isPassed(id: string): boolean {
    return this.#history.view(this.activeId) === id || !this.#history.graph.nodes.has(id);
  }

  /** The branch to show when none is, or no longer this one: the one shown last in any tab, or else the one used last. */
  branchToOpen(but?: string): string {
    const live = this.#history.liveBranches().filter(({ id }) => id !== but);
    const stored = this.#history.chat?.activeBranchId;
    const last = live.toSorted((a, b) => b.usedSeq - a.usedSeq)[0];
    return live.find((branch) => branch.id === stored)?.id ?? last?.id ?? this.#desk.mainBranchId;
  }

  /** The last message of a branch as it is seen here; of the branch shown, the one checked out if there is one. */
  headOf(branchId: string): string | null {
    return branchId === this.activeId ? this.head() : this.#history.view(branchId);
  }

  /** The last message shown; null when there is none. */
  head(): string | null {
    return this.at ?? this.#history.view(this.activeId);
  }

  /** Brings the shown chain up to date and loads its last messages: at least `count`, or as many as were loaded. */
  async loadShown(count: number): Promise<void> {
    const next = this.#next(this.head(), count);
    const ids = next.ids.slice(next.from);
    await this.loadBodies(ids);
    this.#shown = next;
    this.#lost = new Set(this.#history.missing(ids));
  }

  /** What is shown when the chain shown ends at `head`. */
  #next(head: string | null, count: number): Shown {
    const { ids, shared } = this.#chainTo(head);
    const kept = this.#shown.from < shared ? this.#shown.from : Math.max(0, ids.length - PAGE);
    let from = Math.min(kept, Math.max(0, ids.length - count));
    // Who asks for earlier ones gets some.
    while (this.#isUnseen(ids[from - 1])) from -= 1;
    return { head, ids, from, moves: this.#history.moves };
  }

  #isUnseen(id: string | null = null): boolean {
    const info = nodeAt(this.#history.graph, id);
    return info !== undefined && !isVisible(info);
  }

  /** The chain of a head, made from the shown one where they share a beginning. */
  #chainTo(head: string | null): Pick<Shown, 'ids'> & { readonly shared: number } {
    const { graph, moves } = this.#history;
    const { ids, head: before } = this.#shown;
    if (moves === this.#shown.moves)
      return head === before ? { ids, shared: ids.length } : withBeginning(ids, graph, head);
    const whole = chainIds(graph, head);
    let shared = 0;
    while (shared < whole.length && whole[shared] === ids[shared]) shared += 1;
    return { ids: whole, shared };
  }

  /** Loads those of these messages that are not. */
  async loadBodies(ids: readonly string[]): Promise<void> {
    const { nodes } = this.#history.graph;
    const missing = this.#history.missing(ids);
    if (missing.length === 0) return;
    const seqs = missing.flatMap((id) => nodes.get(id)?.seq ?? []);
    const found = await this.#desk.store.getNodes(this.#desk.chatId, missing, seqs);
    // Where the browser lost the chat, and another tab began it anew, an app that numbers its messages has others there.
    this.#history.keep(
      found.filter(({ id, createdAt }) => (nodes.get(id)?.createdAt ?? createdAt) === createdAt),
    );
    this.#history.makeDo(missing);
  }

  /** Loads what a branch would show, up to `at`. Returns whether all of it is here: words may be lost. */
  async foresee(branchId: string, at: string | null = null): Promise<boolean> {
    const { ids, from } = this.#next(at ?? this.#history.view(branchId), 0);
    const shown = ids.slice(from);
    await this.loadBodies(shown);
    return this.#history.missing(shown).length === 0;
  }

  /**
   * Reads what the branches used last would show, so that a switch to one of them finds it here. Others may write while
   * this is read: what was changed by then is left to whoever shows it. Gives the words that it has read.
   */
  async readAhead(): Promise<readonly UIMessage[]> {
    const { nodes } = this.#history.graph;
    const infos = this.#lacking();
    const ids = infos.map(({ id }) => id);
    if (ids.length === 0) return [];
    const seqs = infos.map(({ seq }) => seq);
    const read = await this.#desk.store.getNodes(this.#desk.chatId, ids, seqs);
    const isAsKnown = ({ id, rev, createdAt }: MessageNode): boolean => {
      const info = nodes.get(id);
      return info?.rev === rev && info.createdAt === createdAt;
    };
    const settled = read.filter((node) => isAsKnown(node) && node.status !== 'streaming');
    this.#history.keep(settled);
    return settled.map(({ data }) => data);
  }

  /** The ends of other branches, as far as they are not loaded. */
  #lacking(): NodeInfo[] {
    const lacking = new Map<string, NodeInfo>();
    for (const { headMessageId } of this.#history.seenBranches().toSorted((a, b) => b.usedSeq - a.usedSeq)) {
      for (const node of this.#lackingUpFrom(headMessageId)) lacking.set(node.id, node);
      if (lacking.size >= AHEAD) break;
    }
    return [...lacking.values()];
  }

  /** The last messages of a chain, from its head up to the first one that is loaded. */
  #lackingUpFrom(head: string | null): NodeInfo[] {
    const { graph } = this.#history;
    const lacking: NodeInfo[] = [];
    let node = nodeAt(graph, head);
    while (node && lacking.length < PAGE && !this.#history.body(node.id)) {
      lacking.push(node);
      node = nodeAt(graph, node.parentId);
    }
    return lacking;
  }

  /**
   * What the state says of the chat; what did not change keeps its identity. Nothing new while words of it are still to be
   * read: what was told last is whole.
   */
  slices(before: EngineState): Partial<EngineState> {
    const history = this.#history;
    const next = this.#next(this.head(), 0);
    const messages = this.#messagesOf(next);
    if (!messages) return {};
    this.#shown = next;
    const branches = history.seenBranches().map((branch) => this.#branchInfo(branch));
    const checkpoints = history.liveCheckpoints().map(checkpointInfo);
    return {
      chat: sameJson(before.chat, history.chat) ? before.chat : (history.chat ?? null),
      branch: this.active().name,
      branchId: this.activeId,
      headMessageId: this.head() ?? undefined,
      detached: this.at !== null,
      branches: keepIfSame(before.branches, reuse(before.branches, branches)),
      checkpoints: keepIfSame(before.checkpoints, reuse(before.checkpoints, checkpoints)),
      messages: keepIfSame(before.messages, messages),
      elsewhere: keepIfSame(before.elsewhere, this.#elsewhere.behind(this.activeId, this.head())),
      loadedFrom: next.from - history.unseen.upTo(next.ids[next.from - 1] ?? null),
      revision: this.revision,
    };
  }

  /** The messages of a chain that are seen; undefined while words of one are still to be read. */
  #messagesOf({ ids, from }: Shown): UIMessage[] | undefined {
    const { nodes } = this.#history.graph;
    const messages: UIMessage[] = [];
    for (const id of ids.slice(from)) {
      const info = nodes.get(id);
      if (!info || !isVisible(info)) continue;
      const body = this.#history.body(id);
      if (body) messages.push(body.data);
      else if (!this.#lost.has(id)) return undefined;
    }
    return messages;
  }

  #branchInfo(branch: Branch): BranchInfo {
    const { id, name, headMessageId, createdAt } = branch;
    const { depth = branch.messageCount, parentId = null } = nodeAt(this.#history.graph, headMessageId) ?? {};
    const messageCount = headMessageId === null ? 0 : depth - this.#history.unseen.upTo(parentId);
    return { id, name, headMessageId, isActive: id === this.activeId, messageCount, createdAt };
  }

  /** A branch as people are told of it. */
  infoOf(branchId: string): BranchInfo {
    const branch = this.#history.branches.get(branchId) as Branch;
    return this.#branchInfo({ ...branch, headMessageId: this.#history.view(branchId) });
  }

  /** What is known of a message. Throws `message-not-found`. */
  node(id: string): NodeInfo {
    const info = this.#history.graph.nodes.get(id);
    if (!info) throw messageNotFound(id);
    return info;
  }

  /** A branch by name or id; without, the one shown. Throws `branch-not-found`. */
  branchOrActive(nameOrId: string | undefined): Branch {
    if (nameOrId !== undefined && nameOrId !== this.activeId) return this.findBranch(nameOrId);
    const active = this.#history.branches.get(this.activeId);
    return active ?? ({ id: this.activeId, name: 'main', headMessageId: null } as Branch);
  }

  /** A live branch by name or id. Throws `branch-not-found`. */
  findBranch(nameOrId: string): Branch {
    const branch = this.#history.findBranch(nameOrId) ?? this.#mainInstead(nameOrId);
    if (branch) return branch;
    throw new ContextError(
      'branch-not-found',
      `Branch "${reasonOf(nameOrId)}" not found in chat "${this.#desk.chatId}"`,
      {
        details: { chatId: this.#desk.chatId, branch: nameOrId },
      },
    );
  }

  /** What stands for our own `main`, which never came to be where another tab made the chat first. */
  #mainInstead(id: string): Branch | undefined {
    const { branches } = this.#history;
    if (id !== this.#desk.mainBranchId || branches.has(id)) return undefined;
    return this.#history.findBranch('main') ?? branches.get(this.activeId);
  }

  /** A live checkpoint by name or id. Throws `checkpoint-not-found`. */
  findCheckpoint(name: string): Checkpoint {
    const checkpoint = this.#history.findCheckpoint(name);
    if (checkpoint) return checkpoint;
    throw new ContextError(
      'checkpoint-not-found',
      `Checkpoint "${reasonOf(name)}" not found in chat "${this.#desk.chatId}"`,
      {
        details: { chatId: this.#desk.chatId, checkpoint: name },
      },
    );
  }

  /** The branch used last that holds a message; the one shown where none does. */
  branchHolding(id: string): string {
    return lastUsedWith(this.#history.graph, this.#history.seenBranches(), id)?.id ?? this.activeId;
  }

  /** What a branch is called; without one, or for one that never came to be, what the one shown is. */
  branchName(id: string | undefined): string {
    return (id === undefined ? undefined : this.#history.branches.get(id)?.name) ?? this.active().name;
  }
}

/** The chain shown: all of its ids, root first, and the index of the first one that is loaded. */
interface Shown {
  readonly head: string | null;
  readonly ids: readonly string[];
  readonly from: number;
  /** The {@link History.moves} for which this is true. */
  readonly moves: number;
}

/**
 * The chain of a head, and how much of it another chain begins with. A message stands in every chain where its depth
 * says, so only what differs is walked; where damaged depths say something else, less is found to be shared.
 */
function withBeginning(
  other: readonly string[],
  graph: MessageGraph,
  head: string | null,
): Pick<Shown, 'ids'> & { readonly shared: number } {
  const added: string[] = [];
  for (let node = nodeAt(graph, head); node; node = nodeAt(graph, node.parentId)) {
    if (other[node.depth - 1] === node.id)
      return { ids: other.slice(0, node.depth).concat(added.toReversed()), shared: node.depth };
    added.push(node.id);
  }
  return { ids: added.toReversed(), shared: 0 };
}

function nodeAt({ nodes }: MessageGraph, id: string | null): NodeInfo | undefined {
  return id === null ? undefined : nodes.get(id);
}

/** What did not change stays the object that it was. Most stand where they stood before. */
function reuse<T extends { readonly id: string }>(known: readonly T[], next: readonly T[]): T[] {
  let byId: ReadonlyMap<string, T> | undefined;
  return next.map((one, i) => {
    const there = known[i];
    const old =
      there?.id === one.id ? there : (byId ??= new Map(known.map((other) => [other.id, other]))).get(one.id);
    return old && (Object.keys(one) as (keyof T)[]).every((key) => old[key] === one[key]) ? old : one;
  });
}

/** A checkpoint as people are told of it. */
export function checkpointInfo({ id, name, messageId, createdAt }: Checkpoint): CheckpointInfo {
  return { id, name, messageId, createdAt };
}

/** What is said of an id that this chat does not have. */
export function messageNotFound(id: string): ContextError {
  return new ContextError('message-not-found', `Message "${reasonOf(id)}" not found`, { details: { id } });
}
