import { Chat } from '@ai-sdk/react';
import type { ChatInit, ChatRequestOptions, ChatStatus, UIMessage, UIMessageChunk } from 'ai';
import type { ContextEngine } from '../engine/engine.ts';
import type { EngineState } from '../engine/state.ts';
import { busy, isContextError } from '../errors.ts';
import { createId } from '../fragment/id.ts';
import type { ContextChat, SendOptions } from './contextChat.ts';
import {
  inParts,
  type ChatHost,
  type Said,
  chatIdOf,
  isAsking,
  isDeleted,
  isMessage,
  type Message,
  QUEUED,
} from './host.ts';
import { Jobs, type Job } from './jobs.ts';
import { headOf, List, withId } from './list.ts';
import { loadMore, loadTurns } from './load.ts';
import type * as More from './more.ts';
import type { Queue } from './queue.ts';
import { asError } from './asError.ts';
import type { Turn } from './turn.ts';

/**
 * A chat on its branch: the verbs of the AI SDK's `Chat`, run one after another so that none loses a word. What they do is in
 * `request.ts` (a turn), `again.ts`, `queue.ts`, `calls.ts` and `resume.ts`.
 */
export class BranchChat extends Chat<UIMessage> implements ContextChat {
  readonly host: ChatHost;
  readonly engine: ContextEngine;
  /** The AI SDK's own verbs. */
  readonly own: Pick<Chat<UIMessage>, Verb>;
  readonly list: List;
  readonly jobs: Jobs = new Jobs({
    prepare: () => this.ready().catch(() => {}),
    isFree: ({ rank }) => !this.isBusy && !this.resuming && !(rank === 'asked' && this.queue?.isHeld),
    pause: () => (this.host.options.sendAutomaticallyWhen ? new Promise((go) => setTimeout(go)) : undefined),
  });
  branchId: string | undefined;
  /** The id of the branch that a turn is just making, if it needs one: the chat is there when the branch is shown. */
  forkId = '';
  /** The growing answer, or the last one. */
  turn: Turn | undefined;
  /** The turn that is just being saved, or the answer that is just being taken up. */
  opening: Promise<unknown> | undefined;
  /** Resolves when the server has said whether it still streams an answer; undefined while the chat asks no server. */
  resuming: Promise<unknown> | undefined;
  /** What to show of an answer while it is read: a continued answer is shown with its earlier words. */
  asShown: (message: UIMessage, shown: UIMessage | undefined) => UIMessage = (message) => message;
  /** Takes an answer before it is read: the chats behind `withContext` read it with a second one. */
  passOn: (answer: ReadableStream<UIMessageChunk>) => ReadableStream<UIMessageChunk> = (answer) => answer;
  /** The queue, once a question had to wait. */
  queue: Queue | undefined;
  /** Tool results given in this chat that are not saved yet. */
  readonly writes: Set<PromiseLike<unknown>> = new Set();
  /** How many requests wait for their answer to begin, and how many sent messages have an answer that has not ended. */
  #beginning = 0;
  #unanswered = 0;
  /** The read of a branch that is not active, and the search for questions that an earlier page left queued. */
  #loading: Promise<void> | undefined;
  #looking: Promise<void> | undefined;
  /** The last question that had to wait, the last message sent, and the last result given to a tool call. */
  #placing: Promise<unknown> = Promise.resolve();
  #sending: Promise<unknown> = Promise.resolve();
  #answering: Promise<unknown> = Promise.resolve();

  /** Made by the registry; `others`: how many chats it has already. Without a branch the chat waits until it is given one. */
  constructor(host: ChatHost, branchId?: string, others?: number) {
    const { options } = host;
    const init: ChatInit<UIMessage> = {
      ...options,
      // The id of the conversation, as on plain useChat. Other chats need their own: older AI SDKs tell chats apart by it.
      id: others ? createId() : chatIdOf(host),
      generateId: options.generateId ?? createId,
      transport: {
        get resumeStreamIsReplay() {
          return host.transport.resumeStreamIsReplay ?? false;
        },
        sendMessages: (sent) => this.#request(sent),
        reconnectToStream: async (sent) => {
          await this.ready();
          const answer = await (await loadMore()).takeUpIn(this, sent);
          return answer && this.passOn(answer);
        },
      },
      onError: (error) => {
        try {
          host.options.onError?.(asError(error), this);
        } finally {
          // If the app's callback throws, the AI SDK never sets a status, and queued questions would wait forever.
          this.setStatus({ status: 'error', error });
        }
      },
      onToolCall: (call) => host.options.onToolCall?.(call, this),
      onData: (part) => host.options.onData?.(part, this),
      onFinish: (event) => {
        // Of a continued answer the event holds only what this request read; the list holds all of it.
        const message = withId(event.messages, event.message.id) ?? event.message;
        host.options.onFinish?.({ ...event, message }, this);
      },
      sendAutomaticallyWhen: (state) =>
        !this.turn?.isMute && (host.options.sendAutomaticallyWhen?.(state) ?? false),
    };
    super(init);
    this.host = host;
    this.engine = host.engine;
    this.branchId = branchId;
    this.list = new List(host.engine, this.state, init.messages ?? []);
    this.own = { ...(this as Pick<Chat<UIMessage>, Verb>) };
    this.#wrapVerbs();
    this.#wrapState();
    this['~registerStatusCallback'](() => this.moved());
    // A component subscribes: it may show a branch that is not the active one.
    const register = this['~registerMessagesCallback'];
    this['~registerMessagesCallback'] = (...args) => {
      this.#catchUp().catch(() => {});
      return register(...args);
    };
  }

  // ------------------------------------------------------------------ what is shown of it

  /** The list, and behind it the queued questions. What an app's own list does to the queue: see `waiting`. */
  override get messages(): UIMessage[] {
    const list = this.list.now;
    return this.queue?.behind(list) ?? list;
  }

  override set messages(given: UIMessage[]) {
    this.state.messages = [...(this.queue?.without(given) ?? given)];
  }

  get waiting(): readonly UIMessage[] {
    return this.queue?.waiting ?? NONE;
  }

  get isBusy(): boolean {
    return isAsking(this) || this.turn?.isSettled === false || this.writes.size > 0;
  }

  get hasWork(): boolean {
    return this.isBusy || this.#unanswered > 0 || this.resuming !== undefined;
  }

  /** Whether a resumed stream repeats the answer from its beginning: AI SDK 5 knows no other way. */
  get isReplay(): boolean {
    return this.host.transport.resumeStreamIsReplay ?? !(this.own.addToolApprovalResponse as unknown);
  }

  /** Resolves when the last turn, and all tool results that were given until its end, are saved. */
  async settled(): Promise<void> {
    await Promise.allSettled([this.turn?.settled]);
    await Promise.allSettled(this.writes);
  }

  async whenQueued(): Promise<void> {
    await this.#placing;
    await this.queue?.writing;
  }

  async whenSettled(): Promise<void> {
    await this.settled();
    await this.whenQueued();
  }

  fail(error: unknown): never {
    this.tell(error as Error);
    throw error;
  }

  /** Reports an error in the chat. */
  tell(error: Error): void {
    this.host.options.onError?.(error, this);
    if (!isAsking(this)) super.setStatus({ status: 'error', error });
  }

  /** Delays `ready` until everything is saved; drops that of a server that streams nothing while a request is open. */
  protected override setStatus(told: { status: ChatStatus; error?: Error }): void {
    const next = told.error ? { ...told, error: asError(told.error) } : told;
    const { error, turn } = this;
    if (next.status !== 'ready') return super.setStatus(next);
    if (this.#beginning > 0 || (this.resuming && turn?.isOpen)) return;
    const saving = turn?.isSettled === false ? turn.settled : this.queue?.writing;
    if (!saving) return super.setStatus(next);
    // Drop this status if another turn has begun, or an error has come, by then.
    void saving.finally(() => {
      if (turn === this.turn && error === this.error) this.setStatus(next);
    });
  }

  #wrapState(): void {
    const { replaceMessage, snapshot } = this.state;
    this.state.replaceMessage = (index, message) =>
      replaceMessage(index, this.asShown(message, this.list.now[index]));
    // AI SDK 5 copies whole messages, which throws for a function in one. `asJson()` drops it when the message is saved.
    this.state.snapshot = (value) => {
      try {
        return snapshot(value);
      } catch {
        return { ...value };
      }
    };
  }

  // ------------------------------------------------------------------ its place

  load(): void {
    const at = headOf(this.engine, this.branchId);
    if (at === undefined) return;
    this.#loading = this.engine.resolve({ at }).then((resolved) => this.follow(resolved));
    // A caller that sends gets the error from `ready()`. A chat that is only shown stays empty.
    this.#loading.catch(() => {});
  }

  /** Shows the engine's messages of the branch; while an answer grows in this chat, adds only earlier ones in front. */
  follow({ messages, remoteMessages = [] }: Pick<EngineState, 'messages'> & Partial<EngineState>): void {
    const { list } = this;
    const isNew = messages !== list.followed || remoteMessages !== list.remoteMessages;
    if (isNew && this.isBusy && list.followed) list.prepend(messages);
    else if (isNew) list.follow(messages, remoteMessages);
    // The other tab's answer, because of which a request was refused, has ended.
    if (!remoteMessages[0] && isContextError(this.error, 'busy')) this.clearError();
    this.queue?.followed();
    this.#looking ??= this.recall();
  }

  /** Looks for questions that an earlier page left queued. Never rejects. */
  async recall(): Promise<void> {
    if (this.queue) return this.queue.recall();
    const left = await this.engine.readFields(QUEUED).catch(() => ({}));
    if (Object.keys(left).length === 0) return;
    const more = await loadMore().catch(() => undefined);
    await (more && this.#queueIn(more).recall());
  }

  /** The queue. Its code is loaded with the first question that has to wait. */
  #queueIn({ Queue }: typeof More): Queue {
    return (this.queue ??= new Queue(this));
  }

  /** Reads a branch that is not active again when its chat is used: other tabs may have added to it. */
  async #catchUp(): Promise<void> {
    const { branchId, isBusy } = this;
    const isHidden = branchId !== undefined && branchId !== this.engine.state.getState().branchId;
    if (isHidden && !isBusy) this.load();
    await this.#loading;
  }

  /** Called when the chat may have become idle: the next request may begin, and the list may follow its branch. */
  moved(): void {
    this.jobs.look();
    this.host.sync();
  }

  /** Resolves when the chat is read. Rejects with the error of the read. */
  async ready(): Promise<void> {
    await this.engine.ready();
    await this.#catchUp();
    await (this.#looking ??= this.recall());
  }

  async #request(sent: SendOptions): Promise<ReadableStream<UIMessageChunk>> {
    this.#beginning += 1;
    const turns = this.ready().then(loadTurns);
    const answer = turns.then(({ begin }) => begin(this, sent)).finally(() => (this.#beginning -= 1));
    return this.passOn(await answer);
  }

  /** Stops growing answers; queued questions stay for the next page that opens the chat. */
  leave(): Promise<void> {
    this.queue?.leave();
    return this.stop();
  }

  // ------------------------------------------------------------------ its verbs

  #wrapVerbs(): void {
    const { own } = this;
    this.sendMessage = async (given, options) => {
      if (given != null && !isMessage(given)) return (await loadMore()).refuseMessage(given);
      await this.#send(given, options);
    };
    this.regenerate = (options) => this.#later((more) => more.askAgain(this, options));
    this.stop = async () => {
      if (this.queue?.pass()) return;
      // The stopped request may not have begun: wait until it has.
      if (!this.isBusy) await Promise.race([this.#statusChange(), this.resuming ?? this.#sending]);
      await own.stop();
      await this.turn?.settled;
    };
    this.resumeStream = (options) => this.#resume(() => own.resumeStream(options));
    this.addToolOutput = (output) => this.#give((more) => more.giveResult(this, output));
    this.addToolResult = this.addToolOutput;
    // AI SDK 5 has no approvals.
    if (own.addToolApprovalResponse as unknown)
      this.addToolApprovalResponse = (response) => this.#give((more) => more.giveWord(this, response));
  }

  async #send(given: Message | undefined, options: ChatRequestOptions | undefined): Promise<void> {
    const { onBusy, experimental_queue } = this.host.options;
    const message = given && inParts(given);
    // Files that can't be read are refused when the message is asked.
    message?.catch(() => {});
    const messageId = given?.messageId;
    if (message && messageId !== undefined)
      return this.#later((more) => more.sendInPlace(this, messageId, message, options));
    if (onBusy === 'reject' && (this.isBusy || this.#unanswered > 0)) throw busy();
    this.queue?.pass();
    const mayWait = this.hasWork && message && !experimental_queue;
    let said: Said | undefined;
    const prepare = async (): Promise<void> => {
      await this.ready().catch(() => {});
      said = await message;
    };
    const run = (): Promise<void> => this.say(said, options);
    // The AI SDK queues these itself.
    if (experimental_queue) return this.#working(() => prepare().then(run));
    if (!mayWait)
      return this.#working(() => this.jobs.run({ rank: message ? 'first' : 'last', prepare, run }));
    // In order, though the files of the one before may still be read. Without the code of the queue it is asked, but not kept.
    const placed = this.#placing.then(loadMore).then(
      (more) => this.#queueIn(more).add(message, options),
      (): Job => ({ rank: 'asked', prepare, run }),
    );
    this.#placing = placed;
    return this.#working(async () => this.jobs.run(await placed));
  }

  /** Sends a message in its turn, behind what an earlier page left queued; without one, continues the last answer. */
  say(message: Said | undefined, options: ChatRequestOptions | undefined): Promise<void> {
    this.list.leaveRemote();
    // What a deleted chat showed, or had queued, is no part of the chat that begins now.
    if (isDeleted(this.engine)) {
      this.list.beginAnew();
      this.queue = undefined;
    }
    this.queue?.placeLeft();
    return this.own.sendMessage(message, options);
  }

  #later(task: (more: typeof More) => Promise<void>): Promise<void> {
    return this.#working(async () => task(await loadMore().catch((error: unknown) => this.fail(error))));
  }

  /** Gives a tool call its result or approval. A refusal is also reported in the chat: most apps ignore the promise. */
  #give(give: (more: typeof More) => PromiseLike<void>): Promise<void> {
    const { host } = this;
    // In order: of two results for one call the first one counts.
    const given = this.#answering.then(loadMore).then(give);
    this.#answering = given.catch(() => {});
    // While an answer streams, the AI SDK may wait for a tool of the page, and other branches must not wait for it.
    const all = this.status === 'streaming' ? [this.writes] : [this.writes, host.writes];
    for (const writes of all) writes.add(given);
    void given
      .catch((error: Error) => this.tell(error))
      .finally(() => {
        for (const writes of all) writes.delete(given);
        this.moved();
      });
    return given;
  }

  async #resume(resume: () => Promise<void>): Promise<void> {
    // The answer already grows here. AI SDK 5 would lose its handle on it and could not stop it.
    if (!this.resuming && this.turn?.isOpen) return;
    const begin = (): Promise<void> => {
      // AI SDK 5 keeps the words it has read, and a replay would repeat them.
      if (this.isReplay) this['resumableStreamState'] = undefined;
      this.list.leaveRemote();
      return resume();
    };
    const resumed = this.ready().then(begin, begin);
    // StrictMode resumes twice: the first one, aborted by the second, has to end before the next request.
    const settled = Promise.allSettled([this.resuming, resumed]).finally(() => {
      if (this.resuming === settled) this.resuming = undefined;
      // Puts what another tab writes, which was taken out for the request, back into the list.
      this.moved();
    });
    this.resuming = settled;
    await resumed;
  }

  #working(task: () => Promise<void>): Promise<void> {
    this.#unanswered += 1;
    const sending = task().finally(() => (this.#unanswered -= 1));
    this.#sending = sending.catch(() => {});
    return sending;
  }

  #statusChange(): Promise<void> {
    return new Promise((resolve) => {
      const stop = this['~registerStatusCallback'](() => resolve(stop()));
    });
  }
}

const NONE: readonly never[] = [];

type Verb =
  | 'sendMessage'
  | 'regenerate'
  | 'stop'
  | 'resumeStream'
  | 'addToolOutput'
  | 'addToolApprovalResponse';
