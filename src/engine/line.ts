import { ContextError, isContextError, refuseToLoad } from '../errors.ts';
import type { ChatDelta, MessageRecord, Version } from '../graph/graph.ts';
import { kindOf } from '../graph/marks.ts';
import { vouched } from '../store/door.ts';
import type { CommitOptions, LocalRecords, StoreDelta } from '../store/store.ts';
import { asContextError } from './desk.ts';
import type * as Loss from './loss.ts';
import type { SaveState } from './state.ts';
import type { Change, Writer } from './writer.ts';

/**
 * The queue to the disk.
 *
 * Records that are joined to the replica wait here, by their keys, until they are durable. One commit at a time takes all that
 * wait, as this page knows them by then, and the store joins them. A refused commit puts its keys back, and a commit whose
 * answer got lost is sent again: joining a record twice changes nothing. If the browser cleared the database, the next commit
 * writes the whole replica.
 */
export class Line {
  readonly #writer: Writer;
  #waiting: Waiting = EMPTY;
  /** What the running commit takes along. */
  sending: Waiting | undefined;
  /** Versions that are durable: a message that is revised often is not sent with all of them. */
  readonly #saved: WeakSet<Version> = new WeakSet();
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
    // The error stays while the records are tried again.
    const error = this.#refusal;
    const isSaving = this.sending !== undefined || (this.#isAsked && sizeOf(this.#waiting) > 0);
    const state = error ? 'error' : isSaving ? 'saving' : this.#hasSaved ? 'saved' : 'idle';
    const pending = this.#lost || (error || isSaving ? this.#countMessages() : 0);
    if (before.state === state && before.pending === pending && before.error === error) return before;
    return error ? { state, error, pending } : { state, pending };
  }

  #countMessages(): number {
    const { messages, marks } = both(this.sending ?? EMPTY, this.#waiting);
    let count = messages.length;
    for (const id of marks) {
      const isQuestion = kindOf({ id }) === 'waiting';
      if (isQuestion && this.#writer.replica.chat.marks.get(id)?.value !== null) count += 1;
    }
    return count;
  }

  /** Queues records of the replica. Resolves when they are durable; rejects with the store's error. */
  push(records: Partial<Waiting>): Promise<void> {
    this.#waiting = both(this.#waiting, records);
    return this.flush();
  }

  /** Queues records of the replica for the next commit, without starting one. */
  keep(records: Partial<Waiting>): void {
    this.#waiting = both(this.#waiting, records);
  }

  /**
   * Commits all waiting records, if there are any; calls during a commit share the next one. Rejects where the store refuses.
   */
  flush(): Promise<void> {
    this.#isAsked = true;
    return this.#commitNext();
  }

  /**
   * Pushes a delta that is joined only if the store agrees (else `head-moved`). `show` is called before records of others are
   * joined.
   */
  async pushExpecting(
    delta: StoreDelta,
    expect: CommitOptions['expect'] & object,
    show: Change['show'],
  ): Promise<void> {
    await this.flush();
    const { store, chatId } = this.#writer.desk;
    vouched.add(delta);
    const records = await store.commit(chatId, delta, { ...this.#options, expect });
    this.#hasSaved = true;
    this.#writer.replica.join(delta);
    show?.();
    this.#writer.others.take(records);
  }

  get #options(): CommitOptions {
    const { database, generation, seq: since, branches } = this.#writer.replica;
    const branchCount = branches.live.length;
    return { userId: this.#writer.desk.userId, database, generation, since, branchCount };
  }

  async #commit(): Promise<void> {
    this.#isAsked = false;
    const sending = this.#waiting;
    if (sizeOf(sending) === 0 && this.#lost === 0) return;
    this.sending = sending;
    this.#waiting = EMPTY;
    try {
      await this.#write(sending);
      if (this.#refusal) this.#again.reset();
      this.sending = this.#refusal = undefined;
      this.#hasSaved = true;
    } catch (error) {
      this.sending = undefined;
      this.#refuse(sending, asContextError(error));
      throw error;
    } finally {
      const { desk } = this.#writer;
      desk.publish({ saveState: this.saveState(desk.state.getState().saveState) });
    }
  }

  /**
   * After a refusal by the disk all records keep waiting; after the deletion of the chat only those that the replica still has
   * do. Records that came since wait for the next commit, which tells their writers.
   */
  #refuse(sending: Waiting, error: ContextError): void {
    this.#writer.desk.report(error);
    if (isRefusal(error)) {
      this.#waiting = both(sending, this.#waiting);
      this.#refusal = error;
      this.#again.later();
    } else if (error.code === 'chat-deleted') {
      const { chat } = this.#writer.replica;
      const there = (kind: keyof ChatDelta) => sending[kind].filter((id) => chat[kind].has(id));
      const living = { messages: there('messages'), ends: there('ends'), marks: there('marks') };
      this.#waiting = both({ ...sending, ...living }, this.#waiting);
      if (sizeOf(this.#waiting) === 0) this.#refusal = undefined;
      this.flush().catch(() => {});
    }
    this.#writer.others.lookAgain();
  }

  async #write(sending: Waiting): Promise<void> {
    const { store, chatId } = this.#writer.desk;
    const delta = this.#deltaOf(sending);
    if (this.#lost > 0) return this.#writeWhole();
    try {
      const records = await store.commit(chatId, delta, this.#options);
      for (const { versions } of delta.messages) for (const version of versions) this.#saved.add(version);
      this.#writer.others.take(records);
    } catch (error) {
      if (isContextError(error, 'data-loss')) return this.#writeWhole();
      if (!isContextError(error, 'chat-deleted')) throw error;
      // Read which chat the database holds by now: that decides whether the records are written or dropped.
      await this.#writer.others.pull();
      await this.#write(sending);
    }
  }

  /**
   * The records, without versions that were saved before. Throws `chat-deleted` where some were dropped with a deleted chat.
   */
  #deltaOf(sending: Waiting): StoreDelta {
    const { chat } = this.#writer.replica;
    const messages: MessageRecord[] = [];
    for (const key of sending.messages) {
      const record = chat.messages.get(key)?.record;
      const fresh = record?.versions.filter((version) => !this.#saved.has(version)) ?? [];
      if (record) messages.push(fresh.length > 0 ? { ...record, versions: fresh } : record);
    }
    const delta: StoreDelta = {
      messages,
      ends: sending.ends.flatMap((id) => chat.ends.get(id) ?? []),
      marks: sending.marks.flatMap((id) => chat.marks.get(id) ?? []),
      local: sending.local,
    };
    if (sizeOf(delta) < sizeOf(sending)) throw deletedMeanwhile(this.#writer.desk.chatId);
    vouched.add(delta);
    return delta;
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

  /** Forgets what exists only here, and why: the chat was deleted. */
  drop(): void {
    this.#refusal = undefined;
    this.#lost = 0;
  }

  dispose(): void {
    this.#again.reset();
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

/** Records of the replica by their keys and ids, each once, and local records of this device. */
interface Waiting extends Record<keyof ChatDelta, readonly string[]> {
  readonly local: LocalRecords;
}

const EMPTY: Waiting = { messages: [], ends: [], marks: [], local: {} };

function sizeOf({ messages, ends, marks, local = {} }: Waiting | StoreDelta): number {
  return messages.length + ends.length + marks.length + Object.keys(local).length;
}

function both(a: Waiting, { messages = [], ends = [], marks = [], local }: Partial<Waiting>): Waiting {
  return {
    messages: [...new Set([...a.messages, ...messages])],
    ends: [...new Set([...a.ends, ...ends])],
    marks: [...new Set([...a.marks, ...marks])],
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

  /** Stops trying. */
  reset(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#pause = FIRST;
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
