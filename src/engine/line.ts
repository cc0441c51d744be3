import { isContextError, refuseToLoad, type ContextError } from '../errors.ts';
import type { ChatDelta, EndsRecord, MessageRecord } from '../graph/graph.ts';
import { compareMarks, unitedEnds, unitedMessage } from '../graph/join.ts';
import { kindOf } from '../graph/marks.ts';
import type { CommitOptions, StoreDelta } from '../store/store.ts';
import { asContextError } from './desk.ts';
import type * as Loss from './loss.ts';
import type { SaveState } from './state.ts';
import type { Writer } from './writer.ts';

/**
 * The way to the disk.
 *
 * What is said here is joined to the replica and shown at once; then it stands in this line. All that is not durable yet is
 * one delta, and one commit at a time takes it to the store. A commit that is refused leaves it there, and it is tried
 * again; a commit whose answer got lost is sent again; and both are harmless, because records can be joined twice. Where
 * the browser cleared the database under the open page, the delta of the next write is the whole replica.
 */
export class Line {
  readonly #writer: Writer;
  #waiting: Waiting = emptyWaiting();
  /** The delta that is being committed. */
  #sending: Waiting | undefined;
  #isAsked = false;
  #hasSaved = false;
  #refusal: ContextError | undefined;
  /** How many messages are here and, since the browser cleared the database, nowhere else. */
  #lost = 0;
  /** Who waits until a message is on the disk. */
  #watching: { readonly key: string; readonly resolve: () => void }[] = [];
  readonly #commitNext: () => Promise<void> = oneAtATime(() => this.#commit());
  readonly #again: Again = new Again(() => void this.flush().catch(() => {}));

  constructor(writer: Writer) {
    this.#writer = writer;
  }

  // ------------------------------------------------------------------ what waits

  /** Whether what was said is safe: the light that people look at before they close the tab. */
  saveState(before: SaveState): SaveState {
    const error = this.#refusal;
    const isSaving = this.#sending !== undefined || (this.#isAsked && !isEmpty(this.#waiting));
    // While it is tried again, what is said stays said.
    const state = error ? 'error' : isSaving ? 'saving' : this.#hasSaved ? 'saved' : 'idle';
    const pending = this.#lost || (error || isSaving ? this.#count : 0);
    if (before.state === state && before.pending === pending && before.error === error) return before;
    return error ? { state, error, pending } : { state, pending };
  }

  get #count(): number {
    const lines = this.#sending ? [this.#waiting, this.#sending] : [this.#waiting];
    return lines.reduce((count, line) => count + line.messages.size + questionsIn(line), 0);
  }

  /** Whether a commit is on its way. */
  get isSending(): boolean {
    return this.#sending !== undefined;
  }

  /** Resolves when nothing of a message waits any more, however often the disk refuses it until then. */
  stored(key: string): Promise<void> {
    if (!this.#holds(key)) return Promise.resolve();
    return new Promise((resolve) => this.#watching.push({ key, resolve }));
  }

  #holds(key: string): boolean {
    return this.#waiting.messages.has(key) || this.#sending?.messages.has(key) === true;
  }

  #tellStored(): void {
    const stored = this.#watching.filter(({ key }) => !this.#holds(key));
    this.#watching = this.#watching.filter((one) => !stored.includes(one));
    for (const { resolve } of stored) resolve();
  }

  // ------------------------------------------------------------------ to the disk

  /**
   * Takes a delta that is joined already. Resolves when it is on the disk, rejects with what the store says; where the disk
   * refuses, it stays in line all the same.
   */
  push(delta: Partial<StoreDelta>): Promise<void> {
    add(this.#waiting, delta);
    return this.flush();
  }

  /** Takes what goes to the disk with the next write. */
  keep(delta: ChatDelta): void {
    add(this.#waiting, delta);
  }

  /** Commits all that waits. The commit after the present one is shared by all who ask meanwhile. */
  flush(): Promise<void> {
    this.#isAsked = true;
    return this.#commitNext();
  }

  /** Tries at once what waits. Rejects with the reason when it still can't be saved. */
  async retry(): Promise<void> {
    if (!isEmpty(this.#waiting) || this.#sending || this.#lost > 0) await this.flush();
  }

  /**
   * The same as `push()` for what must not be joined before the store agrees: with `expect`, rejects with `head-moved`.
   * `show` says what is shown of it, before what others wrote is looked at.
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

  /** A delta whose known messages say where they lie: what was made before the last answer came does not know. */
  #placed(delta: StoreDelta): StoreDelta {
    const messages = delta.messages.map((record) => {
      const { seq } = this.#writer.replica.record(record.key) ?? record;
      return seq === undefined || seq === record.seq ? record : { ...record, seq };
    });
    return { ...delta, messages };
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
    this.#waiting = emptyWaiting();
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
      this.#tellStored();
      this.#writer.desk.publish();
    }
  }

  /**
   * It did not happen. What the disk refuses stays in line, and so does what was said in a chat that is there, beside words of
   * one that was deleted. What the store will never take is dropped.
   */
  #refuse(sending: Waiting, error: ContextError): void {
    this.#writer.desk.emit({ type: 'error', code: error.code, message: error.message });
    const isDeleted = error.code === 'chat-deleted';
    if (isDeleted || isRefusal(error)) this.#waiting = this.#living(sending, this.#waiting);
    if (isRefusal(error)) {
      this.#refusal = error;
      this.#again.later();
    } else if (isDeleted) this.retry().catch(() => {});
    this.#writer.others.lookAgain();
  }

  /** All of these but what was said in chats that were deleted. */
  #living(...lines: readonly Waiting[]): Waiting {
    const living = emptyWaiting();
    for (const waiting of lines)
      add(living, { ...this.#writer.replica.living(deltaOf(waiting)), local: waiting.local });
    return living;
  }

  async #write(sending: Waiting): Promise<void> {
    if (this.#lost > 0) return this.#writeWhole();
    const { store, chatId } = this.#writer.desk;
    try {
      this.#writer.others.take(await store.commit(chatId, this.#placed(deltaOf(sending)), this.#options));
    } catch (error) {
      if (isContextError(error, 'data-loss')) return this.#writeWhole();
      if (!isContextError(error, 'chat-deleted')) throw error;
      // It may be back by now; what is read says which chat is there, and so whether this is written or dropped.
      await this.#writer.others.pull();
      if (sizeOf(this.#living(sending)) < sizeOf(sending)) throw error;
      await this.#write(sending);
    }
  }

  /** The browser cleared the database: all that this page knows is written. */
  async #writeWhole(): Promise<void> {
    // Should one of the pieces be refused, the next write is the whole chat again.
    this.#lost ||= Math.max(1, this.#writer.replica.chat.messages.size);
    await (await loadLoss()).writeWhole(this.#writer, () => ({ ...this.#options, since: 0 }));
    this.#lost = 0;
  }

  /** The browser cleared the database; `count` messages are only here. They are written with the person's next write. */
  lose(count: number, error: ContextError): void {
    this.#lost = count;
    if (count > 0) this.#refusal = error;
    else if (isContextError(this.#refusal, 'data-loss')) this.#refusal = undefined;
  }

  /** Chats were deleted: what was said in them waits no longer. */
  bury(): void {
    this.#waiting = this.#living(this.#waiting);
  }

  /** Nothing waits any more: the chat was deleted. */
  drop(): void {
    this.#waiting = emptyWaiting();
    this.#refusal = undefined;
    this.#lost = 0;
    this.#again.stop();
    this.#tellStored();
  }

  /** Nothing is tried again by itself. */
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

/** Whether the disk refused, and may take the same another time. */
export function isRefusal(error: unknown): boolean {
  return isContextError(error) && REFUSALS.has(error.code);
}

/** Records on their way to the disk, each once. */
interface Waiting {
  readonly messages: Map<string, MessageRecord>;
  readonly ends: Map<string, EndsRecord>;
  readonly marks: Map<string, ChatDelta['marks'][number]>;
  local: Record<string, unknown>;
}

function emptyWaiting(): Waiting {
  return { messages: new Map(), ends: new Map(), marks: new Map(), local: {} };
}

/** Questions that wait for their turn, among what is on its way. */
function questionsIn({ marks }: Waiting): number {
  return [...marks.values()].filter((mark) => kindOf(mark) === 'waiting' && mark.value !== null).length;
}

function isEmpty(waiting: Waiting): boolean {
  return sizeOf(waiting) === 0 && Object.keys(waiting.local).length === 0;
}

/** How many records are on their way. */
function sizeOf({ messages, ends, marks }: Waiting): number {
  return messages.size + ends.size + marks.size;
}

function add(waiting: Waiting, delta: Partial<StoreDelta>): void {
  for (const record of delta.messages ?? []) {
    const known = waiting.messages.get(record.key);
    waiting.messages.set(record.key, known ? unitedMessage(known, record) : record);
  }
  for (const record of delta.ends ?? []) {
    const known = waiting.ends.get(record.id);
    waiting.ends.set(record.id, known ? unitedEnds(known, record) : record);
  }
  for (const mark of delta.marks ?? []) {
    const known = waiting.marks.get(mark.id);
    if (!known || compareMarks(known, mark) < 0) waiting.marks.set(mark.id, mark);
  }
  Object.assign(waiting.local, delta.local);
}

function deltaOf({ messages, ends, marks, local }: Waiting): StoreDelta {
  return { messages: [...messages.values()], ends: [...ends.values()], marks: [...marks.values()], local };
}

/** The code for a database that the browser cleared comes when it did. */
export function loadLoss(): Promise<typeof Loss> {
  return import('./loss.ts').catch(refuseToLoad);
}

// ------------------------------------------------------------------ once more, and one at a time

/** The first pause before something is tried again, and the longest, in ms. */
const FIRST = 1000;
const LONGEST = 30_000;

/** Tries again what was refused, after a pause that doubles up to half a minute. */
export class Again {
  readonly #task: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #pause: number = FIRST;

  constructor(task: () => void) {
    this.#task = task;
  }

  /** Whether it was not tried again yet, since the last success. */
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

  /** It has succeeded. */
  reset(): void {
    this.stop();
    this.#pause = FIRST;
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

/** A task of which one run is under way at a time: calls that come meanwhile share the next run. */
export function oneAtATime(task: () => Promise<void>): () => Promise<void> {
  let current: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const run = (): Promise<void> => {
    next = undefined;
    const running = task();
    current = running.catch(() => {}).then(() => void (current = next));
    return running;
  };
  return () => (current ? (next ??= current.then(run)) : run());
}
