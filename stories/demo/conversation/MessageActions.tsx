import type { UIMessage } from 'ai';
import { useEngine } from 'contextree';
import { use, useEffect, useRef, useState, type ReactNode, type RefObject } from 'react';
import { onFirstClick } from '../shell/once.ts';
import { useAttempt } from '../shell/useAttempt.ts';
import { useTellDone } from '../shell/useUndo.ts';
import { plainText } from '../stored.ts';
import { CopyButton } from '../ui/CopyButton.tsx';
import { Icon, type IconName } from '../ui/Icon.tsx';
import { late } from '../ui/late.tsx';
import { useIsTouch } from '../ui/useIsTouch.ts';
import { Around } from './Around.ts';
import { forgetAside } from './useFork.ts';

const NewCheckpoint = late(async () => (await import('./NewCheckpoint.tsx')).NewCheckpoint);

/**
 * The actions of a message that does not grow. On touch screens the buttons would hide what is read: there one button shows
 * them, with their words.
 */
export function MessageActions({
  message,
  isSaved,
  editing,
  onEdit,
  onTryAgain,
}: MessageActionsProps): ReactNode {
  const [marking, setMarking] = useState(false);
  const [isOpen, setOpen] = useState(false);
  const { canChange } = use(Around);
  const branchFromHere = useBranchFrom(message.id);
  const editButton = useFocusAfter(editing);
  const isTouch = useIsTouch();
  if (editing) return null;
  return (
    <div className="message-actions" data-words={isTouch || undefined}>
      {isTouch && (
        <button
          type="button"
          className="icon-button"
          aria-label="More actions"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name="more" />
        </button>
      )}
      {canChange && (!isTouch || isOpen) && (
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
            <span className="word">Edit</span>
          </button>
          <Action name="Try again" icon="again" onClick={onTryAgain} />
          <Action name="Branch from here" icon="branch" isOff={!isSaved} onClick={branchFromHere} />
          <Action name="Checkpoint here" icon="flag" isOff={!isSaved} onClick={() => setMarking(true)} />
        </>
      )}
      {(!isTouch || isOpen) && <CopyButton label="Copy message" text={plainText(message)} />}
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
      <span className="word">{name}</span>
    </button>
  );
}

function useBranchFrom(messageId: string): () => void {
  const engine = useEngine();
  const tellDone = useTellDone();
  const attempt = useAttempt();
  return () =>
    attempt(async () => {
      forgetAside(engine.chatId);
      await engine.rewind(messageId);
      tellDone({ text: 'A new branch begins here', lasts: 10_000 });
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
  /** A question that an earlier page left queued is not saved before it is asked, and nothing can follow it. */
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
