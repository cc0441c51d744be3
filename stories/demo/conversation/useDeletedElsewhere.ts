import { useEngine, type ContextEngine } from 'contextree';
import { useEffect } from 'react';
import { useNotices } from '../shell/Notices.tsx';
import { useAttempt } from '../shell/useAttempt.ts';
import { labelOn } from './branchTree.ts';

/**
 * The notice that another tab deleted the shown branch, with a way back: a branch that ends at the same message. What this tab
 * deletes or undoes is in its own log of operations, and has a notice of its own.
 */
export function useDeletedElsewhere(): void {
  const engine = useEngine();
  const { tell } = useNotices();
  const attempt = useAttempt();
  useEffect(() => {
    let log = turned(engine);
    return engine.state.subscribe((now, before) => {
      if (now.branches === before.branches) return;
      const known = log;
      log = turned(engine);
      const shown = before.branches.find(({ isActive }) => isActive);
      if (now.status !== 'ready' || now.branches.length === 0 || !shown || log !== known) return;
      if (now.branches.some(({ id }) => id === shown.id)) return;
      const { headKey } = shown;
      tell({
        key: 'branch',
        text: `“${labelOn(shown)}” was deleted in another tab`,
        ...(headKey !== null && {
          undo: { label: 'Bring back', run: () => attempt(() => engine.rewind(headKey)) },
        }),
      });
    });
  }, [engine, tell, attempt]);
}

/** What this tab has done to branches, and undone. Each of it changes the list of branches. */
function turned(engine: ContextEngine): string {
  return engine
    .operations()
    .filter(({ kind }) => ON_BRANCHES.has(kind))
    .map(({ id, state }) => (state === 'undone' ? `-${id}` : id))
    .join();
}

const ON_BRANCHES: ReadonlySet<string> = new Set(['rewind', 'restore', 'btw', 'add', 'delete-branch']);
