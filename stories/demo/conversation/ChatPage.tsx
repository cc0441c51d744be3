import { ContextEngineProvider, useEngineState } from 'contextree';
import { useEffect, useState, type ReactNode } from 'react';
import { describeFailure } from '../failure.ts';
import { useFirstPicture } from '../shell/firstPicture.ts';
import { Guard } from '../shell/Guard.tsx';
import { calm, cutBetweenWords, UNTITLED } from '../titles.ts';
import { Drawing } from '../ui/Drawing.tsx';
import { Calm, fetchLate, late } from '../ui/late.tsx';
import { useUndoKeys } from '../shell/useUndo.ts';
import { usePalette } from '../shell/usePalette.ts';
import { USER, useWorkspace } from '../shell/Workspace.ts';
import { useWantedMessage } from '../shell/wanted.ts';
import { Branches } from './Branches.tsx';
import { labelOn } from './branchTree.ts';
import { ByTheWay } from './ByTheWay.tsx';
import { Checkpoints, useCheckpointsView } from './Checkpoints.tsx';
import { Conversation } from './Conversation.tsx';
import { Offline } from './Offline.tsx';
import { SaveState } from './SaveState.tsx';
import { SideBar } from './SideBar.tsx';
import { Situation } from './Situation.tsx';
import { useSeeing } from './useBranchNews.ts';
import { useFirstQuestion } from './useFirstQuestion.ts';
import { useFork } from './useFork.ts';
import { useStanding, type Standing } from './useStanding.ts';

// The devtools that stay in a production build: in this app they are part of what is shown.
const ContextDevtools = late(async () => (await import('contextree/devtools/production')).ContextDevtools);

const ChatNotices = late(async () => (await import('./ChatNotices.ts')).ChatNotices);

const Palette = late(async () => (await import('../shell/Palette.tsx')).Palette);

/** A chat by its address, with everything that belongs to it. */
export function ChatPage(props: ChatPageProps): ReactNode {
  const { store } = useWorkspace();
  return (
    <ContextEngineProvider key={props.chatId} chatId={props.chatId} userId={USER} store={store}>
      <Guard renderFailure={(error) => <Unshown error={error} />}>
        <OpenChat {...props} />
      </Guard>
    </ContextEngineProvider>
  );
}

/** A chat that this page fails to show: the other ones are still in reach. */
function Unshown({ error }: { readonly error: unknown }): ReactNode {
  useFirstPicture(true);
  return (
    <main className="page">
      <div className="welcome unshown" role="alert">
        <Drawing name="broken" />
        <h2>This chat can’t be shown</h2>
        <p>{describeFailure(error)} What is saved is untouched.</p>
        <button type="button" className="button button-primary" onClick={() => location.reload()}>
          Reload
        </button>
      </div>
    </main>
  );
}

function OpenChat({ chatId, isFirst, hasSteps, covered, menuButton }: ChatPageProps): ReactNode {
  const standing = useStanding(chatId);
  const question = useFirstQuestion(chatId);
  useUndoKeys();
  useWantedMessage(standing === 'open');
  useSeeing();
  const fork = useFork();
  const checkpoints = useCheckpointsView();
  const palette = usePalette();
  const aside = fork?.isSide && standing === 'open' ? { fork, label: labelOn(fork.origin) } : undefined;
  const isThere = useThere(standing);
  useFirstPicture(standing !== 'loading');
  const title = useTitle(question ?? titles[standing]);
  return (
    <main className="page" inert={covered}>
      <header className="page-head">
        {menuButton}
        <h1 dir="auto">{title}</h1>
        <SaveState />
        {(standing === 'open' || standing === 'loading') && (
          <div className="branch-bar" role="group" aria-label="Branches and checkpoints">
            {standing === 'open' && (
              <>
                <Branches />
                <Checkpoints view={checkpoints} />
                {!aside && <ByTheWay />}
              </>
            )}
          </div>
        )}
        <span className="devtools-place">
          {isThere && (
            <ContextDevtools preload initialIsOpen={isFirst && isWide()} buttonPosition="relative" />
          )}
        </span>
      </header>
      <section
        className="place"
        data-aside={aside && ''}
        aria-label={aside && `Side question of ${aside.label}`}
      >
        {aside && <SideBar {...aside} />}
        <Offline />
        <Situation chatId={chatId} standing={standing} />
        <Conversation
          chatId={chatId}
          standing={standing}
          fork={fork}
          showCheckpoint={checkpoints.open}
          hasSteps={hasSteps}
        />
      </section>
      <Calm>
        <ChatNotices standing={standing} />
      </Calm>
      {palette.isOpen && <Palette canChange={standing === 'open' && !aside} onClose={palette.close} />}
    </main>
  );
}

/** True a moment after the chat is on the screen: what can wait comes then. */
function useThere(standing: Standing): boolean {
  const [isThere, setThere] = useState(false);
  const isRead = standing !== 'loading';
  useEffect(() => {
    if (!isRead) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const afterPaint = (): void => {
      setThere(true);
      timer = setTimeout(() => void fetchLate(), 500);
    };
    const frame = requestAnimationFrame(() => {
      timer = setTimeout(afterPaint);
    });
    return () => {
      cancelAnimationFrame(frame);
      clearTimeout(timer);
    };
  }, [isRead]);
  return isThere;
}

/** Whether the window has room for the devtools beside the chat. */
function isWide(): boolean {
  return matchMedia('(width >= 1152px)').matches;
}

/** What a chat without a title is called. */
const titles: Readonly<Record<Standing, string>> = {
  loading: 'Loading…',
  open: UNTITLED,
  unsent: 'New chat',
  unknown: 'Unknown chat',
  gone: 'Unknown chat',
  deleted: UNTITLED,
  broken: 'Chat',
};

function useTitle(otherwise: string): string {
  const title = calm(useEngineState((state) => state.chat?.title) ?? otherwise);
  useEffect(() => {
    document.title = `${cutBetweenWords(title, 60)} · contextree`;
  }, [title]);
  return title;
}

interface ChatPageProps {
  readonly chatId: string;
  /** Whether it is the chat that a first visit opens on, and this is one: the graph stands beside it. */
  readonly isFirst: boolean;
  /** Whether it may show its first steps. */
  readonly hasSteps: boolean;
  /** Whether the drawer lies over it. */
  readonly covered: boolean;
  /** Opens the drawer of chats where there is no room for them. */
  readonly menuButton: ReactNode;
}
