import type { UIMessage } from 'ai';
import { useEffect, useRef, type ReactNode } from 'react';
import { useAnnounce } from '../shell/Announcer.tsx';
import { onFirstClick } from '../shell/once.ts';
import { Parts } from './Parts.tsx';

/**
 * A question that was sent while an answer grows. It is asked when the answer is complete, and can be taken back until then; if
 * the answer waits for an approval, it can be asked at once. One that an earlier page left is asked only when the person says
 * so.
 */
export function WaitingQuestion({ question, isLeft, onAskNow, onTakeBack }: WaitingQuestionProps): ReactNode {
  const announce = useAnnounce();
  const foot = useRef<HTMLElement>(null);
  useEffect(() => {
    foot.current?.scrollIntoView({ block: 'nearest' });
    if (!isLeft) announce('Waiting: it is asked when the answer is complete');
  }, [announce, isLeft]);
  return (
    <article className="message" aria-label="You" data-role="user" data-waiting data-message={question.id}>
      <div className="message-body">
        <Parts message={question} isLast={false} growing={false} />
      </div>
      <footer ref={foot} className="message-foot">
        <span className="waiting">{isLeft ? 'Not asked yet' : 'Waiting'}</span>
        {onAskNow && (
          <button type="button" className="button" onClick={onFirstClick(onAskNow)}>
            Ask now
          </button>
        )}
        <button type="button" className="button" onClick={onFirstClick(() => onTakeBack(question))}>
          Take back
        </button>
      </footer>
    </article>
  );
}

interface WaitingQuestionProps {
  readonly question: UIMessage;
  readonly isLeft: boolean;
  readonly onAskNow: (() => void) | undefined;
  readonly onTakeBack: (question: UIMessage) => void;
}
