// For authors of stores: the contract of a store, and its types.

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

// The records that it keeps.
export type { ChatDelta, EndsRecord, Mark, MessageRecord, MessageStatus, Version } from '../graph/graph.ts';

// What readers without an engine get.
export type { BranchInfo, CheckpointInfo, MessageNode } from './reads.ts';
