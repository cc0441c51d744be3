import type { UIMessage } from 'ai';
import { useEngine, useMessageBranch } from 'contextree';
import { memo, use, useState, type ReactNode } from 'react';
import { WITHOUT_A_WORD } from '../failure.ts';
import { onFirstClick } from '../shell/once.ts';
import { useAttempt } from '../shell/useAttempt.ts';
import { Icon } from '../ui/Icon.tsx';
import { Around } from './Around.ts';
import { EditMessage } from './EditMessage.tsx';
import { editUntilSaved } from './keepUntilSaved.ts';
import { MessageActions } from './MessageActions.tsx';
import { Parts, plainText, saysSomething } from './Parts.tsx';
import { Versions } from './Versions.tsx';

/**
 * One message: what it says, how it stands, its versions, and what can be done with it.
 *
 * It renders when it changes, and only then: a word that streams into another message costs this one nothing. While it
 * grows, the room for its buttons is kept free below it, so that nothing moves, neither then nor when they come.
 */
export const Message = memo(function Message(props: MessageProps): ReactNode {
  const { message, writing, isLast, isElsewhere, failure } = props;
  const engine = useEngine();
  const versions = useMessageBranch(message.id);
  const [editing, setEditing] = useState(false);
  const { goOn, goOnFrom, focusComposer, canChange } = use(Around);
  const attempt = useAttempt();
  const isQuestion = message.role === 'user';
  const busy = writing || versions.status === 'streaming';
  const isWordless = !isQuestion && !busy && versions.status === 'complete' && !saysSomething(message);
  const words = failure ?? (isWordless ? WITHOUT_A_WORD : undefined);

  // A question that changed is asked again; an answer that changed is only kept.
  const edit = (text: string): void => {
    attempt(() => editUntilSaved(engine, message.id, () => versions.edit(text)));
    setEditing(false);
    focusComposer();
  };
  // Another answer takes this one's place, and its buttons with it.
  const tryAgain = (): void => {
    attempt(() => versions.regenerate());
    if (!isQuestion) focusComposer();
  };

  // What was said after it stays as it was said: the answer goes on as another version, made with its first word.
  const goOnBeside = (): void => {
    attempt(async () => {
      await engine.checkout(message.id);
      goOnFrom(message.id);
    });
    focusComposer();
  };

  return (
    <article
      className="message"
      aria-label={isQuestion ? 'You' : 'Assistant'}
      aria-busy={busy || undefined}
      data-role={message.role}
      data-message={message.id}
    >
      {editing ? (
        <EditMessage
          messageId={message.id}
          text={plainText(message)}
          canSend={canChange}
          onSend={edit}
          onCancel={() => setEditing(false)}
        />
      ) : (
        <div className="message-body">
          <Parts message={message} isLast={isLast} growing={busy} />
          {busy && !saysSomething(message) && <Dots />}
        </div>
      )}
      {words !== undefined && <Failure words={words} />}
      {!busy && versions.status === 'interrupted' && (
        <Interrupted onGoOn={canChange ? (isLast ? goOn : goOnBeside) : undefined} />
      )}
      {((!busy && !isElsewhere) || versions.hasSiblings) && (
        <footer className="message-foot">
          <Versions id={message.id} versions={versions} />
          {!busy && !isElsewhere && (
            <MessageActions
              message={message}
              isSaved={versions.count > 0}
              editing={editing}
              onEdit={() => setEditing(true)}
              onTryAgain={tryAgain}
            />
          )}
        </footer>
      )}
    </article>
  );
});

/** Why a turn failed. */
export function Failure({ words }: { readonly words: string }): ReactNode {
  return (
    <p className="failure" role="alert" dir="auto">
      {words}
    </p>
  );
}

function Interrupted({ onGoOn }: { readonly onGoOn: (() => void) | undefined }): ReactNode {
  return (
    <div className="interrupted">
      <span>Interrupted</span>
      {onGoOn && (
        <button type="button" className="button" onClick={onFirstClick(onGoOn)}>
          <Icon name="play" />
          Continue
        </button>
      )}
    </div>
  );
}

/** An answer that is being thought of. */
export function Dots(): ReactNode {
  return (
    <span className="dots" aria-hidden="true">
      <i />
      <i />
      <i />
    </span>
  );
}

interface MessageProps {
  readonly message: UIMessage;
  /** Whether this tab writes it right now. */
  readonly writing: boolean;
  /** Whether it ends the branch. */
  readonly isLast: boolean;
  /** Whether another tab is writing here: it can be read, and used when its answer is whole. */
  readonly isElsewhere: boolean;
  /** Why its turn failed, in words. */
  readonly failure: string | undefined;
}
