import { useCheckpoint, useEngine, type CheckpointInfo } from 'contextree';
import type { ReactNode, RefObject } from 'react';
import { age } from '../quantities.ts';
import { notHeld, onFirstClick } from '../shell/once.ts';
import { useAttempt } from '../shell/useAttempt.ts';
import { useTellDone } from '../shell/useUndo.ts';
import { Icon } from '../ui/Icon.tsx';
import { Popover } from '../ui/Popover.tsx';
import { usePassFocus } from '../ui/usePassFocus.ts';
import { forgetAside } from './useFork.ts';

/** All checkpoints, a line each, and the way back to each. */
export function AllCheckpoints({ opened, opener, onClose }: AllCheckpointsProps): ReactNode {
  const { checkpoints } = useCheckpoint();
  return (
    <Popover title="Checkpoints" opener={opener} onClose={onClose}>
      {checkpoints.length === 0 ? (
        <p className="nothing">
          No checkpoint yet. The flag below a message marks a place that you can return to.
        </p>
      ) : (
        <ul className="branches" aria-label="All checkpoints">
          {checkpoints.map((checkpoint) => (
            <OneCheckpoint
              key={checkpoint.id}
              checkpoint={checkpoint}
              isWanted={checkpoint.name === opened}
              onRestored={onClose}
            />
          ))}
        </ul>
      )}
    </Popover>
  );
}

function OneCheckpoint({ checkpoint, isWanted, onRestored }: OneCheckpointProps): ReactNode {
  const { name, createdAt, messageKey } = checkpoint;
  const { restore, remove } = useCheckpoint();
  const engine = useEngine();
  const tellDone = useTellDone();
  const attempt = useAttempt();
  const item = usePassFocus<HTMLLIElement>(focusPopover);
  const words = engine.node(messageKey)?.preview ?? '';
  const goBack = async (): Promise<void> => {
    onRestored();
    forgetAside(engine.chatId);
    await restore(name);
    tellDone({ text: `Back at “${name}”`, lasts: 10_000 });
  };
  const removeIt = async (): Promise<void> => {
    await remove(name);
    tellDone({ text: `Checkpoint “${name}” deleted`, lasts: 10_000 });
  };
  return (
    <li ref={item} className="branch-row">
      <button
        type="button"
        className="branch-name"
        aria-label={`Restore ${name}`}
        aria-current={isWanted}
        title={words}
        onClick={onFirstClick(() => attempt(goBack))}
      >
        <span dir="auto">{name}</span>
        <small data-more={[words, age(createdAt)].join(' · ')} />
      </button>
      <div className="branch-actions">
        <button
          type="button"
          className="icon-button"
          aria-label={`Delete checkpoint ${name}`}
          title={`Delete checkpoint ${name}`}
          onKeyDown={notHeld}
          onClick={onFirstClick(() => attempt(removeIt))}
        >
          <Icon name="bin" />
        </button>
      </div>
    </li>
  );
}

/** What is left of a list without checkpoints. */
function focusPopover(item: Element): void {
  item.closest<HTMLElement>('.popover')?.focus();
}

interface OneCheckpointProps {
  readonly checkpoint: CheckpointInfo;
  /** Whether the list was opened on it. */
  readonly isWanted: boolean;
  readonly onRestored: () => void;
}

interface AllCheckpointsProps {
  /** The name of the checkpoint that it was opened on, '' for none. */
  readonly opened: string;
  /** The button that it hangs from. */
  readonly opener: RefObject<HTMLElement | null>;
  readonly onClose: () => void;
}
