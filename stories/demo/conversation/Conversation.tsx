import type { FileUIPart, UIMessage } from 'ai';
import { useMemo, useRef, useState, type ReactNode } from 'react';
import { Notices } from '../shell/Notices.tsx';
import { oncePerTask } from '../shell/once.ts';
import { Icon } from '../ui/Icon.tsx';
import { AbsentAnswer } from './AbsentAnswer.tsx';
import { Around, type Surroundings } from './Around.ts';
import { Composer, type ComposerHandle } from './Composer.tsx';
import { EarlierMessages } from './EarlierMessages.tsx';
import { Message } from './Message.tsx';
import { Skeleton } from './Skeleton.tsx';
import { UnknownChat } from './UnknownChat.tsx';
import { useEndFirst } from './useEndFirst.ts';
import { useFollow } from './useFollow.ts';
import { useGoOnFrom } from './useGoOnFrom.ts';
import { useReadAtEnd } from './useReadAtEnd.ts';
import type { Standing } from './useStanding.ts';
import { useTurn } from './useTurn.ts';
import { WaitingQuestion } from './WaitingQuestion.tsx';
import { Welcome, type Starter } from './Welcome.tsx';

/** The shown branch of a chat, growing at its end, and the place to write. */
export function Conversation({ chatId, standing, starters }: ConversationProps): ReactNode {
  const canChange = standing !== 'deleted' && standing !== 'broken' && standing !== 'gone';
  const turn = useTurn();
  const { listed, shown, waiting, streaming, writing, failure, goOn, approve, askNow } = turn;
  const onPage = useEndFirst(listed);
  const { scroller, content, isAway, jumpToEnd } = useFollow(onPage[0]?.id);
  const composer = useRef<ComposerHandle>(null);
  useReadAtEnd(writing, shown);

  const send = (text: string, files?: readonly FileUIPart[]): void => {
    jumpToEnd();
    turn.send(text, files);
  };
  const askFirst = (): void => {
    jumpToEnd();
    askNow?.();
    composer.current?.focus();
  };
  const takeBack = (question: UIMessage): void => {
    turn.takeBack(question);
    composer.current?.giveBack(question);
  };
  // The button that was pressed goes away with the greeting.
  const [once] = useState(oncePerTask);
  const begin = (text: string): void =>
    once(() => {
      send(text);
      composer.current?.focus();
    });
  const last = shown.at(-1);
  const goOnFrom = useGoOnFrom(turn);
  // What is pressed here goes away with what it answers, too.
  const around: Surroundings = useMemo(() => {
    const focusComposer = (): void => composer.current?.focus();
    return {
      goOn: () => {
        jumpToEnd();
        goOn();
        focusComposer();
      },
      goOnFrom,
      canChange,
      approve: (approvalId, approved) => {
        approve(approvalId, approved);
        focusComposer();
      },
      focusComposer,
    };
  }, [goOn, goOnFrom, approve, canChange, jumpToEnd]);
  const jump = (): void => {
    jumpToEnd();
    around.focusComposer();
  };
  const firstElsewhere = onPage.length - (listed.length - shown.length);

  return (
    <Around value={around}>
      <div className="conversation">
        <div ref={scroller} className="scroller">
          <div ref={content} className="history">
            {listed.length === 0 && <Blank standing={standing} starters={starters} onStart={begin} />}
            {onPage.length === listed.length && <EarlierMessages scroller={scroller} />}
            {onPage.map((message, i) => (
              <Message
                key={message.id}
                message={message}
                writing={message === writing}
                isLast={message === last}
                isElsewhere={i >= firstElsewhere}
                failure={canChange && message === last && message.role === 'assistant' ? failure : undefined}
              />
            ))}
            {canChange && <AbsentAnswer turn={turn} canAsk={standing === 'open'} />}
          </div>
        </div>
        {isAway && shown.length > 0 && <JumpToLatest onJump={jump} />}
      </div>
      <Notices afterLast={around.focusComposer} />
      <div className="queue">
        {waiting.map((question, i) => (
          <WaitingQuestion
            key={question.id}
            question={question}
            onAskNow={i === 0 && askNow ? askFirst : undefined}
            onTakeBack={takeBack}
          />
        ))}
      </div>
      {standing !== 'unknown' && (
        <Composer
          ref={composer}
          chatId={chatId}
          isNew={standing === 'unsent'}
          streaming={streaming}
          canSend={canChange}
          onSend={send}
          onStop={turn.stop}
        />
      )}
    </Around>
  );
}

/** A conversation without a message: being read, unknown, or about to begin. */
function Blank({ standing, starters, onStart }: BlankProps): ReactNode {
  if (standing === 'loading') return <Skeleton />;
  if (standing === 'unknown' || standing === 'gone') return <UnknownChat isEmpty={standing === 'unknown'} />;
  if (standing === 'unsent' || standing === 'open') return <Welcome starters={starters} onStart={onStart} />;
  return null;
}

function JumpToLatest({ onJump }: { readonly onJump: () => void }): ReactNode {
  return (
    <button type="button" className="button jump" onClick={onJump}>
      <Icon name="down" />
      Jump to latest
    </button>
  );
}

interface ConversationProps {
  readonly chatId: string;
  readonly standing: Standing;
  /** What to begin with, on the first visit. */
  readonly starters: readonly Starter[];
}

interface BlankProps extends Pick<ConversationProps, 'standing' | 'starters'> {
  readonly onStart: (question: string) => void;
}
