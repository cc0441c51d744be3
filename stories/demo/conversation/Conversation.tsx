import type { FileUIPart, UIMessage } from 'ai';
import { useEngine } from 'contextree';
import { Fragment, useEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import { Notices } from '../shell/Notices.tsx';
import { oncePerTask } from '../shell/once.ts';
import { Drawing } from '../ui/Drawing.tsx';
import { Icon } from '../ui/Icon.tsx';
import { Calm, late } from '../ui/late.tsx';
import { AbsentAnswer } from './AbsentAnswer.tsx';
import { Around, type Surroundings } from './Around.ts';
import { Composer, type ComposerHandle } from './Composer.tsx';
import { failureAt } from './failedTurns.ts';
import { EarlierMessages } from './EarlierMessages.tsx';
import { Flags } from './Flags.tsx';
import { ForkNote } from './ForkNote.tsx';
import { Message } from './Message.tsx';
import { Skeleton } from './Skeleton.tsx';
import { UnknownChat } from './UnknownChat.tsx';
import { useEndFirst } from './useEndFirst.ts';
import { useFollow } from './useFollow.ts';
import type { ForkShown } from './useFork.ts';
import { useGoOnFrom } from './useGoOnFrom.ts';
import { useReadAtEnd } from './useReadAtEnd.ts';
import type { Standing } from './useStanding.ts';
import { useTurn } from './useTurn.ts';
import { WaitingQuestion } from './WaitingQuestion.tsx';
import { Welcome } from './Welcome.tsx';

const FirstSteps = late(async () => (await import('./FirstSteps.tsx')).FirstSteps);

/** The shown branch of a chat, growing at its end, and the place to write. */
export function Conversation(props: ConversationProps): ReactNode {
  const { chatId, standing, fork, showCheckpoint, hasSteps } = props;
  const canChange = standing !== 'deleted' && standing !== 'broken' && standing !== 'gone';
  const engine = useEngine();
  const turn = useTurn({ isAside: fork?.isSide ?? false });
  const { listed, shown, waiting, streaming, writing, failure, goOn, approve, askNow } = turn;
  const onPage = useEndFirst(listed);
  const { scroller, content, isAway, jumpToEnd } = useFollow(onPage[0]?.id);
  const composer = useRef<ComposerHandle>(null);
  useReadAtEnd(writing, shown);

  // A branch that was just made is empty, so the note of its fork stands at its end.
  const begunAt = fork?.isEmpty ? fork.branchId : undefined;
  useEffect(() => {
    if (begunAt !== undefined) jumpToEnd();
  }, [begunAt, jumpToEnd]);

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
  // The pressed button is removed together with its message.
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
      showCheckpoint,
      approve: (approvalId, approved) => {
        approve(approvalId, approved);
        focusComposer();
      },
      focusComposer,
    };
  }, [goOn, goOnFrom, approve, canChange, jumpToEnd, showCheckpoint]);
  const jump = (): void => {
    jumpToEnd();
    around.focusComposer();
  };
  // The pager of an answer's version already says that it is one of several.
  const shownFork = standing === 'open' && fork && !fork.isAnswer ? fork : undefined;
  // What is asked aside in mid-answer is asked behind a question that is answered in the other place.
  const answeredThere = fork?.isSide && fork.kept > 0 ? fork.afterId : undefined;
  const isBeside = answeredThere !== undefined && fork?.isEmpty && !streaming;
  const firstElsewhere = onPage.length - (listed.length - shown.length);

  return (
    <Around value={around}>
      <div className="conversation">
        <div ref={scroller} className="scroller">
          <div ref={content} className="history" data-long={listed.length > LONG || undefined}>
            {listed.length === 0 && <Blank chatId={chatId} standing={standing} onStart={begin} />}
            {onPage.length === listed.length && <EarlierMessages scroller={scroller} />}
            {shownFork?.afterId === null && onPage.length === listed.length && <ForkNote fork={shownFork} />}
            {onPage.map((message, i) => (
              <Fragment key={message.id}>
                <Message
                  message={message}
                  writing={message === writing}
                  isLast={message === last}
                  isElsewhere={i >= firstElsewhere}
                  failure={
                    canChange && message === last && message.role === 'assistant' ? failure : undefined
                  }
                  isUnanswered={
                    isPassedOver(message, onPage[i + 1]) &&
                    i + 1 < firstElsewhere &&
                    message.id !== answeredThere
                  }
                  earlierFailure={message === last ? undefined : failureAt(engine, message.id)}
                />
                {standing === 'open' && <Flags messageId={message.id} />}
                {shownFork?.afterId === message.id && <ForkNote fork={shownFork} />}
              </Fragment>
            ))}
            {canChange && !isBeside && <AbsentAnswer turn={turn} canAsk={standing === 'open'} />}
          </div>
        </div>
        {isAway && shown.length > 0 && <JumpToLatest onJump={jump} />}
      </div>
      {hasSteps && standing === 'open' && (
        <Calm>
          <FirstSteps />
        </Calm>
      )}
      <Notices afterLast={around.focusComposer} />
      <div className="queue">
        {waiting.map((question, i) => (
          <WaitingQuestion
            key={question.id}
            question={question}
            isLeft={turn.isLeftWaiting}
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
          isAside={fork?.isSide ?? false}
          isHeldUp={askNow !== undefined}
          onSend={send}
          onStop={turn.stop}
        />
      )}
    </Around>
  );
}

/** Whether a question is followed by another one: its answer never came. */
function isPassedOver({ role }: UIMessage, next: UIMessage | undefined): boolean {
  return role === 'user' && next?.role === 'user';
}

/** A conversation without a message: being read, unknown, or about to begin. */
function Blank({ chatId, standing, onStart }: BlankProps): ReactNode {
  if (standing === 'loading') return <Skeleton />;
  if (standing === 'unknown' || standing === 'gone')
    return <UnknownChat chatId={chatId} isEmpty={standing === 'unknown'} />;
  if (standing === 'unsent' || standing === 'open') return <Welcome onStart={onStart} />;
  if (standing === 'broken') return <Unreadable />;
  return null;
}

/** What is wrong, and the ways on, stand above. */
function Unreadable(): ReactNode {
  return (
    <div className="welcome">
      <Drawing name="broken" />
    </div>
  );
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
  /** Where the branch that is shown left another one. */
  readonly fork: ForkShown | undefined;
  /** Opens the list of checkpoints on one of them. */
  readonly showCheckpoint: (name: string) => void;
  /** Whether the first steps may be shown. */
  readonly hasSteps: boolean;
}

/** From how many messages on those out of sight are not laid out. */
const LONG = 40;

interface BlankProps extends Pick<ConversationProps, 'chatId' | 'standing'> {
  readonly onStart: (question: string) => void;
}
