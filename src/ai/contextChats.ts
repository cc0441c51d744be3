import { DefaultChatTransport, type ChatTransport, type UIMessage } from 'ai';
import type { AttachedChat, ContextEngine } from '../engine/engine.ts';
import type { EngineState } from '../engine/state.ts';
import { expectEngine } from '../react/provider.tsx';
import { ContextChat, type ChatHost, type ContextChatOptions } from './contextChat.ts';
import { loadTurns } from './loadTurns.ts';

/** How the chats of an engine are made. */
export interface ContextChatsOptions<M extends UIMessage = UIMessage> extends ContextChatOptions<M> {
  readonly engine: ContextEngine;
}

/** The chats of one engine: one for each branch that was shown, or that streams. */
export interface ContextChats<M extends UIMessage = UIMessage> {
  readonly engine: ContextEngine;
  /** The chat of the branch that is shown. */
  readonly active: ContextChat<M>;
  /** The chat of a branch, by name or id; undefined where there is no such branch. */
  get(branch: string): ContextChat<M> | undefined;
  /** Takes other options, if there are any: callbacks, transport and request from now on, the rest for new chats. */
  configure(options: ContextChatOptions<M>): void;
  /** Resolves when everything that was said in any of the chats is saved. */
  whenSettled(): Promise<void>;
  /**
   * Lets go of the engine. Answers stream on and are saved, and what waits is asked; with `stop`, answers end, and what
   * waits is kept for the next page. Resolves when all is saved.
   */
  dispose(options?: { readonly stop?: boolean }): Promise<void>;
}

/** How long a chat that is neither shown nor busy is kept, in ms. */
const KEEP_HIDDEN = 60_000;

/** Engines' chats. An engine that nobody holds takes them along. */
const registries: WeakMap<ContextEngine, Registry<UIMessage>> = new WeakMap();

/**
 * The chats of an engine, outside of React. There is one set of them per engine: asking again gives the same, with the
 * new options, if there are any.
 *
 * @throws invalid-options for an engine that is none
 */
export function createContextChats<M extends UIMessage = UIMessage>({
  engine,
  ...options
}: ContextChatsOptions<M>): ContextChats<M> {
  const chats = chatsOf(engine, options);
  chats.configure(options);
  return chats;
}

/** @internal The chats of an engine; made with these options where there are none yet. */
export function chatsOf<M extends UIMessage>(
  engine: ContextEngine,
  options: ContextChatOptions<M>,
): Registry<M> {
  expectEngine(engine);
  const known = registries.get(engine);
  if (known) return known as unknown as Registry<M>;
  const made = new Registry<M>(engine, options);
  registries.set(engine, made as unknown as Registry<UIMessage>);
  return made;
}

/**
 * Which chat is on which branch.
 *
 * A component must not own a chat: it would take a running answer with it when it goes, and two components would show
 * two different halves. So chats live beside the engine. A turn that forks announces the id of the branch that it is
 * about to make, and when the engine shows that branch, its chat is there already, with the question in it: there is
 * no frame in which the person sees another one.
 */
export class Registry<M extends UIMessage> implements ContextChats<M>, ChatHost<M> {
  readonly engine: ContextEngine;
  options: ContextChatOptions<M>;
  readonly writes: Set<PromiseLike<unknown>> = new Set();
  #fallback: ChatTransport<M> | undefined;
  readonly #chats: Map<string, ContextChat<M>> = new Map();
  /** The chat that is shown until the engine has read the conversation. */
  #unbound: ContextChat<M> | undefined;
  #blank: ContextChat<M> | undefined;
  /** The branch that is shown; '' for none yet. */
  #shown = '';
  #isDeleted = false;
  /** When the chats of branches that are not shown are let go. */
  readonly #timers: Map<string, ReturnType<typeof setTimeout>> = new Map();
  /** Those that were let go: an app may hold one, and a branch has one chat. */
  readonly #released: Map<string, WeakRef<ContextChat<M>>> = new Map();
  readonly #release: readonly (() => void)[];

  constructor(engine: ContextEngine, options: ContextChatOptions<M>) {
    this.engine = engine;
    this.options = options;
    this.#release = [engine.state.subscribe(() => this.sync()), engine.attach(this.#attachment())];
    this.sync();
  }

  get transport(): ChatTransport<M> {
    return this.options.transport ?? (this.#fallback ??= new DefaultChatTransport<M>());
  }

  configure(options: ContextChatOptions<M>): void {
    // Who only looks for the chats must not take their transport away.
    if (Object.keys(options).length > 0) this.options = options;
  }

  /** How a component looks at the chat: with the same function each time, or React would look again behind each render. */
  readonly look: () => ContextChat<M> = () => this.active;

  /** How it looks while a page that a server rendered comes to life: nothing is read there. */
  readonly lookUnread: () => ContextChat<M> = () =>
    this.engine.state.getState().status === 'ready' ? (this.#blank ??= new ContextChat(this)) : this.active;

  get active(): ContextChat<M> {
    const { status, branchId } = this.engine.state.getState();
    const known = this.#chats.get(branchId);
    if (known) return known;
    if (status === 'ready') return this.#open(branchId);
    return (this.#unbound ??= new ContextChat(this));
  }

  get(branch: string): ContextChat<M> | undefined {
    const { branches } = this.engine.state.getState();
    const found = branches.find(({ id, name }) => id === branch || name === branch);
    return found && (this.#chats.get(found.id) ?? this.#open(found.id));
  }

  #open(branchId: string): ContextChat<M> {
    const chat =
      this.#released.get(branchId)?.deref() ?? new ContextChat<M>(this, branchId, this.#chats.size);
    this.#released.delete(branchId);
    this.#chats.set(branchId, chat);
    const state = this.engine.state.getState();
    if (state.branchId === branchId) chat.follow(state.messages, state.elsewhere);
    else {
      chat.load();
      this.#hide(branchId);
    }
    return chat;
  }

  async whenSettled(): Promise<void> {
    await this.#each((chat) => chat.whenSettled());
  }

  /** Resolves when a task is done with every chat. */
  #each(task: (chat: ContextChat<M>) => unknown): Promise<unknown> {
    return Promise.all([...this.#chats.values()].map(task));
  }

  async dispose(options?: { readonly stop?: boolean }): Promise<void> {
    for (const release of this.#release) release();
    for (const timer of this.#timers.values()) clearTimeout(timer);
    registries.delete(this.engine);
    if (options?.stop) await this.#each((chat) => chat.leave());
    await this.whenSettled();
  }

  // ------------------------------------------------------------------ what chats ask of it

  register(branchId: string, chat: ContextChat<M>): void {
    this.#chats.set(branchId, chat);
    if (branchId !== this.#shown) this.#hide(branchId);
  }

  unregister(branchId: string, chat: ContextChat<M>): void {
    if (this.#chats.get(branchId) === chat) this.#chats.delete(branchId);
  }

  all(): readonly ContextChat<M>[] {
    return [this.active, ...this.#chats.values()];
  }

  // ------------------------------------------------------------------ what the engine tells

  sync(): void {
    const state = this.engine.state.getState();
    const { status, error, branchId, messages, elsewhere } = state;
    const isDeleted = error?.code === 'chat-deleted';
    if (isDeleted && !this.#isDeleted) void this.#each((chat) => chat.isBusy && chat.stop());
    this.#isDeleted = isDeleted;
    if (status !== 'ready') return;
    // Whoever can read may speak next.
    loadTurns().catch(() => {});
    if (this.#unbound) this.#bind(this.#unbound, branchId);
    this.#moveToMainOfAnother(state);
    if (branchId !== this.#shown) this.#show(branchId);
    this.#chats.get(branchId)?.follow(messages, elsewhere);
  }

  #bind(chat: ContextChat<M>, branchId: string): void {
    this.#unbound = undefined;
    chat.bind(branchId);
    this.#chats.set(branchId, chat);
  }

  /** Another tab made this chat first, so its `main` is shown instead of ours: what was said here goes there. */
  #moveToMainOfAnother({ branchId, branches }: EngineState): void {
    const chat = this.#chats.get(this.#shown);
    if (!chat?.isUnsaved || this.#chats.has(branchId) || branches.some(({ id }) => id === this.#shown))
      return;
    this.#chats.delete(this.#shown);
    this.#bind(chat, branchId);
  }

  #show(branchId: string): void {
    if (this.#shown) this.#hide(this.#shown);
    clearTimeout(this.#timers.get(branchId));
    this.#shown = branchId;
  }

  /**
   * Lets go of a chat that is not the active one for a while, when no component shows it and it does nothing. The
   * engine knows all that it knows. An app that holds it, and uses it again, puts it back in its place.
   */
  #hide(branchId: string): void {
    clearTimeout(this.#timers.get(branchId));
    const timer = setTimeout(() => {
      this.#timers.delete(branchId);
      if (branchId === this.#shown) return;
      const chat = this.#chats.get(branchId);
      if (chat?.isInUse) return this.#hide(branchId);
      this.#chats.delete(branchId);
      if (chat) this.#released.set(branchId, new WeakRef(chat));
    }, KEEP_HIDDEN);
    (timer as { unref?: () => void }).unref?.();
    this.#timers.set(branchId, timer);
  }

  // ------------------------------------------------------------------ what pagers ask

  #attachment(): AttachedChat {
    const chats = this.#chats;
    return {
      get isBusy() {
        return [...chats.values()].some((chat) => chat.hasWork);
      },
      edit: async (messageId, content) => (await loadTurns()).edit(this, messageId, content),
      regenerate: async (messageId, options) => (await loadTurns()).regenerate(this, messageId, options),
    };
  }
}
