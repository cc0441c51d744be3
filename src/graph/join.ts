import {
  addIds,
  compareAt,
  hasWords,
  isVisible,
  type ChatDelta,
  type ChatValue,
  type EndsRecord,
  type LinkedMessage,
  type Mark,
  type MessageRecord,
  type Version,
} from './graph.ts';
import { recordOf } from './marks.ts';

/**
 * Joining two copies of a chat.
 *
 * What another tab wrote, a chat that the browser cleared under the open page, a write whose answer got lost, an import and an
 * undo are one case: records are joined. A message that both copies have gets the versions of both, and its greatest version
 * with content is shown; an end that one of them has is an end; of two marks with one id the greater counts. The result does
 * not depend on the order of joins, nor on their number, so no code asks whether a write was done before, and a page may send
 * what it has twice, in pieces and late.
 *
 * Versions without content are kept only as long as none has content: a removed reserved message that got content after all is
 * that content.
 */
export function join(into: ChatValue, from: ChatDelta): Joined {
  const chat = into as WritableChat;
  const joined: WritableJoined = { messages: [], ends: [], marks: [], isMoved: false };
  const fresh: Link[] = [];
  for (const record of from.messages) joinMessage(chat, record, joined, fresh);
  if (joined.isMoved) linkAnew(chat);
  else for (const message of fresh) link(chat, message);
  let parents: Parents | undefined;
  for (const record of from.ends) {
    chat.lastAt = Math.max(chat.lastAt, record.at);
    const known = chat.ends.get(record.id);
    const union = known ? unitedEnds(known, record) : { ...record, keys: [...new Set(record.keys)] };
    if (union === known) continue;
    if (union.keys.length > 1) parents ??= parentsIn(chat, from.messages);
    const next = parents ? withoutPassed(union, parents) : union;
    chat.ends.set(next.id, next);
    // Another `seq` alone is no change.
    if (!known || !isSameEnds(known, next)) joined.ends.push(next.id);
  }
  for (const mark of from.marks) if (joinMark(chat, mark)) joined.marks.push(mark.id);
  return joined;
}

/** What a join changed, by key and id; equal records are not in it. */
export interface Joined {
  readonly messages: string[];
  readonly ends: string[];
  readonly marks: string[];
  /** Whether known chains have changed: a message came after its children, or has another place now. */
  readonly isMoved: boolean;
}

interface WritableJoined extends Joined {
  isMoved: boolean;
}

/** A chat of these records; empty without any. */
export function createChat(records?: ChatDelta): ChatValue {
  const chat: WritableChat = {
    messages: new Map(),
    ends: new Map(),
    marks: new Map(),
    first: [],
    orphans: new Map(),
    ids: undefined,
    twoPlaces: new Set(),
    marksOf: new Map(),
    lastAt: 0,
    lastRev: 0,
    updatedAt: 0,
    visibleCount: 0,
  };
  if (records) join(chat, records);
  return chat;
}

/** All records of a chat, parents before their children. */
export function recordsOf({ messages, ends, marks }: ChatValue): ChatDelta {
  return {
    messages: [...messages.values()].toSorted((a, b) => a.depth - b.depth).map(({ record }) => record),
    ends: [...ends.values()],
    marks: [...marks.values()],
  };
}

interface WritableChat extends ChatValue {
  readonly messages: Map<string, Link>;
  readonly ends: Map<string, EndsRecord>;
  readonly marks: Map<string, Mark>;
  first: Link[];
  readonly orphans: Map<string, Link[]>;
  readonly twoPlaces: Set<string>;
  readonly marksOf: Map<string, Set<string>>;
  lastAt: number;
  lastRev: number;
  updatedAt: number;
  visibleCount: number;
}

/** A {@link LinkedMessage} that may change; one without a depth is not linked yet. */
class Link implements LinkedMessage {
  record: MessageRecord;
  parent: Link | undefined = undefined;
  depth = 0;
  /** Nearly every message has one child, and is kept without a list: 100,000 lists take as long as all their links. */
  next: Link | Link[] | undefined = undefined;

  constructor(record: MessageRecord) {
    this.record = record;
  }

  get children(): Link[] {
    return this.next instanceof Link ? [this.next] : (this.next ?? []);
  }
}

/** Joins a message, and adds it to `fresh` if it is to be linked. */
function joinMessage(chat: WritableChat, record: MessageRecord, joined: WritableJoined, fresh: Link[]): void {
  const { key, at, createdAt } = record;
  if (at > chat.lastAt) chat.lastAt = at;
  if (createdAt > chat.updatedAt) chat.updatedAt = createdAt;
  const known = chat.messages.get(key);
  if (!known) {
    const made = new Link(whole(record));
    chat.messages.set(key, made);
    chat.visibleCount += Number(isVisible(made.record));
    fresh.push(made);
    if (chat.ids) addIds(chat.ids, made.record);
    if (chat.orphans.has(key)) joined.isMoved = true;
    joined.messages.push(key);
    return;
  }
  const before = known.record;
  const next = unitedMessage(before, record);
  if (hasTwoPlaces(before, record)) chat.twoPlaces.add(key);
  if (next === before) return;
  known.record = next;
  chat.visibleCount += Number(isVisible(next)) - Number(isVisible(before));
  if (chat.ids) addIds(chat.ids, next);
  const isMoved = hasTwoPlaces(before, next);
  if (isMoved) joined.isMoved = true;
  if (isMoved || next.versions !== before.versions) joined.messages.push(key);
}

/** The record with its versions in order. */
function whole(record: MessageRecord): MessageRecord {
  const versions = united([], record.versions);
  return versions === record.versions ? record : { ...record, versions };
}

function hasTwoPlaces(a: MessageRecord, b: MessageRecord): boolean {
  return a.parent !== b.parent || a.at !== b.at;
}

/** Two copies of a message, joined; the known one itself where the other adds nothing. Pure. */
export function unitedMessage(known: MessageRecord, other: MessageRecord): MessageRecord {
  const versions = united(known.versions, other.versions);
  const first = comparePlaces(other, known) < 0 ? other : known;
  const seq = Math.max(known.seq ?? -1, other.seq ?? -1);
  const isSeen = seq === (known.seq ?? -1);
  if (versions === known.versions && first === known && isSeen) return known;
  const last = first === known ? other : known;
  return { ...last, ...first, versions, ...(seq < 0 ? {} : { seq }) };
}

/** Of two places that a damaged disk gave one message, the lesser counts, in every replica. */
function comparePlaces(a: MessageRecord, b: MessageRecord): number {
  return (
    a.at - b.at ||
    compareTexts(String(a.parent), String(b.parent)) ||
    a.createdAt - b.createdAt ||
    compareTexts(a.id, b.id) ||
    compareTexts(a.role, b.role) ||
    compareTexts(a.chat, b.chat)
  );
}

/** The versions of both, the greatest last; the known list itself where the other adds nothing. */
function united(known: readonly Version[], others: readonly Version[]): readonly Version[] {
  if (known.length === 0 && others.length === 1) return others;
  let versions = known;
  for (const version of others) {
    const at = versions.findLastIndex((one) => compareVersions(one, version) === 0);
    const there = versions[at];
    if (!there) versions = [...versions, version];
    else if (!there.body && version.body) versions = versions.with(at, { ...there, body: version.body });
  }
  if (versions === known) return known;
  const words = versions.some(hasWords) ? versions.filter(hasWords) : versions;
  const sorted = words.toSorted(compareVersions);
  return sorted.length === known.length && sorted.every((one, i) => one === known[i]) ? known : sorted;
}

/** The order of versions: by revision, author, sum and status. */
export function compareVersions(a: Version, b: Version): number {
  return (
    a.rev - b.rev ||
    compareTexts(a.by, b.by) ||
    compareTexts(a.sum, b.sum) ||
    compareTexts(a.status, b.status) ||
    Number(a.gone ?? false) - Number(b.gone ?? false)
  );
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Whether two copies of a branch record have the same ends. */
export function isSameEnds(a: EndsRecord, b: EndsRecord): boolean {
  const isSameMoment = a.at === b.at && a.createdAt === b.createdAt;
  return isSameMoment && a.keys.length === b.keys.length && b.keys.every((key) => a.keys.includes(key));
}

/** Two copies of a branch record, joined; the known one itself where the other adds nothing. Pure. */
export function unitedEnds(known: EndsRecord, other: EndsRecord): EndsRecord {
  const all = new Set([...known.keys, ...other.keys]);
  const isOlder = other.at < known.at || (other.at === known.at && other.createdAt < known.createdAt);
  const seq = Math.max(known.seq ?? -1, other.seq ?? -1);
  const isMore = all.size > known.keys.length;
  if (!isMore && !isOlder && seq === (known.seq ?? -1)) return known;
  const { at, createdAt } = isOlder ? other : known;
  // New ends come last, so that a reader who knows the others looks at these only.
  const keys = isMore ? [...all] : known.keys;
  return { ...other, ...known, at, createdAt, keys, ...(seq < 0 ? {} : { seq }) };
}

/** The parents of messages, by key. */
export type Parents = ReadonlyMap<string, string | null>;

/** The parents of these messages, as a chat has them after joining them. */
function parentsIn(chat: ChatValue, messages: readonly MessageRecord[]): Parents {
  const parents = new Map<string, string | null>();
  for (const { key } of messages) parents.set(key, chat.messages.get(key)?.parent?.record.key ?? null);
  return parents;
}

/**
 * Drops ends that are ancestors of another end, as far as the messages of the same delta tell: a turn moves past the end of its
 * branch, so a record of ten thousand turns has one end. Other passed ends stay, and readers skip them.
 */
export function withoutPassed(record: EndsRecord, parents: Parents): EndsRecord {
  if (record.keys.length < 2 || parents.size === 0) return record;
  const passed = new Set<string>();
  for (const key of record.keys)
    for (let at = parents.get(key); typeof at === 'string' && !passed.has(at); at = parents.get(at))
      passed.add(at);
  const keys = record.keys.filter((key) => !passed.has(key));
  return keys.length === record.keys.length ? record : { ...record, keys };
}

function joinMark(chat: WritableChat, mark: Mark): boolean {
  chat.lastRev = Math.max(chat.lastRev, mark.rev);
  const known = chat.marks.get(mark.id);
  if (known && compareMarks(known, mark) >= 0) return false;
  chat.marks.set(mark.id, mark);
  const record = recordOf(mark.id);
  if (!known && record !== undefined) {
    const marks = chat.marksOf.get(record);
    if (marks) marks.add(mark.id);
    else chat.marksOf.set(record, new Set([mark.id]));
  }
  return true;
}

/** The order of marks: by revision, author and canonical JSON, then, for different subjects, by id. The greatest counts. */
export function compareMarks(a: Mark, b: Mark): number {
  return (
    a.rev - b.rev ||
    compareTexts(a.by, b.by) ||
    compareTexts(canonical(a.value), canonical(b.value)) ||
    compareTexts(a.id, b.id)
  );
}

/** JSON with sorted keys: the same text for equal values. */
export function canonical(value: unknown): string {
  return (
    JSON.stringify(value, (_key, one: unknown) =>
      typeof one === 'object' && one !== null && !Array.isArray(one)
        ? Object.fromEntries(Object.entries(one).toSorted(([a], [b]) => compareTexts(a, b)))
        : one,
    ) ?? ''
  );
}

// ------------------------------------------------------------------ links

/** Links a message, and first those before it that are not linked. A ring is cut before its oldest message, in every replica. */
function link(chat: WritableChat, message: Link): void {
  const parent = chat.messages.get(message.record.parent ?? '');
  // Usually the parent is linked, and no path is needed.
  if (message.depth === 0 && parent?.depth !== 0) return attach(chat, message, parent);
  const path: Link[] = [];
  let at: Link | undefined = message;
  for (; at?.depth === 0; at = chat.messages.get(at.record.parent ?? '')) {
    at.depth = PASSED;
    path.push(at);
  }
  if (at?.depth === PASSED) {
    const [oldest] = path.slice(path.indexOf(at)).toSorted((a, b) => compareAt(a.record, b.record));
    for (const one of path) one.depth = 0;
    attach(chat, oldest as Link, undefined);
    for (const one of path) link(chat, one);
  } else
    for (const one of path.toReversed()) {
      attach(chat, one, at);
      at = one;
    }
}

/** The depth of a message while the walk to its first ancestor passes it. */
const PASSED = -1;

function attach(chat: WritableChat, message: Link, parent: Link | undefined): void {
  const key = message.record.parent;
  message.parent = parent;
  message.depth = (parent?.depth ?? 0) + 1;
  if (parent) parent.next = parent.next ? inOrder(parent.children, message) : message;
  else if (key === null || chat.messages.has(key)) chat.first = inOrder(chat.first, message);
  else chat.orphans.set(key, inOrder(chat.orphans.get(key) ?? [], message));
}

/** Adds a message to its siblings. Nearly every one comes last; for others a binary search finds the place. */
function inOrder(siblings: Link[], message: Link): Link[] {
  if (siblings.length === 0) return [message];
  let [from, to] = [0, siblings.length];
  for (let at = to - 1; from < to; at = (from + to) >> 1)
    if (compareAt((siblings[at] as Link).record, message.record) < 0) from = at + 1;
    else to = at;
  siblings.splice(to, 0, message);
  return siblings;
}

/** Links all messages again: known chains have changed. */
function linkAnew(chat: WritableChat): void {
  chat.first = [];
  chat.orphans.clear();
  for (const message of chat.messages.values())
    Object.assign(message, { parent: undefined, depth: 0, next: undefined });
  for (const message of chat.messages.values()) link(chat, message);
}
