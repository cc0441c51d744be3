import { use, type ReactNode } from 'react';
import { Icon } from '../ui/Icon.tsx';
import { Around } from './Around.ts';
import { Dots, EarlierAnswer, Failure, Unanswered } from './Marks.tsx';
import type { TurnState } from './useTurn.ts';
import { beforeFirstWord } from '../failure.ts';
import { useWrittenElsewhere } from './useWrittenElsewhere.ts';

/** The place of a missing answer: one that is about to come, here or from another tab, one that failed, or none. */
export function AbsentAnswer({ turn, canAsk }: AbsentAnswerProps): ReactNode {
  const { shown, streaming, failure, isUnanswered, askAgain } = turn;
  const { focusComposer } = use(Around);
  const question = shown.at(-1);
  const isQuiet = canAsk && !streaming && failure === undefined;
  const isWrittenElsewhere = useWrittenElsewhere(question?.id, isQuiet);
  if (isWrittenElsewhere) return <WrittenElsewhere />;
  if (question?.role === 'assistant') return null;
  if (streaming && question) return <AnswerToCome />;
  const earlier = question && <EarlierAnswer questionId={question.id} />;
  const ask = (): void => {
    askAgain();
    focusComposer();
  };
  if (failure !== undefined)
    return <AnswerThatFailed words={beforeFirstWord(failure)} onTryAgain={ask} earlier={earlier} />;
  return isUnanswered && isWrittenElsewhere === false && <Unanswered onAsk={ask} earlier={earlier} />;
}

/** The answer that has not said anything yet, in the place where it will stand. */
function AnswerToCome(): ReactNode {
  return (
    <article className="message" aria-label="Assistant" aria-busy="true" data-role="assistant">
      <div className="message-body">
        <Dots />
      </div>
    </article>
  );
}

function WrittenElsewhere(): ReactNode {
  return (
    <p className="interrupted">
      <Dots /> Another tab is writing here. Its answer can be used when it is whole.
    </p>
  );
}

/** The answer that never came: why, and once more. */
function AnswerThatFailed({ words, onTryAgain, earlier }: FailedProps): ReactNode {
  return (
    <article className="message" aria-label="Assistant" data-role="assistant">
      <Failure words={words} />
      <footer className="message-foot">
        <button type="button" className="button" onClick={onTryAgain}>
          <Icon name="again" />
          Try again
        </button>
        {earlier}
      </footer>
    </article>
  );
}

interface AbsentAnswerProps {
  readonly turn: TurnState;
  /** Whether the chat takes questions. */
  readonly canAsk: boolean;
}

interface FailedProps {
  readonly words: string;
  readonly onTryAgain: () => void;
  /** The way to an earlier answer, where there is one. */
  readonly earlier: ReactNode;
}
