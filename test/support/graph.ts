import type { UIMessage } from 'ai';
import type { MessageGraph, MessageNode, MessageStatus } from '../../src/graph/graph.ts';
import { createGraph, infoOf } from '../../src/graph/graph.ts';
import type { AppendOptions, AppendResult, ContextStore, StoreOp } from '../../src/store/store.ts';

/**
 * Chats from one line per branch: `graph('q1 > a1', 'q1 > b1')` is a question with two answers. An id's first letter
 * tells the role (`q` and `u`: user, `s`: system, anything else: assistant), and its text is the id itself unless said
 * otherwise.
 */
export interface BuiltGraph {
  readonly graph: MessageGraph;
  /** In the order in which they are first named. */
  readonly nodes: readonly MessageNode[];
  readonly inserts: readonly StoreOp[];
  /** The last id of each path. */
  readonly heads: readonly string[];
}

export function graph(...paths: readonly string[]): BuiltGraph {
  const nodes = new Map<string, MessageNode>();
  const chains = paths.map((path) => path.split('>').map((id) => id.trim()));
  for (const chain of chains) for (const [i, id] of chain.entries()) addNode(nodes, id, chain[i - 1] ?? null);
  const all = [...nodes.values()];
  return {
    graph: createGraph(all.map(infoOf)),
    nodes: all,
    inserts: all.map((node) => insert(node.id, node.parentId)),
    heads: chains.map((chain) => chain.at(-1) ?? ''),
  };
}

function addNode(nodes: Map<string, MessageNode>, id: string, parentId: string | null): void {
  const known = nodes.get(id);
  if (known && known.parentId === parentId) return;
  if (known) throw new Error(`"${id}" has two parents in this picture`);
  nodes.set(id, node(id, { parentId, seq: nodes.size, depth: (nodes.get(parentId ?? '')?.depth ?? 0) + 1 }));
}

export function node(id: string, fields: Partial<MessageNode> = {}): MessageNode {
  const data = fields.data ?? message(id);
  return {
    id,
    chatId: 'c',
    parentId: null,
    name: data.role,
    type: 'message',
    data,
    createdAt: 1,
    status: 'complete',
    seq: 0,
    depth: 1,
    rev: 1,
    deviceId: 'device',
    v: 1,
    ...fields,
  };
}

export function message(id: string, text: string = id): UIMessage {
  return { id, role: roleOf(id), parts: text === '' ? [] : [{ type: 'text', text }] };
}

function roleOf(id: string): UIMessage['role'] {
  if (id.startsWith('q') || id.startsWith('u')) return 'user';
  return id.startsWith('s') ? 'system' : 'assistant';
}

/** A chain of `count` messages, `m0` to the last. */
export function line(count: number, from = 0): string {
  return Array.from({ length: count }, (_, i) => `m${from + i}`).join(' > ');
}

// --- Operations ----------------------------------------------------------------------------------------------------

export const me: AppendOptions = { userId: 'me', epoch: 0, mainBranchId: 'b-main' };

export function insert(
  id: string,
  parentId: string | null,
  text?: string,
  status: MessageStatus = 'complete',
): StoreOp {
  return { op: 'insert', id, parentId, data: message(id, text), status };
}

export function head(expected: string | null, messageId: string | null, branchId = me.mainBranchId): StoreOp {
  return { op: 'head', branchId, expected, messageId, forkId: `fork-${messageId}` };
}

/** Writes paths into a store: the first is `main`, each further one a branch `b-HEAD` named by the rule. */
export async function given(store: ContextStore, ...paths: readonly string[]): Promise<AppendResult> {
  return givenChat(store, 'c', ...paths);
}

export async function givenChat(
  store: ContextStore,
  chatId: string,
  ...paths: readonly string[]
): Promise<AppendResult> {
  const { inserts, heads } = graph(...paths);
  const [first, ...others] = heads;
  const branches = others.map((id): StoreOp => ({
    op: 'branch',
    id: `b-${id}`,
    base: 'main',
    messageId: id,
  }));
  return store.append(chatId, [...inserts, head(null, first ?? null), ...branches], me);
}

/** A turn behind `parent`: one message, and the head moved onto it. */
export function turn(id: string, parent: string | null, branchId?: string): StoreOp[] {
  return [insert(id, parent), head(parent, id, branchId)];
}
