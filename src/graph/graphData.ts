import {
  compareAt,
  eachRecord,
  parentOf,
  recordAt,
  type ChatValue,
  type MessageRecord,
  isVisible,
  type GrowingOf,
} from './graph.ts';
import { infoOf } from './messages.ts';
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

/**
 * A chat as a graph of previews, with the messages of deleted branches. A message that does not show (a reserved or removed
 * answer) is left out, and its children are linked to its parent. An unchanged message is the same object each time.
 * Checkpoints at unknown messages are left out.
 */
export function graphData(
  chatId: string,
  chat: ChatValue,
  { branches, checkpoints }: GraphPointers,
  growingOf?: GrowingOf,
): GraphData {
  const shown = shownFrom(chat, growingOf);
  const records = [...eachRecord(chat)].filter((record) => isVisible(record, growingOf));
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
      const record = recordAt(chat, key);
      return record ? [{ name, messageId: record.id, messageKey: key }] : [];
    }),
  };
}

/** The message that is shown in place of another: itself, or its nearest ancestor that shows. Visits each message once. */
function shownFrom(
  chat: ChatValue,
  growingOf?: GrowingOf,
): (key: string | null) => MessageRecord | undefined {
  const known = new Map<string, MessageRecord | undefined>();
  return (key) => {
    const passed: string[] = [];
    let at = recordAt(chat, key);
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

/** Nodes of messages that do not grow: they depend on their records only. */
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
