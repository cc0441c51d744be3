import fc from 'fast-check';
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { ContextEngine } from '../../src/engine/engine.ts';
import { isContextError } from '../../src/errors.ts';
import { assistant, user } from '../../src/fragment/message.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import type { ConflictPolicy, ContextStore, StoreNotice } from '../../src/store/store.ts';
import { engineOn, said, texts } from '../support/engine.ts';
import { findIn, History, logged } from '../support/history.ts';
import { refusing } from '../support/refusal.ts';
import { SEED, tryAll } from '../support/campaign.ts';

/**
 * Everything at once: several tabs on one chat, nobody waits for anybody, calls and notices take their time, the disk
 * refuses now and then, tabs die. What then must be true is little, and holds always: what was said and acknowledged is
 * there once, on a branch; nothing dangles; nothing hangs; and who was there all the time knows what one knows who
 * comes now.
 *
 * `CONTEXTREE_FUZZ` and `CONTEXTREE_SEED` as in `model.test.ts`; `CONTEXTREE_RUSH` (what a failure printed) repeats one
 * sequence.
 */
const RUNS = 400 * Number(process.env['CONTEXTREE_FUZZ'] ?? 1);
const GIVEN = process.env['CONTEXTREE_RUSH'];

interface Step {
  readonly does: keyof typeof steps;
  readonly tab: number;
  readonly pick: number;
  /** How long to wait before the next step; 0: not at all. */
  readonly rest: number;
}

interface Tab {
  readonly engine: ContextEngine;
  /** The answers that it writes. */
  readonly answers: string[];
  /** What it was told is saved, or kept in its memory. */
  readonly acknowledged: Map<string, string>;
  /** Calls that are under way. */
  readonly calls: Promise<unknown>[];
  readonly die: () => void;
}

class World {
  readonly disk = new InMemoryContextStore();
  readonly tabs: Tab[] = [];
  /** What tabs that are gone were told is saved. */
  readonly kept: Map<string, string> = new Map();
  /** Messages that got other words than those that were promised. */
  readonly continued: Set<string> = new Set();
  readonly failures: unknown[] = [];
  readonly history = new History();
  #opened = 0;
  readonly #refusing = refusing(this.disk);
  readonly #pace: () => number;
  readonly #onConflict: ConflictPolicy;
  isRefusing = false;
  #words = 0;

  constructor(pace: () => number, onConflict: ConflictPolicy) {
    this.#pace = pace;
    this.#onConflict = onConflict;
  }

  open(): void {
    const { store, die } = slow(this.#refusing.store, this.#pace);
    this.#opened += 1;
    const engine = engineOn(logged(store, this.history, this.#opened), { onConflict: this.#onConflict });
    this.tabs.push({ engine, answers: [], acknowledged: new Map(), calls: [], die });
  }

  refuse(on: boolean, late = false): void {
    this.isRefusing = on;
    this.#refusing.refuse(on ? (late ? 'store-closed' : 'quota-exceeded') : undefined, { late });
  }

  words(): string {
    this.#words += 1;
    return `w${this.#words}`;
  }

  /** Lets a call run, and remembers what it promised when it has kept it. */
  run(tab: Tab, call: Promise<unknown>, promised: Readonly<Record<string, string>> = {}): void {
    const kept = call.then(
      () => Object.entries(promised).forEach(([id, words]) => tab.acknowledged.set(id, words)),
      (error: unknown) => void this.failures.push(error),
    );
    tab.calls.push(kept);
  }

  /** Waits for the calls of those that are there: a dead tab never gets its answers. */
  async done(): Promise<void> {
    for (const { calls } of this.tabs) while (calls.length > 0) await Promise.all(calls.splice(0));
  }
}

const steps = {
  say(world, tab) {
    const words = world.words();
    tab.engine.set(user(said(`q-${words}`, words)), assistant(said(`a-${words}`, `${words}.`)));
    world.run(tab, tab.engine.save(), { [`q-${words}`]: words, [`a-${words}`]: `${words}.` });
  },
  ask(world, tab) {
    const words = world.words();
    const id = `a-${words}`;
    const asking = tab.engine.continue(said(`q-${words}`, words), { id });
    world.run(
      tab,
      asking.then(() => tab.answers.push(id)),
      { [`q-${words}`]: words },
    );
  },
  draft(world, tab, pick) {
    const id = one(tab.answers, pick);
    if (id) world.run(tab, tab.engine.updateMessage(id, said(id, `${id} grows`), 'streaming'));
  },
  finish(world, tab, pick) {
    const id = one(tab.answers, pick);
    if (!id) return;
    tab.answers.splice(tab.answers.indexOf(id), 1);
    const status = pick % 2 === 0 ? 'complete' : 'interrupted';
    world.run(tab, tab.engine.updateMessage(id, said(id, id), status), { [id]: id });
  },
  abandon(world, tab, pick) {
    const id = one(tab.answers, pick);
    if (!id) return;
    tab.answers.splice(tab.answers.indexOf(id), 1);
    world.run(tab, tab.engine.updateMessage(id, { ...said(id), parts: [] }, 'interrupted'));
  },
  edit(world, tab, pick) {
    const target = one(tab.engine.state.getState().messages, pick)?.id;
    const words = world.words();
    if (target === undefined) return;
    const editing = tab.engine.edit(target, words);
    world.run(
      tab,
      editing.then((id) => tab.acknowledged.set(id, words)),
    );
  },
  rewind(world, tab, pick) {
    const target = one(tab.engine.graph().nodes, pick)?.id;
    if (target !== undefined) world.run(tab, tab.engine.rewind(target));
  },
  btw: (world, tab) => world.run(tab, tab.engine.btw()),
  mark: (world, tab, pick) => world.run(tab, tab.engine.checkpoint(`mark-${pick % 3}`)),
  restore: (world, tab, pick) => world.run(tab, tab.engine.restore(`mark-${pick % 3}`)),
  switch(world, tab, pick) {
    const target = one(tab.engine.state.getState().branches, pick)?.id;
    if (target !== undefined) world.run(tab, tab.engine.switchBranch(target));
  },
  checkout(world, tab, pick) {
    const target = one(tab.engine.graph().nodes, pick)?.id;
    if (target !== undefined) world.run(tab, tab.engine.checkout(target));
  },
  select(world, tab, pick) {
    const shown = one(tab.engine.state.getState().messages, pick)?.id ?? '';
    const target = one(tab.engine.siblings(shown).ids, pick);
    if (target !== undefined) world.run(tab, tab.engine.selectSibling(target));
  },
  /** "Continue": the same words again, and a few more until it ends. */
  resume(world, tab, pick) {
    const id = one(
      tab.engine.state.getState().messages.filter((message) => message.role === 'assistant'),
      pick,
    )?.id;
    if (id === undefined || tab.engine.status(id) === 'streaming') return;
    world.continued.add(id);
    const resuming = tab.engine.updateMessage(id, said(id), 'streaming');
    world.run(
      tab,
      resuming.then(() => tab.answers.push(id)),
    );
  },
  delete(world, tab, pick) {
    const target = one(tab.engine.state.getState().branches, pick)?.id;
    if (target !== undefined) world.run(tab, tab.engine.deleteBranch(target));
  },
  rename(world, tab, pick) {
    const target = one(tab.engine.state.getState().branches, pick)?.id;
    if (target !== undefined) world.run(tab, tab.engine.renameBranch(target, `name-${pick % 4}`));
  },
  usage: (world, tab) => world.run(tab, tab.engine.trackUsage({ tokens: 1 })),
  resolve: (world, tab) => world.run(tab, tab.engine.resolve()),
  retry: (world, tab) => world.run(tab, tab.engine.retry()),
  refuse: (world, _tab, pick) => world.refuse(!world.isRefusing, pick % 3 === 2),
  open(world) {
    if (world.tabs.length < 4) world.open();
  },
  die(world, tab) {
    if (world.tabs.length < 2) return;
    tab.die();
    tab.engine.dispose();
    world.tabs.splice(world.tabs.indexOf(tab), 1);
    // What it could only keep in its own memory goes with it.
    if (tab.engine.state.getState().saveState.state !== 'saved') return;
    for (const [id, words] of tab.acknowledged) world.kept.set(id, words);
  },
} satisfies Record<string, (world: World, tab: Tab, pick: number) => void>;

function one<T>(things: readonly T[], pick: number): T | undefined {
  return things[pick % things.length];
}

/** A store whose calls, answers and notices take a while, and that a tab can no longer reach when it is dead. */
function slow(inner: ContextStore, pace: () => number): { store: ContextStore; die: () => void } {
  const locks = new Set<() => void>();
  let isDead = false;
  const store = new Proxy(inner, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== 'function') return value;
      if (key === 'subscribe') {
        return (listener: (notice: StoreNotice) => void) =>
          target.subscribe((notice) => void rest(pace()).then(() => isDead || listener(notice)));
      }
      return async (...args: unknown[]): Promise<unknown> => {
        await rest(pace());
        if (isDead) return new Promise(() => {});
        const result: unknown = await value.apply(target, args);
        if (key === 'hold') locks.add(result as () => void);
        if (key === 'hold' && isDead) (result as () => void)();
        await rest(pace());
        return isDead ? new Promise(() => {}) : result;
      };
    },
  });
  const die = (): void => {
    isDead = true;
    for (const release of locks) release();
  };
  return { store, die };
}

async function rest(turns: number): Promise<void> {
  for (let i = 0; i < turns; i += 1) await new Promise((resolve) => setImmediate(resolve));
}

// --- Afterwards -----------------------------------------------------------------------------------------------------

/** The disk works again, every answer ends, and everyone has heard of everything. */
async function calmDown(world: World): Promise<void> {
  await withinTime(world.done());
  world.refuse(false);
  for (const tab of world.tabs) while (tab.answers.length > 0) steps.finish(world, tab, 0);
  for (const tab of world.tabs) world.run(tab, tab.engine.retry());
  await withinTime(world.done());
  // A tab that dies says nothing: the others look every two seconds.
  await vi.advanceTimersByTimeAsync(5000);
  await rest(12);
  for (let round = 0; round < 6; round += 1) {
    for (const { engine } of world.tabs) await engine.loadMore(0);
    await rest(12);
  }
}

const { setTimeout: realTimeout, clearTimeout: clearRealTimeout } = globalThis;

async function withinTime(work: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = realTimeout(() => reject(new Error('something hangs')), 5000);
  });
  await Promise.race([work, late]);
  clearRealTimeout(timer);
}

/** Each acknowledged message is there once, whole, and on a branch, be it a deleted one. */
async function checkKept({ disk, tabs, kept, continued }: World): Promise<void> {
  const { nodes, branches, checkpoints } = await disk.load('c');
  const bodies = new Map(
    (
      await disk.getNodes(
        'c',
        nodes.map(({ id }) => id),
      )
    ).map((node) => [node.id, node]),
  );
  expect(bodies.size).toBe(nodes.length);
  for (const { id, data, parentId } of bodies.values()) {
    expect(data.id).toBe(id);
    expect(parentId === null || bodies.has(parentId)).toBe(true);
  }
  const live = branches.filter(({ deletedAt }) => deletedAt === undefined).map(({ name }) => name);
  expect(new Set(live).size).toBe(live.length);
  for (const { messageId } of checkpoints) expect(bodies.has(messageId)).toBe(true);
  const chains = branches.map(async ({ headMessageId }) => {
    expect(headMessageId === null || bodies.has(headMessageId)).toBe(true);
    return headMessageId === null ? [] : disk.getMessageChain('c', headMessageId);
  });
  const reached = new Set((await Promise.all(chains)).flat().map(({ id }) => id));
  const acknowledged = [...kept, ...tabs.flatMap((tab) => [...tab.acknowledged])];
  const missing = acknowledged.filter(([id, words]) => {
    const node = bodies.get(id);
    return !node || !reached.has(id) || (texts([node.data]) !== words && !continued.has(id));
  });
  expect(missing).toEqual([]);
}

/** Who was there all the time knows what one knows who comes now. */
async function checkFresh({ disk, tabs }: World): Promise<void> {
  const fresh = engineOn(disk);
  await fresh.ready();
  expect(await fresh.verify()).toEqual([]);
  for (const { engine } of tabs) {
    if (engine.state.getState().pending.length > 0) continue;
    expect(known(engine)).toEqual(known(fresh));
    expect(engine.state.getState()).toMatchObject({ status: 'ready', saveState: { pending: 0 } });
    const { branches, branchId, headMessageId: at, messages, detached } = engine.state.getState();
    const branch = branches.find(({ id }) => id === branchId);
    if (branches.length > 0) expect(branch).toBeDefined();
    if (!detached) expect(at).toBe(branch?.headMessageId ?? undefined);
    expect(texts(messages)).toBe(at ? texts((await fresh.resolve({ at })).messages) : '');
  }
  fresh.dispose();
}

function known(engine: ContextEngine): unknown {
  const { chat, branches, checkpoints } = engine.state.getState();
  const { nodes } = engine.graph();
  const byId = (a: { readonly id: string }, b: { readonly id: string }): number => (a.id < b.id ? -1 : 1);
  return {
    chat,
    branches: branches.map((branch) => ({ ...branch, isActive: false })).toSorted(byId),
    checkpoints: checkpoints.toSorted(byId),
    nodes: nodes.map(({ id }) => [engine.node(id), engine.siblings(id)]),
  };
}

const EXPECTED = new Set([
  'quota-exceeded',
  'store-closed',
  'empty-branch',
  'last-branch',
  'name-taken',
  'head-moved',
  'branch-not-found',
  'checkpoint-not-found',
  'message-not-found',
  'busy',
  // An answer that was continued twice ends twice.
  'invalid-options',
]);

async function rush(
  script: readonly Step[],
  paces: readonly number[],
  onConflict: ConflictPolicy,
): Promise<void> {
  let turn = 0;
  const world = new World(() => paces[(turn += 1) % paces.length] ?? 0, onConflict);
  world.open();
  for (const { does, tab, pick, rest: turns } of script) {
    steps[does](world, world.tabs[tab % world.tabs.length] as Tab, pick);
    await rest(turns);
  }
  await calmDown(world);
  expect(world.failures.filter((error) => !isContextError(error) || !EXPECTED.has(error.code))).toEqual([]);
  await checkKept(world);
  expect(world.history.check(await findIn(world.disk, ['c']))).toEqual([]);
  await checkFresh(world);
  for (const { engine } of world.tabs) engine.dispose();
}

const often: readonly (keyof typeof steps)[] = ['say', 'say', 'ask', 'ask', 'draft', 'finish', 'finish'];
const stepArb: fc.Arbitrary<Step> = fc.record({
  does: fc.constantFrom(...(Object.keys(steps) as (keyof typeof steps)[]), ...often),
  tab: fc.nat(3),
  pick: fc.nat(20),
  rest: fc.constantFrom(0, 0, 0, 1, 4),
});

const step = (does: Step['does'], tab: number, turns = 0): Step => ({ does, tab, pick: 0, rest: turns });

/** What went wrong once. */
const FOUND: [Step[], number[], ConflictPolicy][] = [
  // A tab died while its last words were on their way: nobody told the other one, which took the answer for empty.
  [
    [
      step('open', 0),
      step('ask', 0, 1),
      step('mark', 3, 4),
      step('say', 0, 4),
      step('say', 0, 4),
      step('draft', 0),
      step('say', 0, 4),
      step('die', 0),
    ],
    [2],
    'fork',
  ],
  // A mistake of the log: a turn was there since it was said first, and was told only when it was said again.
  [
    [
      step('open', 0),
      step('say', 0, 4),
      step('say', 0, 4),
      step('say', 0, 1),
      step('say', 1),
      step('ask', 1),
      step('say', 0, 4),
      { ...step('refuse', 0), pick: 8 },
    ],
    [1, 3, 0, 2],
    'rebase',
  ],
  // Two tabs went on with one answer while the disk refused: what one of them kept could never be written.
  [
    [
      step('open', 0),
      step('say', 1),
      step('ask', 1, 4),
      step('say', 3),
      step('resume', 1),
      step('say', 3, 1),
      step('say', 0, 4),
      step('resume', 0),
      step('ask', 0),
      step('refuse', 0),
    ],
    [0, 0, 0, 2, 1],
    'fork',
  ],
  // The same on a disk that refused late: the end of the answer was refused for what this tab itself had kept before.
  [
    [
      step('open', 0),
      step('say', 1, 4),
      step('say', 0),
      step('resume', 1),
      step('say', 0, 4),
      step('resume', 0),
      { ...step('refuse', 0), pick: 2 },
    ],
    [0, 1],
    'fork',
  ],
  // A store that took what was there in another place for a repetition led the head past an answer.
  [
    [
      step('say', 0, 4),
      step('checkout', 0),
      step('say', 0),
      { ...step('refuse', 0), pick: 2 },
      step('select', 0),
      step('say', 0),
    ],
    [0],
    'fork',
  ],
];

describe('several tabs at once', () => {
  // The engine's code for reading comes with the first read: not in the middle of a sequence that is to be repeated.
  beforeAll(() => engineOn().ready());
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  test(
    'lose nothing, hang nowhere and end up knowing the same',
    { timeout: 60_000 * Math.max(1, RUNS / 400) },
    async () => {
      expect.hasAssertions();
      const sequences = fc.tuple(
        fc.array(stepArb, { maxLength: 40, size: 'max' }),
        fc.array(fc.nat(3), { minLength: 1, maxLength: 17 }),
        fc.constantFrom<ConflictPolicy>('fork', 'fork', 'rebase', 'error'),
      );
      await tryAll(sequences, (sequence) => rush(...sequence), {
        numRuns: RUNS,
        examples: FOUND.map((sequence) => [sequence]),
        ...(SEED === undefined ? {} : { seed: Number(SEED) }),
      });
    },
  );

  test.runIf(GIVEN)('what was given', async () => {
    expect.hasAssertions();
    await rush(...(JSON.parse(GIVEN ?? '[]') as Parameters<typeof rush>));
  });
});
