import { useBranches, useEngine, useEngineState } from 'contextree';
import type { ReactNode } from 'react';
import { onFirstClick } from '../shell/once.ts';
import { useAttempt } from '../shell/useAttempt.ts';
import { useTellDone } from '../shell/useUndo.ts';
import { Icon } from '../ui/Icon.tsx';
import { focusComposer } from './focusBranch.ts';
import { forgetAside, type ForkShown } from './useFork.ts';

/** The bar above a side question: its conversation, `Back`, and `Bring over`. */
export function SideBar({ fork: { origin }, label }: SideBarProps): ReactNode {
  const engine = useEngine();
  const { current, switchBranch } = useBranches();
  const attempt = useAttempt();
  const tellDone = useTellDone();
  const said = current?.ownCount ?? 0;
  const isWhole = useEngineState(
    ({ headMessageId = '' }) => said > 1 && engine.status(headMessageId) !== 'streaming',
  );
  const goBack = (): void => {
    attempt(async () => {
      // A place in which nothing was asked goes: it would be listed as one more new branch.
      const last = engine.operations().findLast(({ state }) => state !== 'undone');
      const isUnused = said === 0 && last?.kind === 'btw' && last.state === 'undoable';
      if (isUnused) forgetAside(engine.chatId);
      await (isUnused ? engine.undo() : switchBranch(origin.id));
    });
    focusComposer();
  };
  const takeAlong = (): void => {
    const own = engine.state.getState().messages.slice(-said);
    attempt(async () => {
      const { bringOver } = await import('./bringOver.ts');
      await bringOver(engine, origin, own);
      tellDone({ text: 'The side question was added here', lasts: 10_000 });
    });
    focusComposer();
  };
  return (
    <div className="side-bar">
      <button type="button" className="button" onClick={onFirstClick(goBack)}>
        <Icon name="left" />
        Back
      </button>
      <p>
        Side question of <em dir="auto">{label}</em>
      </p>
      <button
        type="button"
        className="button"
        aria-disabled={!isWhole}
        title={
          isWhole
            ? 'Add the question and its answer to the main conversation'
            : 'Nothing was asked and answered here yet'
        }
        onClick={onFirstClick(() => {
          if (isWhole) takeAlong();
        })}
      >
        Bring over
      </button>
    </div>
  );
}

interface SideBarProps {
  readonly fork: ForkShown;
  /** What the conversation is called that it stands beside. */
  readonly label: string;
}
