import type { UIMessage } from 'ai';
import { createId } from '../fragment/id.ts';
import { Branches } from '../graph/branches.ts';
import {
  eachRecord,
  hasWords,
  idOf,
  lastRev,
  shownVersion,
  type ChatDelta,
  type ChatValue,
  type Mark,
  type MessageRecord,
  type Version,
  type MessageStatus,
  isVisible,
  type GrowingVersion,
  sumOfBody,
  previewOf,
} from '../graph/graph.ts';
import { createChat, join, recordsOf, type Joined } from '../graph/join.ts';
import { Reach } from '../graph/reach.ts';
import { sameJson } from '../graph/same.ts';
import type { Body, ChatRecords } from '../store/store.ts';

/**
 * What this page knows of its chat: one joined value of what the store had, what this page writes, and what other tabs write.
 * Beside it stands what holds for this page and this database alone: where records lie, which messages grow, their drafts, and
 * which of them some tab holds.
 *
 * A streaming message that no tab holds was cut off. It reads as interrupted, and the next write of this page stores that.
 */
export class Replica {
  /** The author of what this page writes. */
  readonly by: string = createId();
  chat: ChatValue = createChat();
  branches: Branches = new Branches(this.chat);
  /** The number of the last change of the database that was read. */
  seq = 0;
  /** The id of the database that was read; '' before that. */
  database = '';
  generation = 0;
  /** The keys of deleted chats: their records are left out. */
  readonly deleted: Set<string> = new Set();
  /** Grows with each change that may concern the view. */
  revision = 0;
  /** Grows with each change of a mark. */
  marked = 0;
  /** Messages that this page streams. */
  readonly own: Set<string> = new Set();
  /** Messages that some tab streams. */
  held: ReadonlySet<string> = new Set();
  readonly #streaming: Set<string> = new Set();
  readonly #growing: Map<string, Growth> = new Map();
  #reach: Reach | undefined;
  #moment = 0;

  /** The current time, but later than all known times, whatever the clock says. */
  now(): number {
    return (this.#moment = Math.max(Date.now(), this.chat.lastAt + 1, this.#moment + 1));
  }

  /** Which messages are on live branches: walked when somebody asks. */
  get reach(): Reach {
    this.#reach ??= new Reach(this.chat, []);
    this.#reach.update(this.branches.live);
    return this.#reach;
  }

  join(delta: ChatDelta): Joined {
    const joined = join(this.chat, this.deleted.size > 0 ? this.#living(delta) : delta);
    for (const key of joined.messages) {
      const { status } = shownVersion(this.record(key) as MessageRecord);
      if (status === 'streaming') this.#streaming.add(key);
      else {
        this.#streaming.delete(key);
        this.#growing.delete(key);
      }
    }
    if (joined.messages.length > 0 || joined.ends.length > 0 || joined.marks.length > 0) {
      this.branches.update(joined);
      if (joined.isMoved) this.#reach = undefined;
      this.revision += 1;
    }
    if (joined.marks.length > 0) this.marked += 1;
    return joined;
  }

  #living(delta: ChatDelta): ChatDelta {
    const isLiving = ({ chat }: { readonly chat: string }): boolean => !this.deleted.has(chat);
    return {
      messages: delta.messages.filter(isLiving),
      ends: delta.ends.filter(isLiving),
      marks: delta.marks.filter(isLiving),
    };
  }

  /**
   * Whether this reply of the store is older than one that was read before: it misses what was cleared, deleted or restored
   * since.
   */
  isLate({ database, generation, seq }: ChatRecords): boolean {
    return database === this.database && (generation - this.generation || seq - this.seq) < 0;
  }

  /** Joins records that the store read or wrote. */
  absorb(records: ChatRecords): Joined {
    if (!this.isLate(records))
      ({ database: this.database, generation: this.generation, seq: this.seq } = records);
    const joined = this.join(records);
    for (const { key, rev, by, parts, preview } of records.growing) {
      const known = this.record(key);
      const version = known && shownVersion(known);
      if (!version || version.rev !== rev || version.by !== by || this.own.has(key)) continue;
      const before = this.#growing.get(key);
      if (before?.parts === parts && before.preview === preview) continue;
      this.#growing.set(key, { ...before, rev, by, parts, preview, isStale: true });
      this.revision += 1;
    }
    return joined;
  }

  /** Forgets where records lie, before they are written to another database. */
  forgetPlaces(): void {
    this.#renew(unplaced(recordsOf(this.chat)));
    this.seq = 0;
  }

  /** Drops the records of deleted chats. */
  bury(keys: readonly string[]): void {
    for (const key of keys) this.deleted.add(key);
    this.#renew(this.#living(recordsOf(this.chat)));
  }

  #renew(records: ChatDelta): void {
    this.chat = createChat(records);
    this.branches = new Branches(this.chat);
    this.#reach = undefined;
    for (const key of this.#streaming) if (!this.chat.messages.has(key)) this.#streaming.delete(key);
    this.revision += 1;
    this.marked += 1;
  }

  chatKeys(): string[] {
    const { ends, marks } = this.chat;
    const records = [...eachRecord(this.chat), ...ends.values(), ...marks.values()];
    return [...new Set(records.map(({ chat }) => chat))].toSorted();
  }

  /** The chat key, or one of several that are joined; undefined for a chat that has not begun. */
  get chatKey(): string | undefined {
    const { ends, marks } = this.chat;
    for (const records of [ends.values(), marks.values(), eachRecord(this.chat)])
      for (const { chat } of records) return chat;
    return undefined;
  }

  record(key: string | null | undefined): MessageRecord | undefined {
    return this.chat.messages.get(key ?? '')?.record;
  }

  /** The status of a message; a streaming one that no tab holds is interrupted. */
  status(record: MessageRecord): MessageStatus {
    const { status } = shownVersion(record);
    return status === 'streaming' && !this.isHeld(record.key) ? 'interrupted' : status;
  }

  isHeld(key: string): boolean {
    return this.own.has(key) || this.held.has(key);
  }

  /** Whether another tab is writing a message. */
  isForeign(key: string): boolean {
    return this.#streaming.has(key) && this.held.has(key) && !this.own.has(key);
  }

  foreign(): string[] {
    return [...this.#streaming].filter((key) => this.isForeign(key));
  }

  /** Sets which messages some tab streams; returns whether that changes a message. */
  hold(held: ReadonlySet<string>): boolean {
    const isNews = [...this.#streaming].some((key) => held.has(key) !== this.held.has(key));
    this.held = held;
    if (isNews) this.revision += 1;
    return isNews;
  }

  /** The streaming messages that no tab holds. */
  abandoned(): MessageRecord[] {
    const keys = [...this.#streaming].filter((key) => !this.isHeld(key));
    return keys.map((key) => this.record(key) as MessageRecord);
  }

  /** How many parts a message has, with those of its draft. */
  parts(record: MessageRecord): number {
    return this.#growing.get(record.key)?.parts ?? shownVersion(record).parts;
  }

  /** The key of the growing message that has this id from its server. */
  growingAs(id: string): string | undefined {
    for (const [key, { message }] of this.#growing) if (message?.id === id) return key;
    return undefined;
  }

  /** Whether a message shows: not before it has content. */
  isVisible(record: MessageRecord): boolean {
    return isVisible(record, this.growing);
  }

  /** How many messages show: of the stored ones all are counted, and drafts may show more. */
  get messageCount(): number {
    let count = this.chat.visibleCount;
    for (const key of this.#growing.keys()) {
      const record = this.record(key);
      if (record) count += Number(this.isVisible(record)) - Number(isVisible(record));
    }
    return count;
  }

  /** The draft of a growing message, by key. */
  readonly growing = (key: string): GrowingVersion | undefined => this.#growing.get(key);

  /** Whether a turn may follow a message: it shows and is settled, or was so before another tab continued it. */
  isSettled(record: MessageRecord): boolean {
    if (!this.isVisible(record)) return false;
    if (shownVersion(record).status !== 'streaming' || !this.isHeld(record.key)) return true;
    return record.versions.some((version) => version.status !== 'streaming' && hasWords(version));
  }

  idOf(key: string): string;
  idOf(key: string | null | undefined): string | null;
  idOf(key: string | null | undefined): string | null {
    const record = this.record(key);
    return record ? idOf(record, this.growing) : null;
  }

  /** The body of a message, if loaded; for a growing message its draft. */
  body(key: string): UIMessage | undefined {
    const record = this.record(key);
    return record && (this.#growing.get(key)?.message ?? shownVersion(record).body);
  }

  /** Those of these messages whose body is not loaded. */
  missing(keys: readonly string[]): string[] {
    const missing: string[] = [];
    for (const key of keys) {
      const record = this.record(key);
      const growth = this.#growing.get(key);
      if (!record || (growth?.message && !growth.isStale)) continue;
      const version = shownVersion(record);
      if (growth || (!version.body && hasWords(version))) missing.push(key);
    }
    return missing;
  }

  /** Keeps bodies that were read; an equal body stays the same object. */
  keepBodies(bodies: ReadonlyMap<string, Body>): void {
    for (const [key, { rev, by, sum, message, isDraft }] of bodies) {
      const record = this.record(key);
      if (!record) continue;
      const version = shownVersion(record);
      if (version.rev !== rev || version.by !== by) continue;
      if (isDraft) {
        const before = this.#growing.get(key)?.message;
        this.grow(key, before && sameJson(before, message) ? before : message);
      } else if (version.sum === sum && !version.body) {
        const before = record.versions.findLast(({ body }) => body && sameJson(body, message))?.body;
        const versions = [{ ...version, body: before ?? message }];
        join(this.chat, { messages: [{ ...record, versions }], ends: [], marks: [] });
      }
    }
  }

  /** Notes new words of a growing message. */
  grow(key: string, message: UIMessage): void {
    const { rev, by } = shownVersion(this.record(key) as MessageRecord);
    const { id, parts } = message;
    this.#growing.set(key, { id, rev, by, message, parts: parts.length, preview: previewOf(message) });
    this.revision += 1;
  }

  /** Notes that another tab may have drafted more of a message. */
  staleDraft(key: string): void {
    const growth = this.#growing.get(key);
    if (growth && !this.own.has(key)) this.#growing.set(key, { ...growth, isStale: true });
  }

  /** A new message, later than all known ones; `key` defaults to a random one. */
  message(
    body: UIMessage,
    place: { readonly parent: string | null; readonly chat: string },
    status: MessageStatus,
    more: { readonly key?: string; readonly sources?: readonly string[] } = {},
  ): MessageRecord {
    const { id, role } = body;
    const [at, createdAt, versions] = [this.now(), Date.now(), [this.version(body, status, 1)]];
    return { key: `key:${createId()}`, id, role, ...place, at, createdAt, ...more, versions };
  }

  /** A version of a message; one without parts is reserved, unless it is complete. */
  version(body: UIMessage, status: MessageStatus, rev: number): Version {
    const { by } = this;
    const { length: parts } = body.parts;
    if (status !== 'complete' && parts === 0) return { rev, by, status, ...SILENT };
    return { rev, by, status, sum: sumOfBody(body), parts, preview: previewOf(body), body };
  }

  revised(record: MessageRecord, body: UIMessage, status: MessageStatus): MessageRecord {
    const version = this.version(body, status, lastRev(record) + 1);
    return { ...record, versions: [body.id === record.id ? version : { ...version, id: body.id }] };
  }

  /** The record of a reserved message that is removed because it never got content. */
  takenBack(record: MessageRecord): MessageRecord {
    const version = { rev: lastRev(record) + 1, by: this.by, status: 'interrupted', gone: true } as const;
    return { ...record, versions: [{ ...version, ...SILENT }] };
  }

  /** A mark with a greater revision than all known ones. */
  mark(id: string, value: unknown, chat: string): Mark {
    return { id, rev: this.chat.lastRev + 1, by: this.by, chat, value };
  }
}

/** The fields of a version without content. */
const SILENT = { sum: '', parts: 0, preview: '' };

/** What is known of a growing message. */
interface Growth extends GrowingVersion {
  readonly message?: UIMessage;
  /** Whether the store has more words, to be read. */
  readonly isStale?: true;
}

/** Records without their numbers in the database. */
export function unplaced({ messages, ends, marks }: ChatDelta): ChatDelta {
  return { messages: messages.map(anywhere), ends: ends.map(anywhere), marks: marks.map(anywhere) };
}

function anywhere<R extends { readonly seq?: number }>({ seq: _seq, ...record }: R): R {
  return record as R;
}
