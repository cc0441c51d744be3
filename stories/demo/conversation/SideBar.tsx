import { useBranches, useEngine, useEngineState } from 'contextree';
import type { ReactNode } from 'react';
import { onFirstClick } from '../shell/once.ts';
import { useAttempt } from '../shell/useAttempt.ts';
import { useNotices } from '../shell/Notices.tsx';
import { Icon } from '../ui/Icon.tsx';
import { focusComposer } from './focusBranch.ts';
import { forgetAside, type ForkShown } from './useFork.ts';

/** The bar above a side question: its conversation, `Back`, and `Bring over`. */
export function SideBar({ fork: { origin }, label }: SideBarProps): ReactNode {
  const engine = useEngine();
  const { current, switchBranch, rewind } = useBranches();
  const attempt = useAttempt();
  const { tell } = useNotices();
  const said = current?.ownCount ?? 0;
  const isWhole = useEngineState(
    ({ headMessageId = '' }) => said > 1 && engine.status(headMessageId) !== 'streaming',
  );
  const goBack = (): void => {
    attempt(() => switchBranch(origin.id));
    focusComposer();
  };
  const goOnFrom = (messageId: string): Promise<unknown> => {
    forgetAside(engine.chatId);
    return rewind(messageId);
  };
  const takeAlong = (): void => {
    const own = engine.state.getState().messages.slice(-said);
    const before = origin.headMessageId;
    attempt(async () => {
      const { bringOver } = await import('./bringOver.ts');
      await bringOver(engine, origin, own);
      tell({
        key: 'done',
        text: 'The side question was added here',
        ...(before !== null && { undo: { label: 'Undo', run: () => attempt(() => goOnFrom(before)) } }),
        lasts: 10_000,
      });
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
