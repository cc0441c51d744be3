import type { UIMessage } from 'ai';
import type { Channel } from './channel.ts';
import type { Key, Span, Table, Tables } from './layout.ts';
import type { BackingFigures } from './figures.ts';
import type { DataLoss } from './loss.ts';
import type { Damage } from './indexeddb/damage.ts';
import type { Kept } from './rebuild.ts';
import type { Persistence, StoreNotice } from './store.ts';

/**
 * What a database has to be able to do, and no more: rows in tables, found by key or by range.
 *
 * Everything that a store knows about chats is written over these few words, once. Memory and IndexedDB differ only in
 * where the rows are, so what is tested on one holds on the other.
 */
export interface Backing {
  readonly persistence: Persistence;
  /** Reads that are true at one moment. */
  read<T>(tables: readonly Table[], work: (rows: Rows) => Promise<T>): Promise<T>;
  /**
   * Reads, and then writes, which happen whole or not at all; a throw undoes them. Resolves when they are durable.
   * `isRelaxed`: when the platform has them, before the disk does.
   */
  write<T>(tables: readonly Table[], work: (rows: Rows) => Promise<T>, isRelaxed?: boolean): Promise<T>;
  /** Tells how long a chat is, so that it can be tidied when nobody waits. */
  tend(chatId: string, nextSeq: number): void;
  hold(chatId: string, id: string): Promise<() => void>;
  held(chatId: string): Promise<ReadonlySet<string>>;
  /** Joins the other tabs, where there can be any. */
  join(hear: (notice: StoreNotice) => void): Channel | undefined;
  /** What was written down of a chat beside the rows. */
  recall?(chatId: string): Promise<Kept>;
  /** What was lost since the last visit, until that is settled. */
  readonly dataLoss?: DataLoss | undefined;
  /** What it can tell of itself beyond its rows. */
  figures?(): Promise<BackingFigures>;
  /** Forgets what it keeps beside the rows, which have just been deleted, all of them. */
  forget?(): Promise<void>;
  /** Lets what follows open it again. */
  open?(): void;
  /** Closes it. What is under way finishes or is refused with `store-closed`, and opens nothing until {@link open}. */
  close(): void;
}

/** Rows as they lie in a database, where some are packed and none need be whole. */
export interface Records extends Rows {
  /** What was met so far that is not as it was written. */
  readonly damage: readonly Damage[];
  /** The keys of the records within a span, all without one, in the order of the index; nothing else of them is read. */
  keys(table: Table, span?: Span, index?: string): Promise<Key[]>;
  /** Hands over what was written so far. Reads do so, and the end of the transaction. */
  send(): void;
}

/** Rows of some tables, within one transaction. All reads come before all writes; a write does not wait. */
export interface Rows {
  /** What was met so far that is not as it was written; absent where nothing can be damaged. */
  readonly damage?: readonly Damage[];
  /** The keys of values that were written so far; absent where nobody follows them. */
  readonly touched?: ReadonlySet<string>;
  /** The keys of all rows of a table in which each lies by itself; absent where no other page writes to it. */
  keys?(table: 'values' | 'drafts'): Promise<Key[]>;
  /**
   * Takes for true what is being asked, so that nothing waits for the answer. It is there before the writes last; where it
   * is no, none of them happened, and the work is done again without. Absent where to ask costs nothing.
   */
  readonly assume?: ((check: Promise<boolean>) => void) | undefined;
  /** The row with this key, or with this key in an index. */
  get<T extends Table>(table: T, key: Key, index?: string): Promise<Tables[T] | undefined>;
  /** The rows within a span, all of them without one, in the order of their keys; the first `limit`. */
  list<T extends Table>(table: T, span?: Span, index?: string, limit?: number): Promise<Tables[T][]>;
  /**
   * The bodies at some places, as far as they lie where their messages do: those were met in this transaction, or
   * {@link chainOf} told of them. Absent where a body can lie in one place only.
   */
  words?(chatId: string, seqs: readonly number[], areMet: boolean): Promise<UIMessage[]>;
  /**
   * Where the messages from a head towards the root lay when somebody last looked, the head first, as far as that is
   * known: mostly they are there, and no row says so. Absent where to look costs as little.
   */
  chainOf?(chatId: string, headId: string, limit: number): number[];
  /**
   * The last `many` chats within a span of the index `recent`, and those updated at the same moment as the first of them;
   * in the order of their keys. Nothing else is read.
   */
  lastChats(span: Span, many: number): Promise<Tables['chats'][]>;
  put<T extends Table>(table: T, row: Tables[T], key?: Key): void;
  /** Deletes the rows within a span; all of them without one. */
  delete(table: Table, span?: Span): void;
}
