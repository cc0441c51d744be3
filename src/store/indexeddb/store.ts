import type { UIMessage } from 'ai';
import type { IDBPTransaction } from 'idb';
import type { Chat, MessageNode } from '../../graph/graph.ts';
import { type GraphData, graphData } from '../../graph/visualize.ts';
import { applyOps } from '../apply.ts';
import { type Channel, openChannel } from '../channel.ts';
import { cloneValue, normaliseMessage, normaliseOps } from '../normalise.ts';
import { bringBack, purgeChat, type RemovedChat, removeChat } from '../removal.ts';
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
} from '../store.ts';
import { branchInfos, chatNotFound, checkpointInfos, Listeners } from '../views.ts';
import { transact, write } from './append.ts';
import { Connection } from './connection.ts';
import { CONTENT, type Database, type Layout, type Store } from './layout.ts';
import { NodeLocks } from './locks.ts';
import { changesSince, getChain, getNodes, getReached, listChats, load, loadPointers } from './reads.ts';

/** How a store waits. */
export interface IndexedDBOptions {
  /** How long a call waits for the database to open before it fails with `store-blocked`, ms. Default 5000. */
  readonly patience?: number;
}

/**
 * A store that lasts: one IndexedDB database, shared by all tabs of the site.
 *
 * Nothing is opened before the first use, so it can be made anywhere, also on a server. Where the browser has no
 * database, or refuses it, each call rejects with `store-unavailable`. What lies where is told in `layout.ts`, how a
 * write becomes durable in `append.ts`, what happens to a broken connection in `connection.ts`.
 */
export class IndexedDBContextStore implements ContextStore {
  readonly persistence: Persistence = 'indexeddb';
  readonly #name: string;
  readonly #connection: Connection;
  readonly #locks: NodeLocks;
  readonly #listeners = new Listeners();
  #channel: Channel | undefined;
  #sweeper: ReturnType<typeof setTimeout> | undefined;
  /** The last change number that this tab has seen. */
  #seq = 0;

  constructor(name: string = 'contextree', { patience = 5000 }: IndexedDBOptions = {}) {
    this.#name = name;
    this.#connection = new Connection(name, patience, () => this.#sweep());
    this.#locks = new NodeLocks(name, this.#connection);
  }

  load(chatId: string, since?: number): Promise<ChatRecords> {
    return this.#read((db) => load(db, chatId, since));
  }

  async getChat(chatId: string): Promise<Chat | undefined> {
    const chat = await this.#read((db) => db.get('chats', chatId));
    return chat?.deletedAt === undefined ? chat : undefined;
  }

  async getMessage(chatId: string, id: string): Promise<MessageNode | undefined> {
    return (await this.getNodes(chatId, [id]))[0];
  }

  async getMessageChain(
    chatId: string,
    headId: string,
    { limit = Infinity }: { readonly limit?: number } = {},
  ): Promise<MessageNode[]> {
    return (await this.#read((db) => getChain(db, chatId, headId, limit))) ?? [];
  }

  getNodes(chatId: string, ids: readonly string[]): Promise<MessageNode[]> {
    return this.#read((db) => getNodes(db, chatId, ids));
  }

  async getMessages(chatId: string): Promise<MessageNode[]> {
    const chain = await this.#read((db) => getChain(db, chatId, undefined, Infinity));
    if (!chain) throw chatNotFound(chatId);
    return chain;
  }

  async listBranches(chatId: string): Promise<BranchInfo[]> {
    const { chat, branches } = await this.#read((db) => loadPointers(db, chatId));
    return branchInfos(chat, branches);
  }

  async listCheckpoints(chatId: string): Promise<CheckpointInfo[]> {
    return checkpointInfos((await this.#read((db) => loadPointers(db, chatId))).checkpoints);
  }

  async getGraph(chatId: string): Promise<GraphData> {
    const { chat, nodes, branches, checkpoints } = await this.load(chatId);
    return graphData(chatId, nodes, branches, checkpoints, chat?.activeBranchId);
  }

  listChats(filter: ChatFilter = {}): Promise<ChatInfo[]> {
    return this.#read((db) => listChats(db, filter));
  }

  async searchMessages(chatId: string, query: string, options?: SearchOptions): Promise<SearchResult[]> {
    const { searchNodes } = await import('../search.ts');
    return searchNodes(await this.#read((db) => getReached(db, chatId)), query, options);
  }

  changesSince(seq: number, limit?: number): Promise<Change[]> {
    return this.#read((db) => changesSince(db, seq, limit));
  }

  async append(chatId: string, ops: readonly StoreOp[], options: AppendOptions): Promise<AppendResult> {
    const ready = normaliseOps(ops);
    const result = await this.#write(chatId, (tx) => applyOps(tx, ready, options, Date.now()));
    return result;
  }

  async saveDraft(chatId: string, id: string, message: UIMessage): Promise<void> {
    const draft = JSON.stringify(normaliseMessage(id, message));
    const isKept = await this.#connection.run(({ db }) =>
      write(db, ['nodes', 'drafts'], 'relaxed', async (tx) => {
        const info = await tx.objectStore('nodes').index('id').get([chatId, id]);
        if (info?.status !== 'streaming') return false;
        await tx.objectStore('drafts').put(draft, [chatId, id]);
        return true;
      }),
    );
    if (isKept) this.#tell({ kind: 'draft', chatId, id, seq: this.#seq, remote: false });
  }

  async deleteChat(
    chatId: string,
    options: { readonly userId?: string; readonly keepFor?: number } = {},
  ): Promise<boolean> {
    const change = await this.#write(chatId, (tx) => removeChat(tx, options, Date.now()));
    if (options.keepFor !== undefined) this.#sweep();
    return change !== undefined;
  }

  async restoreChat(chatId: string): Promise<boolean> {
    return (await this.#write(chatId, (tx) => bringBack(tx, Date.now()))) !== undefined;
  }

  get<T = unknown>(key: string): Promise<T | undefined> {
    return this.#read((db) => db.get('values', key) as Promise<T | undefined>);
  }

  async set(key: string, value: unknown): Promise<void> {
    const copy = cloneValue(key, value);
    await this.#connection.run(({ db }) =>
      write(db, ['values'], 'strict', (tx) => tx.objectStore('values').put(copy, key)),
    );
  }

  async delete(key: string): Promise<void> {
    await this.#connection.run(({ db }) =>
      write(db, ['values'], 'strict', (tx) => tx.objectStore('values').delete(key)),
    );
  }

  hold(chatId: string, id: string): Promise<() => void> {
    return this.#locks.hold(chatId, id);
  }

  held(chatId: string): Promise<ReadonlySet<string>> {
    return this.#locks.held(chatId);
  }

  subscribe(listener: (notice: StoreNotice) => void): () => void {
    this.#join();
    return this.#listeners.add(listener);
  }

  async clear(): Promise<void> {
    const seq = await this.#connection.run(({ db }) => write(db, ALL, 'strict', forgetAll));
    this.#tell({ kind: 'clear', seq, remote: false });
  }

  async close(): Promise<void> {
    clearTimeout(this.#sweeper);
    this.#listeners.clear();
    this.#channel?.close();
    this.#channel = undefined;
    this.#connection.close();
  }

  #read<T>(work: (db: Database) => Promise<T>): Promise<T> {
    return this.#connection.run(({ db }) => work(db));
  }

  /** A write to one chat; once it is durable, everyone hears, if something changed. */
  async #write<T>(chatId: string, work: (tx: StoreTransaction) => Promise<T>): Promise<T> {
    const { result, seq } = await this.#connection.run((opened) => transact(opened, chatId, work));
    if (seq !== undefined) this.#tell({ kind: 'change', chatId, seq, remote: false });
    return result;
  }

  #tell(notice: StoreNotice): void {
    this.#hear(notice);
    this.#join()?.tell(notice);
  }

  #hear(notice: StoreNotice): void {
    this.#seq = Math.max(this.#seq, notice.seq);
    this.#listeners.tell(notice);
  }

  #join(): Channel | undefined {
    this.#channel ??= openChannel(this.#name, (notice) => this.#hear(notice));
    return this.#channel;
  }

  /** Takes the content of deleted chats whose time is over, and comes back when the next one's is. */
  #sweep(): void {
    this.#read((db) => db.getAllFromIndex('chats', 'due'))
      .then((chats) => this.#plan(chats))
      .catch(() => undefined);
  }

  async #plan(chats: readonly RemovedChat[]): Promise<void> {
    const now = Date.now();
    for (const { id, purgeAt = 0 } of chats) {
      if (purgeAt <= now) await this.#write(id, (tx) => purgeChat(tx, now));
    }
    const next = Math.min(...chats.map(({ purgeAt = 0 }) => purgeAt).filter((at) => at > now));
    clearTimeout(this.#sweeper);
    if (!this.#connection.isOpen || next === Infinity) return;
    this.#sweeper = setTimeout(() => this.#sweep(), Math.min(next - now, LONGEST_TIMER));
  }
}

const ALL: Store[] = ['chats', 'values', 'meta', ...CONTENT];

/** The longest time that a timer can wait, ms. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** Empties every store but the counter, which goes on: other tabs remember its numbers. */
async function forgetAll(tx: IDBPTransaction<Layout, Store[], 'readwrite'>): Promise<number> {
  const meta = tx.objectStore('meta');
  const seq = Number(await meta.get('seq')) + 1;
  const kept = meta.put(seq, 'seq');
  await Promise.all([
    kept,
    ...ALL.filter((name) => name !== 'meta').map((name) => tx.objectStore(name).clear()),
  ]);
  return seq;
}
