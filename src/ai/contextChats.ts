import { DefaultChatTransport, type ChatTransport, type UIMessage } from 'ai';
import type { ContextEngine } from '../engine/engine.ts';
import type { AttachedChat, MessageContent, RunOptions } from '../engine/options.ts';
import { expectEngine } from '../react/provider.tsx';
import { BranchChat } from './branchChat.ts';
import type { ContextChat, ContextChatOptions } from './contextChat.ts';
import { loadMore, loadTurns } from './load.ts';
import { isDeleted, type ChatHost } from './host.ts';

/** The options of {@link createContextChats}: those of a chat, and the engine. */
export interface ContextChatsOptions<M extends UIMessage = UIMessage> extends ContextChatOptions<M> {
  readonly engine: ContextEngine;
}

/** The chats of one engine: one for each branch that was shown, or on which an answer streams. */
export interface ContextChats<M extends UIMessage = UIMessage> {
  readonly engine: ContextEngine;
  /** The chat of the active branch. */
  readonly active: ContextChat<M>;
  /** The chat of a branch, by name or id; undefined for an unknown branch. */
  get(branch: string): ContextChat<M> | undefined;
  /**
   * Replaces the options, if any are given: callbacks, transport and `request` at once, the rest for chats made from now on.
   */
  configure(options: ContextChatOptions<M>): void;
  /** Resolves when everything that was said in any of the chats is saved. */
  whenSettled(): Promise<void>;
  /**
   * Lets go of the engine. Answers stream on and are saved, and queued questions are asked; with `stop`, answers end, and
   * queued questions are kept for the next page. Resolves when everything is saved.
   */
  dispose(options?: { readonly stop?: boolean }): Promise<void>;
}

/** How long a page that shows an answer stays idle before it loads more code, in ms. */
const QUIET = 500;

/** The chats of each engine, as long as the app holds the engine. */
const registries: WeakMap<ContextEngine, Registry> = new WeakMap();

/**
 * The chats of an engine, outside of React. Each engine has one set: a second call returns the same, with the new options, if
 * there are any.
 *
 * @throws invalid-options for a value that is no engine
 */
export function createContextChats<M extends UIMessage = UIMessage>({
  engine,
  ...options
}: ContextChatsOptions<M>): ContextChats<M> {
  const own = options as unknown as ContextChatOptions;
  const chats = chatsOf(engine, own);
  chats.configure(own);
  return chats as unknown as ContextChats<M>;
}

/** @internal The chats of an engine; made with these options on the first call. */
export function chatsOf(engine: ContextEngine, options: ContextChatOptions): Registry {
  expectEngine(engine);
  const chats = registries.get(engine) ?? new Registry(engine, options);
  registries.set(engine, chats);
  return chats;
}

/**
 * Which chat is on which branch. Chats live beside the engine: an answer outlives the component that shows it.
 */
export class Registry implements ContextChats, ChatHost, AttachedChat {
  readonly engine: ContextEngine;
  options: ContextChatOptions;
  readonly isOwn: boolean = true;
  readonly writes: Set<PromiseLike<unknown>> = new Set();
  #fallback: ChatTransport<UIMessage> | undefined;
  /** One of them may be on no branch yet: the active chat until the engine has read the conversation. */
  #chats: readonly BranchChat[] = [];
  #blank: BranchChat | undefined;
  #isDeleted = false;
  #isForeseen = false;
  readonly #release: readonly (() => void)[];

  constructor(engine: ContextEngine, options: ContextChatOptions) {
    this.engine = engine;
    this.options = options;
    // A listener of the page must not keep an engine alive that the app has let go.
    const self = new WeakRef(this);
    const stop = onReturning(() => {
      const chats = self.deref();
      if (chats) void chats.#each((chat) => chat.recall());
      else stop();
    });
    this.#release = [
      engine.state.subscribe(() => this.sync()),
      engine.subscribe((event) => {
        if (event.type !== 'branch' || event.action !== 'delete') return;
        // Questions queued on a deleted branch are left: the active chat shows them, and nobody asks them by themselves.
        this.#on(event.id)?.queue?.leave();
        void this.#each((chat) => chat.recall());
      }),
      engine.attach(this),
      stop,
    ];
    this.sync();
  }

  get transport(): ChatTransport<UIMessage> {
    return this.options.transport ?? (this.#fallback ??= new DefaultChatTransport<UIMessage>());
  }

  configure(options: ContextChatOptions): void {
    // A caller without options must not reset the transport.
    if (Object.keys(options).length > 0) this.options = options;
  }

  /** The snapshot for `useSyncExternalStore`; one function for all renders, so that React does not read again after each. */
  readonly look: () => BranchChat = () => this.active;

  /** The snapshot while React hydrates a page that a server rendered: an empty chat, as on the server. */
  readonly lookUnread: () => BranchChat = () =>
    this.engine.state.getState().status === 'ready' ? (this.#blank ??= new BranchChat(this)) : this.active;

  get active(): BranchChat {
    const { status, branchId } = this.engine.state.getState();
    if (status === 'ready') return this.#on(branchId) ?? this.#open(branchId);
    return this.#on(branchId) ?? this.#on(undefined) ?? this.#open();
  }

  get(branch: string): BranchChat | undefined {
    const { branches } = this.engine.state.getState();
    const found = branches.find(({ id, name }) => id === branch || name === branch);
    return found && (this.#on(found.id) ?? this.#open(found.id));
  }

  #on(branchId: string | undefined): BranchChat | undefined {
    return this.#chats.findLast((chat) => chat.branchId === branchId || chat.forkId === branchId);
  }

  #open(branchId?: string): BranchChat {
    const chat = new BranchChat(this, branchId, this.#chats.length);
    this.#chats = [...this.#chats, chat];
    const state = this.engine.state.getState();
    if (state.branchId === branchId) chat.follow(state);
    else chat.load();
    return chat;
  }

  all(): readonly BranchChat[] {
    return [this.active, ...this.#chats];
  }

  async whenSettled(): Promise<void> {
    await this.#each((chat) => chat.whenSettled());
  }

  #each(task: (chat: BranchChat) => unknown): Promise<unknown> {
    return Promise.all(this.#chats.map(task));
  }

  async dispose(options?: { readonly stop?: boolean }): Promise<void> {
    for (const release of this.#release) release();
    registries.delete(this.engine);
    if (options?.stop) await this.#each((chat) => chat.leave());
    await this.whenSettled();
  }

  // ------------------------------------------------------------------ what the engine tells

  sync(): void {
    const state = this.engine.state.getState();
    const { status, branchId } = state;
    const wasDeleted = this.#isDeleted;
    this.#isDeleted = isDeleted(this.engine);
    if (this.#isDeleted && !wasDeleted) void this.#each((chat) => chat.hasWork && chat.leave());
    if (status !== 'ready') return;
    // A question may follow soon: load the code of turns.
    loadTurns().catch(() => {});
    // Edits and regenerations may follow an answer: load their code when the page is idle.
    const isAnswered = state.messages.at(-1)?.role === 'assistant';
    if (isAnswered && !this.#isForeseen) setTimeout(() => loadMore().catch(() => {}), QUIET);
    this.#isForeseen ||= isAnswered;
    const unbound = this.#on(undefined);
    if (unbound) unbound.branchId = branchId;
    this.#on(branchId)?.follow(state);
  }

  // ------------------------------------------------------------------ what pagers ask

  get runsDry(): boolean {
    return (this.transport as { readonly runsDry?: boolean }).runsDry === true;
  }

  get isBusy(): boolean {
    return this.#chats.some((chat) => chat.hasWork);
  }

  async edit(messageId: string, content: MessageContent): Promise<void> {
    return (await loadMore()).edit(this, messageId, content);
  }

  async regenerate(messageId: string, options?: object): Promise<void> {
    return (await loadMore()).regenerate(this, messageId, options);
  }

  async run(options: RunOptions): Promise<AsyncIterable<UIMessage>> {
    return (await loadMore()).run(this, options);
  }
}

/** Calls back when a person returns to the page: to its tab or its window. Returns a stop function. */
function onReturning(hear: () => void): () => void {
  if (typeof document === 'undefined') return () => {};
  const look = (): void => void (document.visibilityState === 'visible' && hear());
  const listening = new AbortController();
  // A page that comes back through the history becomes visible, too.
  for (const event of ['visibilitychange', 'focus'])
    window.addEventListener(event, look, { signal: listening.signal });
  return () => listening.abort();
}
