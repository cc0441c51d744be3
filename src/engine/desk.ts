import type { UIMessage } from 'ai';
import { createStore, type StoreApi } from 'zustand/vanilla';
import { copyOf } from '../copy.ts';
import { ContextError, isContextError, isRecord, readFrom, reasonOf } from '../errors.ts';
import { copyFragment } from '../fragment/copy.ts';
import {
  FOLD,
  isLazyFragment,
  isMessageFragment,
  LAZY_ID,
  type ContextFragment,
} from '../fragment/fragment.ts';
import { createId } from '../fragment/id.ts';
import { messageOf } from '../fragment/message.ts';
import { keepIfSame, sameFields } from '../graph/same.ts';
import type { ContextRenderer } from '../render/renderer.ts';
import { XmlRenderer } from '../render/xml.ts';
import { defaultStore } from '../store/default.ts';
import type { RecordedRequest, RecordOptions } from '../record/record.ts';
import type { ContextStore } from '../store/store.ts';
import type * as Keeping from './keptFragments.ts';
import type { ContextEngineOptions } from './options.ts';
import { placeFragments, type FragmentOrigin } from './origin.ts';
import { FIRST_BRANCH, type ContextEvent, type EngineState } from './state.ts';

/** An item of the pending lane: a fragment, and the message that it will be saved as. */
export interface Pending extends Copied {
  readonly message: UIMessage;
  readonly persist: boolean;
  /** Whether it is new content of the last answer, and a message of its own only where there is none. */
  readonly isLast: boolean;
}

/** The pending form of a message fragment. Throws `invalid-messages` for a fragment that holds no valid message. */
export function pendingOf({ original, copy }: Copied): Pending {
  const isLast = isLazyFragment(copy);
  const message = isLast ? answerOf(copy[LAZY_ID].content) : messageOf(copy);
  return { original, copy, message, persist: copy.persist !== false, isLast };
}

function answerOf(text: string): UIMessage {
  return { id: createId(), role: 'assistant', parts: [{ type: 'text', text }] };
}

/** An event before `emit()` adds its time and duration. */
export type EventBody = ContextEvent extends infer E
  ? E extends unknown
    ? Omit<E, 'at' | 'ms'>
    : never
  : never;

/**
 * What the two halves of an engine share: the face, which exists at once, and the session, whose code is loaded with the first
 * read. It holds the fragments, the pending messages, the state, and the listeners.
 */
export class Desk {
  readonly options: ContextEngineOptions;
  readonly chatId: string;
  readonly userId: string;
  readonly store: ContextStore;
  readonly state: StoreApi<EngineState>;
  readonly prompt: Prompt = new Prompt();
  pending: readonly Pending[] = [];
  readonly listeners: Set<(event: ContextEvent) => void> = new Set();
  isDisposed = false;
  requests: readonly RecordedRequest[] = [];
  /** The options of everyone who records requests; while there are any, `resolve()` also reports how it rendered. */
  readonly recorders: Set<RecordOptions> = new Set();

  constructor(options: ContextEngineOptions) {
    this.options = options;
    this.chatId = options.chatId;
    this.userId = options.userId;
    this.store = options.store ?? defaultStore();
    this.state = createStore<EngineState>()(() => ({
      status: 'loading',
      error: null,
      chat: null,
      branch: 'main',
      branchId: FIRST_BRANCH,
      headMessageId: undefined,
      headKey: undefined,
      detached: false,
      branches: [],
      checkpoints: [],
      messages: [],
      remoteMessages: [],
      loadedFrom: 0,
      pending: [],
      fragments: [],
      saveState: { state: 'idle', pending: 0 },
      persistence: this.store.persistence,
      revision: 0,
    }));
  }

  /** The default renderer; one for all turns, because it caches its output. */
  readonly #xml = new XmlRenderer();

  get renderer(): ContextRenderer {
    return this.options.renderer ?? this.#xml;
  }

  /** The only way to change the state: sets these slices of the chat, and those that the desk holds, at once. */
  publish(ofChat: Partial<EngineState> = {}): void {
    const before = this.state.getState();
    const pending = this.pending.map(({ copy }) => copy);
    const next: EngineState = {
      ...before,
      pending: keepIfSame(before.pending, pending),
      fragments: keepIfSame(before.fragments, this.prompt.list()),
      persistence: this.store.persistence,
      ...ofChat,
    };
    if (!sameFields(before, next)) this.state.setState(next, true);
  }

  /**
   * Sends an event to the listeners; `start` (`performance.now()`) gives its duration. A listener's error is thrown in a task
   * of its own.
   */
  emit(event: EventBody, start?: number): void {
    const ms = start === undefined ? 0 : performance.now() - start;
    for (const listener of this.listeners) {
      try {
        listener({ ...event, at: Date.now(), ms });
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }

  /** Drops these pending messages; those that were set since stay. */
  drop(pending: readonly Pending[]): void {
    this.pending = this.pending.filter((one) => !pending.includes(one));
  }

  /** Sends an error to the listeners; `id`: the message that it concerns. */
  report(error: unknown, id?: string): void {
    const { code, message } = asContextError(error);
    this.emit({ type: 'error', code, message, ...(id === undefined ? {} : { id }) });
  }
}

// ------------------------------------------------------------------ the fragments

/**
 * The fragments of the system prompt, in the order of the prompt: those that an earlier run kept with the chat, those of
 * `set()`, then those of mounted components in mount order.
 */
export class Prompt {
  #stored: readonly ContextFragment[] = [];
  #unread: readonly unknown[] = [];
  /** The code that keeps fragments with the chat; undefined where none are kept. */
  #keeping: typeof Keeping | undefined;
  /** Removals to repeat once the stored fragments are read; undefined from then on. */
  #early: (() => void)[] | undefined = [];
  #set: readonly Copied[] = [];
  readonly #mounted: Map<object, { readonly order: number; readonly fragments: readonly ContextFragment[] }> =
    new Map();
  /** Where each fragment, present or removed, came from. */
  readonly #origins = new WeakMap<ContextFragment, FragmentOrigin>();
  /** The last result of {@link list}; undefined after a change. */
  #list: readonly ContextFragment[] | undefined;

  /**
   * All fragments, in order; a stored one that is set again, equal, counts once. Cached, because every streamed word reads it.
   */
  list(): readonly ContextFragment[] {
    if (this.#list) return this.#list;
    const stored = new Set(this.#stored.map(this.#keyOf));
    const set = this.#set.map(({ copy }) => copy);
    const mounted = [...this.#mounted.values()].toSorted((a, b) => a.order - b.order);
    return (this.#list = [
      ...this.#stored,
      ...set.filter((one) => stored.size === 0 || !stored.has(this.#keyOf(one))),
      ...mounted.flatMap(({ fragments }) => fragments),
    ]);
  }

  /** Notes how fragments came here. */
  #note(via: FragmentOrigin['via'], fragments: readonly ContextFragment[]): void {
    const since = Date.now();
    for (const one of fragments) this.#origins.set(one, { via: FOLD in one ? 'reminder' : via, since });
  }

  /** How a fragment came here; also for one that was removed. */
  originOf(fragment: ContextFragment): FragmentOrigin | undefined {
    return this.#origins.get(fragment);
  }

  add(fragments: readonly Copied[]): void {
    const copies = fragments.map(({ copy }) => copy);
    placeFragments(copies, () => new Error('here'));
    this.#note('set', copies);
    this.#set = [...this.#set, ...fragments];
    this.#list = undefined;
  }

  /** Removes fragments by id, or this very fragment, and with it the equal stored one. */
  remove(idOrFragment: string | ContextFragment): void {
    const is = (fragment: ContextFragment): boolean =>
      fragment === idOrFragment || (typeof idOrFragment === 'string' && fragment.id === idOrFragment);
    const gone = this.#set.filter(({ original, copy }) => is(original) || is(copy));
    this.#set = this.#set.filter((one) => !gone.includes(one));
    this.#change(() => {
      const keys = gone.map(({ copy }) => this.#keyOf(copy));
      this.#stored = this.#stored.filter((stored) => !is(stored) && !keys.includes(this.#keyOf(stored)));
    });
  }

  clear(): void {
    this.#set = [];
    this.#change(() => {
      this.#stored = this.#unread = [];
    });
  }

  /** Changes the stored fragments: now, and again when they are read. */
  #change(change: () => void): void {
    change();
    this.#early?.push(change);
    this.#list = undefined;
  }

  /** @throws invalid-fragment, also for messages */
  mount(owner: object, order: number, fragments: readonly ContextFragment[]): void {
    const { messages, context } = splitLanes(fragments);
    if (messages.length > 0) {
      const message = 'useFragments() takes fragments of the system prompt, not messages.';
      throw new ContextError('invalid-fragment', message);
    }
    const own = context.map(({ copy }) => copy);
    placeFragments(own, () => (owner as { at?: Error }).at);
    this.#note('component', own);
    this.#mounted.set(owner, { order, fragments: own });
    this.#list = undefined;
  }

  unmount(owner: object): boolean {
    this.#list = undefined;
    return this.#mounted.delete(owner);
  }

  /** The same value for equal fragments. */
  readonly #keyOf = (fragment: ContextFragment): unknown => this.#keeping?.keyOf(fragment) ?? fragment;

  /** Adds the fragments that an earlier run kept, without those removed since. Without `keeping`, none are kept. */
  restore(keeping: typeof Keeping | undefined, records: unknown): void {
    this.#keeping = keeping;
    if (keeping) ({ fragments: this.#stored, unread: this.#unread } = keeping.read(records));
    this.#note('kept', this.#stored);
    this.#early?.forEach((change) => change());
    this.#early = this.#list = undefined;
  }

  /** The records to keep with the chat: without mounted fragments and those with `persist: false`. */
  kept(skip: (name: string, reason: string) => void): unknown[] | undefined {
    const own = [...this.#stored, ...this.#set.map(({ copy }) => copy)];
    return this.#keeping?.write(
      own.filter(({ persist }) => persist !== false),
      this.#unread,
      skip,
    );
  }
}

/** The caller's fragment, and the copy that the engine keeps. */
export interface Copied {
  readonly original: ContextFragment;
  readonly copy: ContextFragment;
}

/**
 * Copies of the fragments, messages apart from the others, each in order.
 *
 * @throws invalid-fragment when one can't be copied
 */
export function splitLanes(fragments: readonly ContextFragment[]): {
  readonly messages: readonly Copied[];
  readonly context: readonly Copied[];
} {
  const copied = fragments.map((original) => ({ original, copy: copyFragment(original) }));
  return {
    messages: copied.filter(({ copy }) => isMessageFragment(copy)),
    context: copied.filter(({ copy }) => !isMessageFragment(copy)),
  };
}

// ------------------------------------------------------------------ checks of an app's arguments

/** The given renderer. Throws `invalid-options` for a value that is no renderer. */
export function expectRenderer(renderer: Partial<ContextRenderer> | null): ContextRenderer {
  if (readFrom('The renderer', () => typeof renderer?.render === 'function'))
    return renderer as ContextRenderer;
  throw new ContextError('invalid-options', 'The renderer has no render(). Give new MarkdownRenderer().');
}

/** The error if it is a ContextError; anything else as `invariant`. */
export function asContextError(error: unknown): ContextError {
  if (isContextError(error)) return error;
  return new ContextError('invariant', `Unexpected failure: ${reasonOf(error)}`, { cause: error });
}

/** Throws `invalid-options` unless the check `holds`. */
export function expectOption(holds: boolean, option: string, what: string, value: unknown): void {
  if (holds) return;
  const message = `${option} must be ${what}, and is ${reasonOf(value)}.`;
  throw new ContextError('invalid-options', message, { details: { option, value } });
}

/** Whether a value is a store. */
export function isStore(value: unknown): value is ContextStore {
  return readFrom('store', () => typeof (value as Partial<ContextStore> | null)?.commit === 'function');
}

/** A copy of an options object; each option is read once. Throws `invalid-options` where one can't be read. */
export function ownOptions<T>(options: T): T {
  if (options === undefined) return options;
  return readFrom('The options', () => (isRecord(options) ? { ...options } : options));
}

/**
 * A copy of an app's data, as JSON keeps it. Throws `invalid-options`, naming the path, for a value that can't be read, is
 * nested deeper than 128 levels, or is no plain data.
 */
export function ownData<T>(value: T, option: string): T {
  return copyOf(value, option, OWN) as T;
}

const OWN = { code: 'invalid-options', maxDepth: 128, json: true } as const;
