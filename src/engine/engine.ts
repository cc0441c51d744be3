import type { UIMessage } from 'ai';
import type { StoreApi } from 'zustand/vanilla';
import { ContextError, expectListener, refuseToLoad } from '../errors.ts';
import type { ContextFragment } from '../fragment/fragment.ts';
import { createId } from '../fragment/id.ts';
import { normaliseMessage } from '../fragment/message.ts';
import type { Chat, Fork, MessageStatus, NodeInfo } from '../graph/graph.ts';
import type { Finding } from '../graph/verify.ts';
import type { GraphData } from '../graph/visualize.ts';
import type { ContextRenderer } from '../render/renderer.ts';
import { InMemoryContextStore } from '../store/memory.ts';
import type { BranchInfo, CheckpointInfo, ConflictPolicy, ContextStore } from '../store/store.ts';
import type { EstimateResult } from '../tokens/estimate.ts';
import { asContextError, Desk, expectRenderer, pendingOf, type Pending } from './desk.ts';
import type { Versions } from './history.ts';
import type { ContextSnapshot, EstimateOptions, InspectOptions } from './inspect.ts';
import { splitLanes } from './prompt.ts';
import type { Repair } from './repair.ts';
import type { Session } from './session.ts';
import { NO_VERSIONS, type ContextEvent, type EngineState } from './state.ts';

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
  /** What the answer says already, where it goes on from another one: it shows at once. Default: nothing. */
  readonly answer?: UIMessage | undefined;
  /**
   * Whether another tab may be saving this very turn at this moment: it is saved once, and the other tab is refused with
   * `busy`. Default: true where nothing is added but the answer.
   */
  readonly isSole?: boolean | undefined;
}

/** New words for a message: its text, or its parts. */
export type MessageContent = string | { readonly parts: UIMessage['parts']; readonly metadata?: unknown };

/** A chat that can ask a model: what `contextree/ai` attaches. */
export interface AttachedChat {
  /** Sends new words in place of a message, as a new version of it. */
  edit(messageId: string, content: MessageContent): Promise<void>;
  /** Asks again: a new version of this answer, or a new answer to this question. */
  regenerate(messageId: string, options?: object): Promise<void>;
  /** Whether something that was sent is not answered yet: it grows, waits for its turn, or is about to go on. */
  readonly isBusy?: boolean;
}

/**
 * One chat, as one tab works on it: the fragments of its prompt, the messages that wait, and the graph behind them.
 *
 * Nothing is read before the first asynchronous method, and nothing is written before the first write. Each method is
 * one transaction of the store and one `setState`; methods run one after another in the order in which they were
 * called. What the state shows is saved, or `saveState` says that it is not.
 *
 * This class is the face of the engine. A page paints before it reads, so what painting takes is here, and what reading
 * takes is a {@link Session}, whose code comes with the first asynchronous method. Questions that are answered at once
 * have their empty answers until then.
 */
export class ContextEngine {
  readonly chatId: string;
  readonly userId: string;
  readonly store: ContextStore;
  /** The observable face of the engine, for hooks and devtools. Read only. */
  readonly state: Pick<StoreApi<EngineState>, 'getState' | 'getInitialState' | 'subscribe'>;

  readonly #desk: Desk;
  #session: Session | undefined;
  #opening: Promise<Session> | undefined;
  #ready: Promise<void> | undefined;
  #unsubscribe: (() => void) | undefined;
  #attached: readonly { readonly chat: AttachedChat }[] = [];

  constructor(options: ContextEngineOptions) {
    if (!options.chatId) throw new ContextError('invalid-options', 'chatId is required');
    if (!options.userId) throw new ContextError('invalid-options', 'userId is required');
    this.#desk = new Desk(options);
    this.chatId = options.chatId;
    this.userId = options.userId;
    this.store = this.#desk.store;
    this.state = this.#desk.state;
  }

  // ------------------------------------------------------------------ what it is

  /** The name of the active branch; `main` until the chat is read. */
  get branch(): string {
    return this.state.getState().branch;
  }

  /** The last message shown; undefined when there is none, or the chat is not read yet. */
  get headMessageId(): string | undefined {
    return this.state.getState().headMessageId;
  }

  /** The chat's row; null until it is read, and for a chat that nothing was saved to. */
  get chat(): Chat | null {
    return this.state.getState().chat;
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
    this.#ready ??= this.#opened().then(() => undefined);
    return this.#ready;
  }

  /** The session, once its code has come and the chat is read. */
  #opened(): Promise<Session> {
    this.#opening ??= this.#open().catch((error: unknown) => {
      this.#opening = undefined;
      this.#ready = undefined;
      this.#stopListening();
      this.#desk.publish({ status: 'error', error: asContextError(error) });
      throw error;
    });
    return this.#opening;
  }

  async #open(): Promise<Session> {
    this.#session ??= await loadSession(this.#desk);
    // Before the first read, so that nothing which others write meanwhile is missed.
    if (!this.#desk.isDisposed)
      this.#unsubscribe ??= this.store.subscribe((notice) => this.#session?.hear(notice));
    await this.#session.open();
    return this.#session;
  }

  // ------------------------------------------------------------------ fragments

  /**
   * Adds fragments: messages wait in the pending lane for `save()`, all others join the system prompt.
   * Copies them. Throws `invalid-fragment` or `invalid-messages` for what can't be kept, and then adds none of them.
   */
  set(...fragments: ContextFragment[]): this {
    const { messages, context } = splitLanes(fragments);
    const pending = messages.map(pendingOf);
    this.#desk.prompt.add(context);
    this.#desk.pending = [...this.#desk.pending, ...pending];
    this.#desk.publish();
    this.#desk.emit({ type: 'set', fragments: context.length, messages: pending.length });
    return this;
  }

  /** Takes fragments out again: those with this id, or this very fragment, from both lanes. */
  unset(idOrFragment: string | ContextFragment): this {
    const is = ({ fragment, original }: Pending): boolean =>
      original === idOrFragment || (typeof idOrFragment === 'string' && fragment.id === idOrFragment);
    const waited = this.#desk.pending.length;
    this.#desk.pending = this.#desk.pending.filter((pending) => !is(pending));
    this.#desk.prompt.remove(idOrFragment);
    this.#desk.publish();
    if (this.#desk.pending.length < waited) this.#session?.follow();
    return this;
  }

  /** Takes all fragments out of the system prompt, but for those of mounted components. Pending messages stay. */
  clear(): this {
    this.#desk.prompt.clear();
    this.#desk.publish();
    return this;
  }

  /** Puts the fragments of a mounted component into the prompt, after those of `set()`, in the order of `order`. */
  mountFragments(owner: object, order: number, fragments: readonly ContextFragment[]): void {
    this.#desk.prompt.mount(owner, order, fragments);
    this.#desk.publish();
  }

  /** Takes the fragments of a component out again. */
  unmountFragments(owner: object): void {
    if (this.#desk.prompt.unmount(owner)) this.#desk.publish();
  }

  /** What renders where no renderer is asked for. */
  get renderer(): ContextRenderer {
    return this.#desk.renderer;
  }

  /**
   * Renders the fragments, synchronously. Throws `invalid-fragment` with the path of a lazy value: use `resolve()`;
   * `invalid-options` for what is no renderer.
   */
  render(renderer: ContextRenderer = this.#desk.renderer): string {
    return expectRenderer(renderer).render(this.#desk.prompt.list());
  }

  // ------------------------------------------------------------------ resolve and save

  /**
   * The system prompt and the messages for a model call: what is saved, followed by what is pending, exactly as a
   * `save()` would write it. Lazy fragments are loaded each time. Costs what is new since the last call.
   * Messages are the stored objects: don't change them.
   */
  async resolve(options?: ResolveOptions): Promise<ResolveResult> {
    const start = performance.now();
    return (await this.#opened()).resolve(options, start);
  }

  /**
   * Writes all pending messages in one transaction. A changed message whose id is known forks, unless `branch: false`
   * replaces it where it is. Nothing pending: nothing is written, but for a chat that does not exist yet.
   * Rejects with what the store says, and with `invalid-options` for a `branch` that is a name: messages go to the
   * active branch, see `switchBranch()`. They are then pending still.
   */
  async save(options?: { readonly branch?: boolean }): Promise<SaveResult> {
    const { pending } = this.#desk;
    return (await this.#opened()).save(options, pending);
  }

  // ------------------------------------------------------------------ turns that stream

  /**
   * A turn (usually one user message) and a reserved answer, in one durable transaction; resolves to the answer's id,
   * which is then the head. The answer shows nowhere until its first part. A last message that is known and equal is
   * not written again: only an answer is reserved beneath it; nor need there be any where `parentId` tells what is
   * answered. Other words under a known id make a version of that message, where it hangs on one of the branch, or else a
   * new message behind the branch's head. Where the turn does not hang on that head, a new branch is made; a branch that
   * another tab deleted comes back with it, and is shown. On a disk that refuses it resolves all the same, and the turn is
   * kept in memory. Rejects with `busy` where another answer to a saved question is asked for while another tab is writing
   * one, or where an answer grows here under the id that this one is to have.
   */
  async continue(message: UIMessage | readonly UIMessage[], options?: ContinueOptions): Promise<string> {
    const turn = [message].flat().map((one) => normaliseMessage(one));
    return (await this.#opened()).continue(turn, options);
  }

  /**
   * New words for a message that this tab streams or owns. `streaming`: a draft, at most two a second reach the disk;
   * `complete` and `interrupted` end the turn, durably; without a status, a durable update that keeps it (a tool's
   * result, a finished step). A function makes the new words of those that are saved; it is called again when another
   * tab has changed them first.
   * A settled message becomes `streaming` again when an answer is continued: in one tab, the others are refused with
   * `busy` until it ends. An answer that ends without a word is taken back, and the head with it. One that got another id,
   * because its own is that of another tab's message, may be given by the old one while it grows, and where it is shown and
   * that message is not. Rejects with `message-not-found`, with `invalid-messages`, with `head-moved` for words that another
   * tab has changed meanwhile, and with `invalid-options` for a settled message that is to end once more; a refusing disk
   * does not reject: the words stay in memory and are tried again.
   */
  async updateMessage(
    id: string,
    message: UIMessage | ((saved: UIMessage) => UIMessage),
    status?: MessageStatus,
  ): Promise<void> {
    const data = typeof message === 'function' ? message : normaliseMessage({ ...message, id });
    return (await this.#opened()).updateMessage(id, data, status);
  }

  /** A new version of a message beside the old one, without asking a model; resolves to its id. */
  async edit(id: string, content: MessageContent): Promise<string> {
    return (await this.#opened()).edit(id, content);
  }

  // ------------------------------------------------------------------ branches

  /** Makes a branch that ends at a message, and switches to it. Pending messages are dropped. */
  async rewind(messageId: string): Promise<BranchInfo> {
    const { pending } = this.#desk;
    return (await this.#opened()).rewind(messageId, pending);
  }

  /** Goes back to a checkpoint: makes a branch that ends there, and switches to it. */
  async restore(checkpoint: string): Promise<BranchInfo> {
    const { pending } = this.#desk;
    return (await this.#opened()).restore(checkpoint, pending);
  }

  /** "By the way": makes a branch that ends where this one does, and stays. Pending messages stay too. */
  async btw(): Promise<BranchInfo> {
    return (await this.#opened()).btw();
  }

  /**
   * Shows another branch as soon as its words are here, and resolves when it is stored which one is shown. Pending messages
   * are dropped, once it is. Where it is refused, the view goes back to what was shown, or to the last switch before it that
   * was not; it stays where a later one is shown by then.
   */
  async switchBranch(nameOrId: string): Promise<void> {
    const { pending } = this.#desk;
    return (await this.#opened()).switchBranch(nameOrId, pending);
  }

  /** Shows a message: the branch whose head it is, or the branch used last that holds it, up to it. Makes no branch. */
  async checkout(id: string): Promise<void> {
    return (await this.#opened()).checkout(id);
  }

  /** Gives a branch another name. Rejects with `name-taken`. */
  async renameBranch(nameOrId: string, name: string): Promise<BranchInfo> {
    return (await this.#opened()).renameBranch(nameOrId, name);
  }

  /** Deletes a branch; its messages stay where other branches hold them. The last one can't go (`last-branch`). */
  async deleteBranch(nameOrId: string): Promise<void> {
    const { pending } = this.#desk;
    return (await this.#opened()).deleteBranch(nameOrId, pending);
  }

  // ------------------------------------------------------------------ checkpoints

  /** Names the head, or any message of the chat. A name that exists moves and keeps its id. */
  async checkpoint(name: string, options?: { readonly at?: string }): Promise<CheckpointInfo> {
    return (await this.#opened()).checkpoint(name, options);
  }

  /** Gives a checkpoint another name. Rejects with `name-taken`. */
  async renameCheckpoint(name: string, to: string): Promise<CheckpointInfo> {
    return (await this.#opened()).renameCheckpoint(name, to);
  }

  /** Deletes a checkpoint; the message that it named stays. */
  async deleteCheckpoint(name: string): Promise<void> {
    return (await this.#opened()).deleteCheckpoint(name);
  }

  // ------------------------------------------------------------------ versions

  /** The versions of a message that live branches reach, and its place among them. Total; equal until it changes. */
  siblings(id: string): Versions {
    return this.#session?.siblings(id) ?? NO_VERSIONS;
  }

  /** Whether a message is whole, growing or cut short; undefined for an unknown one. */
  status(id: string): MessageStatus | undefined {
    return this.node(id)?.status;
  }

  /** Shows another version of a message: the branch used last among those that hold it. */
  async selectSibling(id: string): Promise<void> {
    return (await this.#opened()).selectSibling(id);
  }

  /** The places where the chat continues in more than one way, in the order in which they were made. */
  forks(): readonly Fork[] {
    return this.#session?.forks() ?? [];
  }

  /** What is known of a message without its body: parent, role, status, depth; undefined for an unknown one. */
  node(id: string): NodeInfo | undefined {
    return this.#session?.node(id);
  }

  /** A message that is loaded; undefined otherwise. */
  message(id: string): UIMessage | undefined {
    return this.#session?.message(id);
  }

  /**
   * Whether the message with this id says what this one says: role, parts and metadata, but for reminders, which an
   * interface may show or not. Undefined where it is not loaded.
   */
  matches(message: UIMessage): boolean | undefined {
    return this.#session?.matches(message);
  }

  /** Loads earlier messages of the active chain into `state.messages`. */
  async loadMore(count?: number): Promise<void> {
    return (await this.#opened()).loadMore(count);
  }

  // ------------------------------------------------------------------ the chat

  /** Changes the title (null takes it away) and merges metadata, shallow. */
  async updateChat(updates: {
    readonly title?: string | null;
    readonly metadata?: Readonly<Record<string, unknown>>;
  }): Promise<void> {
    return (await this.#opened()).updateChat(updates);
  }

  /** Adds usage (numbers, nested ones too) to the chat's `metadata.usage`, atomically. */
  async trackUsage(usage: Readonly<Record<string, unknown>>): Promise<void> {
    return (await this.#opened()).trackUsage(usage);
  }

  /** @internal Keeps fields of a record beside the chat, as a turn is kept: `saveState` tells of them. null takes one out. */
  async keepFields(key: string, value: Readonly<Record<string, unknown>>): Promise<void> {
    return (await this.#opened()).keepFields(key, value);
  }

  /**
   * What the next call would read, in tokens and US dollars: in all, and for each fragment and message. Works offline,
   * at any message, on any branch, and for prompts that are not set: `fragments` and `messages` take their place.
   * Costs what was not counted before. Rejects as `resolve()` does for what can't be read, loaded or rendered.
   */
  async estimate(
    model: string | EstimateOptions = {},
    options: Omit<EstimateOptions, 'modelId'> = {},
  ): Promise<EstimateResult> {
    return (await this.#opened()).estimate(model, options);
  }

  /**
   * Everything that one needs to understand a prompt, as JSON: works offline, at any message and on any branch. A
   * fragment that fails is left out, and says why. Costs what is new since the last one, and writing the lists.
   */
  async inspect(options: InspectOptions = {}): Promise<ContextSnapshot> {
    return (await this.#opened()).inspect(options);
  }

  /** The chat as a graph of previews. Complete once the engine is ready. */
  graph(): GraphData {
    return this.#session?.graph() ?? { chatId: this.chatId, nodes: [], branches: [], checkpoints: [] };
  }

  /**
   * Tries again at once what could only be kept in memory, and a save() that was refused. Rejects with the reason when
   * it still can't be saved.
   */
  async retry(): Promise<void> {
    return (await this.#opened()).retry();
  }

  /** What is wrong with the chat as it is stored: rings, orphans, heads into nothing, lost words. [] for a whole one. */
  async verify(): Promise<readonly Finding[]> {
    return (await this.repair({ preview: true })).findings;
  }

  /**
   * Mends what is wrong, in one transaction: every message that is left can be reached afterwards, and none is thrown
   * away. With `preview` it only says what it would do. Lost words it can only name.
   */
  async repair(options?: { readonly preview?: boolean }): Promise<Repair> {
    return (await this.#opened()).repair(options);
  }

  // ------------------------------------------------------------------ listening

  /** Tells of what the engine does, as it does it. Returns the way to stop. */
  subscribe(listener: (event: ContextEvent) => void): () => void {
    expectListener(listener);
    const { listeners } = this.#desk;
    listeners.add(listener);
    return () => listeners.delete(listener);
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
      ...this.#desk.options,
      store: new InMemoryContextStore(),
      chatId: createId(),
      persistFragments: false,
    });
    child.set(...this.#desk.prompt.list());
    return child;
  }

  /** Stops listening, and being listened to. Streams go on, and their words are still saved, or tried again. */
  dispose(): void {
    this.#desk.isDisposed = true;
    this.#stopListening();
    this.#session?.dispose();
    this.#desk.listeners.clear();
  }

  #stopListening(): void {
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
  }
}

async function loadSession(desk: Desk): Promise<Session> {
  const { Session } = await import('./session.ts').catch(refuseToLoad);
  return new Session(desk);
}
