import { compareAt, grownVersion, idOf, isVisible, NO_GROWTH, recordAt } from './graph.ts';
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
 * One pass: in a chat of 100,000 nearly every message follows the one before it, so that its parent is the message just seen
 * and needs no look-up.
 */
export function graphNodes(
  chat: ChatValue,
  growingOf: GrowingOf,
  before: readonly GraphNode[] = [],
): readonly GraphNode[] {
  const nodes: GraphNode[] = [];
  let last: LinkedMessage | undefined;
  let next = 0;
  for (const message of inOrder(chat, growingOf)) {
    const { record } = message;
    const { id = record.id, preview } = grownVersion(record, growingOf);
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
  return keepIfSame(before, nodes);
}

/** The messages that show, in the order of `(at, key)`, in which most chats are read. */
function inOrder({ messages }: ChatValue, growingOf: GrowingOf): LinkedMessage[] {
  const shown: LinkedMessage[] = [];
  let isOrdered = true;
  for (const message of messages.values()) {
    if (!isVisible(message.record, growingOf)) continue;
    isOrdered &&= (shown.at(-1)?.record.at ?? -1) < message.record.at;
    shown.push(message);
  }
  return isOrdered ? shown : shown.toSorted((a, b) => compareAt(a.record, b.record));
}

/** The message itself, or the nearest one before it that shows. */
function nearestShown(message: LinkedMessage | undefined, growingOf: GrowingOf): LinkedMessage | undefined {
  let at = message;
  while (at && !isVisible(at.record, growingOf)) at = at.parent;
  return at;
}
