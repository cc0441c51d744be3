import { isVisible, type Branch, type Checkpoint, type NodeInfo } from './graph.ts';

/** A chat's graph as plain data: previews instead of bodies, names instead of ids where people read them. */
export interface GraphData {
  readonly chatId: string;
  /** In the order in which they were written. */
  readonly nodes: readonly GraphNode[];
  readonly branches: readonly {
    readonly name: string;
    readonly headMessageId: string | null;
    readonly isActive: boolean;
  }[];
  readonly checkpoints: readonly { readonly name: string; readonly messageId: string }[];
}

/** One message of a {@link GraphData}. */
export interface GraphNode {
  readonly id: string;
  readonly parentId: string | null;
  /** `user`, `assistant` or `system`. */
  readonly role: string;
  /** The first 50 characters of its text. */
  readonly content: string;
  /** Milliseconds since epoch. */
  readonly createdAt: number;
}

/**
 * Records of a chat as a graph of previews: live branches and checkpoints only. A message that does not show (an
 * answer that is reserved, or ended without a word) is left out, and what hangs on it hangs on the message before it.
 */
export function graphData(
  chatId: string,
  nodes: Iterable<NodeInfo>,
  branches: Iterable<Branch>,
  checkpoints: Iterable<Checkpoint>,
  activeBranchId: string | undefined,
): GraphData {
  const all = [...nodes].toSorted((a, b) => a.seq - b.seq);
  const hidden = new Map(all.filter((node) => !isVisible(node)).map(({ id, parentId }) => [id, parentId]));
  const visible = (id: string | null): string | null => {
    let at = id;
    while (at !== null && hidden.has(at)) at = hidden.get(at) ?? null;
    return at;
  };
  return {
    chatId,
    nodes: all
      .filter(({ id }) => !hidden.has(id))
      .map(({ id, parentId, name, preview, createdAt }) => {
        return { id, parentId: visible(parentId), role: name, content: preview, createdAt };
      }),
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

/**
 * A chat's graph as text: one line per message, children indented under their parent, branch heads and checkpoints
 * marked. Works on any size: nothing recurses.
 */
export function visualizeGraph(graph: GraphData): string {
  const title = `[chat: ${graph.chatId}]`;
  if (graph.nodes.length === 0) return `${title}\n\n(empty)`;
  const lines = treeLines(graph);
  return [title, '', ...lines, '', 'Legend: * = active branch, {...} = checkpoint'].join('\n');
}

interface Visit {
  readonly node: GraphNode;
  readonly prefix: string;
  readonly isRoot: boolean;
  readonly isLast: boolean;
}

function treeLines(graph: GraphData): string[] {
  const children = childrenByParent(graph.nodes);
  const marks = marksByMessage(graph);
  const lines: string[] = [];
  const open: Visit[] = visits(children.get(null) ?? [], '', true);
  for (let visit = open.pop(); visit; visit = open.pop()) {
    const { node, prefix, isRoot, isLast } = visit;
    const stem = isRoot ? '' : prefix + (isLast ? '└── ' : '├── ');
    lines.push(`${stem}${describe(node)}${marks.get(node.id) ?? ''}`);
    const below = isRoot ? '' : prefix + (isLast ? '    ' : '│   ');
    open.push(...visits(children.get(node.id) ?? [], below, false));
  }
  return lines;
}

function childrenByParent(nodes: readonly GraphNode[]): Map<string | null, GraphNode[]> {
  const children = new Map<string | null, GraphNode[]>();
  for (const node of nodes) {
    const list = children.get(node.parentId);
    if (list) list.push(node);
    else children.set(node.parentId, [node]);
  }
  return children;
}

/** The visits of these nodes, last first, as a stack wants them. */
function visits(nodes: readonly GraphNode[], prefix: string, isRoot: boolean): Visit[] {
  return nodes.map((node, i) => ({ node, prefix, isRoot, isLast: i === nodes.length - 1 })).toReversed();
}

function describe({ id, role, content }: GraphNode): string {
  return `${id.slice(0, 8)} (${role}): "${content.replaceAll('\n', ' ')}"`;
}

function marksByMessage({ branches, checkpoints }: GraphData): Map<string, string> {
  const names = new Map<string, { heads: string[]; checkpoints: string[] }>();
  const at = (id: string): { heads: string[]; checkpoints: string[] } => {
    const entry = names.get(id) ?? { heads: [], checkpoints: [] };
    names.set(id, entry);
    return entry;
  };
  for (const branch of branches) {
    if (branch.headMessageId !== null)
      at(branch.headMessageId).heads.push(branch.name + (branch.isActive ? ' *' : ''));
  }
  for (const { name, messageId } of checkpoints) at(messageId).checkpoints.push(name);
  const marks = new Map<string, string>();
  for (const [id, entry] of names) {
    const heads = entry.heads.length > 0 ? ` <- [${entry.heads.join(', ')}]` : '';
    const cps = entry.checkpoints.length > 0 ? ` {${entry.checkpoints.join(', ')}}` : '';
    marks.set(id, heads + cps);
  }
  return marks;
}
