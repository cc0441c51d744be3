import { compareAt, grownVersion, idOf, isVisible, NO_GROWTH, recordAt, shows } from './graph.ts';
import type { ChatValue, GrowingOf, LinkedMessage } from './graph.ts';
import { keepIfSame } from './same.ts';
import type { GraphData, GraphNode } from './visualize.ts';

/** The branches and checkpoints of a graph. */
export interface GraphPointers {
  /** Live branches under their shown names. */
  readonly branches: readonly {
    readonly name: string;
    readonly head: string | null;
    readonly isActive: boolean;
  }[];
  /** Live checkpoints, by the keys of their messages. */
  readonly checkpoints: readonly { readonly name: string; readonly key: string }[];
}

/** A chat as a graph of previews. Checkpoints at unknown messages are left out. */
export function graphData(
  chatId: string,
  chat: ChatValue,
  { branches, checkpoints }: GraphPointers,
  growingOf: GrowingOf = NO_GROWTH,
  nodes: readonly GraphNode[] = graphNodes(chat, growingOf),
): GraphData {
  return {
    chatId,
    nodes,
    branches: branches.map(({ name, head, isActive }) => {
      const record = nearestShown(chat.messages.get(head ?? ''), growingOf)?.record;
      const headMessageId = record ? idOf(record, growingOf) : null;
      return { name, headMessageId, headKey: record?.key ?? null, isActive };
    }),
    checkpoints: checkpoints.flatMap(({ name, key }) => {
      const record = recordAt(chat, key);
      return record ? [{ name, messageId: idOf(record, growingOf), messageKey: key }] : [];
    }),
  };
}

/**
 * The messages of a chat in the order in which they were written, with those of deleted branches. A message that does not show
 * (a reserved or removed answer) is left out, and its children are linked to its parent. A message that is equal among the
 * nodes of an earlier call, given as `before`, is the same object; if all are, the list is.
 *
 * One pass over linked messages, nearly all of which were read in their order: nothing is sorted or looked up for them.
 */
export function graphNodes(
  { messages }: ChatValue,
  growingOf: GrowingOf,
  before: readonly GraphNode[] = [],
): readonly GraphNode[] {
  const sorted = (): LinkedMessage[] =>
    [...messages.values()].toSorted((a, b) => compareAt(a.record, b.record));
  const nodes = nodesOf(messages.values(), growingOf, before) ?? nodesOf(sorted(), growingOf, before) ?? [];
  return keepIfSame(before, nodes);
}

/** The nodes of messages in their order; undefined where they are not. */
function nodesOf(
  messages: Iterable<LinkedMessage>,
  growingOf: GrowingOf,
  before: readonly GraphNode[],
): readonly GraphNode[] | undefined {
  const nodes: GraphNode[] = [];
  let last: LinkedMessage | undefined;
  let next = 0;
  for (const message of messages) {
    const { record } = message;
    const version = grownVersion(record, growingOf);
    if (!shows(version)) continue;
    if (last && compareAt(last.record, record) > 0) return undefined;
    const { id = record.id, preview } = version;
    const parent = message.parent === last ? last : nearestShown(message.parent, growingOf);
    const parentId = parent ? idOf(parent.record, growingOf) : null;
    const parentKey = parent?.record.key ?? null;
    let known = before[next];
    while (known && compareAt(known, record) < 0) known = before[(next += 1)];
    if (
      known?.key === record.key &&
      known.at === record.at &&
      known.createdAt === record.createdAt &&
      known.role === record.role &&
      known.id === id &&
      known.content === preview &&
      known.parentKey === parentKey &&
      known.parentId === parentId
    ) {
      nodes.push(known);
      next += 1;
    } else {
      const { key, role, createdAt, at } = record;
      nodes.push({ id, key, parentId, parentKey, role, content: preview, createdAt, at });
    }
    last = message;
  }
  return nodes;
}

/** The message itself, or the nearest one before it that shows. */
function nearestShown(message: LinkedMessage | undefined, growingOf: GrowingOf): LinkedMessage | undefined {
  let at = message;
  while (at && !isVisible(at.record, growingOf)) at = at.parent;
  return at;
}
