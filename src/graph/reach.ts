import type { Way } from './branches.ts';
import {
  chainOf,
  childrenOf,
  depthOf,
  recordAt,
  shownVersion,
  upward,
  type ChatValue,
  type MessageRecord,
} from './graph.ts';

/**
 * Which messages are on live branches, and where each branch came from.
 *
 * A pager offers the versions on live branches; a list of branches says of each where it came from and what it adds. Both are
 * one walk: branches in the order in which they were made, each from its head up to the first message that an older one has
 * visited. After a turn the walk of its branch is continued.
 */
export class Reach {
  readonly #chat: ChatValue;
  #live: readonly Way[] = [];
  readonly #ownerOf = new Map<string, string>();
  readonly #known = new Map<string, { readonly head: string | null; readonly origin: Origin }>();

  constructor(chat: ChatValue, live: readonly Way[]) {
    this.#chat = chat;
    this.update(live);
  }

  /** Whether a message is on a live branch, by its key. */
  has(key: string): boolean {
    return this.#ownerOf.has(key);
  }

  /** The origin of a live branch, by its id. */
  originOf(id: string): Origin | undefined {
    return this.#known.get(id)?.origin;
  }

  /**
   * Updates after a join that changed no known chain. Costs the messages that were added; all where a branch was removed, or
   * came between others.
   */
  update(live: readonly Way[]): void {
    if (live === this.#live) return;
    this.#live = live;
    const isLonger = [...this.#known.keys()].every((id, i) => live[i]?.id === id);
    if (isLonger && live.every((way) => this.#walkOn(way))) return;
    this.#ownerOf.clear();
    this.#known.clear();
    for (const way of live) this.#walk(way);
  }

  /** Continues the walk of a branch; false if the branch did anything but grow. */
  #walkOn(way: Way): boolean {
    const known = this.#known.get(way.id);
    if (!known) this.#walk(way);
    if (!known || known.head === way.head) return true;
    const { stop, passed } = this.#pass(way);
    if (stop !== known.head || stop === null) return false;
    const first = known.origin.first ?? passed.at(-1) ?? null;
    this.#known.set(way.id, { head: way.head, origin: { ...known.origin, first } });
    return true;
  }

  #walk(way: Way): void {
    const { stop, passed } = this.#pass(way);
    const oldest = this.#known.keys().next().value;
    const from = stop === null ? oldest : this.#ownerOf.get(stop);
    this.#known.set(way.id, { head: way.head, origin: { from, at: stop, first: passed.at(-1) ?? null } });
  }

  /** Walks up from a head to the first visited message; returns it, and the messages before it. */
  #pass(way: Way): { readonly stop: string | null; readonly passed: readonly string[] } {
    const passed: string[] = [];
    for (const { key } of upward(this.#chat, way.head)) {
      if (this.#ownerOf.has(key)) return { stop: key, passed };
      this.#ownerOf.set(key, way.id);
      passed.push(key);
    }
    return { stop: null, passed };
  }
}

/** Where a branch came from. */
export interface Origin {
  /** The id of the older live branch that shares the longest beginning with it; undefined for the oldest branch. */
  readonly from: string | undefined;
  /** The key of the last message that they share; null where they share none. */
  readonly at: string | null;
  /** The key of its own first message; null while it has none. */
  readonly first: string | null;
}

/** What a list shows of a branch, beside ages and counts. */
export interface BranchLabel {
  /** The name that a person gave, else the first words that differ from its origin; its generated name where there are none. */
  readonly label: string;
  /** {@link Origin.from} */
  readonly forkedFrom: string | undefined;
  /** {@link Origin.at} */
  readonly forkedAt: string | null;
  /** Messages behind `forkedAt`. */
  readonly ownCount: number;
}

const NO_ORIGIN: Origin = { from: undefined, at: null, first: null };

/** What a list shows of a branch. Cheap, unless its own first message has no text, or that of an older version. */
export function labelOf(chat: ChatValue, way: Way, origin: Origin = NO_ORIGIN): BranchLabel {
  return {
    label: way.isNamed ? way.name : (firstWords(chat, way, origin) ?? way.name),
    forkedFrom: origin.from,
    forkedAt: origin.at,
    ownCount: depthOf(chat, way.head) - depthOf(chat, origin.at),
  };
}

/** The first words of its own that the oldest version of the same message does not have; else its first words. */
function firstWords(chat: ChatValue, { head }: Way, { first, at }: Origin): string | undefined {
  const own = recordAt(chat, first);
  if (!own) return undefined;
  const { record: oldest = own } = childrenOf(chat, own.parent)[0] ?? {};
  const words = shownVersion(own).preview;
  const others = oldest === own ? '' : shownVersion(oldest).preview;
  if (words !== '' && words !== others) return differing(words, others);
  const next = chainOf(chat, head, at).map(
    (key) => shownVersion(recordAt(chat, key) as MessageRecord).preview,
  );
  return next.find((one) => one !== '' && one !== words) ?? (words || undefined);
}

/** The words, without a long beginning that the other ones share. */
function differing(words: string, others: string): string {
  let shared = 0;
  while (shared < words.length && words[shared] === others[shared]) shared += 1;
  if (shared === words.length || shared < SHARED) return words;
  const start = words.lastIndexOf(' ', shared - CONTEXT) + 1;
  return `…${words.slice(start)}`;
}

/** From how many shared characters on a label leaves out the beginning, and how many of them it keeps. */
const SHARED = 24;
const CONTEXT = 10;
