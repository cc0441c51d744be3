import { useStore } from 'zustand';
import type { ContextEngine } from '../engine/engine.ts';
import type { BranchInfo } from '../engine/state.ts';
import { useEngine } from './provider.tsx';
import { useActions, type AsyncAction } from './usePending.ts';

/** The branches of the chat, and the actions on them. Functions are stable; they reject as the engine does. */
export interface UseBranchesResult extends AsyncAction {
  /** Live branches, in the order in which they were made; empty for a chat to which nothing was ever saved. */
  readonly branches: readonly BranchInfo[];
  /** The active branch; undefined until one is stored. */
  readonly current: BranchInfo | undefined;
  /** Shows another branch, by name or id. */
  readonly switchBranch: (nameOrId: string) => Promise<void>;
  /** Makes a branch that ends at a message, and shows it. */
  readonly rewind: (messageId: string) => Promise<BranchInfo>;
  /** Makes a branch that ends where this one does, and stays on this one. */
  readonly btw: () => Promise<BranchInfo>;
  /** Gives a branch another name. */
  readonly rename: (nameOrId: string, name: string) => Promise<BranchInfo>;
  /** Deletes a branch; rejects for the last one. */
  readonly remove: (nameOrId: string) => Promise<void>;
}

/** The branches of the provider's chat, or of the given engine's. */
export function useBranches(engine?: ContextEngine): UseBranchesResult {
  const chosen = useEngine(engine);
  const branches = useStore(chosen.state, (state) => state.branches);
  const actions = useActions(chosen, actionsOf);
  return { branches, current: branches.find(({ isActive }) => isActive), ...actions };
}

const actionsOf = (engine: ContextEngine) => ({
  switchBranch: (nameOrId: string) => engine.switchBranch(nameOrId),
  rewind: (messageId: string) => engine.rewind(messageId),
  btw: () => engine.btw(),
  rename: (nameOrId: string, name: string) => engine.renameBranch(nameOrId, name),
  remove: (nameOrId: string) => engine.deleteBranch(nameOrId),
});
