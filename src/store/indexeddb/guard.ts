import { LATE, SELF } from '../meta.ts';
import type { Channel } from '../channel.ts';
import { createHexId } from '../hexId.ts';
import type { BackingFigures, JournalFigures } from '../figures.ts';
import type { Meta, Table } from '../layout.ts';
import type { DataLoss, Restored } from '../loss.ts';
import { ContextError, isContextError, reasonOf } from '../../errors.ts';
import { type Kept, NOTHING_KEPT } from '../rebuild.ts';
import type { Backing, Rows } from '../rows.ts';
import type { Persistence, StoreNotice } from '../store.ts';
import { IndexedDBBacking } from './backing.ts';
import type { Database } from './connection.ts';
import type { Journal } from './journal.ts';
import { isWritable, removeJournals } from './journalFiles.ts';
import { type Mark, missing, readMark, writeMark } from './marker.ts';
import type { IndexedDBOptions } from './store.ts';
import { read } from './transaction.ts';

/**
 * A database, and somebody who remembers what was in it.
 *
 * Each time the database opens, before anybody uses it, it is compared with the note that was left beside it; after each
 * commit the note is written again, soon. Where a journal is kept, it follows behind each commit. Neither is waited for,
 * and neither can make a write fail: they are about the day on which all else is gone.
 *
 * A database that lost something takes a new name and goes on counting where the old one was: tabs that were open
 * remember its numbers, and what is written from now on must be new to them.
 */
export class GuardedBacking implements Backing {
  readonly #name: string;
  readonly #options: IndexedDBOptions;
  readonly #inner: IndexedDBBacking;
  /** The note as it was last read or written, for browsers that keep none. */
  #mark: Mark | undefined;
  #marking: ReturnType<typeof setTimeout> | undefined;
  /** Whether there was anything, as far as this page knows: it wrote it, or heard of it. The note may not tell of that yet. */
  #isUsed = false;
  /** The number that the database last went on from when it had lost something. The note may be older. */
  #renewed = 0;
  /** How late the note may be, ms. */
  #pause = MARK_AFTER;
  #loss: DataLoss | undefined;
  #journal: Promise<Journal> | undefined;
  #journalError: Error | undefined;
  #isClosed = false;
  #hear: ((notice: StoreNotice) => void) | undefined;
  #channel: Channel | undefined;

  constructor(name: string, options: IndexedDBOptions) {
    this.#name = name;
    this.#options = options;
    this.#inner = new IndexedDBBacking(name, options.patience ?? 5000, (db, reason) =>
      this.#examine(db, reason),
    );
  }

  get persistence(): Persistence {
    return this.#inner.persistence;
  }

  get dataLoss(): DataLoss | undefined {
    return this.#loss;
  }

  read<T>(tables: readonly Table[], work: (rows: Rows) => Promise<T>): Promise<T> {
    return this.#inner.read(tables, work);
  }

  async write<T>(
    tables: readonly Table[],
    work: (rows: Rows) => Promise<T>,
    isRelaxed?: boolean,
  ): Promise<T> {
    const written: { values?: ReadonlySet<string> | undefined } = {};
    const noting = (rows: Rows): Promise<T> => {
      written.values = rows.touched;
      return work(rows);
    };
    const result = await this.#inner.write(tables, noting, isRelaxed);
    const isOfChat = isRelaxed !== true && tables.includes('chats');
    if (isOfChat) this.#remember();
    if (isOfChat || written.values?.size) void this.#follow(written.values);
    return result;
  }

  tend(chatId: string, nextSeq: number): void {
    this.#inner.tend(chatId, nextSeq);
  }

  hold(chatId: string, id: string): Promise<() => void> {
    return this.#inner.hold(chatId, id);
  }

  held(chatId: string): Promise<ReadonlySet<string>> {
    return this.#inner.held(chatId);
  }

  join(hear: (notice: StoreNotice) => void): Channel | undefined {
    this.#hear = hear;
    this.#channel = this.#inner.join((notice) => {
      if (notice.kind === 'clear') this.#forgetUpTo(notice.seq);
      // Nothing was there yet to be noted when it was opened here.
      else if (!this.#mark) this.#remember();
      hear(notice);
    });
    return this.#channel;
  }

  /** Another tab has deleted all on purpose: nothing of it is missed here, either. */
  #forgetUpTo(seq: number): void {
    if (this.#mark && this.#mark.seq <= seq) this.#mark = undefined;
    this.#isUsed = false;
    this.#loss = undefined;
  }

  async recall(chatId: string): Promise<Kept> {
    const journal = await this.#openJournal();
    return (await journal?.recall(chatId).catch((error) => this.#fail(error))) ?? NOTHING_KEPT;
  }

  async figures(): Promise<BackingFigures> {
    const figures = await this.#inner.figures();
    return this.#options.journal ? { ...figures, journal: await this.#journalFigures() } : figures;
  }

  open(): void {
    this.#isClosed = false;
    this.#inner.open();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#marking);
    this.#marking = undefined;
    this.#journal = undefined;
    this.#hear = undefined;
    this.#channel = undefined;
    this.#inner.close();
  }

  /** All is deleted on purpose: nothing about it stays. */
  async forget(): Promise<void> {
    clearTimeout(this.#marking);
    this.#marking = undefined;
    this.#mark = undefined;
    this.#isUsed = false;
    this.#loss = undefined;
    writeMark(this.#name, undefined);
    await removeJournals(this.#name).catch((error: unknown) => {
      throw notForgotten(this.#name, error);
    });
  }

  // --- What was there ----------------------------------------------------------------------------------------------

  /** Compares the database with its note. Never throws: a look must not be what keeps a database shut. */
  async #examine(db: Database, reason: string | undefined): Promise<void> {
    try {
      const mark = readMark(this.#name) ?? this.#mark;
      const meta = await read(db, ['meta'], (rows) => rows.get('meta', SELF));
      const kind = missing(mark, meta, reason) ?? (this.#isUsed && !meta ? 'all' : undefined);
      if (kind && mark) this.#renewed = await renew(db, kind, mark, this.#renewed);
      this.#mark = mark;
      // A page may go before its note is written, and the next one may only read.
      if (meta && !kind && meta.seq !== mark?.seq) this.#remember();
      void this.#consider(kind && { kind, ...(reason === undefined ? {} : { reason }) }, mark);
    } catch {
      // Whatever is wrong with the connection is met by whoever asked for it.
    }
  }

  /** Tells of a loss, with what can be done about it. */
  async #consider(
    found: Pick<DataLoss, 'kind' | 'reason'> | undefined,
    mark: Mark | undefined,
  ): Promise<void> {
    const journal = await this.#openJournal();
    const canRestore = (await journal?.holdsLost().catch((error) => this.#fail(error))) ?? false;
    void journal?.follow().catch((error) => this.#fail(error));
    if (this.#isClosed || (!found && !canRestore)) return;
    const { chats, messages, at: lastSaved } = found && mark ? mark : ({} as Partial<Mark>);
    const noticedBy = found ? (found.reason === undefined ? 'marker' : 'browser') : 'journal';
    this.#tellOf({
      kind: 'all',
      ...found,
      database: this.#name,
      noticedBy,
      ...(chats === undefined ? {} : { chats }),
      ...(messages === undefined ? {} : { messages }),
      ...(lastSaved === undefined ? {} : { lastSaved }),
      canRestore,
      restore: () => this.#restore(),
      dismiss: () => this.#dismiss(),
    });
  }

  #tellOf(loss: DataLoss | undefined): void {
    this.#loss = loss;
    this.#hear?.({ kind: 'loss', seq: 0, remote: false });
    if (!loss) return;
    try {
      this.#options.onDataLoss?.(loss);
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
  }

  async #restore(): Promise<Restored> {
    this.open();
    const journal = await this.#openJournal();
    if (!journal) throw nothingToRestore(this.#name);
    const { notices, errors, ...restored } = await journal.restore();
    for (const notice of notices) this.#announce(notice);
    if (restored.left + errors.length === 0) await this.#settle();
    else await this.#writeMark();
    if (errors.length > 0) throw errors[0];
    return restored;
  }

  async #dismiss(): Promise<void> {
    this.open();
    await (await this.#openJournal())?.forgetLost();
    await this.#settle();
  }

  /** What was lost is of no concern any more: the note is about what is there now. */
  async #settle(): Promise<void> {
    await this.#writeMark(true);
    this.#tellOf(undefined);
  }

  #announce(notice: StoreNotice): void {
    this.#hear?.(notice);
    this.#channel?.tell(notice);
  }

  // --- After each commit -------------------------------------------------------------------------------------------

  #remember(): void {
    this.#isUsed = true;
    this.#marking ??= unobtrusive(
      setTimeout(() => void this.#writeMark().catch(() => undefined), this.#mark ? this.#pause : 0),
    );
  }

  /** Where all was lost, and nothing was written since, the note stays until somebody has taken note: another page may come. */
  async #writeMark(isSettled = false): Promise<void> {
    clearTimeout(this.#marking);
    this.#marking = undefined;
    const start = performance.now();
    const mark = await this.#inner.read(['meta', 'chats'], markOf);
    this.#pause = Math.min(Math.max(MARK_AFTER, (performance.now() - start) * MARK_SHARE), MARK_LATEST);
    if (!mark && this.#loss?.kind === 'all' && !isSettled) return;
    this.#mark = mark;
    this.#isUsed = mark !== undefined;
    writeMark(this.#name, mark);
  }

  async #follow(values?: ReadonlySet<string>): Promise<void> {
    const journal = await this.#openJournal();
    await journal?.follow(values).then(
      () => (this.#journalError = undefined),
      (error: unknown) => this.#fail(error),
    );
  }

  // --- The journal -------------------------------------------------------------------------------------------------

  /** The journal; undefined where none is wanted, this browser has no place for one, or its code did not come. */
  #openJournal(): Promise<Journal | undefined> {
    if (!this.#options.journal || !isWritable()) return Promise.resolve(undefined);
    const opening = (this.#journal ??= import('./journal.ts').then(
      ({ Journal }) => new Journal(this.#name, this.#inner),
    ));
    return opening.catch((error: unknown) => {
      if (this.#journal === opening) this.#journal = undefined;
      this.#fail(error);
      return undefined;
    });
  }

  /**
   * A journal that can't be written costs nobody a turn. It is said once, and stands in the figures. What the database
   * refuses is not the journal's failure: it catches up later. A journal of a newer version it does not.
   */
  #fail(error: unknown): undefined {
    if (isContextError(error) && !('journal' in error.details)) return undefined;
    const isNews = this.#journalError === undefined;
    this.#journalError = error instanceof Error ? error : new Error(reasonOf(error));
    if (isNews) console.warn(`contextree: the journal of "${this.#name}" can't be kept: ${reasonOf(error)}`);
    return undefined;
  }

  async #journalFigures(): Promise<JournalFigures> {
    if (!isWritable()) return { state: 'unsupported' };
    const journal = await this.#openJournal();
    await this.#follow();
    const bytes = await journal?.size().catch((error) => this.#fail(error));
    const error = this.#journalError;
    return {
      state: error ? 'failed' : 'on',
      ...(bytes === undefined ? {} : { bytes }),
      ...(error ? { error } : {}),
    };
  }
}

/**
 * How late the note may be, ms; and how many times longer than it takes, where there are many chats to count. On a busy
 * machine it takes long for other reasons, so there is an end to that.
 */
const MARK_AFTER = 1000;
const MARK_SHARE = 50;
const MARK_LATEST = 10_000;

/** In Node, a note must not keep the process alive. */
function unobtrusive(timer: ReturnType<typeof setTimeout>): ReturnType<typeof setTimeout> {
  (timer as { unref?: () => void }).unref?.();
  return timer;
}

/** The note about what is there; undefined for a database without chats, which nobody would miss. */
async function markOf(rows: Rows): Promise<Mark | undefined> {
  const [meta, all] = await Promise.all([rows.get('meta', SELF), rows.list('chats')]);
  const chats = all.filter(({ deletedAt }) => deletedAt === undefined);
  if (!meta || chats.length === 0) return undefined;
  return {
    databaseId: meta.databaseId,
    seq: meta.seq,
    chats: chats.length,
    messages: chats.reduce((sum, { messageCount }) => sum + messageCount, 0),
    at: Math.max(...chats.map(({ updatedAt }) => updatedAt)),
  };
}

/**
 * Lets a database that lost something go on counting from where it was, under a new name if it had the old one; from where it
 * was `before`, if it was lost twice while the note was late. Gives the number that it goes on from.
 */
async function renew(db: Database, kind: DataLoss['kind'], mark: Mark, before: number): Promise<number> {
  const tx = db.transaction('meta', 'readwrite');
  tx.done.catch(() => undefined);
  const meta: Meta | undefined = await tx.store.get(SELF);
  const names =
    meta && kind === 'all' ? meta : { deviceId: createHexId(), ...meta, databaseId: createHexId() };
  const seq = Math.max(meta?.seq ?? 0, Math.max(mark.seq, before) + LATE);
  await Promise.all([tx.store.put({ ...names, seq }, SELF), tx.done]);
  return seq;
}

function notForgotten(database: string, cause: unknown): ContextError {
  const message = `Database "${database}" is empty, but its journal can't be deleted: ${reasonOf(cause)}`;
  return new ContextError('store-unavailable', message, { details: { database }, cause });
}

function nothingToRestore(database: string): ContextError {
  const message = `There is no journal of database "${database}" to restore from. What was lost stays lost.`;
  return new ContextError('data-loss', message, { details: { database } });
}
