import { useEngine, useEngineState, type ContextEngine } from 'contextree';
import { use, useMemo, type ReactNode } from 'react';
import { onFirstClick } from '../shell/once.ts';
import { useAttempt } from '../shell/useAttempt.ts';
import { Icon } from '../ui/Icon.tsx';
import { Around } from './Around.ts';

/** The marks of an unfinished turn, in place of its words, and the ways on from it. */

/** Why a turn failed. An earlier failure is shown, and not announced again. */
export function Failure({ words, isNews = true }: FailureProps): ReactNode {
  return (
    <p className="failure" role={isNews ? 'alert' : undefined} dir="auto">
      {words}
    </p>
  );
}

export function Interrupted({ onGoOn }: { readonly onGoOn: (() => void) | undefined }): ReactNode {
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

/** A question without an answer: its turn failed, here or in an earlier visit, or a branch ends with it. */
export function Unanswered({ onAsk, earlier }: UnansweredProps): ReactNode {
  return (
    <div className="interrupted">
      <span>Not answered</span>
      {onAsk && (
        <button type="button" className="button" onClick={onFirstClick(onAsk)}>
          Get an answer
        </button>
      )}
      {earlier}
    </div>
  );
}

/**
 * The way back to an answer that the same question has on another branch. A try that failed leaves no version to page from, and
 * must not look as if it had cost the earlier answer.
 */
export function EarlierAnswer({ questionId }: { readonly questionId: string }): ReactNode {
  const engine = useEngine();
  const branches = useEngineState((state) => state.branches);
  const { focusComposer } = use(Around);
  const attempt = useAttempt();
  // Answers come and go with the branches that hold them.
  const answerId = useMemo(
    () => branches && lastAnswerTo(engine, questionId),
    [engine, branches, questionId],
  );
  if (answerId === undefined) return null;
  const show = (): void => {
    attempt(() => engine.selectSibling(answerId));
    focusComposer();
  };
  return (
    <button type="button" className="button" onClick={show}>
      Show the earlier answer
    </button>
  );
}

function lastAnswerTo(engine: ContextEngine, questionId: string): string | undefined {
  return engine
    .graph()
    .nodes.findLast(
      ({ id, parentId, role }) =>
        parentId === questionId && role === 'assistant' && engine.siblings(id).index !== -1,
    )?.id;
}

interface FailureProps {
  readonly words: string;
  /** Whether it happened just now. */
  readonly isNews?: boolean;
}

interface UnansweredProps {
  /** Asks it again; undefined where nothing can be asked. */
  readonly onAsk: (() => void) | undefined;
  /** The way to an earlier answer, where there is one. */
  readonly earlier: ReactNode;
}
