import {
  compareAt,
  hasWords,
  isGone,
  parentOf,
  holds,
  shownVersion,
  upward,
  type ChatValue,
  type EndsRecord,
  type Mark,
  type MessageRecord,
} from './graph.ts';
import { compareMarks, type Joined } from './join.ts';
import { kindOf, messageOfMark, recordOf, type DeletionValue, type NameValue, uniqueNames } from './marks.ts';

/**
 * Branches are derived.
 *
 * Two tabs may answer at once, a full disk may keep an answer back for an hour, a clock may be wrong. If a branch were
 * made when it is written, each of them would have to know of the others first. So nobody makes one: a branch record says
 * where it was seen to end, as often as it was seen, and whoever looks at the same records sees the same branches, one for
 * each end. Where the ways of one record part, the one whose first own message is older goes on under the record's id;
 * each other one is shown beside it, under an id of the record and that message.
 *
 * So a derived id says nothing for ever: an older sibling may arrive tomorrow and take it. It is never stored. Marks name
 * the record and a message, and what a page holds on to is a handle of its own.
 *
 * Each record's ways are kept. A turn moves one end of one record, which costs that turn; what two tabs wrote at once costs
 * the messages behind the place where they part.
 */

/** One branch, as it is shown. */
export interface Way {
  /** Derived: the record's id, or `record/fork`. Never stored: after the next join it may name another way. */
  readonly id: string;
  /** The id of its {@link EndsRecord}. */
  readonly record: string;
  /** The key of the first message with which it leaves the way that goes on under the record; null for that one. */
  readonly fork: string | null;
  /** The key of its last message, also of one that was taken back; null for an empty branch. */
  readonly end: string | null;
  /** The key of its last message that was not taken back; null where nothing is left. */
  readonly head: string | null;
  /** Orders branches, as {@link MessageRecord.at}: when the record was made, or the message of the fork. */
  readonly at: number;
  /** Of the record, or of the message of the fork: ms since epoch. */
  readonly createdAt: number;
  /** Of live branches, no two have one name. */
  readonly name: string;
  /** Whether a person chose the name. */
  readonly isNamed: boolean;
  /** The mark by which it is deleted; absent for a live one. */
  readonly deleted?: Mark;
}

/** The branches of a chat. Belongs to one {@link ChatValue}, and is told of each join into it. */
export class Branches {
  /** In the order in which they were made: by `at`, then by id. At least one, unless the chat shows none at all. */
  live: readonly Way[] = [];

  /** In the same order. Their names may be taken by live ones. */
  deleted: readonly Way[] = [];
  readonly #chat: ChatValue;
  readonly #records = new Map<string, RecordWays>();
  /** Records whose ways depend on what is said in a message, by its key. */
  readonly #watching = new Map<string, Set<string>>();

  constructor(chat: ChatValue) {
    this.#chat = chat;
    this.update({ messages: [], ends: [], marks: [], isMoved: true });
  }

  /** Takes over what a join has changed. Returns whether a branch has changed, came or went; all others keep their identity. */
  update({ messages, ends, marks, isMoved }: Joined): boolean {
    const stale = new Set<string>(isMoved ? this.#chat.ends.keys() : []);
    for (const id of marks) {
      const record = recordOf(id);
      if (record !== undefined && this.#chat.ends.has(record)) stale.add(record);
    }
    const touched = new Set([...stale, ...ends]);
    for (const key of messages) for (const record of this.#watching.get(key) ?? []) touched.add(record);
    let isChanged = false;
    for (const id of touched) if (this.#look(id, stale.has(id))) isChanged = true;
    return isChanged && this.#show();
  }

  /** Takes over what a record says now. Returns whether its ways may have changed. */
  #look(id: string, isStale: boolean): boolean {
    const record = this.#chat.ends.get(id) as EndsRecord;
    const before = this.#records.get(id);
    const goesOn = before && !isStale ? continued(this.#chat, record, before) : undefined;
    const next = goesOn ?? derived(this.#chat, record);
    this.#records.set(id, next);
    for (const key of before?.watched ?? []) {
      const watching = this.#watching.get(key);
      watching?.delete(id);
      if (watching?.size === 0) this.#watching.delete(key);
    }
    for (const key of next.watched) this.#watching.set(key, (this.#watching.get(key) ?? new Set()).add(id));
    return before?.ways !== next.ways;
  }

  #show(): boolean {
    const all: Way[] = [];
    for (const { ways } of this.#records.values()) all.push(...ways);
    all.sort(compareWays);
    const known = new Map<string, Way>();
    for (const way of [...this.live, ...this.deleted]) known.set(way.id, way);
    const spared = all.every(({ deleted }) => deleted) ? lastDeleted(all) : undefined;
    const [ways, deleted]: [Way[], Way[]] = [[], []];
    for (const way of all) {
      if (way.deleted && way !== spared) deleted.push(keptWay(known, way));
      else ways.push(way);
    }
    const names = uniqueNames(ways.map(({ name }) => name));
    const live: Way[] = [];
    for (const [i, way] of ways.entries()) live.push(keptWay(known, shownAs(way, names[i] as string)));
    const isSame = sameList(live, this.live) && sameList(deleted, this.deleted);
    if (!sameList(live, this.live)) this.live = live;
    if (!sameList(deleted, this.deleted)) this.deleted = deleted;
    return !isSame;
  }
}

/** The order in which branches were made. */
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

/** The way that was known, if it says the same. */
function keptWay(known: ReadonlyMap<string, Way>, way: Way): Way {
  const before = known.get(way.id);
  if (!before || before.deleted !== way.deleted) return way;
  for (const key of WORDS) if (before[key] !== way[key]) return way;
  return before;
}

const WORDS = ['end', 'head', 'at', 'createdAt', 'name', 'isNamed'] as const;

function sameList(a: readonly Way[], b: readonly Way[]): boolean {
  if (a.length !== b.length) return false;
  for (const [i, way] of a.entries()) if (way !== b[i]) return false;
  return true;
}

// ------------------------------------------------------------------ the ways of one record

/** What is known of one record. */
interface RecordWays {
  readonly record: EndsRecord;
  /** One for each end that nothing stands behind, unless nothing is left of it. */
  readonly ways: readonly Way[];
  /** Messages that the record or a mark names, and that are not known yet. */
  readonly unknown: readonly string[];
  /** Messages of which each change matters: unknown ones, ends, and what is taken back before them. */
  readonly watched: readonly string[];
}

/** A way before it has a name. */
type Path = Pick<Way, 'fork' | 'end' | 'head'>;

/** A record by all that is known of it. Costs the messages behind the first place where its ways part, and those to its marks. */
function derived(chat: ChatValue, record: EndsRecord): RecordWays {
  const marks = marksOf(chat, record.id);
  const known = record.keys.filter((key) => chat.messages.has(key));
  const paths = record.keys.length === 0 ? [{ fork: null, end: null, head: null }] : pathsTo(chat, known);
  const named = [...record.keys, ...marks.map(messageOfMark)].filter((key) => key !== null);
  const unknown = named.filter((key) => !chat.messages.has(key));
  const ways = shownPaths(chat, paths).map((path) => wayOf(chat, record, path, marks));
  return { record, ways, unknown, watched: [...unknown, ...paths.flatMap((path) => tailOf(chat, path))] };
}

/**
 * A record whose only end has moved on, or whose last message says something else; undefined where it must be derived anew.
 * Costs the messages by which it moved on.
 */
function continued(chat: ChatValue, record: EndsRecord, known: RecordWays): RecordWays | undefined {
  const { unknown } = known;
  const [way] = known.ways;
  const [end] = record.keys;
  const isSingle = record.keys.length === 1 && known.record.keys.length === 1;
  const isOlder = record.at !== known.record.at || record.createdAt !== known.record.createdAt;
  if (!way || !end || !isSingle || isOlder || unknown.some((key) => chat.messages.has(key))) return undefined;
  // Words at its end bring a deleted one back.
  if (way.deleted || way.end === null || way.end !== way.head || settled(chat, end) !== end) return undefined;
  const passed = new Set<string>();
  if (!holds(chat, end, way.end, passed)) return undefined;
  for (const id of chat.marksOf.get(record.id) ?? [])
    if (passed.has(messageOfMark({ id }) ?? '')) return undefined;
  const path = { fork: way.fork, end, head: end };
  const ways = end === way.end ? known.ways : [{ ...way, ...path }];
  return { record, ways, unknown, watched: [...unknown, ...tailOf(chat, path)] };
}

/** The path to each end that no other end descends from. Walks up from all of them until they meet. */
function pathsTo(chat: ChatValue, ends: readonly string[]): Path[] {
  const passed = new Set<string>();
  /** The oldest of the next messages on these paths, by the key of the message before it. */
  const oldest = new Map<string | undefined, MessageRecord>();
  const goUp = (record: MessageRecord): MessageRecord | undefined => {
    passed.add(record.key);
    const parent = parentOf(chat, record);
    const other = oldest.get(parent?.key);
    if (!other || compareAt(record, other) < 0) oldest.set(parent?.key, record);
    return parent;
  };
  let met = chat.messages.get(ends[0] ?? '');
  let depth = chat.depths.get(ends[0] ?? '') ?? 0;
  for (const end of ends) {
    let at = chat.messages.get(end);
    let depthAt = chat.depths.get(end) as number;
    while (at && at !== met && !passed.has(at.key))
      if (met && depth >= depthAt) {
        met = goUp(met);
        depth -= 1;
      } else {
        at = goUp(at);
        depthAt -= 1;
      }
    // They share nothing: both ways begin the chat.
    if (!at) while (met) met = goUp(met);
  }
  const forkOf = (end: string): string | null => {
    for (const record of upward(chat, end)) {
      if (record === met) break;
      if (oldest.get(parentOf(chat, record)?.key) !== record) return record.key;
    }
    return null;
  };
  return ends
    .filter((end) => !oldest.has(end))
    .map((end) => ({ end, head: settled(chat, end), fork: forkOf(end) }));
}

/** The message before all that was taken back at the end of a chain; null where nothing is left. */
function settled(chat: ChatValue, end: string | null): string | null {
  for (const record of upward(chat, end)) if (!isGone(record)) return record.key;
  return null;
}

/** The keys from an end to the last message with words, both included. */
function tailOf(chat: ChatValue, { end, head }: Path): string[] {
  const keys: string[] = [];
  const spoken = spokenAt(chat, head);
  for (const { key } of upward(chat, end)) {
    keys.push(key);
    if (key === spoken) break;
  }
  return keys;
}

/**
 * The paths that are shown: none that another path holds whole, and of several that end at one visible message the first. Both
 * happen only where an answer was taken back.
 */
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

// ------------------------------------------------------------------ what is said of them

/** Marks about a record, greatest first. */
function marksOf(chat: ChatValue, record: string): readonly Mark[] {
  const marks = [...(chat.marksOf.get(record) ?? [])].map((id) => chat.marks.get(id) as Mark);
  return marks.length < 2 ? marks : marks.toSorted((a, b) => compareMarks(b, a));
}

/** The last message with words: what a deletion names, and what it covers; so words that come later bring the branch back. */
export function spokenAt(chat: ChatValue, head: string | null): string | null {
  for (const record of upward(chat, head)) if (hasWords(shownVersion(record))) return record.key;
  return null;
}

/**
 * A way with what is said of it: the greatest name that speaks of a message on it, and the greatest deletion of the message in
 * which it ends, or of one behind that. Costs the messages between them.
 */
function wayOf(chat: ChatValue, { id, at, createdAt }: EndsRecord, path: Path, marks: readonly Mark[]): Way {
  const fork = chat.messages.get(path.fork ?? '');
  const spoken = spokenAt(chat, path.head);
  const named = marks.find((mark) => {
    const key = messageOfMark(mark);
    return kindOf(mark) === 'name' && (key === null || holds(chat, path.end, key));
  });
  const deleted = marks.find((mark) => {
    if (kindOf(mark) !== 'deletion' || !(mark.value as DeletionValue).on) return false;
    return spoken === null || holds(chat, messageOfMark(mark), spoken);
  });
  const { name, isOwn } = (named?.value ?? UNNAMED) as NameValue;
  return {
    ...path,
    id: fork ? `${id}/${fork.key}` : id,
    record: id,
    // A wrong clock does not put it before the way that it leaves.
    at: Math.max(at, fork?.at ?? at),
    createdAt: fork?.createdAt ?? createdAt,
    name,
    isNamed: isOwn === true,
    ...(deleted ? { deleted } : {}),
  };
}

const UNNAMED: NameValue = { name: 'main' };
