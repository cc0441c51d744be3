import { useChat } from '@ai-sdk/react';
import { isContextError, useBranches, useEngine, useEngineState } from 'contextree';
import { useContextChat } from 'contextree/ai';
import { useState, type ReactNode } from 'react';
import { describeFailure, isClosedToUs, isNotLoaded, wordsOfBrowser } from '../failure.ts';
import { useAttempt } from '../shell/useAttempt.ts';
import { useWorkspace } from '../shell/Workspace.ts';
import { labelOn } from './branchTree.ts';
import { focusBranch } from './focusBranch.ts';
import { Lost } from './Lost.tsx';
import { isDatabase, leaveForMemory, useIsMemoryInstead } from './memoryInstead.ts';
import { focusComposer } from './focusBranch.ts';
import { useMoveOn } from './useMoveOn.ts';
import type { Standing } from './useStanding.ts';

/** What is unusual about this chat, in words, above it: nothing, most of the time. */
export function Situation({ chatId, standing }: SituationProps): ReactNode {
  const inMemory = useEngineState((state) => state.persistence === 'memory');
  const isMemoryInstead = useIsMemoryInstead();
  const detached = useEngineState((state) => state.detached);
  const isDeletedHere = useEngineState((state) => state.error?.details['here'] === true);
  return (
    <>
      <Lost />
      {inMemory && standing !== 'unknown' && (
        <p className="situation" role="note">
          Kept in memory only. This browser stores nothing of it, so closing or reloading this tab loses what
          is said here.
        </p>
      )}
      {standing === 'deleted' && (
        <Deleted chatId={chatId}>This chat was deleted{isDeletedHere ? '' : ' in another tab'}.</Deleted>
      )}
      {standing === 'gone' && !isMemoryInstead && (
        <Deleted chatId={chatId}>This chat is not here any more.</Deleted>
      )}
      {standing === 'broken' && <Broken chatId={chatId} />}
      {standing === 'open' && detached && <Detached />}
    </>
  );
}

function Deleted({ chatId, children }: DeletedProps): ReactNode {
  const attempt = useAttempt();
  const moveOn = useMoveOn(chatId, true);
  return (
    <div className="situation" role="alert">
      <p>{children} What you were writing is still here.</p>
      <button type="button" className="button" onClick={() => attempt(moveOn)}>
        Continue in a new chat
      </button>
    </div>
  );
}

/** A chat that can't be read: code that did not come, a database that does not open, data of a newer version. */
function Broken({ chatId }: { readonly chatId: string }): ReactNode {
  const error = useEngineState((state) => state.error);
  // A full disk has no room for a database either.
  const isClosed = isClosedToUs(error) || isContextError(error, 'quota-exceeded');
  const reason = wordsOfBrowser(error);
  return (
    <div className="situation" role="alert">
      <p>
        <strong>{headOf(error)}</strong> {describeFailure(error)} What you were writing is kept.
        {isClosed && reason !== undefined && <small>{reason}</small>}
      </p>
      <div className="situation-actions">
        {isClosed || isNotLoaded(error) ? (
          <ReadAgain />
        ) : (
          <button type="button" className="button" onClick={() => location.reload()}>
            Reload
          </button>
        )}
        {isClosed && <GoOnInMemory chatId={chatId} />}
      </div>
    </div>
  );
}

function headOf(error: unknown): string {
  if (isContextError(error, 'newer-format')) return 'This page is older than its data.';
  if (isContextError(error, 'quota-exceeded')) return 'There is no room for your chats.';
  return isClosedToUs(error) ? 'Your chats can’t be opened.' : 'This chat can’t be read.';
}

function ReadAgain(): ReactNode {
  const engine = useEngine();
  const { startOver } = useWorkspace();
  const attempt = useAttempt();
  const [isTrying, setTrying] = useState(false);
  // Code that failed to load may load now. If it fails again while there is a network, the server has a newer version.
  const readAgain = async (): Promise<void> => {
    setTrying(true);
    try {
      await engine.ready();
      startOver();
      // The button went away with the page that it stood on.
      requestAnimationFrame(focusComposer);
    } catch (error) {
      if (isNotLoaded(error) && navigator.onLine) location.reload();
      throw error;
    } finally {
      setTrying(false);
    }
  };
  return (
    // Stays a button that can be pressed: one that is switched off would let go of the focus.
    <button
      type="button"
      className="button"
      aria-disabled={isTrying}
      onClick={() => isTrying || attempt(readAgain)}
    >
      {isTrying ? 'Trying…' : 'Try again'}
    </button>
  );
}

/** For a person who would rather talk now: nothing stored can be seen, and nothing new is stored. */
function GoOnInMemory({ chatId }: { readonly chatId: string }): ReactNode {
  const { store, startOver } = useWorkspace();
  const moveOn = useMoveOn(chatId);
  const attempt = useAttempt();
  if (!isDatabase(store)) return null;
  const goOn = async (): Promise<void> => {
    await leaveForMemory(store);
    await moveOn();
    startOver();
  };
  return (
    <button type="button" className="button" onClick={() => attempt(goOn)}>
      Go on in memory
    </button>
  );
}

function Detached(): ReactNode {
  const engine = useEngine();
  const { current } = useBranches();
  const { status } = useChat(useContextChat());
  const attempt = useAttempt();
  // The new branch is on its way: a note that is shown for a moment would move the text that the person reads.
  if (status === 'submitted' || !current) return null;
  const label = labelOn(current);
  const showAll = (): void => {
    attempt(() => engine.switchBranch(current.id));
    focusBranch();
  };
  return (
    <div className="situation">
      <p>
        An earlier point of <em dir="auto">{label}</em>. What you send now begins a new branch here.
      </p>
      <button type="button" className="button" title={`Show all of ${label}`} onClick={showAll}>
        Show all of it
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
