import { useEngine, useHistory, type ContextEngine } from 'contextree';
import { useCallback, useEffect } from 'react';
import { useNotices, type Notice } from './Notices.tsx';
import { useAttempt } from './useAttempt.ts';

/**
 * Undo, where it is offered: in the notice of what was just done, and on the keyboard.
 *
 * One notice at a time tells of an operation. It goes as soon as another one is the next to be taken back, so its `Undo`
 * never takes back anything else than what it says.
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

/** Takes the notice back when it is out of date, and listens for Ctrl+Z and Ctrl+Shift+Z (Cmd on a Mac). Once in a chat. */
export function useUndoKeys(): void {
  const engine = useEngine();
  const { take } = useNotices();
  const { operations, undoLabel, redoLabel } = useHistory();
  const step = useStep();
  const next = lastDone(operations);
  useEffect(() => {
    if (told.get(engine) !== next) take(DONE);
  }, [engine, next, take]);
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const { key, ctrlKey, metaKey, altKey, shiftKey, repeat } = event;
      if (!(ctrlKey || metaKey) || altKey || key.toLowerCase() !== 'z' || isForText(event)) return;
      const what = shiftKey ? redoLabel : undoLabel;
      if (what === undefined) return;
      event.preventDefault();
      if (!repeat) step(shiftKey ? 'redo' : 'undo', what);
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [undoLabel, redoLabel, step]);
}

const DONE = 'done';

/** The operation that would be taken back next when an engine's notice was shown. */
const told = new WeakMap<ContextEngine, string | undefined>();

function nextToUndo(engine: ContextEngine): string | undefined {
  return lastDone(engine.operations());
}

function lastDone(operations: ReturnType<ContextEngine['operations']>): string | undefined {
  return operations.findLast(({ state }) => state !== 'undone')?.id;
}

type Step = (which: 'undo' | 'redo', what: string) => void;

/** Takes a step back or forth, and tells which one, with the way to take the opposite one. */
function useStep(): Step {
  const engine = useEngine();
  const { tell } = useNotices();
  const attempt = useAttempt();
  return useCallback(
    function step(which, what) {
      attempt(async () => {
        const isUndo = which === 'undo';
        await (isUndo ? engine.undo() : engine.redo());
        told.set(engine, nextToUndo(engine));
        tell({
          key: DONE,
          text: `${isUndo ? 'Undone' : 'Done again'}: ${what}`,
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

/** Where one types, the browser takes back what was typed; what is asked in a dialog comes first. */
function isForText(event: KeyboardEvent): boolean {
  const [target] = event.composedPath();
  return (
    target instanceof Element &&
    target.closest('input, textarea, [contenteditable]:not([contenteditable="false"]), dialog') !== null
  );
}
