import { ContextError, isContextError, refuseToLoad } from '../errors.ts';
import { NOTHING, type ChatDelta, type EndsRecord } from '../graph/graph.ts';
import { unitedEnds } from '../graph/join.ts';
import { kindOf } from '../graph/marks.ts';
import { vouched } from '../store/door.ts';
import type { CommitOptions, StoreDelta } from '../store/store.ts';
import { asContextError } from './desk.ts';
import type * as Loss from './loss.ts';
import type { SaveState } from './state.ts';
import type { Writer } from './writer.ts';

/**
 * The queue to the disk.
 *
 * Records that are joined to the replica wait here until they are durable. All waiting records are one delta, in the order in
 * which they came, and one commit at a time takes it to the store, which joins them. A refused commit puts its records back, and
 * a commit whose answer got lost is sent again: joining a record twice changes nothing. If the browser cleared the database, the
 * next commit writes the whole replica.
 */
export class Line {
  readonly #writer: Writer;
  #waiting: Waiting = EMPTY;
  #sending: Waiting | undefined;
  #isAsked = false;
  #hasSaved = false;
  #refusal: ContextError | undefined;
  /** How many messages exist only here since the browser cleared the database. */
  #lost = 0;
  readonly #commitNext: () => Promise<void> = oneAtATime(() => this.#commit());
  readonly #again: Again = new Again(() => void this.flush().catch(() => {}));

  constructor(writer: Writer) {
    this.#writer = writer;
  }

  saveState(before: SaveState): SaveState {
    // A refusal concerns waiting records: after the deletion of their chat there may be none.
    const error = this.#refusal && !this.#holdsNothing ? this.#refusal : undefined;
    const isSaving = this.#sending !== undefined || (this.#isAsked && !isEmpty(this.#waiting));
    // The error stays while the records are tried again.
    const state = error ? 'error' : isSaving ? 'saving' : this.#hasSaved ? 'saved' : 'idle';
    const pending = this.#lost || (error || isSaving ? this.#count : 0);
    if (before.state === state && before.pending === pending && before.error === error) return before;
    return error ? { state, error, pending } : { state, pending };
  }

  get #holdsNothing(): boolean {
    return isEmpty(this.#waiting) && !this.#sending && this.#lost === 0;
  }

  get #count(): number {
    const { messages, marks } = both(this.#sending ?? EMPTY, this.#waiting);
    const questions = new Map(marks.filter((mark) => kindOf(mark) === 'waiting').map((one) => [one.id, one]));
    const asked = [...questions.values()].filter(({ value }) => value !== null);
    return new Set(messages.map(({ key }) => key)).size + asked.length;
  }

  get isSending(): boolean {
    return this.#sending !== undefined;
  }

  /** Queues a delta that is already joined. Resolves when it is durable; rejects with the store's error. */
  push(delta: Partial<StoreDelta>): Promise<void> {
    this.#waiting = both(this.#waiting, delta);
    return this.flush();
  }

  /** Queues a delta for the next commit, without starting one. */
  keep(delta: ChatDelta): void {
    this.#waiting = both(this.#waiting, delta);
  }

  /** Commits all waiting records; calls during a commit share the next one. */
  flush(): Promise<void> {
    this.#isAsked = true;
    return this.#commitNext();
  }

  /** Tries at once to commit the waiting records. Rejects where that fails again. */
  async retry(): Promise<void> {
    if (!this.#holdsNothing) await this.flush();
  }

  /**
   * Pushes a delta that is joined only if the store agrees (else `head-moved`). `show` is called before records of others are
   * joined.
   */
  async pushExpecting(
    delta: StoreDelta,
    expect: CommitOptions['expect'] & object,
    show: () => void,
  ): Promise<void> {
    await this.flush();
    const { store, chatId } = this.#writer.desk;
    const records = await store.commit(chatId, this.#placed(delta), { ...this.#options, expect });
    this.#hasSaved = true;
    this.#writer.replica.join(delta);
    show();
    this.#writer.others.take(records);
  }

  /** The delta with the current places of its known messages, and one account of each branch record. */
  #placed(delta: StoreDelta): StoreDelta {
    const messages = delta.messages.map((record) => {
      const { seq = record.seq } = this.#writer.replica.record(record.key) ?? {};
      return seq === undefined ? record : { ...record, seq };
    });
    const ends = new Map<string, EndsRecord>();
    for (const record of delta.ends) {
      const known = ends.get(record.id);
      ends.set(record.id, known ? unitedEnds(known, record) : record);
    }
    const placed = { ...delta, messages, ends: [...ends.values()] };
    vouched.add(placed);
    return placed;
  }

  get #options(): CommitOptions {
    const { database, generation, seq: since, branches } = this.#writer.replica;
    const branchCount = branches.live.length;
    return { userId: this.#writer.desk.userId, database, generation, since, branchCount };
  }

  async #commit(): Promise<void> {
    this.#again.stop();
    this.#isAsked = false;
    if (isEmpty(this.#waiting) && this.#lost === 0) return;
    const sending = (this.#sending = this.#waiting);
    this.#waiting = EMPTY;
    try {
      await this.#write(sending);
      this.#sending = this.#refusal = undefined;
      this.#hasSaved = true;
      this.#again.reset();
    } catch (error) {
      this.#sending = undefined;
      this.#refuse(sending, asContextError(error));
      throw error;
    } finally {
      const { desk } = this.#writer;
      desk.publish({ saveState: this.saveState(desk.state.getState().saveState) });
    }
  }

  /**
   * After a refusal by the disk all records keep waiting; after the deletion of the chat only those whose chat key was not
   * deleted do, and the others are dropped. Records that came since wait for the next commit, which tells their writers.
   */
  #refuse(sending: Waiting, error: ContextError): void {
    this.#writer.desk.report(error);
    const isDeleted = error.code === 'chat-deleted';
    if (isDeleted || isRefusal(error)) this.#waiting = both(this.#living(sending), this.#waiting);
    if (isRefusal(error)) {
      this.#refusal = error;
      this.#again.later();
    } else if (isDeleted) this.retry().catch(() => {});
    this.#writer.others.lookAgain();
  }

  /** All these records, without those of deleted chats. */
  #living(waiting: Waiting): Waiting {
    return { ...this.#writer.replica.living(waiting), local: waiting.local };
  }

  async #write(sending: Waiting): Promise<void> {
    const { store, chatId } = this.#writer.desk;
    if (sizeOf(this.#living(sending)) < sizeOf(sending)) throw deletedMeanwhile(chatId);
    if (this.#lost > 0) return this.#writeWhole();
    try {
      this.#writer.others.take(await store.commit(chatId, this.#placed(sending), this.#options));
    } catch (error) {
      if (isContextError(error, 'data-loss')) return this.#writeWhole();
      if (!isContextError(error, 'chat-deleted')) throw error;
      // Read which chat the database holds by now: that decides whether the records are written or dropped.
      await this.#writer.others.pull();
      await this.#write(sending);
    }
  }

  /** Writes all that this page knows, because the browser cleared the database. */
  async #writeWhole(): Promise<void> {
    // If one of the pieces is refused, the next commit writes the whole chat again.
    this.#lost ||= Math.max(1, this.#writer.replica.chat.messages.size);
    await (await loadLoss()).writeWhole(this.#writer, () => ({ ...this.#options, since: 0 }));
    this.#lost = 0;
  }

  /** Notes that `count` messages exist only here: they are written with the next commit of any kind. */
  lose(count: number, error: ContextError): void {
    this.#lost = count;
    if (count > 0) this.#refusal = error;
    else if (isContextError(this.#refusal, 'data-loss')) this.#refusal = undefined;
  }

  /** Drops the records of deleted chats with a commit: so their writers hear that. */
  bury(): void {
    if (!isEmpty(this.#waiting)) this.flush().catch(() => {});
  }

  /** Forgets what exists only here, and why: the chat was deleted. */
  drop(): void {
    this.#refusal = undefined;
    this.#lost = 0;
  }

  dispose(): void {
    this.#again.stop();
  }
}

const REFUSALS: ReadonlySet<string> = new Set([
  'quota-exceeded',
  'store-blocked',
  'store-unavailable',
  'store-closed',
  'newer-format',
  'data-loss',
  'invariant',
]);

/** Whether the disk refused a write that it may take at another time. */
export function isRefusal(error: unknown): boolean {
  return isContextError(error) && REFUSALS.has(error.code);
}

/** The error for words of a chat that was deleted before they were saved. */
export function deletedMeanwhile(chatId: string): ContextError {
  const message = `Chat "${chatId}" was deleted meanwhile. What is said now begins it anew.`;
  return new ContextError('chat-deleted', message, { details: { chatId } });
}

/** Records that wait for a commit. */
type Waiting = Required<StoreDelta>;

const EMPTY: Waiting = { ...NOTHING, local: {} };

function isEmpty(waiting: Waiting): boolean {
  return sizeOf(waiting) === 0 && Object.keys(waiting.local).length === 0;
}

function sizeOf({ messages, ends, marks }: ChatDelta): number {
  return messages.length + ends.length + marks.length;
}

function both(a: Waiting, { messages = [], ends = [], marks = [], local }: Partial<StoreDelta>): Waiting {
  return {
    messages: [...a.messages, ...messages],
    ends: [...a.ends, ...ends],
    marks: [...a.marks, ...marks],
    local: { ...a.local, ...local },
  };
}

export function loadLoss(): Promise<typeof Loss> {
  return import('./loss.ts').catch(refuseToLoad);
}

/** The first and the longest pause before another try, in ms. */
const FIRST = 1000;
const LONGEST = 30_000;

/** Tries again after a refusal, with a pause that doubles. */
export class Again {
  readonly #task: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #pause: number = FIRST;

  constructor(task: () => void) {
    this.#task = task;
  }

  /** Whether there was no try since the last success. */
  get isFirst(): boolean {
    return this.#pause === FIRST;
  }

  later(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#task();
    }, this.#pause);
    this.#pause = Math.min(this.#pause * 2, LONGEST);
  }

  reset(): void {
    this.stop();
    this.#pause = FIRST;
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

/** Wraps a task so that it runs once at a time: all calls during a run share the next run. */
export function oneAtATime(task: () => Promise<void>): () => Promise<void> {
  let running = Promise.resolve();
  let next: Promise<void> | undefined;
  return () =>
    (next ??= running.then(() => {
      next = undefined;
      const run = task();
      running = run.catch(() => {});
      return run;
    }));
}
