import type { ReactNode } from 'react';
import { Icon } from '../ui/Icon.tsx';
import { Dots, Failure } from './Message.tsx';
import type { TurnState } from './useTurn.ts';

/** What stands where an answer would: one that is about to come, one that failed, or none. */
export function AbsentAnswer({ turn, canAsk }: AbsentAnswerProps): ReactNode {
  const { shown, streaming, failure, isUnanswered, askAgain } = turn;
  if (shown.at(-1)?.role === 'assistant') return null;
  if (streaming && shown.length > 0) return <AnswerToCome />;
  if (failure !== undefined) return <AnswerThatFailed words={failure} onTryAgain={askAgain} />;
  return isUnanswered && canAsk && <Unanswered onAsk={askAgain} />;
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

/** The answer that never came: why, and once more. */
function AnswerThatFailed({ words, onTryAgain }: FailedProps): ReactNode {
  return (
    <article className="message" aria-label="Assistant" data-role="assistant">
      <Failure words={words} />
      <footer className="message-foot">
        <button type="button" className="button" onClick={onTryAgain}>
          <Icon name="again" />
          Try again
        </button>
      </footer>
    </article>
  );
}

/** A question that nobody is answering: its turn failed in an earlier visit, or a branch ends with it. */
function Unanswered({ onAsk }: { readonly onAsk: () => void }): ReactNode {
  return (
    <div className="interrupted">
      <span>Not answered</span>
      <button type="button" className="button" onClick={onAsk}>
        Get an answer
      </button>
    </div>
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
}
