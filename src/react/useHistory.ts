import { useCallback, useSyncExternalStore } from 'react';
import type { ContextEngine } from '../engine/engine.ts';
import type { Operation, OperationKind } from '../engine/history.ts';
import { useEngine } from './provider.tsx';
import { useActions, type AsyncAction } from './usePending.ts';

/** The operations on branches and checkpoints, with undo and redo. Functions are stable; they reject as the engine does. */
export interface UseHistoryResult extends AsyncAction {
  /**
   * Undoes the last operation, also one of an earlier visit; resolves to undefined where there is none. Rejects with
   * `overtaken` where another tab has changed the same branch or checkpoint since.
   */
  readonly undo: () => Promise<Operation | undefined>;
  /** Redoes what was undone last; otherwise as `undo`. */
  readonly redo: () => Promise<Operation | undefined>;
  /** Whether there is an operation to undo that no other tab has overtaken. */
  readonly canUndo: boolean;
  /** Whether there is an operation to redo. */
  readonly canRedo: boolean;
  /** The operation that `undo()` would undo, such as `Delete branch idea`; undefined for none. */
  readonly undoLabel: string | undefined;
  /** The operation that `redo()` would redo; undefined for none. */
  readonly redoLabel: string | undefined;
  /** The log, oldest first: the last 1,000 operations of this device. Other languages can use `kind` and `label`. */
  readonly operations: readonly Operation[];
}

/** Undo and redo in the provider's chat, or in the given engine's. Renders with each operation, and never with a turn. */
export function useHistory(engine?: ContextEngine): UseHistoryResult {
  const chosen = useEngine(engine);
  const look = useCallback(() => chosen.operations(), [chosen]);
  const operations = useSyncExternalStore(chosen.state.subscribe, look, none);
  const actions = useActions(chosen, actionsOf);
  const next = operations.findLast(({ state }) => state !== 'undone');
  const undoable = next?.state === 'undoable' ? next : undefined;
  const redoable = operations.find(({ state }) => state === 'undone');
  return {
    ...actions,
    canUndo: undoable !== undefined,
    canRedo: redoable !== undefined,
    undoLabel: undoable && labelOf(undoable),
    redoLabel: redoable && labelOf(redoable),
    operations,
  };
}

const actionsOf = (engine: ContextEngine) => ({ undo: () => engine.undo(), redo: () => engine.redo() });

const NONE: readonly Operation[] = [];
const none = (): readonly Operation[] => NONE;

function labelOf({ kind, label }: Operation): string {
  return `${WORDS[kind]} ${label}`;
}

const WORDS: Readonly<Record<OperationKind, string>> = {
  rewind: 'Branch off',
  restore: 'Restore',
  btw: 'Side question on',
  add: 'Add messages to',
  'rename-branch': 'Rename branch',
  'delete-branch': 'Delete branch',
  checkpoint: 'Checkpoint',
  'rename-checkpoint': 'Rename checkpoint',
  'delete-checkpoint': 'Delete checkpoint',
};
