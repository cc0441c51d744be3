// First, so that all that comes is counted.
import { grownBeyond, stepsOf, type Steps } from '../support/steps.ts';
import 'fake-indexeddb/auto';
import { describe, expect, it } from 'vitest';
import { IndexedDBContextStore } from '../../src/store/indexeddb/store.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import type { ContextStore, StoreOp } from '../../src/store/store.ts';
import { head, insert, me, message } from '../support/graph.ts';

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

/** What grew by the square, in the last of these appends, when each of them brought four times as many. */
async function steep(
  open: () => ContextStore,
  appends: (count: number) => readonly Ops[],
): Promise<string[]> {
  const counted: Steps[] = [];
  for (const count of [FEW, MANY]) {
    const store = open();
    const [last = [], ...before] = appends(count).toReversed();
    for (const ops of before.toReversed()) await store.append('c', ops.flat(), me);
    counted.push(await stepsOf(() => store.append('c', last.flat(), me)));
    await store.close();
  }
  const [few, many] = counted as [Steps, Steps];
  return grownBeyond((MANY / FEW) * 2, few, many, MANY * 20);
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
  'fields of a record': (n) => [
    [question],
    each(n, (i) => ({ op: 'merge', key: 'contextree:k', value: { [`f${i}`]: i } })),
  ],
};

describe.each(STORES)('thousands in one append cost each no more than hundreds: %s', (_where, open) => {
  it.each(Object.entries(APPENDS))('%s', async (_name, appends) => {
    expect(await steep(open, appends)).toEqual([]);
  });
});

it.each(STORES)(
  'thousands of branches and checkpoints are named by the rule, in their order: %s',
  async (_where, open) => {
    const store = open();
    const COUNT = 2000;
    await store.append('c', [question], me);
    await store.append(
      'c',
      each(COUNT, (i) => unnamed(`b${i}`)),
      me,
    );
    await store.append(
      'c',
      each(COUNT, (i) => branch(`n${i}`)),
      me,
    );
    await store.append(
      'c',
      each(COUNT, (i) => ({ op: 'rename-branch', id: `n${i}`, name: `o${i}` })),
      me,
    );
    await store.append(
      'c',
      each(COUNT, (i) => ({ op: 'delete-branch', id: `n${i}` })),
      me,
    );
    await store.append(
      'c',
      each(COUNT, (i) => ({ op: 'restore-branch', id: `n${i}` })),
      me,
    );
    await store.append(
      'c',
      each(COUNT, (i) => checkpoint(`k${i}`)),
      me,
    );
    await store.append(
      'c',
      each(COUNT, (i) => ({ op: 'rename-checkpoint', id: `k${i}`, name: `l${i}` })),
      me,
    );
    const names = (await store.listBranches('c')).map(({ name }) => name);
    expect(names).toEqual(['main', ...each(COUNT, (i) => `main-v${i + 2}`), ...each(COUNT, (i) => `o${i}`)]);
    const marks = (await store.listCheckpoints('c')).map(({ name }) => name);
    expect(marks).toEqual(each(COUNT, (i) => `l${i}`).toReversed());
    await store.close();
  },
);
