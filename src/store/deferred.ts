import type { UIMessage } from 'ai';
import { expectListener, refuseToLoad } from '../errors.ts';
import type { Chat, MessageNode } from '../graph/graph.ts';
import type { GraphData } from '../graph/visualize.ts';
import type { StorageFigures } from './figures.ts';
import type { DataLoss } from './loss.ts';
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
  DraftOptions,
  Persistence,
  Salvage,
  SearchOptions,
  SearchResult,
  StoreNotice,
  StoreOp,
} from './store.ts';

/** What the stores of this package can tell beyond the contract. */
export type OwnStore = ContextStore &
  Required<Pick<ContextStore, 'salvage' | 'storage' | 'persist'>> & {
    /** Comes before each use: a store that was closed opens again by it, and by nothing else. */
    open(): void;
  };

/**
 * A store whose code comes when it is first used.
 *
 * A page paints before it reads, and a server that only renders never reads at all. So what people make is this: a
 * store by name, about a kilobyte, that fetches the store itself with its first call and hands everything on. Who
 * listens is kept here, so that one can listen before there is anything to hear.
 */
export class DeferredStore implements ContextStore {
  readonly #open: () => Promise<OwnStore>;
  readonly #expected: Persistence;
  readonly #listeners: Set<Listener> = new Set();
  #opening: Promise<OwnStore> | undefined;
  #store: OwnStore | undefined;

  /** `expected` is what `persistence` says before the store is there. */
  constructor(expected: Persistence, open: () => Promise<OwnStore>) {
    this.#expected = expected;
    this.#open = open;
  }

  get persistence(): Persistence {
    return this.#store?.persistence ?? this.#expected;
  }

  load(chatId: string, since?: number): Promise<ChatRecords> {
    return this.#use((store) => store.load(chatId, since));
  }

  getChat(chatId: string): Promise<Chat | undefined> {
    return this.#use((store) => store.getChat(chatId));
  }

  getMessage(chatId: string, id: string): Promise<MessageNode | undefined> {
    return this.#use((store) => store.getMessage(chatId, id));
  }

  getMessageChain(
    chatId: string,
    headId: string,
    options?: { readonly limit?: number },
  ): Promise<MessageNode[]> {
    return this.#use((store) => store.getMessageChain(chatId, headId, options));
  }

  getNodes(chatId: string, ids: readonly string[], seqs?: readonly number[]): Promise<MessageNode[]> {
    return this.#use((store) => store.getNodes(chatId, ids, seqs));
  }

  getMessages(chatId: string): Promise<MessageNode[]> {
    return this.#use((store) => store.getMessages(chatId));
  }

  listBranches(chatId: string): Promise<BranchInfo[]> {
    return this.#use((store) => store.listBranches(chatId));
  }

  listCheckpoints(chatId: string): Promise<CheckpointInfo[]> {
    return this.#use((store) => store.listCheckpoints(chatId));
  }

  getGraph(chatId: string): Promise<GraphData> {
    return this.#use((store) => store.getGraph(chatId));
  }

  listChats(filter?: ChatFilter): Promise<ChatInfo[]> {
    return this.#use((store) => store.listChats(filter));
  }

  searchMessages(chatId: string, query: string, options?: SearchOptions): Promise<SearchResult[]> {
    return this.#use((store) => store.searchMessages(chatId, query, options));
  }

  salvage(chatId: string): Promise<Salvage> {
    return this.#use((store) => store.salvage(chatId));
  }

  changesSince(seq: number, limit?: number): Promise<Change[]> {
    return this.#use((store) => store.changesSince(seq, limit));
  }

  append(chatId: string, ops: readonly StoreOp[], options: AppendOptions): Promise<AppendResult> {
    const kept = this.#store || !Array.isArray(ops) ? ops : ops.map(copyOfOp);
    return this.#use((store) => store.append(chatId, kept, options));
  }

  saveDraft(chatId: string, id: string, message: UIMessage, options?: DraftOptions): Promise<void> {
    return this.#use((store) => store.saveDraft(chatId, id, message, options));
  }

  deleteChat(
    chatId: string,
    options?: { readonly userId?: string; readonly keepFor?: number },
  ): Promise<boolean> {
    return this.#use((store) => store.deleteChat(chatId, options));
  }

  restoreChat(chatId: string): Promise<boolean> {
    return this.#use((store) => store.restoreChat(chatId));
  }

  get<T = unknown>(key: string): Promise<T | undefined> {
    return this.#use((store) => store.get<T>(key));
  }

  set(key: string, value: unknown): Promise<void> {
    const kept = this.#store ? value : copyOf(value);
    return this.#use((store) => store.set(key, kept));
  }

  delete(key: string): Promise<void> {
    return this.#use((store) => store.delete(key));
  }

  putBlob(bytes: Uint8Array): Promise<string> {
    const kept = this.#store || !(bytes instanceof Uint8Array) ? bytes : bytes.slice();
    return this.#use((store) => store.putBlob(kept));
  }

  getBlob(hash: string): Promise<Uint8Array | undefined> {
    return this.#use((store) => store.getBlob(hash));
  }

  hold(chatId: string, id: string): Promise<() => void> {
    return this.#use((store) => store.hold(chatId, id));
  }

  held(chatId: string): Promise<ReadonlySet<string>> {
    return this.#use((store) => store.held(chatId));
  }

  subscribe(listener: (notice: StoreNotice) => void): () => void {
    expectListener(listener);
    const own: Listener = { hear: listener };
    this.#listeners.add(own);
    if (this.#store) own.stop = this.#store.subscribe(listener);
    // A failure to load is met again, and told, by the first call.
    else this.#ready().catch(() => undefined);
    return () => {
      this.#listeners.delete(own);
      own.stop?.();
    };
  }

  clear(): Promise<void> {
    return this.#use((store) => store.clear());
  }

  get dataLoss(): DataLoss | undefined {
    return this.#store?.dataLoss;
  }

  storage(): Promise<StorageFigures> {
    return this.#use((store) => store.storage());
  }

  persist(): Promise<boolean> {
    return this.#use((store) => store.persist());
  }

  async close(): Promise<void> {
    this.#listeners.clear();
    // At once, where it is there. Who calls or listens from now on is not meant, even while its code still comes.
    if (this.#store) return this.#store.close();
    await this.#opening?.then(
      (store) => {
        const closing = store.close();
        this.#listenTo(store);
        return closing;
      },
      () => undefined,
    );
  }

  /** Calls the store at once where it is there already, so that arguments are taken as they are now. */
  #use<T>(call: (store: OwnStore) => Promise<T>): Promise<T> {
    const begin = (store: OwnStore): Promise<T> => {
      store.open();
      return call(store);
    };
    return this.#store ? begin(this.#store) : this.#ready().then(begin);
  }

  #ready(): Promise<OwnStore> {
    this.#opening ??= this.#load();
    return this.#opening;
  }

  async #load(): Promise<OwnStore> {
    try {
      const store = (this.#store = await this.#open());
      this.#listenTo(store);
      return store;
    } catch (cause) {
      this.#opening = undefined;
      return refuseToLoad(cause);
    }
  }

  #listenTo(store: OwnStore): void {
    for (const own of this.#listeners) own.stop = store.subscribe(own.hear);
  }
}

/** Who listens, and how to stop telling it, once there is a store. */
interface Listener {
  readonly hear: (notice: StoreNotice) => void;
  stop?: () => void;
}

/** A value as it is now; the store tells, in words, of one that can't be copied. */
function copyOf<T>(value: T): T {
  try {
    return structuredClone(value);
  } catch {
    return value;
  }
}

/** An operation with its message as JSON has it, which is how a store takes it; what JSON can't hold is told of later. */
function copyOfOp(op: StoreOp): StoreOp {
  try {
    if ((op.op !== 'insert' && op.op !== 'replace') || !op.data) return copyOf(op);
    return { ...op, data: JSON.parse(JSON.stringify(op.data)) as UIMessage };
  } catch {
    return op;
  }
}
