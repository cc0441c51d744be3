import type { UIMessage } from 'ai';
import type { ContextError, ContextErrorCode } from '../errors.ts';
import type { ContextFragment } from '../fragment/fragment.ts';
import type { MessageStatus } from '../graph/graph.ts';
import type { RequestEvent } from '../record/recorder.ts';
import type { BranchInfo as StoredBranch, CheckpointInfo } from '../store/reads.ts';
import type { Persistence } from '../store/store.ts';

export type { CheckpointInfo };

/** What an interface may show of a chat: one immutable value. An unchanged slice keeps its identity. */
export interface EngineState {
  /** `loading` until the chat is read; `error` when it can't be read, or was deleted (`chat-deleted`). */
  readonly status: 'loading' | 'ready' | 'error';
  /** Why the status is `error`; null otherwise. */
  readonly error: ContextError | null;
  /** The chat's row; null until it is read, and before the first message, which may still be in the saving. */
  readonly chat: Chat | null;
  /** The name of the active branch: `main` until the chat is read. */
  readonly branch: string;
  /** The handle of the active branch on this page: no rename and no join changes it. */
  readonly branchId: string;
  /** The last message shown: the branch's head, or the message checked out; undefined when there is none. */
  readonly headMessageId: string | undefined;
  /** The key of that message. */
  readonly headKey: string | undefined;
  /** True while `checkout()` shows a branch only up to a message before its head. */
  readonly detached: boolean;
  /** Live branches, in the order in which they were made; empty for a chat to which nothing was ever saved. */
  readonly branches: readonly BranchInfo[];
  /** Live checkpoints, newest first. */
  readonly checkpoints: readonly CheckpointInfo[];
  /** The loaded end of the active chain, oldest first: saved messages only, a streaming one as of its last draft. */
  readonly messages: readonly UIMessage[];
  /**
   * What another tab is writing on the active branch, oldest first: its question, and its answer as of the last draft. They
   * move to `messages` when the answer is settled. One whose id is also in `messages` is an answer that the other tab
   * continues.
   */
  readonly remoteMessages: readonly UIMessage[];
  /** How many messages of the active chain stand before the first loaded one. */
  readonly loadedFrom: number;
  /** Messages set and not yet saved, in order. */
  readonly pending: readonly ContextFragment[];
  /** Fragments of the system prompt: those of `set()`, then those of mounted components. */
  readonly fragments: readonly ContextFragment[];
  readonly saveState: SaveState;
  /** Where the data lives. `memory` when IndexedDB is refused: say so to the person. */
  readonly persistence: Persistence;
  /** Grows with each change of the graph, drafts included. */
  readonly revision: number;
}

/** Whether everything is saved. */
export interface SaveState {
  /** `saving` while a durable write is under way; `error` while some of it is only in memory. */
  readonly state: 'idle' | 'saving' | 'saved' | 'error';
  /**
   * Why it could not be saved; the engine tries again by itself, and on `retry()`. `data-loss`: the browser cleared what was
   * saved; `retry()`, or the next write, writes it again.
   */
  readonly error?: ContextError;
  /** How many messages are only in memory, queued questions included. */
  readonly pending: number;
}

/** An event of an engine: ids, names and times, never content. Each has `at` and `ms`. */
export type ContextEvent = {
  /** Milliseconds since epoch. */
  readonly at: number;
  /** Its duration in milliseconds; 0 for what takes no time. */
  readonly ms: number;
} & (
  | { readonly type: 'set'; readonly fragments: number; readonly messages: number }
  | {
      readonly type: 'resolve';
      readonly branch: string;
      readonly messages: number;
      readonly characters: number;
    }
  | { readonly type: 'save'; readonly branch: string; readonly ids: readonly string[] }
  | { readonly type: 'switch'; readonly from: string; readonly to: string }
  | {
      readonly type: 'branch';
      readonly action: MarkAction;
      readonly name: string;
      readonly id: string;
      /** With `restore`: a message that was written after the deletion brought it back; absent for an undo. */
      readonly hasGrown?: boolean;
    }
  | {
      readonly type: 'checkpoint';
      readonly action: MarkAction;
      readonly name: string;
      readonly messageId: string;
    }
  | {
      readonly type: 'stream';
      readonly phase: 'start' | 'draft' | 'end';
      readonly branch: string;
      readonly id: string;
      readonly status: MessageStatus;
    }
  /** Another tab moved the head of `from` first; the turn went to `to`. */
  | {
      readonly type: 'conflict';
      readonly policy: 'fork' | 'rebase';
      readonly from: string;
      readonly to: string;
      readonly toId: string;
    }
  | {
      readonly type: 'error';
      readonly code: ContextErrorCode;
      readonly message: string;
      readonly id?: string;
    }
  /** Sent while somebody records: see `record()`. */
  | RequestEvent
);

type MarkAction = 'create' | 'rename' | 'delete' | 'restore';

/** A chat, from its records. */
export interface Chat {
  readonly id: string;
  /** The user who began it. */
  readonly userId: string;
  readonly title?: string;
  /** The app's fields, and `usage`: the sum of all usage that was tracked. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Milliseconds since epoch. */
  readonly createdAt: number;
  /** Milliseconds since epoch. */
  readonly updatedAt: number;
  /** How many messages show, on all branches. */
  readonly messageCount: number;
}

/** A branch, for people. */
export interface BranchInfo extends StoredBranch {
  /** Its handle on this page: no rename and no join changes it. */
  readonly id: string;
  /** The name that a person gave, or else the first words that differ from the branch that it came from. */
  readonly label: string;
  /** The id of the branch that it came from, and the key of their last common message. */
  readonly forkedFrom: string | undefined;
  readonly forkedAt: string | null;
  /** How many messages it has behind that one. */
  readonly ownCount: number;
}

/** The versions of a message, oldest first, and the index of this one. */
export interface Versions {
  /** Its index among them, from 0; -1 for an unknown message. */
  readonly index: number;
  readonly ids: readonly string[];
  readonly keys: readonly string[];
}

/** The versions of an unknown message. */
export const NO_VERSIONS: Versions = { index: -1, ids: [], keys: [] };

/** The prefix of the names of local records that keep operations. */
export const OPERATION = 'operation ';

/** The handle of the active branch before a chat is read, or begun; no person can give a branch this name. */
export const FIRST_BRANCH = 'branch:first';
