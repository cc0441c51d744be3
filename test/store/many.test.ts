// First, so that all that comes is counted.
import { grownBeyond, stepsAndCopiesOf, stepsOf, total, type Steps } from '../support/steps.ts';
import 'fake-indexeddb/auto';
import { describe, expect, it, vi } from 'vitest';
import { ContextEngine } from '../../src/engine/engine.ts';
import { user } from '../../src/fragment/message.ts';
import {
  infoOf,
  type Branch,
  type Checkpoint,
  type MessageNode,
  type NodeInfo,
} from '../../src/graph/graph.ts';
import { visualizeGraph } from '../../src/graph/visualize.ts';
import { IndexedDBContextStore } from '../../src/store/indexeddb/store.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import type { ConflictPolicy, ContextStore, StoreOp } from '../../src/store/store.ts';
import { examine } from '../support/examine.ts';
import { refusing } from '../support/refusal.ts';
import { givenChat, head, insert, line, me, message, node } from '../support/graph.ts';

it('an append may bring more messages than a call has room for arguments', { timeout: 60_000 }, async () => {
  const store = new IndexedDBContextStore('many');
  await store.append('c', [], me);
  const ops = Array.from({ length: 140_000 }, (_, i) => insert(`m${i}`, i === 0 ? null : `m${i - 1}`));
  await store.append('c', [...ops, head(null, 'm139999')], me);
  expect((await store.getChat('c'))?.messageCount).toBe(140_000);
  expect((await store.changesSince(0, 139_000)).length).toBe(139_000);
  await store.close();
});

const STORES: readonly [string, () => ContextStore][] = [
  ['IndexedDB', () => new IndexedDBContextStore(`pointers-${Math.random()}`)],
  ['memory', () => new InMemoryContextStore()],
];

type Ops = readonly (StoreOp | readonly StoreOp[])[];

const FEW = 500;
const MANY = 2000;

/**
 * What took by the square of the count: the same work, done with few and with many. A store that tends to what it holds
 * beside it takes less.
 */
async function steep(
  count: (count: number) => Promise<Steps>,
  [few, many]: readonly [few: number, many: number] = [FEW, MANY],
): Promise<string[]> {
  const [before, after] = [await count(few), await count(many)];
  return grownBeyond((many / few) * 2, before, after, many * 100);
}

const each = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));

const question = insert('q', null);
const reserved = (count: number): StoreOp[] => each(count, (i) => insert(`a${i}`, 'q', '', 'streaming'));
const branch = (id: string, messageId = 'q'): StoreOp => ({ op: 'branch', id, name: id, messageId });
const unnamed = (id: string): StoreOp => ({ op: 'branch', id, base: 'main', messageId: 'q' });
const checkpoint = (id: string, messageId = 'q'): StoreOp => ({ op: 'checkpoint', id, name: id, messageId });
const drop = (i: number): StoreOp => ({ op: 'drop', id: `a${i}` });
const turn = (i: number): StoreOp[] => {
  const parent = i === 0 ? 'q' : `a${i - 1}`;
  return [insert(`a${i}`, parent), head(parent, `a${i}`)];
};
/** One for a branch of its own, whose head is another one by now. */
const late = (i: number): StoreOp[] => [
  insert(`a${i}`, i === 0 ? 'q' : `a${i - 1}`),
  { op: 'head', branchId: `b${i}`, expected: 'q', messageId: `a${i}`, forkId: 'fork' },
];
/** What such turns come too late for. */
const faster = (n: number): readonly Ops[] => [
  [question, ...each(n, (i) => branch(`b${i}`))],
  [insert('x', 'q'), ...each(n, (i) => head('q', 'x', `b${i}`))],
];
const cutOff = insert('r', 'q', '', 'streaming');

/** Appends of thousands of operations; the last of each is looked at. */
const APPENDS: Readonly<Record<string, (count: number) => readonly Ops[]>> = {
  'answers to one question': (n) => [[question], each(n, (i) => insert(`a${i}`, 'q'))],
  'new words': (n) => [
    [question, ...each(n, (i) => insert(`a${i}`, 'q'))],
    each(n, (i) => ({ op: 'replace', id: `a${i}`, data: message(`a${i}`, 'new') })),
  ],
  'reserved answers taken back': (n) => [[question, ...reserved(n)], each(n, drop)],
  'reserved answers taken back, the last one first': (n) => [
    [question, ...reserved(n)],
    each(n, (i) => drop(n - 1 - i)),
  ],
  'reserved answers that are branches taken back': (n) => [
    [question, ...reserved(n), ...each(n, (i) => branch(`b${i}`, `a${i}`))],
    each(n, drop),
  ],
  'reserved answers with checkpoints taken back': (n) => [
    [question, ...reserved(n), ...each(n, (i) => checkpoint(`k${i}`, `a${i}`))],
    each(n, drop),
  ],
  'answers reserved and taken back at once': (n) => [[question], [...reserved(n), ...each(n, drop)]],
  turns: (n) => [[question, head(null, 'q')], each(n, turn)],
  'turns that were written before': (n) => [[question, head(null, 'q')], each(n, turn), each(n, turn)],
  'turns on as many branches': (n) => [
    [question, ...each(n, (i) => branch(`b${i}`))],
    each(n, (i) => [insert(`a${i}`, 'q'), head('q', `a${i}`, `b${i}`)]),
  ],
  'turns of which a part was written before': (n) => [
    [question, head(null, 'q')],
    [...each(n, turn), cutOff],
    [{ op: 'drop', id: 'r' }],
    [...each(n, turn), cutOff],
  ],
  'turns that come late, with one name for their branches': (n) => [...faster(n), each(n, late)],
  'such turns that were written before': (n) => [...faster(n), each(n, late), each(n, late)],
  'branches of one message': (n) => [[question], each(n, (i) => unnamed(`b${i}`))],
  'named branches': (n) => [[question], each(n, (i) => branch(`b${i}`))],
  'renamed branches': (n) => [
    [question, ...each(n, (i) => branch(`b${i}`))],
    each(n, (i) => ({ op: 'rename-branch', id: `b${i}`, name: `c${i}` })),
  ],
  'names that are freed and taken': (n) => [
    [question, ...each(n, (i) => unnamed(`b${i}`))],
    each(n, (i) => [{ op: 'rename-branch', id: `b${i}`, name: `x${i}` }, unnamed(`c${i}`)]),
  ],
  'deleted branches': (n) => [
    [question, ...each(n, (i) => branch(`b${i}`))],
    each(n, (i) => ({ op: 'delete-branch', id: `b${i}` })),
  ],
  'deleted branches, each the one that is shown': (n) => [
    [
      question,
      ...each(n, (i) => branch(`b${i}`)),
      ...each(n, (i): StoreOp => ({ op: 'use', branchId: `b${i}` })),
    ],
    each(n, (i) => ({ op: 'delete-branch', id: `b${n - 1 - i}` })),
  ],
  'branches that come back': (n) => [
    [question, ...each(n, (i) => branch(`b${i}`))],
    each(n, (i) => ({ op: 'delete-branch', id: `b${i}` })),
    each(n, (i) => ({ op: 'restore-branch', id: `b${i}` })),
  ],
  'branches that come back where their names are taken': (n) => [
    [question, ...each(n, (i) => unnamed(`b${i}`))],
    each(n, (i) => ({ op: 'delete-branch', id: `b${i}` })),
    each(n, (i) => unnamed(`c${i}`)),
    each(n, (i) => ({ op: 'restore-branch', id: `b${i}` })),
  ],
  'branches shown': (n) => [
    [question, ...each(n, (i) => branch(`b${i}`))],
    each(n, (i) => ({ op: 'use', branchId: `b${i}` })),
  ],
  checkpoints: (n) => [[question], each(n, (i) => checkpoint(`k${i}`))],
  'renamed checkpoints': (n) => [
    [question, ...each(n, (i) => checkpoint(`k${i}`))],
    each(n, (i) => ({ op: 'rename-checkpoint', id: `k${i}`, name: `l${i}` })),
  ],
  'checkpoints that move': (n) => [
    [question, insert('a', 'q'), ...each(n, (i) => checkpoint(`k${i}`))],
    each(n, (i) => checkpoint(`k${i}`, 'a')),
  ],
  'deleted checkpoints': (n) => [
    [question, ...each(n, (i) => checkpoint(`k${i}`))],
    each(n, (i) => ({ op: 'delete-checkpoint', id: `k${i}` })),
  ],
};

/** The same, where the last goes behind what is there. */
const REBASES: typeof APPENDS = {
  'turns on one branch': (n) => [...faster(1), each(n, (i) => late(i).map(onFirst))],
  'turns on as many branches': (n) => [...faster(n), each(n, late)],
};
/** What brings a field after another to one record. */
const FIELDS: typeof APPENDS = {
  'fields of a record': (n) => [
    [question],
    each(n, (i) => ({ op: 'merge', key: 'contextree:k', value: { [`f${i}`]: i } })),
  ],
  'fields of metadata': (n) => [[question], each(n, (i) => ({ op: 'chat', metadata: { [`f${i}`]: i } }))],
  'kinds of usage': (n) => [
    [question],
    each(n, (i) => ({ op: 'chat', usage: { [`f${i}`]: i, deep: { [`f${i}`]: i } } })),
  ],
};
const onFirst = (op: StoreOp): StoreOp => (op.op === 'head' ? { ...op, branchId: 'b0' } : op);

describe.each(STORES)('thousands in one append cost each no more than hundreds: %s', (_where, open) => {
  const found = (
    appends: (count: number) => readonly Ops[],
    onConflict: ConflictPolicy = 'fork',
    measure: typeof stepsOf = stepsOf,
  ): Promise<string[]> =>
    steep(async (length) => {
      const store = open();
      const [last = [], ...before] = appends(length).toReversed();
      for (const ops of before.toReversed()) await store.append('c', ops.flat(), me);
      const steps = await measure(() => store.append('c', last.flat(), { ...me, onConflict }));
      await store.close();
      return steps;
    });
  it.each(Object.entries(APPENDS))('%s', async (_name, appends) => {
    expect(await found(appends)).toEqual([]);
  });
  it.each(Object.entries(REBASES))('%s that were overtaken', async (_name, appends) => {
    expect(await found(appends, 'rebase')).toEqual([]);
  });
  it.each(Object.entries(FIELDS))('%s, which is not copied with each', async (_name, appends) => {
    expect(await found(appends, 'fork', stepsAndCopiesOf)).toEqual([]);
  });
});

it('of messages that change one after another, each sealed block is read once', async () => {
  const store = new IndexedDBContextStore('sealed');
  await store.append('c', [question, ...each(MANY, (i) => insert(`a${i}`, 'q'))], me);
  const replace = each(MANY, (i): StoreOp => ({ op: 'replace', id: `a${i}`, data: message(`a${i}`, 'new') }));
  const steps = await stepsOf(() => store.append('c', replace, me));
  const read = [...steps].filter(([where]) => where.includes(' decodePack ')).map(([, count]) => count);
  expect(read[0]).toBeGreaterThan(1);
  expect(read[0]).toBeLessThan(MANY / 10);
  await store.close();
});

/** Places of thousands of messages, by their numbers, and what points at them. */
interface Broken {
  readonly nodes: readonly NodeInfo[];
  readonly branches?: readonly Branch[];
  readonly checkpoints?: readonly Checkpoint[];
}

const at = (i: number, parentId: string | null, fields: Partial<MessageNode> = {}): NodeInfo =>
  infoOf(node(`m${i}`, { parentId, seq: i, ...fields }));
const pointer = (i: number): Omit<Checkpoint, 'messageId'> => {
  return { id: `p${i}`, chatId: 'c', name: `p${i}`, createdAt: 1, rev: 1 };
};
const leading = (i: number, headMessageId: string | null, name = `p${i}`): Branch => {
  return { ...pointer(i), name, headMessageId, messageCount: 1, updatedAt: 1, usedSeq: i, deviceId: 'd' };
};

const BROKEN: Readonly<Record<string, (count: number) => Broken>> = {
  'messages without a parent': (n) => ({ nodes: each(n, (i) => at(i, `gone${i}`)) }),
  'messages in pairs that follow each other': (n) => ({ nodes: each(n, (i) => at(i, `m${i ^ 1}`)) }),
  'messages, each older than the one before it': (n) => ({
    nodes: each(n, (i) => at(i, i === n - 1 ? null : `m${i + 1}`)),
  }),
  'messages, each second one older than the one before it': (n) => ({
    nodes: each(n, (i) => at(i, i === 1 ? null : `m${i % 2 === 0 ? i + 1 : i - 3}`)),
  }),
  'messages in one ring': (n) => ({ nodes: each(n, (i) => at(i, `m${(i * 7919 + 1) % n}`)) }),
  'messages that are there twice': (n) => ({
    nodes: each(n * 2, (i) => at(i % n, null, { seq: i, rev: i < n ? 1 : 2 })),
  }),
  'messages that no branch reaches': (n) => ({
    nodes: each(n, (i) => at(i, null)),
    branches: [leading(0, 'm0', 'main')],
  }),
  'ends beside a chain that no branch reaches': (n) => ({
    nodes: each(n * 2, (i) => at(i, i < 2 ? null : `m${i - 2 - (i % 2)}`)),
  }),
  'branches that end nowhere': (n) => ({
    nodes: each(n, (i) => at(i, null)),
    branches: each(n, (i) => leading(i, 'gone')),
  }),
  'branches of one name': (n) => ({
    nodes: [at(0, null)],
    branches: each(n, (i) => leading(i, 'm0', 'main')),
  }),
  'checkpoints that mark nothing': (n) => ({
    nodes: [at(0, null)],
    branches: [leading(0, 'm0')],
    checkpoints: each(n, (i) => ({ ...pointer(i), messageId: 'gone' })),
  }),
};

describe('a check looks at each of thousands a few times', () => {
  it.each(Object.entries(BROKEN))('%s', async (_name, broken) => {
    const times = { createdAt: 1, updatedAt: 1, rev: 1, nextSeq: 0, epoch: 0 };
    const chat = { id: 'c', userId: 'me', activeBranchId: 'p0', messageCount: 0, ...times };
    const count = async (length: number): Promise<Steps> => {
      const records = { chat, branches: [], checkpoints: [], ...broken(length) };
      let made = 0;
      return stepsOf(() => {
        const { findings } = examine(records, { now: 1, createId: () => `new${(made += 1)}` });
        expect(findings.length).toBeGreaterThanOrEqual(length / 2);
      });
    };
    expect(await steep(count)).toEqual([]);
  });
});

/** What a chat of thousands may look like. */
const SHAPES: Readonly<Record<string, (count: number) => Ops>> = {
  'versions of one answer': (n) => [
    question,
    ...each(n, (i) => insert(`a${i}`, 'q')),
    ...each(n, (i) => branch(`b${i}`, `a${i}`)),
    head(null, 'a0'),
  ],
  'first questions': (n) => [
    insert('q', null),
    ...each(n, (i) => insert(`q${i}`, null)),
    ...each(n, (i) => branch(`b${i}`, `q${i}`)),
    head(null, 'q'),
  ],
  'messages with a version beside each': (n) => [
    question,
    ...each(n, (i) => insert(`a${i}`, i === 0 ? 'q' : `a${i - 1}`)),
    ...each(n, (i) => [insert(`x${i}`, `a${i}`), branch(`b${i}`, `x${i}`)]),
    head(null, `a${n - 1}`),
  ],
  'answers that were cut off before their first word': (n) => [
    question,
    ...reserved(n),
    ...each(n, (i) => branch(`b${i}`, `a${i}`)),
    head(null, 'q'),
  ],
  'branches that end at one message': (n) => [question, ...each(n, (i) => branch(`b${i}`)), head(null, 'q')],
  'checkpoints at one message': (n) => [
    question,
    branch('b0'),
    ...each(n, (i) => checkpoint(`k${i}`)),
    head(null, 'q'),
  ],
};

const CALLS: Readonly<Record<string, (engine: ContextEngine) => unknown>> = {
  ready: (engine) => engine.ready(),
  loadMore: (engine) => engine.loadMore(100_000),
  resolve: (engine) => engine.resolve(),
  forks: (engine) => engine.forks(),
  siblings: (engine) => engine.siblings('q'),
  visualizeGraph: (engine) => visualizeGraph(engine.graph()),
  switchBranch: (engine) => engine.switchBranch('b0'),
  checkout: (engine) => engine.checkout('q'),
  selectSibling: (engine) => engine.selectSibling('lone'),
  rewind: (engine) => engine.rewind('q'),
  btw: (engine) => engine.btw(),
  edit: (engine) => engine.edit('q', 'other words'),
  save: (engine) => engine.set(user('one more')).save(),
  checkpoint: (engine) => engine.checkpoint('here'),
  restore: (engine) => engine.restore('here'),
  renameBranch: (engine) => engine.renameBranch('main', 'first'),
  deleteBranch: (engine) => engine.deleteBranch('b0'),
  inspect: (engine) => engine.inspect(),
  verify: (engine) => engine.verify(),
  repair: (engine) => engine.repair(),
  'getMessages of the store': ({ store }) => store.getMessages('c'),
  'getGraph of the store': ({ store }) => store.getGraph('c'),
  'searchMessages of the store': ({ store }) => store.searchMessages('c', 'a1'),
  'deleteChat of the store': ({ store }) => store.deleteChat('c'),
};

describe('no call looks through all of thousands for each of them', () => {
  it.each(Object.entries(SHAPES))('%s', async (_name, shape) => {
    const open = async (count: number): Promise<ContextEngine> => {
      const store = new InMemoryContextStore();
      await store.append('c', [...shape(count).flat(), insert('lone', 'q'), branch('last', 'lone')], me);
      return new ContextEngine({ store, chatId: 'c', userId: 'me' });
    };
    const engines = new Map<number, ContextEngine>([
      [FEW, await open(FEW)],
      [MANY, await open(MANY)],
    ]);
    for (const [name, call] of Object.entries(CALLS)) {
      const found = await steep((count) => stepsOf(() => call(engines.get(count) as ContextEngine)));
      expect({ [name]: found }).toEqual({ [name]: [] });
    }
    for (const engine of engines.values()) engine.dispose();
  });
});

it('turns that the disk refused are written without a look at all that wait for each', async () => {
  const count = async (turns: number): Promise<Steps> => {
    const { store, refuse } = refusing(new InMemoryContextStore());
    const engine = new ContextEngine({ store, chatId: 'c', userId: 'me' });
    await engine.ready();
    refuse('quota-exceeded');
    for (let i = 0; i < turns; i += 1) {
      const id = await engine.continue(message(`q${i}`));
      await engine.updateMessage(id, message(id, 'an answer'), 'complete');
    }
    refuse(undefined);
    const steps = await stepsOf(() => engine.retry());
    expect(engine.state.getState().saveState).toMatchObject({ state: 'saved', pending: 0 });
    engine.dispose();
    return steps;
  };
  // What is shown grows with each turn, and is looked at with each write.
  const isShowing = (where: string): boolean => where.startsWith('src/engine/history.ts body ');
  expect((await steep(count, [50, 200])).filter((where) => !isShowing(where))).toEqual([]);
});

it('thousands of ids in no order are sorted into memory at once: each by itself would move half of all others', async () => {
  const store = new InMemoryContextStore();
  await store.append('c', [], me);
  const ids = each(MANY, (i) => ((i * 7919) % MANY).toString(36));
  const moves = vi.spyOn(Array.prototype, 'splice');
  await store.append('c', [...ids.map((id) => insert(id, null)), head(null, ids.at(-1) ?? null)], me);
  const moved = moves.mock.contexts.filter((list) => (list as readonly unknown[]).length > FEW);
  moves.mockRestore();
  expect(moved.length).toBeLessThan(50);
  for (const id of ids) expect((await store.getMessage('c', id))?.id).toBe(id);
});

it('a long chat leaves memory with a pass over each index: to be looked up row by row would move all others each time', async () => {
  const store = new InMemoryContextStore();
  const COUNT = 5000;
  for (const chatId of ['a', 'b']) await givenChat(store, chatId, line(COUNT));
  // Most of them sort what was added.
  expect(total(await stepsOf(() => store.deleteChat('b')))).toBeLessThan(COUNT * 400);
  expect(await store.getMessages('a')).toHaveLength(COUNT);
  expect(await store.listChats()).toHaveLength(1);
});

it.each(STORES)(
  'thousands of branches and checkpoints are named by the rule, in their order: %s',
  async (_where, open) => {
    const store = open();
    const COUNT = 2000;
    const appends: readonly ((i: number) => StoreOp)[] = [
      (i) => unnamed(`b${i}`),
      (i) => branch(`n${i}`),
      (i) => ({ op: 'rename-branch', id: `n${i}`, name: `o${i}` }),
      (i) => ({ op: 'delete-branch', id: `n${i}` }),
      (i) => ({ op: 'restore-branch', id: `n${i}` }),
      (i) => checkpoint(`k${i}`),
      (i) => ({ op: 'rename-checkpoint', id: `k${i}`, name: `l${i}` }),
    ];
    await store.append('c', [question], me);
    for (const op of appends) await store.append('c', each(COUNT, op), me);
    const names = (await store.listBranches('c')).map(({ name }) => name);
    expect(names).toEqual(['main', ...each(COUNT, (i) => `main-v${i + 2}`), ...each(COUNT, (i) => `o${i}`)]);
    const marks = (await store.listCheckpoints('c')).map(({ name }) => name);
    expect(marks).toEqual(each(COUNT, (i) => `l${i}`).toReversed());
    await store.close();
  },
);
