// The package for React, in reading order: the core, and the hooks on it.

export * from './core.ts';

// Providing the engine.
export { ContextEngineProvider, useEngine } from './react/provider.tsx';
export type { ContextEngineProviderProps } from './react/provider.tsx';
export type { EngineOptions } from './react/registry.ts';
export { useContextEngine } from './react/useContextEngine.ts';
export type { UseContextEngineOptions, UseContextEngineResult } from './react/useContextEngine.ts';

// Fragments of mounted components.
export { useFragments } from './react/useFragments.ts';

// Reading the engine.
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
