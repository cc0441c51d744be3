import { Chat } from '@ai-sdk/react';
import type { ChatInit, ChatStatus, ChatTransport, FileUIPart, UIMessage, UIMessageChunk } from 'ai';
import type { ContextEngine } from '../engine/engine.ts';
import { ContextError, isContextError } from '../errors.ts';
import { createId } from '../fragment/id.ts';
import type { Given } from './answered.ts';
import { headOf, List, withId, type IsCall } from './list.ts';
import { inWords, knownTurns, loadTurns } from './loadTurns.ts';
import { isWaiting } from './toolPart.ts';
import type { Place, Queue } from './queue.ts';
import type { PrepareRequest, SendOptions } from './transport.ts';
import type { Turn } from './turn.ts';

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

/** What a chat needs of the registry that made it. */
export interface ChatHost<M extends UIMessage> {
  readonly engine: ContextEngine;
  /** The app's options, as they are now. */
  readonly options: ContextChatOptions<M>;
  readonly transport: ChatTransport<M>;
  /** What calls are given in chats where no answer streams, until it is saved. */
  readonly writes: Set<PromiseLike<unknown>>;
  /** The chat of a branch: one that was let go is back then. */
  get(branchId: string): ContextChat<M> | undefined;
  /** Puts a chat on a branch: on the one that it is about to make, too, so that it is there when that is shown. */
  register(branchId: string, chat: ContextChat<M>): void;
  /** Takes a chat off a branch, if it is there. */
  unregister(branchId: string, chat: ContextChat<M>): void;
  /** All chats, the one that is shown first. */
  all(): readonly ContextChat<M>[];
  /** Looks at what the engine shows now: while a chat was busy, its branch may have moved. */
  sync(): void;
}

/** What a chat is at. The code that comes when somebody speaks works on it, too. */
export interface Standing<M extends UIMessage> {
  readonly host: ChatHost<M>;
  readonly chat: ContextChat<M>;
  readonly list: List<M>;
  branchId: string | undefined;
  /** The answer that grows, or grew last. */
  turn?: Turn<M>;
  /** Whether the last request was answered with nothing: to ask again by itself would have no end. */
  isMute?: boolean;
  /** What waits for its turn, once the code for it has come. */
  queue?: Queue<M> | undefined;
  /** Lets the answer at the end go on by itself. */
  goOn?: () => void;
}

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
export class ContextChat<M extends UIMessage = UIMessage> extends Chat<M> {
  readonly #at: Standing<M>;
  /** What is shown of an answer as it is read: one that goes on is what it was, and more. */
  #asShown: (message: M, shown: M | undefined) => M = (message) => message;
  #tail: Promise<unknown> = Promise.resolve();
  /** What stands in line, and what is `first` goes behind. */
  readonly #lined: Set<unknown> = new Set();
  /** What takes the place of an answer, until it is answered. */
  #front: Promise<unknown> | undefined;
  #loading: Promise<void> | undefined;
  /** What calls are given here, until it is saved. */
  readonly #writes: Set<PromiseLike<unknown>> = new Set();
  /** How much was sent, and is not answered yet. */
  #unanswered = 0;
  /** What was sent last. */
  #sending: Promise<unknown> = Promise.resolve();
  /** How many requests are made of which nothing is saved yet. */
  #beginning = 0;
  /** A server is asked for an answer that it still streams. */
  #resuming: Promise<unknown> | undefined;
  #watchers = 0;

  /** @internal Made by the registry, which has so many `others`. Without a branch it waits for one: see `bind`. */
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
        sendMessages: (sent) => this.#send(sent),
        reconnectToStream: (sent) => this.#reconnect(sent),
      },
      onError: (error) => {
        try {
          host.options.onError?.(inWords(error), this);
        } finally {
          // Where that throws, the AI SDK goes no further, and what waits would wait for ever for the end of this answer.
          this.setStatus({ status: 'error', error });
        }
      },
      onToolCall: (call) => host.options.onToolCall?.(call, this),
      onData: (part) => host.options.onData?.(part, this),
      onFinish: (event) => host.options.onFinish?.(this.#at.queue?.telling(event) ?? event, this),
      sendAutomaticallyWhen: (state) =>
        !this.#at.isMute && (host.options.sendAutomaticallyWhen?.(state) ?? false),
    });
    const list = new List(host.engine, this.state, greeting);
    this.#at = { host, chat: this, list, branchId };
    this.#wrapVerbs();
    this['~registerStatusCallback'](() => host.sync());
    // Who listens to the list shows it.
    const register = this['~registerMessagesCallback'];
    this['~registerMessagesCallback'] = (...args) => {
      const unsubscribe = register(...args);
      this.#watchers += 1;
      this.#enter();
      return () => {
        this.#watchers -= 1;
        unsubscribe();
      };
    };
  }

  /** The list, and behind it what waits for its turn: see `waiting` for what becomes of that when an app sets a list. */
  override get messages(): M[] {
    const list = this.#at.list.now;
    return this.#at.queue?.behind(list) ?? list;
  }

  override set messages(list: M[]) {
    this.#at.list.now = this.#at.queue?.without(list) ?? list;
  }

  /**
   * The questions at the end of `messages` that wait for their turn; the same array as long as they are the same.
   *
   * `sendMessage({ messageId })` gives one other words, and so does a list that has them. `messages` set again without one
   * takes it back, as a person's Delete does; so does an empty list. A list that comes from elsewhere does not know of
   * what was sent meanwhile: one that `onFinish` was told of, whenever it is set, or that a server gives back. It loses
   * nothing: what waits stands behind it.
   */
  get waiting(): readonly M[] {
    return this.#at.queue?.waiting ?? NONE;
  }

  /** Whether somebody would miss this chat: it shows its branch, or is at work. */
  get isInUse(): boolean {
    return this.#watchers > 0 || this.hasWork;
  }

  /** The id of the branch that this chat is on; undefined until the engine has read the conversation. */
  get branchId(): string | undefined {
    return this.#at.branchId;
  }

  /** Whether nothing that this chat shows is saved. */
  get isUnsaved(): boolean {
    return this.#at.list.saved.length === 0;
  }

  /** @internal Puts the chat on a branch. */
  bind(branchId: string): void {
    this.#at.branchId = branchId;
  }

  /** Whether an answer is asked for, growing, or not yet saved. */
  get isBusy(): boolean {
    return this.#isAsking || this.#at.turn?.isSettled === false || this.#writes.size > 0;
  }

  /** @internal Whether something that was sent is not answered yet. */
  get hasWork(): boolean {
    return this.isBusy || this.#unanswered > 0 || this.#resuming !== undefined;
  }

  get #isAsking(): boolean {
    return this.status === 'submitted' || this.status === 'streaming';
  }

  /** Resolves when everything that was said in this chat so far is saved, also after a stop or a failure. */
  async whenSettled(): Promise<void> {
    await this.#settled();
    await this.#at.queue?.writing;
  }

  /** @internal Stops what grows, and leaves what waits for whoever comes back. */
  leave(): Promise<void> {
    this.#at.queue?.leave();
    return this.stop();
  }

  #settled(): Promise<unknown> {
    return Promise.allSettled([this.#at.turn?.settled, ...this.#writes]);
  }

  // ------------------------------------------------------------------ its place

  /** @internal Reads the branch, for a chat that is not the one shown. */
  load(): void {
    const { engine } = this.#at.host;
    const at = headOf(engine, this.#at.branchId);
    if (at === undefined) return;
    this.#loading = engine.resolve({ at }).then(({ messages }) => this.follow(messages));
    // Whoever sends hears of it; a chat that is only looked at stays empty.
    this.#loading.catch(() => {});
  }

  /**
   * @internal The branch shows these messages now, and another tab is writing those behind it. The list follows, and
   * keeps its objects for messages that did not change. A list that the app changed stays as it is, but for what grows
   * in it; while an answer grows here, only earlier messages are put before it.
   */
  follow(shown: readonly UIMessage[], elsewhere: readonly UIMessage[] = []): void {
    const { list, queue } = this.#at;
    if (queue) queue.followed();
    else void this.#open();
    if (list.isAt(shown, elsewhere)) return;
    if (this.isBusy) return list.prepend(shown as readonly M[]);
    const isOver = list.elsewhere.length > 0 && elsewhere.length === 0;
    list.follow(shown as readonly M[], elsewhere as readonly M[]);
    // What was refused for its sake may be done now.
    if (isOver && isContextError(this.error, 'busy')) this.clearError();
  }

  /** @internal Another chat has changed a message. */
  learn(message: M): void {
    this.#at.list.learn(message);
  }

  /** Before an answer goes on: what another tab added to it is known of the branch that is shown, and of no other. */
  async #catchUp(): Promise<void> {
    if (this.#at.branchId === this.#at.host.engine.state.getState().branchId) return;
    this.load();
    await this.#loading?.catch(() => {});
  }

  /** Somebody holds this chat: if it was let go, it takes its place again, and knows what is saved by now. */
  #enter(): void {
    this.#at.host.get(this.#at.branchId ?? '');
  }

  async #ready(): Promise<void> {
    await this.#at.host.engine.ready();
    this.#enter();
    await this.#loading;
    await this.#open();
  }

  /** Knows what waits, and what waited when the page was left, once the code for it has come. */
  async #open(): Promise<void> {
    await (await knownTurns())?.openQueue(this.#at);
  }

  // ------------------------------------------------------------------ its verbs

  /** Chat's verbs are fields; so are ours, around them. */
  #wrapVerbs(): void {
    const { replaceMessage, snapshot } = this.state;
    this.state.replaceMessage = (index, message) =>
      replaceMessage(index, this.#asShown(message, this.#at.list.now[index]));
    // AI SDK 5 copies whole messages, and can't where an app put a function: what happens to it is said elsewhere.
    this.state.snapshot = (value) => {
      try {
        return snapshot(value);
      } catch {
        return { ...value };
      }
    };

    const { sendMessage, regenerate, stop, resumeStream, addToolOutput, addToolApprovalResponse } = this;

    this.#at.goOn = () => void this.#inTurn(() => sendMessage(), undefined, 'first').catch(() => {});
    this.sendMessage = async (given, options) => {
      if (given != null && !isMessage(given)) return (await loadTurns()).refuseMessage(given);
      const message = given && asParts<M>(given);
      const { messageId } = message ?? {};
      const anew = message && this.#at.queue?.sayAnew(message, options);
      if (anew) return anew;
      const before = this.#listBefore(messageId);
      const isLate = this.isBusy || this.#unanswered > 0;
      const { onBusy, experimental_queue } = this.#at.host.options;
      if (onBusy === 'reject' && !before && isLate) throw busy();
      if (!before) this.#at.queue?.pass();
      const mayWait = this.hasWork && message && messageId === undefined && !experimental_queue;
      const wait = (): Place<M> | undefined => (mayWait ? this.#at.queue?.add(message, options) : undefined);
      await this.#waitingFor(async () => {
        let place = wait();
        try {
          await this.#ready();
        } catch {
          // It is told when the request is made, which comes in its turn.
        }
        if (before) return this.#edit(sendMessage, message as Message<M>, before, options);
        if (!message && this.#isSecond()) return;
        place ??= wait();
        this.#at.list.leaveElsewhere();
        if (experimental_queue) return sendMessage(message, options);
        if (!message) void this.#inTurn(() => this.#catchUp(), undefined, 'last');
        const ask = async (): Promise<void> => {
          const asked = place ? place.take() : ([message, options] as const);
          if (!asked) return;
          this.#at.queue?.placeLeft();
          await sendMessage(...asked);
          place?.end();
        };
        return this.#inTurn(ask, undefined, message ? place : 'last');
      });
    };
    this.regenerate = (options) =>
      this.#waitingFor(async () => {
        const { messageId } = options ?? {};
        await this.#ready();
        // Its turn comes.
        if (this.#at.queue?.isWaiting(messageId) || this.#isSecond(messageId)) return;
        // Of two clicks the second one must not stop the answer that the first one asked for: it is refused.
        if (messageId && !withId(this.messages, messageId)) return regenerate(options);
        const ask = (): Promise<void> => {
          this.#at.queue?.placeAsked(messageId);
          return regenerate(options);
        };
        return this.#inTurn(ask, this.#interrupt(messageId), 'first');
      });
    this.stop = async () => {
      if (this.#at.queue?.pass()) return;
      // What was asked for in this moment has not begun.
      if (!this.isBusy) await Promise.race([this.#statusChange(), this.#resuming ?? this.#sending]);
      await stop();
      await this.#at.turn?.settled;
    };
    this.resumeStream = (options) => {
      const resume = async (): Promise<void> => {
        // It grows here already. AI SDK 5 would lose hold of it, and could stop it no more.
        if (!this.#resuming && this.#at.turn?.isOpen) return;
        await this.#ready().catch(() => {});
        // AI SDK 5 goes on with the words that it had, and a replay would say them again.
        if (this.#at.host.transport.resumeStreamIsReplay ?? !addToolApprovalResponse)
          this['resumableStreamState'] = undefined;
        this.#at.list.leaveElsewhere();
        return resumeStream(options);
      };
      const resumed = resume();
      // Who asks twice gives the first one up, and that ends first: StrictMode does.
      const settled = Promise.allSettled([this.#resuming, resumed]).finally(() => {
        if (this.#resuming === settled) this.#resuming = undefined;
        // What another tab writes was taken out for it.
        this.#at.host.sync();
      });
      this.#resuming = settled;
      // What is sent meanwhile waits: an answer may be taken up.
      this.#tail = Promise.allSettled([this.#tail, resumed]);
      return resumed;
    };
    this.addToolOutput = (output) =>
      this.#answerCall(
        ({ toolCallId }) => toolCallId === output.toolCallId,
        output,
        () => addToolOutput(output),
        (owner) => owner.addToolOutput(output),
      );
    this.addToolResult = this.addToolOutput;
    // AI SDK 5 knows no approvals.
    if (!addToolApprovalResponse) return;
    this.addToolApprovalResponse = (response) =>
      this.#answerCall(
        ({ approval }) => approval?.id === response.id,
        response,
        () => addToolApprovalResponse(response),
        (owner) => owner.addToolApprovalResponse(response),
      );
  }

  /** The list up to a question, as it is now; undefined where there is no such question. */
  #listBefore(messageId: string | undefined): readonly M[] | undefined {
    const index = this.#at.list.now.findIndex(({ id, role }) => id === messageId && role === 'user');
    return index === -1 ? undefined : this.#at.list.now.slice(0, index);
  }

  /** New words in place of a question: they are sent from where the list stood before it. */
  async #edit(
    send: Send<M>,
    { messageId, ...content }: Message<M>,
    before: readonly M[],
    options: Parameters<Send<M>>[1],
  ): Promise<void> {
    return this.#inTurn(
      (earlier) => {
        const now = new Map(this.#at.list.saved.map((message) => [message.id, message]));
        const current = (message: M): M =>
          now.get(message.id) ?? ((this.#at.host.engine.message(message.id) ?? message) as M);
        this.#at.list.now = [...earlier, ...before].map(current);
        return send(content as Message<M>, options);
      },
      this.#interrupt(messageId),
      'first',
    );
  }

  /** Stops what grows, for a turn that takes its place, and gives what is to be done when its time has come. */
  #interrupt(messageId: string | undefined): () => Promise<readonly M[]> {
    const stopped = (this.isBusy || this.#resuming) && this.stop();
    return async () => {
      await stopped;
      await this.#resuming;
      const revealed = (await knownTurns())?.reveal(this.#at, messageId);
      // A press of a button waits for nothing: it is said in the chat, too.
      revealed?.catch((error: Error) => this.#tell(error));
      return revealed ?? NONE;
    };
  }

  /** @internal Saves a list that the app brought along, and that nothing was said to yet. */
  async keepList(): Promise<void> {
    await (await loadTurns()).keepList(this.#at);
  }

  /** Counts what was sent and is not answered yet: some of it may wait. */
  #waitingFor(task: () => Promise<void>): Promise<void> {
    this.#unanswered += 1;
    const sending = task().finally(() => (this.#unanswered -= 1));
    this.#sending = sending.catch(() => {});
    return sending;
  }

  /**
   * One after another: the next request begins when the answer before it, and what it led to, is there. Between the look
   * and the request nothing can begin: not an answer either that goes on by itself when a tool is answered. What there is
   * to `prepare` for a turn is done when it has come.
   *
   * What takes the place of an answer is `first`: questions that wait are asked behind it. It goes behind anything else
   * that was begun before it, but for what lets an answer go on: that is `last`, and given up for it.
   */
  #inTurn(
    task: (earlier: readonly M[]) => Promise<void>,
    prepare?: () => Promise<readonly M[]>,
    how?: 'first' | 'last' | Place<M>,
  ): Promise<void> {
    const place = typeof how === 'object' ? how : undefined;
    const isFirst = how === 'first' && this.#lined.size === 0;
    if (!isFirst && !place && how !== 'last') this.#lined.add(task);
    const run = Promise.resolve(isFirst ? this.#front : this.#tail)
      .then(async () => {
        const earlier = await (prepare?.() ?? place?.read ?? NONE);
        for (let before; (before = this.#before(place));) await before;
        this.#lined.delete(task);
        if (how === 'last' && this.#front) return;
        this.#at.list.leaveElsewhere();
        return task(earlier);
      })
      .finally(() => this.#lined.delete(task));
    const ended = run.catch(() => {});
    this.#tail = Promise.all([this.#tail, ended]);
    if (isFirst) {
      const front = ended.finally(() => {
        if (this.#front === front) this.#front = undefined;
      });
      this.#front = front;
    }
    return run;
  }

  /** What a turn waits for, before it looks again; undefined when it may begin. */
  #before(place: Place<M> | undefined): Promise<unknown> | undefined {
    if (place && this.#front) return this.#front;
    if (this.isBusy) return this.#isAsking ? this.#statusChange() : this.#settled();
    return place?.held();
  }

  #statusChange(): Promise<void> {
    return new Promise((resolve) => {
      const unsubscribe = this['~registerStatusCallback'](() => {
        unsubscribe();
        resolve();
      });
    });
  }

  /**
   * A tool's result, or a person's word on a tool, goes to the chat and the node that asked, whichever is shown. Most
   * apps don't wait for it: what is refused is also said in the chat.
   */
  #answerCall(
    isCall: IsCall,
    given: object,
    own: () => void | PromiseLike<void>,
    pass: (owner: ContextChat<M>) => void | PromiseLike<void>,
  ): void | PromiseLike<void> {
    const whoAsks = (is: IsCall): ContextChat<M> | undefined =>
      [this, ...this.#at.host.all()].find((chat) => chat.#at.list.asking(is));
    // Some models count their calls anew in each answer: one that has its result does not wait for this one.
    const owner = whoAsks((part) => isCall(part) && isWaiting(part)) ?? whoAsks(isCall) ?? this;
    if (owner !== this) return pass(owner);
    const answered = this.#answerOwn(isCall, given, own);
    const { host } = this.#at;
    // Where an answer streams, the AI SDK may wait for a tool of the page, and that for an answer on another branch.
    if (this.status !== 'streaming') host.writes.add(answered);
    this.#writes.add(answered);
    answered
      .catch((error: Error) => this.#tell(error))
      .finally(() => {
        host.writes.delete(answered);
        this.#writes.delete(answered);
        host.sync();
      });
    return answered;
  }

  /** Says in the chat what was refused. */
  #tell(error: Error): void {
    this.#at.host.options.onError?.(error, this);
    if (!this.#isAsking) super.setStatus({ status: 'error', error });
  }

  /**
   * Whether a second answer would stand beside one that another tab is writing: this one (its question's is its own), or
   * where none is named, the one at the end. That would be an accident, and is refused in the chat.
   */
  #isSecond(messageId?: string): boolean {
    const isSecond = this.#at.list.elsewhere.some(({ id }) => id === (messageId ?? id));
    if (isSecond) this.#tell(busy());
    return isSecond;
  }

  async #answerOwn(isCall: IsCall, given: object, own: () => void | PromiseLike<void>): Promise<void> {
    const { engine } = this.#at.host;
    const listed = this.#at.list.asking(isCall);
    // A branch that was left asks, or a message before those that are loaded.
    const before = listed ?? ((await (await loadTurns()).waitingCall(engine, isCall)) as M | undefined);
    if (!before) return;
    // Whoever writes an answer elsewhere would write over this.
    const isOwn = this.#at.turn?.options.id === before.id && !this.#at.turn.isSettled;
    if (!isOwn && engine.status(before.id) === 'streaming') throw busy();
    this.#at.isMute = false;
    if (listed) await own();
    const answer = { before, isOwn, isCall, given: given as Given };
    return (await loadTurns()).keepAnswer(this.#at, answer);
  }

  // ------------------------------------------------------------------ its requests

  async #send(sent: SendOptions<M>): Promise<ReadableStream<UIMessageChunk>> {
    this.#beginning += 1;
    const turn = await this.#begin(sent).finally(() => (this.#beginning -= 1));
    const { transport, options } = this.#at.host;
    const turns = await loadTurns();
    this.#asShown = turns.joining(turn.options);
    return turns.request(
      turn,
      transport,
      { ...sent, chatId: conversationOf(this.#at.host) },
      options.request,
    );
  }

  async #begin(sent: SendOptions<M>): Promise<Turn<M>> {
    await this.#ready();
    const { beginTurn } = await loadTurns();
    // A call that is answered in this moment, in any chat, shows its result before that is saved: it would look like
    // another version.
    const { writes } = this.#at.host;
    do await Promise.allSettled([this.#settled(), ...writes]);
    while (this.#writes.size + writes.size > 0);
    return beginTurn(this.#at, sent);
  }

  /** Takes up an answer that a server still streams; null where there is none, or it is here already. */
  async #reconnect(sent: ReconnectOptions<M>): Promise<ReadableStream<UIMessageChunk> | null> {
    await this.#ready();
    const { takeUp } = await loadTurns();
    return takeUp(this.#at, { ...sent, chatId: conversationOf(this.#at.host) }, (asShown) => {
      this.#asShown = asShown;
    });
  }

  /**
   * A chat that says `ready` has saved everything, also after a stop. That there is nothing to take up is told as `ready`,
   * too, and means nothing to what is asked meanwhile.
   */
  protected override setStatus(told: { status: ChatStatus; error?: Error }): void {
    const next = told.error ? { ...told, error: inWords(told.error) } : told;
    const { error } = this;
    const { turn, queue } = this.#at;
    if (next.status !== 'ready') return super.setStatus(next);
    if (this.#beginning > 0 || (this.#resuming && turn?.isOpen)) return;
    const saving = turn?.isSettled === false ? turn.settled : queue?.writing;
    if (!saving) return super.setStatus(next);
    // Something more may have been said by then, or refused.
    void saving.finally(() => {
      if (turn === this.#at.turn && error === this.error) this.setStatus(next);
    });
  }
}

const NONE: readonly never[] = [];

type Send<M extends UIMessage> = Chat<M>['sendMessage'];
/** A message as it is handed to `sendMessage()`. */
export type Message<M extends UIMessage> = NonNullable<Parameters<Send<M>>[0]>;
type ReconnectOptions<M extends UIMessage> = Parameters<ChatTransport<M>['reconnectToStream']>[0];

/** The id that servers know a conversation by, whatever branch of it is asked about. */
function conversationOf<M extends UIMessage>({ options, engine }: ChatHost<M>): string {
  return options.id ?? engine.chatId;
}

function busy(): ContextError {
  return new ContextError('busy', 'An answer still grows here, or in another tab. Wait for it, or stop it.');
}

/** Whether something can be sent: the AI SDK breaks on a text, and shows an object without any of these as it is. */
function isMessage(given: object): boolean {
  return ['text', 'files', 'parts'].some((key) => key in new Object(given));
}

/**
 * A message in the form that takes effect at once. Files that have to be read first stay for the AI SDK to read, in a list
 * of their own: apps empty the field in the same moment, and a browser empties the field's list with it.
 */
function asParts<M extends UIMessage>(message: Message<M>): Message<M> {
  const { text, files, parts, ...rest } = message as Words;
  if (parts) return message;
  if (files && !Array.isArray(files)) {
    const own: PropertyDescriptorMap = Object.getOwnPropertyDescriptors<object>([...files]);
    return { ...message, files: Object.create(files, own) } as Message<M>;
  }
  const said = text === undefined ? [] : [{ type: 'text', text }];
  return { ...rest, parts: [...(files ?? []), ...said] } as unknown as Message<M>;
}

interface Words {
  readonly text?: string;
  readonly files?: FileList | FileUIPart[] | null;
  readonly parts?: UIMessage['parts'];
}
