import { ContextEngineProvider, useEngineState } from 'contextree';
// The devtools that stay in a production build: in this app they are part of what is shown.
import { ContextDevtools } from 'contextree/devtools/production';
import { useEffect, useState, type ReactNode } from 'react';
import { describeFailure } from '../failure.ts';
import { Guard } from '../shell/Guard.tsx';
import { UNTITLED } from '../titles.ts';
import { USER, useWorkspace } from '../shell/Workspace.ts';
import { BranchBar } from './BranchBar.tsx';
import { Checkpoints } from './Checkpoints.tsx';
import { Conversation } from './Conversation.tsx';
import { SaveState } from './SaveState.tsx';
import { Situation } from './Situation.tsx';
import { useChatNotices } from './useChatNotices.ts';
import { useFirstQuestion } from './useFirstQuestion.ts';
import { useStanding, type Standing } from './useStanding.ts';
import type { Starter } from './Welcome.tsx';

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
  return (
    <main className="page">
      <div className="situation" role="alert">
        <p>
          <strong>This chat can’t be shown.</strong> {describeFailure(error)} What is saved is untouched.
        </p>
        <button type="button" className="button" onClick={() => location.reload()}>
          Reload
        </button>
      </div>
    </main>
  );
}

function OpenChat({ chatId, starters, covered, menuButton }: ChatPageProps): ReactNode {
  const standing = useStanding(chatId);
  const [beside, setBeside] = useState(false);
  const question = useFirstQuestion(chatId);
  useChatNotices(standing);
  const title = useTitle(question ?? titles[standing]);
  return (
    <main className="page" inert={covered} data-beside={beside || undefined}>
      <header className="page-head">
        {menuButton}
        <h1 dir="auto">{title}</h1>
        <SaveState />
        {standing === 'open' && <BranchBar />}
        <ContextDevtools preload buttonPosition="relative" onOpenChange={setBeside} />
        {standing === 'open' && <Checkpoints />}
      </header>
      <Situation chatId={chatId} standing={standing} />
      <Conversation chatId={chatId} standing={standing} starters={starters} />
    </main>
  );
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
  const title = useEngineState((state) => state.chat?.title) ?? otherwise;
  useEffect(() => {
    document.title = `${title} · contextree`;
  }, [title]);
  return title;
}

interface ChatPageProps {
  readonly chatId: string;
  readonly starters: readonly Starter[];
  /** Whether the drawer lies over it. */
  readonly covered: boolean;
  /** Opens the drawer of chats where there is no room for them. */
  readonly menuButton: ReactNode;
}
