import type { UIMessage } from 'ai';
import type { ContextEngine } from '../engine/engine.ts';
import { sameItems } from '../engine/same.ts';
import { isToolPart, type ToolPart } from './toolPart.ts';

/**
 * The list of a chat, and what is known to be saved of it.
 *
 * The AI SDK works on the list: it cuts it, puts answers at its end, and lets the last one grow. What is saved is
 * compared with it when something is said. Both hold the very same objects, so that nothing is compared twice, and
 * nothing is rendered anew that did not change.
 */
export class List<M extends UIMessage> {
  readonly #engine: ContextEngine;
  readonly #state: { messages: M[] };
  /** What the app shows before anything is saved. */
  readonly #greeting: readonly M[];
  /** The messages of the branch as they are saved, in the very objects that the list shows. */
  saved: readonly M[] = [];
  /** What another tab is writing here: in the list to be seen grow, and gone from it before anything is said. */
  elsewhere: readonly M[] = [];
  /** What was last seen of the engine. */
  #followed: readonly UIMessage[] | undefined;
  /** The engine's objects, and ours that say the same: which of them to keep when the list follows. */
  readonly #twins: WeakMap<UIMessage, M> = new WeakMap();

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
    this.#state.messages = [...messages];
  }

  /** What the list shows when nobody changes it. */
  get whole(): readonly M[] {
    const grown = this.elsewhere.filter(({ parts }) => parts.length > 0);
    const whole = grown.reduce<readonly M[]>(put, this.saved);
    return whole.length > 0 ? whole : this.#greeting;
  }

  /** What the list began with, where nothing is saved; else what is. */
  get begun(): readonly M[] {
    return this.saved.length > 0 ? this.saved : this.#greeting;
  }

  /** Whether these were followed already. */
  isAt(shown: readonly UIMessage[], elsewhere: readonly UIMessage[]): boolean {
    return shown === this.#followed && elsewhere === this.elsewhere;
  }

  /** The branch shows these messages now, and another tab is writing those behind it. */
  follow(shown: readonly M[], elsewhere: readonly M[]): void {
    const before = this.elsewhere;
    const isUnchanged = sameItems(this.now, this.whole);
    if (shown !== this.#followed) this.saved = listAfter(this.#engine, this.saved, shown, this.#twins);
    this.#followed = shown;
    this.elsewhere = elsewhere;
    const { whole } = this;
    const grown = (message: M): M =>
      before.includes(message) ? (withId(whole, message.id) ?? message) : message;
    const next = isUnchanged ? whole : this.now.map(grown);
    if (!sameItems(this.now, next)) this.now = next;
  }

  /** What is followed next is looked at, whatever it is. */
  forget(): void {
    this.#followed = undefined;
  }

  /** Takes what another tab is writing out of the list: what is said here hangs on words that stay. */
  leaveElsewhere(): void {
    const { elsewhere } = this;
    if (elsewhere.length === 0) return;
    this.elsewhere = [];
    this.now = this.now.flatMap((message) =>
      elsewhere.includes(message) ? (withId(this.saved, message.id) ?? []) : message,
    );
  }

  /** Puts what the branch has before the first message before it. */
  prepend(shown: readonly M[]): void {
    const [first] = this.saved;
    const count = shown.findIndex(({ id }) => id === first?.id);
    if (count <= 0) return;
    const earlier = shown.slice(0, count);
    const isShown = this.now[0] === first;
    this.saved = [...earlier, ...this.saved];
    if (isShown) this.now = [...earlier, ...this.now];
  }

  /** A message was changed in a chat that shows it. This one, if it shows it too, must not go on from what it was. */
  learn(message: M): void {
    // A settled one may stand before what another tab is writing.
    const known = withId(this.whole, message.id);
    if (!known || known === message) return;
    if (this.saved.includes(known)) this.saved = put(this.saved, message);
    else this.elsewhere = put(this.elsewhere, message);
    if (this.now.includes(known)) this.now = put(this.now, message);
  }

  /** The message in which a tool is called. */
  asking(isCall: IsCall): M | undefined {
    return this.now.findLast(({ parts }) => parts.some((part) => isToolPart(part) && isCall(part)));
  }
}

/** Which call of a tool is meant. */
export type IsCall = (part: ToolPart) => boolean;

export function withId<M extends UIMessage>(list: readonly M[], messageId: string): M | undefined {
  return list.find(({ id }) => id === messageId);
}

/** A list with a message in the place of the one with its id, or at its end. */
export function put<M extends UIMessage>(list: readonly M[], message: M): readonly M[] {
  const at = list.findIndex(({ id }) => id === message.id);
  return at === -1 ? [...list, message] : list.with(at, message);
}

/**
 * The list of a chat, when its branch shows these messages now: with the objects that it has for messages that did not
 * change, so that nothing is rendered anew, and with what it has loaded of the conversation before them.
 *
 * `twins` remembers which of the chat's objects say the same as which of the engine's, so that each is compared once.
 */
export function listAfter<M extends UIMessage>(
  engine: ContextEngine,
  list: readonly M[],
  shown: readonly M[],
  twins: WeakMap<UIMessage, M>,
): M[] {
  const own = new Map(list.map((message) => [message.id, message]));
  const kept = (message: M): M => {
    const mine = own.get(message.id);
    if (!mine || twins.get(message) === mine) return mine ?? message;
    if (!engine.matches(mine)) return message;
    twins.set(message, mine);
    return mine;
  };
  const parentId = shown[0] && engine.node(shown[0].id)?.parentId;
  const earlier = list.slice(0, list.findIndex(({ id }) => id === parentId) + 1);
  return [...earlier, ...shown.map(kept)];
}

/** The last message of a branch; undefined for an empty one. */
export function headOf(engine: ContextEngine, branchId: string | undefined): string | undefined {
  return engine.state.getState().branches.find(({ id }) => id === branchId)?.headMessageId ?? undefined;
}
