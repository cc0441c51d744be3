import type { UIMessage } from 'ai';
import { createStore, type StoreApi } from 'zustand/vanilla';
import { ContextError, isContextError } from '../errors.ts';
import { isLazyFragment, isMessageFragment, LAZY_ID, type ContextFragment } from '../fragment/fragment.ts';
import { createId } from '../fragment/id.ts';
import { loadFragments } from '../fragment/loader.ts';
import { messageOf, normaliseMessage } from '../fragment/message.ts';
import {
  chainIds,
  forksOf,
  isVisible,
  lastUsedWith,
  type Branch,
  type Chat,
  type Checkpoint,
  type Fork,
  type MessageStatus,
  type NodeInfo,
} from '../graph/graph.ts';
import { graphData, type GraphData } from '../graph/visualize.ts';
import type { ContextRenderer } from '../render/renderer.ts';
import { XmlRenderer } from '../render/xml.ts';
import { defaultStore } from '../store/default.ts';
import { InMemoryContextStore } from '../store/memory.ts';
import type {
  AppendOptions,
  AppendResult,
  BranchInfo,
  ChatRecords,
  CheckpointInfo,
  ConflictPolicy,
  ContextStore,
  StoreNotice,
  StoreOp,
} from '../store/store.ts';
import { type Busy, History, sameItems, type Versions } from './history.ts';
import { takeSnapshot, type ContextSnapshot, type InspectOptions } from './inspect.ts';
import { applyLocally, isRefusal, Outbox } from './outbox.ts';
import { Prompt, splitLanes } from './prompt.ts';
import { Chains } from './resolve.ts';
import { lastAnswer, planSave, sameContent, sameJson, type PendingMessage, type SavePlan } from './save.ts';
import type { ContextEvent, EngineState, SaveState } from './state.ts';

/** How an engine is made. */
export interface ContextEngineOptions {
  /** Where the chat lives. Default: one IndexedDB database of the page, named `contextree`. */
  readonly store?: ContextStore | undefined;
  readonly chatId: string;
  readonly userId: string;
  /** Merged into the chat's metadata by the first write, shallow. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /** What turns fragments into the system prompt. Default XML. */
  readonly renderer?: ContextRenderer | undefined;
  /** A further check of stored messages, such as the AI SDK's `validateUIMessages`; throws to refuse. */
  readonly validate?: ((messages: UIMessage[]) => unknown) | undefined;
  /** Whether the fragments of `set()` are kept with the chat. Default false. */
  readonly persistFragments?: boolean | undefined;
  /** What happens to a turn when another tab moved the head first. Default `fork`. */
  readonly onConflict?: ConflictPolicy | undefined;
}

/** Which branch a method reads or writes. */
export interface BranchOption {
  /** Name or id. Default: the active one. */
  readonly branch?: string | undefined;
}

/** How to resolve. */
export interface ResolveOptions extends BranchOption {
  /** Default: the engine's. */
  readonly renderer?: ContextRenderer | undefined;
  /** Any message of the chat: resolve as if it were the head. */
  readonly at?: string | undefined;
  /** Stops the loading of lazy fragments. */
  readonly signal?: AbortSignal | undefined;
}

/** What a model call needs. */
export interface ResolveResult {
  /** The fragments, rendered; '' without fragments. */
  readonly systemPrompt: string;
  /** The conversation, oldest first. */
  readonly messages: UIMessage[];
}

/** What a save returns. */
export interface SaveResult {
  /** The last message of the branch; undefined when there is none. */
  readonly headMessageId: string | undefined;
}

/** Where a turn goes. */
export interface ContinueOptions extends BranchOption {
  /** The message that it answers; null for a first one. Default: the branch's head. */
  readonly parentId?: string | null | undefined;
  /** The id of the branch, should the turn need one of its own. */
  readonly forkId?: string | undefined;
  /** The id of the reserved answer. */
  readonly id?: string | undefined;
}

/** New words for a message: its text, or its parts. */
export type MessageContent = string | { readonly parts: UIMessage['parts']; readonly metadata?: unknown };

/** A chat that can ask a model: what `contextree/ai` attaches. */
export interface AttachedChat {
  /** Sends new words in place of a message, as a new version of it. */
  edit(messageId: string, content: MessageContent): Promise<void>;
  /** Asks again: a new version of this answer, or a new answer to this question. */
  regenerate(messageId: string, options?: object): Promise<void>;
}

/** How many messages of a chain are loaded at first, and by each `loadMore()`. */
const PAGE = 200;
/** The pause between two drafts of one answer, in ms. */
const DRAFT_INTERVAL = 500;
/** The first pause before an unsaved turn is tried again, in ms; it doubles up to half a minute. */
const RETRY_FIRST = 1000;
const RETRY_LAST = 30_000;
/** How often an answer that another tab streams is looked at, in ms: a tab that dies sends no notice. */
const WATCH_INTERVAL = 2000;

/**
 * One chat, as one tab works on it: the fragments of its prompt, the messages that wait, and the graph behind them.
 *
 * Nothing is read before the first asynchronous method, and nothing is written before the first write. Each method is
 * one transaction of the store and one `setState`; methods run one after another in the order in which they were
 * called. What the state shows is saved, or `saveState` says that it is not.
 */
export class ContextEngine {
  readonly chatId: string;
  readonly userId: string;
  readonly store: ContextStore;
  /** The observable face of the engine, for hooks and devtools. Read only. */
  readonly state: Pick<StoreApi<EngineState>, 'getState' | 'getInitialState' | 'subscribe'>;

  readonly #options: ContextEngineOptions;
  readonly #zustand: StoreApi<EngineState>;
  readonly #history: History = new History();
  readonly #chains: Chains;
  readonly #prompt: Prompt = new Prompt();
  readonly #listeners: Set<(event: ContextEvent) => void> = new Set();
  readonly #mainBranchId: string = createId();
  #pending: readonly Pending[] = [];
  #activeId: string = this.#mainBranchId;
  /** The message checked out, when it is not the head of its branch. */
  #at: string | null = null;
  /** The ids of the active chain, root first, and the index of the first one that is loaded. */
  #shown: Shown = { head: null, ids: [], from: 0, moves: 0 };
  #epoch = 0;
  #isMetadataMerged = false;
  /** The fragments that are kept with the chat, as JSON. */
  #keptFragments = '[]';
  #ready: Promise<void> | undefined;
  #tail: Promise<unknown> = Promise.resolve();
  #unsubscribe: (() => void) | undefined;
  readonly #notices: Set<number> = new Set();
  readonly #ownChanges: Set<number> = new Set();
  #writing = 0;
  /** Why nothing is written any more: the chat was deleted elsewhere. */
  #gone: ContextError | undefined;
  readonly #outbox: Outbox = new Outbox();
  /** Repeats the save() that the disk refused last. */
  #refusedSave: (() => Promise<unknown>) | undefined;
  #saveState: SaveState = { state: 'idle', pending: 0 };
  #retryTimer: ReturnType<typeof setTimeout> | undefined;
  #retryDelay: number = RETRY_FIRST;
  #watchTimer: ReturnType<typeof setTimeout> | undefined;
  readonly #streams: Map<string, Stream> = new Map();
  #attached: readonly { readonly chat: AttachedChat }[] = [];
  #revision = 0;
  #isOpen = false;
  #isDisposed = false;

  constructor(options: ContextEngineOptions) {
    if (!options.chatId) throw new ContextError('invalid-options', 'chatId is required');
    if (!options.userId) throw new ContextError('invalid-options', 'userId is required');
    this.#options = options;
    this.chatId = options.chatId;
    this.userId = options.userId;
    this.store = options.store ?? defaultStore();
    this.#chains = new Chains({
      history: this.#history,
      load: (ids) => this.#loadBodies(ids),
      validate: options.validate,
      report: (id, error) => this.#emit({ type: 'error', code: error.code, message: error.message, id }),
    });
    this.#zustand = createStore<EngineState>()(() => this.#initialState());
    this.state = this.#zustand;
  }

  #initialState(): EngineState {
    return {
      status: 'loading',
      error: null,
      chat: null,
      branch: 'main',
      branchId: this.#mainBranchId,
      headMessageId: undefined,
      detached: false,
      branches: [],
      checkpoints: [],
      messages: [],
      loadedFrom: 0,
      pending: [],
      fragments: [],
      saveState: this.#saveState,
      persistence: this.store.persistence,
      revision: 0,
    };
  }

  // ------------------------------------------------------------------ what it is

  /** The name of the active branch; `main` until the chat is read. */
  get branch(): string {
    return this.#zustand.getState().branch;
  }

  /** The last message shown; undefined when there is none, or the chat is not read yet. */
  get headMessageId(): string | undefined {
    return this.#zustand.getState().headMessageId;
  }

  /** The chat's row; null until it is read, and for a chat that nothing was saved to. */
  get chat(): Chat | null {
    return this.#zustand.getState().chat;
  }

  /** The chat attached last: what serves `edit` and `regenerate`. */
  get attached(): AttachedChat | undefined {
    return this.#attached.at(-1)?.chat;
  }

  /**
   * Reads the chat, its active branch and its last messages, once. Writes nothing.
   * Rejects with `wrong-user`, or with what the store says; the next call tries again.
   */
  ready(): Promise<void> {
    this.#ready ??= this.#open().catch((error: unknown) => {
      this.#ready = undefined;
      this.#stopListening();
      this.#publish({ status: 'error', error: asContextError(error) });
      throw error;
    });
    return this.#ready;
  }

  async #open(): Promise<void> {
    // Before the first read, so that nothing which others write meanwhile is missed.
    if (!this.#isDisposed) this.#unsubscribe ??= this.store.subscribe((notice) => this.#hear(notice));
    const records = await this.store.load(this.chatId);
    this.#checkOwner(records.chat);
    const isThere = records.chat !== undefined && records.chat.deletedAt === undefined;
    this.#epoch = nextEpoch(records.chat);
    this.#history.seq = records.seq;
    if (isThere) await this.#absorbRemote(records);
    if (this.#options.persistFragments) await this.#readFragments(isThere);
    await this.#show(this.#branchToOpen());
    this.#publish({ status: 'ready', error: null });
    this.#isOpen = true;
    this.#settleNotices();
  }

  #checkOwner(chat: Chat | undefined): void {
    if (!chat || chat.deletedAt !== undefined || chat.userId === this.userId) return;
    throw new ContextError(
      'wrong-user',
      `chat "${this.chatId}" belongs to user "${chat.userId}", not "${this.userId}"`,
      {
        details: { chatId: this.chatId, owner: chat.userId, userId: this.userId },
      },
    );
  }

  #branchToOpen(): string {
    const live = this.#history.liveBranches();
    const stored = this.#history.chat?.activeBranchId;
    const last = live.toSorted((a, b) => b.usedSeq - a.usedSeq)[0];
    return live.find((branch) => branch.id === stored)?.id ?? last?.id ?? this.#mainBranchId;
  }

  // ------------------------------------------------------------------ fragments

  /**
   * Adds fragments: messages wait in the pending lane for `save()`, all others join the system prompt.
   * Copies them. Throws `invalid-fragment` or `invalid-messages` for what can't be kept, and then adds none of them.
   */
  set(...fragments: ContextFragment[]): this {
    const { messages, context } = splitLanes(fragments);
    const pending = messages.map(pendingOf);
    this.#prompt.add(context);
    this.#pending = [...this.#pending, ...pending];
    this.#publish();
    this.#emit({ type: 'set', fragments: context.length, messages: pending.length });
    return this;
  }

  /** Takes fragments out again: those with this id, or this very fragment, from both lanes. */
  unset(idOrFragment: string | ContextFragment): this {
    const is = ({ fragment, original }: Pending): boolean =>
      original === idOrFragment || (typeof idOrFragment === 'string' && fragment.id === idOrFragment);
    const wasWaiting = this.#pending.length > 0;
    this.#wait(this.#pending.filter((pending) => !is(pending)));
    this.#prompt.remove(idOrFragment);
    this.#publish();
    if (wasWaiting && this.#pending.length === 0 && this.#isOpen) this.#inBackground(() => this.#refresh());
    return this;
  }

  /** Takes all fragments out of the system prompt, but for those of mounted components. Pending messages stay. */
  clear(): this {
    this.#prompt.clear();
    this.#publish();
    return this;
  }

  /** Puts the fragments of a mounted component into the prompt, after those of `set()`, in the order of `order`. */
  mountFragments(owner: object, order: number, fragments: readonly ContextFragment[]): void {
    if (fragments.some(isMessageFragment)) {
      throw new ContextError(
        'invalid-fragment',
        'useFragments() takes fragments of the system prompt, not messages.',
      );
    }
    this.#prompt.mount(owner, order, fragments);
    this.#publish();
  }

  /** Takes the fragments of a component out again. */
  unmountFragments(owner: object): void {
    if (this.#prompt.unmount(owner)) this.#publish();
  }

  /** Those of a deleted chat with the same id are not taken over; the first write replaces them. */
  async #readFragments(isThere: boolean): Promise<void> {
    const records = await this.store.get(fragmentsKey(this.chatId));
    if (isThere) this.#prompt.restore(records);
    this.#keptFragments = JSON.stringify(records ?? []);
  }

  /** The write of the chat's fragments, when they are kept and changed. */
  #fragmentOps(): Extract<StoreOp, { readonly op: 'set' }>[] {
    if (!this.#options.persistFragments) return [];
    const value = this.#prompt.serialize((name, reason) => {
      this.#emit({
        type: 'error',
        code: 'invalid-fragment',
        message: `Fragment "${name}" is not kept: ${reason}`,
      });
    });
    return JSON.stringify(value) === this.#keptFragments
      ? []
      : [{ op: 'set', key: fragmentsKey(this.chatId), value }];
  }

  // ------------------------------------------------------------------ resolve

  /**
   * Renders the fragments, synchronously. Throws `invalid-fragment` with the path of a lazy value: use `resolve()`.
   */
  render(renderer: ContextRenderer = this.#renderer()): string {
    return renderer.render(this.#prompt.list());
  }

  #renderer(): ContextRenderer {
    return this.#options.renderer ?? new XmlRenderer();
  }

  /**
   * The system prompt and the messages for a model call: what is saved, followed by what is pending, exactly as a
   * `save()` would write it. Lazy fragments are loaded each time. Costs what is new since the last call.
   * Messages are the stored objects: don't change them.
   */
  async resolve(options: ResolveOptions = {}): Promise<ResolveResult> {
    const start = performance.now();
    await this.ready();
    const systemPrompt = await this.#renderLoaded(options);
    const messages = await this.#serial(() => this.#resolveMessages(options));
    const branch = this.#branchOrActive(options.branch).name;
    this.#emit(
      { type: 'resolve', branch, messages: messages.length, characters: systemPrompt.length },
      start,
    );
    return { systemPrompt, messages };
  }

  async #renderLoaded({ renderer, signal }: ResolveOptions): Promise<string> {
    if (renderer === null)
      throw new ContextError(
        'invalid-options',
        'resolve() was given null as its renderer. Leave it out for XML.',
      );
    const loaded = await loadFragments(this.#prompt.list(), signal ? { signal } : {});
    return (renderer ?? this.#renderer()).render(loaded);
  }

  async #resolveMessages({ branch, at }: ResolveOptions): Promise<UIMessage[]> {
    if (at !== undefined) return [...(await this.#chains.messages(this.#node(at).id))];
    const target = this.#branchOrActive(branch);
    if (target.id !== this.#activeId || this.#pending.length === 0)
      return [...(await this.#chains.messages(this.#headOf(target.id)))];
    const { base, replaced, tail } = await this.#plan(this.#pending, false);
    const saved = await this.#chains.messages(base);
    const changed = new Set(await this.#chains.sound([...replaced.values()]));
    const kept = replaced.size === 0 ? saved : saved.map((message) => replaced.get(message.id) ?? message);
    return [
      ...kept.filter((message) => !replaced.has(message.id) || changed.has(message)),
      ...(await this.#chains.sound(tail)),
    ];
  }

  // ------------------------------------------------------------------ save

  /**
   * Writes all pending messages in one transaction. A changed message whose id is known forks, unless `branch: false`
   * replaces it where it is. Nothing pending: nothing is written, but for a chat that does not exist yet.
   * Rejects with what the store says; the messages are then pending still.
   */
  async save(options: { readonly branch?: boolean } = {}): Promise<SaveResult> {
    await this.ready();
    return this.#serial(() => this.#save(options.branch === false));
  }

  async #save(inPlace: boolean): Promise<SaveResult> {
    const start = performance.now();
    await this.#recover();
    const taken = this.#pending;
    const { ops, forkId } = await this.#saveAs(taken, inPlace);
    this.#wait(this.#pending.filter((pending) => !taken.includes(pending)));
    await this.#refresh();
    const ids = ops.flatMap((op) => (op.op === 'insert' || op.op === 'replace' ? [op.id] : []));
    if (forkId !== undefined) this.#emitBranch('create', forkId);
    if (ids.length > 0) this.#emit({ type: 'save', branch: this.#active().name, ids }, start);
    this.#publish();
    return { headMessageId: this.#head() ?? undefined };
  }

  /** Carries a plan out; another one, if a message has changed elsewhere since it was made. */
  async #saveAs(pending: readonly Pending[], inPlace: boolean): Promise<SavePlan> {
    const again = (): Promise<SaveResult> => this.#save(inPlace);
    try {
      return await this.#commitPlan(await this.#plan(pending, inPlace), again);
    } catch (error) {
      if (!isContextError(error, 'head-moved') || this.#options.onConflict === 'error') throw error;
      await this.#pull();
      return this.#commitPlan(await this.#plan(pending, false), again);
    }
  }

  async #commitPlan(plan: SavePlan, again: () => Promise<unknown>): Promise<SavePlan> {
    const fragments = this.#fragmentOps();
    if (plan.ops.length > 0 || fragments.length > 0 || !this.#history.chat) {
      await this.#commit([...plan.ops, ...fragments], { again });
      for (const { value } of fragments) this.#keptFragments = JSON.stringify(value);
    }
    if (plan.forkId !== undefined) await this.#show(plan.forkId);
    return plan;
  }

  async #plan(pending: readonly Pending[], inPlace: boolean): Promise<SavePlan> {
    const history = this.#history;
    const messages = pending.map(({ content }) => content);
    const head = this.#head();
    const chain = messages.some(({ kind }) => kind === 'last-assistant') ? chainIds(history.graph, head) : [];
    await this.#loadBodies(this.#comparedIds(messages, chain));
    const { id, name } = this.#active();
    return planSave({
      graph: history.graph,
      messageOf: (id) => history.body(id)?.data,
      branch: { id, name },
      head,
      detached: this.#at !== null,
      chain,
      pending: messages,
      inPlace,
      isShared: (message) => history.isShared(message, id),
      forkBase: (parentId, role) => history.forkBase(parentId, role, name),
      newId: createId,
    });
  }

  /** The saved messages that a plan compares with: those pending again, and the last assistant's. */
  #comparedIds(pending: readonly PendingMessage[], chain: readonly string[]): string[] {
    const { nodes } = this.#history.graph;
    const known = pending.flatMap((one) =>
      one.kind === 'message' && nodes.has(one.message.id) ? [one.message.id] : [],
    );
    const last = lastAnswer(this.#history.graph, chain);
    return last ? [...known, last.id] : known;
  }

  // ------------------------------------------------------------------ turns that stream

  /**
   * A turn (usually one user message) and a reserved answer, in one durable transaction; resolves to the answer's id,
   * which is then the head. The answer shows nowhere until its first part. A last message that is known and equal is
   * not written again: only an answer is reserved beneath it. Where the turn does not hang on the branch's head, a new
   * branch is made. On a disk that refuses it resolves all the same, and the turn is kept in memory.
   */
  async continue(message: UIMessage | readonly UIMessage[], options: ContinueOptions = {}): Promise<string> {
    const turn = (Array.isArray(message) ? message : [message]).map((one) => normaliseMessage(one));
    if (turn.length === 0)
      throw new ContextError('invalid-messages', 'continue() needs at least one message.');
    await this.ready();
    return this.#serial(() => this.#continue(turn, options));
  }

  async #continue(turn: readonly UIMessage[], options: ContinueOptions): Promise<string> {
    const start = performance.now();
    await this.#recover();
    const branch = this.#branchOrActive(options.branch);
    const id = options.id ?? createId();
    const forkId = options.forkId ?? createId();
    const ops = await this.#turnOps(turn, branch, { ...options, id, forkId });
    const isActive = branch.id === this.#activeId;
    const stream = await this.#beginStream(id, forkId);
    try {
      await this.#commit(isActive ? [...ops, showing(ops, branch.id)] : ops, { keep: true });
    } catch (error) {
      this.#endStream(id);
      throw error;
    }
    stream.branchId = this.#landing(forkId, branch.id);
    if (isActive) await this.#show(stream.branchId);
    if (stream.branchId === forkId) this.#emitBranch('create', forkId);
    this.#emit(
      { type: 'stream', phase: 'start', branch: this.#branchName(stream.branchId), id, status: 'streaming' },
      start,
    );
    this.#publish();
    return id;
  }

  /** Where a turn went: to the branch made for it, to the one that it was meant for, or to the `main` of another tab. */
  #landing(forkId: string, branchId: string): string {
    return [forkId, branchId].find((id) => this.#history.branches.has(id)) ?? this.#activeId;
  }

  async #turnOps(
    turn: readonly UIMessage[],
    branch: Branch,
    options: ContinueOptions & { id: string; forkId: string },
  ): Promise<StoreOp[]> {
    const known = this.#history.graph.nodes.get((turn[0] as UIMessage).id);
    const parentId =
      options.parentId !== undefined ? options.parentId : known ? known.parentId : this.#headOf(branch.id);
    if (parentId !== null) this.#node(parentId);
    const { under, fresh } = await this.#newOnesOf(turn, parentId);
    const answer: UIMessage = { id: options.id, role: 'assistant', parts: [] };
    const ops: StoreOp[] = insertsOf(under, [...fresh, answer]);
    const head = this.#history.view(branch.id);
    if (under === head)
      return [
        ...ops,
        { op: 'head', branchId: branch.id, expected: head, messageId: answer.id, forkId: options.forkId },
      ];
    const base = this.#history.forkBase(under, (fresh[0] ?? answer).role, branch.name);
    return [...ops, { op: 'branch', id: options.forkId, base, messageId: answer.id }];
  }

  /** The messages of a turn that are not saved yet, and what they hang on. A changed one gets an id of its own. */
  async #newOnesOf(
    turn: readonly UIMessage[],
    parentId: string | null,
  ): Promise<{ under: string | null; fresh: UIMessage[] }> {
    const { nodes } = this.#history.graph;
    const knownIds = turn.map(({ id }) => id).filter((id) => nodes.has(id));
    await this.#loadBodies(knownIds);
    let under = parentId;
    const fresh: UIMessage[] = [];
    for (const message of turn) {
      const isSaved = nodes.has(message.id) && sameContent(this.#history.body(message.id)?.data, message);
      if (isSaved && fresh.length === 0) under = message.id;
      else fresh.push(nodes.has(message.id) ? { ...message, id: createId() } : message);
    }
    return { under, fresh };
  }

  /**
   * New words for a message that this tab streams or owns. `streaming`: a draft, at most two a second reach the disk;
   * `complete` and `interrupted` end the turn, durably; without a status, a durable update that keeps it (a tool's
   * result, a finished step).
   * A settled message becomes `streaming` again when an answer is continued. An answer that ends without a word is
   * taken back, and the head with it. Rejects with `message-not-found`, with `invalid-messages`, and with
   * `invalid-options` for a settled message that is to end once more; a refusing disk does not reject: the words stay
   * in memory and are tried again.
   */
  async updateMessage(id: string, message: UIMessage, status?: MessageStatus): Promise<void> {
    const data = normaliseMessage({ ...message, id });
    await this.ready();
    const info = this.#node(id);
    const stream = this.#streams.get(id);
    if (stream && info.status === 'streaming' && status === 'streaming') return this.#draft(id, data, stream);
    return this.#serial(() => this.#settle(id, data, status));
  }

  #draft(id: string, data: UIMessage, stream: Stream): void {
    const isFirst = (this.#history.graph.nodes.get(id)?.parts ?? 0) === 0 && data.parts.length > 0;
    stream.latest = data;
    if (isFirst) this.#writeDraft(id, stream);
    else stream.timer ??= setTimeout(() => this.#writeDraft(id, stream), DRAFT_INTERVAL);
  }

  #writeDraft(id: string, stream: Stream): void {
    const data = stream.latest;
    stopDrafts(stream);
    if (!data || this.#streams.get(id) !== stream) return;
    if (this.#history.grow(id, data)) this.#revision += 1;
    this.#chains.cut(id);
    this.#publish();
    this.#emit({
      type: 'stream',
      phase: 'draft',
      branch: this.#branchName(stream.branchId),
      id,
      status: 'streaming',
    });
    stream.draft = this.store.saveDraft(this.chatId, id, data).catch(() => {
      // A draft that is refused loses nothing: the words are here, and the turn's end is written durably.
    });
  }

  async #settle(id: string, data: UIMessage, status: MessageStatus | undefined): Promise<void> {
    const start = performance.now();
    if (this.#history.abandoned.has(id)) await this.#recover();
    const { status: before } = this.#node(id);
    const next = this.#nextStatus(id, before, status);
    const isBegun = next === 'streaming' && !this.#streams.has(id);
    const stream = isBegun ? await this.#beginStream(id, this.#branchHolding(id)) : this.#streams.get(id);
    try {
      await this.#commitWords(id, data, next, stream);
    } catch (error) {
      if (isBegun) this.#endStream(id);
      throw error;
    }
    if (next !== 'streaming') this.#endStream(id);
    await this.#refresh();
    this.#emit(
      {
        type: 'stream',
        phase: phaseOf(before, next),
        branch: this.#branchName(stream?.branchId),
        id,
        status: next,
      },
      start,
    );
    this.#publish();
  }

  /** A settled message keeps its status, or streams again; only what streams ends. */
  #nextStatus(id: string, before: MessageStatus, status: MessageStatus = before): MessageStatus {
    if (status === before || status === 'streaming' || before === 'streaming' || this.#streams.has(id))
      return status;
    throw new ContextError(
      'invalid-options',
      `Message "${id}" is ${before}, and can't become ${status} without streaming.`,
      {
        details: { id, before, status },
      },
    );
  }

  async #commitWords(
    id: string,
    data: UIMessage,
    status: MessageStatus,
    stream: Stream | undefined,
  ): Promise<void> {
    if (stream) stopDrafts(stream);
    await stream?.draft;
    const info = this.#node(id);
    const isEnd = info.status === 'streaming' && status !== 'streaming';
    // Words that were drafted are not taken back by an end without any.
    const words = isEnd && data.parts.length === 0 ? (this.#history.body(id)?.data ?? data) : data;
    if (isEnd && words.parts.length === 0) return this.#endSilently(id);
    try {
      await this.#commit([{ op: 'replace', id, data: words, status }], { keep: true });
    } catch (error) {
      if (!stream || !isContextError(error, 'message-not-found')) throw error;
      this.#history.forget(id);
      await this.#commit(backOps(info, words, status, stream.branchId), { keep: true });
    }
  }

  /** An answer without a word is taken back; one that something hangs on stays where it is, and does not show. */
  async #endSilently(id: string): Promise<void> {
    const op = this.#silentEnd(id);
    await this.#commit([op], { keep: true });
    if (op.op === 'drop') this.#history.forget(id);
  }

  #silentEnd(id: string): StoreOp {
    return this.#history.isFollowed(id) ? { op: 'replace', id, status: 'interrupted' } : { op: 'drop', id };
  }

  async #beginStream(id: string, branchId: string): Promise<Stream> {
    const stream: Stream = {
      branchId,
      timer: undefined,
      latest: undefined,
      draft: undefined,
      release: () => {},
    };
    this.#streams.set(id, stream);
    try {
      stream.release = await this.store.hold(this.chatId, id);
    } catch {
      // Without a lock other tabs may take the answer for interrupted; nothing that is written can be lost by that.
    }
    return stream;
  }

  #endStream(id: string): void {
    const stream = this.#streams.get(id);
    if (!stream) return;
    stopDrafts(stream);
    this.#streams.delete(id);
    stream.release();
  }

  #branchHolding(id: string): string {
    return lastUsedWith(this.#history.graph, this.#history.seenBranches(), id)?.id ?? this.#activeId;
  }

  /** A new version of a message beside the old one, without asking a model; resolves to its id. */
  async edit(id: string, content: MessageContent): Promise<string> {
    await this.ready();
    return this.#serial(async () => {
      const start = performance.now();
      await this.#recover();
      const info = this.#node(id);
      const words =
        typeof content === 'string' ? { parts: [{ type: 'text' as const, text: content }] } : content;
      const message = normaliseMessage({ ...words, id: createId(), role: info.name });
      const base = this.#history.forkBase(info.parentId, info.name, this.#active().name);
      const forkId = createId();
      const ops: StoreOp[] = [
        {
          op: 'insert',
          id: message.id,
          parentId: info.parentId,
          data: message,
          status: 'complete',
          createdAt: Date.now(),
        },
        { op: 'branch', id: forkId, base, messageId: message.id },
        { op: 'use', branchId: forkId },
      ];
      await this.#commit(ops, { keep: true });
      await this.#show(forkId);
      this.#emitBranch('create', forkId, start);
      this.#publish();
      return message.id;
    });
  }

  // ------------------------------------------------------------------ branches

  /** Makes a branch that ends at a message, and switches to it. Pending messages are dropped. */
  async rewind(messageId: string): Promise<BranchInfo> {
    await this.ready();
    return this.#serial(async () => this.#branchAt(this.#node(messageId).id, { use: true }));
  }

  /** Goes back to a checkpoint: makes a branch that ends there, and switches to it. */
  async restore(checkpoint: string): Promise<BranchInfo> {
    await this.ready();
    return this.#serial(async () =>
      this.#branchAt(this.#findCheckpoint(checkpoint).messageId, { use: true }),
    );
  }

  /** "By the way": makes a branch that ends where this one does, and stays. Pending messages stay too. */
  async btw(): Promise<BranchInfo> {
    await this.ready();
    return this.#serial(async () => {
      const head = this.#history.settledAt(this.#head());
      if (head === null)
        throw new ContextError('empty-branch', 'Cannot create btw branch: no messages in conversation');
      return this.#branchAt(head, { use: false });
    });
  }

  async #branchAt(messageId: string, { use }: { readonly use: boolean }): Promise<BranchInfo> {
    const start = performance.now();
    await this.#recover();
    const id = createId();
    const ops: StoreOp[] = [{ op: 'branch', id, base: this.#active().name, messageId }];
    await this.#commit(use ? [...ops, { op: 'use', branchId: id }] : ops);
    if (use) {
      this.#wait([]);
      await this.#show(id);
    }
    this.#emitBranch('create', id, start);
    this.#publish();
    return this.#infoOf(id);
  }

  /** Shows another branch. Pending messages are dropped. */
  async switchBranch(nameOrId: string): Promise<void> {
    await this.ready();
    return this.#serial(() => this.#switchTo(this.#findBranch(nameOrId).id, null, { drop: true }));
  }

  /** Shows a message: the branch whose head it is, or the branch used last that holds it, up to it. Makes no branch. */
  async checkout(id: string): Promise<void> {
    await this.ready();
    return this.#serial(async () => {
      this.#node(id);
      const seen = this.#history.seenBranches();
      const heads = seen.filter((branch) => branch.headMessageId === id);
      const branch =
        lastUsedWith(this.#history.graph, heads, id) ?? lastUsedWith(this.#history.graph, seen, id);
      await this.#switchTo(branch?.id ?? this.#activeId, branch?.headMessageId === id ? null : id);
    });
  }

  async #switchTo(
    branchId: string,
    at: string | null,
    { drop = false }: { readonly drop?: boolean } = {},
  ): Promise<void> {
    const start = performance.now();
    const from = this.#active().name;
    const isOther = branchId !== this.#activeId;
    if (isOther) await this.#commit([{ op: 'use', branchId }], { keep: true, quiet: true });
    if (drop) this.#wait([]);
    await this.#show(branchId, at);
    if (isOther) this.#emit({ type: 'switch', from, to: this.#active().name }, start);
    this.#publish();
  }

  /** Gives a branch another name. Rejects with `name-taken`. */
  async renameBranch(nameOrId: string, name: string): Promise<BranchInfo> {
    const to = checkName(name, 'branch');
    await this.ready();
    return this.#serial(async () => {
      const { id } = this.#findBranch(nameOrId);
      await this.#commit([{ op: 'rename-branch', id, name: to }]);
      this.#emitBranch('rename', id);
      this.#publish();
      return this.#infoOf(id);
    });
  }

  /** Deletes a branch; its messages stay where other branches hold them. The last one can't go (`last-branch`). */
  async deleteBranch(nameOrId: string): Promise<void> {
    await this.ready();
    return this.#serial(async () => {
      const { id } = this.#findBranch(nameOrId);
      await this.#commit([{ op: 'delete-branch', id }]);
      if (id === this.#activeId) {
        this.#wait([]);
        await this.#show(this.#branchToOpen());
      }
      this.#emitBranch('delete', id);
      this.#publish();
    });
  }

  // ------------------------------------------------------------------ checkpoints

  /** Names the head, or any message of the chat. A name that exists moves and keeps its id. */
  async checkpoint(name: string, options: { readonly at?: string } = {}): Promise<CheckpointInfo> {
    const to = checkName(name, 'checkpoint');
    await this.ready();
    return this.#serial(async () => {
      const messageId =
        options.at === undefined ? this.#history.settledAt(this.#head()) : this.#node(options.at).id;
      if (messageId === null)
        throw new ContextError('empty-branch', 'Cannot create checkpoint: no messages in conversation');
      await this.#commit([{ op: 'checkpoint', id: createId(), name: to, messageId }]);
      this.#emit({ type: 'checkpoint', action: 'create', name: to, messageId });
      this.#publish();
      return checkpointInfo(this.#findCheckpoint(to));
    });
  }

  /** Gives a checkpoint another name. Rejects with `name-taken`. */
  async renameCheckpoint(name: string, to: string): Promise<CheckpointInfo> {
    const next = checkName(to, 'checkpoint');
    await this.ready();
    return this.#serial(async () => {
      const { id, messageId } = this.#findCheckpoint(name);
      await this.#commit([{ op: 'rename-checkpoint', id, name: next }]);
      this.#emit({ type: 'checkpoint', action: 'rename', name: next, messageId });
      this.#publish();
      return checkpointInfo(this.#findCheckpoint(next));
    });
  }

  /** Deletes a checkpoint; the message that it named stays. */
  async deleteCheckpoint(name: string): Promise<void> {
    await this.ready();
    return this.#serial(async () => {
      const { id, messageId } = this.#findCheckpoint(name);
      await this.#commit([{ op: 'delete-checkpoint', id }]);
      this.#emit({ type: 'checkpoint', action: 'delete', name, messageId });
      this.#publish();
    });
  }

  // ------------------------------------------------------------------ versions

  /** The versions of a message that live branches reach, and its place among them. Total; equal until it changes. */
  siblings(id: string): Versions {
    return this.#history.versions(id);
  }

  /** Whether a message is whole, growing or cut short; undefined for an unknown one. */
  status(id: string): MessageStatus | undefined {
    return this.#history.graph.nodes.get(id)?.status;
  }

  /** Shows another version of a message: the branch used last among those that hold it. */
  async selectSibling(id: string): Promise<void> {
    await this.ready();
    return this.#serial(async () => {
      this.#node(id);
      const branch = lastUsedWith(this.#history.graph, this.#history.seenBranches(), id);
      if (!branch) throw messageNotFound(id);
      await this.#switchTo(branch.id, null);
    });
  }

  /** The places where the chat continues in more than one way, in the order in which they were made. */
  forks(): readonly Fork[] {
    return forksOf(this.#history.graph, this.#history.reached());
  }

  /** What is known of a message without its body: parent, role, status, depth; undefined for an unknown one. */
  node(id: string): NodeInfo | undefined {
    return this.#history.graph.nodes.get(id);
  }

  /** A message that is loaded; undefined otherwise. */
  message(id: string): UIMessage | undefined {
    return this.#history.body(id)?.data;
  }

  /** Loads earlier messages of the active chain into `state.messages`. */
  async loadMore(count: number = PAGE): Promise<void> {
    await this.ready();
    return this.#serial(async () => {
      await this.#loadShown(this.#shown.ids.length - this.#shown.from + count);
      this.#publish();
    });
  }

  // ------------------------------------------------------------------ the chat

  /** Changes the title (null takes it away) and merges metadata, shallow. */
  async updateChat(updates: {
    readonly title?: string | null;
    readonly metadata?: Readonly<Record<string, unknown>>;
  }): Promise<void> {
    await this.ready();
    return this.#serial(async () => {
      await this.#commit([{ op: 'chat', ...updates }]);
      this.#publish();
    });
  }

  /** Adds usage (numbers, nested ones too) to the chat's `metadata.usage`, atomically. */
  async trackUsage(usage: Readonly<Record<string, unknown>>): Promise<void> {
    await this.ready();
    return this.#serial(async () => {
      await this.#commit([{ op: 'chat', usage }], { keep: true });
      this.#publish();
    });
  }

  /** Everything that one needs to understand a prompt, as JSON: works offline, and at any message. */
  async inspect(options: InspectOptions = {}): Promise<ContextSnapshot> {
    const { systemPrompt, messages } = await this.resolve({ renderer: options.renderer, at: options.at });
    const pending =
      options.at === undefined ? this.#pending.map(({ fragment, content }) => ({ fragment, content })) : [];
    return takeSnapshot({
      options,
      systemPrompt,
      fragments: this.#prompt.list(),
      renderer: options.renderer ?? this.#renderer(),
      messages,
      pending,
      graph: this.graph(),
      chatId: this.chatId,
      branch: this.branch,
    });
  }

  /** The chat as a graph of previews. Complete once the engine is ready. */
  graph(): GraphData {
    const { graph, checkpoints } = this.#history;
    return graphData(
      this.chatId,
      graph.nodes.values(),
      this.#history.seenBranches(),
      checkpoints.values(),
      this.#activeId,
    );
  }

  // ------------------------------------------------------------------ listening

  /** Tells of what the engine does, as it does it. Returns the way to stop. */
  subscribe(listener: (event: ContextEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Lets a chat serve `edit` and `regenerate`; the last attached one does. Returns the way to detach it. */
  attach(chat: AttachedChat): () => void {
    const own = { chat };
    this.#attached = [...this.#attached, own];
    return () => {
      this.#attached = this.#attached.filter((other) => other !== own);
    };
  }

  /** A child in memory: the same fragments, no messages. */
  fork(): ContextEngine {
    const child = new ContextEngine({
      ...this.#options,
      store: new InMemoryContextStore(),
      chatId: createId(),
      persistFragments: false,
    });
    child.set(...this.#prompt.list());
    return child;
  }

  /** Stops listening, and being listened to. Streams go on, and their words are still saved, or tried again. */
  dispose(): void {
    this.#isDisposed = true;
    this.#stopListening();
    clearTimeout(this.#watchTimer);
    this.#listeners.clear();
  }

  #stopListening(): void {
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
  }

  // ------------------------------------------------------------------ writing

  /**
   * Tries again at once what could only be kept in memory, and a save() that was refused. Rejects with the reason when
   * it still can't be saved.
   */
  async retry(): Promise<void> {
    await this.ready();
    return this.#serial(async () => {
      const before = this.#saveState;
      try {
        await this.#flush();
      } catch (error) {
        this.#fail(asContextError(error), before);
        this.#publish();
        throw error;
      }
      await this.#refusedSave?.();
      if (this.#saveState.state === 'error') this.#succeed(before);
      this.#publish();
    });
  }

  #serial<T>(task: () => Promise<T>): Promise<T> {
    const run = this.#tail.then(task);
    this.#tail = run.catch(() => {});
    return run;
  }

  /** One transaction, after what still waits for one. The result is taken in; the caller publishes it. */
  async #commit(
    ops: readonly StoreOp[],
    { keep = false, quiet = false, again }: CommitOptions = {},
  ): Promise<void> {
    const before = this.#saveState;
    if (!quiet) this.#publishSaveState({ state: 'saving', pending: this.#outbox.count });
    if (again) this.#refusedSave = undefined;
    try {
      await this.#flush();
      await this.#append(ops);
      this.#succeed(before);
    } catch (error) {
      if (keep && isRefusal(error)) return this.#keepInMemory(ops, error);
      if (again && isRefusal(error)) this.#refusedSave = again;
      this.#fail(asContextError(error), before);
      this.#publish();
      throw error;
    }
  }

  async #append(
    ops: readonly StoreOp[],
    onConflict: ConflictPolicy = this.#options.onConflict ?? 'fork',
  ): Promise<void> {
    if (this.#gone) throw this.#gone;
    this.#writing += 1;
    try {
      const result = await this.store.append(
        this.chatId,
        this.#withMetadata(ops),
        this.#appendOptions(onConflict),
      );
      this.#ownChanges.add(result.seq);
      this.#isMetadataMerged = true;
      await this.#absorbOwn(
        result,
        headsIn(ops).filter((branchId) => !this.#outbox.movesHead(branchId)),
      );
    } catch (error) {
      if (isContextError(error, 'chat-deleted')) this.#deleted(error);
      throw error;
    } finally {
      this.#writing -= 1;
      this.#settleNotices();
    }
  }

  #withMetadata(ops: readonly StoreOp[]): readonly StoreOp[] {
    const { metadata } = this.#options;
    return metadata && !this.#isMetadataMerged ? [...ops, { op: 'chat', metadata }] : ops;
  }

  #appendOptions(onConflict: ConflictPolicy): AppendOptions {
    const epoch = this.#history.chat?.epoch ?? this.#epoch;
    return { userId: this.userId, epoch, mainBranchId: this.#mainBranchId, onConflict };
  }

  /** What the disk refused is carried out here, and tried again in a while. */
  async #keepInMemory(ops: readonly StoreOp[], error: ContextError): Promise<void> {
    const result = await applyLocally(this.#history, this.chatId, ops, this.#appendOptions('fork'));
    this.#outbox.add(ops);
    await this.#absorbOwn(result, headsIn(ops));
    this.#fail(error, this.#saveState);
    this.#scheduleRetry();
  }

  /**
   * Writes what was kept in memory, first to last. Rejects with the first refusal; the rest waits. Where another tab
   * was faster, kept turns go to a branch of their own, even if conflicts are errors: whoever sent them is not there
   * to decide any more.
   */
  async #flush(): Promise<void> {
    const onConflict = this.#options.onConflict === 'rebase' ? 'rebase' : 'fork';
    if (!this.#outbox.isEmpty) await this.#recover();
    while (!this.#outbox.isEmpty) await this.#outbox.sendFirst((ops) => this.#append(ops, onConflict));
  }

  #scheduleRetry(): void {
    if (this.#retryTimer !== undefined) return;
    this.#retryTimer = setTimeout(() => {
      this.#retryTimer = undefined;
      this.retry().catch(() => this.#scheduleRetry());
    }, this.#retryDelay);
    this.#retryDelay = Math.min(this.#retryDelay * 2, RETRY_LAST);
  }

  /** What waits from now on. Where nothing does, no refused save() is left either. */
  #wait(pending: readonly Pending[]): void {
    this.#pending = pending;
    if (pending.length > 0 || !this.#refusedSave) return;
    this.#refusedSave = undefined;
    if (this.#outbox.isEmpty) this.#setSaveState(SAVED);
  }

  /** The disk took it. A save() that it refused before may wait still. */
  #succeed(before: SaveState): void {
    clearTimeout(this.#retryTimer);
    this.#retryTimer = undefined;
    this.#retryDelay = RETRY_FIRST;
    this.#setSaveState(this.#unsavedCount === 0 ? SAVED : before);
  }

  /** It did not happen. That concerns what is saved only if something stays unsaved by it. */
  #fail(error: ContextError, before: SaveState): void {
    this.#emit({ type: 'error', code: error.code, message: error.message });
    const pending = this.#unsavedCount;
    if (pending > 0 || !this.#outbox.isEmpty)
      this.#setSaveState(isRefusal(error) ? { state: 'error', error, pending } : before);
    else this.#setSaveState(before.state === 'error' ? SAVED : before);
  }

  /** Messages that should be saved and are not. */
  get #unsavedCount(): number {
    return this.#outbox.count + (this.#refusedSave ? this.#pending.length : 0);
  }

  #setSaveState(next: SaveState): void {
    const { state, error, pending } = this.#saveState;
    const isSame = state === next.state && pending === next.pending && error?.message === next.error?.message;
    if (!isSame) this.#saveState = next;
  }

  #publishSaveState(next: SaveState): void {
    this.#setSaveState(next);
    this.#zustand.setState({ saveState: this.#saveState });
  }

  /**
   * Stores what a tab that died left behind: answers that were cut off become interrupted, ones that never began are
   * taken back. Another tab may do the same at the same moment, or go on with the answer; then it is done.
   */
  async #recover(): Promise<void> {
    if (this.#history.abandoned.size === 0) return;
    const held = await this.store.held(this.chatId);
    const ids = [...this.#history.abandoned].filter((id) => !held.has(id));
    await this.#loadBodies(ids);
    try {
      await this.#append(ids.map((id) => this.#endOp(id)));
    } catch (error) {
      if (isRefusal(error)) return;
      if (!isContextError(error, 'head-moved') && !isContextError(error, 'message-not-found')) throw error;
      await this.#pull();
    }
  }

  #endOp(id: string): StoreOp {
    const node = this.#history.body(id);
    if (!node || node.data.parts.length === 0) return this.#silentEnd(id);
    return { op: 'replace', id, data: node.data, status: 'interrupted', rev: node.rev };
  }

  // ------------------------------------------------------------------ taking in

  /** Takes in what this engine wrote; the views of the branches that it `moved` go with it. */
  async #absorbOwn(result: AppendResult, moved: readonly string[]): Promise<void> {
    this.#absorb(result, { held: new Set(this.#history.foreign), own: this.#own() });
    this.#history.keep(result.written);
    this.#history.follow(this.#own(), (branchId) => moved.includes(branchId) || this.#mayFollow(branchId));
    if (result.conflict) await this.#followConflict(result.conflict, moved);
    if (moved.includes(this.#activeId) && !this.#history.branches.has(this.#activeId))
      this.#activeId = this.#branchToOpen();
    await this.#refresh();
  }

  async #followConflict(
    { policy, from, to }: NonNullable<AppendResult['conflict']>,
    moved: readonly string[],
  ): Promise<void> {
    const isActive = this.#activeId === from.id || moved.includes(this.#activeId);
    const view = this.#history.view(from.id);
    this.#outbox.redirect(from.id, to.id);
    if (this.#outbox.movesHead(to.id)) this.#history.look(to.id, view);
    await this.#pull();
    if (isActive) await this.#show(to.id);
    this.#emit({ type: 'conflict', policy, from: from.name, to: to.name, toId: to.id });
  }

  /** Takes in what others did. */
  async #catchUp(): Promise<void> {
    await this.#pull();
    await this.#refresh();
  }

  /** Reads what changed since, whoever changed it. */
  async #pull(): Promise<void> {
    const records = await this.store.load(this.chatId, this.#history.seq);
    if (!this.#isGone(records.chat)) return this.#absorbRemote(records);
    this.#history.seq = records.seq;
    this.#deleted(chatDeleted(this.chatId));
  }

  /** Whether the chat that this engine opened is deleted, even if another one has its id by now. */
  #isGone(chat: Chat | undefined): boolean {
    const epoch = this.#history.chat?.epoch ?? this.#epoch;
    return (
      chat !== undefined && (chat.epoch > epoch || (chat.epoch === epoch && chat.deletedAt !== undefined))
    );
  }

  async #absorbRemote(records: ChatRecords): Promise<void> {
    const isWatched = records.nodes.some(({ status }) => status === 'streaming');
    const held = isWatched ? await this.store.held(this.chatId) : new Set<string>();
    this.#absorb(records, { held, own: this.#own() });
    this.#history.seq = Math.max(this.#history.seq, records.seq);
    if (records.chat && this.#zustand.getState().error?.code === 'chat-deleted') this.#revive();
    this.#watch();
  }

  #absorb(records: ChatRecords, busy: Busy): void {
    const changed = this.#history.absorb(records, busy);
    for (const id of changed) this.#chains.cut(id);
    if (changed.length > 0 || records.branches.length > 0) this.#revision += 1;
  }

  /** The messages on which this engine has the last word for now. */
  #own(): Set<string> {
    return new Set([...this.#streams.keys(), ...this.#outbox.messageIds()]);
  }

  /** A view moves with another tab's turn only when nothing of this engine's is under way on the branch. */
  #mayFollow(branchId: string): boolean {
    if (branchId === this.#activeId && this.#pending.length > 0) return false;
    if (this.#outbox.movesHead(branchId)) return false;
    return ![...this.#streams.values()].some((stream) => stream.branchId === branchId);
  }

  /** A tab that dies says nothing: while another one streams, look from time to time whether it still does. */
  #watch(): void {
    if (this.#history.foreign.size === 0 || this.#watchTimer !== undefined || this.#isDisposed) return;
    this.#watchTimer = setTimeout(() => {
      this.#watchTimer = undefined;
      this.#inBackground(() => this.#lookAtForeign());
    }, WATCH_INTERVAL);
  }

  async #lookAtForeign(): Promise<void> {
    const held = await this.store.held(this.chatId);
    const ids = [...this.#history.foreign].filter((id) => !held.has(id));
    if (ids.length > 0) {
      await this.#absorbRemote(await this.store.load(this.chatId));
      await this.#refresh();
    }
    this.#watch();
  }

  #hear(notice: StoreNotice): void {
    if (notice.chatId !== undefined && notice.chatId !== this.chatId) return;
    if (notice.kind === 'draft' || this.#gone) return;
    if (notice.kind === 'clear') return this.#cleared();
    this.#notices.add(notice.seq);
    this.#settleNotices();
  }

  /** Everything is gone, and the store has no memory of this chat that could refuse its writes. */
  #cleared(): void {
    if (!this.#history.chat) return;
    this.#gone = chatDeleted(this.chatId);
    this.#deleted(this.#gone);
  }

  /** Drops the notices of our own writes, and reads what the others did. */
  #settleNotices(): void {
    if (this.#writing > 0 || !this.#isOpen) return;
    for (const seq of this.#ownChanges) if (this.#notices.delete(seq)) this.#ownChanges.delete(seq);
    if (this.#notices.size === 0) return;
    this.#notices.clear();
    this.#inBackground(() => this.#catchUp());
  }

  /** Does what nobody waits for, and shows it. */
  #inBackground(task: () => Promise<void>): void {
    const run = this.#serial(async () => {
      await task();
      this.#publish();
    });
    run.catch((error: unknown) => this.#reportQuietly(error));
  }

  #reportQuietly(error: unknown): void {
    const { code, message } = asContextError(error);
    this.#emit({ type: 'error', code, message });
  }

  #deleted(error: ContextError): void {
    for (const id of this.#streams.keys()) this.#endStream(id);
    if (this.#zustand.getState().error?.code === error.code) return;
    this.#publish({ status: 'error', error });
    this.#emit({ type: 'error', code: error.code, message: error.message });
  }

  #revive(): void {
    this.#zustand.setState({ status: 'ready', error: null });
  }

  // ------------------------------------------------------------------ what is shown

  #active(): Pick<Branch, 'id' | 'name'> {
    return this.#history.branches.get(this.#activeId) ?? { id: this.#activeId, name: 'main' };
  }

  /** Shows a branch, up to its head or to `at`, with its last messages loaded. */
  async #show(branchId: string, at: string | null = null): Promise<void> {
    this.#activeId = branchId;
    this.#at = at;
    await this.#refresh();
  }

  /** Lets the views follow what is settled elsewhere, leaves a branch that is gone, and loads what is shown. */
  async #refresh(): Promise<void> {
    if (this.#history.follow(this.#own(), (branchId) => this.#mayFollow(branchId))) this.#revision += 1;
    if (this.#isAdrift) [this.#activeId, this.#at] = [this.#branchToOpen(), null];
    if (this.#at !== null && this.#isPassed(this.#at)) this.#at = null;
    await this.#loadShown(0);
  }

  /** Whether the branch shown was deleted by another tab, or never came to be, because another tab made `main` first. */
  get #isAdrift(): boolean {
    const { chat, branches } = this.#history;
    const active = branches.get(this.#activeId);
    return (
      chat !== undefined && (!active || active.deletedAt !== undefined) && this.#mayFollow(this.#activeId)
    );
  }

  /** Whether a message checked out is no longer one before the head: it is the head by now, or it was taken back. */
  #isPassed(id: string): boolean {
    return this.#history.view(this.#activeId) === id || !this.#history.graph.nodes.has(id);
  }

  #headOf(branchId: string): string | null {
    return branchId === this.#activeId ? this.#head() : this.#history.view(branchId);
  }

  #head(): string | null {
    return this.#at ?? this.#history.view(this.#activeId);
  }

  /** Brings the shown chain up to date and loads its last messages: at least `count`, or as many as were loaded. */
  async #loadShown(count: number): Promise<void> {
    const { head, ids, shared } = this.#chainTo(this.#head());
    const kept = this.#shown.from < shared ? this.#shown.from : Math.max(0, ids.length - PAGE);
    const from = Math.min(kept, Math.max(0, ids.length - count));
    this.#shown = { head, ids, from, moves: this.#history.moves };
    await this.#loadBodies(ids.slice(from));
  }

  /** The chain of a head, made from the shown one where they share a beginning. */
  #chainTo(head: string | null): {
    readonly head: string | null;
    readonly ids: readonly string[];
    readonly shared: number;
  } {
    const { graph, moves } = this.#history;
    const { ids, head: before } = this.#shown;
    if (moves === this.#shown.moves) {
      if (head === before) return { head, ids, shared: ids.length };
      const added = chainIds(graph, head, before);
      if (before !== null && graph.nodes.get(added[0] ?? '')?.parentId === before)
        return { head, ids: [...ids, ...added], shared: ids.length };
    }
    const whole = chainIds(graph, head);
    let shared = 0;
    while (shared < whole.length && whole[shared] === ids[shared]) shared += 1;
    return { head, ids: whole, shared };
  }

  async #loadBodies(ids: readonly string[]): Promise<void> {
    const missing = this.#history.missing(ids);
    if (missing.length > 0) this.#history.keep(await this.store.getNodes(this.chatId, missing));
  }

  /** The one door for state: computes it from what is known, keeps what is equal, and sets it once. */
  #publish(patch: Partial<EngineState> = {}): void {
    const before = this.#zustand.getState();
    const next: EngineState = { ...before, ...this.#slices(before), ...patch };
    const keys = Object.keys(next) as (keyof EngineState)[];
    if (keys.some((key) => next[key] !== before[key])) this.#zustand.setState(next, true);
  }

  #slices(before: EngineState): Partial<EngineState> {
    const history = this.#history;
    const branches = history.seenBranches().map((branch) => this.#branchInfo(branch, before.branches));
    const checkpoints = history
      .liveCheckpoints()
      .map((one) => reuse(before.checkpoints, checkpointInfo(one)));
    return {
      chat: sameJson(before.chat, history.chat) ? before.chat : (history.chat ?? null),
      branch: this.#active().name,
      branchId: this.#activeId,
      headMessageId: this.#head() ?? undefined,
      detached: this.#at !== null,
      branches: keepIfSame(before.branches, branches),
      checkpoints: keepIfSame(before.checkpoints, checkpoints),
      messages: keepIfSame(before.messages, this.#shownMessages()),
      loadedFrom: this.#shown.from,
      pending: keepIfSame(
        before.pending,
        this.#pending.map(({ fragment }) => fragment),
      ),
      fragments: keepIfSame(before.fragments, this.#prompt.list()),
      saveState: this.#saveState,
      persistence: this.store.persistence,
      revision: this.#revision,
    };
  }

  #shownMessages(): UIMessage[] {
    const { nodes } = this.#history.graph;
    return this.#shown.ids.slice(this.#shown.from).flatMap((id) => {
      const info = nodes.get(id);
      return info && isVisible(info) ? (this.#history.body(id)?.data ?? []) : [];
    });
  }

  #branchInfo(branch: Branch, known: readonly BranchInfo[]): BranchInfo {
    const { id, name, headMessageId, createdAt } = branch;
    const messageCount =
      headMessageId === null
        ? 0
        : (this.#history.graph.nodes.get(headMessageId)?.depth ?? branch.messageCount);
    return reuse(known, {
      id,
      name,
      headMessageId,
      isActive: id === this.#activeId,
      messageCount,
      createdAt,
    });
  }

  #infoOf(branchId: string): BranchInfo {
    return this.#zustand.getState().branches.find(({ id }) => id === branchId) as BranchInfo;
  }

  // ------------------------------------------------------------------ looking up

  #node(id: string): NodeInfo {
    const info = this.#history.graph.nodes.get(id);
    if (!info) throw messageNotFound(id);
    return info;
  }

  #branchOrActive(nameOrId: string | undefined): Branch {
    if (nameOrId !== undefined && nameOrId !== this.#activeId) return this.#findBranch(nameOrId);
    const active = this.#history.branches.get(this.#activeId);
    return active ?? ({ id: this.#activeId, name: 'main', headMessageId: null } as Branch);
  }

  #findBranch(nameOrId: string): Branch {
    const branch = this.#history.findBranch(nameOrId);
    if (branch) return branch;
    throw new ContextError('branch-not-found', `Branch "${nameOrId}" not found in chat "${this.chatId}"`, {
      details: { chatId: this.chatId, branch: nameOrId },
    });
  }

  #findCheckpoint(name: string): Checkpoint {
    const checkpoint = this.#history.findCheckpoint(name);
    if (checkpoint) return checkpoint;
    throw new ContextError(
      'checkpoint-not-found',
      `Checkpoint "${name}" not found in chat "${this.chatId}"`,
      {
        details: { chatId: this.chatId, checkpoint: name },
      },
    );
  }

  #branchName(id: string | undefined): string {
    return (id === undefined ? undefined : this.#history.branches.get(id)?.name) ?? this.#active().name;
  }

  #emitBranch(action: 'create' | 'rename' | 'delete', id: string, start?: number): void {
    const name = this.#history.branches.get(id)?.name ?? id;
    this.#emit({ type: 'branch', action, name, id }, start);
  }

  /** A listener that throws is not this engine's failure, and keeps nobody else from hearing. */
  #emit(event: EventBody, start?: number): void {
    const ms = start === undefined ? 0 : performance.now() - start;
    for (const listener of this.#listeners) {
      try {
        listener({ ...event, at: Date.now(), ms });
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}

const SAVED: SaveState = { state: 'saved', pending: 0 };

interface CommitOptions {
  /** When the disk refuses: carry it out in memory and try again later, instead of rejecting. */
  readonly keep?: boolean;
  /** Don't say that something is being saved: nothing is. */
  readonly quiet?: boolean;
  /** When the disk refuses: what `retry()` is to do again. */
  readonly again?: () => Promise<unknown>;
}

/** The chain shown: all of its ids, root first, and the index of the first one that is loaded. */
interface Shown {
  readonly head: string | null;
  readonly ids: readonly string[];
  readonly from: number;
  /** The {@link History.moves} for which this is true. */
  readonly moves: number;
}

/** An answer that this engine streams. */
interface Stream {
  branchId: string;
  timer: ReturnType<typeof setTimeout> | undefined;
  /** The newest words, not yet in a draft. */
  latest: UIMessage | undefined;
  /** The draft that is being written. */
  draft: Promise<void> | undefined;
  /** Lets go of the lock. */
  release: () => void;
}

/** A message in the pending lane: the fragment as the state shows it, and what it will be saved as. */
interface Pending {
  readonly original: ContextFragment;
  readonly fragment: ContextFragment;
  readonly content: PendingMessage;
}

type EventBody = ContextEvent extends infer E ? (E extends unknown ? Omit<E, 'at' | 'ms'> : never) : never;

function pendingOf(fragment: ContextFragment): Pending {
  const persist = fragment.persist !== false;
  const lazy = isLazyFragment(fragment) ? fragment[LAZY_ID] : undefined;
  const content: PendingMessage = lazy
    ? { kind: 'last-assistant', text: lazy.content, persist }
    : { kind: 'message', message: messageOf(fragment), persist };
  return { original: fragment, fragment: { ...fragment }, content };
}

function keepIfSame<T>(before: readonly T[], now: readonly T[]): readonly T[] {
  return sameItems(before, now) ? before : now;
}

function reuse<T extends { readonly id: string }>(known: readonly T[], next: T): T {
  const old = known.find(({ id }) => id === next.id);
  return old && (Object.keys(next) as (keyof T)[]).every((key) => old[key] === next[key]) ? old : next;
}

function checkpointInfo({ id, name, messageId, createdAt }: Checkpoint): CheckpointInfo {
  return { id, name, messageId, createdAt };
}

function checkName(name: string, what: string): string {
  const trimmed = name.trim();
  if (trimmed) return trimmed;
  throw new ContextError('invalid-options', `A ${what} needs a name: got ${JSON.stringify(name)}.`, {
    details: { name },
  });
}

function phaseOf(before: MessageStatus, after: MessageStatus): 'start' | 'draft' | 'end' {
  if (after !== 'streaming') return 'end';
  return before === 'streaming' ? 'draft' : 'start';
}

/** A chain of new messages under a parent; the last one, the answer, is reserved. */
function insertsOf(parentId: string | null, messages: readonly UIMessage[]): StoreOp[] {
  const createdAt = Date.now();
  return messages.map((data, i) => ({
    op: 'insert',
    id: data.id,
    parentId: messages[i - 1]?.id ?? parentId,
    data,
    status: i === messages.length - 1 ? 'streaming' : 'complete',
    createdAt,
  }));
}

/** Marks the branch that a turn goes to as the one shown last. */
function showing(ops: readonly StoreOp[], branchId: string): StoreOp {
  const made = ops.find((op) => op.op === 'branch');
  return { op: 'use', branchId: made?.id ?? branchId };
}

/** The branches whose heads these operations move. */
function headsIn(ops: readonly StoreOp[]): string[] {
  return ops.flatMap((op) => (op.op === 'head' ? [op.branchId] : []));
}

/** An answer that another tab took for dead and took back is put in its place again. */
function backOps(
  { id, parentId, createdAt }: NodeInfo,
  data: UIMessage,
  status: MessageStatus,
  branchId: string,
): StoreOp[] {
  return [
    { op: 'insert', id, parentId, data, status, createdAt },
    { op: 'head', branchId, expected: parentId, messageId: id, forkId: createId() },
  ];
}

/** What was said and not drafted yet is not drafted any more. */
function stopDrafts(stream: Stream): void {
  clearTimeout(stream.timer);
  stream.timer = undefined;
  stream.latest = undefined;
}

/** How many chats with this id were deleted before the one that a first write would begin. */
function nextEpoch(chat: Chat | undefined): number {
  if (!chat) return 0;
  return chat.deletedAt === undefined ? chat.epoch : chat.epoch + 1;
}

function messageNotFound(id: string): ContextError {
  return new ContextError('message-not-found', `Message "${id}" not found`, { details: { id } });
}

function chatDeleted(chatId: string): ContextError {
  return new ContextError('chat-deleted', `Chat "${chatId}" was deleted in another tab.`, {
    details: { chatId },
  });
}

function asContextError(error: unknown): ContextError {
  if (isContextError(error)) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new ContextError('invariant', `Unexpected failure: ${reason}`, { cause: error });
}

function fragmentsKey(chatId: string): string {
  return `contextree:fragments:${chatId}`;
}
