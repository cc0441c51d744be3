import {
  grownVersion,
  idOf,
  isGone,
  isVisible,
  NO_GROWTH,
  type GrowingOf,
  childrenOf,
  compareAt,
  depthOf,
  isCut,
  parentOf,
  recordAt,
  shownVersion,
  upward,
  type ChatValue,
  type LinkedMessage,
  type MessageRecord,
  type MessageStatus,
} from './graph.ts';

/** A message without its body, for lists, pagers and the graph. */
export interface NodeInfo {
  readonly id: string;
  readonly key: string;
  /** The id of its nearest ancestor that was not removed; null for a first message, and where that ancestor is not known. */
  readonly parentId: string | null;
  readonly parentKey: string | null;
  /** The role: `user`, `assistant` or `system`. */
  readonly name: string;
  readonly type: 'message';
  /** Milliseconds since epoch. */
  readonly createdAt: number;
  readonly status: MessageStatus;
  /** How many parts the message has; a growing one with its draft. One without parts may be reserved, and does not show. */
  readonly parts: number;
  /** The message's text on one line, at most 50 characters and then `...`; empty for messages without text. */
  readonly preview: string;
  /** How many messages its chain has, itself included: 1 for a first one. */
  readonly depth: number;
  /** An integer from 1 on that grows with each change. */
  readonly rev: number;
  /** The number of its last change in this database; absent for a message that only this page has. */
  readonly seq?: number;
  /** Keys of further parents: the messages that a merge or a copy was made from. */
  readonly sources?: readonly string[];
}

const infos = new WeakMap<MessageRecord, NodeInfo>();

/** The facts of a message; the same object while they are equal. `status`: where the caller knows better than the record. */
export function infoOf(
  chat: ChatValue,
  record: MessageRecord,
  growingOf: GrowingOf = NO_GROWTH,
  status: MessageStatus = shownVersion(record).status,
): NodeInfo {
  let parent = parentOf(chat, record);
  while (parent && isGone(parent)) parent = parentOf(chat, parent);
  const { id = record.id, parts, preview, rev } = grownVersion(record, growingOf);
  const { key, role: name, createdAt, seq, sources } = record;
  const [parentKey, depth] = [parent?.key ?? null, depthOf(chat, key)];
  const parentId = parent ? idOf(parent, growingOf) : null;
  const known = infos.get(record);
  const isPlace =
    known?.id === id && known.parentId === parentId && known.parentKey === parentKey && known.depth === depth;
  if (isPlace && known.parts === parts && known.preview === preview && known.status === status) return known;
  const info: NodeInfo = {
    id,
    key,
    parentId,
    parentKey,
    depth,
    name,
    type: 'message',
    createdAt,
    status,
    parts,
    preview,
    rev,
    ...(seq === undefined ? {} : { seq }),
    ...(sources ? { sources } : {}),
  };
  infos.set(record, info);
  return info;
}

/** A set of keys, or a `Reach`. */
export type Keys = Pick<ReadonlySet<string>, 'has'>;

/** The messages on the chains of some heads, by key. Visits each of them once. */
export function reachableFrom(chat: ChatValue, heads: Iterable<string | null>): Set<string> {
  const keys = new Set<string>();
  for (const head of heads)
    for (const { key } of upward(chat, head)) {
      if (keys.has(key)) break;
      keys.add(key);
    }
  return keys;
}

/** The keys of a message's versions, itself included: siblings of its role that show and are on a live branch, in their order. */
export function siblingsOf(
  chat: ChatValue,
  reached: Keys,
  key: string,
  growingOf: GrowingOf = NO_GROWTH,
): readonly string[] {
  const record = recordAt(chat, key);
  if (!record) return [];
  const siblings = childrenOf(chat, isCut(chat, record) ? null : record.parent);
  const ofRole = siblings.filter((other) => other.record.role === record.role);
  return versionsAmong(ofRole, reached, growingOf);
}

function versionsAmong(messages: readonly LinkedMessage[], reached: Keys, growingOf: GrowingOf): string[] {
  const shown = messages.filter(({ record }) => reached.has(record.key) && isVisible(record, growingOf));
  return shown.map(({ record }) => record.key);
}

/** A message with more than one continuation. */
export interface Fork {
  /** The id of that message; null where the ways differ from their first message on. */
  readonly parentId: string | null;
  readonly parentKey: string | null;
  /** The keys of the first message of each continuation, in the order of `(at, key)`. */
  readonly children: readonly string[];
}

/** The forks on live branches, in the order in which they were made. */
export function forksOf(chat: ChatValue, reached: Keys, growingOf: GrowingOf = NO_GROWTH): Fork[] {
  const forks: Fork[] = [];
  const add = (parentKey: string | null, messages: readonly LinkedMessage[]): void => {
    if (messages.length < 2) return;
    const children = versionsAmong(messages, reached, growingOf);
    const parent = recordAt(chat, parentKey);
    if (children.length > 1)
      forks.push({ parentId: parent ? idOf(parent, growingOf) : null, parentKey, children });
  };
  add(null, chat.first);
  for (const [key, messages] of chat.orphans) add(key, messages);
  for (const [key, { children }] of chat.messages) add(key, children);
  const second = ({ children }: Fork): MessageRecord => recordAt(chat, children[1]) as MessageRecord;
  return forks.toSorted((a, b) => compareAt(second(a), second(b)));
}
