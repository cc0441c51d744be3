// @vitest-environment node
// First, so that all that comes is counted.
import { grownBeyond, stepsOf, type Steps } from '../support/steps.ts';
import 'fake-indexeddb/auto';
import { describe, expect, it } from 'vitest';
import { ContextEngine } from '../../src/engine/engine.ts';
import { user } from '../../src/fragment/message.ts';
import type { Mark } from '../../src/graph/graph.ts';
import { markId } from '../../src/graph/marks.ts';
import { visualizeGraph } from '../../src/graph/visualize.ts';
import { IndexedDBContextStore } from '../../src/store/indexeddb/store.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import type { StoreDelta } from '../../src/store/store.ts';
import { refusing } from '../support/refusal.ts';
import {
  asRead,
  beginning,
  endsOf,
  mark,
  me,
  message,
  only,
  reserved,
  said,
  words,
} from '../support/storeRecords.ts';

const FEW = 120;
const MANY = 300;

/** The functions in which the same work, done with few and with many, took by the square of the count. */
async function steep(count: (count: number) => Promise<Steps>, few = FEW, many = MANY): Promise<string[]> {
  const [before, after] = [await count(few), await count(many)];
  return grownBeyond((many / few) * 2, before, after, many * 100);
}

function each<T>(count: number, make: (i: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => make(i));
}

/** So many ids that begin with this letter. */
const all = (letter: string, n: number): string[] => each(n, (i) => `${letter}${i}`);
const begun: StoreDelta = only({
  messages: [said('q', null)],
  ends: [endsOf('main', ['q'])],
  marks: [beginning('me')],
});
const line = (n: number): StoreDelta =>
  only({
    messages: each(n, (i) => said(`a${i}`, i === 0 ? 'q' : `a${i - 1}`)),
    ends: [endsOf('main', [`a${n - 1}`])],
  });
const answers = (n: number): StoreDelta =>
  only({ messages: each(n, (i) => said(`a${i}`, 'q')), ends: each(n, (i) => endsOf(`r${i}`, [`a${i}`])) });
/** The same, all of them ends of one record. */
const answersOf = (n: number): StoreDelta => ({ ...answers(n), ends: [endsOf('main', all('a', n))] });
const deletions = (n: number, on: boolean): StoreDelta =>
  only({
    marks: each(n, (i) => mark(markId.deletion(`r${i}`, `key:a${i}`), { on, at: 5 }, { rev: on ? 1 : 2 })),
  });

const checkpoint = (i: number): Mark =>
  mark(markId.checkpoint(`k${i}`), { name: `k${i}`, key: 'key:q', createdAt: 1, at: 1 });

/** Deltas of thousands of records; the last commit of each is looked at. */
const COMMITS: Readonly<Record<string, (count: number) => readonly StoreDelta[]>> = {
  'a long line': (n) => [begun, line(n)],
  'a long line, again': (n) => [begun, line(n), line(n)],
  'new words': (n) => [
    begun,
    answers(n),
    only({ messages: each(n, (i) => said(`a${i}`, 'q', { versions: [words(`a${i}`, 'new', { rev: 2 })] })) }),
  ],
  'answers to one question, each a branch': (n) => [begun, answers(n)],
  'ends of one record': (n) => [begun, answersOf(n)],
  'ends of one record that are passed': (n) => [
    begun,
    answersOf(n),
    only({ messages: each(n, (i) => said(`b${i}`, `a${i}`)), ends: [endsOf('main', all('b', n))] }),
  ],
  'deleted branches': (n) => [begun, answers(n), deletions(n, true)],
  'branches that come back': (n) => [begun, answers(n), deletions(n, true), deletions(n, false)],
  'checkpoints and fields': (n) => [
    begun,
    only({
      marks: each(n, (i) => (i % 2 === 0 ? mark(`field f${i}`, i) : checkpoint(i))),
    }),
  ],
};

describe('thousands in one commit cost each no more than hundreds', () => {
  it.each(Object.entries(COMMITS))('%s', async (_name, commits) => {
    const found = await steep(async (length) => {
      const store = new IndexedDBContextStore(`many-${Math.random()}`);
      const [last, ...before] = commits(length).toReversed();
      for (const delta of before.toReversed()) await store.commit('c', delta, me);
      const here = await asRead(store);
      const steps = await stepsOf(() => store.commit('c', last as StoreDelta, here));
      await store.close();
      return steps;
    });
    expect(found).toEqual([]);
  });
});

/** A chat in which there are so many of all that there can be many of. */
const ofAll = (n: number): StoreDelta => {
  const versions = answers(n);
  const after = each(n, (i) => said(`x${i}`, `a${i}`));
  const roots = each(n, (i) => said(`u${i}`, null));
  const cutOff = each(n, (i) => said(`c${i}`, 'q', { versions: [reserved] }));
  const ends = [...after, ...roots, ...cutOff].map(({ id }) => endsOf(`r ${id}`, [id]));
  return only({
    messages: [...versions.messages, ...after, ...roots, ...cutOff],
    ends: [...versions.ends, ...ends, ...each(n, (i) => endsOf(`twin ${i}`, ['q']))],
    marks: each(n, (i) => checkpoint(i)),
  });
};

const CALLS: Readonly<Record<string, (engine: ContextEngine) => unknown>> = {
  ready: (engine) => engine.ready(),
  loadMore: (engine) => engine.loadMore(100_000),
  resolve: (engine) => engine.resolve(),
  forks: (engine) => engine.forks(),
  siblings: (engine) => engine.siblings('q'),
  visualizeGraph: (engine) => visualizeGraph(engine.graph()),
  switchBranch: (engine) => engine.switchBranch('last'),
  checkout: (engine) => engine.checkout('q'),
  selectSibling: (engine) => engine.selectSibling('lone'),
  rewind: (engine) => engine.rewind('q'),
  btw: (engine) => engine.btw(),
  edit: (engine) => engine.edit('q', 'other words'),
  save: (engine) => engine.set(user('one more')).save(),
  checkpoint: (engine) => engine.checkpoint('here'),
  restore: (engine) => engine.restore('here'),
  renameBranch: (engine) => engine.renameBranch('last', 'first'),
  deleteBranch: (engine) => engine.deleteBranch('first'),
  undo: (engine) => engine.undo(),
  inspect: (engine) => engine.inspect(),
  verify: (engine) => engine.verify(),
  repair: (engine) => engine.repair(),
  'getMessages of the store': ({ store }) => store.getMessages('c'),
  'getGraph of the store': ({ store }) => store.getGraph('c'),
  'searchMessages of the store': ({ store }) => store.searchMessages('c', 'a1'),
  'deleteChat of the store': ({ store }) => store.deleteChat('c'),
};

it('no call looks through all of thousands for each of them', async () => {
  const open = async (delta: StoreDelta): Promise<ContextEngine> => {
    const store = new InMemoryContextStore();
    const lone = only({
      messages: [said('lone', 'q')],
      ends: [endsOf('last', ['lone'], { at: 2 })],
      marks: [mark(markId.name('last', 'key:lone'), { name: 'last' })],
    });
    for (const one of [begun, delta, lone]) await store.commit('c', one, me);
    return new ContextEngine({ store, chatId: 'c', userId: 'me' });
  };
  const found: Record<string, string[]> = {};
  for (const shape of [ofAll, line]) {
    const engines = new Map([
      [FEW, await open(shape(FEW))],
      [MANY, await open(shape(MANY))],
    ]);
    for (const [name, call] of Object.entries(CALLS)) {
      const steps = await steep((count) => stepsOf(() => call(engines.get(count) as ContextEngine)));
      if (steps.length > 0) found[name] = steps;
    }
    for (const engine of engines.values()) engine.dispose();
  }
  expect(found).toEqual({});
});

it('turns that the disk refused are written without a look at all that wait for each', async () => {
  const count = async (turns: number): Promise<Steps> => {
    const { store, refuse } = refusing(new InMemoryContextStore());
    const engine = new ContextEngine({ store, chatId: 'c', userId: 'me' });
    await engine.ready();
    refuse('quota-exceeded');
    for (let i = 0; i < turns; i += 1) {
      const id = await engine.ask(message(`q${i}`));
      await engine.updateMessage(id, message(id, 'an answer'), 'complete');
    }
    refuse(undefined);
    const steps = await stepsOf(() => engine.retry());
    expect(engine.state.getState().saveState).toMatchObject({ state: 'saved', pending: 0 });
    engine.dispose();
    return steps;
  };
  expect(await steep(count, 50, 200)).toEqual([]);
});
