import type { UIMessage } from 'ai';
import type { ContextEngine } from '../engine/engine.ts';
import { sameContent, sameItems, sameJson } from '../graph/same.ts';

/**
 * The message list of a chat, and which of it is known to be saved.
 *
 * The AI SDK cuts the list, appends answers, and lets the last one grow. When something is sent, the list is compared with what
 * is saved, by content. Message objects with equal content are reused, so that React renders nothing anew.
 */
export class List {
  readonly #engine: ContextEngine;
  readonly #state: { messages: UIMessage[] };
  /** The messages that an app shows in an empty conversation. */
  readonly #greeting: readonly UIMessage[];
  saved: readonly UIMessage[] = [];
  /** The messages that another tab is writing: shown at the end of the list, and removed from it before anything is sent. */
  remoteMessages: readonly UIMessage[] = [];
  /** The engine's messages that the list was last updated from; undefined before any, an empty list to update it anew. */
  followed: readonly UIMessage[] | undefined;

  constructor(engine: ContextEngine, state: { messages: UIMessage[] }, greeting: readonly UIMessage[]) {
    this.#engine = engine;
    this.#state = state;
    this.#greeting = greeting;
  }

  get now(): UIMessage[] {
    return this.#state.messages;
  }

  set now(messages: readonly UIMessage[]) {
    if (!sameItems(this.now, messages)) this.#state.messages = [...messages];
  }

  /** Notifies subscribers of the list. */
  touch(): void {
    this.#state.messages = [...this.now];
  }

  /** What the list shows while nobody changes it. */
  get whole(): readonly UIMessage[] {
    const grown = this.remoteMessages.filter(({ parts }) => parts.length > 0);
    const whole = grown.reduce<readonly UIMessage[]>(put, this.saved);
    return whole[0] ? whole : this.#greeting;
  }

  /** Updates the list to the branch's messages, with those that another tab is writing behind them. */
  follow(shown: readonly UIMessage[], remoteMessages: readonly UIMessage[]): void {
    const before = this.whole;
    const isUnchanged = sameJson(this.now, before);
    // Sent before the conversation could be read: what is read goes in front of it.
    const isEarly = this.followed === undefined;
    if (shown !== this.followed) this.saved = listAfter(this.#engine, this.saved, shown);
    this.followed = shown;
    this.remoteMessages = remoteMessages;
    if (isUnchanged) this.now = this.whole;
    else if (isEarly) this.now = [...this.whole, ...this.now.filter((one) => !before.includes(one))];
    else this.renew(before, this.whole);
  }

  /** Replaces messages that the list has as they were `before` by what they are now. */
  renew(before: readonly UIMessage[], now: readonly UIMessage[]): void {
    const [known, next] = [byId(before), byId(now)];
    this.now = this.now.map((message) => {
      const was = known.get(message.id);
      return (was && sameMessage(message, was) && next.get(message.id)) || message;
    });
  }

  /** Takes in a message as it is saved. */
  keep(message: UIMessage): void {
    this.saved = put(this.saved, message);
    if (withId(this.now, message.id)) this.now = put(this.now, message);
  }

  /** Removes what another tab is writing from the list: what is sent here must hang on saved messages. */
  leaveRemote(): void {
    const { remoteMessages } = this;
    if (!remoteMessages[0]) return;
    this.remoteMessages = [];
    this.now = this.now.flatMap((message) =>
      withId(remoteMessages, message.id) ? (withId(this.saved, message.id) ?? []) : message,
    );
  }

  /** Empties the list of a deleted chat. */
  beginAnew(): void {
    this.saved = [];
    this.now = [];
    this.followed = [];
  }

  /** Adds the branch's messages that stand before the first one of the list. */
  prepend(shown: readonly UIMessage[]): void {
    const [first] = this.saved;
    const count = shown.findIndex(({ id }) => id === first?.id);
    if (count <= 0) return;
    const earlier = shown.slice(0, count);
    const isShown = this.now[0]?.id === first?.id;
    this.saved = [...earlier, ...this.saved];
    if (isShown) this.now = [...earlier, ...this.now];
  }
}

export function withId(list: readonly UIMessage[], messageId: string | undefined): UIMessage | undefined {
  return list.find(({ id }) => id === messageId);
}

/** The messages of a list by their ids. */
export function byId(list: readonly UIMessage[]): ReadonlyMap<string, UIMessage> {
  return new Map(list.map((message) => [message.id, message]));
}

/** A list in which a message replaces the one with its id, or is appended. */
export function put(list: readonly UIMessage[], message: UIMessage): readonly UIMessage[] {
  const at = list.findIndex(({ id }) => id === message.id);
  return at === -1 ? [...list, message] : list.with(at, message);
}

/** Whether two messages have one id and equal content, reminders aside: an interface may show them or not. */
export function sameMessage(a: UIMessage, b: UIMessage): boolean {
  return a === b || (a.id === b.id && sameContent(a, b));
}

/**
 * The list that a chat shows for these messages of its branch: it reuses the chat's objects for unchanged messages, so that
 * React renders nothing anew, and keeps the earlier messages that the chat has loaded.
 */
function listAfter(
  engine: ContextEngine,
  list: readonly UIMessage[],
  shown: readonly UIMessage[],
): UIMessage[] {
  const own = byId(list);
  const kept = (message: UIMessage): UIMessage => {
    const mine = own.get(message.id);
    return mine && sameMessage(mine, message) ? mine : message;
  };
  const parentId = shown[0] && engine.node(shown[0].id)?.parentId;
  const earlier = list.slice(0, list.findIndex(({ id }) => id === parentId) + 1);
  return [...earlier, ...shown.map(kept)];
}

/** The key of the last message that a branch shows; undefined for an empty branch. */
export function headOf(engine: ContextEngine, branchId: string | undefined): string | undefined {
  return engine.state.getState().branches.find(({ id }) => id === branchId)?.headKey ?? undefined;
}

/** The key of a message, by its id, on a branch; undefined for a message that is not saved. */
export function keyOf(engine: ContextEngine, id: string, branchId: string | undefined): string | undefined {
  return engine.nodesOf(id, branchId)[0]?.key;
}
