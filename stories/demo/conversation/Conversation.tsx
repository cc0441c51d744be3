import { useChat } from '@ai-sdk/react';
import { lastAssistantMessageIsCompleteWithApprovalResponses, type UIMessage } from 'ai';
import { useEngineState, useFragments } from 'contextree';
import { useContextChat } from 'contextree/ai';
import { useMemo, useRef, type ReactNode } from 'react';
import { describeFailure } from '../failure.ts';
import { Notices } from '../shell/Notices.tsx';
import { useWorkspace } from '../shell/Workspace.ts';
import { Icon } from '../ui/Icon.tsx';
import { Composer, type ComposerHandle } from './Composer.tsx';
import { EarlierMessages } from './EarlierMessages.tsx';
import { house } from './house.ts';
import { AnswerThatFailed, AnswerToCome, Message, Unanswered } from './Message.tsx';
import { saysSomething } from './Parts.tsx';
import { Skeleton } from './Skeleton.tsx';
import { Turn, type TurnActions } from './Turn.ts';
import { UnknownChat } from './UnknownChat.tsx';
import type { Standing } from './useStanding.ts';
import { useEndFirst } from './useEndFirst.ts';
import { useFollow } from './useFollow.ts';
import { useReadAtEnd } from './useReadAtEnd.ts';
import { Welcome, type Starter } from './Welcome.tsx';

/** The shown branch of a chat, growing at its end, and the place to write. */
export function Conversation({ chatId, standing, starters }: ConversationProps): ReactNode {
  const { transport } = useWorkspace();
  useFragments(...house);
  const chat = useChat({
    ...useContextChat({
      transport,
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
    }),
    throttle: 40,
  });
  const { messages, sendMessage, regenerate, stop, addToolApprovalResponse } = chat;
  const composer = useRef<ComposerHandle>(null);
  const streaming = chat.status === 'submitted' || chat.status === 'streaming';
  const shown = withoutEmptyAnswer(messages, streaming);
  const onPage = useEndFirst(shown);
  const last = shown.at(-1);
  const writing = streaming && last?.role === 'assistant' ? last : undefined;
  const { scroller, content, isAway, jumpToEnd } = useFollow(onPage[0]?.id);
  useReadAtEnd(writing, shown);

  const send = (text: string): void => {
    jumpToEnd();
    void sendMessage({ text });
  };
  const actions: TurnActions = useMemo(
    () => ({
      goOn: () => void sendMessage(),
      approve: (id, approved) => void addToolApprovalResponse({ id, approved }),
      focusComposer: () => composer.current?.focus(),
    }),
    [sendMessage, addToolApprovalResponse],
  );
  const head = useEngineState((state) => state.headMessageId);
  const isUnanswered =
    chat.status === 'ready' && last?.role === 'user' && last.id === head && standing === 'open';
  const failure = chat.status === 'error' ? describeFailure(chat.error) : undefined;

  return (
    <Turn value={actions}>
      <div className="conversation">
        <div ref={scroller} className="scroller">
          <div ref={content} className="history">
            {standing === 'loading' && <Skeleton />}
            {standing === 'unknown' && <UnknownChat />}
            {shown.length === 0 && (standing === 'unsent' || standing === 'open') && (
              <Welcome starters={starters} onStart={send} />
            )}
            {onPage.length === shown.length && <EarlierMessages scroller={scroller} />}
            {onPage.map((message) => (
              <Message
                key={message.id}
                message={message}
                writing={message === writing}
                isLast={message === last}
                failure={message === last && message.role === 'assistant' ? failure : undefined}
              />
            ))}
            {streaming && last?.role === 'user' && <AnswerToCome />}
            {isUnanswered && <Unanswered onAsk={() => void regenerate()} />}
            {failure !== undefined && last?.role !== 'assistant' && (
              <AnswerThatFailed words={failure} onTryAgain={() => void regenerate()} />
            )}
          </div>
        </div>
        {isAway && shown.length > 0 && (
          <button type="button" className="button jump" onClick={jumpToEnd}>
            <Icon name="down" />
            Jump to latest
          </button>
        )}
      </div>
      <Notices />
      {standing !== 'unknown' && (
        <Composer
          ref={composer}
          chatId={chatId}
          isNew={standing === 'unsent'}
          streaming={streaming}
          canSend={standing !== 'deleted' && standing !== 'broken'}
          onSend={send}
          onStop={() => void stop()}
        />
      )}
    </Turn>
  );
}

/** An answer that was stopped or failed before its first word leaves nothing to look at. */
function withoutEmptyAnswer(messages: readonly UIMessage[], streaming: boolean): readonly UIMessage[] {
  const last = messages.at(-1);
  const isEmpty = last?.role === 'assistant' && !streaming && !saysSomething(last);
  return isEmpty ? messages.slice(0, -1) : messages;
}

interface ConversationProps {
  readonly chatId: string;
  readonly standing: Standing;
  /** What to begin with, on the first visit. */
  readonly starters: readonly Starter[];
}
