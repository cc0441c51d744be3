import type { Branch, Chat, Checkpoint, MessageNode, NodeInfo } from '../../graph/graph.ts';
import { infoOf } from '../../graph/graph.ts';
import { ContextError, isContextError } from '../../errors.ts';
import { createHexId } from '../hexId.ts';
import { LATE, META, nextMeta, readMeta, SELF } from '../meta.ts';
import { blobsOf, hashOf } from '../blobs.ts';
import { fragmentsKey } from '../keys.ts';
import { ALL_TABLES, type Meta, ofChat, type Table } from '../layout.ts';
import { isLive } from '../pointers.ts';
import { findChat, getNodes, load, MESSAGES, RECORDS } from '../reads.ts';
import { chatOf, type Kept, type KeptMessages, keptWords, NOTHING_KEPT } from '../rebuild.ts';
import { isBuried } from '../removal.ts';
import type { Backing, Rows } from '../rows.ts';
import type { ChatRecords, StoreNotice } from '../store.ts';
import { sumOf } from '../sum.ts';
import {
  alone,
  findFile,
  hashOfText,
  isHalf,
  namesIn,
  openFolder,
  sizeOf,
  unlessMissing,
  writeFile,
} from './journalFiles.ts';
import { putBack } from './putBack.ts';

/**
 * A second account of every chat, in files, for the day on which the database is gone.
 *
 * It could be written by those who write the database; then every write would have two places to go to, and every
 * failure would have to be understood twice. It follows the change sequence instead: after a commit, whoever made it
 * asks what changed since the number that the journal stands at, writes those records down, and then the new number.
 * What a tab did not get to before it was closed is written by the next one, what was written twice says the same
 * twice, and tabs need only take turns.
 *
 * Each chat has files of its own. They grow by lines; when they are twice as long as when they were begun, the chat is
 * written anew, as it is, and the old files go. So the journal stays in proportion to what is there, an append costs what
 * it appends, and a chat that is deleted is deleted here too, at once and with every word of it.
 *
 * What the app keeps with `set()` has no part in the change sequence. A value has a file of its own, by the hash of its
 * key. On a visit's first time all values are compared with their files, later those that were written. A value that JSON
 * can't hold as it is has none.
 *
 * A line is a record, and a check of it. One that was cut short or garbled is left out when the journal is read, and
 * counted. The number has a check, too: a garbled one is none, and all is written down from its beginning again. A
 * journal of a later version is neither read nor written on: whoever knows it finds all of it.
 */
export class Journal {
  readonly #name: string;
  readonly #backing: Pick<Backing, 'read' | 'write'>;
  #running: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;
  /** The database whose values were all compared with their files; undefined: they have to be. */
  #valuesOf: string | undefined;
  /** The keys of values that may differ from their files. */
  readonly #touched: Set<string> = new Set();

  constructor(name: string, backing: Pick<Backing, 'read' | 'write'>) {
    this.#name = name;
    this.#backing = backing;
  }

  /** Resolves when all that was durable at the time of the call is written. While one is under way, one more waits. */
  follow(values: ReadonlySet<string> = new Set()): Promise<void> {
    for (const key of values) this.#touched.add(key);
    this.#next ??= this.#running
      .catch(() => undefined)
      .then(() => {
        this.#next = undefined;
        this.#running = alone(this.#name, () => this.#catchUp());
        return this.#running;
      });
    return this.#next;
  }

  async #catchUp(): Promise<void> {
    const named = await this.#backing.read(['meta'], (rows) => rows.get('meta', SELF));
    const meta = named ?? ((await this.#hasValues()) ? await this.#giveName() : undefined);
    // A database with nothing in it has no name yet, and is missed by nobody.
    if (!meta) return;
    const { databaseId, seq: end } = meta;
    const folder = await openFolder(this.#name);
    const from = await this.#readPosition(await unlessMissing(folder.getDirectoryHandle(databaseId)));
    if (from > end && (await this.#renew(databaseId, from))) return this.#catchUp();
    if (from < end) await this.#writeChanges(folder, meta, from);
    await this.#writeValues(folder, meta);
  }

  /** Reads from a database that is to be written down, and from no other one. */
  #readOf<T>(meta: Meta, tables: readonly Table[], work: (rows: Rows) => Promise<T>): Promise<T> {
    return this.#backing.read([...tables, 'meta'], this.#in(meta, work));
  }

  /**
   * Work on a database. One that is lost meanwhile has another in its place, which knows no chat. None must pass for
   * deleted here, where all is that is left of it, nor for brought back. So each piece of work asks first whose it is.
   */
  #in<T>({ databaseId, seq }: Meta, work: (rows: Rows) => Promise<T>): (rows: Rows) => Promise<T> {
    return async (rows) => {
      const meta = await rows.get('meta', SELF);
      if (meta?.databaseId !== databaseId || meta.seq < seq) throw lostMeanwhile(this.#name);
      return work(rows);
    };
  }

  /**
   * A database that knows less than its journal has lost its latest changes, and nobody noticed. It takes another name, as
   * if somebody had: what follows has the places of what is lost, and that is in this journal alone.
   */
  #renew(databaseId: string, from: number): Promise<boolean> {
    return this.#backing.write(META, async (rows) => {
      const meta = await nextMeta(rows);
      const isBehind = meta.databaseId === databaseId && meta.seq < from;
      if (isBehind) rows.put('meta', { ...meta, databaseId: createHexId(), seq: from + LATE }, SELF);
      return isBehind;
    });
  }

  async #writeChanges(folder: FileSystemDirectoryHandle, meta: Meta, from: number): Promise<void> {
    const own = await folder.getDirectoryHandle(meta.databaseId, { create: true });
    const changes = await this.#readOf(meta, ['changes'], (rows) =>
      rows.list('changes', { from: from + 1, to: Infinity }, 'seq'),
    );
    for (const chatId of new Set(changes.map((change) => change.chatId)))
      await this.#writeChat(own, meta, chatId, from);
    await writeFile(own, POSITION, textOfPosition(changes.at(-1)?.seq ?? meta.seq));
  }

  async #writeChat(
    database: FileSystemDirectoryHandle,
    meta: Meta,
    chatId: string,
    since: number,
  ): Promise<void> {
    const name = await hashOfText(chatId);
    const chat = await this.#readOf(meta, ['chats'], (rows) => rows.get('chats', chatId));
    if (!chat || !isLive(chat)) {
      await unlessMissing(database.removeEntry(name, { recursive: true }));
      // For good: nor is it to come back from a database that was lost before.
      if (chat && isBuried(chat)) await this.#forgetLost(name);
      return;
    }
    const folder = await database.getDirectoryHandle(name, { create: true });
    const files = await filesIn(folder);
    const isBase = !canGrow(files, chat);
    const said = await this.#textOf(meta, chatId, folder, isBase ? undefined : since);
    if (!said) return this.#writeChat(database, meta, chatId, since);
    const { text, nodes } = said;
    await this.#keepBlobs(folder, meta, nodes);
    const last = files.at(-1);
    if (!isBase && last && !last.isBase && last.size < SEGMENT)
      return writeFile(folder, last.name, text, true);
    await writeFile(folder, fileName((last?.number ?? 0) + 1, chat.epoch, isBase), text);
    if (!isBase) return;
    for (const file of files) await folder.removeEntry(file.name);
    for (const half of (await namesIn(folder)).filter(isHalf))
      await folder.removeEntry(half).catch(() => undefined);
  }

  /**
   * The lines that say how a chat is, or what changed in it. Undefined where it was deleted while it was read: it may be
   * back by now, and then only that would be told later.
   */
  async #textOf(
    meta: Meta,
    chatId: string,
    folder: FileSystemDirectoryHandle,
    since: number | undefined,
  ): Promise<{ text: string; nodes: MessageNode[] } | undefined> {
    const [records, value, revisions] = await this.#readOf(
      meta,
      [...RECORDS, 'values', 'revisions'],
      async (rows) => [
        await load(rows, chatId, since),
        await rows.get('values', fragmentsKey(chatId)),
        since === undefined ? await rows.list('revisions', ofChat(chatId)) : [],
      ],
    );
    if (records.chat && !isLive(records.chat)) return undefined;
    const read: MessageNode[] = [];
    for (let i = 0; i < records.nodes.length; i += MANY) {
      const ids = records.nodes.slice(i, i + MANY).map(({ id }) => id);
      const some = await this.#readOf(meta, MESSAGES, async (rows) => {
        return (await findChat(rows, chatId)) && getNodes(rows, chatId, ids);
      });
      if (!some) return undefined;
      read.push(...some);
    }
    const nodes = await withKeptWords(folder, records.nodes, read);
    const lines = [...revisions.map((node) => line({ t: 'node', node })), ...linesOf(records, nodes)];
    if (value !== undefined) lines.push(line({ t: 'fragments', value }));
    if (since === undefined && records.chat)
      lines.push(line({ t: 'owner', chatId, userId: records.chat.userId }));
    if (since === undefined) lines.push(`${END}\n`);
    return { text: lines.join(''), nodes: [...revisions, ...nodes] };
  }

  async #keepBlobs(
    folder: FileSystemDirectoryHandle,
    meta: Meta,
    nodes: readonly MessageNode[],
  ): Promise<void> {
    for (const hash of new Set(nodes.flatMap(({ data }) => blobsOf(data)))) {
      const known = await findFile(folder, BLOB + hash);
      if (known && known.size > 0) continue;
      const blob = await this.#readOf(meta, ['blobs'], (rows) => rows.get('blobs', hash));
      if (blob) await writeFile(folder, BLOB + hash, blob.bytes.slice());
    }
  }

  /**
   * How far a journal has come; 0 where that can't be read: what is written twice says the same twice. Throws `newer-format`
   * for one that a later version writes.
   */
  async #readPosition(folder: FileSystemDirectoryHandle | undefined): Promise<number> {
    const { seq, v } = positionIn(folder && (await textOf(folder, POSITION)));
    if (typeof v === 'number' && v > VERSION) throw newerFormat(this.#name, v);
    return Number.isSafeInteger(seq) ? (seq as number) : 0;
  }

  /** A chat as it is written down here. */
  async recall(chatId: string): Promise<Kept> {
    return alone(this.#name, async () => {
      const { databaseId } = await this.#backing.read(META, readMeta);
      const all = await openFolder(this.#name);
      const database = await unlessMissing(all.getDirectoryHandle(databaseId));
      const name = await hashOfText(chatId);
      const folder = database && (await unlessMissing(database.getDirectoryHandle(name)));
      if (!folder) return NOTHING_KEPT;
      await this.#readPosition(database);
      const kept = await readChat(folder);
      return { messages: messagesOf(kept), files: kept.blobs };
    });
  }

  // --- Values of the app -------------------------------------------------------------------------------------------

  async #hasValues(): Promise<boolean> {
    const keys = await this.#backing.read(['values'], async (rows) => rows.keys?.('values'));
    return ((keys ?? []) as string[]).some(isOfApp);
  }

  async #writeValues(journals: FileSystemDirectoryHandle, meta: Meta): Promise<void> {
    const { databaseId } = meta;
    const isFirst = this.#valuesOf !== databaseId;
    if (!isFirst && this.#touched.size === 0) return;
    const names = (await this.#readOf(meta, ['values'], async (rows) => rows.keys?.('values'))) ?? [];
    const all = (names as string[]).filter(isOfApp);
    const keys = isFirst ? all : [...this.#touched].filter(isOfApp);
    this.#touched.clear();
    this.#valuesOf = undefined;
    if (all.length > 0 || !isFirst) {
      const own = await journals.getDirectoryHandle(databaseId, { create: true });
      const folder = await own.getDirectoryHandle(VALUES, { create: true });
      for (const key of keys) await this.#writeValue(folder, meta, key);
      if (isFirst) await removeAllBut(folder, await Promise.all(all.map(hashOfText)));
    } else {
      const own = await unlessMissing(journals.getDirectoryHandle(databaseId));
      if (own) await unlessMissing(own.removeEntry(VALUES, { recursive: true }));
    }
    this.#valuesOf = databaseId;
  }

  async #writeValue(folder: FileSystemDirectoryHandle, meta: Meta, key: string): Promise<void> {
    const [value, isLost] = await this.#readOf(meta, ['values'], (rows) => readValue(rows, key));
    const name = await hashOfText(key);
    if (isLost) return this.#putValueBack(folder, name, key);
    const text = lineOfValue(key, value);
    if (text === undefined) await unlessMissing(folder.removeEntry(name));
    else if ((await textOf(folder, name)) !== text) await writeFile(folder, name, text);
  }

  /** Of a value that can't be read the file is the only one that knows. */
  async #putValueBack(folder: FileSystemDirectoryHandle, name: string, key: string): Promise<void> {
    const said = parseLine((await textOf(folder, name))?.trimEnd() ?? '');
    if (said?.t !== 'value' || said.key !== key) return;
    await this.#backing.write(['values'], async (rows) => {
      const [, isLost] = await readValue(rows, key);
      if (isLost) rows.put('values', said.value, key);
    });
  }

  /** Puts values back that are not there. */
  async #putValuesBack(folder: FileSystemDirectoryHandle, meta: Meta, sum: Restoration): Promise<void> {
    const names = (await namesIn(folder)).filter((name) => !isHalf(name));
    const texts = await Promise.all(names.map((name) => textOf(folder, name)));
    const said = texts.filter((text) => text).map((text = '') => parseLine(text.trimEnd()));
    const kept = said.flatMap((one) => (one?.t === 'value' ? [one] : []));
    const work = async (rows: Rows): Promise<void> => {
      const there = await Promise.all(kept.map(({ key }) => rows.get('values', key)));
      for (const [i, { key, value }] of kept.entries())
        if (there[i] === undefined) rows.put('values', value, key);
    };
    if (kept.length > 0) await this.#backing.write(['values', 'meta'], this.#in(meta, work));
    this.#valuesOf = undefined;
    sum.damaged += said.length - kept.length;
  }

  // --- After a loss ------------------------------------------------------------------------------------------------

  /** Whether there is a journal of a database that is there no more. */
  async holdsLost(): Promise<boolean> {
    return alone(this.#name, async () => (await this.#lost()).length > 0);
  }

  /**
   * Puts back what the journals of lost databases hold, each chat by itself, so that one that fails keeps no other away.
   * What is written down again is deleted from them; the rest stays, for the next time.
   */
  async restore(): Promise<Restoration> {
    return alone(this.#name, async () => {
      const sum: Restoration = { chats: 0, messages: 0, damaged: 0, left: 0, notices: [], errors: [] };
      try {
        const lost = await this.#lost();
        if (lost.length === 0) return sum;
        const meta = await this.#giveName();
        const over = new Map<FileSystemDirectoryHandle, readonly string[]>();
        for (const database of lost) {
          const names = await this.#putDatabaseBack(database, meta, sum);
          if (names) over.set(database, names);
        }
        await this.#catchUp();
        await this.#readOf(meta, [], async () => undefined);
        for (const [database, names] of over) await this.#forget(database, names);
      } catch (error) {
        sum.errors.push(error);
      }
      return sum;
    });
  }

  /** A database gets its name with its first chat. One that is written down needs it before: by that a loss is noticed. */
  #giveName(): Promise<Meta> {
    return this.#backing.write(META, async (rows) => {
      const meta = await nextMeta(rows);
      rows.put('meta', meta, SELF);
      return meta;
    });
  }

  /** Resolves to the names of the folders that have nothing more to say; undefined where nobody can tell. */
  async #putDatabaseBack(
    database: FileSystemDirectoryHandle,
    meta: Meta,
    sum: Restoration,
  ): Promise<string[] | undefined> {
    const over: string[] = [];
    let since: number;
    try {
      since = await this.#readPosition(database);
    } catch (error) {
      sum.errors.push(error);
      return undefined;
    }
    for await (const folder of database.values()) {
      if (folder.kind !== 'directory') continue;
      try {
        if (folder.name === VALUES) await this.#putValuesBack(folder, meta, sum);
        else if (!(await this.#putChatBack(folder, meta, since, sum))) continue;
        over.push(folder.name);
      } catch (error) {
        // Where nothing gets through to the database, each further chat would wait as long.
        if (isContextError(error, 'store-blocked')) throw error;
        sum.errors.push(error);
      }
    }
    return over;
  }

  /** Whether the files of the chat have nothing more to say. */
  async #putChatBack(
    folder: FileSystemDirectoryHandle,
    meta: Meta,
    since: number,
    sum: Restoration,
  ): Promise<boolean> {
    const kept = await readChat(folder);
    const work = this.#in(meta, (rows) => putBack(rows, kept, since));
    const back = await this.#backing.write(ALL_TABLES, work);
    sum.damaged += kept.damaged;
    if (typeof back === 'string') {
      // Where no line was written yet, none is missing.
      const isOver = back === 'deleted' || (back === 'nothing' && kept.damaged === 0);
      if (!isOver) sum.left += 1;
      return isOver;
    }
    sum.chats += 1;
    sum.messages += back.messages;
    sum.notices.push({ kind: 'change', chatId: back.chatId, seq: back.seq, remote: false });
    return true;
  }

  /** Deletes some folders of a lost database, and what is beside them when they were the last. */
  async #forget(database: FileSystemDirectoryHandle, names: readonly string[]): Promise<void> {
    for (const name of names) await unlessMissing(database.removeEntry(name, { recursive: true }));
    for await (const { kind } of database.values()) if (kind === 'directory') return;
    await (await openFolder(this.#name)).removeEntry(database.name, { recursive: true });
  }

  /** Deletes the journals of lost databases. Rejects where one has to stay, because a later version wrote it. */
  forgetLost(): Promise<void> {
    return alone(this.#name, () => this.#forgetLost());
  }

  /** Deletes all journals of lost databases, or one folder in each, which a later version's has no part in. */
  async #forgetLost(name?: string): Promise<void> {
    const folder = await openFolder(this.#name);
    const refusals: unknown[] = [];
    for (const database of await this.#lost())
      try {
        await this.#readPosition(database);
        const [place, gone] = name === undefined ? [folder, database.name] : [database, name];
        await unlessMissing(place.removeEntry(gone, { recursive: true }));
      } catch (error) {
        if (name === undefined || !isContextError(error, 'newer-format')) refusals.push(error);
      }
    if (refusals.length > 0) throw refusals[0];
  }

  async #lost(): Promise<FileSystemDirectoryHandle[]> {
    const meta = await this.#backing.read(META, readMeta);
    const found: FileSystemDirectoryHandle[] = [];
    for await (const entry of (await openFolder(this.#name)).values())
      if (entry.kind === 'directory' && entry.name !== meta.databaseId) found.push(entry);
    return found;
  }

  /** Bytes of all that is kept. */
  async size(): Promise<number> {
    return sizeOf(await openFolder(this.#name));
  }
}

/** What a restore has brought back so far. */
interface Restoration {
  chats: number;
  messages: number;
  damaged: number;
  left: number;
  /** What open tabs should hear of it. */
  readonly notices: StoreNotice[];
  /** Why some did not come back. */
  readonly errors: unknown[];
}

/** A value, and whether it is there and can't be read. */
async function readValue(rows: Rows, key: string): Promise<[value: unknown, isLost: boolean]> {
  const value = await rows.get('values', key);
  return [value, value === undefined && (rows.damage ?? []).length > 0];
}

/**
 * The version of all that is written here. The file with the position tells it, and a later version has to write that file
 * before any other; what was written before there was a version is of the first. A journal of each is kept in
 * `test/store/fixtures` for ever.
 */
const VERSION = 1;

const POSITION = 'position.json';
const BLOB = 'blob-';
const VALUES = 'values';

/** A file is not added to when it is longer, bytes: a browser copies it with each addition. */
const SEGMENT = 128 * 1024;

/** A chat is not written anew before its files have grown by so much, bytes. */
const SLACK = 512 * 1024;

/** So many messages are read at a time. */
const MANY = 512;

interface Position {
  readonly seq?: unknown;
  readonly v?: unknown;
  /** A check of both. A later version tells it in the same way, or none; the first files had none. */
  readonly sum?: unknown;
}

function textOfPosition(seq: number): string {
  const position: Position = { v: VERSION, seq };
  return JSON.stringify({ ...position, sum: checkOfPosition(position) });
}

/** What a text tells of a position; nothing where it was cut short or garbled. */
function positionIn(text: string | undefined): Position {
  try {
    const position = Object(JSON.parse(text ?? 'null')) as Position;
    const { sum = checkOfPosition(position) } = position;
    return sum === checkOfPosition(position) ? position : {};
  } catch {
    return {};
  }
}

function checkOfPosition({ seq, v }: Position): string {
  return checkOf(JSON.stringify({ v, seq }));
}

function lostMeanwhile(database: string): ContextError {
  const message = `Database "${database}" was lost in the midst of it. Its journal has what it had before.`;
  return new ContextError('data-loss', message, { details: { database } });
}

function newerFormat(database: string, format: number): ContextError {
  const message = `The journal of database "${database}" was written by a newer version of contextree. Reload the page to get it.`;
  return new ContextError('newer-format', message, {
    details: { journal: database, format, known: VERSION },
  });
}

interface JournalFile {
  readonly name: string;
  readonly number: number;
  readonly epoch: number;
  readonly isBase: boolean;
  readonly size: number;
}

function fileName(number: number, epoch: number, isBase: boolean): string {
  return `${String(number).padStart(8, '0')}-${epoch}${isBase ? '-base' : ''}`;
}

/** The files of a chat, oldest first; empty ones were begun and never written. */
async function filesIn(folder: FileSystemDirectoryHandle): Promise<JournalFile[]> {
  const files: JournalFile[] = [];
  for (const name of await namesIn(folder)) {
    const [, number, epoch, base] = /^(\d+)-(\d+)(-base)?$/.exec(name) ?? [];
    const { size = 0 } = (await findFile(folder, name)) ?? {};
    if (number !== undefined)
      files.push({
        name,
        number: Number(number),
        epoch: Number(epoch),
        isBase: base !== undefined && size > 0,
        size,
      });
  }
  return files;
}

/** Whether more can be written behind these files: they are of this chat, not of one before it, and not too long. */
function canGrow(files: readonly JournalFile[], { epoch }: Chat): boolean {
  const base = files.findLast(({ isBase }) => isBase);
  const size = files.reduce((sum, file) => sum + file.size, 0);
  return base?.epoch === epoch && size < base.size * 2 + SLACK;
}

// --- Lines ----------------------------------------------------------------------------------------------------------

type Line =
  | { readonly t: 'chat'; readonly chat: Chat }
  /** Whose the chat is, far from its row: from the other lines all but that could be told. */
  | { readonly t: 'owner'; readonly chatId: string; readonly userId: string }
  | { readonly t: 'branch'; readonly branch: Branch }
  | { readonly t: 'checkpoint'; readonly checkpoint: Checkpoint }
  | { readonly t: 'node'; readonly node: MessageNode }
  | { readonly t: 'dropped'; readonly id: string }
  | { readonly t: 'fragments'; readonly value: unknown }
  | { readonly t: 'value'; readonly key: string; readonly value: unknown }
  | { readonly t: 'end' };

function linesOf(
  { chat, branches, checkpoints, dropped }: ChatRecords,
  nodes: readonly MessageNode[],
): string[] {
  const lines: Line[] = [
    ...(chat ? [{ t: 'chat', chat } as const] : []),
    ...dropped.map((id) => ({ t: 'dropped', id }) as const),
    ...nodes.map((node) => ({ t: 'node', node }) as const),
    ...branches.map((branch) => ({ t: 'branch', branch }) as const),
    ...checkpoints.map((checkpoint) => ({ t: 'checkpoint', checkpoint }) as const),
  ];
  return lines.map(line);
}

function line(content: Line): string {
  const text = JSON.stringify(content);
  return `${checkOf(text)} ${text}\n`;
}

/** Stands behind a chat that was written as a whole. */
const END: string = line({ t: 'end' }).trimEnd();

/** The sum of a text as 8 hexadecimal digits: what a slip of the disk does not get past. */
function checkOf(text: string): string {
  return sumOf(text).toString(16).padStart(8, '0');
}

/** Whether a key is the app's own: what the engine keeps with a chat is written down with it, where it is to last. */
function isOfApp(key: string): boolean {
  return !key.startsWith('contextree:');
}

/** A value as a line; undefined where there is none, or JSON would not give it back as it is. */
function lineOfValue(key: string, value: unknown): string | undefined {
  try {
    const text = line({ t: 'value', key, value });
    return isJson(value) ? text : undefined;
  } catch {
    return undefined;
  }
}

/** Whether JSON gives a value back as it is; it has no cycles. */
function isJson(value: unknown): boolean {
  const open = [value];
  for (const one of open) {
    if (one === null || ['string', 'boolean'].includes(typeof one)) continue;
    if (typeof one === 'number' ? !Number.isFinite(one) : !isPlain(one)) return false;
    for (const inner of Object.values(Object(one))) open.push(inner);
  }
  return true;
}

function isPlain(value: unknown): boolean {
  return (
    Array.isArray(value) || (value instanceof Object && Object.getPrototypeOf(value) === Object.prototype)
  );
}

async function textOf(folder: FileSystemDirectoryHandle, name: string): Promise<string | undefined> {
  return (await findFile(folder, name))?.text();
}

async function removeAllBut(folder: FileSystemDirectoryHandle, kept: readonly string[]): Promise<void> {
  const names = await namesIn(folder);
  for (const name of names) if (!kept.includes(name)) await folder.removeEntry(name);
}

/** What a line says; undefined for one that was cut short or garbled. */
function parseLine(raw: string): Line | undefined {
  const text = raw.slice(9);
  if (raw.slice(0, 8) !== checkOf(text)) return undefined;
  return JSON.parse(text) as Line;
}

/** A chat as its journal has it. */
export interface KeptChat {
  chat: Chat | undefined;
  /** Whose it is, in case its row can't be read; empty where that can't be, either. */
  userId: string;
  readonly branches: Map<string, Branch>;
  readonly checkpoints: Map<string, Checkpoint>;
  readonly nodes: Map<string, MessageNode>;
  readonly revisions: MessageNode[];
  readonly blobs: Map<string, Uint8Array>;
  /** What the engine keeps with it under a key of its own. */
  fragments: { readonly value: unknown } | undefined;
  /** Lines that could not be read, and files that are not what they were. */
  damaged: number;
}

async function readChat(folder: FileSystemDirectoryHandle): Promise<KeptChat> {
  const kept = await readRecords(folder);
  await takeBlobs(kept, folder);
  return kept;
}

/** A chat without its files. */
async function readRecords(folder: FileSystemDirectoryHandle): Promise<KeptChat> {
  const kept: KeptChat = {
    chat: undefined,
    userId: '',
    branches: new Map(),
    checkpoints: new Map(),
    nodes: new Map(),
    revisions: [],
    blobs: new Map(),
    fragments: undefined,
    damaged: 0,
  };
  const files = await filesIn(folder);
  for (const raw of await readLines(folder, files)) take(kept, parseLine(raw));
  kept.chat ??= chatToldBy(kept, files.at(-1)?.epoch);
  return kept;
}

/** The row of a chat whose own line can't be read; undefined where the others don't tell it either. */
function chatToldBy({ nodes, branches, userId }: KeptChat, epoch = 0): Chat | undefined {
  const infos = [...nodes.values()].map(infoOf).toSorted((a, b) => a.seq - b.seq);
  const pointers = [...branches.values()];
  const { chatId } = infos[0] ?? pointers[0] ?? {};
  return chatId === undefined ? undefined : { ...chatOf(chatId, pointers, infos), userId, epoch };
}

function messagesOf({ nodes, revisions }: KeptChat): KeptMessages {
  const byId = new Map<string, MessageNode[]>();
  for (const node of [...nodes.values(), ...revisions]) {
    const versions = byId.get(node.id);
    if (versions) versions.push(node);
    else byId.set(node.id, [node]);
  }
  return byId;
}

/**
 * Messages as they are read, and those whose words are lost as they were written down before: so their words outlast the
 * day on which the chat is written down anew.
 */
async function withKeptWords(
  folder: FileSystemDirectoryHandle,
  infos: readonly NodeInfo[],
  nodes: readonly MessageNode[],
): Promise<readonly MessageNode[]> {
  const worded = new Map(infos.filter(({ parts }) => parts > 0).map((info) => [info.id, info]));
  const isLost = ({ id, data }: MessageNode): boolean => data.parts.length === 0 && worded.has(id);
  if (!nodes.some(isLost)) return nodes;
  const kept = messagesOf(await readRecords(folder));
  return nodes.map((node) => {
    const info = isLost(node) ? worded.get(node.id) : undefined;
    return { ...node, data: (info && keptWords(info, kept)) ?? node.data };
  });
}

/** The lines of a chat, from where it was last written as a whole. */
async function readLines(
  folder: FileSystemDirectoryHandle,
  files: readonly JournalFile[],
): Promise<string[]> {
  const texts = await Promise.all(files.map(async ({ name }) => (await findFile(folder, name))?.text()));
  const lines = texts.map((text = '') => text.split('\n').filter((raw) => raw !== ''));
  const begin = lines.findLastIndex((some, i) => files[i]?.isBase === true && some.includes(END));
  return lines.slice(Math.max(begin, 0)).flat();
}

function take(kept: KeptChat, said: Line | undefined): void {
  switch (said?.t) {
    case undefined:
      kept.damaged += 1;
      break;
    case 'chat':
      kept.chat = said.chat;
      break;
    case 'owner':
      kept.userId = said.userId;
      break;
    case 'branch':
      kept.branches.set(said.branch.id, said.branch);
      break;
    case 'checkpoint':
      kept.checkpoints.set(said.checkpoint.id, said.checkpoint);
      break;
    case 'node':
      takeNode(kept, said.node);
      break;
    case 'dropped':
      kept.nodes.delete(said.id);
      break;
    case 'fragments':
      kept.fragments = { value: said.value };
      break;
    case 'value':
    case 'end':
  }
}

/** A newer revision takes the place of an older one, which is kept, too. */
function takeNode(kept: KeptChat, node: MessageNode): void {
  const before = kept.nodes.get(node.id);
  if (before && before.rev < node.rev) kept.revisions.push(before);
  if (!before || before.rev <= node.rev) kept.nodes.set(node.id, node);
}

async function takeBlobs(kept: KeptChat, folder: FileSystemDirectoryHandle): Promise<void> {
  for (const name of await namesIn(folder)) {
    const isBlob = name.startsWith(BLOB) && !isHalf(name);
    const file = isBlob ? await findFile(folder, name) : undefined;
    if (!file) continue;
    const [hash, bytes] = [name.slice(BLOB.length), new Uint8Array(await file.arrayBuffer())];
    if ((await hashOf(bytes)) === hash) kept.blobs.set(hash, bytes);
    else kept.damaged += 1;
  }
}
