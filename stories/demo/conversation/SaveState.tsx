import { useEngine, useEngineState } from 'contextree';
import { useEffect, useState, type ReactNode } from 'react';
import { describeFailure } from '../failure.ts';
import { useAttempt } from '../shell/useAttempt.ts';

/** Whether what was said is safe. Quick saves pass unmentioned; a refusing disk is an alert with a way to retry. */
export function SaveState(): ReactNode {
  const { state } = useEngineState((engine) => engine.saveState);
  const isStored = useEngineState((engine) => engine.chat !== null && engine.status !== 'error');
  const inMemory = useEngineState((engine) => engine.persistence === 'memory');
  const isSlow = useSlow(state === 'saving');
  const refused = state === 'error';
  return (
    <div role="status" aria-label="Save state" aria-live={refused ? 'off' : 'polite'} className="save-state">
      {refused ? <NotSaved /> : isSlow ? 'Saving' : isStored ? inMemory ? 'In memory only' : 'Saved' : ''}
    </div>
  );
}

function NotSaved(): ReactNode {
  const engine = useEngine();
  const { error } = useEngineState((state) => state.saveState);
  const attempt = useAttempt();
  return (
    <div role="alert" className="not-saved">
      <p>
        <strong>Not saved</strong> {describeFailure(error)}
      </p>
      <button type="button" className="button" onClick={() => attempt(() => engine.retry())}>
        Retry
      </button>
    </div>
  );
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
