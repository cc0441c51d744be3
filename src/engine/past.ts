import { Branches, type Way } from '../graph/branches.ts';
import {
  compareAt,
  eachRecord,
  holds,
  upward,
  type ChatValue,
  type EndsRecord,
  type Mark,
  type MessageRecord,
} from '../graph/graph.ts';
import { graphData } from '../graph/graphData.ts';
import { createChat } from '../graph/join.ts';
import {
  checkpointsOf,
  kindOf,
  recordOf,
  type CheckpointValue,
  type DeletionValue,
  type NameValue,
} from '../graph/marks.ts';
import type { GraphData } from '../graph/visualize.ts';
import { expectOption } from './desk.ts';
import { versionOf, wroteOf, type Entry } from './history.ts';
import type { Writer } from './writer.ts';

/**
 * A chat as it was at an earlier time.
 *
 * Its messages are those that existed then, and each of a branch record's ways ended at the last of them. The operation log
 * tells what names, deletions and checkpoints were before each operation of this device. A mark that somebody
 * else wrote last keeps its present value, unless its own date is later; the graph is then partial.
 *
 * Loaded on first use. Each call reads all messages of the chat.
 */

/** A chat's graph at an earlier time. */
export interface PastGraph extends GraphData {
  /** The requested time, in ms since epoch. */
  readonly at: number;
  /** Whether some name, deletion or checkpoint may have been different: the log does not contain changes by others. */
  readonly isPartial: boolean;
}

/** The graph of a chat up to and including `at`. `log`: oldest first. */
export function pastGraph(
  at: number,
  { desk, replica }: Pick<Writer, 'desk' | 'replica'>,
  log: readonly Entry[],
): PastGraph {
  expectOption(Number.isFinite(at), 'at', 'a time in ms since epoch', at);
  const messages = [...eachRecord(replica.chat)].filter((record) => record.at <= at);
  const { marks, isPartial } = marksAt(at, replica.chat, log);
  const chat = createChat({ messages, ends: endsAt(at, replica.chat), marks });
  const { live } = new Branches(chat);
  const active = shownAt(at, replica.chat, messages, log, live);
  const branches = live.map((way) => ({ name: way.name, head: way.head, isActive: way === active }));
  const checkpoints = checkpointsOf(chat);
  return { ...graphData(desk.chatId, chat, { branches, checkpoints }, replica.growing), at, isPartial };
}

/**
 * The ends of each branch record at that time. A younger record counts only where no older one holds its messages: its messages
 * came first. The stand-in that `add()` makes for its undo has the time of the branch for which it stands, and counts only where
 * that one ended elsewhere.
 */
function endsAt(at: number, chat: ChatValue): EndsRecord[] {
  const held = new Set<string>();
  const endedBy = new Map<string, number>();
  const ends: EndsRecord[] = [];
  for (const record of inOrder(chat)) {
    const all = new Set(record.keys.flatMap((end) => lastAt(at, chat, end)?.key ?? []));
    const isYounger = record.at > at;
    const isHeld = (key: string): boolean => (isYounger ? held.has(key) : endedBy.get(key) === record.at);
    const keys = [...all].filter((key) => !isHeld(key));
    if (keys.length === 0 && (isYounger || all.size > 0)) continue;
    ends.push({ ...record, keys });
    for (const key of keys) {
      endedBy.set(key, record.at);
      for (const one of upward(chat, key)) {
        if (held.has(one.key)) break;
        held.add(one.key);
      }
    }
  }
  return ends;
}

/** The branch records, oldest first. A stand-in comes behind its branch: its marks are younger. */
function inOrder({ ends, marks, marksOf }: ChatValue): readonly EndsRecord[] {
  const firstRev = ({ id }: EndsRecord): number =>
    Math.min(...[...(marksOf.get(id) ?? [])].map((mark) => marks.get(mark)?.rev ?? 0));
  return [...ends.values()].toSorted((a, b) => a.at - b.at || firstRev(a) - firstRev(b));
}

/** The last message on the way to `end` that existed then. */
function lastAt(at: number, chat: ChatValue, end: string): MessageRecord | undefined {
  for (const record of upward(chat, end)) if (record.at <= at) return record;
  return undefined;
}

function marksAt(at: number, { marks }: ChatValue, log: readonly Entry[]) {
  const past = new Map(marks);
  let isPartial = false;
  for (const mark of marks.values()) {
    if (log.some((entry) => wroteOf(entry, mark.id) === versionOf(mark))) continue;
    if (isUndated(mark)) isPartial = true;
    if (dateOf(mark) > at) past.delete(mark.id);
  }
  // What was turned last is turned back first: operations are done in their order, and undone in the reverse one.
  const undone = log.filter((entry) => entry.state === 'undone');
  const done = log.filter((entry) => entry.state === 'done');
  for (const { state, isOnlyLeft, undo, ...entry } of [...undone, ...done.toReversed()]) {
    const isDone = state === 'done' || isOnlyLeft === true;
    const wasDone = entry.at <= at && (isDone || at < (entry.turnedAt ?? entry.at));
    if (wasDone === isDone) continue;
    for (const { id, value } of undo) {
      const mark = past.get(id);
      if (mark) past.set(id, { ...mark, value });
    }
  }
  return { marks: [...past.values()], isPartial };
}

/** Whether a mark that is not in the log may have had another value before. */
function isUndated(mark: Mark): boolean {
  const kind = kindOf(mark);
  if (kind === 'name') return (mark.value as NameValue).isOwn === true;
  return kind === 'checkpoint' || (kind === 'deletion' && !(mark.value as DeletionValue).on);
}

/** When a mark got its value, if the value tells. */
function dateOf(mark: Mark): number {
  const kind = kindOf(mark);
  return kind === 'checkpoint' || kind === 'deletion'
    ? (mark.value as CheckpointValue | DeletionValue).at
    : Number.NEGATIVE_INFINITY;
}

/** The branch of the last message, or of the operation that was done, undone or redone last, whichever came later. */
function shownAt(
  at: number,
  chat: ChatValue,
  messages: readonly MessageRecord[],
  log: readonly Entry[],
  live: readonly Way[],
): Way | undefined {
  const said = messages.toSorted(compareAt).at(-1);
  const turnedAt = (one: Entry): number =>
    one.turnedAt === undefined || one.turnedAt > at ? one.at : one.turnedAt;
  const switches = log.filter((one) => one.isSwitch === true && one.at <= at);
  const entry = switches.toSorted((a, b) => turnedAt(a) - turnedAt(b)).at(-1);
  const isSaidLater = !entry || turnedAt(entry) < (said?.at ?? 0);
  // For an operation that was undone later, the order is reversed.
  const [from, to] = entry?.shown ?? [];
  const key = isSaidLater ? said?.key : entry.state === 'undone' && at < (entry.turnedAt ?? 0) ? from : to;
  const made = isSaidLater || entry.kind === 'delete-branch' ? undefined : recordOf(entry.undo[0]?.id ?? '');
  const shown = lastAt(at, chat, key ?? '')?.key ?? '';
  const ending = live.filter(({ head }) => head === shown);
  const own = ending.find(({ record }) => record === made) ?? ending[0];
  return own ?? live.find(({ end }) => holds(chat, end, shown));
}
