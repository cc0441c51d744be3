import type { UIMessage } from 'ai';
import { useEngine } from 'contextree';
import { memo, use, useState, type ReactNode } from 'react';
import { WITHOUT_A_WORD } from '../failure.ts';
import { useAttempt } from '../shell/useAttempt.ts';
import { plainText } from '../stored.ts';
import { late } from '../ui/late.tsx';
import { useToolbar } from '../ui/useToolbar.ts';
import { Around } from './Around.ts';
import { editUntilSaved } from './keepUntilSaved.ts';
import { Dots, EarlierAnswer, Failure, Interrupted, Unanswered } from './Marks.tsx';
import { MessageActions } from './MessageActions.tsx';
import { Parts, saysSomething } from './Parts.tsx';
import { useVersions } from './useVersions.ts';
import { Versions } from './Versions.tsx';

const EditMessage = late(async () => (await import('./EditMessage.tsx')).EditMessage);

/**
 * One message: its content, its state, its versions, and its actions.
 *
 * It renders only when it changes: a word that streams into another message costs this one nothing. While it grows, the room
 * for its buttons is kept free below it, so that nothing moves when they appear.
 */
export const Message = memo(function Message(props: MessageProps): ReactNode {
  const { message, writing, isLast, isElsewhere, isUnanswered, failure, earlierFailure } = props;
  const engine = useEngine();
  const versions = useVersions(message);
  const [editing, setEditing] = useState(false);
  const { goOn, goOnFrom, focusComposer, canChange } = use(Around);
  const attempt = useAttempt();
  const isQuestion = message.role === 'user';
  const busy = writing || versions.status === 'streaming';
  const isWordless = !isQuestion && !busy && versions.status === 'complete' && !saysSomething(message);
  const words = failure ?? (isWordless ? WITHOUT_A_WORD : undefined);

  const isLeft = isUnanswered || (!busy && !isLast && versions.status === 'interrupted');

  // An edited question is asked again; an edited answer is only kept.
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

  // Later messages stay as they are: the answer continues as another version, made with its first word.
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
      data-last={isLast || undefined}
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
      {isLeft && earlierFailure !== undefined && <Failure words={earlierFailure} isNews={false} />}
      {isUnanswered && (
        <Unanswered
          onAsk={canChange ? tryAgain : undefined}
          earlier={<EarlierAnswer questionId={message.id} />}
        />
      )}
      {!busy && versions.status === 'interrupted' && (
        <Interrupted onGoOn={canChange ? (isLast ? goOn : goOnBeside) : undefined} />
      )}
      {((!busy && !isElsewhere) || versions.hasSiblings) && (
        <MessageToolbar>
          <Versions versions={versions} />
          {!busy && !isElsewhere && (
            <MessageActions
              message={message}
              isSaved={versions.count > 0}
              editing={editing}
              onEdit={() => setEditing(true)}
              onTryAgain={tryAgain}
            />
          )}
        </MessageToolbar>
      )}
    </article>
  );
});

/** One stop of the Tab key for each message, whatever can be done with it. */
function MessageToolbar({ children }: { readonly children: ReactNode }): ReactNode {
  const { bar, handlers } = useToolbar();
  return (
    <div ref={bar} className="message-foot" role="toolbar" aria-label="Message actions" {...handlers}>
      {children}
    </div>
  );
}

interface MessageProps {
  readonly message: UIMessage;
  /** Whether this tab writes it right now. */
  readonly writing: boolean;
  /** Whether it ends the branch. */
  readonly isLast: boolean;
  /** Whether another tab is writing it: it can be read, and acted on when it is complete. */
  readonly isElsewhere: boolean;
  /** Whether it is a question that another one follows. */
  readonly isUnanswered: boolean;
  /** Why its turn failed just now, in words. */
  readonly failure: string | undefined;
  /** Why its turn failed on this page, before something else was asked. */
  readonly earlierFailure: string | undefined;
}
