import { useEngineState, type DataLoss } from 'contextree';
import { useState, type ReactNode } from 'react';
import { counted } from '../quantities.ts';
import { useNotices } from '../shell/Notices.tsx';
import { useAttempt } from '../shell/useAttempt.ts';
import { usePassFocus } from '../ui/usePassFocus.ts';
import { focusBranch } from './focusBranch.ts';

/** That the browser lost what was stored, and what can be done about it; nothing, nearly always. */
export function Lost(): ReactNode {
  const loss = useEngineState((state) => state.dataLoss);
  return loss && <LossNotice loss={loss} />;
}

function LossNotice({ loss }: { readonly loss: DataLoss }): ReactNode {
  const { tell } = useNotices();
  const attempt = useAttempt();
  const [isAtIt, setAtIt] = useState(false);
  const band = usePassFocus<HTMLDivElement>(focusBranch);
  const restore = (): void => {
    setAtIt(true);
    attempt(async () => {
      try {
        tell({ key: 'restored', text: outcomeOf(await loss.restore()), lasts: 15_000 });
      } finally {
        setAtIt(false);
      }
    });
  };
  return (
    <div ref={band} className="situation" role="alert">
      <p>
        <strong>This browser lost {whatOf(loss)}.</strong> {remedyOf(loss)}
      </p>
      <span className="situation-actions">
        {loss.canRestore && (
          <button type="button" className="button" disabled={isAtIt} onClick={restore}>
            {isAtIt ? 'Bringing back…' : 'Bring back'}
          </button>
        )}
        <button type="button" className="button" onClick={() => attempt(() => loss.dismiss())}>
          {loss.canRestore ? 'Leave it' : 'OK'}
        </button>
      </span>
    </div>
  );
}

function outcomeOf({ chats, messages, left }: Awaited<ReturnType<DataLoss['restore']>>): string {
  if (chats > 0) return `${counted(chats, messages)} came back.`;
  return left > 0 ? 'What is left of the second copy can’t be read.' : 'Nothing was missing any more.';
}

function whatOf({ kind, chats, messages, lastSaved }: DataLoss): string {
  if (kind === 'latest') return 'the last changes to your chats';
  if (chats === undefined || messages === undefined) return 'your chats';
  const when = lastSaved === undefined ? '' : `, last saved ${new Date(lastSaved).toLocaleString()}`;
  return `${counted(chats, messages)}${when}`;
}

function remedyOf({ canRestore }: DataLoss): string {
  return canRestore
    ? 'A second copy was kept in this browser. Bringing it back leaves alone what was written since.'
    : 'There is no second copy. A chat that is still open in a tab is saved again with its next message.';
}
