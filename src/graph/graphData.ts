import { isVisible, type Branch, type Checkpoint, type NodeInfo } from './graph.ts';
import type { GraphData, GraphNode } from './visualize.ts';

/**
 * Records of a chat as a graph of previews: live branches and checkpoints only. A message that does not show (an
 * answer that is reserved, or ended without a word) is left out, and what hangs on it hangs on the message before it.
 * A message that did not change is the same object each time.
 */
export function graphData(
  chatId: string,
  nodes: Iterable<NodeInfo>,
  branches: Iterable<Branch>,
  checkpoints: Iterable<Checkpoint>,
  activeBranchId: string | undefined,
): GraphData {
  const all = inOrder([...nodes]);
  // The message before each that does not show. What was written before it has its own here by then.
  const hidden = new Map<string | null, string | null>();
  const visible = (id: string | null): string | null => hidden.get(id) ?? (hidden.has(id) ? null : id);
  for (const node of all) if (!isVisible(node)) hidden.set(node.id, visible(node.parentId));
  const shown = hidden.size === 0 ? all : all.filter(({ id }) => !hidden.has(id));
  return {
    chatId,
    nodes: shown.map((node) => graphNode(node, visible(node.parentId))),
    branches: [...branches]
      .filter((branch) => branch.deletedAt === undefined)
      .map(({ id, name, headMessageId }) => ({
        name,
        headMessageId: visible(headMessageId),
        isActive: id === activeBranchId,
      })),
    checkpoints: [...checkpoints]
      .filter((checkpoint) => checkpoint.deletedAt === undefined)
      .map(({ name, messageId }) => ({ name, messageId })),
  };
}

/** In the order in which they were written, which they mostly are in. */
function inOrder(nodes: readonly NodeInfo[]): readonly NodeInfo[] {
  const isInOrder = nodes.every((node, i) => i === 0 || (nodes[i - 1]?.seq ?? 0) <= node.seq);
  return isInOrder ? nodes : nodes.toSorted((a, b) => a.seq - b.seq);
}

const graphNodes = new WeakMap<NodeInfo, GraphNode>();

function graphNode(info: NodeInfo, parentId: string | null): GraphNode {
  const known = graphNodes.get(info);
  if (known && known.parentId === parentId) return known;
  const { id, name: role, preview: content, createdAt } = info;
  const node = { id, parentId, role, content, createdAt };
  graphNodes.set(info, node);
  return node;
}
