import { ContextError } from '../errors.ts';
import type { BeginningValue } from '../graph/marks.ts';
import type { ChatRecords, StoreNotice } from '../store/store.ts';
import { asContextError } from './desk.ts';
import { Again, isRefusal, loadLoss, oneAtATime } from './line.ts';
import type { EngineState } from './state.ts';
import type { Writer } from './writer.ts';

/** Reads and joins what other tabs write, and notices deletions and cleared data. Records of deleted chats are left out. */
export class Others {
  readonly #writer: Writer;
  /** The number of the last notice, and whether this page made that change: the error tells who deleted the chat. */
  #heard = 0;
  #isDeletedHere = false;
  /** The keys of chats that are gone for good: no restoring brings them back. */
  readonly #cleared: Set<string> = new Set();
  #watching: ReturnType<typeof setTimeout> | undefined;
  readonly #again: Again = new Again(() => this.follow());

  /** Reads what others wrote since the last read, and shows it. */
  readonly pull: () => Promise<void> = oneAtATime(() => this.#pull());

  constructor(writer: Writer) {
    this.#writer = writer;
  }

  /** Reads the chat for the first time; returns its local records. */
  async open(): Promise<ChatRecords['local']> {
    const records = await this.#read();
    this.#joinRead(records);
    return records.local;
  }

  async #read(since?: number): Promise<ChatRecords> {
    const { store, chatId, userId } = this.#writer.desk;
    // Read the locks first: an answer that ends between the two reads is then settled, and never seems dead.
    const held = await store.held(chatId).catch(() => new Set<string>());
    let records = await store.load(chatId, since);
    if (this.#writer.replica.isLate(records)) records = await store.load(chatId, since);
    for (const { id, value } of records.marks) {
      const { userId: owner } = Object(value) as Partial<BeginningValue>;
      if (!id.startsWith('beginning ') || owner === userId) continue;
      const message = `chat "${chatId}" belongs to user "${owner}", not "${userId}"`;
      throw new ContextError('wrong-user', message, { details: { chatId, userId } });
    }
    this.#writer.replica.hold(held);
    return records;
  }

  /** Joins records of the store, without those of deleted chats. Returns how much was new. */
  #join(records: ChatRecords, deleted: readonly string[] = records.deleted): number {
    const { replica, chains, view } = this.#writer;
    if (replica.database !== '' && records.database !== replica.database) replica.forgetPlaces();
    const isBuried = deleted.some((key) => !replica.deleted.has(key));
    const hadBegun = isBuried && replica.chatKey !== undefined;
    if (isBuried) this.#bury(deleted);
    const { messages, ends, marks } = replica.absorb(records);
    for (const key of messages) chains.cut(key);
    if (records.messages.length + records.growing.length > 0) view.lost.clear();
    if (isBuried) view.sync();
    if (hadBegun && replica.chatKey === undefined) this.#tellDeleted();
    return messages.length + ends.length + marks.length + (isBuried ? 1 : 0);
  }

  /** Joins what was read: chats that the store no longer reports as deleted are back, and after `clear()` all are gone. */
  #joinRead(records: ChatRecords, isCleared = false): void {
    const { replica } = this.#writer;
    if (isCleared) for (const key of [...replica.deleted, ...replica.chatKeys()]) this.#cleared.add(key);
    for (const key of this.#back(records)) replica.deleted.delete(key);
    this.#join(records, [...records.deleted, ...this.#cleared]);
  }

  /** The deleted chats that the store reports no more: they were restored. */
  #back({ deleted }: ChatRecords): string[] {
    const before = [...this.#writer.replica.deleted];
    return before.filter((key) => !deleted.includes(key) && !this.#cleared.has(key));
  }

  /** Drops deleted chats, their waiting writes and growing answers. */
  #bury(keys: readonly string[]): void {
    const { replica, chains, line, streams } = this.#writer;
    const growing = streams.keys().filter((key) => replica.record(key));
    replica.bury(keys);
    // With a commit, so that the writers of buried records hear of it.
    line.flush().catch(() => {});
    chains.clear();
    for (const key of growing) if (!replica.record(key)) streams.end(key);
  }

  /** Joins the store's answer to a commit, and shows what others wrote meanwhile. */
  take(records: ChatRecords): void {
    const { desk, replica } = this.#writer;
    const isLate = replica.isLate(records);
    const isBack = this.#back(records).length > 0;
    if (this.#join(records, isLate ? [] : records.deleted) > 0)
      this.#inBackground(async () => {
        // Another tab may hold the lock of an answer that this page did not know.
        if (replica.abandoned().length > 0) replica.hold(await desk.store.held(desk.chatId));
        await this.#show();
      });
    if (isBack || (isLate && records.deleted.length > 0)) this.follow();
    else this.lookAgain();
  }

  /** Reads changes that a notice announced during a commit, and that the commit's answer did not contain. */
  lookAgain(): void {
    if (this.#heard > this.#writer.replica.seq) this.follow();
  }

  async #show(patch?: Partial<EngineState>): Promise<void> {
    this.#writer.view.sync();
    this.watch();
    await this.#writer.view.load();
    this.#writer.publish(patch);
  }

  async #pull(): Promise<void> {
    const { desk, replica } = this.#writer;
    const { database, generation } = replica;
    let records = await this.#read(replica.seq);
    const isOther = database !== '' && records.database !== database;
    const isCleared = database !== '' && !isOther && records.generation !== generation;
    if (isOther || isCleared || this.#back(records).length > 0) records = await this.#read();
    this.#joinRead(records, isCleared);
    if (isOther) await (await loadLoss()).countLoss(this.#writer);
    const isBack = desk.state.getState().error?.code === 'chat-deleted' && replica.chatKey !== undefined;
    await this.#show(isBack ? { status: 'ready', error: null } : {});
  }

  #tellDeleted(): void {
    const { desk, line } = this.#writer;
    const { chatId } = desk;
    line.drop();
    const where = this.#isDeletedHere ? 'here' : 'in another tab';
    const message = `Chat "${chatId}" was deleted ${where}. What is said here begins it anew.`;
    const details = { chatId, here: this.#isDeletedHere };
    this.#writer.publish({ status: 'error', error: new ContextError('chat-deleted', message, { details }) });
  }

  readonly hear = ({ kind, chatId, key, seq, remote }: StoreNotice): void => {
    const { desk, line, replica, streams } = this.#writer;
    if (chatId !== undefined && chatId !== desk.chatId) return;
    if (kind === 'draft') {
      if (key === undefined || streams.get(key)) return;
      replica.staleDraft(key);
    } else if (kind === 'change') {
      this.#isDeletedHere = !remote;
      // A smaller number is late, or comes from a new database after the browser cleared the data.
      const isSmaller = seq < this.#heard;
      const isKnown = !remote && seq <= replica.seq;
      this.#heard = seq;
      // The answer to the running commit may contain it.
      if (!isSmaller && (isKnown || line.sending)) return;
    }
    this.follow();
  };

  /** Reads what others wrote; if the store refuses, tries again, and reports that once. */
  follow(): void {
    this.pull().then(
      () => this.#again.reset(),
      (cause: unknown) => {
        const { desk } = this.#writer;
        const error = asContextError(cause);
        if (error.code === 'wrong-user') this.#writer.publish({ status: 'error', error });
        if (this.#again.isFirst) desk.report(error);
        if (!desk.isDisposed && isRefusal(error)) this.#again.later();
      },
    );
  }

  /** Follows other tabs again, once nothing is pending. */
  catchUp(): void {
    if (this.#writer.desk.pending.length === 0) this.#inBackground(() => this.#show());
  }

  /** Checks the locks of other tabs' answers, to find those whose tab died. */
  watch(): void {
    const { desk, replica } = this.#writer;
    if (this.#watching !== undefined || desk.isDisposed || replica.foreign().length === 0) return;
    this.#watching = setTimeout(async () => {
      const held = await desk.store.held(desk.chatId).catch(() => undefined);
      if (held && replica.hold(held)) await this.#show().catch(() => {});
      this.#watching = undefined;
      this.watch();
    }, WATCH);
    (this.#watching as { unref?: () => void }).unref?.();
  }

  #inBackground(task: () => Promise<void>): void {
    task().catch((error: unknown) => this.#writer.desk.report(error));
  }

  dispose(): void {
    clearTimeout(this.#watching);
    this.#again.reset();
  }
}

const WATCH = 2000;
