import { setField } from '../copy.ts';
import { isRecord } from '../errors.ts';
import type { ChatValue, Mark } from './graph.ts';

/**
 * The facts of a chat beside its messages and ends.
 *
 * A mark's id consists of its kind and its subject, so that two copies of one fact meet. A mark about a branch names its record
 * and a message, never a branch: branches are derived, and the same place may be another branch tomorrow. Kinds that this
 * version does not know are kept, joined and written like all others.
 */

/** The name of the ways of `record` that hold `key`, the last message that the name's author saw. */
export interface NameValue {
  readonly name: string;
  /** Whether a person chose it; absent for a generated name. */
  readonly isOwn?: true;
}

/** Deletes a branch (or restores it, with `on: false`): the ends of `record` at `key` or before it. */
export interface DeletionValue {
  readonly on: boolean;
  /** The time, as `MessageRecord.at`: if all branches are deleted, the one deleted last stays. */
  readonly at: number;
}

/** A checkpoint, under a random id. */
export interface CheckpointValue {
  readonly name: string;
  /** The key of its message. */
  readonly key: string;
  /** ms since epoch. */
  readonly createdAt: number;
  readonly at: number;
  readonly isDeleted?: true;
}

/** The beginning of a chat, with its user. The mark's id holds the chat key. */
export interface BeginningValue {
  readonly userId: string;
  /** ms since epoch. */
  readonly createdAt: number;
}

/** The chat's usage as one author counted it, in total. */
type UsageValue = Readonly<Record<string, unknown>>;

/** Makes the ids of marks, by kind. */
export const markId = {
  name: (record: string, key: string | null): string => `name ${record} ${key ?? ''}`,
  deletion: (record: string, key: string | null): string => `deletion ${record} ${key ?? ''}`,
  checkpoint: (id: string): string => `checkpoint ${id}`,
  beginning: (chatKey: string): string => `beginning ${chatKey}`,
  title: 'title',
  field: (name: string): string => `field ${name}`,
  usage: (author: string): string => `usage ${author}`,
  fragments: 'fragments',
  /** The facts of the requests behind an answer. */
  calls: (key: string): string => `calls ${key}`,
  /** Fields of a queued question. */
  waiting: (name: string): string => `waiting ${name}`,
};

/** The kind of a mark: the first word of its id. */
export function kindOf({ id }: Pick<Mark, 'id'>): string {
  return id.split(' ', 1)[0] as string;
}

/** The subject of a mark: its id behind the kind; '' for none. */
export function subjectOf({ id }: Pick<Mark, 'id'>): string {
  return id.slice(kindOf({ id }).length + 1);
}

/** The branch record that a mark is about; undefined for marks with other subjects. */
export function recordOf(id: string): string | undefined {
  const [kind, record] = id.split(' ', 2);
  return kind === 'name' || kind === 'deletion' ? record : undefined;
}

/** The message that a name or a deletion refers to; null for an empty branch. */
export function messageOfMark({ id }: Pick<Mark, 'id'>): string | null {
  return id.split(' ', 3)[2] || null;
}

/** The marks of one kind, in no particular order. */
export function marksOfKind({ marks }: ChatValue, kind: string): Mark[] {
  return [...marks.values()].filter((mark) => kindOf(mark) === kind);
}

/** The marks of the chat as a whole. */
export interface ChatFacts {
  readonly title: string | undefined;
  /** The app's fields, and `usage`: the sum of all authors' counts. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The earliest beginning; undefined before there is one. */
  readonly beginning: BeginningValue | undefined;
}

/** The facts in some marks, by their ids; marks with other subjects are ignored. */
export function chatFacts(marks: Iterable<readonly [id: string, value: unknown]>): ChatFacts {
  const metadata: Record<string, unknown> = {};
  let usage: UsageValue | undefined;
  let title: string | undefined;
  let beginning: BeginningValue | undefined;
  for (const [id, value] of marks) {
    const kind = kindOf({ id });
    if (kind === 'title') title = (value as string | null) ?? undefined;
    else if (kind === 'field') setField(metadata, subjectOf({ id }), value);
    else if (kind === 'usage') usage = sumOf(usage ?? {}, value as UsageValue);
    else if (kind === 'beginning') {
      const other = value as BeginningValue;
      if (!beginning || other.createdAt < beginning.createdAt) beginning = other;
    }
  }
  return { title, metadata: usage ? { ...metadata, usage } : metadata, beginning };
}

/** The sums of numbers, nested ones too; of other values the last one counts. */
export function sumOf(a: object, b: object): Record<string, unknown> {
  const sum: Record<string, unknown> = { ...a };
  for (const [name, value] of Object.entries(b)) {
    const before = Object.hasOwn(sum, name) ? sum[name] : undefined;
    if (typeof value === 'number') setField(sum, name, (typeof before === 'number' ? before : 0) + value);
    else if (isRecord(value)) setField(sum, name, sumOf(isRecord(before) ? before : {}, value));
    else if (value !== undefined) setField(sum, name, value);
  }
  return sum;
}

/** A checkpoint with its id. */
export interface Checkpoint extends CheckpointValue {
  readonly id: string;
}

/** Live checkpoints of known messages, oldest first; of two with one name the older keeps it. */
export function checkpointsOf(chat: ChatValue): readonly Checkpoint[] {
  const live = marksOfKind(chat, 'checkpoint')
    .map((mark) => ({ ...(mark.value as CheckpointValue), id: subjectOf(mark) }))
    .filter(({ isDeleted, key }) => !isDeleted && chat.messages.has(key))
    .toSorted((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
  const names = uniqueNames(live.map(({ name }) => name));
  return live.map((one, i) => ({ ...one, name: names[i] as string }));
}

/** The name of a branch or checkpoint made from `cur`: `base-vN`, with the smallest free N from 2, or `first`, on. */
export function nextBranchName(cur: string, taken: ReadonlySet<string>, first: number = 2): string {
  const base = baseOf(cur);
  let n = first;
  while (taken.has(`${base}-v${n}`)) n += 1;
  return `${base}-v${n}`;
}

function baseOf(name: string): string {
  return name.replace(/-v\d+$/, '');
}

/** The shown names, oldest first: of those with one name the first keeps it, others get the next free ones. Takes linear time. */
export function uniqueNames(names: readonly string[]): readonly string[] {
  const taken = new Set(names);
  const used = new Set<string>();
  const numbers = new Map<string, number>();
  return names.map((name) => {
    const base = baseOf(name);
    const shown = used.has(name) ? nextBranchName(base, taken, numbers.get(base)) : name;
    if (shown !== name) numbers.set(base, Number(shown.slice(`${base}-v`.length)) + 1);
    taken.add(shown);
    used.add(shown);
    return shown;
  });
}
