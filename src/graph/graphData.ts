import {
  compareAt,
  eachRecord,
  idOf,
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
  const shown = (record: MessageRecord | undefined): MessageRecord | undefined => {
    let at = record;
    while (at && !isVisible(at, growingOf)) at = parentOf(chat, at);
    return at;
  };
  const shownId = (record: MessageRecord | undefined): string | null =>
    record ? idOf(record, growingOf) : null;
  const records = [...eachRecord(chat)].filter((record) => isVisible(record, growingOf));
  return {
    chatId,
    nodes: records.toSorted(compareAt).map((record) => {
      const parent = shown(parentOf(chat, record));
      const { id, key, name: role, preview: content, createdAt } = infoOf(chat, record, growingOf);
      const [parentId, parentKey] = [shownId(parent), parent?.key ?? null];
      const known = nodes.get(record);
      const isPlace = known?.id === id && known.parentId === parentId && known.parentKey === parentKey;
      if (isPlace && known.content === content) return known;
      const node = { id, key, parentId, parentKey, role, content, createdAt, at: record.at };
      nodes.set(record, node);
      return node;
    }),
    branches: branches.map(({ name, head, isActive }) => {
      const record = shown(recordAt(chat, head));
      return { name, headMessageId: shownId(record), headKey: record?.key ?? null, isActive };
    }),
    checkpoints: checkpoints.flatMap(({ name, key }) => {
      const record = recordAt(chat, key);
      return record ? [{ name, messageId: idOf(record, growingOf), messageKey: key }] : [];
    }),
  };
}

const nodes = new WeakMap<MessageRecord, GraphNode>();
