import type { UIMessage } from 'ai';
import { ContextEngine } from '../../src/engine/engine.ts';
import type { ContextEngineOptions } from '../../src/engine/options.ts';
import { Replica } from '../../src/engine/replica.ts';
import { assistant, user } from '../../src/fragment/message.ts';
import {
  findKey,
  type EndsRecord,
  type MessageRecord,
  type MessageStatus,
  sumOfBody,
} from '../../src/graph/graph.ts';
import { markId } from '../../src/graph/marks.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import type { ContextStore } from '../../src/store/store.ts';

/** An engine on chat `c` of user `u`, in memory unless a store is given. */
export function engineOn(
  store: ContextStore = new InMemoryContextStore(),
  options: Partial<ContextEngineOptions> = {},
): ContextEngine {
  return new ContextEngine({ chatId: 'c', userId: 'u', store, ...options });
}

/** A message with one text; its role follows the first letter of its id: q for questions, a for answers. */
export function said(id: string, text: string = id): UIMessage {
  return { id, role: id.startsWith('a') ? 'assistant' : 'user', parts: [{ type: 'text', text }] };
}

/** Sets messages with these ids (and texts like `q1=other words`), and saves them. */
export async function say(engine: ContextEngine, ...words: readonly string[]): Promise<string | undefined> {
  for (const word of words) {
    const [id = '', text = id] = word.split('=');
    const message = said(id, text);
    engine.set(message.role === 'assistant' ? assistant(message) : user(message));
  }
  return (await engine.save()).headMessageId;
}

/** The texts of messages, in order. */
export function texts(messages: readonly UIMessage[]): string {
  return messages
    .map((message) => message.parts.map((part) => (part.type === 'text' ? part.text : part.type)).join(' '))
    .join(' > ');
}

/** The texts of the messages that an engine shows. */
export function shown({ state }: ContextEngine): string {
  return texts(state.getState().messages);
}

/** A chat in memory in which these messages were said, as `say` takes them. */
export async function chat(...words: readonly string[]): Promise<TestChat> {
  const store = new InMemoryContextStore();
  const engine = engineOn(store);
  await say(engine, ...words);
  return { store, engine, shown: () => shown(engine), branches: () => branchesIn(store) };
}

interface TestChat {
  readonly store: InMemoryContextStore;
  readonly engine: ContextEngine;
  /** The texts that the engine shows now. */
  readonly shown: () => string;
  /** The branches as the store has them now. */
  readonly branches: () => Promise<Record<string, string>>;
}

/** Each live branch with its messages, as the store has them. */
export async function branchesIn(store: ContextStore, chatId = 'c'): Promise<Record<string, string>> {
  const branches = await store.listBranches(chatId);
  const entries = branches.map(async ({ name, headKey }) => {
    const chain = headKey === null ? [] : await store.getMessageChain(chatId, headKey);
    return [name, texts(chain.map(({ data }) => data))] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

/** Where to put messages that no engine would write. */
export interface Place {
  /** The id of the message that they follow; the head of `main` without it. */
  readonly under?: string;
  /** The name of a new branch that ends with them. Default: they go on with `main`. */
  readonly branch?: string;
  readonly status?: MessageStatus;
}

/**
 * Writes messages directly to the store, past the engine's checks, into a chat that has a branch. Returns the last one's key.
 */
export async function put(
  store: ContextStore,
  chatId: string,
  messages: readonly UIMessage[],
  { under, branch, status = 'complete' }: Place = {},
): Promise<string> {
  const replica = new Replica();
  replica.absorb(await store.load(chatId));
  const { live } = replica.branches;
  const main = live.find(({ name }) => name === 'main') ?? live[0];
  const record = replica.chat.ends.get(main?.record ?? '') as EndsRecord;
  const { chat, userId } = { chat: record.chat, userId: (await store.getChat(chatId))?.userId ?? 'u' };
  let parent = under === undefined ? (main?.end ?? null) : (findKey(replica.chat, under, null) ?? null);
  const made: MessageRecord[] = [];
  for (const body of messages) {
    const version = { ...replica.version({ ...body, parts: [] }, 'complete', 1), status, body };
    const message = replica.message({ ...body, parts: [] }, { parent, chat }, status);
    made.push({ ...message, versions: [{ ...version, sum: sumOfBody(body), parts: body.parts.length }] });
    parent = message.key;
  }
  const end = { ...record, keys: [parent as string] };
  const fresh = { id: crypto.randomUUID(), at: replica.now(), createdAt: Date.now(), chat, keys: end.keys };
  const ends = branch === undefined ? end : fresh;
  const marks =
    branch === undefined ? [] : [replica.mark(markId.name(fresh.id, parent), { name: branch }, chat)];
  const { database, generation, seq: since } = replica;
  await store.commit(
    chatId,
    { messages: made, ends: [ends], marks },
    { userId, database, generation, since },
  );
  return parent as string;
}
