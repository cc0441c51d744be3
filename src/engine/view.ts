import type { UIMessage } from 'ai';
import { ContextError } from '../errors.ts';
import { labelOf } from '../graph/reach.ts';
import { chainOf, holds, upward, type MessageRecord } from '../graph/graph.ts';
import { Handles, type Handle } from './handles.ts';
import { keepIfSame, keepSame } from './same.ts';
import type { BranchInfo, EngineState } from './state.ts';

/** How many messages are loaded when a branch is shown, and how many more by each `loadMore()`. */
export const PAGE = 200;

/** What is shown of a chat: the loaded end of the chain of the branch that is shown, and what another tab writes behind it. */
export class View extends Handles {
  #shown: Shown = { head: null, keys: [], from: 0 };
  #behind: readonly string[] = [];
  /** Messages of which words were asked for and are nowhere. */
  readonly #lost: Set<string> = new Set();

  // ------------------------------------------------------------------ loading

  /** Loads the last messages of what is shown: at least `count`, or as many as were loaded. */
  async load(count = 0): Promise<void> {
    const head = this.head();
    const next = this.#next(head, count);
    await this.loadBodies(next.keys.slice(next.from));
    // What another tab is writing can be looked at; no turn of this page depends on it.
    this.#behind = this.at === null ? this.#foreignBehind() : [];
    await this.loadBodies(this.#behind).catch(() => {});
    // Another branch may be shown by now, or a message may have come.
    if (this.head() !== head) return this.load();
    this.#shown = next;
  }

  get loadedCount(): number {
    return this.#shown.keys.length - this.#shown.from;
  }

  /** Loads what a branch would show, up to its head or to `at`; whether all of it was there. */
  async foresee({ key }: Handle, at: string | null): Promise<boolean> {
    const { keys, from } = this.#next(at ?? key, 0);
    await this.loadBodies(keys.slice(from));
    return this.replica.missing(keys.slice(from)).length === 0;
  }

  /** Loads the words of these messages where they are not here. */
  async loadBodies(keys: readonly string[]): Promise<void> {
    const missing = this.replica.missing(keys).filter((key) => !this.#lost.has(key));
    if (missing.length === 0) return;
    const records = missing.flatMap((key) => this.replica.record(key) ?? []);
    const bodies = await this.desk.store.bodies(this.desk.chatId, missing, records);
    this.replica.keepBodies(bodies);
    for (const key of missing) if (!bodies.has(key)) this.#lost.add(key);
  }

  /** Words that were nowhere may be somewhere by now. */
  lookAgain(): void {
    this.#lost.clear();
  }

  #foreignBehind(): string[] {
    const { way, key } = this.active;
    const { chat } = this.replica;
    for (const foreign of this.replica.foreign()) {
      if (foreign === key) return [foreign];
      const isBehind = holds(chat, way?.end ?? null, foreign) && (key === null || holds(chat, foreign, key));
      if (isBehind) return chainOf(chat, foreign, key);
    }
    return [];
  }

  #next(head: string | null, count: number): Shown {
    const { keys, shared } = this.#chainTo(head);
    const kept = this.#shown.from < shared ? this.#shown.from : Math.max(0, keys.length - PAGE);
    return { head, keys, from: Math.min(kept, Math.max(0, keys.length - count)) };
  }

  /** The chain of a head, made from the shown one where they share a beginning. */
  #chainTo(head: string | null): { readonly keys: readonly string[]; readonly shared: number } {
    const { chat } = this.replica;
    const { keys } = this.#shown;
    const added: string[] = [];
    for (const { key } of upward(chat, head)) {
      const depth = chat.depths.get(key) as number;
      if (keys[depth - 1] === key) {
        const isAll = depth === keys.length && added.length === 0;
        return { keys: isAll ? keys : keys.slice(0, depth).concat(added.toReversed()), shared: depth };
      }
      added.push(key);
    }
    return { keys: added.toReversed(), shared: 0 };
  }

  // ------------------------------------------------------------------ what the state says

  /** What the state says of the chat; what did not change keeps its identity. */
  slices(before: EngineState): Partial<EngineState> {
    const next = this.#next(this.head(), 0);
    const messages = this.#messagesOf(next.keys.slice(next.from));
    // While words of it are still to be read, what was told last stays.
    if (!messages) return {};
    this.#shown = next;
    const isThere = this.at === null && this.#behind.length > 0 && this.#foreignBehind().length > 0;
    const remote = isThere ? (this.#messagesOf(this.#behind) ?? before.remoteMessages) : [];
    return {
      branch: this.nameOf(this.activeId),
      branchId: this.activeId,
      headMessageId: this.replica.idOf(next.head) ?? undefined,
      headKey: next.head ?? undefined,
      detached: this.at !== null && this.at !== this.active.key,
      branches: keepSame(before.branches, this.branches()),
      messages: keepIfSame(before.messages, messages),
      remoteMessages: keepIfSame(before.remoteMessages, remote),
      loadedFrom: next.from,
      revision: this.replica.revision,
    };
  }

  /** The messages of these keys that show; undefined while words of one are still to be read. */
  #messagesOf(keys: readonly string[]): UIMessage[] | undefined {
    const messages: UIMessage[] = [];
    for (const key of keys) {
      const record = this.replica.record(key);
      const isBeside = this.#behind.includes(key);
      if (!record || !(isBeside || this.replica.isVisible(record))) continue;
      const body = this.replica.body(key) ?? (isBeside ? this.#silent(record) : undefined);
      if (body) messages.push(body);
      else if (this.replica.missing([key]).length > 0 && !this.#lost.has(key)) return undefined;
    }
    return messages;
  }

  /** A reserved answer of another tab, before its first word; undefined where it has words. */
  #silent(record: MessageRecord): UIMessage | undefined {
    if (this.replica.parts(record) > 0) return undefined;
    const message = silent.get(record) ?? { id: this.replica.idOf(record.key), role: 'assistant', parts: [] };
    silent.set(record, message);
    return message;
  }

  /** The live branches, as people see them. */
  branches(): BranchInfo[] {
    return this.live().map((handle) => this.infoOf(handle));
  }

  /** One branch, as people see it. */
  infoOf({ id, key, way }: Handle): BranchInfo {
    const { chat, reach } = this.replica;
    if (!way) throw new ContextError('invariant', `Branch "${id}" is not there.`);
    const { label, forkedFrom, forkedAt, ownCount } = labelOf(chat, way, reach.originOf(way.id));
    return {
      id,
      name: way.name,
      label,
      headMessageId: this.replica.idOf(key),
      headKey: key,
      isActive: id === this.activeId,
      messageCount: chat.depths.get(key ?? '') ?? 0,
      createdAt: way.createdAt,
      forkedFrom: this.handleOfWay(forkedFrom)?.id,
      forkedAt,
      ownCount,
    };
  }
}

const silent = new WeakMap<MessageRecord, UIMessage>();

/** The chain shown: all of its keys, first to last, and the index of the first one that is loaded. */
interface Shown {
  readonly head: string | null;
  readonly keys: readonly string[];
  readonly from: number;
}
