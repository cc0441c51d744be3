import type { UIMessage } from 'ai';
import { ContextError } from '../errors.ts';
import { Branches, type Way } from '../graph/branches.ts';
import {
  chainOf,
  findKey,
  holds,
  idOf,
  isGone,
  recordAt,
  type ChatValue,
  type MessageRecord,
  type MessageStatus,
  type GrowingOf,
} from '../graph/graph.ts';
import { createChat } from '../graph/join.ts';
import { checkpointsOf } from '../graph/marks.ts';
import { infoOf, reachableFrom } from '../graph/messages.ts';
import { graphData } from '../graph/graphData.ts';
import type { GraphData } from '../graph/visualize.ts';
import * as door from './door.ts';
import type { ChatRecords, Readable } from './store.ts';

/** Reading chats from a store without an engine. Each read loads the chat's records and derives its branches. */

/** One message of a chat. */
export interface MessageNode {
  readonly id: string;
  readonly key: string;
  readonly chatId: string;
  /** The id of its parent; null for a first message, and where the parent is not known. */
  readonly parentId: string | null;
  readonly parentKey: string | null;
  /** The role: `user`, `assistant` or `system`. */
  readonly name: string;
  readonly type: 'message';
  /** The message; a growing one as of its draft. Without parts while it has no content, or where the body was lost. */
  readonly data: UIMessage;
  /** ms since epoch. */
  readonly createdAt: number;
  readonly status: MessageStatus;
  /** Keys of further parents: the messages that a merge or a copy was made from. */
  readonly sources?: readonly string[];
  /** The number of its last change in the database. */
  readonly seq: number;
  /** How many messages its chain has, itself included: 1 for a first one. */
  readonly depth: number;
  /** An integer from 1 on that grows with each change. */
  readonly rev: number;
}

/** A branch of a chat. */
export interface BranchInfo {
  /** Derived: another tab's write may give the id to another branch. To find a branch again, keep its `headKey`. */
  readonly id: string;
  /** Unique among the live branches of the chat. */
  readonly name: string;
  readonly headMessageId: string | null;
  readonly headKey: string | null;
  /** Whether it is shown, or was shown last on this device. */
  readonly isActive: boolean;
  /** Messages from the first one to the head. */
  readonly messageCount: number;
  /** ms since epoch. */
  readonly createdAt: number;
}

/** A checkpoint of a chat. */
export interface CheckpointInfo {
  readonly id: string;
  readonly name: string;
  readonly messageId: string;
  readonly messageKey: string;
  /** ms since epoch. */
  readonly createdAt: number;
}

/** One message, by key or id; of several with one id the one on the branch shown last, else the newest. */
export async function getMessage(
  store: Readable,
  chatId: string,
  idOrKey: string,
): Promise<MessageNode | undefined> {
  door.expect('text', 'id', idOrKey);
  const read = await readChat(store, chatId);
  const key = findKey(read.chat, idOrKey, read.active?.head ?? null);
  const record = recordAt(read.chat, key);
  return record && !isGone(record) ? (await nodesOf(store, read, [record.key]))[0] : undefined;
}

/** The chain of the message with this key or id, oldest first; with `limit` only its last messages. */
export async function getMessageChain(
  store: Readable,
  chatId: string,
  idOrKey: string,
  options?: { readonly limit?: number },
): Promise<MessageNode[]> {
  door.expect('text', 'id', idOrKey);
  const { limit = Infinity } = door.readOptions(options, { limit: 'count?' });
  const read = await readChat(store, chatId);
  const key = findKey(read.chat, idOrKey, read.active?.head ?? null);
  return nodesOf(store, read, chainKeys(read.chat, key ?? null, limit));
}

/** The messages of the branch that this device showed last, oldest first. Rejects with `chat-missing` without a chat. */
export async function getMessages(store: Readable, chatId: string): Promise<MessageNode[]> {
  const read = await readChat(store, chatId);
  const { messages, ends, marks } = read.chat;
  if (messages.size + ends.size + marks.size === 0)
    throw new ContextError('chat-missing', `Chat "${chatId}" not found`, { details: { chatId } });
  return nodesOf(store, read, chainKeys(read.chat, read.active?.head ?? null, Infinity));
}

/** The live branches, in the order in which they were made. */
export async function listBranches(store: Readable, chatId: string): Promise<BranchInfo[]> {
  const { chat, live, active } = await readChat(store, chatId);
  return live.map((way) => {
    const head = recordAt(chat, way.head);
    return {
      id: way.id,
      name: way.name,
      headMessageId: head ? idOf(head) : null,
      headKey: way.head,
      isActive: way === active,
      messageCount: chainKeys(chat, way.head, Infinity).length,
      createdAt: way.createdAt,
    };
  });
}

/** The live checkpoints whose messages are known, newest first. */
export async function listCheckpoints(store: Readable, chatId: string): Promise<CheckpointInfo[]> {
  const { chat } = await readChat(store, chatId);
  const infos = checkpointsOf(chat).map(({ id, name, key, createdAt }): CheckpointInfo => ({
    id,
    name,
    messageId: idOf(recordAt(chat, key) as MessageRecord),
    messageKey: key,
    createdAt,
  }));
  return infos.toReversed();
}

/** The chat as a graph of previews; empty lists for an unknown chat. */
export async function getGraph(store: Readable, chatId: string): Promise<GraphData> {
  const { chat, live, active, growingOf } = await readChat(store, chatId);
  const branches = live.map((way) => ({ name: way.name, head: way.head, isActive: way === active }));
  return graphData(chatId, chat, { branches, checkpoints: checkpointsOf(chat) }, growingOf);
}

/** The keys of the messages on live branches. */
export function reachedBy(chat: ChatValue): ReadonlySet<string> {
  const heads = new Branches(chat).live.map(({ head }) => head);
  return reachableFrom(chat, heads);
}

/** A chat, read once. */
interface Read {
  readonly chatId: string;
  readonly chat: ChatValue;
  readonly live: readonly Way[];
  /** The branch shown last; undefined where the chat has none. */
  readonly active: Way | undefined;
  readonly growingOf: GrowingOf;
  /** The number of the database's last change when it was read. */
  readonly seq: number;
}

async function readChat(store: Readable, chatId: string): Promise<Read> {
  const records = await store.load(chatId);
  const chat = createChat(records);
  const { live } = new Branches(chat);
  const growing = new Map(records.growing.map((one) => [one.key, one]));
  const active = activeOf(chat, live, records);
  return { chatId, chat, live, active, growingOf: (key) => growing.get(key), seq: records.seq };
}

/** The live branch that holds the message shown last, preferably as its head; without one, the newest branch. */
function activeOf(chat: ChatValue, live: readonly Way[], { local }: ChatRecords): Way | undefined {
  const { used } = Object(local?.['view']) as { readonly used?: unknown };
  for (const key of (Array.isArray(used) ? used : []) as unknown[]) {
    if (typeof key !== 'string') continue;
    const passed = new Set<string>();
    const best =
      live.find(({ head }) => head === key) ?? live.findLast(({ end }) => holds(chat, end, key, passed));
    if (best) return best;
  }
  return live.at(-1);
}

/** The keys of a chain, without removed messages. */
function chainKeys(chat: ChatValue, head: string | null, limit: number): string[] {
  if (limit <= 0) return [];
  const keys = chainOf(chat, head).filter((key) => !isGone(recordAt(chat, key) as MessageRecord));
  return keys.slice(-limit);
}

async function nodesOf(store: Readable, read: Read, keys: readonly string[]): Promise<MessageNode[]> {
  const { chatId, chat, growingOf, seq: moment } = read;
  const records = keys.map((key) => recordAt(chat, key) as MessageRecord);
  const bodies = await store.bodies(chatId, keys, records);
  if (bodies.size < keys.length) {
    // A message that was growing when the chat was read may have ended before its body was read.
    const now = await readChat(store, chatId);
    if (now.seq !== moment && keys.every((key) => now.chat.messages.has(key)))
      return nodesOf(store, now, keys);
  }
  return records.map((record) => {
    const { preview: _preview, parts: _parts, seq = 0, ...info } = infoOf(chat, record, growingOf);
    const nothing = { id: info.id, role: record.role as UIMessage['role'], parts: [] };
    return { ...info, seq, chatId, data: bodies.get(record.key)?.message ?? nothing };
  });
}
