import type { UIMessage } from 'ai';
import { ContextError, reasonOf, refuseToLoad } from '../../errors.ts';
import type { MessageRecord, Version } from '../../graph/graph.ts';
import * as door from '../door.ts';
import type {
  Body,
  ChatRecords,
  CommitOptions,
  Draft,
  DraftOptions,
  StoreDelta,
  StoreNotice,
} from '../store.ts';
import { commit as commitRecords, nameOfVersion, type Ready, type ReadyBody } from './commit.ts';
import { LAST_DRAFT, writeDraft } from './drafts.ts';
import type * as Filing from './files.ts';
import { PACK, type Database, type Rows } from './layout.ts';
import { findLiving, isDraftOf, loadPacks, putFile, readChat, readPlace, shownRow } from './records.ts';
import { recordsAfter, wordsOf } from './shown.ts';

/** The notice of a write; without `chatId` it concerns all chats. */
export type Notice = Omit<StoreNotice, 'remote'>;

/** The calls of a store by name, each with its {@link Access} as first argument: {@link usual}, and those of `rarely.ts`. */
export type Calls = Readonly<Record<string, (access: Access, ...args: never[]) => Promise<unknown>>>;

/**
 * A store's access to its tables: the database, notices to listeners, and upkeep when the browser is idle.
 *
 * Tabs tell each other ids and numbers, never content, with the version of the format: other versions of this package may use
 * the same channel. A frozen tab misses some: a notice is a hint to ask the store for changes.
 */
export class Access {
  readonly db: Database;
  /** The loaded calls; others are loaded on first use. */
  calls: Calls;
  readonly #hear: (notice: StoreNotice) => void;
  readonly #channel: BroadcastChannel | undefined;
  /** Chats that were opened or grew since the last upkeep. */
  readonly #grown = new Set<string>();
  #tidying: ReturnType<typeof setTimeout> | undefined;
  /** When the next upkeep is due, as `performance.now()`. */
  #tidyAt = Infinity;

  /** `name`: that of the database, by which other tabs have it, too. Without channels, tabs get no notices. */
  constructor(db: Database, calls: Calls, hear: (notice: StoreNotice) => void, name?: string) {
    this.db = db;
    this.calls = calls;
    this.#hear = hear;
    if (name === undefined || typeof BroadcastChannel === 'undefined') return;
    this.#channel = new BroadcastChannel(`contextree:${name}`);
    (this.#channel as { unref?: () => void }).unref?.();
    this.#channel.onmessage = ({ data }) => {
      const { v, notice } = Object(data) as { readonly v?: unknown; readonly notice?: Notice };
      if (v === VERSION && notice) hear({ ...notice, remote: true });
    };
  }

  /** Runs a call, whose first arguments must be these `texts`, by name. */
  async call(name: string, args: readonly unknown[], texts: string): Promise<unknown> {
    if (texts) door.expectTexts(texts, args);
    return this.calls[name]?.(this, ...(args as never[]));
  }

  /** Notifies everybody of a write that is durable. */
  tell(notice: Notice): void {
    this.#hear({ ...notice, remote: false });
    this.#channel?.postMessage({ v: VERSION, notice });
    if (notice.kind !== 'draft') this.tidyLater(0, notice.chatId);
  }

  /** Runs the upkeep after so many ms, when the browser is idle; `chatId`: a chat that may have rows to pack. */
  tidyLater(ms: number = 0, chatId?: string): void {
    if (chatId !== undefined) this.#grown.add(chatId);
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
  }

  /** A message with names for its files, whose bytes are added to `files`. */
  async detach(message: UIMessage, files: Ready['files']): Promise<UIMessage> {
    return mayHaveFiles(message) ? (await loadFiles()).detach(message, files) : message;
  }

  async attach(messages: readonly UIMessage[]): Promise<readonly UIMessage[]> {
    return messages.some(mayHaveFiles) ? (await loadFiles()).attach(this.db, messages) : messages;
  }
}

/** How long after a change the upkeep follows, in ms. */
const TIDY_AFTER = 2000;

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

// ------------------------------------------------------------------ the calls that each chat needs

// See `ContextStore`. Each call checks its arguments, gives names to files and makes JSON of bodies, and then opens one
// transaction.

async function load(access: Access, chatId: string, since?: number): Promise<ChatRecords> {
  door.expect('number?', 'change number', since);
  if (since === undefined) access.tidyLater(0, chatId);
  return access.db.read((rows) => recordsAfter(rows, chatId, since));
}

async function bodies(
  access: Access,
  chatId: string,
  keys: readonly string[],
  records: readonly MessageRecord[] = [],
): Promise<ReadonlyMap<string, Body>> {
  door.expect('text[]', 'keys', keys);
  const asked = new Set(keys);
  const found = await access.db.read((rows) => wordsOf(rows, chatId, asked, records));
  const bodies = [...asked].flatMap((key) => {
    const body = found.get(key);
    return body ? [[key, body] as const] : [];
  });
  const messages = await access.attach(bodies.map(([, { message }]) => message));
  return new Map(bodies.map(([key, body], i) => [key, { ...body, message: messages[i] as UIMessage }]));
}

async function commit(access: Access, chatId: string, handed: StoreDelta, options: CommitOptions) {
  const isVouched = door.vouched.has(handed);
  if (!isVouched) door.expectTexts('chatId', [chatId]);
  const place = isVouched ? options : door.checkCommit(options);
  const ready = await readyOf(access, chatId, isVouched ? handed : door.checkDelta(handed, place.userId));
  if (ready.messages.length >= 2 * PACK) await loadPacks();
  const { records, isChanged } = await access.db.write((rows) => commitRecords(rows, ready, place));
  if (isChanged) access.tell({ kind: 'change', chatId, seq: records.seq });
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
  const { isLeaving = false, isDurable = false } = door.readOptions(options, DRAFTING);
  const copy = door.checkDraft(draft);
  const { key } = copy;
  if (isLeaving && access.db.putNow('drafts', JSON.stringify(copy), [chatId, key, LAST_DRAFT])) return;
  const files: Ready['files'] = new Map();
  const message = await access.detach(copy.message, files);
  const write = async (rows: Rows): Promise<number | undefined> => {
    const { chat, meta } = await readPlace(rows, chatId);
    const found = await findLiving(rows, chat, [key], () => copy.seq);
    if (!chat.totals || !isDraftOf(copy, found.get(key))) return undefined;
    for (const [hash, bytes] of files) await putFile(rows, hash, bytes);
    await writeDraft(rows, chatId, { ...copy, message });
    return meta.seq;
  };
  const seq = await access.db.write(write, !isDurable);
  if (seq !== undefined) access.tell({ kind: 'draft', chatId, key, seq });
  if (seq !== undefined || !isDurable) return;
  const words = `Message "${reasonOf(key)}" of chat "${reasonOf(chatId)}" has another version by now, or is gone.`;
  throw new ContextError('message-not-found', words, { details: { chatId, key } });
}

const DRAFTING: door.Fields = { isLeaving: 'truth?', isDurable: 'truth?' };

/** The calls that every chat needs. */
export const usual: Calls = {
  load,
  bodies,
  commit,
  saveDraft,
  getChat: ({ db }, id: string) => db.read(async (rows) => shownRow(await readChat(rows, id))),
  get: ({ db }, key: string) => db.read((rows) => rows.get('values', key)),
  async set({ db }, key: string, value: unknown) {
    const copy = door.cloneValue(key, value);
    await db.write(async (rows) => rows.put('values', copy, key));
  },
  delete: ({ db }, key: string) => db.write(async (rows) => rows.delete('values', key)),
  hold: ({ db }, chatId: string, key: string) => db.hold(chatId, key),
  held: ({ db }, chatId: string) => db.held(chatId),
};
