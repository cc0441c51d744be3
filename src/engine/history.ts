import { ContextError } from '../errors.ts';
import { createId } from '../fragment/id.ts';
import { holds, type Mark } from '../graph/graph.ts';
import { recordOf } from '../graph/marks.ts';
import { keepSame } from '../graph/same.ts';
import type { LocalRecords } from '../store/store.ts';
import { OPERATION } from './state.ts';
import type { Handle } from './handles.ts';
import type { Writer } from './writer.ts';

/**
 * Undo and redo of what a person did with branches and checkpoints.
 *
 * An operation is some marks; its undo is other marks on the same things, with a greater revision, and the view as it was. A
 * branch that was made goes by a deletion; one that has gained messages is only switched away from. A branch to which messages
 * were added is replaced by one that ends where it ended before. An operation is overtaken by another tab's later mark on the
 * same thing. The log is kept on this device, a record for each operation.
 */
export class History {
  readonly #writer: Writer;
  entries: readonly Entry[];
  /** The last result of `list()`, and what it was made from. */
  #listed: {
    readonly entries?: readonly Entry[];
    readonly revision?: number;
    readonly operations: readonly Operation[];
  } = { operations: [] };

  /** `local` is what an earlier run kept. */
  constructor(writer: Writer, local: LocalRecords | undefined) {
    this.#writer = writer;
    this.entries = Object.entries(local ?? {})
      .filter(([name]) => name.startsWith(OPERATION))
      .flatMap(([, entry]) => (isEntry(entry) ? entry : []))
      .toSorted((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
  }

  toLocal(): LocalRecords {
    return Object.fromEntries(this.entries.map((entry) => [OPERATION + entry.id, entry]));
  }

  /** Enters an operation; gives the local records that keep it. What was undone can't be redone any more. */
  add(operation: NewOperation): LocalRecords {
    const { kind, label, shown, isSwitch, undo, marks = [] } = operation;
    const { replica } = this.#writer;
    const entry: Entry = {
      id: createId(),
      at: replica.now(),
      by: replica.by,
      kind,
      label,
      shown,
      undo: undo.map((one) => ({ ...one, wrote: versionOf(marks.find(({ id }) => id === one.id)) })),
      state: 'done',
      isSwitch,
    };
    const gone = this.entries.filter(({ state }) => state === 'undone');
    const kept = this.entries.filter(({ state }) => state !== 'undone').map((one) => takenOver(one, gone));
    const old = kept.slice(0, Math.max(0, kept.length + 1 - LIMIT));
    const changed = kept.filter((one) => !this.entries.includes(one));
    this.entries = [...kept.slice(old.length), entry];
    const removed = [...gone, ...old].map(({ id }) => [OPERATION + id, undefined]);
    const put = [...changed, entry].map((one) => [OPERATION + one.id, one]);
    return { ...Object.fromEntries(put), ...Object.fromEntries(removed) };
  }

  /** The log, oldest first; equal entries stay the same objects. */
  list(): readonly Operation[] {
    const { revision } = this.#writer.replica;
    const { entries, revision: before, operations } = this.#listed;
    if (entries === this.entries && before === revision) return operations;
    const next = this.entries.map((entry): Operation => {
      const { id, at, by, kind, label, shown } = entry;
      const state = entry.state === 'undone' ? 'undone' : this.#isOvertaken(entry) ? 'overtaken' : 'undoable';
      return { id, at, by, kind, label, shown, state };
    });
    this.#listed = { entries: this.entries, revision, operations: keepSame(operations, next) };
    return this.#listed.operations;
  }

  undo(): Promise<Operation | undefined> {
    return this.#apply(() => this.entries.findLast(({ state }) => state !== 'undone'), 'undone');
  }

  redo(): Promise<Operation | undefined> {
    return this.#apply(() => this.entries.find(({ state }) => state === 'undone'), 'done');
  }

  async #apply(find: () => Entry | undefined, state: Entry['state']): Promise<Operation | undefined> {
    const { replica, view } = this.#writer;
    const done = await this.#writer.inTurn(async () => {
      await this.#writer.others.pull();
      const entry = find();
      if (!entry) return undefined;
      if (this.#isOvertaken(entry)) {
        const { kind, label } = entry;
        const message = `"${label}" (${kind}) can't be taken back: another tab has changed it since.`;
        throw new ContextError('overtaken', message, { details: { kind, label } });
      }
      const isGrown = state === 'undone' ? this.#hasGrown(entry) : entry.isOnlyLeft === true;
      const before = entry.undo.map(({ id }) => replica.chat.marks.get(id));
      const marks = isGrown ? [] : entry.undo.map(({ id, chat, value }) => this.#markAgain(id, value, chat));
      const undo = entry.undo.map((one, i) => ({
        ...one,
        value: isGrown ? one.value : (before[i]?.value ?? { on: false }),
        wrote: isGrown ? one.wrote : versionOf(marks[i]),
      }));
      const [target, other] = entry.shown;
      // Store the present end of the branch that is left, so that redo shows it.
      const left = entry.isSwitch ? view.active.key : other;
      const isOnlyLeft = isGrown && state === 'undone';
      // A side question is shown by a switch of its own, and yet its undo leaves it.
      const isShown = isOnlyLeft && view.active.record === recordOf(entry.undo[0]?.id ?? '');
      const shown = [left, target] as const;
      const next: Entry = { ...entry, undo, state, isOnlyLeft, shown, turnedAt: replica.now() };
      this.entries = this.entries.map((one) => (one.id === entry.id ? next : one));
      const local = (): LocalRecords => ({ [OPERATION + entry.id]: next });
      const show = (): void => {
        view.sync();
        const handle = this.#branchAt(target, entry);
        if ((entry.isSwitch || isShown) && handle) view.show(handle.id);
      };
      const written = this.#writer.commit({ marks, local, show });
      await this.#writer.show();
      return { id: entry.id, saved: written.saved };
    });
    await done?.saved;
    return this.list().find(({ id }) => id === done?.id);
  }

  /** A mark with an earlier value; a deletion gets the present time. */
  #markAgain(id: string, value: unknown, chat: string): Mark {
    const { replica } = this.#writer;
    const isDeletion = typeof value === 'object' && value !== null && 'on' in value;
    return replica.mark(id, isDeletion ? { ...value, at: replica.now() } : value, chat);
  }

  /** The branch to show: the operation's if it is there and ends at the target, else another one that does. */
  #branchAt(target: string | null, { undo }: Entry): Handle | undefined {
    if (target === null) return undefined;
    const { view } = this.#writer;
    const own = new Set(undo.flatMap(({ id }) => recordOf(id) ?? []));
    const ending = view.live.filter((handle) => handle.key === target);
    return ending.find(({ record }) => own.has(record ?? '')) ?? ending[0] ?? view.lastUsedWith(target);
  }

  /** Whether another tab changed one of the operation's marks last. */
  #isOvertaken({ undo }: Entry): boolean {
    return undo.some(({ id }) => {
      const version = versionOf(this.#writer.replica.chat.marks.get(id));
      return !this.entries.some((entry) => wroteOf(entry, id) === version);
    });
  }

  /** Whether a branch that this operation made has messages of its own. */
  #hasGrown({ kind, undo }: Entry): boolean {
    if (!MAKES_WAY.has(kind)) return false;
    const { chat } = this.#writer.replica;
    return undo.some(({ id }) => {
      const [, record = '', key = ''] = id.split(' ');
      return (chat.ends.get(record)?.keys ?? []).some((end) => end !== key && holds(chat, end, key));
    });
  }
}

/** An entry of the operation log. */
export interface Operation {
  readonly id: string;
  /** ms since epoch, or later than the operation before it. */
  readonly at: number;
  /** Who did it: random for each page. */
  readonly by: string;
  readonly kind: OperationKind;
  /** What it was done to, for people: a name, or two. */
  readonly label: string;
  /** The keys of the messages last shown before and behind it; null for an empty branch. */
  readonly shown: readonly [string | null, string | null];
  readonly state: 'undoable' | 'undone' | 'overtaken';
}

/** What can be undone. */
export type OperationKind =
  | 'rewind'
  | 'restore'
  | 'btw'
  | 'add'
  | 'rename-branch'
  | 'delete-branch'
  | 'checkpoint'
  | 'rename-checkpoint'
  | 'delete-checkpoint';

interface NewOperation extends Pick<Operation, 'kind' | 'label' | 'shown'> {
  /** Whether undo and redo also show what was shown. */
  readonly isSwitch: boolean;
  readonly undo: readonly { readonly id: string; readonly chat: string; readonly value: unknown }[];
  readonly marks?: readonly Mark[];
}

/** An operation as it is kept. */
export interface Entry extends Omit<Operation, 'state'> {
  readonly undo: readonly {
    readonly id: string;
    readonly chat: string;
    readonly value: unknown;
    /** Revision and author of the mark that this log wrote last; '' for none. */
    readonly wrote: string;
  }[];
  readonly state: 'done' | 'undone';
  /** The time of the last undo or redo, like `at`. */
  readonly turnedAt?: number;
  readonly isSwitch?: boolean;
  /** It was undone by switching away only, because its branch had grown. */
  readonly isOnlyLeft?: boolean;
}

/** Whether a record of the disk is an entry. */
function isEntry(value: unknown): value is Entry {
  const { id, at, shown, undo } = Object(value) as Partial<Entry>;
  const isOne = typeof id === 'string' && typeof at === 'number' && Array.isArray(shown);
  return isOne && Array.isArray(undo) && undo.every((one) => typeof Object(one).id === 'string');
}

/** The operations that make a branch, or a branch longer. */
const MAKES_WAY: ReadonlySet<OperationKind> = new Set(['rewind', 'restore', 'btw', 'add']);

/** How many operations are kept. */
const LIMIT = 1000;

/** Revision and author of a mark; '' for none. */
export function versionOf(mark: Mark | undefined): string {
  return mark ? `${mark.rev} ${mark.by}` : '';
}

/** The version of a mark that an entry wrote; undefined for none. */
export function wroteOf({ undo }: Entry, id: string): string | undefined {
  return undo.find((one) => one.id === id)?.wrote;
}

/** An entry that takes over the marks that removed entries wrote last. */
function takenOver(entry: Entry, gone: readonly Entry[]): Entry {
  const last = (id: string): string | undefined => gone.map((one) => wroteOf(one, id)).find(Boolean);
  if (!entry.undo.some(({ id }) => last(id))) return entry;
  return { ...entry, undo: entry.undo.map((one) => ({ ...one, wrote: last(one.id) ?? one.wrote })) };
}
