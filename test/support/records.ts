import {
  childrenOf,
  isCut,
  recordAt,
  shownVersion,
  upward,
  type ChatDelta,
  type ChatValue,
  type EndsRecord,
  type Mark,
  type MessageRecord,
  type Version,
} from '../../src/graph/graph.ts';
import { canonical, createChat, join, recordsOf } from '../../src/graph/join.ts';
import { markId } from '../../src/graph/marks.ts';
import { Branches, type Way } from '../../src/graph/branches.ts';

/**
 * Records of a chat in one line each. A key's first letter tells the role, as an id's does in `graph.ts`, and says the key
 * itself unless told otherwise; `at` is the number in it.
 */
export function said(
  key: string,
  parent: string | null,
  fields: Partial<MessageRecord & Version> = {},
): MessageRecord {
  const {
    rev = 1,
    by = 'a',
    status = 'complete',
    sum = key,
    gone,
    parts = sum === '' ? 0 : 1,
    body,
  } = fields;
  const {
    at = Number(key.replaceAll(/\D/g, '')),
    id = key,
    createdAt = at,
    chat = 'c',
    sources,
    seq,
  } = fields;
  const version = { rev, by, status, sum, parts, preview: fields.preview ?? sum };
  return {
    key,
    id,
    parent,
    role: /^[qu]/.test(key) ? 'user' : key.startsWith('s') ? 'system' : 'assistant',
    at,
    createdAt,
    chat,
    ...(sources && { sources }),
    ...(seq !== undefined && { seq }),
    versions: [{ ...version, ...(gone && { gone }), ...(body && { body }) }],
  };
}

/** A message that was reserved and that never said anything. */
export function reserved(
  key: string,
  parent: string | null,
  fields: Partial<MessageRecord & Version> = {},
): MessageRecord {
  return said(key, parent, { sum: '', status: 'streaming', ...fields });
}

/** Takes a reserved message back. */
export function takenBack(
  key: string,
  parent: string | null,
  fields: Partial<MessageRecord & Version> = {},
): MessageRecord {
  return said(key, parent, { sum: '', rev: 2, by: 'b', gone: true, ...fields });
}

export function endsOf(id: string, keys: readonly string[], at = 0): EndsRecord {
  return { id, at, createdAt: at, chat: 'c', keys };
}

export function named(
  record: string,
  key: string | null,
  name: string,
  fields: Partial<Mark> & { isOwn?: true } = {},
): Mark {
  const { rev = 1, by = 'a', isOwn } = fields;
  return { id: markId.name(record, key), rev, by, chat: 'c', value: { name, ...(isOwn && { isOwn }) } };
}

export function deleted(
  record: string,
  key: string | null,
  fields: Partial<Mark> & { on?: boolean; at?: number } = {},
): Mark {
  const { rev = 1, by = 'a', on = true, at = 0 } = fields;
  return { id: markId.deletion(record, key), rev, by, chat: 'c', value: { on, at } };
}

/** Some records: messages, ends of records by their ids (made in this order), marks. */
export function records(
  messages: readonly MessageRecord[],
  ends: Readonly<Record<string, readonly string[]>> = {},
  marks: readonly Mark[] = [],
): ChatDelta {
  return { messages, ends: Object.entries(ends).map(([id, keys], i) => endsOf(id, keys, i)), marks };
}

/** A chat of these records, joined in this order. */
export function joined(...deltas: readonly ChatDelta[]): ChatValue {
  const chat = createChat();
  for (const delta of deltas) join(chat, delta);
  return chat;
}

export function live(chat: ChatValue): readonly Way[] {
  return new Branches(chat).live;
}

/** All records of a chat as a text, which is the same for the same records in any order. */
export function told(chat: ChatValue): string {
  const sorted = <T>(map: ReadonlyMap<string, T>, told: (value: T) => unknown): unknown[] =>
    [...map].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([key, value]) => [key, told(value)]);
  const { messages } = recordsOf(chat);
  const parents = new Set(messages.map(({ parent }) => parent));
  return canonical([
    messages.toSorted((a, b) => (a.key < b.key ? -1 : 1)),
    sorted(chat.ends, (record) => ({ ...record, keys: unpassed(chat, record.keys) })),
    sorted(chat.marks, (mark) => mark),
    sorted(chat.messages, ({ depth }) => depth),
    [...parents]
      .toSorted((a, b) => ((a ?? '') < (b ?? '') ? -1 : 1))
      .map((key) => [key, childrenOf(chat, key).map(({ record }) => record.key)]),
    messages.flatMap((record) => (isCut(chat, record) ? record.key : [])).toSorted(),
  ]);
}

/** Ends that no other one stands behind: the others may be written down or not. */
function unpassed(chat: ChatValue, keys: readonly string[]): string[] {
  const passed = new Set(keys.flatMap((end) => [...upward(chat, end)].slice(1).map(({ key }) => key)));
  return keys.filter((key) => !passed.has(key)).toSorted();
}

/** The branches of a chat as a table: name, id, head. */
export function table(ways: readonly Way[]): unknown[] {
  return ways.map(({ name, id, head, end, at, isNamed, deleted: mark }) => [
    name,
    id,
    head,
    end,
    at,
    isNamed,
    mark?.id,
  ]);
}

/** What is shown of a message. */
export function shownIn(chat: ChatValue, key: string): string | undefined {
  const record = recordAt(chat, key);
  return record && shownVersion(record).sum;
}
