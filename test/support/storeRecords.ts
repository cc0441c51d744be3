import type { UIMessage } from 'ai';
import {
  type ChatDelta,
  type EndsRecord,
  type Mark,
  type MessageRecord,
  type Version,
  previewOf,
  sumOfBody,
} from '../../src/graph/graph.ts';
import { markId } from '../../src/graph/marks.ts';
import type { CommitOptions, ContextStore, StoreDelta } from '../../src/store/store.ts';

/**
 * Records from few words. `told('q1 > a1', 'q1 > b1')` is a question with two answers, each at the end of a branch record
 * of its own, `main` and `r1`. The key of message `q1` is `key:q1`; an id's first letter tells the role (`q` and `u`: user,
 * `s`: system, anything else: assistant), and its text is the id itself unless said otherwise.
 */
function told(...paths: readonly string[]): ChatDelta {
  const messages = new Map<string, MessageRecord>();
  const ends = paths.map((path, i) => {
    const ids = path.split('>').map((id) => id.trim());
    for (const [j, id] of ids.entries())
      if (!messages.has(id)) messages.set(id, said(id, ids[j - 1] ?? null, { at: messages.size + 1 }));
    return endsOf(i === 0 ? 'main' : `r${i}`, [ids.at(-1) as string]);
  });
  return { messages: [...messages.values()], ends, marks: [] };
}

/** The records of a chat from its beginning, with its user. */
export function begun(userId: string, ...paths: readonly string[]): ChatDelta {
  const { messages, ends } = told(...paths);
  return { messages, ends, marks: [beginning(userId)] };
}

/** A message with its content and its parent's id. */
export function said(id: string, parent: string | null, fields: Partial<MessageRecord> = {}): MessageRecord {
  return {
    key: `key:${id}`,
    id,
    parent: parent === null ? null : `key:${parent}`,
    role: roleOf(id),
    at: 1,
    createdAt: 1000,
    chat: CHAT,
    versions: [words(id)],
    ...fields,
  };
}

/** The chat key of most chats here. */
export const CHAT = 'chat-1';

/** A version with content; with `status`, the same unless it is `streaming`. */
export function words(id: string, text: string = id, fields: Partial<Version> = {}): Version {
  return versionOf(message(id, text), fields);
}

export function versionOf(body: UIMessage, fields: Partial<Version> = {}): Version {
  const sum = sumOfBody(body);
  const [parts, preview] = [body.parts.length, previewOf(body)];
  return { rev: 1, by: 'tab-1', status: 'complete', sum, parts, preview, body, ...fields };
}

/** A version of a message without content yet. */
export const reserved: Version = { rev: 1, by: 'tab-1', status: 'streaming', sum: '', parts: 0, preview: '' };

export function message(id: string, text: string = id): UIMessage {
  return { id, role: roleOf(id), parts: [{ type: 'text', text }] };
}

function roleOf(id: string): UIMessage['role'] {
  if (id.startsWith('q') || id.startsWith('u')) return 'user';
  return id.startsWith('s') ? 'system' : 'assistant';
}

/** A branch record that ends at these messages, by id. */
export function endsOf(id: string, ends: readonly string[], fields: Partial<EndsRecord> = {}): EndsRecord {
  return { id, at: 1, createdAt: 1000, chat: CHAT, keys: ends.map((end) => `key:${end}`), ...fields };
}

export function mark(id: string, value: unknown, fields: Partial<Mark> = {}): Mark {
  return { id, rev: 1, by: 'tab-1', chat: CHAT, value, ...fields };
}

export function beginning(userId: string, chat: string = CHAT, createdAt: number = 1000): Mark {
  return mark(markId.beginning(chat), { userId, createdAt }, { chat });
}

/** A delta of these records alone. */
export function only(records: Partial<StoreDelta>): StoreDelta {
  return { messages: [], ends: [], marks: [], ...records };
}

/** One more message, at which a branch record ends. */
export function oneMore(
  id: string,
  parent: string | null,
  { record = 'main', ...fields }: Partial<MessageRecord> & { readonly record?: string } = {},
): StoreDelta {
  return only({ messages: [said(id, parent, fields)], ends: [endsOf(record, [id])] });
}

/** The same records under another chat key. */
export function underKey(chat: string, { messages, ends, marks }: ChatDelta): ChatDelta {
  const moved = <T>(records: readonly T[]): T[] => records.map((record) => ({ ...record, chat }));
  const isBeginning = ({ id }: Mark): boolean => id === markId.beginning(CHAT);
  return {
    messages: moved(messages),
    ends: moved(ends),
    marks: moved(marks).map((one) => (isBeginning(one) ? { ...one, id: markId.beginning(chat) } : one)),
  };
}

/** The options of a writer that has never read the database. */
export const me: CommitOptions = { userId: 'me', database: '', generation: 0, since: 0 };

/** The options of a writer that has just read the chat. */
export async function asRead(
  store: ContextStore,
  chatId: string = 'c',
  userId: string = 'me',
): Promise<CommitOptions> {
  const { database, generation, seq } = await store.load(chatId);
  return { userId, database, generation, since: seq };
}
