import { createId } from '../fragment/id.ts';
import { chainIds, type Branch, type Chat, type MessageNode } from '../graph/graph.ts';
import type { ChatRecords, StoreOp } from '../store/store.ts';
import type { History } from './history.ts';
import { MEMORY } from './outbox.ts';

/**
 * A chat that the browser lost under the open page, as operations that write it again as far as it is here: its branches
 * under their ids and names, the messages that have their words, the checkpoints at these, its title and its metadata. A
 * message whose words nobody has is passed over, and what followed it follows the one before. What waits for the disk is
 * left out: it comes by itself.
 *
 * `first` is the id of the branch that the chat begins with; undefined where no branch is known.
 */
export function writtenAgain(
  history: History,
  chat: Chat | undefined,
  insertOf: (node: MessageNode) => Extract<StoreOp, { readonly op: 'insert' }>,
): { readonly ops: readonly StoreOp[]; readonly first: string | undefined } {
  const ops: StoreOp[] = [];
  const put = placing(history, (node, parentId) => ops.push({ ...insertOf(node), parentId }));
  const [first, ...others] = history.liveBranches().filter(({ deviceId }) => deviceId !== MEMORY);
  if (!first) return { ops, first };
  ops.push(...begin(first, put(history.view(first.id))));
  for (const { id, name } of others) ops.push({ op: 'branch', id, name, messageId: put(history.view(id)) });
  const { title = null, metadata, activeBranchId } = { ...chat };
  if (others.some(({ id }) => id === activeBranchId))
    ops.push({ op: 'use', branchId: activeBranchId as string });
  for (const { id, name, messageId } of history.liveCheckpoints().toReversed())
    if (put(messageId) === messageId) ops.push({ op: 'checkpoint', id, name, messageId });
  ops.push({ op: 'chat', title, ...(metadata ? { metadata } : {}) });
  return { ops, first: first.id };
}

/**
 * What is here of a chat that another tab has written again, and that tab had not: the ends of branches, behind messages
 * that are there by now. A branch that ends elsewhere by now gets one beside it.
 */
export function writtenBeside(
  history: History,
  { nodes, branches }: ChatRecords,
  insertOf: (node: MessageNode) => Extract<StoreOp, { readonly op: 'insert' }>,
): readonly StoreOp[] {
  const there = new Set(nodes.map(({ id }) => id));
  const written = new Set(there);
  const ends = new Map(branches.map((branch) => [branch.id, branch]));
  const ops: StoreOp[] = [];
  for (const { id, name, deviceId } of history.liveBranches()) {
    const chain = deviceId === MEMORY ? [] : chainIds(history.graph, history.view(id));
    const from = chain.findLastIndex((one) => there.has(one)) + 1;
    const before = chain[from - 1] ?? null;
    let last = before;
    for (const one of chain.slice(from)) {
      const node = history.graph.nodes.get(one)?.deviceId === MEMORY ? undefined : history.body(one);
      if (node && !written.has(one)) ops.push({ ...insertOf(node), parentId: last });
      if (node) written.add((last = one));
    }
    if (last === before) continue;
    const end = ends.get(id);
    const isEnd = end && end.deletedAt === undefined && end.headMessageId === before;
    ops.push(
      isEnd
        ? { op: 'head', branchId: id, expected: before, messageId: last, forkId: createId() }
        : { op: 'branch', id: end ? createId() : id, base: name, messageId: last },
    );
  }
  return ops;
}

/** The branch that is there with a new chat gets its place and its name. */
function begin({ id, name }: Branch, messageId: string | null): StoreOp[] {
  return [
    { op: 'head', branchId: id, expected: null, messageId, forkId: createId() },
    { op: 'rename-branch', id, name },
  ];
}

/** Puts all messages on the way to one, each once, and gives the last of them: that one, if its words are here. */
function placing(
  history: History,
  put: (node: MessageNode, parentId: string | null) => void,
): (id: string | null) => string | null {
  const { nodes } = history.graph;
  /** The last message that was put on the way to each. */
  const lasts = new Map<string, string | null>();
  return (id) => {
    const way: string[] = [];
    for (let at = id; at !== null && !lasts.has(at); at = nodes.get(at)?.parentId ?? null) {
      // A ring ends where it began.
      lasts.set(at, null);
      way.push(at);
    }
    let last = lasts.get(nodes.get(way.at(-1) ?? '')?.parentId ?? '') ?? null;
    for (const one of way.toReversed()) {
      const node = nodes.get(one)?.deviceId === MEMORY ? undefined : history.body(one);
      if (node) put(node, last);
      if (node) last = one;
      lasts.set(one, last);
    }
    return lasts.get(id ?? '') ?? null;
  };
}
