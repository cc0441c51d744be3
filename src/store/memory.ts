import type { UIMessage } from 'ai';
import type { Branch, Chat, Checkpoint, MessageNode, NodeInfo } from '../graph/graph.ts';
import { createGraph, infoOf, reachable } from '../graph/graph.ts';
import { type GraphData, graphData } from '../graph/visualize.ts';
import { applyOps } from './apply.ts';
import { createDeviceId } from './device.ts';
import { cloneValue, normaliseMessage, normaliseOps } from './normalise.ts';
import { bringBack, purgeChat, removeChat, tombstone } from './removal.ts';
import type {
  AppendOptions,
  AppendResult,
  BranchInfo,
  Change,
  ChatFilter,
  ChatInfo,
  ChatRecords,
  CheckpointInfo,
  ContextStore,
  Persistence,
  SearchOptions,
  SearchResult,
  StoreNotice,
  StoreOp,
  StoreTransaction,
} from './store.ts';
import {
  branchInfos,
  chatInfo,
  chatNotFound,
  checkpointInfos,
  filterChats,
  infoWithDraft,
  Listeners,
  withDraft,
} from './views.ts';

/**
 * A store that forgets with the page: for tests, for servers, and for browsers that refuse a database.
 *
 * It keeps the whole contract except durability. Writes queue behind each other, because an append reads, waits and
 * writes; reads need no queue, because the writes of an append happen in one go. What is kept is cut loose from what
 * callers hand in. A body that is read is the same object as long as the message has the same revision, so that lists
 * of messages stay equal where nothing changed; treat it as read-only.
 */
export class InMemoryContextStore implements ContextStore {
  readonly persistence: Persistence = 'memory';
  readonly #database = new Database();
  readonly #values = new Map<string, unknown>();
  readonly #held = new Map<string, string[]>();
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>();
  readonly #listeners = new Listeners();
  #queue: Promise<unknown> = Promise.resolve();

  async load(chatId: string, since?: number): Promise<ChatRecords> {
    const { seq } = this.#database;
    const row = this.#database.chats.get(chatId);
    const nothing = { seq, branches: [], checkpoints: [], nodes: [], dropped: [] };
    if (!row || row.chat.deletedAt !== undefined) return { ...nothing, chat: row && tombstone(row.chat) };
    return since === undefined ? everything(row, seq) : difference(row, seq, since);
  }

  async getChat(chatId: string): Promise<Chat | undefined> {
    return this.#find(chatId)?.chat;
  }

  async getMessage(chatId: string, id: string): Promise<MessageNode | undefined> {
    return this.#find(chatId)?.read(id);
  }

  async getMessageChain(
    chatId: string,
    headId: string,
    { limit = Infinity }: { readonly limit?: number } = {},
  ): Promise<MessageNode[]> {
    const row = this.#find(chatId);
    const chain: MessageNode[] = [];
    for (let node = row?.read(headId); node && chain.length < limit;) {
      chain.push(node);
      node = node.parentId === null ? undefined : row?.read(node.parentId);
    }
    return chain.toReversed();
  }

  async getNodes(chatId: string, ids: readonly string[]): Promise<MessageNode[]> {
    const row = this.#find(chatId);
    return ids.map((id) => row?.read(id)).filter((node) => node !== undefined);
  }

  async getMessages(chatId: string): Promise<MessageNode[]> {
    const row = this.#find(chatId);
    if (!row) throw chatNotFound(chatId);
    const head = row.branches.get(row.chat.activeBranchId)?.headMessageId;
    return head ? this.getMessageChain(chatId, head) : [];
  }

  async listBranches(chatId: string): Promise<BranchInfo[]> {
    const row = this.#find(chatId);
    return row ? branchInfos(row.chat, [...row.branches.values()]) : [];
  }

  async listCheckpoints(chatId: string): Promise<CheckpointInfo[]> {
    return checkpointInfos([...(this.#find(chatId)?.checkpoints.values() ?? [])]);
  }

  async getGraph(chatId: string): Promise<GraphData> {
    const { chat, nodes, branches, checkpoints } = await this.load(chatId);
    return graphData(chatId, nodes, branches, checkpoints, chat?.activeBranchId);
  }

  async listChats(filter: ChatFilter = {}): Promise<ChatInfo[]> {
    const chats = [...this.#database.chats.values()].map((row) => row.chat);
    return filterChats(chats, filter).map((chat) => {
      return chatInfo(chat, [...(this.#find(chat.id)?.branches.values() ?? [])]);
    });
  }

  async searchMessages(chatId: string, query: string, options?: SearchOptions): Promise<SearchResult[]> {
    const { searchNodes } = await import('./search.ts');
    const row = this.#find(chatId);
    return row ? searchNodes(row.reached(), query, options) : [];
  }

  async changesSince(seq: number, limit?: number): Promise<Change[]> {
    const changes = [...this.#database.chats.values()].flatMap((row) => row.changesSince(seq));
    return changes.toSorted((a, b) => a.seq - b.seq).slice(0, limit);
  }

  async append(chatId: string, ops: readonly StoreOp[], options: AppendOptions): Promise<AppendResult> {
    const ready = normaliseOps(ops);
    const result = await this.#write(chatId, (tx) => applyOps(tx, ready, options, Date.now()));
    return result;
  }

  async saveDraft(chatId: string, id: string, message: UIMessage): Promise<void> {
    const draft = normaliseMessage(id, message);
    const row = this.#find(chatId);
    if (row?.nodes.get(id)?.status !== 'streaming') return;
    row.drafts.set(id, draft);
    this.#listeners.tell({ kind: 'draft', chatId, id, seq: this.#database.seq, remote: false });
  }

  async deleteChat(
    chatId: string,
    options: { readonly userId?: string; readonly keepFor?: number } = {},
  ): Promise<boolean> {
    const change = await this.#write(chatId, (tx) => removeChat(tx, options, Date.now()));
    if (change && options.keepFor !== undefined) this.#purgeIn(chatId, options.keepFor);
    return change !== undefined;
  }

  #purgeIn(chatId: string, keepFor: number): void {
    clearTimeout(this.#timers.get(chatId));
    const purge = (): void => void this.#write(chatId, (tx) => purgeChat(tx, Date.now()));
    this.#timers.set(chatId, setTimeout(purge, keepFor));
  }

  async restoreChat(chatId: string): Promise<boolean> {
    return (await this.#write(chatId, (tx) => bringBack(tx, Date.now()))) !== undefined;
  }

  async get<T = unknown>(key: string): Promise<T | undefined> {
    return structuredClone(this.#values.get(key)) as T | undefined;
  }

  async set(key: string, value: unknown): Promise<void> {
    this.#values.set(key, cloneValue(key, value));
  }

  async delete(key: string): Promise<void> {
    this.#values.delete(key);
  }

  async hold(chatId: string, id: string): Promise<() => void> {
    const held = this.#held.get(chatId) ?? [];
    this.#held.set(chatId, [...held, id]);
    let isHeld = true;
    return () => {
      if (isHeld) this.#held.set(chatId, without(this.#held.get(chatId) ?? [], id));
      isHeld = false;
    };
  }

  async held(chatId: string): Promise<ReadonlySet<string>> {
    return new Set(this.#held.get(chatId));
  }

  subscribe(listener: (notice: StoreNotice) => void): () => void {
    return this.#listeners.add(listener);
  }

  async clear(): Promise<void> {
    await this.#queued(async () => {
      this.#database.chats.clear();
      this.#values.clear();
      this.#database.seq += 1;
    });
    this.#listeners.tell({ kind: 'clear', seq: this.#database.seq, remote: false });
  }

  async close(): Promise<void> {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#listeners.clear();
  }

  #find(chatId: string): ChatData | undefined {
    const row = this.#database.chats.get(chatId);
    return row?.chat.deletedAt === undefined ? row : undefined;
  }

  /** One write after the other; then everyone hears, if something changed. */
  async #write<T>(chatId: string, work: (tx: StoreTransaction) => Promise<T>): Promise<T> {
    const before = this.#database.seq;
    const result = await this.#queued(() =>
      work(new MemoryTransaction(chatId, this.#database, this.#values)),
    );
    const { seq } = this.#database;
    if (seq !== before) this.#listeners.tell({ kind: 'change', chatId, seq, remote: false });
    return result;
  }

  #queued<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#queue.then(work);
    this.#queue = result.catch(() => undefined);
    return result;
  }
}

function without(ids: readonly string[], id: string): string[] {
  const at = ids.indexOf(id);
  return ids.filter((_, i) => i !== at);
}

class Database {
  readonly chats: Map<string, ChatData> = new Map();
  readonly deviceId: string = createDeviceId();
  seq = 0;
}

/** Everything of one chat by id, in the order in which it was made. */
class ChatData {
  chat: Chat;
  readonly nodes = new Map<string, MessageNode>();
  readonly infos = new Map<string, NodeInfo>();
  readonly drafts = new Map<string, UIMessage>();
  readonly revisions: MessageNode[] = [];
  readonly branches = new Map<string, Branch>();
  readonly checkpoints = new Map<string, Checkpoint>();
  /** The last change of each thing, oldest first. */
  readonly changes = new Map<string, Change>();

  constructor(chat: Chat) {
    this.chat = chat;
  }

  read(id: string): MessageNode | undefined {
    const node = this.nodes.get(id);
    return node && withDraft(node, this.drafts.get(id));
  }

  info(id: string): NodeInfo | undefined {
    const info = this.infos.get(id);
    return info && infoWithDraft(info, this.drafts.get(id));
  }

  changesSince(seq: number): Change[] {
    return [...this.changes.values()].filter((change) => change.seq > seq);
  }

  /** The messages that a live branch reaches. */
  reached(): MessageNode[] {
    const live = [...this.branches.values()].filter((branch) => branch.deletedAt === undefined);
    const ids = reachable(
      createGraph(this.infos.values()),
      live.map((branch) => branch.headMessageId),
    );
    return [...ids].map((id) => this.read(id)).filter((node) => node !== undefined);
  }
}

function everything(data: ChatData, seq: number): ChatRecords {
  return {
    seq,
    chat: data.chat,
    branches: [...data.branches.values()],
    checkpoints: [...data.checkpoints.values()],
    nodes: [...data.infos.keys()].map((id) => data.info(id)).filter((info) => info !== undefined),
    dropped: [],
  };
}

function difference(data: ChatData, seq: number, since: number): ChatRecords {
  const changes = data.changesSince(since);
  const changed = (kind: Change['kind']): string[] =>
    changes.filter((change) => change.kind === kind).map(({ id }) => id);
  const nodes = changed('node')
    .map((id) => data.info(id))
    .filter((info) => info !== undefined);
  return {
    seq,
    chat: changed('chat').length > 0 ? data.chat : undefined,
    branches: changed('branch')
      .map((id) => data.branches.get(id))
      .filter((branch) => branch !== undefined),
    checkpoints: changed('checkpoint')
      .map((id) => data.checkpoints.get(id))
      .filter((found) => found !== undefined),
    nodes: nodes.toSorted((a, b) => a.seq - b.seq),
    dropped: changed('node').filter((id) => !data.infos.has(id)),
  };
}

/** All writes of an append come in one go, after its last read: so they can go straight to where the data is. */
class MemoryTransaction implements StoreTransaction {
  readonly chatId: string;
  readonly deviceId: string;
  readonly #database: Database;
  readonly #values: Map<string, unknown>;

  constructor(chatId: string, database: Database, values: Map<string, unknown>) {
    this.chatId = chatId;
    this.deviceId = database.deviceId;
    this.#database = database;
    this.#values = values;
  }

  get #data(): ChatData | undefined {
    return this.#database.chats.get(this.chatId);
  }

  async chat(): Promise<Chat | undefined> {
    return this.#data?.chat;
  }

  async seq(): Promise<number> {
    return this.#database.seq;
  }

  async info(id: string): Promise<NodeInfo | undefined> {
    return this.#data?.infos.get(id);
  }

  async node(id: string): Promise<MessageNode | undefined> {
    return this.#data?.nodes.get(id);
  }

  async draft(id: string): Promise<UIMessage | undefined> {
    return this.#data?.drafts.get(id);
  }

  async hasChildren({ id }: NodeInfo): Promise<boolean> {
    return [...(this.#data?.infos.values() ?? [])].some((info) => info.parentId === id);
  }

  async branch(id: string): Promise<Branch | undefined> {
    return this.#data?.branches.get(id);
  }

  async branches(): Promise<readonly Branch[]> {
    return [...(this.#data?.branches.values() ?? [])];
  }

  async checkpoints(): Promise<readonly Checkpoint[]> {
    return [...(this.#data?.checkpoints.values() ?? [])];
  }

  purge(): void {
    this.#database.chats.delete(this.chatId);
  }

  putChat(chat: Chat): void {
    const data = this.#data;
    if (data) data.chat = chat;
    else this.#database.chats.set(this.chatId, new ChatData(chat));
  }

  putNode(node: MessageNode, replaced?: MessageNode): void {
    const data = this.#data;
    data?.nodes.set(node.id, node);
    data?.infos.set(node.id, infoOf(node));
    data?.drafts.delete(node.id);
    if (replaced) data?.revisions.push(replaced);
  }

  dropNode({ id }: NodeInfo): void {
    this.#data?.nodes.delete(id);
    this.#data?.infos.delete(id);
    this.#data?.drafts.delete(id);
  }

  putBranch(branch: Branch): void {
    this.#data?.branches.set(branch.id, branch);
  }

  putCheckpoint(checkpoint: Checkpoint): void {
    this.#data?.checkpoints.set(checkpoint.id, checkpoint);
  }

  putChanges(changes: readonly Change[]): void {
    for (const change of changes) {
      const key = `${change.kind} ${change.id}`;
      this.#data?.changes.delete(key);
      this.#data?.changes.set(key, change);
      this.#database.seq = change.seq;
    }
  }

  putValue(key: string, value: unknown): void {
    this.#values.set(key, value);
  }
}
