import type { UIMessage } from 'ai';
import type { ContextError, ContextErrorCode } from '../errors.ts';
import type { ContextFragment } from '../fragment/fragment.ts';
import type { Chat, MessageStatus } from '../graph/graph.ts';
import type { DataLoss } from '../store/loss.ts';
import type { BranchInfo, CheckpointInfo, Persistence } from '../store/store.ts';
import type { Versions } from './history.ts';

/**
 * Everything about a chat that an interface may show: one immutable value.
 * A slice that did not change keeps its identity, so whoever selects it does not render.
 */
export interface EngineState {
  /** `loading` until the chat is read; `error` when it can't be, or when it was deleted (`chat-deleted`). */
  readonly status: 'loading' | 'ready' | 'error';
  /** Why the status is `error`; null otherwise. */
  readonly error: ContextError | null;
  /** The chat's row; null before the first load and for a chat that nothing was ever saved to. */
  readonly chat: Chat | null;
  /** The name of the active branch: `main` until the chat is read. */
  readonly branch: string;
  /** The id of the active branch, stable across renames. */
  readonly branchId: string;
  /** The last message shown: the branch's head, or the message checked out; undefined when there is none. */
  readonly headMessageId: string | undefined;
  /** True while `checkout()` shows a branch only up to a message before its head. */
  readonly detached: boolean;
  /** Live branches, in the order in which they were made; empty for a chat that nothing was ever saved to. */
  readonly branches: readonly BranchInfo[];
  /** Live checkpoints, newest first. */
  readonly checkpoints: readonly CheckpointInfo[];
  /** The loaded end of the active chain, oldest first; saved messages only, streaming ones as of their last draft. */
  readonly messages: readonly UIMessage[];
  /**
   * What another tab is writing on the active branch, behind `messages`: its question, and its answer as of the last
   * draft (without parts before the first), oldest first. It is there to be looked at; it joins `messages` when the answer is settled. One whose id is
   * among `messages` is an answer that the other tab goes on with. Empty while nobody else writes here.
   */
  readonly elsewhere: readonly UIMessage[];
  /** How many messages of the active chain stand before the first loaded one: what `loadMore()` may still bring. */
  readonly loadedFrom: number;
  /** Messages set and not yet saved, in order. */
  readonly pending: readonly ContextFragment[];
  /** Fragments of the system prompt: those of `set()`, then those of mounted components. */
  readonly fragments: readonly ContextFragment[];
  readonly saveState: SaveState;
  /** Where the data lives. `memory` when IndexedDB is refused: say so to the person. */
  readonly persistence: Persistence;
  /** What the browser lost since the last visit, until it is restored or dismissed; null otherwise. */
  readonly dataLoss: DataLoss | null;
  /** Grows with each change of the graph, drafts too: what siblings, forks, statuses and previews are derived from. */
  readonly revision: number;
}

/** Whether what was said is safe. */
export interface SaveState {
  /** `saving` while a durable write is under way; `error` while some of it is only in memory. */
  readonly state: 'idle' | 'saving' | 'saved' | 'error';
  /**
   * Why it could not be saved; it is tried again by itself, and by `retry()`. `data-loss`: the browser lost what was saved,
   * and the chat is written again by `retry()`, with whatever is said next, or by {@link DataLoss.restore}.
   */
  readonly error?: ContextError;
  /** Messages that are only in memory, or some large part of them; questions that wait for their turn, too. */
  readonly pending: number;
  /** The ids of messages that are on the disk without their files, for which there was no room; absent for none. */
  readonly leftOut?: readonly string[];
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
  | {
      readonly type: 'branch';
      readonly action: 'create' | 'rename' | 'delete' | 'restore';
      readonly name: string;
      readonly id: string;
    }
  | {
      readonly type: 'checkpoint';
      readonly action: 'create' | 'rename' | 'delete' | 'restore';
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
);

/** The versions of a message that nobody knows. */
export const NO_VERSIONS: Versions = { index: -1, ids: [] };
