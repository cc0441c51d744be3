import { isContextError, useEngine, useEngineState, type ContextError } from 'contextree';
import { useEffect, useState, type ReactNode } from 'react';
import { describeFailure } from '../failure.ts';
import { useAttempt } from '../shell/useAttempt.ts';
import { usePassFocus } from '../ui/usePassFocus.ts';
import { focusBranch } from './focusBranch.ts';

/** Whether everything is saved. Quick saves are not shown; a refusing disk is an alert with a way to retry. */
export function SaveState(): ReactNode {
  const { state } = useEngineState((engine) => engine.saveState);
  const isStored = useEngineState((engine) => engine.chat !== null && engine.status !== 'error');
  const inMemory = useEngineState((engine) => engine.persistence === 'memory');
  const isSlow = useSlow(state === 'saving');
  // What was refused is tried again with each write; until one succeeds, it stays refused.
  const refused = state === 'error';
  return (
    <div role="status" aria-label="Save state" aria-live={refused ? 'off' : 'polite'} className="save-state">
      {refused ? <NotSaved /> : isSlow ? 'Saving' : isStored ? inMemory ? 'In memory only' : 'Saved' : ''}
    </div>
  );
}

function NotSaved(): ReactNode {
  const { error } = useEngineState((state) => state.saveState);
  useEffect(() => {
    addEventListener('beforeunload', askFirst);
    return () => removeEventListener('beforeunload', askFirst);
  }, []);
  // Told above the conversation, with the way to try again.
  return isContextError(error, 'data-loss') ? 'Not saved' : <Refused error={error} />;
}

function Refused({ error }: { readonly error: ContextError | undefined }): ReactNode {
  const engine = useEngine();
  const [reason, setReason] = useState(error);
  if (error !== undefined && error !== reason) setReason(error);
  const attempt = useAttempt();
  // A try without success counts, too, and the person who pressed should see that.
  const [lastTry, setLastTry] = useState<'going on' | Date>();
  const retry = (): void => {
    setLastTry('going on');
    const inVain = (): void => setLastTry(new Date());
    attempt(() => engine.retry().then(inVain, inVain));
  };
  const alert = usePassFocus<HTMLDivElement>(focusBranch);
  // No later try can succeed in this page.
  const isOlder = isContextError(reason, 'newer-format');
  return (
    <div ref={alert} role="alert" className="not-saved">
      <p>
        <strong>Not saved</strong> {isOlder ? TAKEN_OVER : reason && describeFailure(reason)}
        {lastTry instanceof Date && !isOlder && ` Tried again at ${lastTry.toLocaleTimeString()}.`}
      </p>
      {isOlder ? (
        <button type="button" className="button" onClick={() => location.reload()}>
          Reload
        </button>
      ) : (
        // Stays a button that can be pressed: one that is switched off would let go of the focus.
        <button type="button" className="button" aria-disabled={lastTry === 'going on'} onClick={retry}>
          {lastTry === 'going on' ? 'Retrying…' : 'Retry'}
        </button>
      )}
    </div>
  );
}

const TAKEN_OVER =
  'A newer version of this app was opened in another tab, and this page can’t save any more. Your question is kept; ' +
  'copy its answer if you need it, then reload.';

/** Leaving now would lose what is only in memory: the browser asks whether the person really wants to. */
function askFirst(event: BeforeUnloadEvent): void {
  event.preventDefault();
}

const SLOW = 300;

/** Whether something has been going on for more than 300 ms. */
function useSlow(going: boolean): boolean {
  const [isSlow, setSlow] = useState(false);
  useEffect(() => {
    if (!going) return;
    const timer = setTimeout(() => setSlow(true), SLOW);
    return () => {
      clearTimeout(timer);
      setSlow(false);
    };
  }, [going]);
  return isSlow && going;
}
