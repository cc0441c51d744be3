import { useStore } from 'zustand';
import type { ContextEngine } from '../engine/engine.ts';
import type { BranchInfo, CheckpointInfo } from '../engine/state.ts';
import { useEngine } from './provider.tsx';
import { useActions, type AsyncAction } from './usePending.ts';

/** The checkpoints of the chat, and the actions on them. Functions are stable; they reject as the engine does. */
export interface UseCheckpointResult extends AsyncAction {
  /** Live checkpoints, newest first. */
  readonly checkpoints: readonly CheckpointInfo[];
  /** Puts a checkpoint on the head, or on the message `at`. An existing checkpoint of that name moves there. */
  readonly checkpoint: (name: string, options?: { readonly at?: string }) => Promise<CheckpointInfo>;
  /** Makes a branch that ends at a checkpoint, and shows it. */
  readonly restore: (name: string) => Promise<BranchInfo>;
  /** Gives a checkpoint another name. */
  readonly rename: (name: string, to: string) => Promise<CheckpointInfo>;
  /** Deletes a checkpoint; its message stays. */
  readonly remove: (name: string) => Promise<void>;
}

/** The checkpoints of the provider's chat, or of the given engine's. */
export function useCheckpoint(engine?: ContextEngine): UseCheckpointResult {
  const chosen = useEngine(engine);
  const checkpoints = useStore(chosen.state, (state) => state.checkpoints);
  return { checkpoints, ...useActions(chosen, actionsOf) };
}

const actionsOf = (engine: ContextEngine) => ({
  checkpoint: (name: string, options?: { readonly at?: string }) => engine.checkpoint(name, options),
  restore: (name: string) => engine.restore(name),
  rename: (name: string, to: string) => engine.renameCheckpoint(name, to),
  remove: (name: string) => engine.deleteCheckpoint(name),
});
