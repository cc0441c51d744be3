import { forceCloseDatabase, IDBFactory } from 'fake-indexeddb';
import { afterAll, afterEach, beforeAll, expect, vi } from 'vitest';
import { isContextError } from '../../src/errors.ts';
import { Sealer } from '../../src/store/indexeddb/seal.ts';
import { IndexedDBContextStore } from '../../src/store/indexeddb/store.ts';
import type { AppendResult, ContextStore, StoreOp } from '../../src/store/store.ts';
import { BLOCK } from '../../src/store/layout.ts';
import { type DatabaseDump, dumpDatabase, dumpOf, loadDatabase, openDatabase, withOnly } from './dump.ts';
import { type Fault, Faults } from './faults.ts';
import { givenChat, head, insert, line, me, message, turn } from './graph.ts';
import { findIn, History, logged } from './history.ts';
import { sealAll, sealOne } from './sealing.ts';
import { isShared, quickenDisk } from './quickDisk.ts';

/**
 * Every write that there is, failing at every request in every way: once, or from there on. What the database holds then
 * is what it held before, or what it holds after: nothing between. Who was told that it is saved finds it saved, who was
 * told that it is not gets an error of ours, and nobody waits for ever. Whoever opens the database next reads all of
 * it, also if that fails once more on the way; and the same write, made again, has the same result as if nothing had
 * been. What everyone was told is also held against what is there by {@link History}, which knows nothing of before and
 * after.
 *
 * Every failure, also one that went on until the disk was well again, is followed by a look at every record, and by
 * reading, writing again, and failing again on the way: after the first of each kind at every request, in another way for
 * each kind, and after the others at one, so that each is struck. With `CONTEXTREE_FUZZ=2` it is every request after every
 * failure, in every way.
 */
const ALL_PAIRS = Number(process.env['CONTEXTREE_FUZZ'] ?? 1) > 1;

const NAME = 'sweep';
/** The chats that are written to. */
const CHATS = ['c', 'files', 'buried', 'leaving', 'new'];
/** When all of it happens; the tests stand still at this moment, ms since epoch. */
const NOW = 1_000_000_000_000;
const DAY = 86_400_000;

interface Write {
  readonly does: (store: ContextStore) => Promise<unknown>;
  /** Makes the database that it is done to, from the one of all. */
  readonly given?: (store: ContextStore) => Promise<unknown>;
  /** Made twice, it is not the same as made once: usage is counted, and what is gone can't be brought back. */
  readonly isOnce?: boolean;
  /** Nobody asked for it, so nobody is told: the database does it by itself. */
  readonly isUnasked?: boolean;
  /** It may be done twice when the answer got lost: nobody can tell but by a number. */
  readonly mayBeTwice?: boolean;
  /** It first says again what was there before. */
  readonly beginsAgain?: boolean;
}

const append =
  (ops: readonly StoreOp[], options: object = {}, chatId = 'c'): Write['does'] =>
  (store) =>
    store.append(chatId, ops, { ...me, ...options });
const picture = (id: string, fill = 'A') => ({
  ...message(id),
  parts: [
    { type: 'file' as const, mediaType: 'image/png', url: `data:image/png;base64,${fill.repeat(6000)}` },
  ],
});
const showing = (id: string, fill?: string): StoreOp => ({
  op: 'insert',
  id,
  parentId: null,
  data: picture(id, fill),
  status: 'complete',
});

export const WRITES: Readonly<Record<string, Write>> = {
  'a turn': { does: append([insert('q', 's1'), insert('a', 'q'), head('s1', 'a')]) },
  'a turn that streams': {
    does: append([insert('q', 's1'), insert('a', 'q', '', 'streaming'), head('s1', 'a')]),
  },
  'a turn on a moved head, forked': { does: append(turn('q', 'm3')) },
  'a turn on a moved head, rebased': { does: append(turn('q', 'm3'), { onConflict: 'rebase' }) },
  'the first turn of a chat': { does: append(turn('q', null), {}, 'new') },
  'the first turn after deleting': { does: append(turn('next', null), { epoch: 1 }, 'buried') },
  'an import': {
    does: append([
      ...Array.from({ length: 14 }, (_, i) => insert(`i${i}`, i === 0 ? 's1' : `i${i - 1}`)),
      head('s1', 'i13'),
    ]),
  },
  'a message made of others': {
    does: append([{ ...insert('sum', 's1'), sources: ['m1', 'm9'] } as StoreOp, head('s1', 'sum')]),
  },
  'a turn with a file': {
    does: append([showing('p'), { op: 'branch', id: 'b-p', base: 'main', messageId: 'p' }]),
  },
  'other words, sealed': { does: append([{ op: 'replace', id: 'm1', data: message('m1', 'other') }]) },
  'other words, of a revision': {
    does: append([{ op: 'replace', id: 'm11', data: message('m11', 'other'), rev: 1 }]),
  },
  'the end of an answer': { does: append([{ op: 'replace', id: 's1', status: 'complete' }]) },
  'an answer taken back': { does: append([{ op: 'drop', id: 'empty' }]) },
  'a branch': { does: append([{ op: 'branch', id: 'b2', base: 'main', messageId: 'm3' }]) },
  'a name for a branch': { does: append([{ op: 'rename-branch', id: 'b-x1', name: 'aside' }]) },
  'a branch deleted': { does: append([{ op: 'delete-branch', id: 'b-x1' }]) },
  'a branch brought back': { does: append([{ op: 'restore-branch', id: 'b-gone' }]) },
  'a branch used': { does: append([{ op: 'use', branchId: 'b-x1' }]), isOnce: true },
  'a checkpoint': { does: append([{ op: 'checkpoint', id: 'k2', name: 'k2', messageId: 'm2' }]) },
  'a checkpoint moved': { does: append([{ op: 'checkpoint', id: 'k3', name: 'k', messageId: 'm2' }]) },
  'a checkpoint renamed and another deleted': {
    does: append([
      { op: 'rename-checkpoint', id: 'k', name: 'else' },
      { op: 'delete-checkpoint', id: 'j' },
    ]),
  },
  'a title and metadata': { does: append([{ op: 'chat', title: 'T', metadata: { mood: 1 } }]), isOnce: true },
  usage: { does: append([{ op: 'chat', usage: { tokens: 3 } }]), isOnce: true },
  'a field of a value': { does: append([{ op: 'merge', key: 'mine', value: { a: 1 } }]) },
  'a value in a turn': { does: append([{ op: 'set', key: 'mine', value: { a: 1 } }, ...turn('q', 's1')]) },
  'a chat mended': {
    does: async (store) => {
      const { seq, nodes } = await store.load('c');
      const rest = { chat: undefined, dropped: [], branches: [], checkpoints: [] };
      const mended = nodes.flatMap((node) => {
        if (node.id === 'x1') return [{ ...node, parentId: 'm2', depth: 4 }];
        return node.id === 'm1' ? [node] : [];
      });
      return append([{ op: 'mend', seq, nodes: mended, ...rest }])(store);
    },
    isOnce: true,
  },
  'the words of an answer': { does: (store) => store.saveDraft('c', 's1', message('s1', 'so far')) },
  'more words of an answer': {
    given: (store) => store.saveDraft('c', 's1', message('s1', 'so')),
    does: (store) => store.saveDraft('c', 's1', message('s1', 'so far')),
  },
  'words of an answer that last': {
    given: (store) => store.saveDraft('c', 's1', message('s1', 'so')),
    does: (store) => store.saveDraft('c', 's1', message('s1', 'so far'), { isDurable: true }),
  },
  'other words of an answer': {
    given: (store) => store.saveDraft('c', 's1', message('s1', 'then')),
    does: (store) => store.saveDraft('c', 's1', message('s1', 'so far')),
  },
  'an answer with a file': {
    does: (store) => store.saveDraft('c', 's1', { ...picture('s1', 'B'), role: 'assistant' }),
  },
  'the words of a page that goes': {
    does: (store) => store.saveDraft('c', 's1', message('s1', 'so far'), { isLeaving: true }),
  },
  'a chat deleted': { does: (store) => store.deleteChat('c'), isOnce: true },
  'a chat with files deleted': { does: (store) => store.deleteChat('files'), isOnce: true },
  'a chat deleted for a while': { does: (store) => store.deleteChat('c', { keepFor: DAY }), isOnce: true },
  'a deleted chat buried': { does: (store) => store.deleteChat('leaving'), isOnce: true },
  'a chat brought back': { does: (store) => store.restoreChat('leaving'), isOnce: true },
  'a value': { does: (store) => store.set('theme', 'dark') },
  'a value deleted': { does: (store) => store.delete('theme') },
  bytes: { does: (store) => store.putBlob(new Uint8Array([1, 2, 3])) },
  everything: { does: (store) => store.clear(), isOnce: true, mayBeTwice: true },
  'a deleted chat buried when its time is over': { does: later(2 * DAY), isUnasked: true },
  'bytes let go when nobody has wanted them for a day': {
    given: async (store) => {
      await store.deleteChat('leaving');
      await store.putBlob(new Uint8Array([4, 5, 6]));
    },
    does: later(2 * DAY),
    isUnasked: true,
  },
  'a note that an answer grows, where there are no locks': {
    does: (store) => withoutLocks(() => store.hold('c', 's1')),
    isUnasked: true,
  },
  'a note that an answer still grows, some seconds on': {
    given: (store) => withoutLocks(() => store.hold('c', 's1')),
    does: (store) => withoutLocks(() => renewed(store)),
    isUnasked: true,
    beginsAgain: true,
  },
  'a note that an answer grows, taken back': {
    given: (store) => withoutLocks(() => store.hold('c', 's1')),
    does: (store) => withoutLocks(async () => settling(await store.hold('c', 's1'))),
    isUnasked: true,
    beginsAgain: true,
  },
  'a block sealed': {
    given: () => Promise.all([]),
    does: () => sealOne(NAME).then(() => undefined),
    isOnce: true,
  },
};

/** Does some work where there are no locks, and what notes are named by is always the same; killed, it is done so once more. */
async function withoutLocks(work: () => Promise<unknown>): Promise<void> {
  const ids = vi.spyOn(crypto, 'randomUUID').mockReturnValue('0-0-0-0-0');
  Object.defineProperty(navigator, 'locks', { configurable: true, value: undefined });
  try {
    await work();
  } finally {
    Reflect.deleteProperty(navigator, 'locks');
    ids.mockRestore();
  }
}

/** A tab says that it writes an answer, and says so again when a third of the time is over for which that counts. */
async function renewed(store: ContextStore): Promise<void> {
  vi.clearAllTimers();
  await store.hold('c', 's1');
  try {
    await settling(() => vi.advanceTimersByTime(4000));
  } finally {
    vi.setSystemTime(NOW);
    vi.clearAllTimers();
  }
}

/** Does what nobody waits for, and lets it come to its end. */
async function settling(work: () => unknown): Promise<void> {
  work();
  for (let turns = 0; turns < 60; turns += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Somebody lists the chats so many milliseconds later; what that sets off comes to its end. */
function later(ms: number): Write['does'] {
  return async (store) => {
    vi.setSystemTime(NOW + ms);
    try {
      await store.listChats();
      await settling(() => undefined);
    } finally {
      vi.setSystemTime(NOW);
    }
  };
}

const FAULTS: readonly Fault[] = [
  'throw',
  'refuse',
  'abort',
  'dead',
  'late',
  'unheard',
  'killed',
  'silent',
  'closed',
  'newer',
];

/** Those after which the same call opens another connection, and succeeds. */
const CURED: readonly Fault[] = ['dead', 'closed', 'newer'];

/** Those that happen once: nobody is there to be struck again, or nothing failed. */
const SINGLE: readonly Fault[] = ['killed', 'silent', 'newer'];

/** Those that differ most: by a call, at the end, and without a word. */
const UNLIKE: readonly Fault[] = ['throw', 'late', 'killed', 'silent', 'closed'];

/** A full disk. */
const FULL: readonly Fault[] = ['refuse', 'late', 'upgrade'];

/** What the caller can't know, because nobody told: it was done, or not. */
const UNTOLD: readonly Fault[] = ['unheard', 'killed', 'silent'];

/** The sweep of a suite of tests: begun before the first of them, while nobody seals by himself, and taken away at the end. */
export function sweepForSuite(): { readonly faults: Faults; readonly sweep: Sweep } {
  const faults = new Faults(forceCloseDatabase as unknown as (db: IDBDatabase) => void);
  const sweep = new Sweep(faults);
  let slowAgain: (() => void) | undefined;
  beforeAll(async () => {
    slowAgain = quickenDisk();
    vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'], now: NOW });
    vi.spyOn(Sealer.prototype, 'note').mockReturnValue();
    await sweep.begin();
  }, 60_000);
  afterEach(async () => {
    faults.cease();
    await sweep.closeAll();
  });
  afterAll(async () => {
    await sweep.end();
    faults.remove();
    slowAgain?.();
    vi.restoreAllMocks();
    vi.useRealTimers();
  });
  return { faults, sweep };
}

interface Trial {
  /** Holds what was told against what is there, by another measure. */
  readonly judge?: (history: History, where: string) => Promise<void>;
  /** Whether a failure costs so much that not each is tried in each way. */
  readonly isLong?: boolean;
}

const STRIDE = 40;

/** The sweep: a database that all writes are done to, and every fault for each of them. */
export class Sweep {
  readonly #faults: Faults;
  readonly #opened: ContextStore[] = [];
  /** What was asked of the database that all writes are done to, and answered. */
  readonly #history = new History();
  /** What other tabs would have heard. */
  readonly #heard: unknown[] = [];
  readonly #channels = globalThis.BroadcastChannel;
  #base: DatabaseDump | undefined;
  /** Failures that came to it since somebody asked. */
  #struck = 0;

  constructor(faults: Faults) {
    this.#faults = faults;
  }

  /** How many failures it came to since this was last asked. */
  count(): number {
    const struck = this.#struck;
    this.#struck = 0;
    return struck;
  }

  /** Builds the database that all writes are done to. */
  async begin(): Promise<void> {
    globalThis.indexedDB = new IDBFactory();
    Object.assign(globalThis, { BroadcastChannel: channelsInto(this.#heard) });
    this.#base = await this.#build();
  }

  async end(): Promise<void> {
    await this.closeAll();
    Object.assign(globalThis, { BroadcastChannel: this.#channels });
  }

  open(patience = 5000): ContextStore {
    const store = new IndexedDBContextStore(NAME, { patience });
    this.#opened.push(store);
    return store;
  }

  /** Lets everything work again; whether it came to the failure that was ordered. */
  #cease(): boolean {
    const { struck } = this.#faults;
    this.#faults.cease();
    if (struck) this.#struck += 1;
    return struck;
  }

  closeAll(): Promise<unknown> {
    return Promise.all(this.#opened.splice(0).map((store) => store.close()));
  }

  async #build(): Promise<DatabaseDump> {
    const store = logged(this.open(), this.#history, 'before');
    await givenChat(store, 'c', line(8));
    await sealAll(NAME);
    const more = line(4, 8).split(' > ');
    for (const [i, id] of more.entries()) await append(turn(id, `m${7 + i}`))(store);
    await append([
      insert('x1', 'm3'),
      { op: 'branch', id: 'b-x1', base: 'main', messageId: 'x1' },
      insert('s1', 'm11', '', 'streaming'),
      head('m11', 's1'),
      insert('empty', 'm2', '', 'streaming'),
      { op: 'branch', id: 'b-gone', base: 'main', messageId: 'm2' },
      { op: 'branch', id: 'b-empty', base: 'main', messageId: 'empty' },
      { op: 'checkpoint', id: 'k', name: 'k', messageId: 'm1' },
      { op: 'checkpoint', id: 'j', name: 'j', messageId: 'm9' },
    ])(store);
    await append([{ op: 'delete-branch', id: 'b-gone' }])(store);
    await append([showing('p'), head(null, 'p')], {}, 'files')(store);
    await givenChat(store, 'buried', 'q > a');
    await store.deleteChat('buried');
    await givenChat(store, 'leaving', 'q > a');
    await store.deleteChat('leaving', { keepFor: DAY });
    await store.set('theme', 'light');
    await this.closeAll();
    return dumpDatabase(NAME);
  }

  /** A database as it was, under the same name. */
  async lay(dump: DatabaseDump): Promise<void> {
    await this.closeAll();
    globalThis.indexedDB = new IDBFactory();
    await loadDatabase(NAME, dump);
  }

  async #prepared(base: DatabaseDump, given: Write['given'], history: History): Promise<DatabaseDump> {
    await this.lay(base);
    if (!given) return base;
    await given(logged(this.open(), history, 'before'));
    return dumpDatabase(NAME);
  }

  /** Holds what was told against what is there. */
  async #judge(history: History, where: string): Promise<void> {
    const store = new IndexedDBContextStore(NAME);
    const problems = history.check(await findIn(store, CHATS));
    await store.close();
    agree([where, problems], [where, []]);
  }

  /** Lets a write fail in all these ways, at each of its requests; throws where it is not whole or not told rightly. */
  async try(name: string, kinds: readonly Fault[] = FAULTS): Promise<void> {
    const base = this.#base ?? expect.unreachable('nothing was begun');
    const judge = (history: History, where: string): Promise<void> => this.#judge(history, where);
    await this.#try(name, WRITES[name] as Write, base, kinds, { judge });
  }

  /** The first writes to a chat that an earlier format has left: behind its end, into it, and the sealing of a block. */
  async tryOld(dump: DatabaseDump, chatId: string): Promise<void> {
    const own = withOnly(dump, chatId);
    await this.lay(own);
    const { chat, branches, nodes } = await this.open().load(chatId);
    const { id: mainBranchId, headMessageId: last } =
      branches.find(({ id }) => id === chat?.activeBranchId) ?? expect.unreachable('no branch');
    const options = { userId: chat?.userId ?? '', mainBranchId };
    const id = nodes[1]?.id ?? '';
    // A database of format 1 has no blocks.
    const due = own.stores.some((table) => table.name === 'packs' && table.rows.length > 0) ? 0 : 1;
    const writes: Readonly<Record<string, Write>> = {
      'the first turn': {
        does: append([insert('q', last), head(last, 'q', mainBranchId)], options, chatId),
      },
      'the first other words': {
        does: async (store) => {
          const [before] = await store.getNodes(chatId, [id]);
          const data = {
            ...(before ?? expect.unreachable('no message')).data,
            parts: message(id, 'other').parts,
          };
          return append([{ op: 'replace', id, data }], options, chatId)(store);
        },
      },
      'the first block sealed': {
        does: () => sealOne(NAME, chatId).then(() => undefined),
        isOnce: true,
        mayBeTwice: true,
      },
    };
    const more = Array.from({ length: BLOCK }, (_, i) => insert(`more${i}`, i === 0 ? last : `more${i - 1}`));
    for (const [name, write] of Object.entries(writes)) {
      // Brought up to date, which has a test of its own, and long enough for the next block.
      const given = (store: ContextStore): Promise<unknown> =>
        name.endsWith('sealed') && due === 0 ? append(more, options, chatId)(store) : store.load(chatId);
      await this.#try(name, { ...write, given }, own, ALL_PAIRS ? FAULTS : UNLIKE, { isLong: true });
    }
  }

  async #try(
    name: string,
    write: Write,
    base: DatabaseDump,
    kinds: readonly Fault[],
    { judge = () => Promise.resolve(), isLong = false }: Trial = {},
  ): Promise<void> {
    const said = new History(this.#history);
    const start = await this.#prepared(base, write.given, said);
    const [faults, open, lay] = [this.#faults, () => this.open(), (dump: DatabaseDump) => this.lay(dump)];
    const before = textOfAll(start);
    await lay(start);
    const once = new History(said);
    const result = resultOf(await write.does(logged(open(), once, 'now')));
    await judge(once, name);
    const after = textOfAll(await dumpDatabase(NAME));
    agree([name, after === before], [name, false]);
    await write.does(open());
    const twice = write.mayBeTwice ? [textOfAll(await dumpDatabase(NAME))] : [];

    // A write of a hundred requests fails at each of them in one way, and here and there in the others.
    const isClose = (fault: Fault): boolean => ALL_PAIRS || !isLong || fault === 'throw';
    const strike = async (fault: Fault, at: number, forEver: boolean): Promise<boolean> => {
      const where = `${fault} at ${at}${forEver ? ' and ever after' : ''}`;
      await lay(start);
      const store = open();
      await store.getChat('c');
      this.#heard.length = 0;
      const history = new History(said);
      faults.order(fault, at, forEver);
      const told = await outcomeOf(write.does(logged(store, history, 'now')), faults, fault);
      const struck = this.#cease();
      const now = textOfAll(await dumpDatabase(NAME));
      expect([where, told.error]).toEqual([where, undefined]);
      const isUntold = UNTOLD.includes(fault) || write.isUnasked === true;
      const expected =
        told.is === 'kept' && !write.isUnasked ? [after] : isUntold ? [before, after] : [before];
      expect([where, told.is, [...expected, ...twice].includes(now)]).toEqual([where, told.is, true]);
      expect([where, told.is === 'kept' ? resultOf(told.result) : result]).toEqual([where, result]);
      if (FULL.includes(fault) && told.code !== undefined)
        expect(`${where}: ${told.code}`).toBe(`${where}: quota-exceeded`);
      const isCured = forEver || !CURED.includes(fault) || told.is === 'kept';
      expect(`${where}: ${isCured || told.is}`).toBe(`${where}: true`);
      const rumours = now === before ? this.#heard.length : 0;
      expect(`${where}: ${rumours} rumours`).toBe(`${where}: 0 rumours`);
      if (!struck) return false;
      await judge(history, where);
      await recover(told.is === 'silent' ? open() : store, now, [fault, at], where);
      return true;
    };

    /** Whoever comes next reads it, with another fault on the way, and writes it. */
    const recover = async (
      store: ContextStore,
      now: string,
      [fault, at]: readonly [Fault, number],
      where: string,
    ): Promise<void> => {
      for (const next of at % 2 === 0 ? (['torn', 'shut'] as const) : (['torn'] as const)) {
        const reader = next === 'shut' ? open() : store;
        faults.order(next, 1);
        const read = await outcomeOf(reader.getMessages('c'), faults, next);
        faults.cease();
        expect([where, next, read.error, read.is === 'silent']).toEqual([where, next, undefined, false]);
      }
      if (now !== before && write.isOnce === true) return;
      const pairs = ALL_PAIRS ? kinds : [kinds[(kinds.indexOf(fault) + at) % kinds.length] ?? fault];
      const there = pairs.length > 1 ? await dumpDatabase(NAME) : undefined;
      for (const [i, next] of pairs.entries()) {
        // Each begins where the failure left off, and not where the one before it came to.
        if (there && i > 0) await lay(there);
        if (ALL_PAIRS || (at === 1 && isClose(fault)))
          for (let k = 1; await again(next, k, now, where); k += 1);
        else await again(next, at, now, where);
      }
      const then = textOfAll(await dumpDatabase(NAME));
      if (then !== before && write.isOnce === true) return;
      const repeated = await write.does(open());
      expect([where, textOfAll(await dumpDatabase(NAME)) === after]).toEqual([where, true]);
      expect([where, then === before ? resultOf(repeated) : result]).toEqual([where, result]);
      await store.set('next', 1);
    };

    /** The repetition fails, too; whether it did, and left what it found. */
    const again = async (fault: Fault, at: number, now: string, where: string): Promise<boolean> => {
      const store = open();
      faults.order(fault, at);
      const told = await outcomeOf(write.does(store), faults, fault);
      const struck = this.#cease();
      const then = textOfAll(await dumpDatabase(NAME));
      const begun = write.beginsAgain ? [before] : [];
      expect([where, fault, at, told.error, [now, after, ...twice, ...begun].includes(then)]).toEqual([
        where,
        fault,
        at,
        undefined,
        true,
      ]);
      return struck && then === now;
    };

    for (const fault of kinds)
      for (const forEver of SINGLE.includes(fault) ? [false] : [false, true]) {
        let at = 1;
        while (await strike(fault, at, forEver)) at += isClose(fault) && !(isLong && forEver) ? 1 : STRIDE;
        agree(`${fault} came to ${at > 1 ? 'it' : 'nothing'}`, `${fault} came to it`);
      }
  }

  /**
   * Lets a write meet a database that another tab keeps busy, and does not let go of: whoever asked is told so in time, and
   * nothing is written; when the other one is gone, the same call does it.
   */
  async tryBlocked(name: string): Promise<void> {
    const { does, given, isUnasked } = WRITES[name] as Write;
    const base = this.#base ?? expect.unreachable('nothing was begun');
    const start = await this.#prepared(base, given, new History());
    await this.lay(start);
    await does(this.open());
    const after = textOfAll(await dumpDatabase(NAME));
    await this.lay({ ...start, version: start.version - 1 });
    const other = await openDatabase(NAME);
    const store = this.open(20);
    const told = await does(store).then(
      () => 'kept',
      (error: unknown) => (isContextError(error) ? error.code : String(error)),
    );
    agree([name, told], [name, told === 'kept' && isUnasked ? told : 'store-blocked']);
    agree([name, textOfAll(await dumpOf(other)) === textOfAll(start)], [name, true]);
    other.close();
    // What nobody asked for is done on the next visit.
    const next = isUnasked ? this.open() : store;
    for (let isBlocked = true; isBlocked;) {
      const error: unknown = await does(next).then(
        () => undefined,
        (reason: unknown) => reason,
      );
      isBlocked = isContextError(error, 'store-blocked');
      if (error !== undefined && !isBlocked) throw error;
    }
    agree([name, textOfAll(await dumpDatabase(NAME)) === after], [name, true]);
  }

  /** Brings a database of an earlier format up to date, and fails in every way on the way. */
  async tryUpgrade(dump: DatabaseDump, long: string, short: string, userId: string): Promise<void> {
    const [faults, open, lay] = [this.#faults, () => this.open(), (one: DatabaseDump) => this.lay(one)];
    await lay(dump);
    const next = (store: ContextStore): Promise<unknown> =>
      store.append(short, [{ op: 'chat', title: 'T' }], { ...me, userId });
    const read = (store: ContextStore) => Promise.all([store.load(long), store.getMessages(long)]);
    const before = textOf(await read(open()));
    await this.closeAll();
    const version = (await dumpDatabase(NAME)).version;
    const strike = async (fault: Fault, at: number, forEver: boolean): Promise<boolean> => {
      const where = [fault, at, forEver];
      await lay(dump);
      const store = open();
      faults.order(fault, at, forEver);
      const told = await outcomeOf(store.load(long), faults, fault);
      const struck = this.#cease();
      agree([...where, told.error, told.is === 'silent'], [...where, undefined, false]);
      const now = (await dumpDatabase(NAME)).version;
      agree([...where, [dump.version, version].includes(now)], [...where, true]);
      if (FULL.includes(fault) && struck) agree([...where, told.code], [...where, 'quota-exceeded']);
      // Memory in its place would look as if nothing had ever been there.
      agree([...where, store.persistence], [...where, 'indexeddb']);
      for (const one of [store, open()])
        agree([...where, textOf(await read(one)) === before], [...where, true]);
      if (at < 3) await next(store);
      return struck;
    };
    for (const fault of ['upgrade', 'shut', 'dead', 'torn'] as const)
      for (const forEver of [false, true]) for (let at = 1; await strike(fault, at, forEver); at += 1);
  }
}

/** Channels that nobody listens to but this test. */
function channelsInto(heard: unknown[]): unknown {
  return class {
    postMessage(data: unknown): void {
      heard.push(data);
    }
    close(): void {}
  };
}

interface Told {
  readonly is: 'kept' | 'refused' | 'silent';
  readonly result?: unknown;
  /** What is not an error of ours. */
  readonly error?: string;
  /** What it is refused with. */
  readonly code?: string;
}

/** What a caller is told. A page that was killed is told nothing; everyone else is, in time. */
async function outcomeOf(work: Promise<unknown>, faults: Faults, fault: Fault): Promise<Told> {
  const told = work.then(
    (result): Told => ({ is: 'kept', result }),
    (error: unknown): Told => ({
      is: 'refused',
      ...(isContextError(error) ? { code: error.code } : { error: `not ours: ${String(error)}` }),
    }),
  );
  if (fault === 'killed' || fault === 'silent') return Promise.race([told, goneFor(faults, told)]);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<Told>((resolve) => {
    timer = setTimeout(() => resolve({ is: 'silent', error: 'hangs' }), 10_000);
  });
  return Promise.race([told, late]).finally(() => clearTimeout(timer));
}

/** Resolves a while after a page was killed. */
async function goneFor(faults: Faults, told: Promise<Told>): Promise<Told> {
  const progress = { isTold: false };
  void told.then(() => (progress.isTold = true));
  for (let quiet = 0; quiet < 40 && !progress.isTold; quiet += faults.struck ? 1 : 0)
    await new Promise((resolve) => setImmediate(resolve));
  return { is: 'silent' };
}

/** What a write says became of the things that it is about; not whether it had to do anything. */
function resultOf(result: unknown): string {
  if (typeof result !== 'object' || result === null) return textOf(result);
  const { chat, written, nodes, dropped, conflict } = result as AppendResult;
  const messages = written.map(({ id, parentId, rev, data }) => ({ id, parentId, rev, data }));
  return textOf(sorted({ chat, messages, nodes, dropped, policy: conflict?.policy }));
}

function agree(found: unknown, wanted: unknown): void {
  expect(found).toEqual(wanted);
}

/** All that a database holds, as text. */
function textOfAll({ stores }: DatabaseDump): string {
  const lines = stores.flatMap(({ name, rows }) => [
    name,
    ...rows.map(
      ({ key, value }) => `${JSON.stringify(key)} ${isShared(value) ? textOfShared(value) : textOf(value)}`,
    ),
  ]);
  return lines.join('\n');
}

const texts = new WeakMap<object, string>();

/** Of what never changes, which most records are from one failure to the next, the text is made once. */
function textOfShared(value: object): string {
  let text = texts.get(value);
  if (text === undefined) texts.set(value, (text = textOf(value)));
  return text;
}

/** What can be compared: without the names that are made anew each time. */
function textOf(value: unknown): string {
  return JSON.stringify(value ?? null, (key, one: unknown) => {
    if (key === 'stamp' || key === 'by') return undefined;
    if (one instanceof Uint8Array) return [...one].join(' ');
    return one;
  });
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const entries = Object.entries(value).map(([key, one]) => [key, sorted(one)] as const);
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
