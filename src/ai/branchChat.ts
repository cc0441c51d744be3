import { Chat } from '@ai-sdk/react';
import type { ChatStatus, UIMessage, UIMessageChunk } from 'ai';
import type { ContextEngine } from '../engine/engine.ts';
import type { EngineState } from '../engine/state.ts';
import { ContextError, isContextError } from '../errors.ts';
import { createId } from '../fragment/id.ts';
import { Line } from './line.ts';
import { headOf, List, withId } from './list.ts';
import { loadMore, loadTurns } from './load.ts';
import type * as More from './more.ts';
import {
  asParts,
  conversationOf,
  isAsking,
  isMessage,
  QUEUED,
  type ChatHost,
  type Message,
  type OurChat,
} from './ourChat.ts';
import type { Queue } from './queue.ts';
import type { SendOptions } from './note.ts';
import { saidOf } from './said.ts';

/**
 * A chat on its branch: the AI SDK's verbs, one after another, none of which loses a word.
 *
 * What is done seldom is not here: what waits for its turn is in `queue.ts`, what calls of tools are given in `calls.ts`,
 * how a server's answer is taken up in `resume.ts`, and all that is needed for a turn in `begin.ts`.
 */
export class BranchChat<M extends UIMessage> extends Chat<M> implements OurChat<M> {
  readonly host: ChatHost<M>;
  readonly engine: ContextEngine;
  readonly own: OurChat<M>['own'];
  readonly list: List<M>;
  readonly line: Line = new Line(() => this.#busyUntil());
  readonly writes: Set<PromiseLike<unknown>> = new Set();
  branchId: string | undefined;
  turn: OurChat<M>['turn'];
  opening: Promise<unknown> | undefined;
  taking: Promise<unknown> | undefined;
  isMute: boolean | undefined;
  queue: Queue<M> | undefined;
  asShown: OurChat<M>['asShown'] = (message) => message;
  /** Resolves when a server has said whether it still streams an answer; undefined while none is asked. */
  #resuming: Promise<unknown> | undefined;
  /** Requests whose turns are not saved yet; sent messages whose answers have not ended. */
  #beginning = 0;
  #unanswered = 0;
  /** Reads the branch, for a chat that is not the one shown. */
  #loading: Promise<void> | undefined;
  /** Looks for what an earlier page left. */
  #looking: Promise<void> | undefined;
  /** What was sent last, and what calls were given last. */
  #sending: Promise<unknown> = Promise.resolve();
  #answering: Promise<unknown> = Promise.resolve();

  /** Made by the registry, which has so many `others`. Without a branch it waits for one. */
  constructor(host: ChatHost<M>, branchId?: string, others?: number) {
    const { options } = host;
    const greeting = options.messages ?? [];
    super({
      ...options,
      // That of the conversation, as on plain useChat. Others have their own: older versions of it tell chats apart by it.
      id: others ? createId() : conversationOf(host),
      messages: greeting,
      generateId: options.generateId ?? createId,
      transport: {
        get resumeStreamIsReplay() {
          return host.transport.resumeStreamIsReplay ?? false;
        },
        sendMessages: (sent) => this.#request(sent),
        reconnectToStream: async (sent) => {
          await this.ready();
          return (await loadMore()).takeUpIn<M>(this, sent);
        },
      },
      onError: (error) => {
        try {
          host.options.onError?.(saidOf(error), this);
        } finally {
          // Where that throws, the AI SDK goes no further, and what waits would wait for ever for the end of this answer.
          this.setStatus({ status: 'error', error });
        }
      },
      onToolCall: (call) => host.options.onToolCall?.(call, this),
      onData: (part) => host.options.onData?.(part, this),
      onFinish: (event) => {
        // Of an answer that goes on, the AI SDK has no more than what it read.
        const message = withId(event.messages, event.message.id) ?? event.message;
        host.options.onFinish?.({ ...event, message }, this);
      },
      sendAutomaticallyWhen: (state) =>
        !this.isMute && (host.options.sendAutomaticallyWhen?.(state) ?? false),
    });
    this.host = host;
    this.engine = host.engine;
    this.branchId = branchId;
    this.list = new List(host.engine, this.state, greeting);
    const { sendMessage, regenerate, stop, resumeStream, addToolOutput, addToolApprovalResponse } = this;
    this.own = { sendMessage, regenerate, stop, resumeStream, addToolOutput, addToolApprovalResponse };
    this.#wrapVerbs();
    this.#wrapState();
    this['~registerStatusCallback'](() => host.sync());
    // An app may show a branch that is not the active one.
    const register = this['~registerMessagesCallback'];
    this['~registerMessagesCallback'] = (...args) => {
      this.#catchUp().catch(() => {});
      return register(...args);
    };
  }

  // ------------------------------------------------------------------ what is shown of it

  /** The list, and behind it what waits for its turn: see `waiting` for what becomes of that when an app sets a list. */
  override get messages(): M[] {
    const list = this.list.now;
    return this.queue?.behind(list) ?? list;
  }

  override set messages(given: M[]) {
    this.state.messages = [...(this.queue?.without(given) ?? given)];
  }

  get waiting(): readonly M[] {
    return this.queue?.waiting ?? NONE;
  }

  get isBusy(): boolean {
    return isAsking(this) || this.turn?.isSettled === false || this.writes.size > 0;
  }

  get hasWork(): boolean {
    return this.isBusy || this.#unanswered > 0 || this.#resuming !== undefined;
  }

  get isReplay(): boolean {
    return this.host.transport.resumeStreamIsReplay ?? !(this.own.addToolApprovalResponse as unknown);
  }

  async whenSettled(): Promise<void> {
    await this.settled();
    await this.queue?.writing;
  }

  settled(): Promise<unknown> {
    return Promise.allSettled([this.turn?.settled, ...this.writes]);
  }

  leave(): Promise<void> {
    this.queue?.leave();
    return this.stop();
  }

  tell(error: Error): void {
    this.host.options.onError?.(error, this);
    if (!isAsking(this)) super.setStatus({ status: 'error', error });
  }

  /**
   * A chat that says `ready` has saved everything, also after a stop. That there is nothing to take up is told as `ready`,
   * too, and means nothing to what is asked meanwhile.
   */
  protected override setStatus(told: { status: ChatStatus; error?: Error }): void {
    const next = told.error ? { ...told, error: saidOf(told.error) } : told;
    const { error, turn } = this;
    if (next.status !== 'ready') return super.setStatus(next);
    if (this.#beginning > 0 || (this.#resuming && turn?.isOpen)) return;
    const saving = turn?.isSettled === false ? turn.settled : this.queue?.writing;
    if (!saving) return super.setStatus(next);
    // Something more may have been said by then, or refused.
    void saving.finally(() => {
      if (turn === this.turn && error === this.error) this.setStatus(next);
    });
  }

  #wrapState(): void {
    const { replaceMessage, snapshot } = this.state;
    this.state.replaceMessage = (index, message) =>
      replaceMessage(index, this.asShown(message, this.list.now[index]));
    // AI SDK 5 copies whole messages, and can't where an app put a function: what happens to it is said elsewhere.
    this.state.snapshot = (value) => {
      try {
        return snapshot(value);
      } catch {
        return { ...value };
      }
    };
  }

  // ------------------------------------------------------------------ its place

  /** Reads the branch, for a chat that is not the one shown. */
  load(): void {
    const at = headOf(this.engine, this.branchId);
    if (at === undefined) return;
    this.#loading = this.engine.resolve({ at }).then((resolved) => this.follow(resolved));
    // A caller that sends gets the error; a chat that is only looked at stays empty.
    this.#loading.catch(() => {});
  }

  /**
   * The branch shows `messages` now, and another tab is writing `remoteMessages` behind them. The list follows; while an
   * answer grows here, only earlier messages are put before it.
   */
  follow({ messages, remoteMessages = [] }: Pick<EngineState, 'messages'> & Partial<EngineState>): void {
    const { list } = this;
    const isNew = messages !== list.followed || remoteMessages !== list.remoteMessages;
    const isOver = list.remoteMessages[0] && !remoteMessages[0];
    if (isNew && this.isBusy) list.prepend(messages as readonly M[]);
    else if (isNew) {
      list.follow(messages as readonly M[], remoteMessages as readonly M[]);
      // What was refused for its sake may be done now.
      if (isOver && isContextError(this.error, 'busy')) this.clearError();
    }
    this.queue?.followed();
    this.#looking ??= this.recall();
  }

  /** Looks for what an earlier page left. Never rejects. */
  async recall(): Promise<void> {
    if (this.queue) return this.queue.recall();
    const left = await this.engine.fieldsOf(QUEUED).catch(() => ({}));
    if (Object.keys(left).length === 0) return;
    const more = await loadMore().catch(() => undefined);
    await (more && this.#queueIn(more).recall());
  }

  /** What waits for its turn. Until the first question does, no code for it is loaded. */
  #queueIn({ Queue }: typeof More): Queue<M> {
    return (this.queue ??= new Queue(this));
  }

  /** What others added to a branch that is not shown is known when its chat is used, and no sooner. */
  async #catchUp(): Promise<void> {
    const { branchId, isBusy } = this;
    const isHidden = branchId !== undefined && branchId !== this.engine.state.getState().branchId;
    if (isHidden && !isBusy) this.load();
    await this.#loading;
  }

  async ready(): Promise<void> {
    await this.engine.ready();
    await this.#catchUp();
    await (this.#looking ??= this.recall());
  }

  /** A request of the AI SDK, once its turn is saved. */
  async #request(sent: SendOptions<M>): Promise<ReadableStream<UIMessageChunk>> {
    this.#beginning += 1;
    const turns = this.ready().then(loadTurns);
    const ask = await turns.then(({ begin }) => begin<M>(this, sent)).finally(() => (this.#beginning -= 1));
    return ask();
  }

  // ------------------------------------------------------------------ its verbs

  #wrapVerbs(): void {
    const { own } = this;
    this.sendMessage = async (given, options) => {
      if (given != null && !isMessage(given)) return (await loadMore()).refuseMessage(given);
      await this.#send(given && asParts<M>(given), options);
    };
    this.regenerate = (options) => this.#working(() => this.#askAgain(options));
    this.stop = async () => {
      if (this.queue?.pass()) return;
      // What was asked for in this moment has not begun.
      if (!this.isBusy) await Promise.race([this.#statusChange(), this.#resuming ?? this.#sending]);
      await own.stop();
      await this.turn?.settled;
    };
    this.resumeStream = (options) => this.#resume(() => own.resumeStream(options));
    this.addToolOutput = (output) => this.#give((more) => more.giveResult<M>(this, output));
    this.addToolResult = this.addToolOutput;
    // AI SDK 5 knows no approvals.
    if (own.addToolApprovalResponse as unknown)
      this.addToolApprovalResponse = (response) => this.#give((more) => more.giveWord<M>(this, response));
  }

  async #send(message: Message<M> | undefined, options: Options<M>): Promise<void> {
    const { own, queue } = this;
    const { onBusy, experimental_queue } = this.host.options;
    const messageId = message?.messageId;
    const send = (): Promise<void> => own.sendMessage(message, options);
    const anew = message && queue?.sayAnew(message, options);
    // Other words for one that waits; one that an earlier page left is asked now.
    if (anew) return (await anew) ? this.#working(() => this.#inPlace(messageId, send)) : undefined;
    const edited = this.list.upTo(messageId, this.branchId);
    if (onBusy === 'reject' && !edited && (this.isBusy || this.#unanswered > 0)) throw busy();
    if (edited) return this.#working(() => this.#inPlace(messageId, send, edited));
    queue?.pass();
    if (!message && this.#isSecond()) return undefined;
    const mayWait = this.hasWork && message && messageId === undefined && !experimental_queue;
    // It shows at once where the code for that has come. How it can't be kept is told when its request is made.
    const wait = (more: typeof More): Place<M> => this.#queueIn(more).add(message as Message<M>, options);
    let place = mayWait && loadMore.now ? wait(loadMore.now) : undefined;
    const placed = mayWait && !place && loadMore().then((more) => (place = wait(more)));
    const job = {
      rank: mayWait ? 'asked' : message ? 'first' : 'last',
      prepare: async (): Promise<void> => {
        await Promise.allSettled([placed, this.ready()]);
        await place?.read;
      },
      held: () => place?.held(),
      run: async (): Promise<void> => {
        const given: readonly [Message<M> | undefined, Options<M>] = [message, options];
        const asked = place ? place.take() : given;
        if (!asked) return;
        this.#begin();
        this.queue?.placeLeft();
        await own.sendMessage(...asked);
        place?.end();
      },
    } as const;
    // The AI SDK has a queue of its own.
    if (experimental_queue) return this.#working(() => job.prepare().then(job.run));
    return this.#working(() => this.line.run(job));
  }

  /** What another tab writes is out of the list; what a chat that was deleted showed, and what waited in it, too. */
  #begin(): void {
    this.list.leaveRemote();
    if (this.engine.state.getState().error?.code !== 'chat-deleted') return;
    this.list.beginAnew();
    this.queue?.forgetLeft();
  }

  async #askAgain(options: Parameters<Chat<M>['regenerate']>[0]): Promise<void> {
    const { messageId } = options ?? {};
    const isShown = (): boolean => !messageId || withId(this.messages, messageId) !== undefined;
    // The chat may not be read yet.
    if (!isShown()) await this.ready();
    // One that waits has its turn.
    if (this.queue?.isWaiting(messageId) || this.#isSecond(messageId)) return;
    const again = (): Promise<void> => this.own.regenerate(options);
    // Of two clicks the second one must not stop the answer that the first one asked for: it is refused.
    await (isShown() ? this.#inPlace(messageId, again) : again());
  }

  /**
   * Stops what grows, and asks in its place; with it what an earlier page left before that, which another tab may have asked
   * by then. What is `edited` is sent from where the list stood.
   */
  #inPlace(id: string | undefined, ask: () => Promise<void>, edited?: () => readonly M[]): Promise<void> {
    const stopped = (this.isBusy || this.#resuming) && this.stop();
    return this.line.run({
      rank: 'first',
      prepare: async () => {
        await Promise.allSettled([stopped, this.ready()]);
        await this.#resuming;
        // Code that can't be loaded is told when the request is made.
        const revealed = (await loadTurns().catch(() => undefined))?.reveal<M>(this, id);
        // A button that was pressed does not wait for this promise: the chat shows the failure, too.
        revealed?.catch((error: Error) => this.tell(error));
        return revealed ?? NONE;
      },
      run: (earlier) => {
        const { list, queue } = this;
        list.leaveRemote();
        if (edited) list.now = [...earlier, ...edited()];
        else queue?.placeLeft(id);
        return ask();
      },
    });
  }

  goOn(): void {
    const prepare = async (): Promise<void> => this.list.leaveRemote();
    this.line.run({ rank: 'first', prepare, run: () => this.own.sendMessage() }).catch(() => {});
  }

  /** Refuses a second answer beside one that another tab is writing: the one named, or else the one at the end. */
  #isSecond(messageId?: string): boolean {
    const isSecond = this.list.remoteMessages.some(({ id }) => id === (messageId ?? id));
    if (isSecond) this.tell(busy());
    return isSecond;
  }

  /** Gives a call of a tool what it waits for. Most apps don't wait for that: what is refused is also said in the chat. */
  #give(give: (more: typeof More) => PromiseLike<void>): Promise<void> {
    const { host } = this;
    // One after the other: of two results of one call the first one counts.
    const given = this.#answering.then(loadMore).then(give);
    this.#answering = given.catch(() => {});
    // Where an answer streams, the AI SDK may wait for a tool of the page, and that for an answer on another branch.
    const all = this.status === 'streaming' ? [this.writes] : [this.writes, host.writes];
    for (const writes of all) writes.add(given);
    void given
      .catch((error: Error) => this.tell(error))
      .finally(() => {
        for (const writes of all) writes.delete(given);
        host.sync();
      });
    return given;
  }

  async #resume(resume: () => Promise<void>): Promise<void> {
    // It grows here already. AI SDK 5 would lose hold of it, and could stop it no more.
    if (!this.#resuming && this.turn?.isOpen) return;
    const run = async (): Promise<void> => {
      await this.ready().catch(() => {});
      // AI SDK 5 goes on with the words that it had, and a replay would say them again.
      if (this.isReplay) this['resumableStreamState'] = undefined;
      this.list.leaveRemote();
      return resume();
    };
    const resumed = run();
    // A second request gives the first one up, which ends first: StrictMode asks twice.
    const settled = Promise.allSettled([this.#resuming, resumed]).finally(() => {
      if (this.#resuming === settled) this.#resuming = undefined;
      // What another tab writes was taken out for it.
      this.host.sync();
    });
    this.#resuming = settled;
    await resumed;
  }

  #working(task: () => Promise<void>): Promise<void> {
    this.#unanswered += 1;
    const sending = task().finally(() => (this.#unanswered -= 1));
    this.#sending = sending.catch(() => {});
    return sending;
  }

  /** What keeps the next request from beginning; what goes on by itself has begun a task after the end of an answer. */
  #busyUntil(): Promise<unknown> | undefined {
    const isSaving = this.isBusy && !isAsking(this);
    const busy = isSaving ? this.settled() : this.isBusy ? this.#statusChange() : this.#resuming;
    if (!busy || !this.host.options.sendAutomaticallyWhen) return busy;
    return busy.then(() => new Promise((resolve) => setTimeout(resolve)));
  }

  #statusChange(): Promise<void> {
    return new Promise((resolve) => {
      const unsubscribe = this['~registerStatusCallback'](() => {
        unsubscribe();
        resolve();
      });
    });
  }
}

const NONE: readonly never[] = [];

type Options<M extends UIMessage> = Parameters<Chat<M>['sendMessage']>[1];
type Place<M extends UIMessage> = ReturnType<Queue<M>['add']>;

function busy(): ContextError {
  return new ContextError('busy', 'An answer still grows here or in another tab. Wait for it or stop it.');
}
