import type { Chat } from '@ai-sdk/react';
import type { ChatInit, ChatTransport, UIMessage } from 'ai';
import type { Told } from '../record/record.ts';

/**
 * How chats are made: every option of the AI SDK's `ChatInit`, and what each request sends.
 *
 * Answers on branches that are not shown stream on, so each callback also gets the chat that it is about, with its `branchId`.
 * Usage that an answer's metadata bring as `usage` (a server's `messageMetadata`) is added to the usage of the chat: see
 * `trackUsage` of the engine.
 */
export interface ContextChatOptions<M extends UIMessage = UIMessage> extends Omit<
  ChatInit<M>,
  keyof Heard<M>
> {
  readonly onError?: Heard<M>['onError'];
  readonly onToolCall?: Heard<M>['onToolCall'];
  readonly onData?: Heard<M>['onData'];
  readonly onFinish?: Heard<M>['onFinish'];
  /**
   * Changes what each request sends. Default: the conversation, and the system prompt as `body.system` where there is one.
   *
   * `DirectChatTransport` has no body. There the agent asks for the prompt itself: `new ToolLoopAgent({ model, prepareCall:
   * async (call) => ({ ...call, instructions: (await engine.resolve()).systemPrompt }) })`.
   */
  readonly request?: PrepareRequest<M> | undefined;
  /**
   * What happens to a message that is sent while an answer is requested or growing.
   *
   * `queue` (default): the message shows at once, is kept in the store, and is asked when that answer is saved, however it
   * ended. A page that was closed before finds the message at the end of its branch and does not ask it by itself. Where the
   * app uses `sendAutomaticallyWhen` and the answer asks the page for a tool result or an approval, the message waits until
   * that was given and answered; `stop()`, or another message, asks it at once. Headers, body and metadata of the request go
   * out with it, and are not kept for the next page.
   *
   * `reject`: `sendMessage()` rejects with `busy` and changes nothing.
   *
   * An edit and `regenerate()` stop the growing answer either way and go before queued messages. A Continue that has not begun
   * is dropped for them.
   *
   * An answer that grows in another tab is not stopped, and gets no second one beside it: `regenerate()` and Continue are
   * refused with `busy`. A question behind an answer that another tab continues is saved at once and asked when that answer is
   * complete; a question beside a new answer of another tab goes to a branch of its own.
   */
  readonly onBusy?: 'queue' | 'reject' | undefined;
}

/** The callbacks of the AI SDK's `ChatInit`, each with its chat as the last argument. */
type Heard<M extends UIMessage> = {
  [K in 'onError' | 'onToolCall' | 'onData' | 'onFinish']?:
    | ((
        ...heard: [...Parameters<NonNullable<ChatInit<M>[K]>>, chat: ContextChat<M>]
      ) => ReturnType<NonNullable<ChatInit<M>[K]>>)
    | undefined;
};

/**
 * A chat on one branch of the tree: the AI SDK's `Chat`, for an unchanged `useChat`.
 *
 * Its verbs cut the list as the AI SDK does: `regenerate()` removes the answer, `sendMessage({ messageId })` cuts back to a
 * message and puts new text there. When the request is made, the chat compares its list with what is saved. Messages that were
 * cut are just not part of the new branch, so the old answer stays one click away.
 *
 * An answer belongs to the node that was reserved for it. When the person shows another branch, that branch has a chat of its
 * own, and this one streams on; its answer is complete when they come back.
 *
 * A verb that fails sets `error` and calls `onError`, as in the AI SDK. The error's `code` is `busy` where another tab writes
 * the answer (and `sendMessage()` rejects with it under `onBusy: 'reject'`), `invalid-messages` for a value that is no message,
 * `chat-deleted`, `store-unavailable` where code could not be loaded, or a code of the store.
 */
export interface ContextChat<M extends UIMessage = UIMessage> extends Chat<M> {
  /**
   * The queued questions at the end of `messages`; the same array until they change.
   *
   * `sendMessage({ messageId })` edits one, and so does setting a list with other text in it. Setting `messages` without one of
   * them removes it, as a Delete button does; so does setting an empty list. A list of an earlier moment (from `onFinish`, or
   * from a server) removes nothing: queued questions stay behind it.
   */
  readonly waiting: readonly M[];
  /** The id of the branch of this chat; undefined until the engine has read the conversation. */
  readonly branchId: string | undefined;
  /** Whether an answer is requested, growing, or not yet saved. */
  readonly isBusy: boolean;
  /** @internal Whether a sent message has no answer yet. */
  readonly hasWork: boolean;
  /**
   * Resolves when the questions queued so far are kept in the store, without a wait for the answer before them; where the disk
   * refuses, `saveState` of the engine's state says so.
   */
  whenQueued(): Promise<void>;
  /** Resolves when everything that was said in this chat so far is saved, also after a stop or a failure. */
  whenSettled(): Promise<void>;
}

/** A request as the AI SDK's `Chat` makes it. */
export type SendOptions<M extends UIMessage = UIMessage> = Parameters<ChatTransport<M>['sendMessages']>[0];

/** A request for an answer that a server may still be streaming. */
export type ReconnectOptions<M extends UIMessage = UIMessage> = Parameters<
  ChatTransport<M>['reconnectToStream']
>[0];

/**
 * What stands under `contextree` in the metadata of each request. Transports see it (`requestMetadata` in
 * `prepareSendMessagesRequest`); nothing of it goes over HTTP by itself. The note of a reconnect
 * (`prepareReconnectToStreamRequest`) has `branch` and `branchId`, and the `answerId` where the page knows the answer.
 */
export interface RequestNote {
  /** The name of the branch that the answer grows on. */
  readonly branch: string;
  readonly branchId: string;
  /** The id of the answer, until the server gives it another. */
  readonly answerId: string;
  /** The key of the answer: unique, and never changed. */
  readonly answerKey: string;
  /** How many versions of this answer exist already: 0 for the first one. */
  readonly attempt: number;
  /** Takes what a transport can tell of its model call. Set while somebody records requests: see `engine.record()`. */
  readonly tell?: (told: Told) => void;
  /** Whether the answer is not kept and no tool may run. A transport that respects this has `runsDry: true`. */
  readonly dryRun?: boolean;
}

/** A request before it goes out: the options of the app, and what is resolved. */
export type ResolvedRequest<M extends UIMessage = UIMessage> = RequestNote &
  Omit<SendOptions<M>, 'messages'> & {
    /** The rendered fragments; '' where there are none. */
    readonly systemPrompt: string;
    /** The conversation, oldest first, without parts that providers refuse. */
    readonly messages: M[];
  };

/** What to send instead of the default; fields that are left out keep it. */
export interface RequestParts<M extends UIMessage = UIMessage> {
  /** Default: the app's own body, with the system prompt as `system` where there is one. */
  readonly body?: object;
  /** Default: the conversation. */
  readonly messages?: M[];
  readonly headers?: NonNullable<SendOptions<M>['headers']>;
}

/** Changes a request before it goes out. */
export type PrepareRequest<M extends UIMessage = UIMessage> = (
  request: ResolvedRequest<M>,
) => RequestParts<M> | PromiseLike<RequestParts<M>>;
