import { useEngine } from 'contextree';
import { use, useEffect, useRef, useState, type ReactNode, type RefObject } from 'react';
import { useAnnounce } from '../shell/Announcer.tsx';
import { useAttempt } from '../shell/useAttempt.ts';
import { Icon } from '../ui/Icon.tsx';
import { late } from '../ui/late.tsx';
import { Around } from './Around.ts';
import type { Versions as MessageVersions } from './useVersions.ts';

const CompareVersions = late(async () => (await import('./CompareVersions.tsx')).CompareVersions);

/**
 * The pager of a message.
 *
 * The neighbour is another message with buttons of its own. So that a person with a keyboard stays on the pager, the step is
 * remembered for the next version's pager: it takes the focus and announces its number.
 */
export function Versions({ versions }: VersionsProps): ReactNode {
  const { branchNumber, count, goToPrevious, goToNext, siblings, index } = versions;
  const { canChange } = use(Around);
  const hasPrevious = versions.hasPrevious && canChange;
  const hasNext = versions.hasNext && canChange;
  const engine = useEngine();
  const group = useArrival(siblings[index], `Version ${branchNumber} of ${count}`);
  const attempt = useAttempt();
  const [comparing, setComparing] = useState(false);
  if (count < 2) return null;
  const step = (by: -1 | 1): void => {
    stepTaken = { to: siblings[index + by], button: by < 0 ? 'previous' : 'next' };
    attempt(by < 0 ? goToPrevious : goToNext);
  };
  const titleOf = (title: string, key: string | undefined): string => {
    const words = key === undefined ? '' : engine.node(key)?.preview;
    return words ? `${title}: ${words}` : title;
  };
  return (
    <div ref={group} className="versions" role="group" aria-label={`Version ${branchNumber} of ${count}`}>
      <button
        type="button"
        className="icon-button"
        data-step="previous"
        aria-label="Previous version"
        title={titleOf('Previous version', hasPrevious ? siblings[index - 1] : undefined)}
        aria-disabled={!hasPrevious}
        onClick={() => hasPrevious && step(-1)}
      >
        <Icon name="left" />
      </button>
      <span aria-hidden="true" dir="ltr">
        {branchNumber} / {count}
      </span>
      <button
        type="button"
        className="icon-button"
        data-step="next"
        aria-label="Next version"
        title={titleOf('Next version', hasNext ? siblings[index + 1] : undefined)}
        aria-disabled={!hasNext}
        onClick={() => hasNext && step(1)}
      >
        <Icon name="right" />
      </button>
      <button
        type="button"
        className="icon-button"
        data-step="compare"
        aria-label="Compare versions"
        title="Compare versions"
        onClick={() => setComparing(true)}
      >
        <Icon name="columns" />
      </button>
      {comparing && (
        <CompareVersions
          versions={versions}
          onClose={() => setComparing(false)}
          onKept={(version) => {
            stepTaken = { to: siblings[version], button: 'compare' };
          }}
        />
      )}
    </div>
  );
}

let stepTaken:
  | { readonly to: string | undefined; readonly button: 'previous' | 'next' | 'compare' }
  | undefined;

function useArrival(key: string | undefined, words: string): RefObject<HTMLDivElement | null> {
  const group = useRef<HTMLDivElement>(null);
  const announce = useAnnounce();
  useEffect(() => {
    if (!stepTaken || stepTaken.to !== key) return;
    group.current?.querySelector<HTMLElement>(`[data-step=${stepTaken.button}]`)?.focus();
    stepTaken = undefined;
    announce(words);
  }, [key, words, announce]);
  return group;
}

interface VersionsProps {
  readonly versions: MessageVersions;
}
