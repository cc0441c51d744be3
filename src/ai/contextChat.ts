import { Chat } from '@ai-sdk/react';
import type { ChatInit, ChatStatus, ChatTransport, FileUIPart, UIMessage, UIMessageChunk } from 'ai';
import type { ContextEngine } from '../engine/engine.ts';
import { sameItems, sameJson } from '../engine/same.ts';
import { ContextError, isContextError } from '../errors.ts';
import { createId } from '../fragment/id.ts';
import type { Given } from './answered.ts';
import { headOf, listAfter, put } from './list.ts';
import { inWords, loadTurns } from './loadTurns.ts';
import { isToolPart, isWaiting, type ToolPart } from './toolPart.ts';
import type { OpenedList } from './openList.ts';
import type { PrepareRequest, SendOptions } from './transport.ts';
import type { Turn } from './turn.ts';
import type * as Turns from './turns.ts';

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
   * What becomes of a message that is sent while an answer is asked for or growing. Default `queue`: it is sent when
   * that answer is saved, and until then stands neither in the list nor on the disk. With `reject`, `sendMessage()`
   * rejects with `busy` and changes nothing. An edit and `regenerate()` stop the answer either way.
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
  readonly #host: ChatHost<M>;
  #branchId: string | undefined;
  /** The messages of the branch as they are saved, in the very objects that the list shows. */
  #saved: readonly M[] = [];
  /** What the app shows before anything is saved. */
  readonly #greeting: readonly M[];
  /** What was last seen of the engine. */
  #followed: readonly UIMessage[] | undefined;
  /** What another tab is writing here: in the list to be seen grow, and gone from it before anything is said. */
  #elsewhere: readonly M[] = [];
  /** The engine's objects, and ours that say the same: which of them to keep when the list follows. */
  readonly #twins: WeakMap<UIMessage, M> = new WeakMap();
  #turn: Turn<M> | undefined;
  /** What is shown of an answer as it is read: one that goes on is what it was, and more. */
  #asShown: (message: M, shown: M | undefined) => M = (message) => message;
  #tail: Promise<unknown> = Promise.resolve();
  #loading: Promise<void> | undefined;
  #writes: Promise<unknown> = Promise.resolve();
  #writing = 0;
  #waiting = 0;
  /** Lets the answer at the end go on by itself. */
  #goOn: () => void = () => {};
  /** What was sent last. */
  #sending: Promise<unknown> = Promise.resolve();
  /** A server is asked for an answer that it still streams. */
  #resuming: Promise<unknown> | undefined;
  #watchers = 0;
  /** Whether the last request was answered with nothing: to ask again by itself would have no end. */
  #isMute = false;

  /** @internal Made by the registry. Without a branch it waits for one: see `bind`. */
  constructor(host: ChatHost<M>, branchId?: string) {
    const { options } = host;
    const chat: { current?: ContextChat<M> } = {};
    const self = (): ContextChat<M> => chat.current as ContextChat<M>;
    const greeting = options.messages ?? [];
    super({
      ...options,
      // One of its own: older versions of useChat tell chats apart by it. Requests carry the id of the conversation.
      id: createId(),
      messages: greeting,
      generateId: options.generateId ?? createId,
      transport: {
        get resumeStreamIsReplay() {
          return host.transport.resumeStreamIsReplay ?? false;
        },
        sendMessages: (sent) => self().#send(sent),
        reconnectToStream: (sent) => self().#reconnect(sent),
      },
      onError: (error) => host.options.onError?.(inWords(error), self()),
      onToolCall: (call) => host.options.onToolCall?.(call, self()),
      onData: (part) => host.options.onData?.(part, self()),
      onFinish: (event) =>
        host.options.onFinish?.(
          { ...event, message: withId(self().messages, event.message.id) ?? event.message },
          self(),
        ),
      sendAutomaticallyWhen: (state) =>
        !self().#isMute && (host.options.sendAutomaticallyWhen?.(state) ?? false),
    });
    chat.current = this;
    this.#host = host;
    this.#branchId = branchId;
    this.#greeting = greeting;
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

  /** Whether somebody would miss this chat: it shows its branch, or is at work. */
  get isInUse(): boolean {
    return this.#watchers > 0 || this.isBusy;
  }

  /** The id of the branch that this chat is on; undefined until the engine has read the conversation. */
  get branchId(): string | undefined {
    return this.#branchId;
  }

  /** Whether nothing that this chat shows is saved. */
  get isUnsaved(): boolean {
    return this.#saved.length === 0;
  }

  /** @internal Puts the chat on a branch. */
  bind(branchId: string): void {
    this.#branchId = branchId;
  }

  /** Whether an answer is asked for, growing, or not yet saved. */
  get isBusy(): boolean {
    return this.#isAsking || this.#turn?.isSettled === false || this.#writing > 0;
  }

  get #isAsking(): boolean {
    return this.status === 'submitted' || this.status === 'streaming';
  }

  /** Resolves when everything that was said in this chat so far is saved, also after a stop or a failure. */
  async whenSettled(): Promise<void> {
    await Promise.all([this.#turn?.settled, this.#writes]);
  }

  // ------------------------------------------------------------------ its place

  /** @internal Reads the branch, for a chat that is not the one shown. */
  load(): void {
    const { engine } = this.#host;
    const at = headOf(engine, this.#branchId);
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
    const before = this.#elsewhere;
    if (shown === this.#followed && elsewhere === before) return;
    if (this.isBusy) return this.#prepend(shown as readonly M[]);
    const isUnchanged = sameItems(this.messages, this.#whole);
    if (shown !== this.#followed)
      this.#saved = listAfter(this.#host.engine, this.#saved, shown as readonly M[], this.#twins);
    this.#followed = shown;
    this.#elsewhere = elsewhere as readonly M[];
    const whole = this.#whole;
    const grown = (message: M): M =>
      before.includes(message) ? (withId(whole, message.id) ?? message) : message;
    const next = isUnchanged ? whole : this.messages.map(grown);
    if (!sameItems(this.messages, next)) this.messages = [...next];
    // What was refused for its sake may be done now.
    if (before.length > 0 && elsewhere.length === 0 && isContextError(this.error, 'busy')) this.clearError();
  }

  /** What the list shows when nobody changes it. */
  get #whole(): readonly M[] {
    const grown = this.#elsewhere.filter(({ parts }) => parts.length > 0);
    const whole = grown.reduce<readonly M[]>(put, this.#saved);
    return whole.length > 0 ? whole : this.#greeting;
  }

  /** Takes what another tab is writing out of the list: what is said here hangs on words that stay. */
  #leaveElsewhere(): void {
    const elsewhere = this.#elsewhere;
    if (elsewhere.length === 0) return;
    this.#elsewhere = [];
    this.messages = this.messages.flatMap((message) =>
      elsewhere.includes(message) ? (withId(this.#saved, message.id) ?? []) : message,
    );
  }

  #prepend(shown: readonly M[]): void {
    const [first] = this.#saved;
    const count = shown.findIndex(({ id }) => id === first?.id);
    if (count <= 0) return;
    const earlier = shown.slice(0, count);
    const isShown = this.messages[0] === first;
    this.#saved = [...earlier, ...this.#saved];
    if (isShown) this.messages = [...earlier, ...this.messages];
  }

  /** Before an answer goes on: what another tab added to it is known of the branch that is shown, and of no other. */
  async #catchUp(): Promise<void> {
    if (this.#branchId === this.#host.engine.state.getState().branchId) return;
    this.load();
    await this.#loading?.catch(() => {});
  }

  /** Somebody holds this chat: if it was let go, it takes its place again, and knows what is saved by now. */
  #enter(): void {
    this.#host.get(this.#branchId ?? '');
  }

  async #ready(): Promise<void> {
    await this.#host.engine.ready();
    this.#enter();
    await this.#loading;
  }

  // ------------------------------------------------------------------ its verbs

  /** Chat's verbs are fields; so are ours, around them. */
  #wrapVerbs(): void {
    const { replaceMessage, snapshot } = this.state;
    this.state.replaceMessage = (index, message) =>
      replaceMessage(index, this.#asShown(message, this.messages[index]));
    // AI SDK 5 copies whole messages, and can't where an app put a function: what happens to it is said elsewhere.
    this.state.snapshot = (value) => {
      try {
        return snapshot(value);
      } catch {
        return { ...value };
      }
    };

    const { sendMessage, regenerate, stop, resumeStream, addToolOutput, addToolApprovalResponse } = this;

    this.#goOn = () => void this.#inTurn(() => sendMessage()).catch(() => {});
    this.sendMessage = async (given, options) => {
      const message = given && asParts<M>(given);
      const before = this.#listBefore(message?.messageId);
      if (this.#host.options.onBusy === 'reject' && !before && (this.isBusy || this.#waiting > 0))
        throw busy();
      await this.#waitingFor(async () => {
        try {
          await this.#ready();
        } catch {
          // It is told when the request is made, which comes in its turn.
        }
        if (before) return this.#edit(sendMessage, message as Message<M>, before, options);
        if (!message && this.#isSecond()) return;
        this.#leaveElsewhere();
        if (this.#host.options.experimental_queue) return sendMessage(message, options);
        if (!message) void this.#inTurn(() => this.#catchUp());
        return this.#inTurn(() => sendMessage(message, options));
      });
    };
    this.regenerate = (options) =>
      this.#waitingFor(async () => {
        await this.#ready();
        if (this.#isSecond(options?.messageId)) return;
        return this.#inTurn(() => regenerate(options), this.#interrupt(options?.messageId));
      });
    this.stop = async () => {
      // What was asked for in this moment has not begun.
      const asked = this.#resuming ?? (this.#waiting > 0 ? this.#sending : undefined);
      if (asked && !this.isBusy) await Promise.race([this.#statusChange(), asked]);
      await stop();
      await this.#turn?.settled;
    };
    this.resumeStream = (options) => {
      const resume = async (): Promise<void> => {
        await this.#ready().catch(() => {});
        // AI SDK 5 goes on with the words that it had, and a replay would say them again.
        if (this.#host.transport.resumeStreamIsReplay ?? !addToolApprovalResponse)
          this['resumableStreamState'] = undefined;
        this.#leaveElsewhere();
        return resumeStream(options);
      };
      const resumed = resume();
      const settled = resumed.catch(() => {}).then(() => (this.#resuming = undefined));
      this.#resuming = settled;
      // What is sent meanwhile waits: the AI SDK would call the chat ready when there is nothing to take up.
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
    const index = this.messages.findIndex(({ id, role }) => id === messageId && role === 'user');
    return index === -1 ? undefined : this.messages.slice(0, index);
  }

  /** New words in place of a question: they are sent from where the list stood before it. */
  async #edit(
    send: Send<M>,
    { messageId, ...content }: Message<M>,
    before: readonly M[],
    options: Parameters<Send<M>>[1],
  ): Promise<void> {
    return this.#inTurn((earlier) => {
      const now = new Map(this.#saved.map((message) => [message.id, message]));
      const current = (message: M): M =>
        now.get(message.id) ?? ((this.#host.engine.message(message.id) ?? message) as M);
      this.messages = [...earlier, ...before].map(current);
      return send(content as Message<M>, options);
    }, this.#interrupt(messageId));
  }

  /** Stops what grows, for a turn that begins in mid-list, and gives what is to be done when its time has come. */
  #interrupt(messageId: string | undefined): () => Promise<readonly M[]> {
    const stopped = (this.isBusy || this.#resuming) && this.stop();
    return async () => {
      await stopped;
      return this.#reveal(messageId);
    };
  }

  /**
   * @internal Saves a list that the app brought along, and that nothing was said to yet. Where something is cut from it,
   * or answered in it, the rest is nowhere else.
   */
  async keepList(): Promise<void> {
    if (!this.isUnsaved || this.#isAsking || this.messages.length < 2) return;
    await (await this.#begin(await loadTurns(), this.messages, {})).end('complete');
  }

  /** Loads what stands before the first message of the list, when a turn is about to begin there, and gives it. */
  async #reveal(at = ''): Promise<readonly M[]> {
    await this.keepList();
    const { engine } = this.#host;
    if (at !== this.messages[0]?.id || !engine.node(at)?.parentId) return [];
    const { messages } = await engine.resolve({ at });
    this.#prepend(messages as M[]);
    return messages.slice(0, -1) as M[];
  }

  /** Counts what was sent and is not answered yet: some of it may wait. */
  async #waitingFor(task: () => Promise<void>): Promise<void> {
    this.#waiting += 1;
    const sending = task();
    this.#sending = sending.catch(() => {});
    try {
      await sending;
    } finally {
      this.#waiting -= 1;
    }
  }

  /**
   * One after another: the next request begins when the answer before it, and what it led to, is there. Between the look
   * and the request nothing can begin: not an answer either that goes on by itself when a tool is answered. What there is
   * to `prepare` for a turn is done when it has come.
   */
  #inTurn(
    task: (earlier: readonly M[]) => Promise<void>,
    prepare?: () => Promise<readonly M[]>,
  ): Promise<void> {
    const run = this.#tail.then(async () => {
      const earlier = prepare ? await prepare() : [];
      while (this.isBusy) await (this.#isAsking ? this.#statusChange() : this.whenSettled());
      this.#leaveElsewhere();
      return task(earlier);
    });
    this.#tail = run.catch(() => {});
    return run;
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
      [this, ...this.#host.all()].find((chat) => chat.#asking(is));
    // Some models count their calls anew in each answer: one that has its result does not wait for this one.
    const owner = whoAsks((part) => isCall(part) && isWaiting(part)) ?? whoAsks(isCall) ?? this;
    if (owner !== this) return pass(owner);
    const answered = this.#answerOwn(isCall, given, own);
    this.#writes = Promise.allSettled([this.#writes, answered]);
    this.#writing += 1;
    answered
      .catch((error: Error) => this.#tell(error))
      .finally(() => {
        this.#writing -= 1;
        this.#host.sync();
      });
    return answered;
  }

  /** Says in the chat what was refused. */
  #tell(error: Error): void {
    this.#host.options.onError?.(error, this);
    if (!this.#isAsking) super.setStatus({ status: 'error', error });
  }

  /**
   * Whether a second answer would stand beside one that another tab is writing: this one (its question's is its own), or
   * where none is named, the one at the end. That would be an accident, and is refused in the chat.
   */
  #isSecond(messageId?: string): boolean {
    const isSecond = this.#elsewhere.some(({ id }) => id === (messageId ?? id));
    if (isSecond) this.#tell(busy());
    return isSecond;
  }

  /** The message in which a tool is called. */
  #asking(isCall: IsCall): M | undefined {
    return this.messages.findLast(({ parts }) => parts.some((part) => isToolPart(part) && isCall(part)));
  }

  async #answerOwn(isCall: IsCall, given: object, own: () => void | PromiseLike<void>): Promise<void> {
    const { engine } = this.#host;
    const listed = this.#asking(isCall);
    // A branch that was left asks, or a message before those that are loaded.
    const before = listed ?? ((await (await loadTurns()).waitingCall(engine, isCall)) as M | undefined);
    if (!before) return;
    // Whoever writes an answer elsewhere would write over this.
    const isOwn = this.#turn?.options.id === before.id && !this.#turn.isSettled;
    if (!isOwn && engine.status(before.id) === 'streaming') throw busy();
    this.#isMute = false;
    if (listed) await own();
    const turns = await loadTurns();
    const message = this.#asking(isCall);
    // The list was cut meanwhile, or this AI SDK looks at its end alone: the node that asked is answered all the same.
    const asked = message ?? before;
    const saved = isOwn ? undefined : (engine.message(asked.id) as M | undefined);
    const answer = (now: UIMessage | undefined): M =>
      turns.answered(asked, isCall, given as Given, now as M | undefined);
    try {
      const answered = answer(saved);
      if (message && answered !== message) this.messages = put(this.messages, answered) as M[];
      await this.#keep(turns, answered, answer);
    } catch (error) {
      // The list shows again what is saved.
      this.#followed = undefined;
      const known = withId(this.#whole, asked.id);
      if (message && known) this.messages = put(this.messages, known) as M[];
      throw error;
    }
  }

  /** Keeps a message with what a call in it was given; `answer` gives that to it as another tab left it. */
  async #keep(turns: typeof Turns, message: M, answer: (now: UIMessage) => M): Promise<unknown> {
    if (this.#turn?.options.id === message.id && this.#turn.isOpen) return this.#turn.savePoint();
    const { engine, options } = this.#host;
    if (!engine.node(message.id)) return this.keepList();
    this.#teach(message);
    let kept = message;
    await turns.keepMessage(engine, message.id, (now) => (kept = answer(now)), undefined);
    if (sameJson(kept, message)) return;
    // Another tab answered another call at the same moment: only now may all of them be answered.
    this.#teach(kept);
    const { messages } = this;
    if (!this.#isAsking && (await options.sendAutomaticallyWhen?.({ messages }))) this.#goOn();
  }

  /** All chats that show a message go on from what it is now. */
  #teach(message: M): void {
    for (const chat of [this, ...this.#host.all()]) chat.#learn(message);
  }

  /** A message was changed in a chat that shows it. This one, if it shows it too, must not go on from what it was. */
  #learn(message: M): void {
    // A settled one may stand before what another tab is writing.
    const known = withId(this.#whole, message.id);
    if (!known) return;
    if (this.#saved.includes(known)) this.#saved = put(this.#saved, message);
    else this.#elsewhere = put(this.#elsewhere, message);
    if (this.messages.includes(known)) this.messages = put(this.messages, message) as M[];
  }

  // ------------------------------------------------------------------ its requests

  async #send(sent: SendOptions<M>): Promise<ReadableStream<UIMessageChunk>> {
    await this.#ready();
    const { transport, options } = this.#host;
    const turns = await loadTurns();
    // A call that is answered in this moment shows its result before that is saved: it would look like another version.
    do await this.whenSettled();
    while (this.#writing > 0);
    const turn = await this.#begin(turns, this.messages, sent);
    this.#asShown = turns.joining(turn.options.read() ?? turn.options.answer);
    return turns.request(turn, transport, { ...sent, chatId: this.#conversation() }, options.request);
  }

  #conversation(): string {
    return this.#host.options.id ?? this.#host.engine.chatId;
  }

  /** Saves the turn, on a branch of its own where it needs one, and takes the chat along. */
  async #begin(
    turns: typeof Turns,
    list: readonly M[],
    {
      messageId,
      answerId,
    }: { readonly messageId?: string | undefined; readonly answerId?: string | undefined },
  ): Promise<Turn<M>> {
    const { engine } = this.#host;
    const forkId = createId();
    const branchId = (this.#branchId ??= engine.state.getState().branchId);
    try {
      const place = { branchId, forkId, answerId, messageId };
      const opened = await this.#land(forkId, turns.openList(engine, list, this.#saved, place));
      return (this.#turn = this.#turnOf(turns, opened, forkId));
    } catch (error) {
      // A message that can't be kept is not part of the chat, and an answer that is not replaced still is; anything
      // else may be tried again from the list.
      if (isContextError(error, 'invalid-messages') || isContextError(error, 'busy'))
        this.messages = [...this.#saved];
      throw error;
    }
  }

  /** Takes the chat along to where a turn goes. */
  async #land(forkId: string, opening: Promise<OpenedList<M>>): Promise<OpenedList<M>> {
    const host = this.#host;
    host.register(forkId, this);
    try {
      const opened = await opening;
      host.unregister(this.#branchId ?? '', this);
      this.#branchId = opened.branchId;
      const [saved, list] = opened.change(this.#saved, this.messages);
      this.#saved = saved;
      this.#followed = undefined;
      if (list !== this.messages) this.messages = list;
      return opened;
    } finally {
      host.unregister(forkId, this);
      host.register(this.#branchId ?? '', this);
    }
  }

  #turnOf({ Turn, longer }: typeof Turns, opened: OpenedList<M>, forkId: string): Turn<M> {
    const { id, answer, version } = opened;
    const turn = new Turn<M>({
      engine: this.#host.engine,
      ...opened,
      make: version && (() => this.#land(forkId, version.make(withId(this.messages, version.of) as M))),
      read: () => {
        const grown = this.messages.findLast((message) => message.id === id);
        // A server may begin an answer anew that broke off: it counts when it says more than was said.
        return grown && longer(answer, grown);
      },
      ended: (message, isMute) => {
        this.#isMute = isMute;
        if (!message) {
          if (this.messages.at(-1)?.id === id) this.messages = this.messages.slice(0, -1);
          return;
        }
        this.#saved = put(this.#saved, message);
        // A server may have taken back what is kept, or begun it anew: the list shows what is saved.
        if (!this.messages.includes(message))
          this.messages = this.messages.map((one) => (one.id === id ? message : one));
      },
    });
    void turn.settled.then(() => this.#host.sync());
    return turn;
  }

  /** Takes up an answer that a server still streams; null where there is none, or it is here already. */
  async #reconnect(sent: ReconnectOptions<M>): Promise<ReadableStream<UIMessageChunk> | null> {
    await this.#ready();
    const turns = await loadTurns();
    const { engine, transport } = this.#host;
    return turns.takeUp({
      engine,
      transport,
      chat: this,
      branchId: this.branchId,
      sent: { ...sent, chatId: this.#conversation() },
      saved: () => this.#saved,
      list: () => (this.isUnsaved ? this.#greeting : this.#saved),
      settled: () => this.#turn?.settled,
      begin: (list, answerId) => this.#begin(turns, list, { answerId }),
      show: (asShown) => {
        this.#asShown = asShown;
      },
    });
  }

  /** A chat that says `ready` has saved everything, also after a stop. */
  protected override setStatus(told: { status: ChatStatus; error?: Error }): void {
    const next = told.error ? { ...told, error: inWords(told.error) } : told;
    const turn = this.#turn;
    if (next.status !== 'ready' || !turn || turn.isOpen || turn.isSettled) return super.setStatus(next);
    void this.#whenSaved(turn, () => super.setStatus(next));
  }

  async #whenSaved(turn: Turn<M>, change: () => void): Promise<void> {
    await turn.settled;
    if (turn === this.#turn) change();
  }
}

type Send<M extends UIMessage> = Chat<M>['sendMessage'];
type Message<M extends UIMessage> = NonNullable<Parameters<Send<M>>[0]>;
type ReconnectOptions<M extends UIMessage> = Parameters<ChatTransport<M>['reconnectToStream']>[0];

type IsCall = (part: ToolPart) => boolean;

function busy(): ContextError {
  return new ContextError(
    'busy',
    'An answer still grows, here or in another tab. Wait for it, or stop it there.',
  );
}

/**
 * A message in the form that takes effect at once. Files that have to be read first stay for the AI SDK to read, in a list
 * of their own: apps empty the field in the same moment, and a browser empties the field's list with it.
 */
function asParts<M extends UIMessage>(message: Message<M>): Message<M> {
  const { text, files = [], parts, ...rest } = message as Words;
  if (parts) return message;
  if (!Array.isArray(files)) {
    const own: PropertyDescriptorMap = Object.getOwnPropertyDescriptors<object>([...files]);
    return { ...message, files: Object.create(files, own) } as Message<M>;
  }
  const said = text === undefined ? [] : [{ type: 'text', text }];
  return { ...rest, parts: [...files, ...said] } as unknown as Message<M>;
}

interface Words {
  readonly text?: string;
  readonly files?: FileList | FileUIPart[];
  readonly parts?: UIMessage['parts'];
}

function withId<M extends UIMessage>(list: readonly M[], messageId: string): M | undefined {
  return list.find(({ id }) => id === messageId);
}
