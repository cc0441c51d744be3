import type { UIMessage } from 'ai';
import type { ChatDelta, MessageRecord } from '../graph/graph.ts';
import type { GraphData } from '../graph/visualize.ts';
import type { BranchInfo, CheckpointInfo, MessageNode } from './reads.ts';

/**
 * What a store owes to the conversations in it.
 *
 * It keeps records and knows nothing of what they mean: it does not fork, name, rebase or repair. It joins what it is handed with
 * what it has (`graph/join.ts`), numbers each change, and tells a caller what is new since a number. No write comes too late, early or twice.
 *
 * Whole or not at all. A commit is one durable transaction: when it resolves, all of it is on the disk; when it rejects, none.
 *
 * A turn costs the turn. The caller says up to which number it has read (`since`), so new keys are compared with later rows
 * only; a changed record carries the number where it lies (`seq`). A turn writes two topology rows, two bodies, one row of ends
 * and the row of the chat.
 *
 * Which database, which chat. A database has a random id and a generation, which grows with each `clear()`. Each record carries
 * the chat key of its beginning; deleting a chat adds its chat keys to a set that only grows, and records with such a key are
 * left out of all that is read, and refused when written.
 *
 * Everyone hears. After a transaction is durable, listeners in this tab and in others are told ids and numbers, never content.
 */
export interface ContextStore extends Readable, StoreReads {
  /** Where the data lives: what a person is told when it is only memory. May change while the store is opened. */
  readonly persistence: Persistence;

  /**
   * Joins records into the chat, in one strict transaction, and gives the records that changed after `since` and those that were
   * handed in, with their new `seq`, without bodies. A delta that is none is refused whole.
   *
   * Rejects with `data-loss` (another database; `details` hold the present `database` and `generation`), `chat-deleted` (another
   * generation, or a record of a deleted chat), `wrong-user`, `head-moved` (`expect`), `invalid-options`, `quota-exceeded`,
   * `store-closed`, `store-unavailable`, `store-blocked`.
   */
  commit(chatId: string, delta: StoreDelta, options: CommitOptions): Promise<ChatRecords>;
  /**
   * Keeps the words of a growing answer: relaxed, fast, outside the changes. Ignored where another version is shown than the one
   * that it grows from. Other tabs are told.
   */
  saveDraft(chatId: string, draft: Draft, options?: DraftOptions): Promise<void>;
  /** The bodies of a message's earlier versions, oldest first: the last 20 settled ones that were replaced. */
  revisions(chatId: string, key: string): Promise<readonly Revision[]>;

  /** The row of a chat; undefined for an unknown or deleted one. */
  getChat(chatId: string): Promise<ChatRow | undefined>;
  /** Chats, the last updated first. Deleted ones are not in it. */
  listChats(filter?: ChatFilter): Promise<readonly ChatRow[]>;
  /**
   * Messages whose text holds all the words of `query`, best first. Words in quotes, and those without a space between them,
   * stand in a row; the last word may be only begun. Case and accents don't count. Odd queries give [], never an error.
   */
  searchMessages(chatId: string, query: string, options?: SearchOptions): Promise<readonly SearchResult[]>;
  /**
   * Deletes a chat; false when there is none (or it is not `userId`'s). With `keepFor` (ms) its bytes go when that time has
   * passed, and until then `restoreChat` brings it back. A full disk rejects that with `quota-exceeded`; without `keepFor` the
   * chat goes all the same.
   */
  deleteChat(
    chatId: string,
    options?: { readonly userId?: string; readonly keepFor?: number },
  ): Promise<boolean>;
  /** Brings a chat back that was deleted with `keepFor`; false when it is too late. */
  restoreChat(chatId: string): Promise<boolean>;
  /** What changed after change number `seq`, in all chats, oldest first: one entry per record, its last change. */
  changesSince(seq: number, limit?: number): Promise<readonly Change[]>;

  /** A value of the app's own. Keys that begin with `contextree:` are ours. */
  get<T = unknown>(key: string): Promise<T | undefined>;
  /** Keeps a structured-cloneable value. */
  set(key: string, value: unknown): Promise<void>;
  delete(key: string): Promise<void>;

  /**
   * Keeps bytes apart from messages; gives the SHA-256 of their content, as 64 hexadecimal digits. Messages refer to them by the
   * URL `contextree-blob:HASH`; they stay as long as a chat has, or had, such a message, and a day without any. Long `data:`
   * URLs of files are kept like this by themselves, and read as they came.
   */
  putBlob(bytes: Uint8Array): Promise<string>;
  /** Bytes by their name; undefined when they are not there, or have changed. */
  getBlob(hash: string): Promise<Uint8Array | undefined>;

  /** Takes the lock of a message that this tab streams; call the result to let go. It falls with the tab. */
  hold(chatId: string, key: string): Promise<() => void>;
  /** The keys of messages of the chat that some tab streams right now. */
  held(chatId: string): Promise<ReadonlySet<string>>;

  /** Tells of each durable change, of this tab and of others. Returns the way to stop. */
  subscribe(listener: (notice: StoreNotice) => void): () => void;
  /** Forgets everything in the database, also the app's own values: its generation grows. */
  clear(): Promise<void>;
  /** Lets go of connections and listeners; a later call opens again. Work in flight rejects with `store-closed`. */
  close(): Promise<void>;

  /** Tells which records of a chat are damaged; with `repair` puts right what can be. Optional where records can't be damaged. */
  examine?(chatId: string, options?: { readonly repair?: boolean }): Promise<readonly Damage[]>;
  /** How much is stored, and may be, in bytes. `weigh`: also what each kind of record takes; that reads all of the database. */
  storage?(options?: { readonly weigh?: boolean }): Promise<StorageFigures>;
  /** Asks the browser not to clear this site's data by itself; whether it promised. */
  persist?(): Promise<boolean>;
}

/** The two reads that all others are built on. */
export interface Readable {
  /**
   * The topology of a chat, its ends and its marks, or what changed after change number `since`. Of each message the version
   * shown, without its body; `growing`: what drafts say. An unknown or deleted chat has no records. Costs what it returns.
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

/** Reads without an engine, built on these two. */
export interface StoreReads {
  /** One message by key or id, a growing one as of its draft; of several with one id that on the branch shown last, else the newest. */
  getMessage(chatId: string, idOrKey: string): Promise<MessageNode | undefined>;
  /** The messages from the first one to this one, oldest first; an unknown one gives []. With `limit` the last so many. */
  getMessageChain(
    chatId: string,
    headIdOrKey: string,
    options?: { readonly limit?: number },
  ): Promise<MessageNode[]>;
  /** The messages of the branch that was shown last on this device, oldest first. Rejects when the chat is unknown. */
  getMessages(chatId: string): Promise<MessageNode[]>;
  /** The live branches, in the order in which they were made. */
  listBranches(chatId: string): Promise<BranchInfo[]>;
  /** The live checkpoints, newest first. */
  listCheckpoints(chatId: string): Promise<CheckpointInfo[]>;
  /** The chat as a graph of previews, as `visualizeGraph` and devtools show it; empty lists for an unknown chat. */
  getGraph(chatId: string): Promise<GraphData>;
}

/** Where data lives: in IndexedDB, only in memory, or in a store that someone else wrote. */
export type Persistence = 'indexeddb' | 'memory' | 'custom';

/** Records of a chat as they are in one database. */
export interface ChatRecords extends ChatDelta {
  /** The number of the last change in the database that this is true for. */
  readonly seq: number;
  /** The random id of the database. */
  readonly database: string;
  /** How often everything was cleared in it. */
  readonly generation: number;
  /** What drafts say of growing messages. */
  readonly growing: readonly Growing[];
  /** Chat keys of this id that were deleted: their records are left out. */
  readonly deleted: readonly string[];
  /** What is kept on this device alone; only by {@link ContextStore.load} from the beginning. */
  readonly local?: LocalRecords | undefined;
  /** Ids and keys of records that could not be read, if any. They are left out. */
  readonly damaged?: readonly string[];
}

/** What a draft says of a message, without its words; it counts only for the version that it grows from. */
export interface Growing {
  readonly key: string;
  readonly rev: number;
  readonly by: string;
  readonly parts: number;
  readonly preview: string;
}

/** Kept with a chat on this device, never joined: any JSON, by name. */
export type LocalRecords = Readonly<Record<string, unknown>>;

/** What is written in one transaction. */
export interface StoreDelta extends ChatDelta {
  /** Local records to put under their names; undefined takes one out. */
  readonly local?: LocalRecords;
}

/** Under which assumptions records are written. */
export interface CommitOptions {
  readonly userId: string;
  /** The database that was read; '' for one that was never read. */
  readonly database: string;
  readonly generation: number;
  /** The number up to which the caller has read the chat; 0 for a whole replica. */
  readonly since: number;
  /** How many branches its author shows: what a list tells of the chat from then on. */
  readonly branchCount?: number;
  /** Branch records and the keys that they are expected to end at, no others: else `head-moved`, with `ends` in `details`. */
  readonly expect?: Readonly<Record<string, readonly string[]>>;
}

/** A body, and of which version it is. */
export interface Body {
  readonly rev: number;
  readonly by: string;
  readonly sum: string;
  readonly message: UIMessage;
  /** Whether these are words of a draft, which grows. */
  readonly isDraft?: boolean;
}

/** The newest words of a message that grows. */
export interface Draft {
  readonly key: string;
  readonly rev: number;
  readonly by: string;
  /** Where the message lies, as far as its author knows: it need not be looked for. */
  readonly seq?: number;
  readonly message: UIMessage;
}

/** How the words of a growing answer are kept. */
export interface DraftOptions {
  /** For a page about to go: the words are written in one step, and nothing is read before it. */
  readonly isLeaving?: boolean;
  /** Resolves when the disk has them, and rejects as `commit` does; with `message-not-found` where they would be ignored. */
  readonly isDurable?: boolean;
}

/** An earlier version of a message. */
export interface Revision {
  readonly rev: number;
  readonly by: string;
  readonly status: 'complete' | 'interrupted' | 'streaming';
  readonly message: UIMessage;
}

/** The row of a chat: what a list shows. Local to the database. */
export interface ChatRow {
  readonly id: string;
  readonly userId: string;
  readonly title: string | undefined;
  readonly metadata: Readonly<Record<string, unknown>> | undefined;
  /** Messages in the chat, on all branches; those that never said anything are not counted. */
  readonly messageCount: number;
  /** As many as the last page that wrote told; 1 where none did. */
  readonly branchCount: number;
  /** ms since epoch. */
  readonly createdAt: number;
  /** ms since epoch; moved by each commit. */
  readonly updatedAt: number;
}

/** Which chats to list; each field works on its own. */
export interface ChatFilter {
  readonly userId?: string;
  /** Chats whose metadata has this value under this top-level key (`===`). */
  readonly metadata?: { readonly key: string; readonly value: string | number | boolean | null };
  readonly limit?: number;
  readonly offset?: number;
}

/** How to search. */
export interface SearchOptions {
  readonly roles?: readonly string[];
  /** Default 20. */
  readonly limit?: number;
  /** Only these messages, by key. Default: what the chat's live branches reach. */
  readonly keys?: ReadonlySet<string>;
  /** Also what only deleted branches hold. Default false. */
  readonly deleted?: boolean;
}

/** A message that matches. */
export interface SearchResult {
  readonly record: MessageRecord;
  readonly message: UIMessage;
  /** Higher is better; to be compared within one search. */
  readonly rank: number;
  /** About 100 characters around the hits, these between `<mark>` and `</mark>`. HTML: the text in it is escaped. */
  readonly snippet: string;
}

/** One change of one record: its number, what it is, and which. */
export interface Change {
  readonly seq: number;
  readonly kind: 'chat' | 'message' | 'ends' | 'mark';
  readonly op: 'put' | 'delete';
  readonly chatId: string;
  /** The key of a message, the id of anything else. */
  readonly id: string;
}

/** What listeners hear: which chat changed, up to which number; `draft` when an answer only grew; no id: all chats. */
export interface StoreNotice {
  readonly kind: 'change' | 'draft' | 'clear';
  readonly chatId?: string;
  readonly key?: string;
  readonly seq: number;
  /** Whether another tab did it. */
  readonly remote: boolean;
}

/** A record that is damaged: what it is, and whether `repair` can put it right. */
export interface Damage {
  readonly kind: 'message' | 'body' | 'ends' | 'mark' | 'chat' | 'file' | 'draft';
  /** Key or id, as far as it can be told. */
  readonly id: string;
  /** The message whose file it is. */
  readonly key?: string;
  /** In words, for a log. */
  readonly reason: string;
  readonly isMended: boolean;
}

/** How much a store holds, and how safe the browser says it is. */
export interface StorageFigures {
  readonly persistence: Persistence;
  /** Bytes that this site takes in the browser, all its databases and caches; absent where the browser does not tell. */
  readonly usage?: number;
  /** Bytes that this site may take; absent where the browser does not tell. */
  readonly quota?: number;
  /** Whether the browser has promised not to clear this site's data by itself; absent where it does not tell. */
  readonly persisted?: boolean;
  /** Chats that are not deleted. */
  readonly chats: number;
  /** Messages in them. */
  readonly messages: number;
  /** Packs of sealed messages; absent in memory. */
  readonly packs?: number;
  /** Messages that lie in records of their own; absent in memory. */
  readonly singles?: number;
  /** Attachments, and their bytes. */
  readonly blobs: { readonly count: number; readonly bytes: number };
  /** What each kind of record takes, where that was asked for: rows of the database, and about how many bytes. */
  readonly kinds?: readonly { readonly kind: string; readonly rows: number; readonly bytes: number }[];
}
