import { useEngine, type ContextEngine } from 'contextree';
import type { ReactNode } from 'react';
import { onFirstClick } from '../shell/once.ts';
import { useAttempt } from '../shell/useAttempt.ts';
import { Icon } from '../ui/Icon.tsx';
import { focusComposer } from './focusBranch.ts';
import { openAside } from './useFork.ts';

/** Asks a side question: the same conversation once more, in a place of its own. */
export function ByTheWay(): ReactNode {
  const engine = useEngine();
  const attempt = useAttempt();
  return (
    <button
      type="button"
      className="button by-the-way"
      aria-label="By the way"
      title="Ask something aside; the main conversation never hears it"
      onClick={onFirstClick(() => {
        attempt(() => beginSideQuestion(engine));
      })}
    >
      <Icon name="aside" />
      <span>By the way</span>
    </button>
  );
}

/** Opens the place of a side question. */
export async function beginSideQuestion(engine: ContextEngine): Promise<void> {
  focusComposer();
  await openAside(engine);
}
