import type { Chat } from '@ai-sdk/react';
import type { ChatInit, UIMessage } from 'ai';
import type { PrepareRequest } from './note.ts';

/**
 * How chats are made: every option of the AI SDK's `ChatInit`, and what is sent.
 *
 * Answers of branches that are not shown stream on, so each callback is also told whose turn it is: the chat, with its
 * `branchId`. Usage that an answer's metadata bring as `usage` (a server's `messageMetadata`) is added to the chat's: see
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
   * Changes what goes out with each request. Default: the conversation, and the system prompt, where there is one, as
   * `body.system`.
   *
   * `DirectChatTransport` knows of no body. There the agent asks for the prompt itself: `new ToolLoopAgent({ model,
   * prepareCall: async (call) => ({ ...call, instructions: (await engine.resolve()).systemPrompt }) })`.
   */
  readonly request?: PrepareRequest<M> | undefined;
  /**
   * What becomes of a message that is sent while an answer is asked for or growing. Default `queue`: it stands in the
   * list at once, is kept, and is asked when that answer is saved, however that ended. A page that was closed before
   * finds it at the end of its branch, and does not ask it by itself. Where an app goes on by itself
   * (`sendAutomaticallyWhen`), and that answer asks the page for something (a tool's result, a person's word on a tool),
   * it waits until that is given and answered; `stop()`, or sending something more, asks it at once. What it was sent with
   * (headers, body, metadata of the request) goes out with it, and is not kept for the next page.
   *
   * With `reject`, `sendMessage()` rejects with `busy` and changes nothing. An edit and `regenerate()` stop the answer
   * either way, and go first: what waits is asked behind the answer that takes its place. Continue, where it has not
   * begun, is given up for them.
   *
   * Answers that grow in another tab are neither stopped nor joined by a second one: `regenerate()` and Continue are
   * refused with `busy`. A question behind an answer that another tab goes on with is saved at once, and asked when
   * that answer is whole; one beside a new answer goes to a branch of its own.
   */
  readonly onBusy?: 'queue' | 'reject' | undefined;
}

/** The callbacks of the AI SDK's `ChatInit`, with the chat that they are about. */
type Heard<M extends UIMessage> = {
  [K in 'onError' | 'onToolCall' | 'onData' | 'onFinish']?:
    | ((
        ...heard: [...Parameters<NonNullable<ChatInit<M>[K]>>, chat: ContextChat<M>]
      ) => ReturnType<NonNullable<ChatInit<M>[K]>>)
    | undefined;
};

/**
 * A chat that forgets nothing: the AI SDK's `Chat`, handed to an untouched `useChat`, on one branch of the tree.
 *
 * Its verbs cut the list, as always: `regenerate()` takes the answer off, `sendMessage({ messageId })` cuts back to a
 * message and puts new words there. But what the list says is compared with what is saved when the request is made,
 * and what was cut is simply not part of the new branch. So the person sees the new question at once, in the same
 * chat, and the old answer is one click away.
 *
 * An answer belongs to the node that was reserved for it. When the person looks at another branch, that branch has a
 * chat of its own, and this one streams on unseen; it is complete when they come back.
 *
 * A verb that can't be carried out sets `error` and calls `onError`, as in the AI SDK. The error's `code` is `busy` where
 * another tab writes the answer (and `sendMessage()` rejects with it under `onBusy: 'reject'`), `invalid-messages` for
 * what is no message, `chat-deleted`, `store-unavailable` where code could not be loaded, and what the store says.
 */
export interface ContextChat<M extends UIMessage = UIMessage> extends Chat<M> {
  /**
   * The questions at the end of `messages` that wait for their turn; the same array as long as they are the same.
   *
   * `sendMessage({ messageId })` gives one other words, and so does a list that has them. `messages` set again without one
   * takes it back, as a person's Delete does; so does an empty list. A list that comes from elsewhere does not know of
   * what was sent meanwhile: one that `onFinish` was told of, whenever it is set, or that a server gives back. It loses
   * nothing: what waits stands behind it.
   */
  readonly waiting: readonly M[];
  /** The id of the branch that this chat is on; undefined until the engine has read the conversation. */
  readonly branchId: string | undefined;
  /** Whether an answer is asked for, growing, or not yet saved. */
  readonly isBusy: boolean;
  /** @internal Whether something that was sent is not answered yet. */
  readonly hasWork: boolean;
  /** Resolves when everything that was said in this chat so far is saved, also after a stop or a failure. */
  whenSettled(): Promise<void>;
}
