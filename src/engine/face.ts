import type { StoreApi } from 'zustand/vanilla';
import { ContextError, expectListener, readFrom } from '../errors.ts';
import type { ContextFragment } from '../fragment/fragment.ts';
import type { ContextRenderer } from '../render/renderer.ts';
import type { ContextStore } from '../store/store.ts';
import { Desk, expectRenderer, pendingOf, splitLanes, type Pending } from './desk.ts';
import type { AttachedChat, ContextEngineOptions } from './options.ts';
import type { Chat, ContextEvent, EngineState } from './state.ts';

/**
 * The part of an engine that works before it reads: its fragments and pending messages, their prompt, the state, and its
 * listeners.
 */
export class Face {
  readonly chatId: string;
  readonly userId: string;
  readonly store: ContextStore;
  /** The observable face of the engine, for hooks and devtools. Read only. */
  readonly state: Pick<StoreApi<EngineState>, 'getState' | 'getInitialState' | 'subscribe'>;

  /** @internal */
  protected readonly desk: Desk;
  #attached: readonly { readonly chat: AttachedChat }[] = [];
  constructor(given: ContextEngineOptions) {
    const options = readFrom('The options of an engine', () => ({ ...given }));
    if (!options.chatId) throw new ContextError('invalid-options', 'chatId is required');
    if (!options.userId) throw new ContextError('invalid-options', 'userId is required');
    this.desk = readFrom('store', () => new Desk(options));
    this.chatId = options.chatId;
    this.userId = options.userId;
    this.store = this.desk.store;
    this.state = this.desk.state;
  }

  /** The name of the active branch; `main` until the chat is read. */
  get branch(): string {
    return this.state.getState().branch;
  }

  /** The last message shown; undefined when there is none, or the chat is not read yet. */
  get headMessageId(): string | undefined {
    return this.state.getState().headMessageId;
  }

  /** The chat's row; null until it is read, and for a chat to which nothing was saved. */
  get chat(): Chat | null {
    return this.state.getState().chat;
  }

  /** The chat attached last, which serves `edit` and `regenerate`. */
  get attached(): AttachedChat | undefined {
    return this.#attached.at(-1)?.chat;
  }

  /**
   * Adds fragments: messages wait in the pending lane for `save()`, all others join the system prompt. Copies them. Throws
   * `invalid-fragment` or `invalid-messages` for one that can't be kept, and then adds none.
   */
  set(...fragments: ContextFragment[]): this {
    const { messages, context } = splitLanes(fragments);
    const pending = messages.map(pendingOf);
    this.desk.prompt.add(context);
    this.desk.pending = [...this.desk.pending, ...pending];
    this.desk.publish();
    this.desk.emit({ type: 'set', fragments: context.length, messages: pending.length });
    return this;
  }

  /** Removes fragments and pending messages: those with this id, or this very fragment. */
  unset(idOrFragment: string | ContextFragment): this {
    const is = ({ copy, original }: Pending): boolean =>
      original === idOrFragment || (typeof idOrFragment === 'string' && copy.id === idOrFragment);
    this.desk.pending = this.desk.pending.filter((pending) => !is(pending));
    this.desk.prompt.remove(idOrFragment);
    this.desk.publish();
    return this;
  }

  /** Removes all fragments of the system prompt, except those of mounted components. Pending messages stay. */
  clear(): this {
    this.desk.prompt.clear();
    this.desk.publish();
    return this;
  }

  /** Puts the fragments of a mounted component into the prompt, after those of `set()`, in the order of `order`. */
  mountFragments(owner: object, order: number, fragments: readonly ContextFragment[]): void {
    this.desk.prompt.mount(owner, order, fragments);
    this.desk.publish();
  }

  /** Removes the fragments of a component. */
  unmountFragments(owner: object): void {
    if (this.desk.prompt.unmount(owner)) this.desk.publish();
  }

  /** The default renderer of this engine. */
  get renderer(): ContextRenderer {
    return this.desk.renderer;
  }

  /**
   * Renders the fragments, synchronously. Throws `invalid-fragment` with the path of a lazy value, and `invalid-options` for a
   * value that is no renderer.
   */
  render(renderer: ContextRenderer = this.desk.renderer): string {
    return expectRenderer(renderer).render(this.desk.prompt.list());
  }

  /** Subscribes to the engine's events, sent as things happen. Returns a function that unsubscribes. */
  subscribe(listener: (event: ContextEvent) => void): () => void {
    expectListener(listener);
    const { listeners } = this.desk;
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  /** Attaches a chat that serves `edit` and `regenerate`; the last attached one does. Returns a function that detaches it. */
  attach(chat: AttachedChat): () => void {
    const own = { chat };
    this.#attached = [...this.#attached, own];
    return () => {
      this.#attached = this.#attached.filter((other) => other !== own);
    };
  }
}
