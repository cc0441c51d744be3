import { useEngine, type ContextEngine } from 'contextree';
import { useCallback, useEffect } from 'react';
import { useNextSteps } from './nextSteps.ts';
import { useNotices, type Notice } from './Notices.tsx';
import { useAttempt } from './useAttempt.ts';

/**
 * Undo in the notice of an operation, and on the keyboard.
 *
 * One notice at a time tells of an operation. It is removed as soon as another operation would be undone next, so its `Undo`
 * never undoes anything else than what it says.
 */
export function useTellDone(): (done: Omit<Notice, 'key' | 'undo'>) => void {
  const engine = useEngine();
  const { tell } = useNotices();
  const step = useStep();
  return useCallback(
    (done) => {
      told.set(engine, nextToUndo(engine));
      tell({ ...done, key: DONE, undo: { label: 'Undo', run: () => step('undo', done.text) } });
    },
    [engine, tell, step],
  );
}

/** Removes an outdated notice, and listens for Ctrl+Z and Ctrl+Shift+Z (Cmd on a Mac). Used once in a chat. */
export function useUndoKeys(): void {
  const engine = useEngine();
  const { take } = useNotices();
  const { operations, toUndo, toRedo } = useNextSteps();
  const step = useStep();
  const next = lastDone(operations);
  useEffect(() => {
    if (told.get(engine) !== next) take(DONE);
  }, [engine, next, take]);
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const { key, ctrlKey, metaKey, altKey, shiftKey, repeat } = event;
      if (!(ctrlKey || metaKey) || altKey || key.toLowerCase() !== 'z' || isForText(event)) return;
      const what = shiftKey ? toRedo : toUndo;
      if (what === undefined) return;
      event.preventDefault();
      if (!repeat) step(shiftKey ? 'redo' : 'undo', what);
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [toUndo, toRedo, step]);
}

const DONE = 'done';

/** The operation that was next to be undone when an engine's notice was shown. */
const told = new WeakMap<ContextEngine, string | undefined>();

function nextToUndo(engine: ContextEngine): string | undefined {
  return lastDone(engine.operations());
}

function lastDone(operations: ReturnType<ContextEngine['operations']>): string | undefined {
  return operations.findLast(({ state }) => state !== 'undone')?.id;
}

type Step = (which: 'undo' | 'redo', what: string) => void;

/** Undoes or redoes one operation, and tells which one, with the opposite action. */
function useStep(): Step {
  const engine = useEngine();
  const { tell } = useNotices();
  const attempt = useAttempt();
  return useCallback(
    function step(which, what) {
      attempt(async () => {
        const isUndo = which === 'undo';
        const before = engine.state.getState().branches.length;
        const done = await (isUndo ? engine.undo() : engine.redo());
        told.set(engine, nextToUndo(engine));
        // A branch on which something was said stays: undo and redo only show another one.
        const isKept = MAKE_BRANCH.has(done?.kind) && engine.state.getState().branches.length === before;
        const turned = isUndo ? 'Undone' : 'Done again';
        tell({
          key: DONE,
          text: isKept
            ? `${isUndo ? 'Left' : 'Shown again'}: ${what}. The branch is kept`
            : `${turned}: ${what}`,
          undo: isUndo
            ? { label: 'Redo', run: () => step('redo', what) }
            : { label: 'Undo', run: () => step('undo', what) },
          lasts: 10_000,
        });
      });
    },
    [engine, tell, attempt],
  );
}

const MAKE_BRANCH: ReadonlySet<unknown> = new Set(['rewind', 'restore', 'btw']);

/** In a text field, the browser undoes typing; an open dialog comes first. */
function isForText(event: KeyboardEvent): boolean {
  const [target] = event.composedPath();
  return (
    target instanceof Element &&
    target.closest('input, textarea, [contenteditable]:not([contenteditable="false"]), dialog') !== null
  );
}
