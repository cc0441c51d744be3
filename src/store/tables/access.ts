import type { UIMessage } from 'ai';
import { refuseToLoad } from '../../errors.ts';
import type { StoreNotice } from '../store.ts';
import type { Ready } from './commit.ts';
import type * as Filing from './files.ts';
import type { Database, Rows, StoredChat, Table } from './layout.ts';
import { readChat, withPacks } from './records.ts';

/** Work in a transaction, on a chat whose row is on its way. */
export type Work<T> = (rows: Rows, reading: Promise<StoredChat>) => Promise<T>;

/** What is told of a write; without `chatId` it is that of all chats. */
export type Notice = Omit<StoreNotice, 'remote'>;

/** The calls of a store by name, each handed its {@link Access}: see `usual.ts` and `rarely.ts`. */
export type Calls = Readonly<Record<string, (access: Access, ...args: never[]) => Promise<unknown>>>;

/**
 * The way of a store to its tables: transactions on chats, who hears of them, and what is done when nobody waits.
 *
 * Tabs tell each other that something changed: ids and numbers, never content. Everything of one origin can speak on their
 * channel, also an older or newer version of this package, so what does not look exactly like a notice is not heard. A tab
 * that was frozen misses messages; a notice is a hint to look, and an engine that hears it asks the store for the changes.
 */
export class Access {
  readonly db: Database;
  /** Those that are here; others come with their first use. */
  calls: Calls;
  /** Messages that were handed out, as long as somebody has them: lists stay equal where nothing changed. */
  readonly shown: Map<string, WeakRef<UIMessage>> = new Map();
  readonly #hear: (notice: StoreNotice) => void;
  /** The name of the database that other tabs have, too. */
  readonly #name: string | undefined;
  #channel: BroadcastChannel | undefined;
  /** Chats that were opened or grew since it was last tidied up. */
  readonly #grown = new Set<string>();
  #tidying: ReturnType<typeof setTimeout> | undefined;
  /** When it is tidied up next, and when it was last, ms as `performance.now()` has it. */
  #tidyAt = Infinity;
  #tidied = -Infinity;

  constructor(db: Database, calls: Calls, hear: (notice: StoreNotice) => void, name?: string) {
    this.db = db;
    this.calls = calls;
    this.#hear = hear;
    this.#name = name;
    this.reopen();
  }

  /** Reads of a chat. */
  read<T>(tables: readonly Table[], chatId: string, work: Work<T>): Promise<T> {
    return withPacks(() => this.db.read(tables, (rows) => inChat(rows, chatId, work)));
  }

  /** Writes to a chat; then, before the caller knows, everybody hears of what `noticeOf` makes of it. */
  write<T>(
    tables: readonly Table[],
    chatId: string,
    work: Work<T>,
    noticeOf: (done: T) => Notice | undefined,
    isRelaxed?: boolean,
  ): Promise<T> {
    return withPacks(async () => {
      const done = await this.db.write(tables, (rows) => inChat(rows, chatId, work), isRelaxed);
      const notice = noticeOf(done);
      if (notice) this.tell({ ...notice, chatId });
      return done;
    });
  }

  /** Tells this tab and the others of a change. */
  tell(notice: Notice): void {
    this.#hear({ ...notice, remote: false });
    this.#channel?.postMessage({ v: VERSION, ...notice });
    if (notice.kind !== 'draft') this.tidyLater(this.#tidied + TIDY_PAUSE - performance.now());
  }

  /** Notes that a chat may have rows to seal. */
  grow(chatId: string): void {
    this.#grown.add(chatId);
    this.tidyLater();
  }

  /** Tidies up after so many ms, when the page has nothing better to do. */
  tidyLater(ms: number = 0): void {
    const wait = Math.max(ms, TIDY_AFTER);
    const at = performance.now() + wait;
    if (at >= this.#tidyAt || wait > LONGEST_TIMER) return;
    clearTimeout(this.#tidying);
    this.#tidyAt = at;
    this.#tidying = setTimeout(() => whenIdle(() => void this.#tidy().catch(() => undefined)), wait);
    // In Node, which runs tests and servers, tidiness must not keep the process alive.
    (this.#tidying as { unref?: () => void }).unref?.();
  }

  async #tidy(): Promise<void> {
    this.#tidyAt = Infinity;
    this.#tidied = performance.now();
    const grown = [...this.#grown];
    this.#grown.clear();
    const { tidy } = await import('./upkeep.ts').catch(refuseToLoad);
    this.tidyLater((await tidy(this.db, grown)) - Date.now());
  }

  close(): void {
    clearTimeout(this.#tidying);
    this.#tidyAt = Infinity;
    this.db.close();
    this.#channel?.close();
    this.#channel = undefined;
  }

  /** Lets the next call open the database, after it was closed. Where the platform has no channels, tabs hear nothing. */
  reopen(): void {
    this.db.reopen();
    if (this.#name === undefined || this.#channel || typeof BroadcastChannel === 'undefined') return;
    this.#channel = new BroadcastChannel(`contextree:${this.#name}`);
    // In Node, a channel must not keep the process alive.
    (this.#channel as { unref?: () => void }).unref?.();
    this.#channel.onmessage = ({ data }) => {
      const notice = parseNotice(data);
      if (notice) this.#hear(notice);
    };
  }

  // ------------------------------------------------------------------ files in messages

  /** A message with names for its files, which are added to `files`. */
  async detach(message: UIMessage, files: Ready['files']): Promise<UIMessage> {
    return mayHaveFiles(message) ? (await loadFiles()).detach(message, files) : message;
  }

  /** The messages with their files. */
  async attach(messages: readonly UIMessage[]): Promise<readonly UIMessage[]> {
    return messages.some(mayHaveFiles) ? (await loadFiles()).attach(this.db, messages) : messages;
  }
}

async function inChat<T>(rows: Rows, chatId: string, work: Work<T>): Promise<T> {
  const reading = readChat(rows, chatId);
  const [done] = await Promise.all([work(rows, reading), reading]);
  return done;
}

/** How long something must be left alone before it is tidied up, and how often that happens at most, ms. */
const TIDY_AFTER = 2000;
const TIDY_PAUSE = 10_000;

/** The longest time that a timer can wait, ms. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** Calls back when the browser has nothing better to do, or when so many ms have passed; at once, where it can't tell. */
export function whenIdle(work: () => void, timeout = 5000): void {
  if (typeof requestIdleCallback === 'function') requestIdleCallback(work, { timeout });
  else work();
}

/** Whether a message may have files, or names of some: their code comes when it is needed. */
function mayHaveFiles(message: UIMessage): boolean {
  for (const part of message.parts) {
    const { url, gone } = Object(part) as { readonly url?: unknown; readonly gone?: unknown };
    if (gone !== undefined || (typeof url === 'string' && /^(?:data|contextree-blob):/.test(url)))
      return true;
  }
  return false;
}

function loadFiles(): Promise<typeof Filing> {
  return import('./files.ts').catch(refuseToLoad);
}

/** Format version of the messages between tabs. */
const VERSION = 1;

function parseNotice(data: unknown): StoreNotice | undefined {
  const { v, kind, chatId, key, seq } = Object(data) as Record<string, unknown>;
  const isOne = v === VERSION && /^(?:change|draft|clear)$/.test(String(kind)) && typeof seq === 'number';
  if (!isOne || !isName(chatId) || !isName(key)) return undefined;
  const names = { ...(chatId === undefined ? {} : { chatId }), ...(key === undefined ? {} : { key }) };
  return { kind: kind as StoreNotice['kind'], ...names, seq, remote: true };
}

function isName(value: unknown): value is string | undefined {
  return value === undefined || typeof value === 'string';
}
