import { ContextError, reasonOf } from '../errors.ts';
import type { Way } from '../graph/branches.ts';
import { findKey, holds, isGone, upward, type MessageRecord } from '../graph/graph.ts';
import type { Desk } from './desk.ts';
import type { Replica } from './replica.ts';
import { FIRST_BRANCH } from './state.ts';

/**
 * The branches of a chat, as this page refers to them.
 *
 * Branches are derived, so a join may rename a branch or split it. A handle remembers the message that it showed last; the
 * derived branch (`Way`) that holds this message is the handle's branch. So chats, hooks and React keys never change their
 * branch; at most its name changes.
 *
 * A handle moves on to settled messages only. While another tab writes an answer behind the shown message, that message stays
 * the last one, and the next turn of this page has it as its parent.
 */
export class Handles {
  protected readonly desk: Desk;
  protected readonly replica: Replica;
  /** The branch that is shown. */
  active: Handle = newHandle(FIRST_BRANCH);
  /** Live branches, the oldest first. */
  live: Handle[] = [];
  readonly #handles: Map<string, Handle> = new Map([[FIRST_BRANCH, this.active]]);
  readonly #ofWay: Map<string, Handle> = new Map();
  #uses = 0;
  /** The last message shown, if that is not the head. */
  at: string | null = null;

  constructor(desk: Desk, replica: Replica) {
    this.desk = desk;
    this.replica = replica;
  }

  /** After a join, finds the way of each handle again, and moves the handle on. */
  sync(): void {
    const { branches, chat } = this.replica;
    const { active } = this;
    // The chat is read for the first time, or was deleted: the active handle takes any way.
    if (!this.replica.record(active.key) && !chat.ends.has(active.record ?? ''))
      Object.assign(active, { key: null, record: undefined });
    const free = new Map<string, Way>();
    for (const way of branches.live) free.set(way.id, way);
    const before: (readonly [Handle, Handle])[] = [];
    for (const handle of this.#handles.values()) before.push([handle, { ...handle }]);
    for (const [handle] of before) this.#take(handle, free.get(handle.way?.id ?? ''), free);
    for (const [handle] of before)
      if (!handle.way && free.size > 0) this.#take(handle, this.#bestOf(handle, free.values()), free);
    for (const way of free.values()) {
      let { id } = way;
      while (this.#handles.has(id)) id = `${id}'`;
      this.#handles.set(id, { ...newHandle(id), way, record: way.record, key: this.#shownEnd(way.head) });
    }
    this.#ofWay.clear();
    for (const handle of this.#handles.values()) if (handle.way) this.#ofWay.set(handle.way.id, handle);
    this.live = [];
    for (const { id } of branches.live) this.live.push(this.#ofWay.get(id) as Handle);
    for (const [handle] of before) {
      handle.isGone = !handle.way && handle.record !== undefined;
      // An answer that grows here is shown to its end, even on a deleted branch.
      if (handle.isGone && !this.#mayFollow(handle)) handle.way = this.#bestOf(handle, branches.deleted);
    }
    for (const handle of this.#handles.values()) if (handle.way) this.#follow(handle, handle.way);
    if (this.at === active.key || !this.replica.record(this.at)) this.at = null;
    if (!active.way && this.#mayFollow(active)) this.active = this.lastUsed()[0] ?? active;
    for (const [handle, was] of before) this.#tell(handle, was);
  }

  /** Gives a way to the handle whose message it holds, and takes it off the free ones. */
  #take(handle: Handle, way: Way | undefined, free: Map<string, Way>): void {
    handle.way = way && this.#fits(handle, way) ? way : undefined;
    if (handle.way) free.delete(handle.way.id);
  }

  /** Whether a way holds a handle's message, or, where that was taken back, the one before it. */
  #fits(handle: Handle, way: Way): boolean {
    if (handle.record !== undefined && handle.record !== way.record) return false;
    for (const record of upward(this.replica.chat, handle.key))
      if (this.replica.own.has(record.key) || !isGone(record))
        return holds(this.replica.chat, way.end, record.key);
    return true;
  }

  #bestOf(handle: Handle, ways: Iterable<Way>): Way | undefined {
    const fitting = [...ways].filter((way) => this.#fits(handle, way));
    return fitting.find(({ fork }) => fork === null) ?? fitting[0];
  }

  #follow(handle: Handle, way: Way): void {
    const { key, record } = handle;
    handle.record = way.record;
    const head = this.#shownEnd(way.head);
    const isLost = key !== null && !holds(this.replica.chat, way.end, key);
    const isFree = key === null || isLost || this.#mayFollow(handle);
    if (isFree && this.#isTarget(head)) handle.key = head;
    else if (isLost || !record || !this.#isTarget(key)) handle.key = this.settledAt(key ?? head);
  }

  /** Whether a handle may move: not while an answer grows here on it, nor while pending messages are to follow its message. */
  #mayFollow(handle: Handle): boolean {
    if (handle.key !== null && this.replica.own.has(handle.key)) return false;
    return handle !== this.active || this.desk.pending.length === 0;
  }

  /** Whether a branch may be shown up to this message. */
  #isTarget(key: string | null): boolean {
    const record = this.replica.record(key);
    return !record || this.replica.own.has(record.key) || this.replica.isSettled(record);
  }

  /** The head, or the last message before reserved answers at the end that no tab streams. */
  #shownEnd(head: string | null): string | null {
    for (const record of upward(this.replica.chat, head))
      if (this.replica.isVisible(record) || this.replica.isHeld(record.key)) return record.key;
    return null;
  }

  /** The nearest settled, visible message, from `key` up to the root; null for none. */
  settledAt(key: string | null): string | null {
    for (const record of upward(this.replica.chat, key))
      if (this.replica.isSettled(record)) return record.key;
    return null;
  }

  #tell(handle: Handle, before: Handle): void {
    const { id, way, used } = handle;
    if (!way) return;
    const { name } = way;
    const from = before.way?.fork === null ? before.way.name : name;
    if (from !== name && used > 0 && way.fork !== null)
      this.desk.emit({ type: 'conflict', policy: 'fork', from, to: name, toId: id });
    if (!before.isGone || handle.isGone) return;
    // A deletion that still stands was no undo: messages that came later brought the branch back.
    const { chat } = this.replica;
    const isOn = (mark: string): boolean => Object(chat.marks.get(mark)?.value).on === true;
    const hasGrown = [...(chat.marksOf.get(way.record) ?? [])].some(isOn);
    this.desk.emit({ type: 'branch', action: 'restore', name, id, ...(hasGrown ? { hasGrown } : {}) });
  }

  /** Gives a branch that is about to be made a handle: a known one, or a new one. */
  expect(id: string, record: string, key: string): void {
    const known = this.#handles.get(id);
    if (known) known.record = record;
    else this.#handles.set(id, { ...newHandle(id), record, key });
  }

  /** Notes that a branch is used: shown, or written to. */
  use(branchId: string, key?: string | null): void {
    const handle = this.#handles.get(branchId);
    if (!handle) return;
    handle.used = this.#uses += 1;
    if (key !== undefined) handle.key = key;
  }

  /** Shows a branch, up to its head or to `at`. */
  show(branchId: string, at: string | null = null): void {
    this.active = this.#handles.get(branchId) ?? this.active;
    this.at = at === this.active.key ? null : at;
    this.use(branchId);
  }

  /** Whether another tab has added messages to a branch that are not shown here. */
  isBehind({ way, key }: Handle): boolean {
    return way !== undefined && this.#shownEnd(way.head) !== key;
  }

  /** The view, in its stored form. */
  toStore(): StoredView {
    const { active } = this;
    const used = this.lastUsed().filter((handle) => handle.used > 0 && handle !== active);
    const keys = [active, ...used].slice(0, KEPT_USES).flatMap(({ key }) => key ?? []);
    return { used: [...new Set(keys)], record: active.record };
  }

  /** Restores a stored view, and shows the branch used last, else the newest. Ignores fields that are damaged. */
  restore(stored: unknown): void {
    const { used, record } = Object(stored) as Readonly<Record<string, unknown>>;
    const keys = Array.isArray(used) ? used.filter((key) => typeof key === 'string') : [];
    for (const key of keys.toReversed()) {
      const ending = this.live.filter(({ way }) => way?.head === key);
      const own = ending.find((handle) => handle.record === record);
      const best = own ?? ending[0] ?? this.lastUsedWith(key);
      if (best) this.use(best.id);
    }
    this.active = this.lastUsed()[0] ?? this.active;
  }

  handle(branchId: string): Handle | undefined {
    return this.#handles.get(branchId);
  }

  handleOfWay(wayId: string | undefined): Handle | undefined {
    return this.#ofWay.get(wayId ?? '');
  }

  /** Live branches, the most recently used first; never used ones follow, newest first. */
  lastUsed(): Handle[] {
    return this.live.toSorted(byUse);
  }

  /** A live branch by id or name. Throws `branch-not-found`. */
  findBranch(nameOrId: string): Handle {
    const byId = this.#handles.get(nameOrId);
    if (byId?.way) return byId;
    const named = this.live.find(({ way }) => way?.name === nameOrId);
    if (named) return named;
    if (this.live.length === 0 && (byId || nameOrId === 'main')) return this.active;
    const { chatId } = this.desk;
    const message = `Branch "${reasonOf(nameOrId)}" not found in chat "${chatId}"`;
    throw new ContextError('branch-not-found', message, { details: { chatId, branch: nameOrId } });
  }

  /** A live branch by id or name; without one, the active branch. */
  branchOrActive(nameOrId: string | undefined): Handle {
    return nameOrId === undefined || nameOrId === this.active.id ? this.active : this.findBranch(nameOrId);
  }

  /**
   * The branch that a turn goes to. A branch that another tab deleted counts, and the turn brings it back. Throws
   * `branch-not-found`.
   */
  branchToWrite(nameOrId: string | undefined): Handle {
    const handle = this.#handles.get(nameOrId ?? '');
    if (!handle?.isGone) return this.branchOrActive(nameOrId);
    const way = this.#bestOf(handle, this.replica.branches.deleted);
    return way?.deleted && way.deleted.by !== this.replica.by ? handle : this.branchOrActive(nameOrId);
  }

  /** A message by key or id; an id is looked up on `branch` first. Throws `message-not-found`. */
  message(idOrKey: string, branch?: Handle): MessageRecord {
    const record = this.find(idOrKey, branch);
    if (!record) throw messageNotFound(idOrKey);
    return record;
  }

  /** A message by key or id; undefined for an unknown one, and for an empty text, which no id is. */
  find(idOrKey: unknown, branch?: Handle): MessageRecord | undefined {
    if (typeof idOrKey !== 'string' || idOrKey === '') return undefined;
    const head = branch ? branch.key : this.head();
    const key = findKey(this.replica.chat, idOrKey, head) ?? this.replica.growingAs(idOrKey);
    const record = this.replica.record(key);
    return record && isGone(record) ? undefined : record;
  }

  /** The most recently used branch that holds a message. */
  lastUsedWith(key: string): Handle | undefined {
    const passed = new Set<string>();
    return this.lastUsed().find((handle) => holds(this.replica.chat, handle.key, key, passed));
  }

  /** The name of a branch, as this page shows it. */
  nameOf(branchId: string | undefined): string {
    return this.#handles.get(branchId ?? '')?.way?.name ?? this.active.way?.name ?? 'main';
  }

  /** The last message of a branch, as this page shows it. */
  headOf(branch: Handle): string | null {
    return branch === this.active ? this.head() : branch.key;
  }

  /** The last message shown; null where there is none. */
  head(): string | null {
    return this.at ?? this.active.key;
  }
}

/** How many recently used branches a stored view remembers. */
const KEPT_USES = 50;

/** A branch, as this page refers to it. */
export interface Handle {
  readonly id: string;
  /** The message that it showed last. */
  key: string | null;
  record: string | undefined;
  /**
   * The derived branch that holds the message; undefined while none does. Stays a deleted one while an answer grows here on it.
   */
  way: Way | undefined;
  /** A counter that grows with each use; 0 for never. */
  used: number;
  /** Whether its branch was deleted. */
  isGone: boolean;
}

function byUse(a: Handle, b: Handle): number {
  return b.used - a.used || (b.way?.at ?? 0) - (a.way?.at ?? 0);
}

/** What this device stores of a view. */
interface StoredView {
  /** Keys of the messages last shown, latest first. */
  readonly used: readonly string[];
  /** The record of the active branch: other branches may end at the same message. */
  readonly record?: string | undefined;
}

function newHandle(id: string): Handle {
  return { id, key: null, record: undefined, way: undefined, used: 0, isGone: false };
}

/** The error for an unknown message. */
export function messageNotFound(id: unknown): ContextError {
  return new ContextError('message-not-found', `Message "${reasonOf(id)}" not found`, { details: { id } });
}
