import 'fake-indexeddb/auto';
import { describe, expect, it } from 'vitest';
import { isContextError } from '../../src/errors.ts';
import { kindOf } from '../../src/graph/marks.ts';
import type { StoreDelta } from '../../src/store/store.ts';
// A store packs by and by: its code is here before the last story ends, and with it this worker.
import '../../src/store/tables/pack.ts';
import { badStories, patience } from '../support/campaign.ts';
import { engineWorld, type Commit } from '../support/engineWorld.ts';
import { simulate, type Outcome } from '../support/simulation.ts';

describe.each([
  ['memory', 16],
  ['indexeddb', 6],
] as const)('stories of engines on one store: %s', (store, count) => {
  it(
    'lose nothing that was acknowledged, and all agree in the end',
    async () => {
      const play = (seed: number): Promise<Outcome> =>
        simulate(seed, (random) => engineWorld(random, { store }));
      expect(await badStories(count, play)).toEqual([]);
    },
    patience,
  );
});

/** Writes what is left of a delta. */
function writing(change: (delta: StoreDelta) => StoreDelta): Commit {
  return (store, chatId, delta, options) => store.commit(chatId, change(delta), options);
}

function withoutMarks(kind: string): Commit {
  return writing((delta) => ({ ...delta, marks: delta.marks.filter((mark) => kindOf(mark) !== kind) }));
}

/** Each with the number of a short story that tells of it; where stories go otherwise by then, one of the next sixty does. */
const planted: Record<string, { commit: Commit; tells: string; story: number }> = {
  'a write is acknowledged and not done': {
    commit: (store, chatId) => store.load(chatId),
    tells: 'words are lost',
    story: 3,
  },
  'versions are written without their words': {
    commit: writing((delta) => ({
      ...delta,
      messages: delta.messages.map((record) => ({
        ...record,
        versions: record.versions.map(({ body: _body, ...version }) => version),
      })),
    })),
    tells: 'words are lost',
    story: 6,
  },
  'a branch that is known ends where it ended': {
    commit: async (store, chatId, delta, options) => {
      const known = new Set((await store.load(chatId)).ends.map(({ id }) => id));
      return store.commit(chatId, { ...delta, ends: delta.ends.filter(({ id }) => !known.has(id)) }, options);
    },
    tells: 'words are on no branch',
    story: 6,
  },
  'names are not written': { commit: withoutMarks('name'), tells: 'they do not agree', story: 2 },
  'deletions are not written': { commit: withoutMarks('deletion'), tells: 'they do not agree', story: 11 },
  'a turn is written whatever it expects': {
    commit: (store, chatId, delta, { expect: _expect, ...options }) => store.commit(chatId, delta, options),
    tells: 'a turn went where others were expected',
    story: 7,
  },
  'only what waits is written to another database': {
    commit: (store, chatId, delta, options) =>
      store.commit(chatId, delta, options).catch(async (error: unknown) => {
        if (!isContextError(error, 'data-loss')) throw error;
        const { database, generation } = await store.load(chatId);
        return store.commit(chatId, delta, { ...options, database, generation });
      }),
    tells: 'words are lost',
    story: 56,
  },
  'what was said in a deleted chat is written under another key': {
    commit: (store, chatId, delta, options) =>
      store.commit(chatId, delta, options).catch(async (error: unknown) => {
        if (!isContextError(error, 'chat-deleted')) throw error;
        const again = <R extends { readonly chat: string }>(record: R): R => ({
          ...record,
          chat: `${record.chat}'`,
        });
        const messages = delta.messages.map(again);
        const { generation } = await store.load(chatId);
        const whole = { messages, ends: delta.ends.map(again), marks: delta.marks.map(again) };
        return store.commit(chatId, whole, { ...options, generation });
      }),
    tells: 'words of a deleted chat are back',
    story: 49,
  },
};

describe('a store that breaks a rule is found', () => {
  it.each(Object.entries(planted))(
    '%s',
    async (_what, { commit, tells, story }) => {
      const found = new Set<string>();
      for (let seed = story; seed < story + 60 && !found.has(tells); seed += 1) {
        const { bad } = await simulate(seed, (random) => engineWorld(random, { store: 'memory', commit }));
        for (const one of bad) found.add(one);
      }
      expect([...found]).toContain(tells);
    },
    patience,
  );
});
