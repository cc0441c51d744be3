import type { UIMessage } from 'ai';
import { createStore, type StoreApi } from 'zustand/vanilla';
import { copyOf } from '../copy.ts';
import { ContextError, isContextError, readFrom, reasonOf } from '../errors.ts';
import { isLazyFragment, isRecord, LAZY_ID, type ContextFragment } from '../fragment/fragment.ts';
import { createId } from '../fragment/id.ts';
import { messageOf } from '../fragment/message.ts';
import type { ContextRenderer } from '../render/renderer.ts';
import { XmlRenderer } from '../render/xml.ts';
import { defaultStore } from '../store/default.ts';
import type { RecordedRequest, RecordOptions } from '../record/record.ts';
import type { ContextStore } from '../store/store.ts';
import type { ContextEngineOptions } from './options.ts';
import { Prompt, type Copied } from './prompt.ts';
import { keepIfSame } from './same.ts';
import { FIRST_BRANCH, type ContextEvent, type EngineState } from './state.ts';

/** A message that waits for `save()`. */
export type PendingMessage =
  | {
      readonly kind: 'message';
      readonly message: UIMessage;
      readonly persist: boolean;
      readonly freshId: string;
    }
  | {
      readonly kind: 'last-assistant';
      readonly text: string;
      readonly persist: boolean;
      readonly freshId: string;
    };

/** A message in the pending lane: the fragment as the state shows it, and what it will be saved as. */
export interface Pending {
  readonly original: ContextFragment;
  readonly fragment: ContextFragment;
  readonly content: PendingMessage;
}

/** The pending form of a message fragment. Throws `invalid-messages` for what is no message. */
export function pendingOf({ original, copy: fragment }: Copied): Pending {
  const persist = fragment.persist !== false;
  const lazy = isLazyFragment(fragment) ? fragment[LAZY_ID] : undefined;
  const content: PendingMessage = lazy
    ? { kind: 'last-assistant', text: lazy.content, persist, freshId: createId() }
    : { kind: 'message', message: messageOf(fragment), persist, freshId: createId() };
  return { original, fragment, content };
}

/** An event before it is told: when, and how long it took, is added then. */
export type EventBody = ContextEvent extends infer E
  ? E extends unknown
    ? Omit<E, 'at' | 'ms'>
    : never
  : never;

/**
 * What the two halves of an engine share: the face, which is there at once, and the session, whose code comes with the
 * first read. Here lie the two lanes, the observable state and its one door, and who listens; whatever one half puts
 * down here the other finds.
 */
export class Desk {
  readonly options: ContextEngineOptions;
  readonly chatId: string;
  readonly userId: string;
  readonly store: ContextStore;
  readonly state: StoreApi<EngineState>;
  /** The lane of the system prompt. */
  readonly prompt: Prompt = new Prompt();
  /** The lane of messages that wait for `save()`. */
  pending: readonly Pending[] = [];
  readonly listeners: Set<(event: ContextEvent) => void> = new Set();
  isDisposed = false;
  /** What was recorded, oldest first. */
  requests: readonly RecordedRequest[] = [];
  /** Who records requests; while there is somebody, `resolve()` tells how it rendered, too. */
  readonly recorders: Set<RecordOptions> = new Set();
  /** What the session adds to the state, computed from what it knows; nothing before there is one. */
  ofChat: (before: EngineState) => Partial<EngineState> = () => ({});

  constructor(options: ContextEngineOptions) {
    this.options = options;
    this.chatId = options.chatId;
    this.userId = options.userId;
    this.store = options.store ?? defaultStore();
    this.state = createStore<EngineState>()(() => this.#initialState());
  }

  #initialState(): EngineState {
    return {
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
    };
  }

  /** What renders where nothing else is asked for; one for all turns, so that it need not write again what stays. */
  readonly #xml = new XmlRenderer();

  get renderer(): ContextRenderer {
    return this.options.renderer ?? this.#xml;
  }

  /** The one door for state: computes it from what is known, keeps what is equal, and sets it once. */
  publish(patch: Partial<EngineState> = {}): void {
    const before = this.state.getState();
    const next: EngineState = { ...before, ...this.#lanes(before), ...this.ofChat(before), ...patch };
    const keys = Object.keys(next) as (keyof EngineState)[];
    if (keys.some((key) => next[key] !== before[key])) this.state.setState(next, true);
  }

  #lanes(before: EngineState): Partial<EngineState> {
    const pending = this.pending.map(({ fragment }) => fragment);
    return {
      pending: keepIfSame(before.pending, pending),
      fragments: keepIfSame(before.fragments, this.prompt.list()),
      persistence: this.store.persistence,
    };
  }

  /**
   * Tells of what happened; `start` (as of `performance.now()`) gives how long it took.
   * A listener that throws is not this engine's failure, and keeps nobody else from hearing.
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
}

/** What renders, if it can; throws `invalid-options` if not. */
export function expectRenderer(renderer: Partial<ContextRenderer> | null): ContextRenderer {
  if (readFrom('The renderer', () => typeof renderer?.render === 'function'))
    return renderer as ContextRenderer;
  throw new ContextError('invalid-options', 'The renderer has no render(). Give new MarkdownRenderer().');
}

/** The error that an engine tells of: a ContextError as it is, anything else as `invariant`. */
export function asContextError(error: unknown): ContextError {
  if (isContextError(error)) return error;
  return new ContextError('invariant', `Unexpected failure: ${reasonOf(error)}`, { cause: error });
}

// ------------------------------------------------------------------ what an app hands in

/** Throws `invalid-options` for an option that is not what it must be. */
export function expectOption(holds: boolean, option: string, what: string, value: unknown): void {
  if (holds) return;
  const message = `${option} must be ${what}, and is ${reasonOf(value)}.`;
  throw new ContextError('invalid-options', message, { details: { option, value } });
}

/** Whether a value is a store, of any copy of the package or of an app's own. */
export function isStore(value: unknown): value is ContextStore {
  return readFrom('store', () => typeof (value as Partial<ContextStore> | null)?.commit === 'function');
}

/** A copy of options that are a record, read once. Throws `invalid-options` where they can't be read. */
export function ownOptions<T>(options: T): T {
  return readFrom('The options', () => (isRecord(options) ? { ...options } : options));
}

/**
 * A copy of what an app hands in to be stored, as JSON keeps it: no getters and no proxies are left in it.
 * Throws `invalid-options`, naming the path, for what can't be read, is nested deeper than 128 levels, or is no plain data.
 */
export function ownData<T>(value: T, option: string): T {
  return copyOf(value, option, OWN) as T;
}

const OWN = { code: 'invalid-options', maxDepth: 128, json: true } as const;
