import { createId } from '../fragment/id.ts';
import type { Way } from '../graph/branches.ts';
import {
  childrenOf,
  holds,
  recordAt,
  type ChatDelta,
  type EndsRecord,
  type Mark,
  type MessageRecord,
} from '../graph/graph.ts';
import { kindOf, markId, messageOfMark, type NameValue, nextBranchName } from '../graph/marks.ts';
import type { UIMessage } from 'ai';
import { refuseToLoad } from '../errors.ts';
import { stripReminders } from '../reminded.ts';
import { isFolding, type ContextFragment } from '../fragment/fragment.ts';
import type { LocalRecords } from '../store/store.ts';
import { ChatFacts } from './chatFacts.ts';
import type { Desk } from './desk.ts';
import type { Folds } from './folds.ts';
import type { Handle } from './handles.ts';
import type { History } from './history.ts';
import { deletedMeanwhile, isRefusal, Line } from './line.ts';
import { Others } from './others.ts';
import { Replica } from './replica.ts';
import type { Asked } from './saves.ts';
import type { EngineState } from './state.ts';
import { Streams } from './streams.ts';
import { Chains, View } from './view.ts';

/**
 * The only path of a change, and the owner of the engine's parts: what this page knows (`replica.ts`), shows (`view.ts`),
 * writes to the disk (`line.ts`) and streams (`streams.ts`), and what other tabs do (`others.ts`).
 *
 * A method reads what is known and makes records, which are joined, shown and queued for the disk. Between reading and joining
 * a method awaits nothing but bodies that it has to read. Methods run one after another; their records share the commits.
 */
export class Writer {
  readonly desk: Desk;
  readonly replica: Replica = new Replica();
  readonly streams: Streams = new Streams(this);
  readonly view: View;
  readonly chains: Chains = new Chains(this);
  readonly facts: ChatFacts = new ChatFacts(this);
  readonly line: Line = new Line(this);
  readonly others: Others = new Others(this);
  /** The operation log, once its code is loaded. */
  history: History | undefined;
  #folds: Folds | undefined;
  #tail: Promise<unknown> = Promise.resolve();
  #hasMetadata = false;

  constructor(desk: Desk) {
    this.desk = desk;
    this.view = new View(desk, this.replica);
  }

  /** Shows what is known by now: the only way to the state once there is a chat. */
  publish(patch: Partial<EngineState> = {}): void {
    const before = this.desk.state.getState();
    this.desk.publish({
      ...this.view.slices(before),
      ...this.facts.slices(before),
      saveState: this.line.saveState(before.saveState),
      ...patch,
    });
  }

  /** Reads what `publish()` could not show yet, and shows it. */
  async show(): Promise<void> {
    if (!this.view.isMissing) return;
    await this.view.load();
    this.publish();
  }

  /** Runs a task after the tasks before it. */
  inTurn<T>(task: () => Promise<T>): Promise<T> {
    const run = this.#tail.then(task);
    this.#tail = run.catch(() => {});
    return run;
  }

  /**
   * Joins a delta, shows it and queues it for the disk. `saved` resolves as well when the disk refuses for now: the
   * records wait and are tried again. It rejects with errors that no other try mends, such as `chat-deleted`.
   *
   * @throws chat-deleted where the chat was deleted since the delta was planned
   */
  commit({ local, show, ...delta }: Change): Written {
    const whole = this.withMetadata(delta);
    const named = { ...whole, marks: [...whole.marks, ...this.#namesShown()] };
    const joined = this.replica.join(named);
    for (const key of joined.messages) this.chains.cut(key);
    show?.();
    this.view.sync();
    const view = this.view.live.length > 1 ? { view: this.view.toStore() } : {};
    const strict = this.line.push({ ...joined, local: { ...local?.(), ...view } });
    strict.catch(() => {});
    // A write to a deleted chat begins it anew.
    const isSaid = whole.messages.length + whole.ends.length + whole.marks.length > 0;
    const isDeleted = isSaid && this.desk.state.getState().error?.code === 'chat-deleted';
    this.publish(isDeleted ? { status: 'ready', error: null } : {});
    const saved = strict.catch((error: unknown) => {
      if (!isRefusal(error)) throw error;
    });
    saved.catch(() => {});
    return { strict, saved };
  }

  /**
   * Commits a turn by the policy `onConflict`: with `fork` it is joined at once; with `error` and `rebase` the store is asked
   * first whether the branch still ends where this page saw it end. A rebase calls `plan` again.
   */
  async commitTurn<T extends TurnDelta>(plan: () => Promise<T>): Promise<WrittenTurn<T>> {
    const { onConflict = 'fork' } = this.desk.options;
    if (onConflict !== 'fork') {
      const { commitExpecting } = await import('./conflict.ts').catch(refuseToLoad);
      return commitExpecting(this, plan);
    }
    const turn = await plan();
    return { ...this.commit(turn), turn };
  }

  /**
   * The delta, with the engine's metadata if it is the first write. Throws `chat-deleted` where the chat was deleted since the
   * delta was planned.
   */
  withMetadata({ messages = [], ends = [], marks = [] }: Partial<ChatDelta>): ChatDelta {
    const delta = { messages, ends, marks };
    if (this.replica.deleted.size > 0 && this.#isOfDeleted(delta)) throw deletedMeanwhile(this.desk.chatId);
    const { metadata } = this.desk.options;
    if (!metadata || this.#hasMetadata || messages.length + ends.length + marks.length === 0) return delta;
    this.#hasMetadata = true;
    return { ...delta, marks: [...this.#fieldMarks(metadata, delta), ...marks] };
  }

  /** Whether a delta belongs to a deleted chat, or hangs on one of its messages. */
  #isOfDeleted({ messages, ends, marks }: ChatDelta): boolean {
    const { chat, deleted } = this.replica;
    const made = new Set(messages.map(({ key }) => key));
    const hangsOnNothing = ({ parent }: MessageRecord): boolean =>
      parent !== null && !made.has(parent) && !chat.messages.has(parent);
    return (
      [...messages, ...ends, ...marks].some((record) => deleted.has(record.chat)) ||
      messages.some(hangsOnNothing)
    );
  }

  /** A question with its reminders, which are among `fragments`; by default those of the prompt. */
  async folded(
    asked: Asked,
    fragments: readonly ContextFragment[] = this.desk.prompt.list(),
  ): Promise<UIMessage> {
    if (!fragments.some(isFolding)) return asked.isVersion ? stripReminders(asked.message) : asked.message;
    const { Folds } = await import('./folds.ts').catch(refuseToLoad);
    this.#folds ??= new Folds(this);
    return this.#folds.fold(asked, fragments.filter(isFolding));
  }

  /** Settles answers that no tab streams any more: drafted words are kept, and answers without words are removed. */
  async recover(): Promise<void> {
    if (this.replica.abandoned().length === 0) return;
    const { store, chatId } = this.desk;
    const held = await store.held(chatId).catch(() => undefined);
    if (!held) return;
    this.replica.hold(held);
    const abandoned = this.replica.abandoned();
    if (abandoned.length === 0) return;
    await this.view.loadBodies(abandoned.map(({ key }) => key));
    const messages = abandoned.flatMap(({ key }) => {
      const [record, body] = [this.replica.record(key), this.replica.body(key)];
      if (!record) return [];
      if (!body || body.parts.length === 0) return this.replica.takenBack(record);
      return this.replica.revised(record, body, 'interrupted');
    });
    this.commit({ messages });
  }

  /** The chat key for records behind a message; where there is no chat yet, `marks` begin one. */
  chatOf(parent: string | null): { readonly chat: string; readonly marks: readonly Mark[] } {
    const known = this.replica.record(parent)?.chat ?? this.replica.chatKey;
    if (known !== undefined) return { chat: known, marks: [] };
    const chat = createId();
    const beginning = { userId: this.desk.userId, createdAt: Date.now() };
    return { chat, marks: [this.replica.mark(markId.beginning(chat), beginning, chat)] };
  }

  /** The marks of the engine's metadata, for the first write: the fields that nobody has set. */
  #fieldMarks(metadata: Readonly<Record<string, unknown>>, { messages, ends, marks }: ChatDelta): Mark[] {
    const [{ chat } = { chat: '' }] = [...messages, ...ends, ...marks];
    const set = new Set([...this.replica.chat.marks.keys(), ...marks.map(({ id }) => id)]);
    return Object.entries(metadata)
      .filter(([name]) => !set.has(markId.field(name)))
      .map(([name, value]) => this.replica.mark(markId.field(name), value, chat));
  }

  /** The first branch of a chat that has none, without messages. */
  emptyMain(chat: string): readonly EndsRecord[] {
    if (this.replica.chat.ends.size > 0) return [];
    const record = createId();
    this.view.active.record = record;
    return [this.#newEnds(record, chat, [])];
  }

  /** The branch of a record, with a message at its end. */
  longer(record: string, key: string, chat: string): BranchDelta {
    const known = this.replica.chat.ends.get(record);
    const ends = known ? { ...known, keys: [key] } : this.#newEnds(record, chat, [key]);
    return { record, ends: [ends], marks: [] };
  }

  #newEnds(id: string, chat: string, keys: readonly string[]): EndsRecord {
    return { id, at: this.replica.now(), createdAt: Date.now(), chat, keys };
  }

  /**
   * A new branch that ends at a message, named after `base`; without a base it is `main`. `handle`: the id of its handle, which
   * may be there already.
   */
  newBranch(key: string, chat: string, base: string | undefined, handle?: string): BranchDelta {
    const record = createId();
    if (handle !== undefined) this.view.expect(handle, record, key);
    const ends = [this.#newEnds(record, chat, [key])];
    if (base === undefined) return { record, ends, marks: [] };
    const taken = new Set(this.replica.branches.live.map((way) => way.name));
    const value: NameValue = { name: nextBranchName(base, taken) };
    return { record, ends, marks: [this.replica.mark(markId.name(record, key), value, chat)] };
  }

  /** Marks that fix the derived names beside a fork: without them the next join would change these names. */
  #namesShown(): Mark[] {
    const { chat, branches } = this.replica;
    const forked = new Set<string>();
    for (const { fork, record } of branches.live) if (fork !== null) forked.add(record);
    if (forked.size === 0) return [];
    return branches.live.flatMap((way) => {
      if (!forked.has(way.record) || way.head === null || this.#isNamed(way)) return [];
      const record = recordAt(chat, way.head) as MessageRecord;
      return [this.replica.mark(markId.name(way.record, way.head), { name: way.name }, record.chat)];
    });
  }

  #isNamed({ record, fork, end, name }: Way): boolean {
    const { chat } = this.replica;
    return [...(chat.marksOf.get(record) ?? [])].some((id) => {
      const mark = chat.marks.get(id) as Mark;
      const key = messageOfMark(mark);
      if (kindOf(mark) !== 'name' || (mark.value as NameValue).name !== name) return false;
      return fork === null || (key !== null && holds(chat, key, fork) && holds(chat, end, key));
    });
  }

  /** All local records, for a database that was cleared. */
  local(): LocalRecords {
    return { ...this.history?.toLocal(), view: this.view.toStore() };
  }

  /**
   * The name that a new version beside the children of `parent` is derived from: that of the branch with the oldest version of
   * that role.
   */
  forkBase(parent: string | null, role: string, fallback: Handle): string | undefined {
    const { chat } = this.replica;
    const handles = this.view.live;
    if (handles.length === 0) return undefined;
    for (const { record } of childrenOf(chat, parent)) {
      if (record.role !== role || !this.replica.isVisible(record)) continue;
      const passed = new Set<string>();
      const oldest = handles.find((handle) => holds(chat, handle.key, record.key, passed));
      if (oldest) return this.view.nameOf(oldest.id);
    }
    return this.view.nameOf(fallback.id);
  }
}

/** What to write. */
export interface Change extends Partial<ChatDelta> {
  /** Shows it, once it is joined. */
  readonly show?: () => void;
  /** Makes the local records, once it is shown. */
  readonly local?: (() => LocalRecords) | undefined;
}

/** What makes a branch, or a branch longer, and the id of its record. */
interface BranchDelta extends Pick<ChatDelta, 'ends' | 'marks'> {
  readonly record: string;
}

/** A write under way. */
export interface Written {
  /** Resolves when it is on the disk; rejects with the store's error. */
  readonly strict: Promise<void>;
  /** Resolves also where the disk refuses and the records wait in the line. */
  readonly saved: Promise<void>;
}

/** What a turn writes, and the branch that it continues; undefined for a new one. */
export interface TurnDelta extends Change {
  readonly branch: Handle | undefined;
}

/** A turn under way: by the policy `rebase` the last one that was planned. */
export interface WrittenTurn<T extends TurnDelta> extends Written {
  readonly turn: T;
}
