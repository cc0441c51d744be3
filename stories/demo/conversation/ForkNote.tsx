import { useBranches } from 'contextree';
import { use, useId, type ReactNode } from 'react';
import { plural } from '../quantities.ts';
import { useAttempt } from '../shell/useAttempt.ts';
import { Icon } from '../ui/Icon.tsx';
import { Around } from './Around.ts';
import { labelOn } from './branchTree.ts';
import type { ForkShown } from './useFork.ts';

/** The line where the conversation forked: the messages that it left are kept, and one press away. */
export function ForkNote({ fork: { origin, kept, isSide } }: { readonly fork: ForkShown }): ReactNode {
  const { switchBranch } = useBranches();
  const attempt = useAttempt();
  const { focusComposer } = use(Around);
  const nameId = useId();
  const label = labelOn(origin);
  if (isSide)
    return (
      <p className="fork-note">
        <Icon name="aside" />
        Asked aside from here on
      </p>
    );
  return (
    <div role="note" className="fork-note" aria-labelledby={nameId}>
      <Icon name="branch" />
      <p>
        <span id={nameId}>
          Branched from <em dir="auto">{label}</em>
        </span>
        {kept > 0 && ` · ${plural(kept, 'later message')} kept`}
      </p>
      <button
        type="button"
        className="text-button"
        title={origin.name}
        onClick={() => {
          // The note goes away with the press.
          focusComposer();
          attempt(() => switchBranch(origin.id));
        }}
      >
        View
      </button>
    </div>
  );
}
