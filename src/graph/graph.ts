import type { UIMessage } from 'ai';

/**
 * The conversation as a graph: what is kept, and the questions one asks of it.
 *
 * A list of messages forgets. Edit one and the rest of the list is a lie; regenerate and the old answer is gone.
 * Here each message is a node that knows only its parent, and nothing that was said is ever moved or copied.
 * A conversation is then a walk from a head to the root; a branch is a name for a head; a fork is a second child.
 * "What did I say before I edited this?" becomes "who are the other children of this node's parent?".
 *
 * The parent edge is the only durable edge. Children, siblings, forks and depth are derived from it, in the order of
 * `seq`, a counter of the chat, because clocks of two tabs disagree and equal timestamps are common. All walks are
 * loops: a chat of 100,000 messages in a row is normal here, and a call stack is not that deep. And all of them end:
 * parents that a damaged disk has bent into a ring are cut apart when they come in, so that no walk need count its steps.
 *
 * Nodes, branches and checkpoints are values. The one thing that changes in place is the {@link MessageGraph} index
 * over them, lists of children included: an append costs the same at 10 messages and at 100,000, which no copied map
 * could promise. Only its owner (one engine, one store) writes to it, through `putNodes` and `dropNode`.
 */

/** Where a message is in its life: still growing, whole, or cut short (stopped, failed, reloaded). */
export type MessageStatus = 'complete' | 'streaming' | 'interrupted';

/** One message of a chat, as it is stored. Its identity is `(chatId, id)`. */
export interface MessageNode {
  readonly id: string;
  readonly chatId: string;
  /** The message before this one; null for a root. A chat may have several roots (an edited first question). */
  readonly parentId: string | null;
  /** The role: `user`, `assistant` or `system`. */
  readonly name: string;
  readonly type: 'message';
  /** The message itself; `data.id === id`. */
  readonly data: UIMessage;
  /** Milliseconds since epoch. */
  readonly createdAt: number;
  readonly status: MessageStatus;
  /** Further parents: what a merge or a cherry-pick was made from. */
  readonly sources?: readonly string[];
  /** Order within the chat: 0 for the first message ever written to it. */
  readonly seq: number;
  /** Messages from the root to this one, both included: 1 for a root. */
  readonly depth: number;
  /** 1 at first, one more with each change of body or status. */
  readonly rev: number;
  readonly deviceId: string;
  /** Format version of the record. */
  readonly v: number;
  /** Hash of the body, where a store keeps one. */
  readonly bodyHash?: string;
}

/** A node without its body: what lists, pagers and the graph view need. */
export interface NodeInfo extends Omit<MessageNode, 'data'> {
  /** The message's text on one line, at most 50 characters and then `...`; empty for messages without text. */
  readonly preview: string;
  /** How many parts the message has. A streaming node with none is reserved and not yet visible. */
  readonly parts: number;
}

/**
 * Whether two messages under one id are two: said at different times, with different words or behind different ones. An app
 * that numbers its messages gives two tabs the same ids, and begins anew where the browser has lost what was said.
 */
export function areTwo(a: Pick<NodeInfo, 'createdAt' | 'bodyHash' | 'parentId'>, b: typeof a): boolean {
  return a.createdAt !== b.createdAt && (a.bodyHash !== b.bodyHash || a.parentId !== b.parentId);
}

/** The id of a message where another one has its own: the same for whoever sets the two apart. */
export function idApart({ id, createdAt }: { readonly id: string; readonly createdAt: number }): string {
  return `${id}:${createdAt}`;
}

/** A named pointer to the end of a conversation. It moves as the conversation grows. */
export interface Branch {
  /** Stable; survives renaming. */
  readonly id: string;
  readonly chatId: string;
  /** Unique among the live branches of the chat. */
  readonly name: string;
  /** The last message; null while the branch is empty. */
  readonly headMessageId: string | null;
  /** Messages from the root to the head. */
  readonly messageCount: number;
  /** Milliseconds since epoch. */
  readonly createdAt: number;
  /** Milliseconds since epoch. */
  readonly updatedAt: number;
  /** The change sequence at which it was last shown or written: the largest is the one used last. */
  readonly usedSeq: number;
  /** The change sequence at which it was made. */
  readonly made?: number;
  readonly rev: number;
  readonly deviceId: string;
  /** Milliseconds since epoch; a branch with it is deleted, and can be brought back. */
  readonly deletedAt?: number;
}

/** A named pointer to a message, which never moves by itself. */
export interface Checkpoint {
  readonly id: string;
  readonly chatId: string;
  /** Unique among the live checkpoints of the chat. */
  readonly name: string;
  readonly messageId: string;
  /** Milliseconds since epoch. */
  readonly createdAt: number;
  /** The change sequence at which it was made, or moved. */
  readonly made?: number;
  readonly rev: number;
  readonly deletedAt?: number;
}

/** A chat: whose it is, what it is called, and where it was last shown. */
export interface Chat {
  readonly id: string;
  readonly userId: string;
  readonly title?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Milliseconds since epoch. */
  readonly createdAt: number;
  /** Milliseconds since epoch; moved by each save. */
  readonly updatedAt: number;
  /** The branch used last in any tab: where a new engine opens. Local to this device. */
  readonly activeBranchId: string;
  readonly rev: number;
  /** Messages in the chat, on all branches, reserved ones not counted. */
  readonly messageCount: number;
  /** Checkpoints in the chat, deleted ones too; absent where none was made since they are counted. */
  readonly checkpointCount?: number;
  /** By what ids usage was counted last: what is told again, because nobody answered, is counted once. */
  readonly usageIds?: readonly string[];
  /** The `seq` of the next message. */
  readonly nextSeq: number;
  /** How many chats with this id were deleted before this one: since the browser lost one, if it did. */
  readonly epoch: number;
  /** Milliseconds since epoch; what is left of a deleted chat is `{ id, userId, rev, epoch, deletedAt }`. */
  readonly deletedAt?: number;
}

/** Nodes by id, and the children of each, oldest first. Roots are the children of `null`. */
export interface MessageGraph {
  readonly nodes: ReadonlyMap<string, NodeInfo>;
  readonly children: ReadonlyMap<string | null, readonly string[]>;
}

interface WritableGraph extends MessageGraph {
  readonly nodes: Map<string, NodeInfo>;
  readonly children: Map<string | null, string[]>;
}

/** A graph of these nodes, given in any order. */
export function createGraph(infos: Iterable<NodeInfo> = []): MessageGraph {
  const graph: WritableGraph = { nodes: new Map(), children: new Map() };
  putNodes(graph, infos);
  return graph;
}

/**
 * Adds nodes, or replaces those with their ids. The place of each among its siblings follows `seq`. Rings are cut behind
 * the last one: until then, some may seem to close one.
 */
export function putNodes(graph: MessageGraph, infos: Iterable<NodeInfo>): void {
  const joined: NodeInfo[] = [];
  for (const info of infos) if (put(graph as WritableGraph, info)) joined.push(info);
  cutRings(graph, joined);
}

/** Adds a node, or replaces the one with its id. */
export function putNode(graph: MessageGraph, info: NodeInfo): void {
  putNodes(graph, [info]);
}

/** Puts a node. Returns whether that may have closed a ring: only a new parent can, of a message which something follows. */
function put(graph: WritableGraph, info: NodeInfo): boolean {
  const known = graph.nodes.get(info.id);
  const stays = known !== undefined && known.parentId === info.parentId && known.seq === info.seq;
  if (known && !stays) unlink(graph, known);
  graph.nodes.set(info.id, info);
  if (stays) return false;
  link(graph, info);
  return known?.parentId !== info.parentId && graph.children.has(info.id);
}

/** Lets the oldest message of each ring that these have closed be a first one. Goes each way towards a root once. */
function cutRings(graph: MessageGraph, joined: readonly NodeInfo[]): void {
  const passedOn = new Map<string, number>();
  for (const [walk, { id }] of joined.entries()) {
    let at = graph.nodes.get(id);
    for (; at && !passedOn.has(at.id); at = parentOf(graph, at)) passedOn.set(at.id, walk);
    if (at && passedOn.get(at.id) === walk) cutRing(graph, at);
  }
}

function cutRing(graph: MessageGraph, info: NodeInfo): void {
  let oldest = info;
  for (let at = parentOf(graph, info); at && at !== info; at = parentOf(graph, at))
    if (at.seq < oldest.seq) oldest = at;
  putNode(graph, { ...oldest, parentId: null });
}

function parentOf({ nodes }: MessageGraph, { parentId }: NodeInfo): NodeInfo | undefined {
  return parentId === null ? undefined : nodes.get(parentId);
}

/** Takes a node out again: one that was reserved and never spoken, or one that was never stored. */
export function dropNode(graph: MessageGraph, id: string): void {
  const known = graph.nodes.get(id);
  if (!known) return;
  unlink(graph as WritableGraph, known);
  (graph as WritableGraph).nodes.delete(id);
}

function link({ nodes, children }: WritableGraph, { id, parentId, seq }: NodeInfo): void {
  const siblings = children.get(parentId);
  if (siblings) siblings.splice(placeBehind(nodes, siblings, seq), 0, id);
  else children.set(parentId, [id]);
}

function unlink({ nodes, children }: WritableGraph, { id, parentId, seq }: NodeInfo): void {
  const siblings = children.get(parentId) ?? [];
  const at = siblings.lastIndexOf(id, placeBehind(nodes, siblings, seq));
  if (at >= 0) siblings.splice(at, 1);
  if (siblings.length === 0) children.delete(parentId);
}

/** The place behind all siblings up to this `seq`. Nearly every message comes last; for others it is halved towards. */
function placeBehind(nodes: ReadonlyMap<string, NodeInfo>, ids: readonly string[], seq: number): number {
  const isBehind = (at: number): boolean => (nodes.get(ids[at] as string)?.seq ?? 0) <= seq;
  let [from, to] = [0, ids.length];
  if (to > 0 && isBehind(to - 1)) return to;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (isBehind(middle)) from = middle + 1;
    else to = middle;
  }
  return to;
}

/**
 * The ids from the root to `headId`, both included; empty for null or an unknown head.
 * `from` stops the walk: that id and everything before it are left out.
 */
export function chainIds(graph: MessageGraph, headId: string | null, from: string | null = null): string[] {
  const ids: string[] = [];
  for (let id = headId; id !== null && id !== from;) {
    const node = graph.nodes.get(id);
    if (!node) break;
    ids.push(id);
    id = node.parentId;
  }
  return ids.toReversed();
}

/**
 * Whether `id` lies on the way from `headId` to the root. Costs the distance between them; of many heads, each message
 * between them is passed once, where all are asked with one set of those that were `passed` in vain.
 */
export function contains(
  graph: MessageGraph,
  headId: string | null,
  id: string,
  passed?: Set<string>,
): boolean {
  const target = graph.nodes.get(id);
  if (!target) return false;
  let at = headId === null ? undefined : graph.nodes.get(headId);
  while (at && at.depth > target.depth && !passed?.has(at.id)) {
    passed?.add(at.id);
    at = parentOf(graph, at);
  }
  return at?.id === id;
}

/** The last message that two heads have in common; null when they share none. */
export function commonAncestor(graph: MessageGraph, a: string | null, b: string | null): string | null {
  let left = a === null ? undefined : graph.nodes.get(a);
  let right = b === null ? undefined : graph.nodes.get(b);
  while (left && right && left.id !== right.id) {
    if (left.depth >= right.depth) left = parentOf(graph, left);
    else right = parentOf(graph, right);
  }
  return left && right ? left.id : null;
}

/** Branches or checkpoints in the order in which they were made: no clock is fine enough, or sure enough, to tell. */
export function byAge<T extends Branch | Checkpoint>(pointers: readonly T[]): T[] {
  return pointers.toSorted((a, b) => (a.made ?? 0) - (b.made ?? 0));
}

/** Whether a message shows: a node reserved for an answer that has said nothing yet does not. */
export function isVisible(info: Pick<NodeInfo, 'status' | 'parts'>): boolean {
  return info.parts > 0 || info.status === 'complete';
}

/** The ids that some branch reaches, given the heads of the live branches. Costs each reached node once. */
export function reachable(graph: Pick<MessageGraph, 'nodes'>, heads: Iterable<string | null>): Set<string> {
  const reached = new Set<string>();
  for (const head of heads) markChain(graph, reached, head);
  return reached;
}

/** Adds the chain of one more head to a set made by {@link reachable}. Stops at the first id that is in it already. */
export function markChain(
  graph: Pick<MessageGraph, 'nodes'>,
  reached: Set<string>,
  headId: string | null,
): void {
  for (let id = headId; id !== null && !reached.has(id);) {
    const node = graph.nodes.get(id);
    if (!node) return;
    reached.add(id);
    id = node.parentId;
  }
}

/** The versions of a message: visible children of its parent that a live branch reaches, itself included, oldest first. */
export function siblingsOf(graph: MessageGraph, reached: ReadonlySet<string>, id: string): readonly string[] {
  const node = graph.nodes.get(id);
  if (!node) return [];
  return versionsUnder(graph, reached, node.parentId).filter(
    (other) => graph.nodes.get(other)?.name === node.name,
  );
}

function versionsUnder(
  graph: MessageGraph,
  reached: ReadonlySet<string>,
  parentId: string | null,
): readonly string[] {
  return (graph.children.get(parentId) ?? []).filter((id) => {
    const info = graph.nodes.get(id);
    return info !== undefined && isVisible(info) && reached.has(id);
  });
}

/** A place where a conversation continues in more than one way. */
export interface Fork {
  /** The message after which the ways part; null where they differ from the first message on. */
  readonly parentId: string | null;
  /** The first message of each way, oldest first. */
  readonly children: readonly string[];
}

/** The forks of a chat that live branches reach, in the order in which they were made. */
export function forksOf(graph: MessageGraph, reached: ReadonlySet<string>): Fork[] {
  const forks: Fork[] = [];
  for (const parentId of graph.children.keys()) {
    const children = versionsUnder(graph, reached, parentId);
    if (children.length > 1) forks.push({ parentId, children });
  }
  const madeAt = (fork: Fork): number => graph.nodes.get(fork.children[1] as string)?.seq ?? 0;
  return forks.toSorted((a, b) => madeAt(a) - madeAt(b));
}

/** Of these branches, the one used last that holds `id`; undefined when none does. */
export function lastUsedWith(
  graph: MessageGraph,
  branches: readonly Branch[],
  id: string,
): Branch | undefined {
  const passed = new Set<string>();
  const lastUsedFirst = branches.toSorted((a, b) => b.usedSeq - a.usedSeq);
  return lastUsedFirst.find(({ headMessageId }) => contains(graph, headMessageId, id, passed));
}

/** The name of a new branch made from `base`: `base-vN`, N the smallest free number from 2 on, or from `first`. */
export function nextBranchName(
  base: string,
  taken: Iterable<string> | { readonly has: (name: string) => boolean },
  first: number = 2,
): string {
  const names = 'has' in taken ? taken : new Set(taken);
  let n = first;
  while (names.has(`${base}-v${n}`)) n += 1;
  return `${base}-v${n}`;
}

/** Names for many new branches: each is free, by the rule of {@link nextBranchName}, and `taken` from then on. */
export function freeNames(taken: Set<string>): (base: string) => string {
  const numbers = new Map<string, number>();
  return (base) => {
    const name = nextBranchName(base, taken, numbers.get(base));
    numbers.set(base, Number(name.slice(`${base}-v`.length)));
    taken.add(name);
    return name;
  };
}

const NO_METADATA = {};

/** The texts of a message, in order, joined by a space, as the person wrote them: without what reminders added. */
export function textOf(message: UIMessage): string {
  const texts = message.parts.map((part) =>
    part.type === 'text' ? (part as { text: string }).text : undefined,
  );
  const { reminders } = (message.metadata ?? NO_METADATA) as { reminders?: unknown };
  if (Array.isArray(reminders)) for (const mark of reminders.toReversed()) cutReminder(texts, mark);
  return texts.filter((text) => text !== undefined).join(' ');
}

/** Takes out what a mark in the metadata tells of, if that still stands there. */
function cutReminder(texts: (string | undefined)[], mark: unknown): void {
  const { partIndex, start, end, mode, text: words } = Object(mark) as Readonly<Record<string, unknown>>;
  if (typeof partIndex !== 'number' || typeof start !== 'number' || typeof end !== 'number') return;
  const text = texts[partIndex] ?? '';
  const said = text.slice(start, end);
  const isBare = mode === 'part' && said === words;
  if (!isBare && !/^\s*<system-reminder>[^]*<\/system-reminder>$/.test(said)) return;
  texts[partIndex] = mode === 'part' ? undefined : text.slice(0, start) + text.slice(end);
}

/** The first 50 characters of a message's own text on one line, for lists and graphs. No character is cut in two. */
export function previewOf(message: UIMessage): string {
  const text = textOf(message);
  const begin = text.slice(0, 50);
  // Mostly nothing is to be replaced, and to see that takes half as long as to do it.
  const start = /[^\S ]/.test(begin) ? begin.replaceAll(/[^\S ]/g, ' ') : begin;
  const isCut = start.charCodeAt(49) >> 10 === 0xd800 >> 10;
  return text.length > 50 ? `${isCut ? start.slice(0, 49) : start}...` : start;
}

/** A node without its body. An import makes thousands, and a rest pattern would take several times as long as this loop. */
export function infoOf(node: MessageNode): NodeInfo {
  const info: Record<string, unknown> = {};
  for (const field in node) if (field !== 'data') info[field] = node[field as keyof MessageNode];
  info['preview'] = previewOf(node.data);
  info['parts'] = node.data.parts.length;
  return info as unknown as NodeInfo;
}
