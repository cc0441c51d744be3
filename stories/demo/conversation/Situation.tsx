import { useChat } from '@ai-sdk/react';
import { isContextError, useEngine, useEngineState } from 'contextree';
import { useContextChat } from 'contextree/ai';
import type { ReactNode } from 'react';
import { describeFailure } from '../failure.ts';
import { useAttempt } from '../shell/useAttempt.ts';
import { useWorkspace } from '../shell/Workspace.ts';
import { takeUnsentText } from '../unsent.ts';
import { takeUnsentFiles } from '../unsentFiles.ts';
import { focusBranch } from './focusBranch.ts';
import { Lost } from './Lost.tsx';
import type { Standing } from './useStanding.ts';

/** What is out of the ordinary about this chat, in words, above it: nothing, most of the time. */
export function Situation({ chatId, standing }: SituationProps): ReactNode {
  const inMemory = useEngineState((state) => state.persistence === 'memory');
  const detached = useEngineState((state) => state.detached);
  return (
    <>
      <Lost />
      {inMemory && (
        <p className="situation" role="note">
          Kept in memory only. This browser refuses to store anything, so closing or reloading this tab loses
          what is said here.
        </p>
      )}
      {standing === 'deleted' && <Deleted chatId={chatId}>This chat was deleted in another tab.</Deleted>}
      {standing === 'gone' && <Deleted chatId={chatId}>This chat is not here any more.</Deleted>}
      {standing === 'broken' && <Broken />}
      {standing === 'open' && detached && <Detached />}
    </>
  );
}

function Deleted({ chatId, children }: DeletedProps): ReactNode {
  const { store, newChat } = useWorkspace();
  const attempt = useAttempt();
  const moveOn = async (): Promise<void> => {
    const files = await takeUnsentFiles(store, chatId);
    newChat(takeUnsentText(chatId), files);
  };
  return (
    <div className="situation" role="alert">
      <p>{children} What you were writing is still here.</p>
      <button type="button" className="button" onClick={() => attempt(moveOn)}>
        Continue in a new chat
      </button>
    </div>
  );
}

function Broken(): ReactNode {
  const engine = useEngine();
  const error = useEngineState((state) => state.error);
  const attempt = useAttempt();
  // Code that did not come may come now. Where it still does not, and there is a network, the server has another one.
  const readAgain = (): void =>
    attempt(async () => {
      await engine.ready().catch((error: unknown) => {
        if (navigator.onLine) location.reload();
        throw error;
      });
    });
  const isNotLoaded = isContextError(error, 'store-unavailable');
  return (
    <div className="situation" role="alert">
      <p>
        <strong>
          {isContextError(error, 'newer-format')
            ? 'This page is older than its data.'
            : 'This chat can’t be read.'}
        </strong>{' '}
        {describeFailure(error)} What you were writing is kept.
      </p>
      {isNotLoaded ? (
        <button type="button" className="button" onClick={readAgain}>
          Try again
        </button>
      ) : (
        <button type="button" className="button" onClick={() => location.reload()}>
          Reload
        </button>
      )}
    </div>
  );
}

function Detached(): ReactNode {
  const engine = useEngine();
  const branch = useEngineState((state) => state.branch);
  const { status } = useChat(useContextChat());
  const attempt = useAttempt();
  // The branch that begins here is on its way: what would come and go in a moment moves what one reads.
  if (status === 'submitted') return null;
  const showAll = (button: Element): void => {
    attempt(() => engine.switchBranch(branch));
    focusBranch(button);
  };
  return (
    <div className="situation">
      <p>An earlier point of {branch}. What you send now begins a new branch here.</p>
      <button type="button" className="button" onClick={({ currentTarget }) => showAll(currentTarget)}>
        Show all of {branch}
      </button>
    </div>
  );
}

interface DeletedProps {
  readonly chatId: string;
  /** What became of it. */
  readonly children: ReactNode;
}

interface SituationProps {
  readonly chatId: string;
  readonly standing: Standing;
}
