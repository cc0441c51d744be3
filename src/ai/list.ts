import type { UIMessage } from 'ai';
import type { ContextEngine } from '../engine/engine.ts';
import { sameContent, sameItems, sameJson } from '../engine/same.ts';

/**
 * The list of a chat, and what is known to be saved of it.
 *
 * The AI SDK works on the list: it cuts it, puts answers at its end, and lets the last one grow. What is saved is
 * compared with it, by what it says, when something is sent. Objects that say the same are used again, so that nothing is
 * rendered anew that did not change; nothing is decided by them.
 */
export class List<M extends UIMessage> {
  readonly #engine: ContextEngine;
  readonly #state: { messages: M[] };
  /** What the app shows before anything is saved. */
  readonly #greeting: readonly M[];
  /** The messages of the branch as they are saved. */
  saved: readonly M[] = [];
  /** What another tab is writing here: in the list to be seen grow, and gone from it before anything is sent. */
  remoteMessages: readonly M[] = [];
  /** What was last seen of the engine; undefined where what comes next is looked at, whatever it is. */
  followed: readonly UIMessage[] | undefined;

  constructor(engine: ContextEngine, state: { messages: M[] }, greeting: readonly M[]) {
    this.#engine = engine;
    this.#state = state;
    this.#greeting = greeting;
  }

  /** The messages that the AI SDK works on. */
  get now(): M[] {
    return this.#state.messages;
  }

  set now(messages: readonly M[]) {
    if (!sameItems(this.now, messages)) this.#state.messages = [...messages];
  }

  /** Lets those who show the list look at it again. */
  touch(): void {
    this.#state.messages = [...this.now];
  }

  /** What the list shows when nobody changes it. */
  get whole(): readonly M[] {
    const grown = this.remoteMessages.filter(({ parts }) => parts.length > 0);
    const whole = grown.reduce<readonly M[]>(put, this.saved);
    return whole[0] ? whole : this.#greeting;
  }

  /** What the list began with, where nothing is saved; else what is. */
  get begun(): readonly M[] {
    return this.saved[0] ? this.saved : this.#greeting;
  }

  /** The branch shows these messages now, and another tab is writing those behind it. */
  follow(shown: readonly M[], remoteMessages: readonly M[]): void {
    const before = this.remoteMessages;
    const isUnchanged = sameLists(this.now, this.whole);
    if (shown !== this.followed) this.saved = listAfter(this.#engine, this.saved, shown);
    this.followed = shown;
    this.remoteMessages = remoteMessages;
    const { whole } = this;
    const grown = (message: M): M => (withId(before, message.id) && withId(whole, message.id)) ?? message;
    this.now = isUnchanged ? whole : this.now.map(grown);
  }

  /** Takes what another tab is writing out of the list: what is said here hangs on words that stay. */
  leaveRemote(): void {
    const { remoteMessages } = this;
    if (!remoteMessages[0]) return;
    this.remoteMessages = [];
    this.now = this.now.flatMap((message) =>
      withId(remoteMessages, message.id) ? (withId(this.saved, message.id) ?? []) : message,
    );
  }

  /** The chat was deleted, and begins anew: what it showed is no part of it. */
  beginAnew(): void {
    this.saved = [];
    this.now = [];
    this.followed = undefined;
  }

  /** Puts what the branch has before the first message before it. */
  prepend(shown: readonly M[]): void {
    const [first] = this.saved;
    const count = shown.findIndex(({ id }) => id === first?.id);
    if (count <= 0) return;
    const earlier = shown.slice(0, count);
    const isShown = this.now[0]?.id === first?.id;
    this.saved = [...earlier, ...this.saved];
    if (isShown) this.now = [...earlier, ...this.now];
  }

  /**
   * Returns a function that gives the list up to a question, each message as it is saved when the function is called; undefined
   * where there is no such question. Versions have one id, and another version may be shown by then, so messages are found by
   * the keys that they have now.
   */
  upTo(messageId: string | undefined, branchId: string | undefined): (() => readonly M[]) | undefined {
    const engine = this.#engine;
    const index = this.now.findIndex(({ id, role }) => id === messageId && role === 'user');
    if (index === -1) return undefined;
    const stood = this.now.slice(0, index + 1).map((one) => [one, keyOf(engine, one.id, branchId)] as const);
    return () =>
      stood.map(([one, key]) => {
        const saved = key === undefined ? withId(this.saved, one.id) : engine.message(key);
        return (saved as M | undefined) ?? one;
      });
  }
}

export function withId<M extends UIMessage>(
  list: readonly M[],
  messageId: string | undefined,
): M | undefined {
  return list.find(({ id }) => id === messageId);
}

/** A list with a message in the place of the one with its id, or at its end. */
export function put<M extends UIMessage>(list: readonly M[], message: M): readonly M[] {
  const at = list.findIndex(({ id }) => id === message.id);
  return at === -1 ? [...list, message] : list.with(at, message);
}

/** Whether two messages are one, and say the same; but for reminders, which an interface may show or not. */
export function sameMessage(a: UIMessage, b: UIMessage): boolean {
  return a === b || (a.id === b.id && sameContent(a, b));
}

/** Whether two lists show the same, reminders included. */
function sameLists(a: readonly UIMessage[], b: readonly UIMessage[]): boolean {
  return a.length === b.length && a.every((message, i) => sameJson(message, b[i]));
}

/**
 * The list of a chat, when its branch shows these messages now: with the objects that it has for messages that did not
 * change, so that nothing is rendered anew, and with what it has loaded of the conversation before them.
 */
export function listAfter<M extends UIMessage>(
  engine: ContextEngine,
  list: readonly M[],
  shown: readonly M[],
): M[] {
  const own = new Map(list.map((message) => [message.id, message]));
  const kept = (message: M): M => {
    const mine = own.get(message.id);
    return mine && sameMessage(mine, message) ? mine : message;
  };
  const parentId = shown[0] && engine.node(shown[0].id)?.parentId;
  const earlier = list.slice(0, list.findIndex(({ id }) => id === parentId) + 1);
  return [...earlier, ...shown.map(kept)];
}

/** The key of the last message of a branch that is shown; undefined for an empty one. */
export function headOf(engine: ContextEngine, branchId: string | undefined): string | undefined {
  return engine.state.getState().branches.find(({ id }) => id === branchId)?.headKey ?? undefined;
}

/** The key of a message of a list that is on a branch; undefined for one that is not saved. */
export function keyOf(engine: ContextEngine, id: string, branchId: string | undefined): string | undefined {
  return engine.nodesOf(id, branchId)[0]?.key;
}
