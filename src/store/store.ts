import type { UIMessage } from 'ai';
import type { Branch, Chat, Checkpoint, MessageNode, MessageStatus, NodeInfo } from '../graph/graph.ts';
import type { Examination, Finding } from '../graph/verify.ts';
import type { GraphData } from '../graph/visualize.ts';
import type { StorageFigures } from './figures.ts';
import type { DataLoss } from './loss.ts';

/**
 * What a store owes to the conversations in it.
 *
 * Whole or not at all. Every write is one call, and every call is one transaction: when it resolves, all of it is
 * durable; when it rejects, none of it happened. A store never reports a save that did not happen, and never keeps
 * half of one. A pointer to a message that is not there cannot arise.
 *
 * One question, one answer. `append` compares the head that the caller saw with the head that is stored, inside the
 * transaction. Two tabs may write at the same moment; one of them is told, or its turn goes to a branch of its own.
 * Nothing is overwritten.
 *
 * Again is harmless. Ids are made by the caller, so a call whose answer got lost can be repeated: what is there
 * already, and equal, is left as it is.
 *
 * Chats are islands. A node's identity is (chatId, id); nothing in one chat can reach or change another.
 *
 * Order comes from counters that are read and written in the transaction itself: `seq` within a chat, and the change
 * sequence within the database, which feeds other tabs, the devtools and, one day, sync. Clocks order nothing.
 *
 * Everyone hears. After a transaction is durable, and only then, listeners in this tab and in the others are told ids
 * and revisions, never content.
 *
 * What the operations mean is written once, in `apply.ts`, over the few reads and writes of a {@link StoreTransaction}.
 * Both stores of this package are written once, too, over rows (`recordStore.ts`, `rows.ts`); they differ in where the
 * rows lie. One suite (`test/support/storeSuite.ts`) holds all of it.
 */
export interface ContextStore {
  /** Where the data lives: what a person is told when it is only memory. */
  readonly persistence: Persistence;

  /**
   * The chat, its pointers and its topology: all of it, or what changed after change number `since`.
   * An unknown chat gives empty lists and `seq` as it stands. Deleted branches and checkpoints are in it, marked so.
   * Streaming nodes count the parts of their draft. Costs what it returns; no bodies are read.
   */
  load(chatId: string, since?: number): Promise<ChatRecords>;
  /** The chat's row; undefined for an unknown or deleted chat. */
  getChat(chatId: string): Promise<Chat | undefined>;
  /** One message with its body, a streaming one with its draft; undefined when the chat has no such message. */
  getMessage(chatId: string, id: string): Promise<MessageNode | undefined>;
  /**
   * The messages from the root to `headId`, oldest first; an unknown head gives [].
   * With `limit` the last so many. Streaming ones carry their draft.
   */
  getMessageChain(
    chatId: string,
    headId: string,
    options?: { readonly limit?: number },
  ): Promise<MessageNode[]>;
  /**
   * The messages with these ids, in the order asked; unknown ids are left out. One transaction. `seqs`, in any order, are
   * where the caller last saw them: a store need not believe it, and may find them sooner.
   */
  getNodes(chatId: string, ids: readonly string[], seqs?: readonly number[]): Promise<MessageNode[]>;
  /** The messages of the chat's active branch, oldest first. Rejects when the chat is unknown. */
  getMessages(chatId: string): Promise<MessageNode[]>;
  /** The live branches, in the order in which they were made. */
  listBranches(chatId: string): Promise<BranchInfo[]>;
  /** The live checkpoints, newest first. */
  listCheckpoints(chatId: string): Promise<CheckpointInfo[]>;
  /** The chat as a graph of previews, as `visualizeGraph` and devtools show it; empty lists for an unknown chat. */
  getGraph(chatId: string): Promise<GraphData>;
  /** Chats, the last updated first. Deleted ones, and those being removed, are not in it. */
  listChats(filter?: ChatFilter): Promise<ChatInfo[]>;
  /**
   * Messages whose text holds all the words of `query`, best first. Words in quotes, and those that no space parts,
   * must stand in a row; the last word may be only begun. Case and accents don't count. Texts and names of files are
   * searched. Odd queries give [], never an error. The first search reads the chat; later ones cost what has changed.
   */
  searchMessages(chatId: string, query: string, options?: SearchOptions): Promise<SearchResult[]>;
  /**
   * Looks at every record of a chat as it lies, and tells what is damaged and what can be saved of it. Writes nothing:
   * `repair()` of the engine does, by a `mend`. Stores whose records can't be damaged one by one need not have it.
   */
  salvage?(chatId: string): Promise<Salvage>;
  /** What changed after change number `seq`, oldest first: one entry per thing, its last change. */
  changesSince(seq: number, limit?: number): Promise<Change[]>;

  /**
   * Carries out the operations in order, in one durable transaction, and says what became of them.
   *
   * Rejects with `head-moved` (policy `error`, or a revision that is gone: of a `replace`, or `chatRev`), `chat-deleted`,
   * `wrong-user`, `name-taken`, `last-branch`, `branch-not-found`, `message-not-found`, `checkpoint-not-found`;
   * with `quota-exceeded`, `store-closed`, `store-unavailable` or `store-blocked` when the disk says no.
   */
  append(chatId: string, ops: readonly StoreOp[], options: AppendOptions): Promise<AppendResult>;
  /**
   * Keeps the words of an answer that is still growing: relaxed, fast, outside the change sequence.
   * Ignored when the node is gone or settled. Other tabs are told that it grew.
   */
  saveDraft(chatId: string, id: string, message: UIMessage, options?: DraftOptions): Promise<void>;
  /**
   * Deletes a chat with everything in it; false when there is none (or it is not `userId`'s).
   * With `keepFor` (ms) it disappears at once and its bytes go when that time has passed, with `Infinity` never by
   * themselves; `restoreChat` brings it back until then, also in another tab. What stays is
   * `{ id, userId, rev, epoch, deletedAt }`. A full disk, which takes no note of it, rejects with `quota-exceeded` where there
   * is a `keepFor`; without one the chat goes all the same, and makes room.
   */
  deleteChat(
    chatId: string,
    options?: { readonly userId?: string; readonly keepFor?: number },
  ): Promise<boolean>;
  /** Brings a chat back that was deleted with `keepFor`; false when it is too late. */
  restoreChat(chatId: string): Promise<boolean>;

  /** A value of the app's own. Keys that begin with `contextree:` are ours. */
  get<T = unknown>(key: string): Promise<T | undefined>;
  /** Keeps a structured-cloneable value. */
  set(key: string, value: unknown): Promise<void>;
  delete(key: string): Promise<void>;

  /**
   * Keeps bytes apart from messages, and returns their name: the SHA-256 of their content, as 64 hexadecimal digits.
   * The same bytes are kept once. Messages refer to them by the URL `contextree-blob:HASH`, anywhere in their JSON; they
   * stay as long as a chat has such a message, or had one, and a day without any. Files that come in messages as
   * `data:` URLs need no call: they are kept like this by themselves, and read as they came.
   */
  putBlob(bytes: Uint8Array): Promise<string>;
  /** Bytes by their name; undefined when they are not there, or are not those that were put. */
  getBlob(hash: string): Promise<Uint8Array | undefined>;

  /**
   * Takes the lock of a node that this tab streams; call the result to let go. It falls with the tab.
   * The lock tells whether an answer is still being written. Correctness of data never depends on it.
   */
  hold(chatId: string, id: string): Promise<() => void>;
  /** The nodes of the chat that some tab streams right now. */
  held(chatId: string): Promise<ReadonlySet<string>>;

  /** Tells of each durable change, of this tab and of others. Returns the way to stop. */
  subscribe(listener: (notice: StoreNotice) => void): () => void;
  /** Forgets everything in the database, of all chats, and the app's own values. Other tabs are told. */
  clear(): Promise<void>;
  /**
   * Lets go of connections and listeners. What is under way finishes or rejects with `store-closed`, and opens nothing
   * again; a later call does.
   */
  close(): Promise<void>;

  /** What was lost since the last visit, until it is restored or dismissed; a notice `loss` tells when it changes. */
  readonly dataLoss?: DataLoss | undefined;
  /** How much is stored, and how much may be. */
  storage?(): Promise<StorageFigures>;
  /** Asks the browser not to clear this site's data by itself; whether it promised. Call it when a person asks to. */
  persist?(): Promise<boolean>;
}

/** Where data lives: in IndexedDB, only in memory, or in a store that someone else wrote. */
export type Persistence = 'indexeddb' | 'memory' | 'custom';

/** What can be done to a chat. Ids of new things are made by the caller; missing times are now. */
export type StoreOp =
  /**
   * A new message under `parentId`. One that is there already, and equal, is left alone. With `rev`, one that was lost, at
   * the revision that it was at: it is told from older and newer ones by that, should they come back, too.
   */
  | {
      readonly op: 'insert';
      readonly id: string;
      readonly parentId: string | null;
      readonly data: UIMessage;
      readonly status: MessageStatus;
      readonly createdAt?: number;
      readonly sources?: readonly string[];
      readonly rev?: number;
    }
  /**
   * A new body or status for a message; the replaced body is kept as a revision. With `rev`, only if it is that one. With
   * `createdAt`, another message of this id is none.
   */
  | {
      readonly op: 'replace';
      readonly id: string;
      readonly data?: UIMessage;
      readonly status?: MessageStatus;
      readonly rev?: number;
      readonly createdAt?: number;
    }
  /**
   * Takes back a reserved message that never said anything; a branch or checkpoint that ends there ends at its parent.
   * One that has words by now, or a message behind it, stays, is `interrupted` if it was still growing, and the result
   * shows it. With `createdAt`, another message of this id is none.
   */
  | { readonly op: 'drop'; readonly id: string; readonly createdAt?: number }
  /**
   * Moves a branch's head from `expected` to `messageId`. If it is elsewhere by now, or the branch is deleted, the
   * policy decides: a new branch with id `forkId`, a rebase, or `head-moved`. A `forkId` is of one head operation, and
   * the same when that is tried again.
   */
  | {
      readonly op: 'head';
      readonly branchId: string;
      readonly expected: string | null;
      readonly messageId: string | null;
      readonly forkId: string;
    }
  /**
   * A new branch: named `name`, or after `base` by the naming rule; with both, after `base` where that name is taken. One
   * that is there already is left alone; if it ends on the way to the message, it ends there now.
   */
  | {
      readonly op: 'branch';
      readonly id: string;
      readonly name?: string;
      readonly base?: string;
      readonly messageId: string | null;
    }
  | { readonly op: 'rename-branch'; readonly id: string; readonly name: string }
  /** Deletes a branch; refused (`last-branch`) for the last one. */
  | { readonly op: 'delete-branch'; readonly id: string }
  /** Brings a deleted branch back, under its name or the next free one. */
  | { readonly op: 'restore-branch'; readonly id: string }
  /** Marks a branch as the one shown: where the next engine opens. */
  | { readonly op: 'use'; readonly branchId: string }
  /** A checkpoint at a message. A live one with that name moves and keeps its id. */
  | { readonly op: 'checkpoint'; readonly id: string; readonly name: string; readonly messageId: string }
  | { readonly op: 'rename-checkpoint'; readonly id: string; readonly name: string }
  | { readonly op: 'delete-checkpoint'; readonly id: string }
  /**
   * Title (null clears it), metadata (merged, shallow) and usage (numbers are added, nested ones too; once where it is
   * told again under the same `usageId`).
   */
  | {
      readonly op: 'chat';
      readonly title?: string | null;
      readonly metadata?: Readonly<Record<string, unknown>>;
      readonly usage?: Readonly<Record<string, unknown>>;
      readonly usageId?: string;
    }
  /**
   * Puts the records of a damaged chat right, as they were examined: refused with `head-moved` if anything was written
   * since change number `seq`. `bodies` and `files` are those that were found elsewhere.
   */
  | ({
      readonly op: 'mend';
      readonly seq: number;
      readonly bodies?: readonly UIMessage[];
      readonly files?: Salvage['files'];
    } & Omit<Examination, 'findings'>)
  /** A value beside the chat, in the same transaction. */
  | { readonly op: 'set'; readonly key: string; readonly value: unknown }
  /**
   * Fields of a record beside the chat, read and written in the same transaction: two tabs lose nothing of each other's.
   * One that is null is taken out.
   */
  | { readonly op: 'merge'; readonly key: string; readonly value: Readonly<Record<string, unknown>> };

/** The operations of one name, or of some. */
export type OpNamed<Name extends StoreOp['op']> = Extract<StoreOp, { readonly op: Name }>;

/** What to do when another tab moved the head first. */
export type ConflictPolicy = 'fork' | 'rebase' | 'error';

/** Who writes, and under which assumptions. */
export interface AppendOptions {
  readonly userId: string;
  /** The chat's `epoch` as the caller knows it; 0 for a chat that it has never seen. */
  readonly epoch: number;
  /**
   * The id of `main`, if this write creates the chat. If another tab has created it meanwhile, this id means the `main`
   * that is there: the result tells its real id.
   */
  readonly mainBranchId: string;
  /** Metadata of the chat, if this write creates it. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** What to do when a `head` operation finds another head. Default `fork`. */
  readonly onConflict?: ConflictPolicy;
  /**
   * The revision of the chat's row up to which the caller knows all that was written: another one rejects with
   * `head-moved` (`reason: 'chat'`). For what only one tab may do, like beginning an answer. Default: any.
   */
  readonly chatRev?: number;
  /**
   * The change number that what the caller knows of the chat is true for. Where everything was cleared since, the chat is
   * refused with `chat-deleted`, instead of being written again from what the caller knows. Where the disk lost it, it is
   * refused with `chat-missing`: the caller alone knows what else is to be written again, and the `epoch` in the details is
   * that of the chat that this begins. Default: any.
   */
  readonly asOf?: number | undefined;
  /**
   * When the chat was created, as the caller knows it, in ms since epoch. Where the disk lost that one, and another tab has
   * written it again, it is refused with `chat-missing`, too (`reason: 'another'`): what the caller knows may mean other
   * messages there. Where one of fewer deletions was deleted there, it is refused as lost. Default: any.
   */
  readonly chatCreatedAt?: number | undefined;
}

/** How the words of a growing answer are kept. */
export interface DraftOptions {
  /**
   * For a page about to go, which no answer reaches any more: the words are written in one step, and nothing is read
   * before it.
   */
  readonly isLeaving?: boolean;
  /**
   * Resolves when the disk has them, as `append` does, and rejects as that does; with `message-not-found` where they would
   * be ignored. Stores that can't do it may leave it to the end of the answer.
   */
  readonly isDurable?: boolean;
}

/** Records of a chat, as they are now. */
export interface ChatRecords {
  /** The change sequence of the database that this is true for. */
  readonly seq: number;
  /** The change number that everything was cleared at; absent where it never was. What was known before is gone. */
  readonly clearedSeq?: number;
  /** The row; with `deletedAt` what is left of a deleted chat; undefined for an unknown one, or if it did not change. */
  readonly chat: Chat | undefined;
  readonly branches: readonly Branch[];
  readonly checkpoints: readonly Checkpoint[];
  /** In the order of `seq`. */
  readonly nodes: readonly NodeInfo[];
  /** Ids of messages that were taken back. */
  readonly dropped: readonly string[];
}

/** What is damaged in a chat, and what can be saved. */
export interface Salvage {
  readonly findings: readonly Finding[];
  /** Messages whose topology was lost or wrong, as far as it can be told. */
  readonly nodes: readonly NodeInfo[];
  /** Bodies that lie in the place of others. */
  readonly bodies: readonly UIMessage[];
  /** Ids of branches and checkpoints whose records were wrong: as they are read, they can be written. */
  readonly pointers: readonly string[];
  /** Bytes of files that were lost and found elsewhere, by their hash. */
  readonly files?: ReadonlyMap<string, Uint8Array>;
  /** The row of the chat, where none of its records is left. */
  readonly chat?: Chat;
}

/** What an append did: the records that it spoke of, as they are now, also those that were there and equal. */
export interface AppendResult extends ChatRecords {
  readonly chat: Chat;
  /** Whether anything had to be written. If not, `seq` is the number of an earlier change, perhaps another tab's. */
  readonly changed: boolean;
  /** Whether the row of the chat was. If not, its `rev` is that of an earlier write, perhaps another tab's. */
  readonly chatChanged: boolean;
  /** Bodies of the messages that were inserted or replaced, with their final places, in the order of `seq`. */
  readonly written: readonly MessageNode[];
  /** Set when the head had moved: from which branch the turn was taken, and to which it went. */
  readonly conflict?: { readonly policy: 'fork' | 'rebase'; readonly from: Branch; readonly to: Branch };
}

/** One change of one thing: its number, what it is, and its revision now. */
export interface Change {
  readonly seq: number;
  readonly kind: 'chat' | 'node' | 'branch' | 'checkpoint';
  readonly op: 'put' | 'delete';
  readonly chatId: string;
  readonly id: string;
  readonly rev: number;
}

/**
 * What listeners hear: which chat changed, up to which number; `draft` when an answer only grew; no id: all chats;
 * `loss` when `dataLoss` is another one, or none any more.
 */
export interface StoreNotice {
  readonly kind: 'change' | 'draft' | 'clear' | 'loss';
  readonly chatId?: string;
  readonly id?: string;
  readonly seq: number;
  /** Whether another tab did it. */
  readonly remote: boolean;
}

/** A branch as people see it. */
export interface BranchInfo {
  readonly id: string;
  readonly name: string;
  readonly headMessageId: string | null;
  readonly isActive: boolean;
  /** Messages from the root to the head; an engine leaves out those before it that have no words, and are not seen. */
  readonly messageCount: number;
  /** Milliseconds since epoch. */
  readonly createdAt: number;
}

/** A checkpoint as people see it. */
export interface CheckpointInfo {
  readonly id: string;
  readonly name: string;
  readonly messageId: string;
  /** Milliseconds since epoch. */
  readonly createdAt: number;
}

/** A chat in a list. */
export interface ChatInfo {
  readonly id: string;
  readonly userId: string;
  readonly title: string | undefined;
  readonly metadata: Readonly<Record<string, unknown>> | undefined;
  readonly messageCount: number;
  readonly branchCount: number;
  /** Milliseconds since epoch. */
  readonly createdAt: number;
  /** Milliseconds since epoch; moved by each save. */
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
  /** Only this branch, by id or name: the messages from the root to its head. Default: all live branches. */
  readonly branch?: string;
  /** Also what only deleted branches hold. Default false. */
  readonly deleted?: boolean;
}

/** A message that matches. */
export interface SearchResult {
  readonly message: MessageNode;
  /** Higher is better; to be compared within one search. */
  readonly rank: number;
  /** About 100 characters around the hits, these between `<mark>` and `</mark>`. HTML: the text in it is escaped. */
  readonly snippet: string;
}

/**
 * The reads and writes that an append is made of, within one transaction of one chat.
 *
 * All reads come first; then, in one go and without waiting, all writes. So a store needs no buffer of its own, and
 * memory is as whole as a database. Nothing is visible outside until the transaction is durable; a throw undoes all.
 */
export interface StoreTransaction {
  readonly chatId: string;
  /** This device's id. */
  readonly deviceId: string;

  /** The row, also that of a deleted chat. */
  chat(): Promise<Chat | undefined>;
  /**
   * What a chat that is written now, by this clock, is listed by: the clock's time, or one behind that of the last write,
   * where the clock was set back since. Absent where nothing is listed.
   */
  moment?(now: number): number;
  /** The last number of the change sequence that was given out. */
  seq(): Promise<number>;
  /**
   * Looks up whether these messages are there, all at once: faster than one by one when there are many. Gives those that
   * are, and the `seq` that is free, `nextSeq` or beyond.
   */
  expect?(
    ids: readonly string[],
    nextSeq: number,
  ): Promise<{ readonly nextSeq: number; readonly there: ReadonlySet<string> }>;
  /** Where no words of a chat lie whose records are gone, at this `seq` and beyond; 0 where there are none. */
  wordsEnd?(): Promise<number>;
  /** A message as it is stored, without its body; no draft is looked at. */
  info(id: string): Promise<NodeInfo | undefined>;
  /** A message as it is stored, with its body; no draft is looked at. `known` is where it lies, if its id does not tell. */
  node(id: string, known?: NodeInfo): Promise<MessageNode | undefined>;
  /** What a streaming message has said since it was stored. */
  draft(id: string): Promise<UIMessage | undefined>;
  /** Whether some message follows this one. */
  hasChildren(info: NodeInfo): Promise<boolean>;
  /** A branch, also a deleted one. */
  branch(id: string): Promise<Branch | undefined>;
  /** All branches, deleted ones too, in the order in which they were made. */
  branches(): Promise<readonly Branch[]>;
  /** All checkpoints, deleted ones too, in the order in which they were made. */
  checkpoints(): Promise<readonly Checkpoint[]>;
  /** A value beside the chat. */
  value(key: string): Promise<unknown>;

  /**
   * Forgets everything in the chat but its row: messages, drafts, revisions, branches, checkpoints, changes, and the values that go with it.
   * `isBegun`: it is begun (again) by this write; who writes its first answer has told so already, and still does.
   */
  purge(isBegun?: boolean): void;
  putChat(chat: Chat): void;
  /** The sum that is kept of a body that is going to be written. */
  bodyHash(body: UIMessage): string;
  /**
   * Writes a message, in both its forms; `replaced`, where given, is kept as a revision, and the draft goes. Comes behind
   * the changes: many new messages are written at once, and each with the number of its own.
   */
  putNode(node: MessageNode, info: NodeInfo, replaced?: MessageNode): void;
  /** Removes a message and its draft. */
  dropNode(info: NodeInfo): void;
  putBranch(branch: Branch): void;
  putCheckpoint(checkpoint: Checkpoint): void;
  /** Keeps the bytes of a file under their hash. */
  putFile?(hash: string, bytes: Uint8Array): void;
  /** Enters changes, in the order of their numbers; the last one is the new end of the sequence. */
  putChanges(changes: readonly Change[]): void;
  putValue(key: string, value: unknown): void;
}
