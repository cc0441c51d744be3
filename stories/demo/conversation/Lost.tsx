import { isContextError, useEngine, useEngineState, type ContextError } from 'contextree';
import type { ReactNode } from 'react';
import { plural } from '../quantities.ts';
import { useAttempt } from '../shell/useAttempt.ts';
import { usePassFocus } from '../ui/usePassFocus.ts';
import { focusBranch } from './focusBranch.ts';

/** That the browser cleared what was saved of the open chat, until it is saved again; nothing, nearly always. */
export function Lost(): ReactNode {
  const error = useEngineState((state) => state.saveState.error);
  return isContextError(error, 'data-loss') && <LossNotice error={error} />;
}

function LossNotice({ error }: { readonly error: ContextError }): ReactNode {
  const engine = useEngine();
  const attempt = useAttempt();
  const band = usePassFocus<HTMLDivElement>(focusBranch);
  const { messages } = error.details as { readonly messages?: number };
  return (
    <div ref={band} className="situation" role="alert">
      <p>
        <strong>This browser cleared what was saved.</strong>{' '}
        {messages === undefined ? 'This chat is' : `${plural(messages, 'message')} of this chat are`} only in
        this page now. Say something, or try again, and it is saved again.
      </p>
      <button type="button" className="button" onClick={() => attempt(() => engine.retry())}>
        Try again
      </button>
    </div>
  );
}
