import { ContextError } from '../errors.ts';
import { copyFragment } from '../fragment/copy.ts';
import { FOLD, isMessageFragment, type ContextFragment } from '../fragment/fragment.ts';
import type { Keeping } from './keptFragments.ts';
import { placeFragments, type FragmentOrigin } from './origin.ts';

/**
 * The fragments of the system prompt, in the order in which the model reads them: first what an earlier run stored
 * with the chat, then what `set()` added, then what mounted components contribute, in the order of their mounting.
 */
export class Prompt {
  #stored: readonly ContextFragment[] = [];
  #unread: readonly unknown[] = [];
  /** Undefined where no fragments are kept with the chat. */
  #keeping: Keeping | undefined;
  /** What was taken out before the stored ones were read; undefined from then on. */
  #early: (() => void)[] | undefined = [];
  #set: readonly Copied[] = [];
  readonly #mounted: Map<object, { readonly order: number; readonly fragments: readonly ContextFragment[] }> =
    new Map();
  /** Where each fragment that is or was here came from. */
  readonly #origins = new WeakMap<ContextFragment, FragmentOrigin>();
  /** What {@link list} said last; undefined since something changed. */
  #list: readonly ContextFragment[] | undefined;

  /** All of them, in order; one that is stored and set again, equal, stands once. Every streamed word asks for them. */
  list(): readonly ContextFragment[] {
    if (this.#list) return this.#list;
    const stored = new Set(this.#stored.map(this.#keyOf));
    const fresh = this.#set.filter(({ copy }) => stored.size === 0 || !stored.has(this.#keyOf(copy)));
    return (this.#list = [
      ...this.#from('kept', this.#stored),
      ...this.#from(
        'set',
        fresh.map(({ copy }) => copy),
      ),
      ...this.#from('component', this.#mountedInOrder()),
    ]);
  }

  #from(via: FragmentOrigin['via'], fragments: readonly ContextFragment[]): readonly ContextFragment[] {
    for (const one of fragments)
      if (!this.#origins.has(one))
        this.#origins.set(one, { via: FOLD in one ? 'reminder' : via, since: Date.now() });
    return fragments;
  }

  /** How a fragment was put here; also of one that is here no longer. */
  put(fragment: ContextFragment): FragmentOrigin | undefined {
    return this.#origins.get(fragment);
  }

  #mountedInOrder(): ContextFragment[] {
    return [...this.#mounted.values()]
      .toSorted((a, b) => a.order - b.order)
      .flatMap(({ fragments }) => fragments);
  }

  add(fragments: readonly Copied[]): void {
    placeFragments(
      fragments.map(({ copy }) => copy),
      () => new Error('here'),
    );
    this.#set = [...this.#set, ...fragments];
    this.#list = undefined;
  }

  /** Takes out the fragments with this id, or this very fragment; also where one that is stored stands for it. */
  remove(idOrFragment: string | ContextFragment): void {
    const is = (fragment: ContextFragment): boolean =>
      fragment === idOrFragment || (typeof idOrFragment === 'string' && fragment.id === idOrFragment);
    const isMeant = ({ original, copy }: Copied): boolean => is(original) || is(copy);
    const gone = this.#set.filter(isMeant);
    this.#set = this.#set.filter((one) => !isMeant(one));
    this.#change(() => {
      const keys = gone.map(({ copy }) => this.#keyOf(copy));
      this.#stored = this.#stored.filter((stored) => !is(stored) && !keys.includes(this.#keyOf(stored)));
    });
  }

  /** Takes out all but those of mounted components. */
  clear(): void {
    this.#set = [];
    this.#change(() => {
      this.#stored = this.#unread = [];
    });
  }

  /** Changes what is stored: now, and once more when it is read. */
  #change(change: () => void): void {
    change();
    this.#early?.push(change);
    this.#list = undefined;
  }

  /** @throws invalid-fragment, also for messages */
  mount(owner: object, order: number, fragments: readonly ContextFragment[]): void {
    const { messages, context } = splitLanes(fragments);
    if (messages.length > 0) {
      throw new ContextError(
        'invalid-fragment',
        'useFragments() takes fragments of the system prompt, not messages.',
      );
    }
    const own = context.map(({ copy }) => copy);
    placeFragments(own, () => (owner as { at?: Error }).at);
    this.#mounted.set(owner, { order, fragments: own });
    this.#list = undefined;
  }

  unmount(owner: object): boolean {
    this.#list = undefined;
    return this.#mounted.delete(owner);
  }

  /** What makes two fragments equal. */
  readonly #keyOf = (fragment: ContextFragment): unknown => this.#keeping?.keyOf(fragment) ?? fragment;

  /** Puts back what an earlier run kept, but for what was taken out meanwhile; `undefined` where nothing is kept. */
  restore(keeping: Keeping | undefined, records: unknown): void {
    this.#keeping = keeping;
    if (keeping) ({ fragments: this.#stored, unread: this.#unread } = keeping.read(records));
    this.#early?.forEach((change) => change());
    this.#early = this.#list = undefined;
  }

  /** Records of what is kept with the chat: all but what mounted components say, and what the app keeps to this run. */
  kept(skip: (name: string, reason: string) => void): unknown[] | undefined {
    const own = [...this.#stored, ...this.#set.map(({ copy }) => copy)];
    return this.#keeping?.write(
      own.filter(({ persist }) => persist !== false),
      this.#unread,
      skip,
    );
  }
}

/** What was handed in, and the copy that is kept, so that the caller's objects are never changed. */
export interface Copied {
  readonly original: ContextFragment;
  readonly copy: ContextFragment;
}

/**
 * Copies of the fragments that are messages, and of those that are not, each in order.
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
