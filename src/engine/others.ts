import { ContextError } from '../errors.ts';
import { type BeginningValue } from '../graph/marks.ts';
import type { ChatRecords, StoreNotice } from '../store/store.ts';
import { asContextError } from './desk.ts';
import { Again, isRefusal, loadLoss, oneAtATime } from './line.ts';
import type { Writer } from './writer.ts';

/**
 * What other tabs, and the browser, do to the chat.
 *
 * All of it is read and joined in the same way: what others wrote, and what came to a chat whose database the browser
 * cleared. What is deleted is left out of all that is joined; the chat that comes next under the id is another one.
 */
export class Others {
  readonly #writer: Writer;
  /** The last change that was heard of, and whether it was made on this page: a deletion is told otherwise then. */
  #heard = 0;
  #isDeletedHere = false;
  /** The chat keys of which the store said last that they are deleted: one of which it says no more has come back. */
  #deleted: readonly string[] = [];
  #watching: ReturnType<typeof setTimeout> | undefined;
  readonly #again: Again = new Again(() => this.follow());

  /** Reads what others wrote since, and shows it. */
  readonly pull: () => Promise<void> = oneAtATime(() => this.#pull());

  constructor(writer: Writer) {
    this.#writer = writer;
  }

  /** Reads the chat for the first time; gives what was kept with it on this device. */
  async open(): Promise<ChatRecords['local']> {
    const records = await this.#read();
    this.#joinWhole(records);
    return records.local;
  }

  async #read(since?: number): Promise<ChatRecords> {
    const { store, chatId } = this.#writer.desk;
    // Who holds what is asked first: an answer that ends in between is settled then, and never seems dead.
    const held = await store.held(chatId).catch(() => new Set<string>());
    let records = await store.load(chatId, since);
    if (this.#isLate(records)) records = await store.load(chatId, since);
    this.#expectUser(records);
    this.#writer.replica.hold(held);
    return records;
  }

  /** Whether a newer answer came first: this one does not know what was deleted or restored since. */
  #isLate({ database, generation, seq }: ChatRecords): boolean {
    const { replica } = this.#writer;
    return database === replica.database && generation === replica.generation && seq < replica.seq;
  }

  #expectUser({ marks }: ChatRecords): void {
    const { chatId, userId } = this.#writer.desk;
    const owners = marks.filter(({ id }) => id.startsWith('beginning ')).map(({ value }) => value);
    const other = (owners as BeginningValue[]).find((beginning) => beginning.userId !== userId);
    if (!other) return;
    const message = `chat "${chatId}" belongs to user "${other.userId}", not "${userId}"`;
    throw new ContextError('wrong-user', message, { details: { chatId, userId } });
  }

  /** Joins records of the store; those of chats that were deleted go at once. Gives how much was news. */
  #join(records: ChatRecords, deleted: readonly string[] = records.deleted): number {
    const { replica, chains, view } = this.#writer;
    const { isEmpty: wasEmpty } = replica;
    if (replica.database !== '' && records.database !== replica.database) replica.forgetPlaces();
    const isBuried = this.#bury(deleted);
    const { messages, ends, marks } = replica.absorb(records);
    for (const key of messages) chains.cut(key);
    if (records.messages.length + records.growing.length > 0) view.lookAgain();
    if (isBuried) view.sync();
    if (!wasEmpty && replica.isEmpty) this.#becomeDeleted();
    return messages.length + ends.length + marks.length + (isBuried ? 1 : 0);
  }

  /** The same for an answer that holds all of the chats that have come back. */
  #joinWhole(records: ChatRecords, isCleared = false): void {
    const { replica } = this.#writer;
    // What went with all data never comes back.
    if (!isCleared) for (const key of this.#back(records)) replica.deleted.delete(key);
    this.#deleted = records.deleted;
    this.#join(records, isCleared ? [...records.deleted, ...replica.chatKeys()] : records.deleted);
  }

  /** Chats that were deleted, as far as was read, and are not any more. */
  #back({ deleted }: ChatRecords): string[] {
    return this.#deleted.filter((key) => !deleted.includes(key));
  }

  /**
   * Chats with these keys were deleted: what is known of them goes, what is said in them waits no longer, and the answers
   * that grew in them end. Tells whether one of them was news.
   */
  #bury(keys: readonly string[]): boolean {
    const { replica, chains, line, streams } = this.#writer;
    if (keys.every((key) => replica.deleted.has(key))) return false;
    const growing = streams.keys().filter((key) => replica.record(key));
    replica.bury(keys);
    line.bury();
    chains.clear();
    for (const key of growing) if (!replica.record(key)) streams.end(key);
    return true;
  }

  /** Takes in what the store gave back for a write: what others wrote meanwhile is shown, too. */
  take(records: ChatRecords): void {
    const { desk, replica } = this.#writer;
    const isLate = this.#isLate(records);
    const isBack = this.#back(records).length > 0;
    if (!isLate && !isBack) this.#deleted = records.deleted;
    if (this.#join(records, isLate ? [] : records.deleted) > 0)
      this.#inBackground(async () => {
        // An answer that this page has not heard of is one that another tab holds.
        if (replica.abandoned().length > 0) replica.hold(await desk.store.held(desk.chatId));
        await this.#show();
      });
    if (isBack || (isLate && records.deleted.length > 0)) this.follow();
    this.lookAgain();
    this.watch();
  }

  /** Reads what was heard of while a write was on its way, where that did not bring it back. */
  lookAgain(): void {
    if (this.#heard > this.#writer.replica.seq) this.follow();
  }

  async #show(): Promise<void> {
    this.#writer.view.sync();
    await this.#writer.view.load();
    this.#writer.desk.publish();
  }

  async #pull(): Promise<void> {
    const { desk, replica, view } = this.#writer;
    const { database, generation } = replica;
    let records = await this.#read(replica.seq);
    const isOther = database !== '' && records.database !== database;
    const isCleared = database !== '' && !isOther && records.generation !== generation;
    if (isOther || isCleared || this.#back(records).length > 0) records = await this.#read();
    this.#joinWhole(records, isCleared);
    if (isOther) await (await loadLoss()).noteLoss(this.#writer);
    view.sync();
    await view.load();
    const wasDeleted = desk.state.getState().error?.code === 'chat-deleted';
    desk.publish(wasDeleted && !replica.isEmpty ? { status: 'ready', error: null } : {});
    this.watch();
  }

  #becomeDeleted(): void {
    const { desk, line } = this.#writer;
    const { chatId } = desk;
    line.drop();
    const where = this.#isDeletedHere ? 'here' : 'in another tab';
    const message = `Chat "${chatId}" was deleted ${where}. What is said here begins it anew.`;
    const details = { chatId, here: this.#isDeletedHere };
    desk.publish({ status: 'error', error: new ContextError('chat-deleted', message, { details }) });
  }

  // ------------------------------------------------------------------ hearing

  /** A store's notice. */
  hear({ kind, chatId, key, seq, remote }: StoreNotice): void {
    const { desk, line, replica, streams } = this.#writer;
    if (chatId !== undefined && chatId !== desk.chatId) return;
    if (kind === 'draft') {
      if (key === undefined || streams.get(key)) return;
      replica.staleDraft(key);
    } else if (kind === 'change') {
      this.#isDeletedHere = !remote;
      // A smaller number came late, or is of another database: the browser cleared the data.
      const isSmaller = seq < this.#heard;
      const isKnown = !remote && seq <= replica.seq;
      this.#heard = seq;
      // What the present write brings back is waited for. A smaller number takes the place of one that may not be read yet.
      if (!isSmaller && (isKnown || line.isSending)) return;
    }
    this.follow();
  }

  /** Reads what others wrote without being asked to: where the store refuses, it is tried again, and told once. */
  follow(): void {
    this.#again.stop();
    this.pull().then(
      () => this.#again.reset(),
      (cause: unknown) => {
        const { desk } = this.#writer;
        const error = asContextError(cause);
        if (error.code === 'wrong-user') desk.publish({ status: 'error', error });
        if (this.#again.isFirst) desk.emit({ type: 'error', code: error.code, message: error.message });
        if (!desk.isDisposed && isRefusal(error)) this.#again.later();
      },
    );
  }

  /** Follows other tabs again, once nothing waits to hang on what was shown. */
  catchUp(): void {
    if (this.#writer.desk.pending.length === 0) this.#inBackground(() => this.#show());
  }

  /** Looks after the answers that other tabs write: one whose tab died is found to be cut off. */
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
    task().catch((error: unknown) => {
      const { code, message } = asContextError(error);
      this.#writer.desk.emit({ type: 'error', code, message });
    });
  }

  dispose(): void {
    clearTimeout(this.#watching);
    this.#again.stop();
  }
}

/** How often the locks of answers are looked at that other tabs write, in ms. */
const WATCH = 2000;
