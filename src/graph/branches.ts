import {
  compareAt,
  hasWords,
  isGone,
  parentOf,
  holds,
  recordAt,
  shownVersion,
  upward,
  type ChatValue,
  type EndsRecord,
  type LinkedMessage,
  type Mark,
  type MessageRecord,
} from './graph.ts';
import { compareMarks, type Joined } from './join.ts';
import { kindOf, messageOfMark, recordOf, type DeletionValue, type NameValue, uniqueNames } from './marks.ts';
import { keepSame } from './same.ts';

/**
 * Deriving branches.
 *
 * Two tabs may answer at once, a full disk may keep an answer back for an hour, a clock may be wrong. If a branch were made
 * when it is written, each writer would have to know of the others first. So nobody makes one: a branch record lists the ends
 * that it was seen to have, and every reader of the same records derives the same branches, one for each end. Where the ways of
 * one record part, the one whose first own message is older keeps the record's id; each other one is shown beside it, under an
 * id made of the record and that message.
 *
 * So a derived id is not permanent: an older sibling may arrive tomorrow and take it. It is never stored. Marks name the record
 * and a message, and a page refers to branches by handles of its own.
 *
 * The ways of each record are kept. A turn moves one end of one record, which costs that turn; what two tabs wrote at once
 * costs the messages behind the place where they part.
 */

/** A derived branch. */
export interface Way {
  /** Derived: the record's id, or `record/fork`. Never stored: after the next join it may name another branch. */
  readonly id: string;
  /** The id of its {@link EndsRecord}. */
  readonly record: string;
  /** The key of its first message that is not on the way that keeps the record's id; null for that way itself. */
  readonly fork: string | null;
  /** The key of its last message, even if that was removed; null for an empty branch. */
  readonly end: string | null;
  /** The key of its last message that was not removed; null if there is none. */
  readonly head: string | null;
  /** Orders branches, as {@link MessageRecord.at}: that of the record, or of the message of the fork. */
  readonly at: number;
  /** The creation time of the record, or of the message of the fork, in ms since epoch. */
  readonly createdAt: number;
  /** Unique among live branches. */
  readonly name: string;
  /** Whether a person chose the name. */
  readonly isNamed: boolean;
  /** The mark that deletes it; absent for a live branch. */
  readonly deleted?: Mark;
}

/** The branches of a chat. Belongs to one {@link ChatValue}, and is updated after each join into it. */
export class Branches {
  /** In the order in which they were made: by `at`, then by id. At least one, unless the chat has no branches at all. */
  live: readonly Way[] = [];

  /** In the same order. Live branches may have their names. */
  deleted: readonly Way[] = [];
  readonly #chat: ChatValue;
  readonly #records = new Map<string, RecordWays>();

  constructor(chat: ChatValue) {
    this.#chat = chat;
    this.update({ messages: [], ends: [], marks: [], isMoved: true });
  }

  /** Updates the branches after a join; those that did not change keep their identity, and so do the lists. */
  update({ messages, ends, marks, isMoved }: Joined): void {
    const stale = new Set<string>(isMoved ? this.#chat.ends.keys() : []);
    for (const id of marks) {
      const record = recordOf(id);
      if (record !== undefined && this.#chat.ends.has(record)) stale.add(record);
    }
    const touched = new Set([...stale, ...ends]);
    const changed = new Set(messages);
    for (const [id, { watched }] of this.#records)
      if (watched.some((key) => changed.has(key))) touched.add(id);
    let isChanged = false;
    for (const id of touched) if (this.#look(id, stale.has(id))) isChanged = true;
    if (isChanged) this.#show();
  }

  /** Updates the ways of one record. Returns whether they may have changed. */
  #look(id: string, isStale: boolean): boolean {
    const record = this.#chat.ends.get(id) as EndsRecord;
    const before = this.#records.get(id);
    const goesOn = before && !isStale ? continued(this.#chat, record, before) : undefined;
    const next = goesOn ?? derived(this.#chat, record);
    this.#records.set(id, next);
    return before?.ways !== next.ways;
  }

  #show(): void {
    const all = [...this.#records.values()].flatMap(({ ways }) => ways).toSorted(compareWays);
    const spared = all.every((way) => way.deleted) ? lastDeleted(all) : undefined;
    const [ways, gone]: [Way[], Way[]] = [[], []];
    for (const way of all) (way.deleted && way !== spared ? gone : ways).push(way);
    const names = uniqueNames(ways.map(({ name }) => name));
    const shown = ways.map((way, i) => shownAs(way, names[i] as string));
    this.live = keepSame(this.live, shown);
    this.deleted = keepSame(this.deleted, gone);
  }
}

function compareWays(a: Way, b: Way): number {
  return a.at - b.at || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}

/** If all branches are deleted, the one deleted last stays. */
function lastDeleted(ways: readonly Way[]): Way | undefined {
  const deletedAt = ({ deleted }: Way): number => ((deleted as Mark).value as DeletionValue).at;
  return ways.toSorted((a, b) => deletedAt(b) - deletedAt(a) || (a.id < b.id ? -1 : 1))[0];
}

function shownAs(way: Way, name: string): Way {
  if (way.name === name && !way.deleted) return way;
  const { deleted: _deleted, ...live } = way;
  return { ...live, name };
}

// ------------------------------------------------------------------ the ways of one record

/** The ways of one record, and what they depend on. */
interface RecordWays {
  readonly record: EndsRecord;
  /** One for each end without descendants, unless all of its messages were removed. */
  readonly ways: readonly Way[];
  /** Messages that the record or a mark names, and that have not arrived. */
  readonly unknown: readonly string[];
  /** Messages of which each change matters: unknown ones, ends, and removed ones before them. */
  readonly watched: readonly string[];
}

type Path = Pick<Way, 'fork' | 'end' | 'head'>;

/** Derives the ways of a record. Costs the messages behind the first place where they part, and those up to its marks. */
function derived(chat: ChatValue, record: EndsRecord): RecordWays {
  const marks = marksOf(chat, record.id);
  const known = record.keys.filter((key) => chat.messages.has(key));
  const paths = record.keys.length === 0 ? [{ fork: null, end: null, head: null }] : pathsTo(chat, known);
  const named = [...record.keys, ...marks.map(messageOfMark)].filter((key) => key !== null);
  const unknown = named.filter((key) => !chat.messages.has(key));
  const ways = shownPaths(chat, paths).map((path) => wayOf(chat, record, path, marks));
  return { record, ways, unknown, watched: [...unknown, ...paths.flatMap((path) => tailOf(chat, path))] };
}

/** Goes on from the known ways of a record with one end; undefined where it must be derived anew. Costs the new messages. */
function continued(chat: ChatValue, record: EndsRecord, known: RecordWays): RecordWays | undefined {
  const { unknown } = known;
  const [way] = known.ways;
  const [end] = record.keys;
  const isSingle = record.keys.length === 1 && known.record.keys.length === 1;
  const isOlder = record.at !== known.record.at || record.createdAt !== known.record.createdAt;
  if (!way || !end || !isSingle || isOlder || unknown.some((key) => chat.messages.has(key))) return undefined;
  // New content at its end brings a deleted branch back.
  if (way.deleted || way.end === null || way.end !== way.head || headOf(chat, end) !== end) return undefined;
  const passed = new Set<string>();
  if (!holds(chat, end, way.end, passed)) return undefined;
  for (const id of chat.marksOf.get(record.id) ?? [])
    if (passed.has(messageOfMark({ id }) ?? '')) return undefined;
  const path = { fork: way.fork, end, head: end };
  const ways = end === way.end ? known.ways : [{ ...way, ...path }];
  return { record, ways, unknown, watched: [...unknown, ...tailOf(chat, path)] };
}

/** The path to each end without descendants. Walks up from all of them until they meet. */
function pathsTo(chat: ChatValue, ends: readonly string[]): Path[] {
  const passed = new Set<string>();
  /** The oldest of the next messages on these paths, by the key of the message before it. */
  const oldest = new Map<string | undefined, MessageRecord>();
  const goUp = ({ record, parent }: LinkedMessage): LinkedMessage | undefined => {
    passed.add(record.key);
    const key = parent?.record.key;
    const other = oldest.get(key);
    if (!other || compareAt(record, other) < 0) oldest.set(key, record);
    return parent;
  };
  let met = chat.messages.get(ends[0] ?? '');
  for (const end of ends) {
    let at = chat.messages.get(end);
    while (at && at !== met && !passed.has(at.record.key))
      if (met && met.depth >= at.depth) met = goUp(met);
      else at = goUp(at);
    // The paths share nothing: both begin the chat.
    if (!at) while (met) met = goUp(met);
  }
  const forkOf = (end: string): string | null => {
    for (const record of upward(chat, end)) {
      if (record === met?.record) break;
      if (oldest.get(parentOf(chat, record)?.key) !== record) return record.key;
    }
    return null;
  };
  return ends
    .filter((end) => !oldest.has(end))
    .map((end) => ({ end, head: headOf(chat, end), fork: forkOf(end) }));
}

/** The last message of a chain that was not removed; null if there is none. */
function headOf(chat: ChatValue, end: string | null): string | null {
  for (const record of upward(chat, end)) if (!isGone(record)) return record.key;
  return null;
}

/** The keys from an end up to the last message with content, both included. */
function tailOf(chat: ChatValue, { end, head }: Path): string[] {
  const keys: string[] = [];
  const last = lastWithWords(chat, head);
  for (const { key } of upward(chat, end)) {
    keys.push(key);
    if (key === last) break;
  }
  return keys;
}

/** The paths to show: where an answer was removed, another may contain one, or several may have one visible end. */
function shownPaths(chat: ChatValue, paths: readonly Path[]): readonly Path[] {
  if (paths.length < 2 || paths.every(({ end, head }) => end === head)) return paths;
  const heads = [...new Set(paths.map(({ head }) => head))];
  const shown = new Set<string | null>();
  return paths
    .toSorted((a, b) => ((a.fork ?? '') < (b.fork ?? '') ? -1 : 1))
    .filter(({ end, head }) => {
      if (end === head) return true;
      if (shown.has(head)) return false;
      shown.add(head);
      return !heads.some((other) => other !== head && (head === null || holds(chat, other, head)));
    });
}

// ------------------------------------------------------------------ the marks of branches

function marksOf(chat: ChatValue, record: string): readonly Mark[] {
  const marks = [...(chat.marksOf.get(record) ?? [])].map((id) => chat.marks.get(id) as Mark);
  return marks.length < 2 ? marks : marks.toSorted((a, b) => compareMarks(b, a));
}

/** The last message with content: a deletion names it and covers it, so content that comes later brings the branch back. */
export function lastWithWords(chat: ChatValue, head: string | null): string | null {
  for (const record of upward(chat, head)) if (hasWords(shownVersion(record))) return record.key;
  return null;
}

/** A path with the greatest name of a message on it, and the greatest deletion of its end or of a message behind that. */
function wayOf(chat: ChatValue, { id, at, createdAt }: EndsRecord, path: Path, marks: readonly Mark[]): Way {
  const fork = recordAt(chat, path.fork);
  const last = lastWithWords(chat, path.head);
  const named = marks.find((mark) => {
    const key = messageOfMark(mark);
    return kindOf(mark) === 'name' && (key === null || holds(chat, path.end, key));
  });
  const deleted = marks.find((mark) => {
    if (kindOf(mark) !== 'deletion' || !(mark.value as DeletionValue).on) return false;
    return last === null || holds(chat, messageOfMark(mark), last);
  });
  const { name, isOwn } = (named?.value ?? UNNAMED) as NameValue;
  return {
    ...path,
    id: fork ? `${id}/${fork.key}` : id,
    record: id,
    // Even with a wrong clock, a fork comes after the branch that it leaves.
    at: Math.max(at, fork?.at ?? at),
    createdAt: fork?.createdAt ?? createdAt,
    name,
    isNamed: isOwn === true,
    ...(deleted ? { deleted } : {}),
  };
}

const UNNAMED: NameValue = { name: 'main' };
