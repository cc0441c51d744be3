// contextree for React, in reading order: the core, and the windows on it.

export * from './core.ts';

// Where the engine comes from.
export { ContextEngineProvider, useEngine } from './react/provider.tsx';
export type { ContextEngineProviderProps } from './react/provider.tsx';
export type { EngineOptions } from './react/registry.ts';
export { useContextEngine } from './react/useContextEngine.ts';
export type { UseContextEngineOptions, UseContextEngineResult } from './react/useContextEngine.ts';

// Context that follows the interface.
export { useFragments } from './react/useFragments.ts';

// What the engine shows.
export { useBranches } from './react/useBranches.ts';
export type { UseBranchesResult } from './react/useBranches.ts';
export { useMessageBranch } from './react/useMessageBranch.ts';
export type { UseMessageBranchResult } from './react/useMessageBranch.ts';
export { useCheckpoint } from './react/useCheckpoint.ts';
export type { UseCheckpointResult } from './react/useCheckpoint.ts';
export { useHistory } from './react/useHistory.ts';
export type { UseHistoryResult } from './react/useHistory.ts';
export { useChats } from './react/useChats.ts';
export type { UseChatsOptions, UseChatsResult } from './react/useChats.ts';
export { useEngineState } from './react/useEngineState.ts';
export type { AsyncAction } from './react/usePending.ts';
