import type { UIMessage } from 'ai';
import { ContextError, isContextError, reasonOf } from '../errors.ts';
import { checkStoredMessage } from '../fragment/message.ts';
import { chainIds } from '../graph/graph.ts';
import type { History } from './history.ts';

/**
 * The messages that the model gets, kept from turn to turn.
 *
 * A chat of ten thousand messages grows by two. Walking, reading and checking all of it again for those two is what
 * makes long chats slow everywhere. Here the chain of a head is kept as a list; the next head is usually a descendant,
 * and then only the new messages are walked, read and checked. A message that changed cuts the list at its place.
 */
export class Chains {
  readonly #history: History;
  readonly #load: (ids: readonly string[]) => Promise<void>;
  readonly #validate: ((messages: UIMessage[]) => unknown) | undefined;
  readonly #report: (id: string, error: ContextError) => void;
  readonly #checked: WeakMap<UIMessage, boolean> = new WeakMap();
  #chains: Chain[] = [];

  constructor(options: {
    readonly history: History;
    /** Loads the bodies of these ids. */
    readonly load: (ids: readonly string[]) => Promise<void>;
    readonly validate: ((messages: UIMessage[]) => unknown) | undefined;
    /** Hears of a stored message that can't be sent. */
    readonly report: (id: string, error: ContextError) => void;
  }) {
    this.#history = options.history;
    this.#load = options.load;
    this.#validate = options.validate;
    this.#report = options.report;
  }

  /** Forgets what was kept from this message on, because it changed. */
  cut(id: string): void {
    for (const chain of this.#chains) {
      const at = placeIn(chain, id);
      if (at !== undefined) truncate(chain, at);
    }
  }

  /** The messages up to `head`, oldest first, that can be sent: with parts, and valid. Costs what is new. */
  async messages(head: string | null): Promise<readonly UIMessage[]> {
    const chain = this.#chainFor(head);
    while (!(await this.#extend(chain, head)));
    return chain.messages;
  }

  /** Those of these messages that can be sent. */
  async sound(messages: readonly UIMessage[]): Promise<UIMessage[]> {
    await this.#check(messages);
    return messages.filter((message) => this.#isSendable(message));
  }

  #isSendable(message: UIMessage): boolean {
    return message.parts.length > 0 && this.#checked.get(message) === true;
  }

  /** Adds what is new on the way to `head`; false when a message grew meanwhile, and it is to be looked at again. */
  async #extend(chain: Chain, head: string | null): Promise<boolean> {
    const { length } = chain.ids;
    const ids = chainIds(this.#history.graph, head, chain.ids.at(-1) ?? null);
    await this.#load(ids);
    const messages = ids.map((id) => this.#history.body(id)?.data);
    await this.#check(messages.filter((message) => message !== undefined));
    if (chain.ids.length !== length || ids.some((id, i) => this.#history.body(id)?.data !== messages[i]))
      return false;
    ids.forEach((id, i) => this.#add(chain, id, messages[i]));
    return true;
  }

  #add(chain: Chain, id: string, message: UIMessage | undefined): void {
    chain.places.set(id, chain.ids.length);
    chain.ids.push(id);
    if (message && this.#isSendable(message)) chain.messages.push(message);
    chain.sent.push(chain.messages.length);
  }

  /** A kept chain shortened to what it shares with the way to `head`; at most a few are kept. */
  #chainFor(head: string | null): Chain {
    const { chain: best, length } = this.#longestShared(head);
    const chain = fitted(best, length);
    this.#chains = [chain, ...this.#chains.filter((other) => other !== chain)].slice(0, KEPT_CHAINS);
    return chain;
  }

  /** The kept chain that shares most with the way to `head`, and how many ids that is. Costs the way to there. */
  #longestShared(head: string | null): { readonly chain: Chain; readonly length: number } {
    const { nodes } = this.#history.graph;
    for (let id = head; id !== null; id = nodes.get(id)?.parentId ?? null) {
      const at = id;
      const holding = this.#chains.filter((chain) => placeIn(chain, at) !== undefined);
      const chain = holding.find(({ ids }) => ids.at(-1) === at) ?? holding[0];
      if (chain) return { chain, length: (placeIn(chain, at) ?? 0) + 1 };
    }
    return { chain: emptyChain(), length: 0 };
  }

  async #check(messages: readonly UIMessage[]): Promise<void> {
    const fresh = messages.filter((message) => message.parts.length > 0 && !this.#checked.has(message));
    const sound = fresh.filter((message) => this.#isSound(message));
    if (!this.#validate || sound.length === 0) return;
    if ((await this.#refusal(sound)) === undefined) return;
    for (const message of sound) this.#refuse(message, await this.#refusal([message]));
  }

  #refuse(message: UIMessage, reason: ContextError | undefined): void {
    if (!reason) return;
    this.#checked.set(message, false);
    this.#report(message.id, reason);
  }

  /** Looks at messages that are likely to be sent, while nobody waits. One that can't be is told of when it should be. */
  check(messages: readonly UIMessage[]): void {
    if (!this.#validate) for (const message of messages) this.#isSound(message, false);
  }

  #isSound(message: UIMessage, isAsked = true): boolean {
    try {
      checkStoredMessage(message);
      this.#checked.set(message, true);
      return true;
    } catch (error) {
      if (isAsked) this.#refuse(message, error as ContextError);
      return false;
    }
  }

  async #refusal(messages: readonly UIMessage[]): Promise<ContextError | undefined> {
    try {
      await this.#validate?.([...messages]);
      return undefined;
    } catch (cause) {
      return isContextError(cause)
        ? cause
        : new ContextError('invalid-messages', `validate() refused a stored message: ${reasonOf(cause)}`, {
            cause,
          });
    }
  }
}

const KEPT_CHAINS = 4;

interface Chain {
  /** Every id from the root on. */
  readonly ids: string[];
  /** Where these are ({@link placeIn}); one that was cut off may be in here still. */
  readonly places: Map<string, number>;
  /** The messages among them that can be sent... */
  readonly messages: UIMessage[];
  /** ...and how many of those stand up to and including each id. */
  readonly sent: number[];
}

function emptyChain(): Chain {
  return { ids: [], places: new Map(), messages: [], sent: [] };
}

/** The chain up to a length: itself, cut, if little is lost by that, or else a copy of its beginning. */
function fitted(chain: Chain, length: number): Chain {
  if (chain.ids.length - length > length) return copyOf(chain, length);
  truncate(chain, length);
  return chain;
}

function copyOf(chain: Chain, length: number): Chain {
  const ids = chain.ids.slice(0, length);
  return {
    ids,
    places: new Map(ids.map((id, i) => [id, i])),
    messages: chain.messages.slice(0, chain.sent[length - 1] ?? 0),
    sent: chain.sent.slice(0, length),
  };
}

/** Where a message stands in a chain; undefined where it does not. */
function placeIn({ ids, places }: Chain, id: string): number | undefined {
  const at = places.get(id);
  return at !== undefined && ids[at] === id ? at : undefined;
}

function truncate(chain: Chain, length: number): void {
  chain.ids.length = length;
  chain.sent.length = length;
  chain.messages.length = chain.sent[length - 1] ?? 0;
}
