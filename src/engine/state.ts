import type { UIMessage } from 'ai';
import type { ContextError, ContextErrorCode } from '../errors.ts';
import type { ContextFragment } from '../fragment/fragment.ts';
import type { MessageStatus } from '../graph/graph.ts';
import type { RequestEvent } from '../record/recorder.ts';
import type { CheckpointInfo } from '../store/reads.ts';
import type { Persistence } from '../store/store.ts';

export type { CheckpointInfo };

/** What an interface may show of a chat: one immutable value. A slice that did not change keeps its identity. */
export interface EngineState {
  /** `loading` until the chat is read; `error` when it can't be, or when it was deleted (`chat-deleted`). */
  readonly status: 'loading' | 'ready' | 'error';
  /** Why the status is `error`; null otherwise. */
  readonly error: ContextError | null;
  /** The chat's row; null until it is read, and until the first message, which `saveState` may still tell to be saving. */
  readonly chat: Chat | null;
  /** The name of the active branch: `main` until the chat is read. */
  readonly branch: string;
  /** The handle of the active branch on this page: no rename and no join changes it. */
  readonly branchId: string;
  /** The last message shown: the branch's head, or the message checked out; undefined when there is none. */
  readonly headMessageId: string | undefined;
  /** Its key. */
  readonly headKey: string | undefined;
  /** True while `checkout()` shows a branch only up to a message before its head. */
  readonly detached: boolean;
  /** Live branches, in the order in which they were made; empty for a chat that nothing was ever saved to. */
  readonly branches: readonly BranchInfo[];
  /** Live checkpoints, newest first. */
  readonly checkpoints: readonly CheckpointInfo[];
  /** The loaded end of the active chain, oldest first; saved messages only, streaming ones as of their last draft. */
  readonly messages: readonly UIMessage[];
  /**
   * What another tab is writing on the active branch, oldest first: its question, and its answer as of the last draft. It joins
   * `messages` when the answer is settled. One whose id is among `messages` is an answer that the other tab goes on with.
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
  /** Grows with each change of the graph, drafts too. */
  readonly revision: number;
}

/** Whether what was said is safe. */
export interface SaveState {
  /** `saving` while a durable write is under way; `error` while some of it is only in memory. */
  readonly state: 'idle' | 'saving' | 'saved' | 'error';
  /**
   * Why it could not be saved; it is tried again by itself, and by `retry()`. `data-loss`: the browser cleared what was saved; it
   * is written again by `retry()`, or with whatever is said next.
   */
  readonly error?: ContextError;
  /** Messages that are only in memory, and questions that wait for their turn. */
  readonly pending: number;
}

/** What an engine tells its subscribers: ids, names and times, never content. `at` and `ms` in every one. */
export type ContextEvent = {
  /** Milliseconds since epoch. */
  readonly at: number;
  /** How long it took, in milliseconds; 0 for what takes no time. */
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
  | { readonly type: 'branch'; readonly action: MarkAction; readonly name: string; readonly id: string }
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
  /** While somebody records: see `record()`. */
  | RequestEvent
);

type MarkAction = 'create' | 'rename' | 'delete' | 'restore';

/** A chat, as its records tell it. */
export interface Chat {
  readonly id: string;
  /** The user who began it. */
  readonly userId: string;
  readonly title?: string;
  /** The app's fields, and `usage`: what was counted of it in all. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Milliseconds since epoch. */
  readonly createdAt: number;
  /** Milliseconds since epoch. */
  readonly updatedAt: number;
  /** Messages that show, on all branches. */
  readonly messageCount: number;
}

/** A branch, as people see it. */
export interface BranchInfo {
  /** Its handle on this page: no rename and no join changes it. */
  readonly id: string;
  /** Unique among the live branches of the chat. */
  readonly name: string;
  /** The person's own name, or else the first words that differ from the branch that it came from. */
  readonly label: string;
  readonly headMessageId: string | null;
  readonly headKey: string | null;
  readonly isActive: boolean;
  /** Messages from the first one to the head. */
  readonly messageCount: number;
  /** Milliseconds since epoch. */
  readonly createdAt: number;
  /** The id of the branch that it came from, and the key of the last common message. */
  readonly forkedFrom: string | undefined;
  readonly forkedAt: string | null;
  /** How many messages it has behind that. */
  readonly ownCount: number;
}

/** The versions of a message, oldest first, and which of them it is. */
export interface Versions {
  /** Its place among them, from 0; -1 for an unknown message. */
  readonly index: number;
  readonly ids: readonly string[];
  readonly keys: readonly string[];
}

/** The versions of a message that nobody knows. */
export const NO_VERSIONS: Versions = { index: -1, ids: [], keys: [] };

/** The beginning of the names of local records that keep operations. */
export const OPERATION = 'operation ';

/** The handle of the branch shown before a chat is read, or begun: no name that a person gives. */
export const FIRST_BRANCH = 'branch:first';
