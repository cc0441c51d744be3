import type { UIMessage } from 'ai';
import { useEngine } from 'contextree';
import { use, useEffect, useRef, useState, type ReactNode, type RefObject } from 'react';
import { useNotices } from '../shell/Notices.tsx';
import { onFirstClick } from '../shell/once.ts';
import { useAttempt } from '../shell/useAttempt.ts';
import { CopyButton } from '../ui/CopyButton.tsx';
import { Icon, type IconName } from '../ui/Icon.tsx';
import { Around } from './Around.ts';
import { NewCheckpoint } from './NewCheckpoint.tsx';
import { plainText } from './Parts.tsx';

/** What can be done with a message that is not growing. */
export function MessageActions({
  message,
  isSaved,
  editing,
  onEdit,
  onTryAgain,
}: MessageActionsProps): ReactNode {
  const [marking, setMarking] = useState(false);
  const { canChange } = use(Around);
  const branchFromHere = useBranchFrom(message.id);
  const editButton = useFocusAfter(editing);
  if (editing) return null;
  return (
    <div className="message-actions">
      {canChange && (
        <>
          <button
            ref={editButton}
            type="button"
            className="icon-button"
            aria-label="Edit"
            title="Edit"
            onClick={onEdit}
          >
            <Icon name="pencil" />
          </button>
          <Action name="Try again" icon="again" onClick={onTryAgain} />
          <Action name="Branch from here" icon="branch" isOff={!isSaved} onClick={branchFromHere} />
          <Action name="Checkpoint here" icon="flag" isOff={!isSaved} onClick={() => setMarking(true)} />
        </>
      )}
      <CopyButton label="Copy message" text={plainText(message)} />
      {marking && <NewCheckpoint messageId={message.id} onClose={() => setMarking(false)} />}
    </div>
  );
}

function Action({ name, icon, isOff = false, onClick }: ActionProps): ReactNode {
  return (
    <button
      type="button"
      className="icon-button"
      aria-label={name}
      title={name}
      disabled={isOff}
      onClick={onFirstClick(onClick)}
    >
      <Icon name={icon} />
    </button>
  );
}

function useBranchFrom(messageId: string): () => void {
  const engine = useEngine();
  const { tell } = useNotices();
  const attempt = useAttempt();
  return () =>
    attempt(async () => {
      const branch = await engine.rewind(messageId);
      tell({ key: 'branch', text: `Branch ${branch.name} created`, lasts: 8000 });
    });
}

/** A ref to an element that takes the focus when `away` ends, unless the focus was given to another. */
function useFocusAfter(away: boolean): RefObject<HTMLButtonElement | null> {
  const element = useRef<HTMLButtonElement>(null);
  const wasAway = useRef(false);
  useEffect(() => {
    if (wasAway.current && !away && document.activeElement === document.body) element.current?.focus();
    wasAway.current = away;
  }, [away]);
  return element;
}

interface MessageActionsProps {
  readonly message: UIMessage;
  /** One that waited when the page was closed is not, until it is asked: nothing can stand behind it. */
  readonly isSaved: boolean;
  readonly editing: boolean;
  readonly onEdit: () => void;
  readonly onTryAgain: () => void;
}

interface ActionProps {
  readonly name: string;
  readonly icon: IconName;
  readonly isOff?: boolean;
  readonly onClick: () => void;
}
