import type { useMessageBranch } from 'contextree';
import { use, useEffect, useRef, type ReactNode, type RefObject } from 'react';
import { useAnnounce } from '../shell/Announcer.tsx';
import { useAttempt } from '../shell/useAttempt.ts';
import { Icon } from '../ui/Icon.tsx';
import { Around } from './Around.ts';

type MessageVersions = ReturnType<typeof useMessageBranch>;

/**
 * Which version of a message is shown, and the way to its neighbours.
 *
 * The neighbour is another message and comes with buttons of its own. Whoever pages with the keyboard must not be
 * thrown out, so the step that was taken is left for the next version to find: it takes the focus and says its number.
 */
export function Versions({ id, versions }: VersionsProps): ReactNode {
  const { branchNumber, count, goToPrevious, goToNext, siblings, index } = versions;
  const { canChange } = use(Around);
  const hasPrevious = versions.hasPrevious && canChange;
  const hasNext = versions.hasNext && canChange;
  const group = useArrival(id, `Version ${branchNumber} of ${count}`);
  const attempt = useAttempt();
  if (count < 2) return null;
  const step = (by: -1 | 1): void => {
    stepTaken = { to: siblings[index + by], button: by < 0 ? 'previous' : 'next' };
    attempt(by < 0 ? goToPrevious : goToNext);
  };
  return (
    <div ref={group} className="versions" role="group" aria-label={`Version ${branchNumber} of ${count}`}>
      <button
        type="button"
        className="icon-button"
        data-step="previous"
        aria-label="Previous version"
        title="Previous version"
        aria-disabled={!hasPrevious}
        onClick={() => hasPrevious && step(-1)}
      >
        <Icon name="left" />
      </button>
      <span aria-hidden="true">
        {branchNumber} / {count}
      </span>
      <button
        type="button"
        className="icon-button"
        data-step="next"
        aria-label="Next version"
        title="Next version"
        aria-disabled={!hasNext}
        onClick={() => hasNext && step(1)}
      >
        <Icon name="right" />
      </button>
    </div>
  );
}

let stepTaken: { readonly to: string | undefined; readonly button: 'previous' | 'next' } | undefined;

function useArrival(id: string, words: string): RefObject<HTMLDivElement | null> {
  const group = useRef<HTMLDivElement>(null);
  const announce = useAnnounce();
  useEffect(() => {
    if (stepTaken?.to !== id) return;
    group.current?.querySelector<HTMLElement>(`[data-step=${stepTaken.button}]`)?.focus();
    stepTaken = undefined;
    announce(words);
  }, [id, words, announce]);
  return group;
}

interface VersionsProps {
  readonly id: string;
  readonly versions: MessageVersions;
}
