import { createId } from '../fragment/id.ts';
import type { Way } from '../graph/branches.ts';
import { holds, type ChatDelta, type EndsRecord, type Mark, type MessageRecord } from '../graph/graph.ts';
import { kindOf, markId, type NameValue, nextBranchName } from '../graph/marks.ts';
import type { UIMessage } from 'ai';
import { ContextError, refuseToLoad } from '../errors.ts';
import { stripReminders } from '../fragment/fold.ts';
import { isFolding } from '../fragment/fragment.ts';
import type { StoreDelta } from '../store/store.ts';
import type { Desk } from './desk.ts';
import type { Folds } from './folds.ts';
import type { Handle } from './handles.ts';
import type { History } from './history.ts';
import { isRefusal, Line } from './line.ts';
import { Others } from './others.ts';
import { Replica } from './replica.ts';
import { Chains } from './resolve.ts';
import type { Asked } from './saves.ts';
import { Streams } from './streams.ts';
import { View } from './view.ts';

/**
 * The one door for change.
 *
 * A method looks at what is known, makes records, and hands them in here: they are joined, shown, and put in line for the
 * disk. It also puts the rooms together: what this page knows (`replica.ts`), what it shows (`view.ts`), what a model gets
 * (`resolve.ts`), its way to the disk (`line.ts`), what grows here (`streams.ts`) and what others do (`others.ts`).
 *
 * Nothing is waited for between looking and joining but words that must be read, so methods take turns; what
 * follows, the way to the disk, they share.
 */
export class Writer {
  readonly desk: Desk;
  readonly replica: Replica = new Replica();
  readonly streams: Streams = new Streams(this);
  readonly view: View;
  readonly chains: Chains = new Chains(this);
  readonly line: Line = new Line(this);
  readonly others: Others = new Others(this);
  /** The operation log, once its code has come. */
  history: History | undefined;
  #folds: Folds | undefined;
  #tail: Promise<unknown> = Promise.resolve();
  #hasMetadata = false;

  constructor(desk: Desk) {
    this.desk = desk;
    this.view = new View(desk, this.replica);
  }

  /** Runs tasks one after another, in the order in which they were given. */
  inTurn<T>(task: () => Promise<T>): Promise<T> {
    const run = this.#tail.then(task);
    this.#tail = run.catch(() => {});
    return run;
  }

  /**
   * Joins a delta, shows it and puts it in line. `saved` resolves when it is on the disk, or is kept in line where that
   * refuses; it rejects with what the store will never take. `show` says what is shown of it.
   *
   * @throws chat-deleted where the chat was deleted since the delta was planned
   */
  commit({ local, ...delta }: Change, show: () => void = () => {}): Written {
    const whole = this.whole(delta);
    const named = { ...whole, marks: [...whole.marks, ...this.#namesShown()] };
    for (const key of this.replica.join(named).messages) this.chains.cut(key);
    show();
    this.view.sync();
    const beside = typeof local === 'function' ? local() : local;
    const strict = this.line.push({ ...named, local: { ...beside, ...this.viewRecord() } });
    strict.catch(() => {});
    // Who speaks in a chat that was deleted begins it anew.
    const isSaid = whole.messages.length + whole.ends.length + whole.marks.length > 0;
    const isDeleted = isSaid && this.desk.state.getState().error?.code === 'chat-deleted';
    this.desk.publish(isDeleted ? { status: 'ready', error: null } : {});
    return { strict, saved: orKept(strict) };
  }

  /**
   * The same for a turn on a branch, by the engine's policy: with `fork` it is joined at once; with `error` and `rebase`
   * the store is asked first whether the branch still ends where this page saw it end. `plan` makes the delta, and makes
   * it again for a rebase.
   */
  async commitTurn(plan: () => Promise<TurnDelta>, show: () => void): Promise<Written> {
    if ((this.desk.options.onConflict ?? 'fork') === 'fork') return this.commit(await plan(), show);
    const { commitExpecting } = await import('./conflict.ts').catch(refuseToLoad);
    return commitExpecting(this, plan, show);
  }

  /** A delta with what goes with every write. Throws chat-deleted where the chat was deleted since it was planned. */
  whole({ messages = [], ends = [], marks = [] }: Partial<ChatDelta>): ChatDelta {
    const whole = { messages, ends, marks };
    const { deleted } = this.replica;
    if ([...messages, ...ends, ...marks].some(({ chat }) => deleted.has(chat)))
      throw deletedMeanwhile(this.desk.chatId);
    return { ...whole, marks: [...this.#metadata(whole), ...marks] };
  }

  /** A message with the reminders of the prompt. Their code comes when there are some. */
  async folded(asked: Asked): Promise<UIMessage> {
    if (this.desk.prompt.list().some(isFolding)) return (await this.folds()).fold(asked);
    return asked.isVersion ? stripReminders(asked.message) : asked.message;
  }

  /** What folds reminders into messages. Rejects where its code could not be loaded. */
  async folds(): Promise<Folds> {
    const { Folds } = await import('./folds.ts').catch(refuseToLoad);
    return (this.#folds ??= new Folds(this));
  }

  // ------------------------------------------------------------------ before a write

  /** Stores what was left behind: words of answers that were cut off, and the end of those that never said anything. */
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
      const record = this.replica.record(key);
      if (!record) return [];
      const body = this.replica.body(record.key);
      return body && body.parts.length > 0
        ? this.replica.revised(record, body, 'interrupted')
        : this.replica.takenBack(record);
    });
    this.commit({ messages });
  }

  // ------------------------------------------------------------------ making records

  /** The chat key of what hangs on a message; that of the chat for a first one. `marks` begin a chat that has none. */
  chatOf(parent: string | null): { readonly chat: string; readonly marks: readonly Mark[] } {
    const known = this.replica.record(parent)?.chat ?? this.replica.chatKey;
    if (known !== undefined) return { chat: known, marks: [] };
    const chat = createId();
    const { userId } = this.desk;
    return {
      chat,
      marks: [this.replica.mark(markId.beginning(chat), { userId, createdAt: Date.now() }, chat)],
    };
  }

  /** The engine's own metadata, with its first write: fields that nobody has set, nor this very write sets. */
  #metadata({ messages, ends, marks }: ChatDelta): Mark[] {
    const [first] = [...messages, ...ends, ...marks];
    const { metadata } = this.desk.options;
    if (!metadata || !first || this.#hasMetadata) return [];
    this.#hasMetadata = true;
    const set = new Set(marks.map(({ id }) => id));
    return Object.entries(metadata)
      .filter(([name]) => !set.has(markId.field(name)) && !this.replica.chat.marks.has(markId.field(name)))
      .map(([name, value]) => this.replica.mark(markId.field(name), value, first.chat));
  }

  /** The first branch of a chat that has none, without messages. */
  emptyMain(chat: string): readonly EndsRecord[] {
    if (this.replica.chat.ends.size > 0) return [];
    const record = createId();
    this.view.begin(this.view.active, record);
    return [this.#newEnds(record, chat, [])];
  }

  /** Where a branch ends from now on. */
  endsAt(record: string, key: string, chat: string): EndsRecord {
    const known = this.replica.chat.ends.get(record);
    if (!known) return this.#newEnds(record, chat, [key]);
    const { seq, ...ends } = known;
    return { ...ends, ...(seq === undefined ? {} : { seq }), keys: [key] };
  }

  #newEnds(id: string, chat: string, keys: readonly string[]): EndsRecord {
    return { id, at: this.replica.now(), createdAt: Date.now(), chat, keys };
  }

  /** A new branch that ends at a message, named after `base`; the first one of a chat has no base, and is `main`. */
  newBranch(
    key: string,
    chat: string,
    base: string | undefined,
  ): { readonly record: string; readonly delta: Pick<ChatDelta, 'ends' | 'marks'> } {
    const record = createId();
    const ends = [this.#newEnds(record, chat, [key])];
    if (base === undefined) return { record, delta: { ends, marks: [] } };
    const name = nextBranchName(
      base,
      this.replica.branches.live.map((way) => way.name),
    );
    return { record, delta: { ends, marks: [this.nameMark(record, key, { name }, chat)] } };
  }

  /** The mark that names the branch of a record that holds a message. */
  nameMark(record: string, key: string | null, value: NameValue, chat: string): Mark {
    return this.replica.mark(markId.name(record, key), value, chat);
  }

  /** Names that this page shows beside a fork and that nobody wrote yet: they would change with the next join. */
  #namesShown(): Mark[] {
    const { live } = this.replica.branches;
    const { chat } = this.replica;
    const forked = new Set(live.flatMap(({ fork, record }) => (fork === null ? [] : record)));
    if (forked.size === 0) return [];
    return live.flatMap((way) => {
      if (!forked.has(way.record)) return [];
      if (way.head === null || this.#isNamed(way)) return [];
      const record = chat.messages.get(way.head) as MessageRecord;
      return [this.nameMark(way.record, way.head, { name: way.name }, record.chat)];
    });
  }

  #isNamed(way: Way): boolean {
    const { chat } = this.replica;
    for (const id of chat.marksOf.get(way.record) ?? []) {
      const mark = chat.marks.get(id) as Mark;
      const key = id.split(' ')[2] ?? '';
      if (kindOf(mark) !== 'name' || (mark.value as NameValue).name !== way.name) continue;
      if (way.fork === null || (key !== '' && holds(chat, key, way.fork) && holds(chat, way.end, key)))
        return true;
    }
    return false;
  }

  /** What is stored of the view, where there is more than one branch to open the chat with. */
  viewRecord(): Readonly<Record<string, unknown>> {
    return this.view.live().length > 1 ? { view: this.view.toStore() } : {};
  }

  /** All that is kept beside the chat on this device: for a database that was cleared. */
  local(): Readonly<Record<string, unknown>> {
    return { ...this.history?.toLocal(), view: this.view.toStore() };
  }

  /** The branch that a new version beside the children of `parent` is named after: the one that holds the oldest. */
  forkBase(parent: string | null, role: string, fallback: Handle): string | undefined {
    const { chat } = this.replica;
    const handles = this.view.live();
    if (handles.length === 0) return undefined;
    for (const key of chat.children.get(parent) ?? []) {
      const record = chat.messages.get(key) as MessageRecord;
      if (record.role !== role || !this.replica.isVisible(record)) continue;
      const passed = new Set<string>();
      const oldest = handles.find((handle) => holds(chat, handle.key, key, passed));
      if (oldest) return this.view.nameOf(oldest.id);
    }
    return this.view.nameOf(fallback.id);
  }
}

/** What is written: records, and what is kept on this device beside them, which may ask what is shown by then. */
export interface Change extends Partial<Omit<StoreDelta, 'local'>> {
  readonly local?: StoreDelta['local'] | (() => StoreDelta['local']);
}

/** A write on its way. */
export interface Written {
  /** Resolves when it is on the disk; rejects with what the store says. */
  readonly strict: Promise<void>;
  /** The same; resolves, too, where the disk refuses and it is kept in line. */
  readonly saved: Promise<void>;
}

/** What a turn writes, and the branch that it goes on with; undefined for a new one. */
export interface TurnDelta extends Partial<StoreDelta> {
  readonly branch: Handle | undefined;
}

function deletedMeanwhile(chatId: string): ContextError {
  const message = `Chat "${chatId}" was deleted meanwhile. What is said now begins it anew.`;
  return new ContextError('chat-deleted', message, { details: { chatId } });
}

function orKept(strict: Promise<void>): Promise<void> {
  const saved = strict.catch((error: unknown) => {
    if (!isRefusal(error)) throw error;
  });
  saved.catch(() => {});
  return saved;
}
