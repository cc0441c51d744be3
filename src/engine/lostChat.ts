import type { UIMessage } from 'ai';
import { createId } from '../fragment/id.ts';
import {
  chainIds,
  lastUsedWith,
  markChain,
  reachable,
  type Branch,
  type Chat,
  type Checkpoint,
  type MessageNode,
  type NodeInfo,
} from '../graph/graph.ts';
import type { ChatRecords, OpNamed, StoreOp } from '../store/store.ts';
import type { History } from './history.ts';
import { MEMORY } from './outbox.ts';

/**
 * A chat that the browser lost under the open page, as operations that write it again as far as it is here: its branches
 * under their ids and names, the messages that have their words, the checkpoints at these, its title and its metadata. A
 * message whose words are not here keeps its place, where others are behind it; but for the first of a long chat, which then
 * begins with what followed them. What waits for the disk is left out: it comes by itself.
 *
 * `first` is the id of the branch that the chat begins with; undefined where no branch is known.
 */
export function writtenAgain(
  history: History,
  chat: Chat | undefined,
  insertOf: InsertOf,
): { readonly ops: readonly StoreOp[]; readonly first: string | undefined } {
  const ops: StoreOp[] = [];
  const put = placing(history, (node, parentId) => ops.push({ ...insertOf(node), parentId }));
  const [first, ...others] = history.liveBranches().filter(({ deviceId }) => deviceId !== MEMORY);
  if (!first) return { ops, first };
  const reached = new Set<string>();
  const putHead = (id: string): string | null => {
    const head = put(history.view(id));
    markChain(history.graph, reached, head);
    return head;
  };
  ops.push(...begin(first, putHead(first.id)));
  // Of two tabs one may have renamed a branch while the other gave its name to another one.
  for (const { id, name } of others) ops.push({ op: 'branch', id, name, base: name, messageId: putHead(id) });
  const { title = null, metadata, activeBranchId } = { ...chat };
  if (others.some(({ id }) => id === activeBranchId))
    ops.push({ op: 'use', branchId: activeBranchId as string });
  // What leads to words that nobody here has is not put for their sake: no branch would lead there.
  const checkpoints = history
    .liveCheckpoints()
    .filter(({ messageId }) => history.body(messageId) && put(messageId) === messageId);
  const depthOf = ({ messageId }: Checkpoint): number => history.graph.nodes.get(messageId)?.depth ?? 0;
  // The branch of one that stands further on holds those before it, too.
  for (const { messageId } of checkpoints.toSorted((a, b) => depthOf(b) - depthOf(a))) {
    if (reached.has(messageId)) continue;
    ops.push(...(deletedWith(history, messageId) ?? [besideBranch(first, messageId)]));
    markChain(history.graph, reached, messageId);
  }
  for (const { id, name, messageId } of checkpoints.toReversed())
    ops.push({ op: 'checkpoint', id, name, messageId });
  ops.push({ op: 'chat', title, ...(metadata ? { metadata } : {}) });
  return { ops, first: first.id };
}

/**
 * What is here of a chat that another tab has written again, and that tab had not: the ends of branches, behind messages
 * that are there by now, and checkpoints; of the `lost` chat its title and the fields of its metadata. Branches are as they
 * were `seen` here; one that ends elsewhere by now gets one beside it, and `beside` learns which. A message whose words are not
 * here keeps its place here, too: a tab that has them may come later.
 */
export function writtenBeside(
  history: History,
  { chat, nodes, branches, checkpoints }: ChatRecords,
  { lost, insertOf, seen, beside }: Here,
): readonly StoreOp[] {
  const there = new Map(nodes.map((info) => [info.id, info]));
  const written = new Set(there.keys());
  // Only a checkpoint may hold a message, where the page that wrote it saw it on no branch.
  const reached = reachable(
    { nodes: there },
    branches.map(({ headMessageId }) => headMessageId),
  );
  const ends = new Map(branches.map((branch) => [branch.id, branch]));
  // A new page that had nothing of the chat began it with one.
  const known = new Set(seen.map(({ id }) => id));
  const empty = branches.filter(({ id, headMessageId }) => headMessageId === null && !known.has(id));
  const free = new Map(empty.map((branch) => [branch.name, branch]));
  const ops: StoreOp[] = [];

  /** Puts what is lacking of a branch's chain, and gives the last of its messages that is there then. */
  const put = (branch: Branch, chain: readonly string[]): string | null => {
    let last: string | null = null;
    let isAside = false;
    let lacking: NodeInfo[] = [];
    for (const id of chain) {
      const known = history.graph.nodes.get(id);
      const node = known?.deviceId === MEMORY ? undefined : history.body(id);
      const info = there.get(id);
      if (info && node && isOlder(info, node)) {
        const { data, status } = insertOf(node);
        ops.push({ op: 'replace', id, data, status });
      }
      // That tab had what follows, and not these words: they stand beside it.
      if (info && isAside) ops.push(besideBranch(branch, last));
      const isNew = node !== undefined && !written.has(id);
      isAside = !info && (isAside || isNew);
      if (isNew)
        for (const one of [...placesOf(lacking, last), node]) {
          ops.push({ ...insertOf(one), parentId: last });
          written.add((last = one.id));
        }
      if (written.has(id)) [last, lacking] = [id, []];
      else if (known && known.deviceId !== MEMORY) lacking.push(known);
    }
    return last;
  };

  /** The branch there that stands for one: itself, the one beside it, or an empty one of its name. */
  const endOf = ({ id, name }: Branch): Branch | undefined => {
    // It came to nothing: others wrote at that moment.
    if (!ends.has(beside.get(id) ?? '')) beside.delete(id);
    const end = ends.get(beside.get(id) ?? id) ?? free.get(name);
    free.delete(name);
    return end;
  };

  for (const branch of seen) {
    const { id, name } = branch;
    const chain = writtenChain(history, branch, there);
    const last = put(branch, chain);
    const end = endOf(branch);
    const expected = end?.headMessageId ?? null;
    // It may end further up, at messages that are there all the same: by way of another branch, or of a third tab.
    const isBehind = end && end.deletedAt === undefined && (expected === null || chain.includes(expected));
    const before = isBehind ? expected : (chain.findLast((one) => reached.has(one)) ?? null);
    if (last === null || (end && last === before)) continue;
    const to = isBehind ? end.id : end ? besideOf(id, last) : id;
    ops.push(
      isBehind
        ? { op: 'head', branchId: to, expected, messageId: last, forkId: createId() }
        : { op: 'branch', id: to, name, base: name, messageId: last },
    );
    if (to !== id) beside.set(id, to);
  }
  const named = new Set(checkpoints.map(({ name }) => name));
  for (const { id, name, messageId } of history.liveCheckpoints().toReversed())
    if (written.has(messageId) && !named.has(name)) ops.push({ op: 'checkpoint', id, name, messageId });
  return [...ops, ...lackingIn(chat, lost)];
}

/** What is here of a chat. */
interface Here {
  /** The one that was lost; undefined where it is the one that is there. */
  readonly lost: Chat | undefined;
  readonly seen: readonly Branch[];
  readonly beside: Map<string, string>;
  readonly insertOf: InsertOf;
}

/** A message as it is to be written again. */
type InsertOf = (node: MessageNode) => OpNamed<'insert'>;

/** The chain of a branch, but for what waits for the disk: there another message may have its id. */
function writtenChain(
  { graph }: History,
  { headMessageId, deviceId }: Branch,
  there: ReadonlyMap<string, NodeInfo>,
): readonly string[] {
  if (deviceId === MEMORY) return [];
  return chainIds(graph, headMessageId).filter((id) => {
    const info = graph.nodes.get(id);
    return info?.deviceId !== MEMORY || info.createdAt === there.get(id)?.createdAt;
  });
}

/** The title and the fields of a lost chat that the one which is there has not. */
function lackingIn(chat: Chat | undefined, lost: Chat | undefined): StoreOp[] {
  const { title = lost?.title ?? null, metadata } = { ...chat };
  const fields = Object.entries(lost?.metadata ?? {}).filter(
    ([field]) => !Object.hasOwn(metadata ?? {}, field),
  );
  const isWhole = title === (chat?.title ?? null) && fields.length === 0;
  return isWhole ? [] : [{ op: 'chat', title, metadata: Object.fromEntries(fields) }];
}

function besideBranch({ id, name }: Pick<Branch, 'id' | 'name'>, last: string | null): StoreOp {
  return { op: 'branch', id: besideOf(id, last), base: name, messageId: last };
}

/** The id of a branch beside another one: the same in each tab that makes one up to that message. */
function besideOf(id: string, last: string | null): string {
  return `${id}:${last}`;
}

/**
 * A checkpoint may hold what is on a deleted branch only: that one is written again, and deleted. Undefined where no branch
 * had it: it may stand at what another tab was asked.
 */
function deletedWith({ branches, graph }: History, messageId: string): StoreOp[] | undefined {
  const deleted = [...branches.values()].filter(({ deletedAt }) => deletedAt !== undefined);
  const branch = lastUsedWith(graph, deleted, messageId);
  if (!branch) return undefined;
  const { id, name } = branch;
  return [
    { op: 'branch', id, name, base: name, messageId },
    { op: 'delete-branch', id },
  ];
}

/** The branch that is there with a new chat gets its place and its name. */
function begin({ id, name }: Branch, messageId: string | null): StoreOp[] {
  return [
    { op: 'head', branchId: id, expected: null, messageId, forkId: createId() },
    { op: 'rename-branch', id, name },
  ];
}

/** Whether what is there of a message is not the last that was said: or nothing, where a tab had none of its words. */
function isOlder({ rev, parts, status }: NodeInfo, { rev: newer, data }: MessageNode): boolean {
  return rev < newer || (parts === 0 && data.parts.length > 0 && status !== 'streaming');
}

/**
 * Puts all messages on the way to one, each once, and gives the last of them: that one, if its words are here. Before others a
 * message without words keeps its place, at a revision before all others: whoever has its words has newer ones. So do the
 * first of a chat, where they are few: who has read only the end of a long one does not write thousands that say nothing.
 */
function placing(
  history: History,
  put: (node: MessageNode, parentId: string | null) => void,
): (id: string | null) => string | null {
  const { nodes } = history.graph;
  /** The last message that was put on the way to each. */
  const lasts = new Map<string, string | null>();
  const parentOf = (id: string): string | null => nodes.get(id)?.parentId ?? null;
  const isPut = (id: string): boolean => lasts.get(id) === id;
  const place = (node: MessageNode, last: string | null): string => {
    put(node, last);
    lasts.set(node.id, node.id);
    return node.id;
  };
  const placeBefore = (id: string): string | null => {
    const lacking = new Set<string>();
    let last = parentOf(id);
    // A ring ends where it began.
    while (last !== null && !isPut(last) && !lacking.has(last)) {
      lacking.add(last);
      last = parentOf(last);
    }
    if (last !== null && !isPut(last)) return null;
    if (last === null && lacking.size > MOST_FIRST) return null;
    for (const one of [...lacking].toReversed()) {
      const info = nodes.get(one);
      if (info && info.deviceId !== MEMORY) last = place(wordless(info), last);
    }
    return last;
  };
  return (id) => {
    const way: string[] = [];
    for (let at = id; at !== null && !lasts.has(at); at = parentOf(at)) {
      lasts.set(at, null);
      way.push(at);
    }
    let last = lasts.get(parentOf(way.at(-1) ?? '') ?? '') ?? null;
    for (const one of way.toReversed()) {
      const node = nodes.get(one)?.deviceId === MEMORY ? undefined : history.body(one);
      if (node) last = place(node, placeBefore(one));
      else lasts.set(one, last);
    }
    return lasts.get(id ?? '') ?? null;
  };
}

/** What keeps the places of messages without words in a chain, behind the last one that is there. */
function placesOf(lacking: readonly NodeInfo[], last: string | null): readonly MessageNode[] {
  return last === null && lacking.length > MOST_FIRST ? [] : lacking.map(wordless);
}

/** So many messages without words may begin a chat that is written again. */
const MOST_FIRST = 64;

function wordless(info: NodeInfo): MessageNode {
  const { id, name } = info;
  return { ...info, data: { id, role: name as UIMessage['role'], parts: [] }, status: 'interrupted', rev: 0 };
}
