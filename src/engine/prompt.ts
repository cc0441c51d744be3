import { ContextError } from '../errors.ts';
import { copyFragment } from '../fragment/copy.ts';
import { isMessageFragment, type ContextFragment } from '../fragment/fragment.ts';
import { fromFragment } from '../fragment/serialize.ts';
import type { KeptFragments } from './keptFragments.ts';

/**
 * The fragments of the system prompt, in the order in which the model reads them: first what an earlier run stored
 * with the chat, then what `set()` added, then what mounted components contribute, in the order of their mounting.
 */
export class Prompt {
  #stored: readonly ContextFragment[] = [];
  #unread: readonly unknown[] = [];
  /** What was taken out before the stored ones were read; undefined from then on. */
  #early: (() => void)[] | undefined = [];
  #set: readonly Copied[] = [];
  readonly #mounted: Map<object, { readonly order: number; readonly fragments: readonly ContextFragment[] }> =
    new Map();
  /** What {@link list} said last; undefined since something changed. */
  #list: readonly ContextFragment[] | undefined;

  /** All of them, in order; one that is stored and set again, equal, stands once. Every streamed word asks for them. */
  list(): readonly ContextFragment[] {
    if (this.#list) return this.#list;
    const stored = new Set(this.#stored.map(keyOf));
    const fresh = this.#set.filter(({ copy }) => stored.size === 0 || !stored.has(keyOf(copy)));
    return (this.#list = [...this.#stored, ...fresh.map(({ copy }) => copy), ...this.#mountedInOrder()]);
  }

  #mountedInOrder(): ContextFragment[] {
    return [...this.#mounted.values()]
      .toSorted((a, b) => a.order - b.order)
      .flatMap(({ fragments }) => fragments);
  }

  add(fragments: readonly Copied[]): void {
    this.#set = [...this.#set, ...fragments];
    this.#list = undefined;
  }

  /** Takes out the fragments with this id, or this very fragment; also where one that is stored stands for it. */
  remove(idOrFragment: string | ContextFragment): void {
    const is = (fragment: ContextFragment): boolean =>
      fragment === idOrFragment || (typeof idOrFragment === 'string' && fragment.id === idOrFragment);
    const isMeant = ({ original, copy }: Copied): boolean => is(original) || is(copy);
    const gone = this.#set.filter(isMeant).map(({ copy }) => keyOf(copy));
    this.#set = this.#set.filter((one) => !isMeant(one));
    this.#change(() => {
      this.#stored = this.#stored.filter((fragment) => !is(fragment) && !gone.includes(keyOf(fragment)));
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
    this.#mounted.set(owner, { order, fragments: context.map(({ copy }) => copy) });
    this.#list = undefined;
  }

  unmount(owner: object): boolean {
    this.#list = undefined;
    return this.#mounted.delete(owner);
  }

  /** Puts back what an earlier run kept, but for what was taken out meanwhile. */
  restore({ fragments, unread }: KeptFragments): void {
    this.#stored = fragments;
    this.#unread = unread;
    this.#early?.forEach((change) => change());
    this.#early = this.#list = undefined;
  }

  /** What is to be kept with the chat: all but what mounted components say, and what the app keeps to this run. */
  kept(): KeptFragments {
    const own = [...this.#stored, ...this.#set.map(({ copy }) => copy)];
    return { fragments: own.filter(({ persist }) => persist !== false), unread: this.#unread };
  }
}

/** What was handed in, and the copy that is kept, so that the caller's objects are never changed. */
export interface Copied {
  readonly original: ContextFragment;
  readonly copy: ContextFragment;
}

/** What makes two fragments equal; a fragment that can't be serialised is equal only to itself. */
function keyOf(fragment: ContextFragment): unknown {
  try {
    return JSON.stringify(fromFragment(fragment));
  } catch {
    return fragment;
  }
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
