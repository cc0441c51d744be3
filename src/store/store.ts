import type { UIMessage } from 'ai';
import type { ChatDelta, MessageRecord, Version } from '../graph/graph.ts';
import type { GraphData } from '../graph/visualize.ts';
import type { BranchInfo, CheckpointInfo, MessageNode } from './reads.ts';

/**
 * The contract of a store.
 *
 * A store keeps records and does not interpret them: it does not fork, name, rebase or repair. It joins a delta with the
 * records it has (`graph/join.ts`), numbers each change, and returns what is new since a number. A delta may come late, early
 * or twice.
 *
 * All or nothing. A commit is one durable transaction: when it resolves, all of it is on the disk; when it rejects, none.
 *
 * A turn costs the turn. The caller says up to which number it has read (`since`), so new keys are compared with later rows
 * only; a changed record carries the number of its place (`seq`). A question writes the rows of
 * two messages (itself and its answer), one body, one row of ends and the row of the chat; the end of the answer writes the row
 * of the answer again, and its body.
 *
 * Which database, which chat. A database has a random id and a generation, which grows with each `clear()`. Each record carries
 * the chat key of its beginning. Deleting a chat adds its chat keys to a set that only grows; records with such a key are left
 * out of all reads, and refused in writes.
 *
 * Everyone hears. After a transaction is durable, listeners in this tab and in others get ids and numbers, never content.
 */
export interface ContextStore extends Readable, StoreReads {
  /** Where the data lives, so that a person can be told if it is only memory. May change while the store opens. */
  readonly persistence: Persistence;

  /**
   * Joins records into the chat, in one strict transaction, and returns the records that changed after `since` and those of the
   * delta, with their new `seq`, without bodies. An invalid delta is refused whole.
   *
   * Rejects with `data-loss` (another database; `details` hold the present `database` and `generation`), `chat-deleted`
   * (another generation, or a record of a deleted chat), `wrong-user`, `head-moved` (`expect`), `invalid-options`,
   * `quota-exceeded`, `store-closed`, `store-unavailable`, `store-blocked`.
   */
  commit(chatId: string, delta: StoreDelta, options: CommitOptions): Promise<ChatRecords>;
  /**
   * Saves the words of a growing answer: fast, in a relaxed transaction, without a change number. Ignored if the message shows
   * another version than the draft's. Other tabs are notified.
   */
  saveDraft(chatId: string, draft: Draft, options?: DraftOptions): Promise<void>;
  /** The bodies of a message's earlier versions, oldest first: the last 20 settled ones that were replaced. */
  revisions(chatId: string, key: string): Promise<readonly Revision[]>;

  /** The row of a chat; undefined for an unknown or deleted one. */
  getChat(chatId: string): Promise<ChatRow | undefined>;
  /** Chats, the last updated first, without deleted ones. */
  listChats(filter?: ChatFilter): Promise<readonly ChatRow[]>;
  /**
   * Messages whose text contains all words of `query`, best first. Words in quotes, and those without a space between them,
   * must follow each other; the last word may be a prefix. Case and accents are ignored. Odd queries return [], never an error.
   */
  searchMessages(chatId: string, query: string, options?: SearchOptions): Promise<readonly SearchResult[]>;
  /**
   * Deletes a chat; resolves to false when there is none (or it is not `userId`'s). With `keepFor` (ms) its data stays for that
   * time, and until then `restoreChat` brings it back. On a full disk that rejects with `quota-exceeded`; without `keepFor` the
   * chat is deleted all the same.
   */
  deleteChat(
    chatId: string,
    options?: { readonly userId?: string; readonly keepFor?: number },
  ): Promise<boolean>;
  /** Restores the chat that was last deleted with `keepFor`; resolves to false when it is too late. */
  restoreChat(chatId: string): Promise<boolean>;
  /** What changed after change number `seq`, in all chats, oldest first: one entry for each record, with its last change. */
  changesSince(seq: number, limit?: number): Promise<readonly Change[]>;

  /** A value of the app's own. Keys that begin with `contextree:` are reserved. */
  get<T = unknown>(key: string): Promise<T | undefined>;
  /** Saves a structured-cloneable value. */
  set(key: string, value: unknown): Promise<void>;
  delete(key: string): Promise<void>;

  /**
   * Saves bytes apart from messages; resolves to the SHA-256 of their content, as 64 hexadecimal digits. Messages refer to them
   * by the URL `contextree-blob:HASH`; the bytes stay as long as a chat has, or had, such a message, and a day without any.
   * Long `data:` URLs of files are stored like this by themselves, and read as they came. Rejects with `invalid-options` on a
   * page that is not secure: there, files stay in their messages.
   */
  putBlob(bytes: Uint8Array): Promise<string>;
  /** Bytes by their hash; undefined when they are missing, or have changed. */
  getBlob(hash: string): Promise<Uint8Array | undefined>;

  /** Takes the lock of a message that this tab streams; call the result to release it. It ends with the tab. */
  hold(chatId: string, key: string): Promise<() => void>;
  /** The keys of the chat's messages whose locks are held by any tab. */
  held(chatId: string): Promise<ReadonlySet<string>>;

  /** Notifies of each durable change, of this tab and of others. Returns a function that unsubscribes. */
  subscribe(listener: (notice: StoreNotice) => void): () => void;
  /** Deletes everything in the database, the app's own values included; its generation grows. */
  clear(): Promise<void>;
  /** Closes connections and listeners; a later call opens them again. Running work rejects with `store-closed`. */
  close(): Promise<void>;

  /**
   * Names the damaged records of a chat; with `repair` it repairs those that it can. Optional where records can't be damaged.
   */
  examine?(chatId: string, options?: { readonly repair?: boolean }): Promise<readonly Damage[]>;
  /** How many bytes are stored, and may be. `weigh`: also the size of each kind of record, which reads the whole database. */
  storage?(options?: { readonly weigh?: boolean }): Promise<StorageFigures>;
  /** Asks the browser not to clear this site's data by itself; resolves to whether it agreed. */
  persist?(): Promise<boolean>;
}

/** The two reads on which all others are built. */
export interface Readable {
  /**
   * The topology of a chat, its ends and its marks, or what changed after change number `since`. Of each message the shown
   * version, without its body; `growing`: what drafts add. An unknown or deleted chat has no records. Costs what it returns.
   */
  load(chatId: string, since?: number): Promise<ChatRecords>;
  /**
   * Bodies of the shown versions by key; growing ones as of their drafts. Unknown keys and lost bodies are left out. `records`,
   * if given, tell where the bodies lie.
   */
  bodies(
    chatId: string,
    keys: readonly string[],
    records?: readonly MessageRecord[],
  ): Promise<ReadonlyMap<string, Body>>;
}

/** Reads without an engine, built on {@link Readable}. */
export interface StoreReads {
  /**
   * One message by key or id, a growing one as of its draft; of several with one id the one on the branch shown last, else the
   * newest.
   */
  getMessage(chatId: string, idOrKey: string): Promise<MessageNode | undefined>;
  /** The chain up to this message, oldest first; [] for an unknown one. With `limit` only its last messages. */
  getMessageChain(
    chatId: string,
    headIdOrKey: string,
    options?: { readonly limit?: number },
  ): Promise<MessageNode[]>;
  /** The messages of the branch that this device showed last, oldest first. Rejects for an unknown chat. */
  getMessages(chatId: string): Promise<MessageNode[]>;
  /** The live branches, in the order in which they were made. */
  listBranches(chatId: string): Promise<BranchInfo[]>;
  /** The live checkpoints, newest first. */
  listCheckpoints(chatId: string): Promise<CheckpointInfo[]>;
  /** The chat as a graph of previews, as `visualizeGraph` and devtools show it; empty lists for an unknown chat. */
  getGraph(chatId: string): Promise<GraphData>;
}

/** Where data lives: in IndexedDB, only in memory, or in an app's own store. */
export type Persistence = 'indexeddb' | 'memory' | 'custom';

/** Records of a chat, as one database has them. */
export interface ChatRecords extends ChatDelta {
  /** The number of the database's last change that they include. */
  readonly seq: number;
  /** The random id of the database. */
  readonly database: string;
  /** How often the database was cleared. */
  readonly generation: number;
  /** What drafts add to growing messages. */
  readonly growing: readonly Growing[];
  /** Chat keys of this id that were deleted: their records are left out. */
  readonly deleted: readonly string[];
  /** What only this device keeps; only in the result of {@link ContextStore.load} without `since`. */
  readonly local?: LocalRecords | undefined;
}

/** What a draft adds to a message, without the body; it counts only for the version that it grows from. */
export interface Growing extends Pick<Version, 'rev' | 'by' | 'parts' | 'preview'> {
  readonly key: string;
}

/** Records that this device keeps with a chat and that are never joined: any JSON, by name. */
export type LocalRecords = Readonly<Record<string, unknown>>;

/** What is written in one transaction. */
export interface StoreDelta extends ChatDelta {
  /** Local records by name; undefined removes one. */
  readonly local?: LocalRecords;
}

/** The state of the database that a write assumes. */
export interface CommitOptions {
  readonly userId: string;
  /** The id of the database that was read; '' before the first read. */
  readonly database: string;
  readonly generation: number;
  /** The number up to which the caller has read the chat; 0 for a whole replica. */
  readonly since: number;
  /** How many branches the author shows; chat lists show it from then on. */
  readonly branchCount?: number;
  /** Branch records, and the exact keys at which they are expected to end: else `head-moved`, with `ends` in `details`. */
  readonly expect?: Readonly<Record<string, readonly string[]>>;
}

/** A body, and the version that it belongs to. */
export interface Body extends Pick<Version, 'rev' | 'by' | 'sum'> {
  readonly message: UIMessage;
  /** Whether it is a draft, which still grows. */
  readonly isDraft?: boolean;
}

/** The newest words of a growing message. */
export interface Draft extends Pick<Version, 'rev' | 'by'> {
  readonly key: string;
  /** The place of the message, if its author knows it; otherwise the store looks it up. */
  readonly seq?: number;
  readonly message: UIMessage;
}

/** How a draft is saved. */
export interface DraftOptions {
  /** For a page that is about to go: the draft is written synchronously, without reading before it. */
  readonly isLeaving?: boolean;
  /** Resolves when the disk has the draft, and rejects as `commit` does; with `message-not-found` where it would be ignored. */
  readonly isDurable?: boolean;
}

/** An earlier version of a message. */
export interface Revision extends Pick<Version, 'rev' | 'by' | 'status'> {
  readonly message: UIMessage;
}

/** A chat in a list. Local to the database. */
export interface ChatRow {
  readonly id: string;
  readonly userId: string;
  readonly title: string | undefined;
  readonly metadata: Readonly<Record<string, unknown>> | undefined;
  /** How many messages the chat has, on all branches, without those that never got content. */
  readonly messageCount: number;
  /** As the last page that wrote reported it; 1 without a report. */
  readonly branchCount: number;
  /** ms since epoch. */
  readonly createdAt: number;
  /** ms since epoch, updated by each commit. */
  readonly updatedAt: number;
}

/** Which chats to list; each field works on its own. */
export interface ChatFilter {
  readonly userId?: string;
  /** Chats whose metadata has exactly this value (`===`) under this top-level key. */
  readonly metadata?: { readonly key: string; readonly value: string | number | boolean | null };
  readonly limit?: number;
  readonly offset?: number;
}

/** Options of a search. */
export interface SearchOptions {
  readonly roles?: readonly string[];
  /** Default 20. */
  readonly limit?: number;
  /** Search only these messages, by key. Default: those on live branches. */
  readonly keys?: ReadonlySet<string>;
  /** Search the messages of deleted branches, too. Default false. */
  readonly deleted?: boolean;
}

/** A message that matches. */
export interface SearchResult {
  readonly record: MessageRecord;
  readonly message: UIMessage;
  /** Higher is better; comparable within one search. */
  readonly rank: number;
  /** About 100 characters around the hits, which stand between `<mark>` and `</mark>`. HTML with escaped text. */
  readonly snippet: string;
}

/** The last change of one record: its number, its kind, and its id. */
export interface Change {
  readonly seq: number;
  readonly kind: 'chat' | 'message' | 'ends' | 'mark';
  readonly op: 'put' | 'delete';
  readonly chatId: string;
  /** The key of a message, the id of anything else. */
  readonly id: string;
}

/**
 * A notice to listeners: which chat changed, up to which number; `draft` when an answer only grew; without an id: all chats.
 */
export interface StoreNotice {
  readonly kind: 'change' | 'draft' | 'clear';
  readonly chatId?: string;
  readonly key?: string;
  readonly seq: number;
  /** Whether another tab made the change. */
  readonly remote: boolean;
}

/** A damaged record, and whether `repair` can mend it. */
export interface Damage {
  readonly kind: 'message' | 'body' | 'ends' | 'mark' | 'chat' | 'file' | 'draft';
  /** Its key or id, as far as it can be read. */
  readonly id: string;
  /** The key of the message, for a file. */
  readonly key?: string;
  /** What is wrong, for a log. */
  readonly reason: string;
  readonly isMended: boolean;
}

/** The size of a store, and how safe its data is. */
export interface StorageFigures {
  readonly persistence: Persistence;
  /** Bytes of all databases and caches of this site; absent where the browser does not report it. */
  readonly usage?: number;
  /** Bytes that this site may use; absent where the browser does not report it. */
  readonly quota?: number;
  /** Whether the browser has agreed not to clear this site's data by itself; absent where it does not report it. */
  readonly persisted?: boolean;
  /** Chats that are not deleted. */
  readonly chats: number;
  /** Messages in them. */
  readonly messages: number;
  /** Packs of packed messages; absent in memory. */
  readonly packs?: number;
  /** Messages in records of their own; absent in memory. */
  readonly singles?: number;
  /** Attachments, and their bytes. */
  readonly blobs: { readonly count: number; readonly bytes: number };
  /** The size of each kind of record, if requested: rows of the database, and about how many bytes. */
  readonly kinds?: readonly { readonly kind: string; readonly rows: number; readonly bytes: number }[];
}
