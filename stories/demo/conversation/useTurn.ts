import { useChat, type UseChatHelpers } from '@ai-sdk/react';
import {
  generateId,
  isToolUIPart,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  type FileUIPart,
  type UIMessage,
} from 'ai';
import { useEngine, useEngineState, useFragments } from 'contextree';
import { useContextChat } from 'contextree/ai';
import { useEffect, useMemo, useState } from 'react';
import { beforeFirstWord, BROKEN_OFF, describeFailure, WITHOUT_A_WORD } from '../failure.ts';
import { oncePerTask } from '../shell/once.ts';
import { useWorkspace } from '../shell/Workspace.ts';
import { partsOf } from '../stored.ts';
import { noteFailure } from './failedTurns.ts';
import { house } from './house.ts';
import { keepUntilSaved, wasSentThrough } from './keepUntilSaved.ts';
import { saysSomething } from './Parts.tsx';
import { ASIDE } from './useFork.ts';

/** The messages of the shown branch, the state of its last turn, and the next actions. */
export interface TurnState extends TurnActions {
  /** The messages to show, oldest first; those behind `shown` are being written by another tab. */
  readonly listed: readonly UIMessage[];
  /** Those of them that a turn follows. */
  readonly shown: readonly UIMessage[];
  /** The queued questions behind them, oldest first. */
  readonly waiting: readonly UIMessage[];
  /** Whether an earlier page left those: they are not asked by themselves. */
  readonly isLeftWaiting: boolean;
  /** Whether the branch streams, or is about to. */
  readonly streaming: boolean;
  /** The answer that this tab writes right now; undefined before its first part. */
  readonly writing: UIMessage | undefined;
  /** Why the last turn failed, in words. */
  readonly failure: string | undefined;
  /** Asks the queued questions, though a tool waits for an approval; undefined where nothing holds them up. */
  readonly askNow: (() => void) | undefined;
  /** Whether the branch ends with a question that nobody is answering. */
  readonly isUnanswered: boolean;
}

/** What one can do at the end of a branch. Stable for as long as it is shown. */
interface TurnActions {
  readonly send: (text: string, files?: readonly FileUIPart[]) => void;
  readonly stop: () => void;
  /** Takes a question that waits out of the list. */
  readonly takeBack: (question: UIMessage) => void;
  /** Asks the last question again. */
  readonly askAgain: () => void;
  /** Goes on with the interrupted answer at the end. */
  readonly goOn: () => void;
  /** Answers a tool that asked for permission. */
  readonly approve: (approvalId: string, approved: boolean) => void;
}

/** The AI SDK's own chat on the branch that is shown: everything above the network is this. */
export function useTurn({ isAside }: { readonly isAside: boolean }): TurnState {
  const { transport } = useWorkspace();
  const engine = useEngine();
  // An answer that ended here without being requested here. It may be incomplete, or empty.
  const [ended, setEnded] = useState<{ readonly id: string; readonly questionId: string | undefined }>();
  const isBrokenOff = useEngineState(() => ended !== undefined && engine.status(ended.id) === 'interrupted');
  useFragments(...house);
  const { chat: branchChat } = useContextChat({
    transport,
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
    onFinish: ({ message, messages, isAbort, isError }) => {
      const questionId = saysSomething(message) ? undefined : messages.findLast(isQuestion)?.id;
      setEnded(isAbort || isError ? undefined : { id: message.id, questionId });
    },
  });
  // Faster than people read, slower than the screen.
  const chat = useChat({ chat: branchChat, throttle: 40 });
  const { sendMessage, setMessages, regenerate, stop, addToolApprovalResponse } = chat;
  const [once] = useState(oncePerTask);
  const actions: TurnActions = useMemo(
    () => ({
      send: (text, files = []) => {
        const words = text === '' ? [] : [{ type: 'text' as const, text }];
        const question: UIMessage = {
          id: generateId(),
          role: 'user',
          parts: [...files, ...words],
          ...(isAside && { metadata: ASIDE }),
        };
        const mustWait = branchChat.isBusy;
        void sendMessage(question);
        keepUntilSaved(engine, question, mustWait ? branchChat.whenQueued() : undefined);
      },
      stop: () => void stop(),
      takeBack: (question) => setMessages((all) => all.filter(({ id }) => id !== question.id)),
      askAgain: () => once(() => void regenerate()),
      goOn: () => once(() => void sendMessage()),
      approve: (id, approved) => once(() => void addToolApprovalResponse({ id, approved })),
    }),
    [engine, branchChat, isAside, once, sendMessage, setMessages, regenerate, stop, addToolApprovalResponse],
  );
  const streaming = chat.status === 'submitted' || chat.status === 'streaming';
  const waiting = chat.messages.filter((message) => branchChat.waiting.includes(message));
  const all = chat.messages.slice(0, chat.messages.length - waiting.length);
  const left = leftBehind(all, ({ id }) => !engine.node(id) && !wasSentThrough(engine, id));
  const said = left.length === 0 ? all : all.slice(0, -left.length);
  // An answer that ended without a word is saved as complete.
  const isSaved = useEngineState(() => engine.status(said.at(-1)?.id ?? '') === 'complete');
  const listed = isSaved ? said : withoutEmptyAnswer(said, streaming);
  const remoteMessages = useEngineState((state) => state.remoteMessages);
  const head = useEngineState((state) => state.headMessageId);
  // A continued answer is saved as far as it was.
  const begun = remoteMessages[0]?.id === head ? [] : remoteMessages;
  const shown = begun.length === 0 ? listed : listed.filter((message) => !begun.includes(message));
  const last = shown.at(-1);
  // A question that an earlier page left queued is saved when it is asked.
  const isLeft = useEngineState(() => last !== undefined && engine.node(last.id) === undefined);
  // A head behind the question is an answer that another tab is about to write.
  const endsWithQuestion = last?.role === 'user' && (isLeft || head === last.id);
  const failure = failureOf(chat, {
    isBrokenOff: isBrokenOff && last?.id === ended?.id,
    isWordless: endsWithQuestion && last.id === ended?.questionId,
  });
  const isHeldUp = !streaming && last !== undefined && partsOf(last).some(isAsking);
  const lastId = last?.id;
  const words = last?.role === 'user' && failure !== undefined ? beforeFirstWord(failure) : failure;
  useEffect(() => {
    if (lastId !== undefined && words !== undefined) noteFailure(engine, lastId, words);
  }, [engine, lastId, words]);
  return {
    ...actions,
    listed,
    waiting: left.length > 0 ? left : waiting,
    isLeftWaiting: left.length > 0,
    shown,
    streaming,
    writing: streaming && last?.role === 'assistant' ? last : undefined,
    failure,
    askNow: isHeldUp ? (left.length > 0 ? actions.askAgain : actions.stop) : undefined,
    isUnanswered: chat.status === 'ready' && endsWithQuestion,
  };
}

function failureOf(
  { status, error }: Pick<UseChatHelpers<UIMessage>, 'status' | 'error'>,
  { isBrokenOff, isWordless }: { readonly isBrokenOff: boolean; readonly isWordless: boolean },
): string | undefined {
  if (status === 'error') return describeFailure(error);
  if (status !== 'ready') return undefined;
  if (isBrokenOff) return BROKEN_OFF;
  return isWordless ? WITHOUT_A_WORD : undefined;
}

function isQuestion({ role }: UIMessage): boolean {
  return role === 'user';
}

/**
 * The questions at the end that an earlier page left behind an answer with a tool call that asks, or asked, for leave: the call
 * is still to be answered, and the answer goes on before them.
 */
function leftBehind(
  messages: readonly UIMessage[],
  isLeft: (message: UIMessage) => boolean,
): readonly UIMessage[] {
  const at = messages.findLastIndex((message) => message.role !== 'user' || !isLeft(message));
  const answer = messages[at];
  const hasAsked = answer?.role === 'assistant' && partsOf(answer).some((part) => 'approval' in part);
  return hasAsked ? messages.slice(at + 1) : [];
}

/** Whether a tool waits for leave. */
function isAsking(part: UIMessage['parts'][number]): boolean {
  return isToolUIPart(part) && part.state === 'approval-requested';
}

/** The messages without an answer that was stopped or failed before its first word. */
function withoutEmptyAnswer(messages: readonly UIMessage[], streaming: boolean): readonly UIMessage[] {
  const last = messages.at(-1);
  const isEmpty = last?.role === 'assistant' && !streaming && !saysSomething(last);
  return isEmpty ? messages.slice(0, -1) : messages;
}
