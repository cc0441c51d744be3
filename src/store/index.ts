// For those who write a store of their own: what it owes, and the words it is said in.

// The contract.
export type {
  Body,
  Change,
  ChatFilter,
  ChatRecords,
  ChatRow,
  CommitOptions,
  ContextStore,
  Damage,
  Draft,
  DraftOptions,
  Growing,
  LocalRecords,
  Persistence,
  Revision,
  SearchOptions,
  SearchResult,
  StorageFigures,
  StoreDelta,
  StoreNotice,
  StoreReads,
} from './store.ts';

// What it keeps.
export type { ChatDelta, EndsRecord, Mark, MessageRecord, MessageStatus, Version } from '../graph/graph.ts';

// What it gives to those who read without an engine.
export type { BranchInfo, CheckpointInfo, MessageNode } from './reads.ts';
