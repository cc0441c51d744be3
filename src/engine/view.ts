import type { UIMessage } from 'ai';
import { ContextError, isContextError, reasonOf } from '../errors.ts';
import { checkStoredMessage } from '../fragment/message.ts';
import type { Way } from '../graph/branches.ts';
import { chainOf, depthOf, holds, upward, type ChatValue, type MessageRecord } from '../graph/graph.ts';
import { type BranchLabel, labelOf } from '../graph/reach.ts';
import { keepIfSame, keepSame, sameItems } from '../graph/same.ts';
import { Handles, type Handle } from './handles.ts';
import type { BranchInfo, EngineState } from './state.ts';
import type { Writer } from './writer.ts';

/** How many messages are loaded when a branch is shown, and with each `loadMore()`. */
export const PAGE = 200;

/** What is shown of a chat: the loaded end of the active chain, and behind it what another tab writes. */
export class View extends Handles {
  #shown: Shown = { keys: [], from: 0 };
  /** Whether bodies that are to be shown have to be loaded first. */
  isMissing = false;
  /** Messages whose bodies were not found, and are not asked for again. */
  readonly lost: Set<string> = new Set();

  /** Loads the last messages of the active branch: at least `count`, or as many as were loaded before. */
  async load(count = 0): Promise<void> {
    const head = this.head();
    const next = this.#next(head, count);
    await this.loadBodies(next.keys.slice(next.from));
    await this.loadBodies(this.#foreignBehind()).catch(() => {});
    // During the read another branch may have been shown, or a message may have come.
    if (this.head() !== head) return this.load();
    this.#shown = next;
  }

  get loadedCount(): number {
    return this.#shown.keys.length - this.#shown.from;
  }

  /** Loads what a branch would show, up to `at`; resolves to whether all of it was found. */
  async foresee({ key }: Handle, at: string | null): Promise<boolean> {
    const { keys, from } = this.#next(at ?? key, 0);
    await this.loadBodies(keys.slice(from));
    return this.replica.missing(keys.slice(from)).length === 0;
  }

  /** Loads those bodies of these messages that are not loaded. */
  async loadBodies(keys: readonly string[]): Promise<void> {
    const missing = this.replica.missing(keys).filter((key) => !this.lost.has(key));
    if (missing.length === 0) return;
    const records = missing.flatMap((key) => this.replica.record(key) ?? []);
    const bodies = await this.desk.store.bodies(this.desk.chatId, missing, records);
    this.replica.keepBodies(bodies);
    for (const key of missing) if (!bodies.has(key)) this.lost.add(key);
  }

  /** What another tab is writing behind the last message, with that message itself if it continues that one. */
  #foreignBehind(): readonly string[] {
    if (this.at !== null) return [];
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
    const { shared, added } = chainTo(this.replica.chat, head, this.#shown.keys);
    const isAll = shared === this.#shown.keys.length && added.length === 0;
    const keys = isAll ? this.#shown.keys : [...this.#shown.keys.slice(0, shared), ...added];
    const kept = this.#shown.from < shared ? this.#shown.from : Math.max(0, keys.length - PAGE);
    return { keys, from: Math.min(kept, Math.max(0, keys.length - count)) };
  }

  slices(before: EngineState): Partial<EngineState> {
    const head = this.head();
    const next = this.#next(head, 0);
    const behind = this.#foreignBehind();
    const messages = this.#messagesOf(next.keys.slice(next.from), behind);
    const remote = this.#messagesOf(behind, behind);
    this.isMissing = !messages || !remote;
    // While bodies are being read, the slices stay.
    if (!messages) return {};
    this.#shown = next;
    return {
      branch: this.nameOf(this.active.id),
      branchId: this.active.id,
      headMessageId: this.replica.idOf(head) ?? undefined,
      headKey: head ?? undefined,
      detached: this.at !== null && this.at !== this.active.key,
      branches: keepSame(before.branches, this.branches()),
      messages: keepIfSame(before.messages, messages),
      remoteMessages: keepIfSame(before.remoteMessages, remote ?? before.remoteMessages),
      loadedFrom: next.from,
      revision: this.replica.revision,
    };
  }

  /** Those messages of these keys that show; undefined while the body of one is being read. */
  #messagesOf(keys: readonly string[], behind: readonly string[]): UIMessage[] | undefined {
    const messages: UIMessage[] = [];
    for (const key of keys) {
      const record = this.replica.record(key);
      const isBeside = behind.includes(key);
      if (!record || !(isBeside || this.replica.isVisible(record))) continue;
      // A reserved answer of another tab shows before its first word.
      const isSilent = isBeside && this.replica.parts(record) === 0;
      if (isSilent && !silent.has(record))
        silent.set(record, { id: this.replica.idOf(key), role: 'assistant', parts: [] });
      const body = this.replica.body(key) ?? (isSilent ? silent.get(record) : undefined);
      if (body) messages.push(body);
      else if (this.replica.missing([key]).length > 0 && !this.lost.has(key)) return undefined;
    }
    return messages;
  }

  branches(): BranchInfo[] {
    const infos: BranchInfo[] = [];
    for (const handle of this.live) infos.push(this.infoOf(handle));
    return infos;
  }

  /** A branch for people. Where it came from is looked up when it is first asked, and then stays. */
  infoOf({ id, key, way }: Handle): BranchInfo {
    const { replica } = this;
    if (!way) throw new ContextError('invariant', `Branch "${id}" is not there.`);
    let known: BranchLabel | undefined;
    const origin = () => (known ??= this.#labelOf(way));
    return {
      id,
      name: way.name,
      headMessageId: replica.idOf(key),
      headKey: key,
      isActive: id === this.active.id,
      messageCount: depthOf(replica.chat, key),
      createdAt: way.createdAt,
      get label() {
        return origin().label;
      },
      get forkedFrom() {
        return origin().forkedFrom;
      },
      get forkedAt() {
        return origin().forkedAt;
      },
      get ownCount() {
        return origin().ownCount;
      },
    };
  }

  #labelOf(way: Way): BranchLabel {
    const { chat, reach } = this.replica;
    const label = labelOf(chat, way, reach.originOf(way.id));
    return { ...label, forkedFrom: this.handleOfWay(label.forkedFrom)?.id };
  }
}

const silent = new WeakMap<MessageRecord, UIMessage>();

/** The shown chain: all of its keys, first to last, and the index of the first loaded message. */
interface Shown {
  readonly keys: readonly string[];
  readonly from: number;
}

/** The chain of a head: the length of the beginning that it shares with a known chain, and the keys behind that. */
function chainTo(chat: ChatValue, head: string | null, known: readonly string[]) {
  const added: string[] = [];
  let shared = 0;
  for (const { key } of upward(chat, head)) {
    const depth = depthOf(chat, key);
    if (known[depth - 1] === key) shared = depth;
    if (shared > 0) break;
    added.push(key);
  }
  return { shared, added: added.toReversed() };
}

// ------------------------------------------------------------------ what a model reads

/**
 * The messages for a model call, kept from turn to turn: a long chat grows by two messages, so only these are walked, read and
 * checked. The chain of the last call is kept; a changed message cuts it at its place.
 */
export class Chains {
  readonly #writer: Writer;
  readonly #checked: WeakMap<UIMessage, boolean> = new WeakMap();
  /** The kept chain, oldest first: the keys, and of each the message, if it can be sent. */
  readonly #keys: string[] = [];
  readonly #messages: (UIMessage | undefined)[] = [];

  constructor(writer: Writer) {
    this.#writer = writer;
  }

  clear(): void {
    this.#truncate(0);
  }

  /** Cuts the kept chain at a message that changed. */
  cut(key: string): void {
    const at = depthOf(this.#writer.replica.chat, key) - 1;
    if (this.#keys[at] === key) this.#truncate(at);
  }

  #truncate(length: number): void {
    this.#keys.length = this.#messages.length = length;
  }

  /** The messages up to `head` that can be sent (with parts, and valid), oldest first. Reads only what is new. */
  async messages(head: string | null): Promise<UIMessage[]> {
    const { replica, view } = this.#writer;
    for (;;) {
      const { shared, added } = chainTo(replica.chat, head, this.#keys);
      await view.loadBodies(added);
      const bodies = added.map((key) => replica.body(key));
      await this.#check(bodies.filter((body) => body !== undefined));
      // During the read a message may have grown, or another chain was requested.
      const now = chainTo(replica.chat, head, this.#keys);
      const isSame = now.shared === shared && sameItems(now.added, added);
      if (!isSame || added.some((key, i) => replica.body(key) !== bodies[i])) continue;
      this.#truncate(shared);
      for (const [i, key] of added.entries()) {
        const body = bodies[i];
        this.#keys.push(key);
        this.#messages.push(body && this.#isSendable(body) ? body : undefined);
      }
      return this.#messages.filter((message) => message !== undefined);
    }
  }

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
    this.#writer.desk.report(reason, message.id);
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
      if (isContextError(cause)) return cause;
      const message = `validate() refused a stored message: ${reasonOf(cause)}`;
      return new ContextError('invalid-messages', message, { cause });
    }
  }
}
