import { useHistory, type Operation, type UseHistoryResult } from 'contextree';

/** The operation log, with what Undo and Redo would do next; undefined for nothing. */
export function useNextSteps(): UseHistoryResult & { readonly toUndo?: string; readonly toRedo?: string } {
  const history = useHistory();
  const { operations, undoLabel, redoLabel } = history;
  const undo = operations.findLast(({ state }) => state !== 'undone');
  const redo = operations.find(({ state }) => state === 'undone');
  return {
    ...history,
    ...(undo && undoLabel !== undefined && { toUndo: nameOf(undo, undoLabel) }),
    ...(redo && redoLabel !== undefined && { toRedo: nameOf(redo, redoLabel) }),
  };
}

/** An operation as its button is called: the page shows labels of branches, and never a name that was made up for one. */
function nameOf({ kind, label }: Operation, plain: string): string {
  if (kind === 'rewind') return 'Branch from here';
  if (kind === 'btw') return 'By the way';
  if (kind === 'add') return 'Messages added';
  if (kind === 'delete-branch' && MADE_UP.test(label)) return 'Delete branch';
  return kind === 'rename-branch' ? plain.replace(/branch \S+-v\d+ → /, 'branch to ') : plain;
}

const MADE_UP = /-v\d+$/;
