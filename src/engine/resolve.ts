import type { UIMessage } from 'ai';
import { ContextError, isContextError, reasonOf } from '../errors.ts';
import { checkStoredMessage } from '../fragment/message.ts';
import { upward } from '../graph/graph.ts';
import { sameItems } from './same.ts';
import type { Writer } from './writer.ts';

/**
 * The messages that the model gets, kept from turn to turn.
 *
 * A chat of ten thousand messages grows by two. Walking, reading and checking all of it again for those two is what
 * makes long chats slow everywhere. Here the chain that was asked for last is kept as a list; the next head is usually a
 * descendant, and then only the new messages are walked, read and checked. A message that changed cuts the list at its place.
 */
export class Chains {
  readonly #writer: Writer;
  readonly #checked: WeakMap<UIMessage, boolean> = new WeakMap();
  /** Every key of the kept chain, the first message's first, and where each stands; keys that were cut off may be in here. */
  readonly #keys: string[] = [];
  readonly #places: Map<string, number> = new Map();
  /** The messages among them that can be sent, and how many of those stand up to and including each key. */
  readonly #messages: UIMessage[] = [];
  readonly #sent: number[] = [];

  constructor(writer: Writer) {
    this.#writer = writer;
  }

  /** Forgets all that was kept. */
  clear(): void {
    this.#truncate(0);
  }

  /** Forgets what was kept from this message on, because it changed. */
  cut(key: string): void {
    const at = this.#placeOf(key);
    if (at !== undefined) this.#truncate(at);
  }

  #placeOf(key: string): number | undefined {
    const at = this.#places.get(key);
    return at !== undefined && this.#keys[at] === key ? at : undefined;
  }

  #truncate(length: number): void {
    this.#keys.length = this.#sent.length = length;
    this.#messages.length = this.#sent[length - 1] ?? 0;
    if (length === 0) this.#places.clear();
  }

  /** The messages up to `head`, oldest first, that can be sent: with parts, and valid. Costs what is new. */
  async messages(head: string | null): Promise<UIMessage[]> {
    for (;;) {
      const keys = this.#cutTo(head);
      await this.#writer.view.loadBodies(keys);
      const bodies = keys.map((key) => this.#writer.replica.body(key));
      await this.#check(bodies.filter((body) => body !== undefined));
      // A message may have grown meanwhile, or another chain may have been asked for.
      const isSame = sameItems(this.#cutTo(head), keys);
      if (!isSame || keys.some((key, i) => this.#writer.replica.body(key) !== bodies[i])) continue;
      keys.forEach((key, i) => this.#add(key, bodies[i]));
      return [...this.#messages];
    }
  }

  /** Cuts the kept chain to what it shares with the way to `head`; gives the keys that come behind that. */
  #cutTo(head: string | null): string[] {
    const fresh: string[] = [];
    let shared = 0;
    for (const { key } of upward(this.#writer.replica.chat, head)) {
      shared = (this.#placeOf(key) ?? -1) + 1;
      if (shared > 0) break;
      fresh.push(key);
    }
    this.#truncate(shared);
    return fresh.toReversed();
  }

  #add(key: string, message: UIMessage | undefined): void {
    this.#places.set(key, this.#keys.length);
    this.#keys.push(key);
    if (message && this.#isSendable(message)) this.#messages.push(message);
    this.#sent.push(this.#messages.length);
  }

  /** Those of these messages that can be sent. */
  async sound(messages: readonly UIMessage[]): Promise<UIMessage[]> {
    await this.#check(messages);
    return messages.filter((message) => this.#isSendable(message));
  }

  #isSendable(message: UIMessage): boolean {
    return message.parts.length > 0 && this.#checked.get(message) === true;
  }

  async #check(messages: readonly UIMessage[]): Promise<void> {
    const fresh = messages.filter((message) => message.parts.length > 0 && !this.#checked.has(message));
    const sound = fresh.filter((message) => this.#isSound(message));
    if (!this.#writer.desk.options.validate || sound.length === 0) return;
    if ((await this.#refusal(sound)) === undefined) return;
    for (const message of sound) this.#refuse(message, await this.#refusal([message]));
  }

  #refuse(message: UIMessage, reason: ContextError | undefined): void {
    if (!reason) return;
    this.#checked.set(message, false);
    const { code, message: words } = reason;
    this.#writer.desk.emit({ type: 'error', code, message: words, id: message.id });
  }

  #isSound(message: UIMessage): boolean {
    try {
      checkStoredMessage(message);
      this.#checked.set(message, true);
      return true;
    } catch (error) {
      this.#refuse(message, error as ContextError);
      return false;
    }
  }

  async #refusal(messages: readonly UIMessage[]): Promise<ContextError | undefined> {
    try {
      await this.#writer.desk.options.validate?.([...messages]);
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
