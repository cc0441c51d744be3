import type { UIMessage } from 'ai';
import type { IDBPTransaction } from 'idb';
import { isContextError } from '../../errors.ts';
import type { Branch, Chat, Checkpoint, MessageNode, NodeInfo } from '../../graph/graph.ts';
import { infoOf } from '../../graph/graph.ts';
import type { Change, StoreTransaction } from '../store.ts';
import type { Opened } from './connection.ts';
import { between, byAge, CONTENT, type Database, type Layout, ofChat, type Store } from './layout.ts';

/**
 * One durable transaction of one chat: read, decide, write, and wait until it is on the disk.
 *
 * IndexedDB commits a transaction as soon as nobody asks anything of it, whatever went wrong in between. A value that it
 * can't clone makes `put` throw, and the puts before it are committed all the same: a pointer without its message. So
 * every throw aborts. And a put that succeeded proves nothing: a full disk says no at the commit. So nothing is reported
 * before `complete`. `strict` makes the browser wait for the disk; without it a power cut takes the last seconds along.
 */
export async function transact<T>(
  { db, deviceId }: Opened,
  chatId: string,
  work: (tx: StoreTransaction) => Promise<T>,
): Promise<Committed<T>> {
  const stores: Store[] = ['chats', 'values', 'meta', ...CONTENT];
  return write(db, stores, 'strict', async (tx) => {
    const own = new IndexedDBTransaction(chatId, deviceId, tx);
    const result = await work(own);
    return { result, seq: own.lastChange };
  });
}

/** What became of a transaction: its result, and the number of the last change; undefined when nothing changed. */
export interface Committed<T> {
  readonly result: T;
  readonly seq: number | undefined;
}

/** A write that happens whole or not at all. Resolves when it is complete; rejects when it is undone. */
export async function write<S extends Store, T>(
  db: Database,
  stores: S[],
  durability: IDBTransactionDurability,
  work: (tx: IDBPTransaction<Layout, S[], 'readwrite'>) => Promise<T>,
): Promise<T> {
  const tx = db.transaction(stores, 'readwrite', { durability });
  const ended = tx.done.catch(() => undefined);
  try {
    const result = await work(tx);
    await tx.done;
    return result;
  } catch (error) {
    abort(tx);
    await ended;
    throw isContextError(error) ? error : (tx.error ?? error);
  }
}

function abort(tx: { abort(): void }): void {
  try {
    tx.abort();
  } catch {
    // It has ended already.
  }
}

class IndexedDBTransaction implements StoreTransaction {
  readonly chatId: string;
  readonly deviceId: string;
  lastChange: number | undefined;
  readonly #tx: IDBPTransaction<Layout, Store[], 'readwrite'>;

  constructor(chatId: string, deviceId: string, tx: IDBPTransaction<Layout, Store[], 'readwrite'>) {
    this.chatId = chatId;
    this.deviceId = deviceId;
    this.#tx = tx;
  }

  chat(): Promise<Chat | undefined> {
    return this.#tx.objectStore('chats').get(this.chatId);
  }

  async seq(): Promise<number> {
    return Number(await this.#tx.objectStore('meta').get('seq'));
  }

  info(id: string): Promise<NodeInfo | undefined> {
    return this.#tx.objectStore('nodes').index('id').get([this.chatId, id]);
  }

  async node(id: string): Promise<MessageNode | undefined> {
    const info = await this.info(id);
    return info && withBody(info, await this.#tx.objectStore('bodies').get([this.chatId, info.seq]));
  }

  async draft(id: string): Promise<UIMessage | undefined> {
    return parse(await this.#tx.objectStore('drafts').get([this.chatId, id]));
  }

  /** Whoever follows a message was written after it; nobody knows without looking, but few come after a new one. */
  async hasChildren({ id, seq }: NodeInfo): Promise<boolean> {
    const later = await this.#tx.objectStore('nodes').getAll(between(this.chatId, seq + 1, Infinity));
    return later.some((info) => info.parentId === id);
  }

  branch(id: string): Promise<Branch | undefined> {
    return this.#tx.objectStore('branches').get([this.chatId, id]);
  }

  async branches(): Promise<Branch[]> {
    return byAge(await this.#tx.objectStore('branches').getAll(ofChat(this.chatId)));
  }

  async checkpoints(): Promise<Checkpoint[]> {
    return byAge(await this.#tx.objectStore('checkpoints').getAll(ofChat(this.chatId)));
  }

  purge(): void {
    for (const store of CONTENT) sent(this.#tx.objectStore(store).delete(ofChat(this.chatId)));
  }

  putChat(chat: Chat): void {
    sent(this.#tx.objectStore('chats').put(chat));
  }

  putNode(node: MessageNode, replaced?: MessageNode): void {
    sent(this.#tx.objectStore('nodes').put(infoOf(node)));
    sent(this.#tx.objectStore('bodies').put(JSON.stringify(node.data), [this.chatId, node.seq]));
    if (!replaced) return;
    sent(this.#tx.objectStore('revisions').put({ ...infoOf(replaced), body: JSON.stringify(replaced.data) }));
    sent(this.#tx.objectStore('drafts').delete([this.chatId, node.id]));
  }

  dropNode({ id, seq }: NodeInfo): void {
    sent(this.#tx.objectStore('nodes').delete([this.chatId, seq]));
    sent(this.#tx.objectStore('bodies').delete([this.chatId, seq]));
    sent(this.#tx.objectStore('drafts').delete([this.chatId, id]));
  }

  putBranch(branch: Branch): void {
    sent(this.#tx.objectStore('branches').put(branch));
  }

  putCheckpoint(checkpoint: Checkpoint): void {
    sent(this.#tx.objectStore('checkpoints').put(checkpoint));
  }

  putChanges(changes: readonly Change[]): void {
    for (const change of changes) sent(this.#tx.objectStore('changes').put(change));
    this.lastChange = changes.at(-1)?.seq;
    if (this.lastChange !== undefined) sent(this.#tx.objectStore('meta').put(this.lastChange, 'seq'));
  }

  putValue(key: string, value: unknown): void {
    sent(this.#tx.objectStore('values').put(value, key));
  }
}

/** A request whose answer is the transaction's: a failure aborts it, and that is where it is heard of. */
function sent(request: Promise<unknown>): void {
  request.catch(() => undefined);
}

/** A message from its two halves. A body that is lost reads as a message without parts. */
export function withBody(info: NodeInfo, body: string | undefined): MessageNode {
  const { preview: _preview, parts: _parts, ...node } = info;
  return { ...node, data: parse(body) ?? { id: info.id, role: info.name as UIMessage['role'], parts: [] } };
}

/** A body or draft as a message; undefined for none. */
export function parse(body: string | undefined): UIMessage | undefined {
  return body === undefined ? undefined : (JSON.parse(body) as UIMessage);
}
