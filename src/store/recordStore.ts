import type { UIMessage } from 'ai';
import { ContextError, isContextError, refuseToLoad } from '../errors.ts';
import type { Chat, MessageNode } from '../graph/graph.ts';
import { graphData } from '../graph/graphData.ts';
import type { GraphData } from '../graph/visualize.ts';
import { LEFT, leftDrafts, sweepDrafts, writeDraft, writeLastDraft } from './drafts.ts';
import { applyOps } from './apply.ts';
import { Attachments, type Files, hasFiles } from './attachments.ts';
import { hashOf, putBlob, sweepBlobs } from './blobs.ts';
import type { Channel } from './channel.ts';
import { ChatReads, type Known, knownFrom } from './chatReads.ts';
import { createHexId } from './hexId.ts';
import {
  APPEND,
  CHAIN,
  expectBytes,
  expectLimit,
  expectMessage,
  expectNodes,
  expectOps,
  expectOptions,
  expectSince,
  expectTexts,
  LIST,
  REMOVAL,
  SEARCH,
} from './door.ts';
import { ALL_TABLES, type Meta, only, type Table } from './layout.ts';
import { nextMeta, readMeta, SELF } from './meta.ts';
import { askToPersist, figuresOf, type StorageFigures } from './figures.ts';
import type { DataLoss } from './loss.ts';
import { asJson, cloneValue, expectKey, normaliseMessage, normaliseOps } from './normalise.ts';
import { findChat, getChain, getNodes, listChats, load, loadPointers, MESSAGES, RECORDS } from './reads.ts';
import { keepFile, RecordTransaction } from './append.ts';
import { NOTHING_KEPT, TRACES } from './rebuild.ts';
import {
  bringBack,
  isBuried,
  leave,
  purge,
  removal,
  type Removal,
  type RemovedChat,
  takeAway,
} from './removal.ts';
import { onReturning } from './returning.ts';
import type { Backing, Rows } from './rows.ts';
import type { MessageSearch } from './search.ts';
import { forgetTexts } from './texts.ts';
import type {
  AppendOptions,
  AppendResult,
  BranchInfo,
  Change,
  ChatFilter,
  ChatInfo,
  ChatRecords,
  CheckpointInfo,
  ContextStore,
  DraftOptions,
  Persistence,
  Salvage,
  SearchOptions,
  SearchResult,
  StoreNotice,
  OpNamed,
  StoreOp,
} from './store.ts';

/**
 * The store's contract over rows, whatever keeps them.
 *
 * What an operation means is in `apply.ts`, how a question is answered in `reads.ts`, where things lie in `layout.ts`.
 * Here they meet: each method looks at what it is handed (`door.ts`) and is one transaction of the {@link Backing}; who
 * listens is told after it.
 */
export class RecordStore implements ContextStore {
  readonly #backing: Backing;
  readonly #attachments = new Attachments();
  /** What the last write left, or the last one who read a whole chat found. */
  #known: Known | undefined;
  /** What its calls are told by in the database: a name of its own, and their number. */
  readonly #name = createHexId();
  #calls = 0;
  #writing = 0;
  readonly #listeners = new Set<{ readonly hear: (notice: StoreNotice) => void }>();
  #channel: Channel | undefined;
  #sweeper: ReturnType<typeof setTimeout> | undefined;
  #sweptAt = 0;
  #nextSweep: ReturnType<typeof setTimeout> | undefined;
  #isAwake = false;
  #search: Promise<MessageSearch> | undefined;
  /** The last change number that was heard of. */
  #seq = 0;
  /** The last one that was looked for: up to it, every listener knows of all. */
  #seenTo: number | undefined;
  #stopLooking: (() => void) | undefined;

  constructor(backing: Backing) {
    this.#backing = backing;
  }

  get persistence(): Persistence {
    return this.#backing.persistence;
  }

  async load(chatId: string, since?: number): Promise<ChatRecords> {
    expectTexts({ chatId });
    expectSince(since, false);
    const { records, meta } = await this.#backing.read(RECORDS, async (rows) => {
      const reading = readMeta(rows);
      return { records: await load(rows, chatId, since, reading), meta: await reading };
    });
    if (since === undefined && (this.#known?.meta.seq ?? 0) <= meta.seq)
      this.#known = knownFrom(chatId, records, meta);
    this.#tend(chatId, records.chat);
    return records;
  }

  async getChat(chatId: string): Promise<Chat | undefined> {
    expectTexts({ chatId });
    return this.#backing.read(TRACES, (rows) => findChat(rows, chatId));
  }

  async getMessage(chatId: string, id: string): Promise<MessageNode | undefined> {
    expectTexts({ id });
    return (await this.getNodes(chatId, [id]))[0];
  }

  async getMessageChain(
    chatId: string,
    headId: string,
    options: { readonly limit?: number } = {},
  ): Promise<MessageNode[]> {
    expectTexts({ chatId, headId });
    expectOptions(options, CHAIN);
    const { limit = Infinity } = options;
    return (await this.#readWhole((rows) => getChain(rows, chatId, headId, limit))) ?? [];
  }

  async getNodes(chatId: string, ids: readonly string[], seqs?: readonly number[]): Promise<MessageNode[]> {
    expectTexts({ chatId });
    expectNodes(ids, seqs);
    return (await this.#readWhole((rows) => getNodes(rows, chatId, ids, seqs))) ?? [];
  }

  async getMessages(chatId: string): Promise<MessageNode[]> {
    expectTexts({ chatId });
    const chain = await this.#readWhole((rows) => getChain(rows, chatId, undefined, Infinity));
    if (chain) return chain;
    throw new ContextError('chat-missing', `Chat "${chatId}" not found`, { details: { chatId } });
  }

  /** @internal Messages as they lie there: names stand for the bytes of files. */
  readLight(chatId: string, ids: readonly string[]): Promise<MessageNode[]> {
    return this.#backing.read(MESSAGES, (rows) => getNodes(rows, chatId, ids));
  }

  /** Reads messages, and their files with them. */
  #readWhole(find: (rows: Rows) => Promise<MessageNode[] | undefined>): Promise<MessageNode[] | undefined> {
    return this.#backing.read(MESSAGES, async (rows) => {
      const nodes = await find(rows);
      return nodes && [...(await this.#attachments.attach(rows, nodes))];
    });
  }

  async listBranches(chatId: string): Promise<BranchInfo[]> {
    const { chat, branches } = await this.#loadPointers(chatId);
    return branches
      .filter((branch) => branch.deletedAt === undefined)
      .map(({ id, name, headMessageId, messageCount, createdAt }) => {
        return { id, name, headMessageId, isActive: id === chat?.activeBranchId, messageCount, createdAt };
      });
  }

  async listCheckpoints(chatId: string): Promise<CheckpointInfo[]> {
    const { checkpoints } = await this.#loadPointers(chatId);
    return checkpoints
      .filter((checkpoint) => checkpoint.deletedAt === undefined)
      .toReversed()
      .map(({ id, name, messageId, createdAt }) => ({ id, name, messageId, createdAt }));
  }

  async #loadPointers(chatId: string): Promise<Pick<ChatRecords, 'chat' | 'branches' | 'checkpoints'>> {
    expectTexts({ chatId });
    return this.#backing.read([...TRACES, 'checkpoints'], async (rows) => {
      const chat = await findChat(rows, chatId);
      return chat ? { chat, ...(await loadPointers(rows, chatId)) } : { chat, branches: [], checkpoints: [] };
    });
  }

  async getGraph(chatId: string): Promise<GraphData> {
    const { chat, nodes, branches, checkpoints } = await this.load(chatId);
    return graphData(chatId, nodes, branches, checkpoints, chat?.activeBranchId);
  }

  async listChats(filter: ChatFilter = {}): Promise<ChatInfo[]> {
    expectOptions(filter, LIST);
    this.#sweepInTime();
    return this.#backing.read(['chats', 'branches'], (rows) => listChats(rows, filter));
  }

  async searchMessages(chatId: string, query: string, options?: SearchOptions): Promise<SearchResult[]> {
    expectTexts({ chatId });
    expectOptions(options, SEARCH);
    this.#search ??= import('./search.ts').then(({ MessageSearch }) => new MessageSearch(this));
    const search = await this.#search.catch((cause: unknown) => {
      this.#search = undefined;
      return refuseToLoad(cause);
    });
    return search.find(chatId, query, options);
  }

  async salvage(chatId: string): Promise<Salvage> {
    expectTexts({ chatId });
    const { salvage, withKept } = await import('./salvage.ts').catch(refuseToLoad);
    const found = await this.#backing.read(ALL_TABLES, (rows) => salvage(rows, chatId));
    const isWhole = found.wordless.length + found.fileless.length === 0;
    return withKept(found, (isWhole ? undefined : await this.#backing.recall?.(chatId)) ?? NOTHING_KEPT);
  }

  async changesSince(seq: number, limit: number = Infinity): Promise<Change[]> {
    expectSince(seq, true);
    expectLimit(limit);
    if (limit <= 0) return [];
    const many = limit < MOST_ROWS ? limit : Infinity;
    return this.#backing.read(['changes'], (rows) =>
      rows.list('changes', { from: seq + 1, to: Infinity }, 'seq', many),
    );
  }

  async append(chatId: string, ops: readonly StoreOp[], options: AppendOptions): Promise<AppendResult> {
    expectTexts({ chatId });
    expectOptions(options, APPEND);
    expectOps(ops);
    const settled = asJson(options, 'The metadata of a chat');
    const files: Files = new Map();
    const whole = normaliseOps(ops);
    const ready = whole.some(bringsFiles) ? await this.#detached(whole, files) : whole;
    const work = async (tx: RecordTransaction, rows: Rows): Promise<AppendResult> => {
      tx.expectSince(settled.asOf);
      const result = await applyOps(tx, ready, settled, Date.now());
      return { ...result, written: await this.#attachments.attach(rows, result.written, files) };
    };
    try {
      const result = await this.#write(chatId, work, ready, files);
      this.#tend(chatId, result.chat);
      return result;
    } finally {
      forgetTexts();
    }
  }

  /** The operations with names for the files in their messages. */
  #detached(ops: readonly StoreOp[], files: Files): Promise<StoreOp[]> {
    return Promise.all(
      ops.map(async (op) =>
        bringsFiles(op) ? { ...op, data: await this.#attachments.detach(op.data, files) } : op,
      ),
    );
  }

  async saveDraft(chatId: string, id: string, message: UIMessage, options: DraftOptions = {}): Promise<void> {
    expectTexts({ chatId });
    expectOptions(options);
    expectMessage(message);
    const { isLeaving = false, isDurable = false } = options;
    const files: Files = new Map();
    const whole = normaliseMessage(id, message);
    if (isLeaving)
      return this.#backing.write(['drafts'], async (rows) => writeLastDraft(rows, chatId, whole), true);
    const draft = hasFiles(whole) ? await this.#attachments.detach(whole, files) : whole;
    const keep = async (rows: Rows): Promise<boolean> => {
      const isGrowing = (await rows.get('nodes', [chatId, id], 'id'))?.status === 'streaming';
      if (!isGrowing) return false;
      for (const hash of files.keys()) await keepFile(rows, chatId, hash, files);
      await writeDraft(rows, chatId, draft);
      return true;
    };
    const tables = files.size > 0 ? [...DRAFTS, ...BLOBS] : DRAFTS;
    const isKept = await this.#backing.write(tables, keep, !isDurable);
    if (isDurable && !isKept) throw notGrowing(chatId, id);
    if (isKept) this.#tell({ kind: 'draft', chatId, id, seq: this.#seq, remote: false });
  }

  async deleteChat(
    chatId: string,
    options: { readonly userId?: string; readonly keepFor?: number } = {},
  ): Promise<boolean> {
    expectTexts({ chatId });
    expectOptions(options, REMOVAL);
    const now = Date.now();
    const isRemoved = await this.#remove(chatId, removal(options, now), now);
    this.#sweep();
    return isRemoved;
  }

  async restoreChat(chatId: string): Promise<boolean> {
    expectTexts({ chatId });
    return (await this.#write(chatId, (tx) => bringBack(tx, Date.now()))) !== undefined;
  }

  async get<T = unknown>(key: string): Promise<T | undefined> {
    const at = expectKey(key);
    return cloneValue(key, await this.#backing.read(['values'], (rows) => rows.get('values', at))) as
      | T
      | undefined;
  }

  async set(key: string, value: unknown): Promise<void> {
    const copy = cloneValue(expectKey(key), value);
    await this.#backing.write(['values'], async (rows) => rows.put('values', copy, key));
  }

  async delete(key: string): Promise<void> {
    const at = only(expectKey(key));
    await this.#backing.write(['values'], async (rows) => rows.delete('values', at));
  }

  async putBlob(bytes: Uint8Array): Promise<string> {
    expectBytes(bytes);
    const copy = bytes.slice();
    const hash = await hashOf(copy);
    await this.#backing.write(BLOBS, (rows) => putBlob(rows, hash, copy, Date.now()));
    return hash;
  }

  async getBlob(hash: string): Promise<Uint8Array | undefined> {
    expectTexts({ hash });
    const bytes = (await this.#backing.read(['blobs'], (rows) => rows.get('blobs', hash)))?.bytes.slice();
    return bytes && (await hashOf(bytes)) === hash ? bytes : undefined;
  }

  async hold(chatId: string, id: string): Promise<() => void> {
    expectTexts({ chatId, id });
    return this.#backing.hold(chatId, id);
  }

  async held(chatId: string): Promise<ReadonlySet<string>> {
    expectTexts({ chatId });
    return this.#backing.held(chatId);
  }

  subscribe(listener: (notice: StoreNotice) => void): () => void {
    const own = { hear: listener };
    this.#join();
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  async clear(): Promise<void> {
    const seq = await this.#forgetAll();
    this.#letGoOfSearch();
    try {
      await this.#backing.forget?.();
    } finally {
      this.#tell({ kind: 'clear', seq, remote: false });
    }
  }

  /**
   * Removes a chat, or the content of one. A full disk takes no note of it, however short, but lets go of what is there: what
   * is to go at once goes first then, and makes room. Where there is none even so, nothing is left of the chat.
   */
  async #remove(chatId: string, plan: Removal, now: number): Promise<boolean> {
    const carryOut = async (tx: RecordTransaction, gone?: RemovedChat): Promise<boolean> => {
      const left = (await plan(tx)) ?? ((await tx.chat()) ? undefined : gone);
      if (left) await leave(tx, left);
      return left !== undefined;
    };
    try {
      return await this.#write(chatId, (tx) => carryOut(tx));
    } catch (error) {
      if (!isContextError(error, 'quota-exceeded')) throw error;
      const gone = await this.#write(chatId, async (tx) => {
        const left = await plan(tx);
        return left && isBuried(left) ? { left, isWhole: await takeAway(tx, now) } : undefined;
      });
      if (!gone) throw error;
      // Nothing tells of that by its number.
      this.#known = undefined;
      await this.#write(chatId, (tx) => carryOut(tx, gone.left)).catch((refusal: unknown) => {
        if (!gone.isWhole) throw refusal;
        this.#tell({ kind: 'change', chatId, seq: this.#seq, remote: false });
      });
      return true;
    }
  }

  /** The same for all there is. Where there is no room for the note even so, what is left is an empty database. */
  async #forgetAll(): Promise<number> {
    try {
      return await this.#backing.write(ALL_TABLES, (rows) => forgetAll(rows));
    } catch (error) {
      if (!isContextError(error, 'quota-exceeded')) throw error;
    }
    const { seq } = await this.#backing.write(ALL_TABLES, emptyAll);
    // Nothing tells of that by its number.
    this.#known = undefined;
    return this.#backing.write(ALL_TABLES, (rows) => forgetAll(rows, seq)).catch(() => seq);
  }

  get dataLoss(): DataLoss | undefined {
    return this.#backing.dataLoss;
  }

  storage(): Promise<StorageFigures> {
    return figuresOf(this.#backing);
  }

  persist(): Promise<boolean> {
    return askToPersist();
  }

  /** @internal Lets what follows open the database again: somebody uses the store. */
  open(): void {
    if (this.#isAwake) return;
    this.#isAwake = true;
    this.#backing.open?.();
    this.#sweep();
  }

  async close(): Promise<void> {
    this.#isAwake = false;
    this.#letGoOfSearch();
    clearTimeout(this.#sweeper);
    clearTimeout(this.#nextSweep);
    this.#listeners.clear();
    this.#leave();
    this.#backing.close();
  }

  #leave(): void {
    this.#stopLooking?.();
    this.#stopLooking = undefined;
    this.#channel?.close();
    this.#channel = undefined;
  }

  #letGoOfSearch(): void {
    void this.#search?.then(
      (search) => search.letGo(),
      () => undefined,
    );
  }

  /**
   * A write to one chat; once it is durable, everyone hears, if something changed. A connection that breaks makes it
   * again: what was done by then is not done twice.
   */
  async #write<T>(
    chatId: string,
    work: (tx: RecordTransaction, rows: Rows) => Promise<T>,
    ops: readonly StoreOp[] = [],
    files: Files = new Map(),
  ): Promise<T> {
    const by = `${this.#name}${(this.#calls += 1)}`;
    // Who writes while another write is under way can't know what that will leave.
    const last = this.#writing > 0 ? undefined : this.#known;
    this.#writing += 1;
    let done: Done<T> | undefined;
    const carryOut = async (rows: Rows): Promise<Done<T>> => {
      const reads = new ChatReads(rows, chatId);
      const meta = await reads.begin(ops, done ? undefined : last);
      // Carried out before, and the answer got lost on the way.
      if (done && meta.by === by) return done;
      const tx = new RecordTransaction(reads, { ...meta, by }, files);
      const result = await work(tx, rows);
      await tx.settleBlobs();
      return (done = { result, tx, before: meta.seq, seq: await tx.seq() });
    };
    const { result, tx, before, seq } = await this.#backing
      .write(ALL_TABLES, carryOut)
      .finally(() => (this.#writing -= 1));
    if (!tx.hasChanged) return result;
    this.#known = tx.known;
    if (this.#seenTo === before) this.#seenTo = seq;
    this.#tell({ kind: 'change', chatId, seq, remote: false });
    return result;
  }

  #tend(chatId: string, chat: Chat | undefined): void {
    if (this.#isAwake && chat?.deletedAt === undefined && chat) this.#backing.tend(chatId, chat.nextSeq);
  }

  #tell(notice: StoreNotice): void {
    this.#hear(notice);
    this.#join()?.tell(notice);
    // A write that ended after the store was closed: others hear of it, and nobody listens here any more.
    if (!this.#isAwake && this.#listeners.size === 0) this.#leave();
  }

  /** A listener that throws does not keep the others from hearing. */
  #hear(notice: StoreNotice): void {
    this.#seq = Math.max(this.#seq, notice.seq);
    // Others were here since.
    if (notice.remote && notice.seq > (this.#known?.meta.seq ?? 0)) this.#known = undefined;
    for (const { hear } of this.#listeners) {
      try {
        hear(notice);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }

  #join(): Channel | undefined {
    if (this.persistence !== 'memory')
      this.#stopLooking ??= onReturning(() => void this.#look().catch(() => undefined));
    this.#channel ??= this.#backing.join((notice) => this.#hear(notice));
    return this.#channel;
  }

  /**
   * Looks whether others were here, when a person comes back: a page that was frozen has missed what they told, and where
   * there are no channels, nobody told anything. Who hears of it asks for the difference.
   */
  async #look(): Promise<void> {
    if (!this.#isAwake) return;
    const meta = await this.#backing.read(['meta'], (rows) => rows.get('meta', SELF));
    if (!meta || meta.seq === this.#seenTo) return;
    this.#seenTo = meta.seq;
    this.#hear({ kind: 'change', seq: meta.seq, remote: true });
  }

  /** A page lists its chats after each change, several times in a turn: once in a second is often enough to sweep. */
  #sweepInTime(): void {
    if (Math.abs(Date.now() - this.#sweptAt) >= SECOND) this.#sweep();
    else if (this.#isAwake) this.#nextSweep ??= setTimeout(() => this.#sweep(), SECOND);
  }

  /** Takes the content of deleted chats whose time is over, and what came too late; comes back when the next one's is. */
  #sweep(): void {
    this.#sweptAt = Date.now();
    clearTimeout(this.#nextSweep);
    this.#nextSweep = undefined;
    this.#sweepBlobs(this.#sweptAt).catch(() => undefined);
    this.#sweepDrafts().catch(() => undefined);
    this.#backing
      .read(['chats'], (rows) => rows.list('chats', undefined, 'due'))
      .then((chats) => this.#purge(chats, Date.now()))
      .catch(() => undefined);
  }

  async #sweepBlobs(now: number): Promise<void> {
    const fresh = await this.#backing.read(['fresh'], (rows) => rows.list('fresh'));
    if (fresh.some(({ until }) => until <= now))
      await this.#backing.write(BLOBS, (rows) => sweepBlobs(rows, now));
  }

  async #sweepDrafts(): Promise<void> {
    const left = await this.#backing.read(LEFT, leftDrafts);
    if (left.length > 0) await this.#backing.write(LEFT, sweepDrafts);
  }

  async #purge(chats: readonly RemovedChat[], now: number): Promise<void> {
    for (const { id, purgeAt = 0 } of chats) {
      if (purgeAt <= now) await this.#remove(id, purge(now), now);
    }
    const next = Math.min(...chats.map(({ purgeAt = 0 }) => purgeAt).filter((at) => at > now));
    clearTimeout(this.#sweeper);
    if (!this.#isAwake || next === Infinity) return;
    this.#sweeper = setTimeout(() => this.#sweep(), Math.min(next - now, LONGEST_TIMER));
  }
}

/** A write that was carried out. */
interface Done<T> {
  readonly result: T;
  readonly tx: RecordTransaction;
  /** The change number before it, and its own. */
  readonly before: number;
  readonly seq: number;
}

/** Whether an operation brings a message with files. */
function bringsFiles(op: StoreOp): op is OpNamed<'insert'> {
  return (op.op === 'insert' || op.op === 'replace') && op.data !== undefined && hasFiles(op.data);
}

/** The tables that drafts are kept in. */
const DRAFTS: readonly Table[] = ['nodes', 'drafts'];

/** The tables that bytes are kept in. */
const BLOBS: readonly Table[] = ['blobs', 'uses', 'fresh'];

/** In ms. */
const SECOND = 1000;

/** So many rows a database counts; a limit beyond is none. */
const MOST_ROWS = 2 ** 31;

/** The longest time that a timer can wait, ms. */
const LONGEST_TIMER = 2 ** 31 - 1;

function notGrowing(chatId: string, id: string): ContextError {
  const message = `Message "${id}" is not growing in chat "${chatId}": it is settled or gone.`;
  return new ContextError('message-not-found', message, { details: { id, chatId } });
}

/**
 * Empties every table; the counter goes on, because other tabs remember its numbers, and what they know from before: from
 * `last` at least, where the changes that told of it went already.
 */
async function forgetAll(rows: Rows, last: number = 0): Promise<number> {
  const meta = await emptyAll(rows);
  rows.delete('meta');
  const seq = Math.max(meta.seq, last) + 1;
  rows.put('meta', { ...meta, seq, clearedSeq: seq }, SELF);
  return seq;
}

/** Empties every table but that of the counter, which nobody may see go back, and puts nothing; tells what it says. */
async function emptyAll(rows: Rows): Promise<Meta> {
  const meta = await nextMeta(rows);
  for (const table of ALL_TABLES) if (table !== 'meta') rows.delete(table);
  return meta;
}
