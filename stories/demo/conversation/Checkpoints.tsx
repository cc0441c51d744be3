import { useCheckpoint, useEngine, type CheckpointInfo } from 'contextree';
import type { ReactNode } from 'react';
import { useNotices } from '../shell/Notices.tsx';
import { notHeld, onFirstClick } from '../shell/once.ts';
import { useAttempt } from '../shell/useAttempt.ts';
import { Icon } from '../ui/Icon.tsx';
import { usePassFocus } from '../ui/usePassFocus.ts';
import { focusBranch } from './focusBranch.ts';

/** Named points of the conversation, and the way back to each. */
export function Checkpoints(): ReactNode {
  const { checkpoints } = useCheckpoint();
  if (checkpoints.length === 0) return null;
  return (
    <ul className="checkpoints" aria-label="Checkpoints">
      {checkpoints.map((checkpoint) => (
        <OneCheckpoint key={checkpoint.id} checkpoint={checkpoint} />
      ))}
    </ul>
  );
}

function OneCheckpoint({ checkpoint }: { readonly checkpoint: CheckpointInfo }): ReactNode {
  const { name, messageId } = checkpoint;
  const engine = useEngine();
  const { restore, remove } = useCheckpoint();
  const { tell } = useNotices();
  const attempt = useAttempt();
  const item = usePassFocus<HTMLLIElement>(focusBranch);
  const goBack = async (): Promise<void> => {
    const branch = await restore(name);
    tell({ key: 'branch', text: `${name} restored on ${branch.name}`, lasts: 8000 });
  };
  const putBack = (): Promise<unknown> => engine.checkpoint(name, { at: messageId });
  const removeIt = async (): Promise<void> => {
    await remove(name);
    tell({
      key: 'checkpoint',
      text: `Checkpoint ${name} deleted`,
      action: { label: 'Undo', run: () => attempt(putBack) },
      lasts: 10_000,
    });
  };
  return (
    <li ref={item} className="checkpoint">
      <button
        type="button"
        aria-label={`Restore ${name}`}
        title={`Restore ${name}`}
        onClick={onFirstClick(() => attempt(goBack))}
      >
        <Icon name="flag" />
        <span dir="auto">{name}</span>
      </button>
      <button
        type="button"
        className="icon-button"
        aria-label={`Delete checkpoint ${name}`}
        title={`Delete checkpoint ${name}`}
        onKeyDown={notHeld}
        onClick={onFirstClick(() => attempt(removeIt))}
      >
        <Icon name="close" />
      </button>
    </li>
  );
}
