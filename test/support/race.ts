import { AsyncLocalStorage } from 'node:async_hooks';
import fc from 'fast-check';
import { IDBFactory } from 'fake-indexeddb';
import { expect } from 'vitest';
import { isContextError } from '../../src/errors.ts';
import { IndexedDBContextStore } from '../../src/store/indexeddb/store.ts';
import type {
  ChatRecords,
  ConflictPolicy,
  ContextStore,
  StoreNotice,
  StoreOp,
} from '../../src/store/store.ts';
import old from '../store/fixtures/format-1.json' with { type: 'json' };
import { loadDatabase, withOnly } from './dump.ts';
import { examine } from './examine.ts';
import type { Fault, Faults } from './faults.ts';
import { insert, me, message } from './graph.ts';
import { findIn, type FoundChat, History, isAnswerLost } from './history.ts';
import { Scheduler } from './scheduler.ts';
import { sealOne } from './sealing.ts';

/**
 * Several tabs on one database, each with a list of things to do, and numbers that say whose step comes next, down to
 * the single request: writes against writes, against sealing, deleting, clearing and the upgrade of an old database,
 * while requests fail, connections are closed, somebody begins an upgrade, and tabs are killed. In the end a log of what everyone was told is held against what is there.
 *
 * What a failure printed is a story that can be told again: `races.test.ts` keeps those that were found.
 */
type Does = (typeof KINDS)[number];

const KINDS = [
  'turn',
  'turn',
  'turn',
  'turn',
  'answer',
  'draft',
  'end',
  'replace',
  'seal',
  'seal',
  'branch',
  'rename',
  'unbranch',
  'mark',
  'value',
  'delete',
  'restore',
  'clear',
  'read',
  'close',
  'fail',
  'closed',
  'newer',
  'kill',
] as const;

interface Step {
  readonly does: Does;
  readonly pick: number;
}

export interface Story {
  readonly tabs: readonly (readonly Step[])[];
  readonly picks: readonly number[];
  readonly policy: ConflictPolicy;
  /** Whether the database is one of format 1, that the first to come brings up to date. */
  readonly isOld: boolean;
}

const NAME = 'races';

/** The old database, with the chat and the values that are looked at: most of what is in it would only take time. */
const short = withOnly(old.dump, 'short');

export const stories = (tabs: number, steps: number): fc.Arbitrary<Story> =>
  fc.record({
    tabs: fc.array(
      fc.array(fc.record({ does: fc.constantFrom(...KINDS), pick: fc.nat(30) }), {
        minLength: 1,
        maxLength: steps,
      }),
      { minLength: tabs, maxLength: tabs },
    ),
    picks: fc.array(fc.nat(12), { minLength: 1, maxLength: 31 }),
    policy: fc.constantFrom<ConflictPolicy>('fork', 'fork', 'rebase', 'error'),
    isOld: fc.nat(3).map((pick) => pick === 3),
  });

/** Where the log has what is beside all chats. */
const VALUES = 'values';

const FAILING: readonly Fault[] = ['throw', 'refuse', 'abort', 'dead', 'late', 'unheard'];

/** What a race may be answered with. */
const EXPECTED: readonly string[] = [
  'head-moved',
  'chat-deleted',
  'message-not-found',
  'branch-not-found',
  'last-branch',
  'quota-exceeded',
  'store-closed',
];

/** A refusal of the store's is no answer to anything but a request that was made to throw. */
function isExpected(error: unknown): boolean {
  if (isContextError(error, 'invariant')) return String(error.cause).includes('injected');
  return isContextError(error) && EXPECTED.includes(error.code);
}

/** One tab: its store, what it knows of the chat, and whether it is there. */
class Tab {
  store: ContextStore = new IndexedDBContextStore(NAME, { patience: 60_000 });
  head: string | null = null;
  branchId = me.mainBranchId;
  epoch = 0;
  answer: string | undefined;
  /** The branch that it made last. */
  side: string | undefined;
  words = 0;
  isDead = false;
  isLooking = false;
}

/** The tab in which something is asked of the database, however many steps after it began. */
const asking = new AsyncLocalStorage<Tab>();

class Race {
  readonly history = new History();
  readonly faults: Faults;
  readonly policy: ConflictPolicy;
  readonly wrong: string[] = [];
  /** Looks at what tabs were told of. */
  readonly #looks: Promise<void>[] = [];

  constructor(faults: Faults, policy: ConflictPolicy) {
    this.faults = faults;
    this.policy = policy;
  }

  /** Ends when all is done that one tab has to do, or when it dies: a tab that lives and waits for ever never ends. */
  play(index: number, steps: readonly Step[]): Promise<void> {
    const tab = new Tab();
    return asking.run(tab, () => this.#play(tab, index, steps));
  }

  async #play(tab: Tab, index: number, steps: readonly Step[]): Promise<void> {
    tab.store.subscribe((notice) => void this.#looks.push(this.#believe(tab, notice)));
    for (const step of steps) {
      if (tab.isDead) return;
      await this.#take(tab, index, step).catch((error: unknown) => {
        if (!isExpected(error)) this.wrong.push(`${step.does}: ${String(error)}`);
      });
    }
    await Promise.all(this.#looks);
    await tab.store.close();
  }

  /** What another tab tells of is there by then, for whoever looks; one look at a time, as a page does. */
  async #believe(tab: Tab, { kind, seq: told, remote }: StoreNotice): Promise<void> {
    if (kind !== 'change' || !remote || tab.isDead || tab.isLooking) return;
    tab.isLooking = true;
    const { seq } = await tab.store.load('c').catch(() => ({ seq: told }));
    tab.isLooking = false;
    if (seq < told) this.wrong.push(`told of change ${told} when there were ${seq}`);
  }

  async #take(tab: Tab, index: number, { does, pick }: Step): Promise<unknown> {
    tab.words += 1;
    const name = `${index}.${tab.words}`;
    switch (does) {
      case 'turn':
        return this.#say(tab, index, { [`q${name}`]: `asked ${name}`, [`a${name}`]: `said ${name}` });
      case 'answer':
        await this.#say(tab, index, { [`a${name}`]: '' }, 'streaming');
        tab.answer = `a${name}`;
        return undefined;
      case 'draft': {
        const id = tab.answer;
        if (id === undefined) return undefined;
        const words = { [id]: `draft ${name}` };
        return this.#log({ does: 'write', chatId: 'c', words, kind: 'draft' }, index, () =>
          tab.store.saveDraft('c', id, message(id, `draft ${name}`)),
        );
      }
      case 'end': {
        const id = tab.answer;
        if (id === undefined) return undefined;
        tab.answer = undefined;
        const data = message(id, `end ${name}`);
        return this.#log(
          { does: 'write', chatId: 'c', words: { [id]: `end ${name}` }, kind: 'end' },
          index,
          () => this.#append(tab, [{ op: 'replace', id, data, status: 'complete' }]),
        );
      }
      case 'replace': {
        const id = tab.head;
        if (id === null || id === tab.answer) return undefined;
        const words = `other ${name}`;
        return this.#log({ does: 'write', chatId: 'c', words: { [id]: words }, kind: 'end' }, index, () =>
          this.#append(tab, [{ op: 'replace', id, data: message(id, words), status: 'complete' }]),
        );
      }
      case 'seal':
        return sealOne(NAME, 'c');
      case 'branch': {
        const id = `b${name}`;
        await this.#note(tab, index, `branch ${id}`, name, [{ op: 'branch', id, name, messageId: tab.head }]);
        tab.side = id;
        return undefined;
      }
      case 'rename': {
        const id = tab.side;
        if (id === undefined) return undefined;
        return this.#note(tab, index, `branch ${id}`, name, [{ op: 'rename-branch', id, name }]);
      }
      case 'unbranch': {
        const id = tab.side;
        if (id === undefined) return undefined;
        tab.side = undefined;
        return this.#note(tab, index, `branch ${id}`, '', [{ op: 'delete-branch', id }]);
      }
      case 'mark': {
        const { head } = tab;
        if (head === null) return undefined;
        const mark: StoreOp = { op: 'checkpoint', id: `k${name}`, name: 'mark', messageId: head };
        return this.#note(tab, index, 'mark', head, [mark]);
      }
      case 'value':
        return this.#log({ does: 'write', chatId: VALUES, words: { value: name }, kind: 'end' }, index, () =>
          tab.store.set('value', name),
        );
      case 'delete':
        return this.#log({ does: 'forget', chatId: 'c' }, index, () =>
          tab.store.deleteChat('c', pick % 2 === 0 ? { keepFor: 1e9 } : {}),
        );
      case 'restore':
        return this.#log({ does: 'restore', chatId: 'c' }, index, () => tab.store.restoreChat('c'));
      case 'clear':
        return pick % 3 === 0 && this.#log({ does: 'forget' }, index, () => tab.store.clear());
      case 'read':
        return this.#look(tab);
      case 'close':
        return tab.store.close();
      case 'fail':
        return this.faults.order(FAILING[pick % FAILING.length] ?? 'throw', 1 + (pick % 5));
      case 'closed':
      case 'newer':
        return this.faults.order(does, 1 + (pick % 5));
      case 'kill':
        if (pick % 2 === 0) return this.#die(tab, index);
        return undefined;
    }
  }

  /** A turn behind the head as this tab knows it, which it then is, wherever it went. */
  async #say(
    tab: Tab,
    index: number,
    words: Readonly<Record<string, string>>,
    status: 'complete' | 'streaming' = 'complete',
  ): Promise<void> {
    const ids = Object.keys(words);
    const last = ids.at(-1) ?? '';
    const ops: StoreOp[] = [
      ...ids.map((id, i) => insert(id, ids[i - 1] ?? tab.head, words[id], status)),
      { op: 'head', branchId: tab.branchId, expected: tab.head, messageId: last, forkId: `fork-${last}` },
    ];
    const work = (): Promise<void> => this.#append(tab, ops);
    await this.#log({ does: 'write', chatId: 'c', words }, index, work);
    tab.head = last;
  }

  /** Writes what is no message, and for the log is one all the same: what it says in the end was said last. */
  #note(tab: Tab, index: number, id: string, words: string, ops: readonly StoreOp[]): Promise<void> {
    const deed = { does: 'write', chatId: 'c', words: { [id]: words }, kind: 'end' } as const;
    return this.#log(deed, index, () => this.#append(tab, ops));
  }

  async #append(tab: Tab, ops: readonly StoreOp[]): Promise<void> {
    const mainBranchId = me.mainBranchId;
    const options = { userId: 'me', epoch: tab.epoch, mainBranchId, onConflict: this.policy };
    const { conflict } = await tab.store.append('c', ops, options);
    tab.branchId = conflict?.to.id ?? tab.branchId;
  }

  /** Learns what others did, and that what is shown is what is there. */
  async #look(tab: Tab): Promise<void> {
    const { chat, branches, nodes } = await tab.store.load('c');
    tab.epoch = chat === undefined || chat.deletedAt === undefined ? (chat?.epoch ?? 0) : chat.epoch + 1;
    const branch = branches.find(
      ({ id, deletedAt }) => id === chat?.activeBranchId && deletedAt === undefined,
    );
    tab.branchId = branch?.id ?? me.mainBranchId;
    tab.head = branch?.headMessageId ?? null;
    const ids = new Set(nodes.map(({ id }) => id));
    if (tab.head !== null && !ids.has(tab.head)) this.wrong.push(`the head ${tab.head} is not there`);
  }

  /** Dies in the midst of a write: the only one that is never answered. */
  async #die(tab: Tab, index: number): Promise<void> {
    tab.isDead = true;
    this.faults.order('killed', 1 + (index % 4), false, () => asking.getStore() === tab);
    const name = `q${index}.killed`;
    void this.#say(tab, index, { [name]: `asked ${name}` }).catch(() => undefined);
    for (let turns = 0; turns < 12; turns += 1) await new Promise((resolve) => setImmediate(resolve));
    void tab.store.close();
  }

  /** A lost answer that comes back as an error says nothing about what happened. */
  #log<T>(...[deed, tab, work]: [Parameters<History['ask']>[0], number, () => Promise<T>]): Promise<T> {
    return this.history.log(deed, tab, work, (error) => (isAnswerLost(error) ? 'unknown' : 'refused'));
  }
}

/** Plays a story and looks at what is left; throws where something is lost, wrong or unsaid. */
export async function playRace({ tabs, picks, policy, isOld }: Story, faults: Faults): Promise<void> {
  globalThis.indexedDB = new IDBFactory();
  if (isOld) await loadDatabase(NAME, short);
  const race = new Race(faults, policy);
  const scheduler = new Scheduler(picks);
  scheduler.install();
  const isDone = await scheduler.during(Promise.all(tabs.map((steps, index) => race.play(index, steps))));
  faults.cease();
  scheduler.remove();
  expect([isDone ? 'all tabs came to their end' : 'a tab hangs', ...race.wrong]).toEqual([
    'all tabs came to their end',
  ]);
  await check(race, isOld);
}

async function check(race: Race, isOld: boolean): Promise<void> {
  const store = new IndexedDBContextStore(NAME);
  const [chats, { chat, ...records }, value, others] = await Promise.all([
    findIn(store, ['c']),
    store.load('c'),
    store.get<string>('value'),
    isOld ? store.load('short') : undefined,
  ]);
  const notes = [withNotes(chats[0], 'c', notesIn(records)), withNotes(undefined, VALUES, valueNotes(value))];
  expect(race.history.check(notes)).toEqual([]);
  const isThere = chat !== undefined && chat.deletedAt === undefined;
  const findings = isThere ? examine({ chat, ...records }, { now: 1, createId: () => 'new' }).findings : [];
  expect(findings).toEqual([]);
  if (others) checkUntouched(race, others.nodes.length);
  await store.close();
}

/** The chat that nobody writes to is there, unless everything was cleared. */
function checkUntouched({ history }: Race, found: number): void {
  const clears = history.entries.filter(({ deed }) => deed.does === 'forget' && deed.chatId === undefined);
  const isUntouched = clears.every(({ outcome }) => outcome === 'refused');
  const isCleared = clears.some(({ outcome }) => outcome === 'kept');
  const before = old.expected.short.records.nodes.length;
  expect(isUntouched ? [before] : isCleared ? [0] : [0, before]).toContain(found);
}

/** Branches and checkpoints as the log has them: a deleted branch has no name. */
function notesIn({
  branches,
  checkpoints,
}: Pick<ChatRecords, 'branches' | 'checkpoints'>): FoundChat['messages'] {
  const made = branches.filter(({ id }) => /^b\d/.test(id));
  return [
    ...made.map(({ id, name, deletedAt }) => noteOf(`branch ${id}`, deletedAt === undefined ? name : '')),
    ...checkpoints.map(({ name, messageId }) => noteOf(name, messageId)),
  ];
}

const valueNotes = (value: string | undefined): FoundChat['messages'] =>
  value === undefined ? [] : [noteOf('value', value)];

const noteOf = (id: string, words: string): FoundChat['messages'][number] => ({ id, parentId: null, words });

function withNotes(chat: FoundChat | undefined, chatId: string, notes: FoundChat['messages']): FoundChat {
  return {
    chatId,
    messages: [...(chat?.messages ?? []), ...notes],
    chains: [...(chat?.chains ?? []), ...notes.map(({ id }) => [id])],
  };
}
