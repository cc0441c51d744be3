import type { UIMessage } from 'ai';
import { ContextError, reasonOf, refuseToLoad } from '../../errors.ts';
import type { MessageRecord, Version } from '../../graph/graph.ts';
import * as door from '../door.ts';
import type {
  Body,
  ChatRecords,
  ChatRow,
  CommitOptions,
  Draft,
  DraftOptions,
  StoreDelta,
  StoreNotice,
} from '../store.ts';
import { commit as commitRecords, nameOfVersion, type Ready, type ReadyBody } from './commit.ts';
import { LAST_DRAFT, writeDraft } from './drafts.ts';
import type * as Filing from './files.ts';
import { PACK, TABLES, type Database, type Rows, type StoredChat, type Table } from './layout.ts';
import {
  findLiving,
  isDraftOf,
  loadPacks,
  putFile,
  readChat,
  readMeta,
  shownRow,
  withPacks,
} from './records.ts';
import { recordsAfter, wordsOf } from './shown.ts';

/** Work in a transaction, on a chat whose row is being read. */
export type Work<T> = (rows: Rows, reading: Promise<StoredChat>) => Promise<T>;

/** The notice of a write; without `chatId` it concerns all chats. */
export type Notice = Omit<StoreNotice, 'remote'>;

/** The calls of a store by name, each with its {@link Access} as first argument: {@link usual}, and those of `rarely.ts`. */
export type Calls = Readonly<Record<string, (access: Access, ...args: never[]) => Promise<unknown>>>;

/**
 * A store's access to its tables: transactions on chats, notices to listeners, and upkeep when the browser is idle.
 *
 * Tabs tell each other ids and numbers, never content. Other versions of this package may use the same channel, so only exact
 * notices are heard. A frozen tab misses some: a notice is a hint to ask the store for changes.
 */
export class Access {
  readonly db: Database;
  /** The loaded calls; others are loaded on first use. */
  calls: Calls;
  /** Messages that were returned: equal ones stay the same objects. */
  readonly shown: Map<string, WeakRef<UIMessage>> = new Map();
  readonly #hear: (notice: StoreNotice) => void;
  /** The name of the database, by which other tabs have it, too. */
  readonly #name: string | undefined;
  #channel: BroadcastChannel | undefined;
  /** Chats that were opened or grew since the last upkeep. */
  readonly #grown = new Set<string>();
  #tidying: ReturnType<typeof setTimeout> | undefined;
  /** When the next upkeep is due, and when the last one was, as `performance.now()`. */
  #tidyAt = Infinity;
  #tidied = -Infinity;

  constructor(db: Database, calls: Calls, hear: (notice: StoreNotice) => void, name?: string) {
    this.db = db;
    this.calls = calls;
    this.#hear = hear;
    this.#name = name;
    this.reopen();
  }

  read<T>(tables: readonly Table[], chatId: string, work: Work<T>): Promise<T> {
    return withPacks(() => this.db.read(tables, (rows) => inChat(rows, chatId, work)));
  }

  /** Writes to a chat; then notifies everybody, before the caller, with the result of `noticeOf`. */
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

  tell(notice: Notice): void {
    this.#hear({ ...notice, remote: false });
    this.#channel?.postMessage({ v: VERSION, ...notice });
    if (notice.kind !== 'draft') this.tidyLater(this.#tidied + TIDY_PAUSE - performance.now());
  }

  /** Notes that a chat may have rows to pack. */
  grow(chatId: string): void {
    this.#grown.add(chatId);
    this.tidyLater();
  }

  /** Runs the upkeep after so many ms, when the browser is idle. */
  tidyLater(ms: number = 0): void {
    const wait = Math.max(ms, TIDY_AFTER);
    const at = performance.now() + wait;
    if (at >= this.#tidyAt || wait > LONGEST_TIMER) return;
    clearTimeout(this.#tidying);
    this.#tidyAt = at;
    this.#tidying = setTimeout(() => whenIdle(() => void this.#tidy().catch(() => undefined)), wait);
    // A timer must not keep Node alive.
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

  /** Lets the next call open the database again. Without channels, tabs get no notices. */
  reopen(): void {
    this.db.reopen();
    if (this.#name === undefined || this.#channel || typeof BroadcastChannel === 'undefined') return;
    this.#channel = new BroadcastChannel(`contextree:${this.#name}`);
    (this.#channel as { unref?: () => void }).unref?.();
    this.#channel.onmessage = ({ data }) => {
      const notice = parseNotice(data);
      if (notice) this.#hear(notice);
    };
  }

  /** A message with names for its files, whose bytes are added to `files`. */
  async detach(message: UIMessage, files: Ready['files']): Promise<UIMessage> {
    return mayHaveFiles(message) ? (await loadFiles()).detach(message, files) : message;
  }

  async attach(messages: readonly UIMessage[]): Promise<readonly UIMessage[]> {
    return messages.some(mayHaveFiles) ? (await loadFiles()).attach(this.db, messages) : messages;
  }
}

async function inChat<T>(rows: Rows, chatId: string, work: Work<T>): Promise<T> {
  const reading = readChat(rows, chatId);
  const [done] = await Promise.all([work(rows, reading), reading]);
  return done;
}

/** How long a store is idle before its upkeep, and the pause after that, in ms. */
const TIDY_AFTER = 2000;
const TIDY_PAUSE = 10_000;

/** The longest delay of a timer, in ms. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** Calls back when the browser is idle, or after so many ms; at once where it can't tell. */
export function whenIdle(work: () => void, timeout = 5000): void {
  if (typeof requestIdleCallback === 'function') requestIdleCallback(work, { timeout });
  else work();
}

/** Whether a message may have files, or names of files. */
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

/** The format version of the messages between tabs. */
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

// ------------------------------------------------------------------ the calls that each chat needs

// See `ContextStore`. Each call checks its arguments, gives names to files and makes JSON of bodies, and then opens one
// transaction.

async function load(access: Access, chatId: string, since?: number): Promise<ChatRecords> {
  door.expectTexts({ chatId });
  door.expect('number?', 'change number', since);
  if (since === undefined) access.grow(chatId);
  return access.read(LOADED, chatId, (rows, reading) => recordsAfter(rows, reading, chatId, since));
}

async function bodies(
  access: Access,
  chatId: string,
  keys: readonly string[],
  records: readonly MessageRecord[] = [],
): Promise<ReadonlyMap<string, Body>> {
  door.expectTexts({ chatId });
  door.expect('text[]', 'keys', keys);
  const asked = new Set(keys);
  const found = await access.read(READ, chatId, (rows, reading) =>
    wordsOf(rows, reading, chatId, asked, records),
  );
  const isShown = asked.size <= FEW;
  const bodies = new Map<string, Body>();
  for (const key of asked) if (found.has(key)) bodies.set(key, found.get(key) as Body);
  const messages = await access.attach([...bodies.values()].map(({ message }) => message));
  for (const [i, [key, body]] of [...bodies].entries()) {
    const message = messages[i] as UIMessage;
    const name = isShown && !body.isDraft ? nameOfVersion(`${chatId} ${key}`, body) : undefined;
    bodies.set(key, { ...body, message: name === undefined ? message : same(access, name, message) });
  }
  return bodies;
}

/** The object that was returned for this message before, if the two are equal. */
function same({ shown }: Access, name: string, message: UIMessage): UIMessage {
  const known = shown.get(name)?.deref();
  // A lost file may have come back.
  if (known || message.parts.some((part) => 'gone' in part)) return known ?? message;
  shown.set(name, new WeakRef(message));
  if (shown.size % FEW === 0) for (const [key, one] of shown) if (!one.deref()) shown.delete(key);
  return message;
}

/** Above this number, messages are read to be sent and not shown: they need not stay the same objects. */
const FEW = 512;

async function commit(access: Access, chatId: string, handed: StoreDelta, options: CommitOptions) {
  const isOurs = door.isOurs(handed);
  if (!isOurs) door.expectTexts({ chatId });
  const place = isOurs ? options : door.checkCommit(options);
  const ready = await readyOf(access, chatId, isOurs ? handed : door.checkDelta(handed, place.userId));
  if (ready.messages.length >= 2 * PACK) await loadPacks();
  const { records, isChanged } = await access.write(
    COMMITTED,
    chatId,
    (rows, reading) => commitRecords(rows, reading, ready, place),
    (done) => (done.isChanged ? { kind: 'change', seq: done.records.seq } : undefined),
  );
  if (isChanged) access.grow(chatId);
  return records;
}

/** A delta as it is written: bodies apart, with names in place of their files. */
async function readyOf(access: Access, chatId: string, { messages, ...rest }: StoreDelta): Promise<Ready> {
  const bodies = new Map<string, ReadyBody>();
  const files: Ready['files'] = new Map();
  const bare: MessageRecord[] = [];
  for (const record of messages) {
    const versions: Version[] = [];
    for (const { body, ...version } of record.versions) {
      versions.push(version);
      if (!body) continue;
      const message = await access.detach(body, files);
      const { key } = record;
      bodies.set(nameOfVersion(key, version), { key, version, json: JSON.stringify(message) });
    }
    bare.push({ ...record, versions });
  }
  return { chatId, messages: bare, ...rest, bodies, files };
}

async function saveDraft(access: Access, chatId: string, draft: Draft, options?: DraftOptions) {
  door.expectTexts({ chatId });
  const { isLeaving = false, isDurable = false } = door.readOptions(options, DRAFTING);
  const copy = door.checkDraft(draft);
  const { key } = copy;
  if (isLeaving && access.db.putNow('drafts', JSON.stringify(copy), [chatId, key, LAST_DRAFT])) return;
  const files: Ready['files'] = new Map();
  const message = await access.detach(copy.message, files);
  const seq = await access.write(
    DRAFTED,
    chatId,
    async (rows, reading) => {
      const [chat, meta] = await Promise.all([reading, readMeta(rows)]);
      const found = await findLiving(rows, chat, [key], () => copy.seq);
      if (!chat.totals || !isDraftOf(copy, found.get(key))) return undefined;
      for (const [hash, bytes] of files) await putFile(rows, hash, bytes);
      await writeDraft(rows, chatId, { ...copy, message });
      return meta.seq;
    },
    (done) => (done === undefined ? undefined : { kind: 'draft', key, seq: done }),
    !isDurable,
  );
  if (seq !== undefined || !isDurable) return;
  const words = `Message "${reasonOf(key)}" of chat "${reasonOf(chatId)}" has another version by now, or is gone.`;
  throw new ContextError('message-not-found', words, { details: { chatId, key } });
}

async function getChat(access: Access, chatId: string): Promise<ChatRow | undefined> {
  door.expectTexts({ chatId });
  return access.read(['chats'], chatId, async (_rows, chat) => shownRow(await chat));
}

async function get(access: Access, key: string): Promise<unknown> {
  door.expectTexts({ key });
  return access.db.read(['values'], (rows) => rows.get('values', key));
}

async function set(access: Access, key: string, value: unknown): Promise<void> {
  door.expectTexts({ key });
  const copy = door.cloneValue(key, value);
  await access.db.write(['values'], async (rows) => rows.put('values', copy, key));
}

async function deleteValue(access: Access, key: string): Promise<void> {
  door.expectTexts({ key });
  await access.db.write(['values'], async (rows) => rows.delete('values', key));
}

async function hold(access: Access, chatId: string, key: string): Promise<() => void> {
  door.expectTexts({ chatId, key });
  return access.db.hold(chatId, key);
}

async function held(access: Access, chatId: string): Promise<ReadonlySet<string>> {
  door.expectTexts({ chatId });
  return access.db.held(chatId);
}

const LOADED: readonly Table[] = ['meta', 'chats', 'nodes', 'topologies', 'facts', 'drafts', 'local'];
const READ: readonly Table[] = ['chats', 'nodes', 'bodies', 'topologies', 'packs', 'drafts'];
const DRAFTED: readonly Table[] = ['meta', 'chats', 'nodes', 'topologies', 'drafts', 'blobs', 'uses'];
const COMMITTED: readonly Table[] = TABLES.filter((table) => table !== 'values');

const DRAFTING: door.Fields = { isLeaving: 'truth?', isDurable: 'truth?' };

/** The calls that every chat needs. */
export const usual: Calls = {
  load,
  bodies,
  commit,
  saveDraft,
  getChat,
  get,
  set,
  delete: deleteValue,
  hold,
  held,
};
