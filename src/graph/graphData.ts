import {
  compareAt,
  parentOf,
  type ChatValue,
  type MessageRecord,
  isVisible,
  type GrowingOf,
} from './graph.ts';
import { infoOf } from './messages.ts';
import type { GraphData, GraphNode } from './visualize.ts';

/** What points at messages, as a graph shows it. */
export interface GraphPointers {
  /** Live branches under the names by which they are shown. */
  readonly branches: readonly {
    readonly name: string;
    readonly head: string | null;
    readonly isActive: boolean;
  }[];
  /** Live checkpoints, by the keys of their messages. */
  readonly checkpoints: readonly { readonly name: string; readonly key: string }[];
}

/**
 * A chat as a graph of previews, what only deleted branches hold included. A message that does not show (an answer that is
 * reserved, or was taken back) is left out, and what hangs on it hangs on the message before it. A message that did not
 * change is the same object each time. Checkpoints at messages that are not known are left out.
 */
export function graphData(
  chatId: string,
  chat: ChatValue,
  { branches, checkpoints }: GraphPointers,
  growingOf?: GrowingOf,
): GraphData {
  const shown = shownFrom(chat, growingOf);
  const records = [...chat.messages.values()].filter((record) => isVisible(record, growingOf));
  const before = (record: MessageRecord): MessageRecord | undefined =>
    shown(parentOf(chat, record)?.key ?? null);
  return {
    chatId,
    nodes: records.toSorted(compareAt).map((record) => graphNode(chat, record, before(record), growingOf)),
    branches: branches.map(({ name, head, isActive }) => {
      const record = shown(head);
      return { name, headMessageId: record?.id ?? null, headKey: record?.key ?? null, isActive };
    }),
    checkpoints: checkpoints.flatMap(({ name, key }) => {
      const record = chat.messages.get(key);
      return record ? [{ name, messageId: record.id, messageKey: key }] : [];
    }),
  };
}

/** The message that stands for another one: itself, or the first one before it that shows. Looks at each message once. */
function shownFrom(
  chat: ChatValue,
  growingOf?: GrowingOf,
): (key: string | null) => MessageRecord | undefined {
  const known = new Map<string, MessageRecord | undefined>();
  return (key) => {
    const passed: string[] = [];
    let at = chat.messages.get(key ?? '');
    for (; at && !isVisible(at, growingOf); at = parentOf(chat, at)) {
      if (known.has(at.key)) {
        at = known.get(at.key);
        break;
      }
      passed.push(at.key);
    }
    for (const one of passed) known.set(one, at);
    return at;
  };
}

/** Nodes of messages that do not grow: their records say all of it. */
const graphNodes = new WeakMap<MessageRecord, GraphNode>();

function graphNode(
  chat: ChatValue,
  record: MessageRecord,
  parent: MessageRecord | undefined,
  growingOf?: GrowingOf,
): GraphNode {
  const known = graphNodes.get(record);
  const parentKey = parent?.key ?? null;
  const isGrowing = growingOf?.(record.key) !== undefined;
  if (known && !isGrowing && known.parentKey === parentKey) return known;
  const { id, key, name: role, preview: content, createdAt } = infoOf(chat, record, growingOf);
  const { at } = record;
  const node = { id, key, parentId: parent?.id ?? null, parentKey, role, content, createdAt, at };
  if (!isGrowing) graphNodes.set(record, node);
  return node;
}
