import 'fake-indexeddb/auto';
import { openDB } from 'idb';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isContextError } from '../../src/errors.ts';
import type { Table } from '../../src/store/tables/layout.ts';
import { IndexedDBContextStore } from '../../src/store/indexeddb/store.ts';
import {
  begun,
  beginning,
  endsOf,
  me,
  message,
  oneMore,
  only,
  reserved,
  said,
  words,
} from '../support/storeRecords.ts';
import { Unreadable } from '../support/unreadable.ts';

const COUNT = 130;
const IDS: readonly string[] = Array.from({ length: COUNT }, (_, i) => `m${i}`);
/** Tables of a chat, and how many messages may lose their words with a record of each, until a repair. */
const COSTS: readonly (readonly [table: Table, words: number])[] = [
  ['chats', 0],
  ['nodes', 1],
  ['bodies', 1],
  ['topologies', 64],
  ['packs', 64],
  ['facts', 0],
  ['revisions', 0],
  ['drafts', 1],
];

let made = 0;

/** A chat of two packs, some single messages, an edited one, and one that grows. */
async function given(): Promise<string> {
  const name = `unreadable-${(made += 1)}`;
  const store = new IndexedDBContextStore(name);
  const messages = IDS.map((id, i) => said(id, IDS[i - 1] ?? null));
  await store.commit('c', { messages, ends: [endsOf('main', ['m129'])], marks: [beginning('me')] }, me);
  await store.commit('c', edit('m129', 'm128', 2), me);
  const growing = said('a', 'm129', { versions: [reserved] });
  await store.commit('c', only({ messages: [growing], ends: [endsOf('main', ['a'])] }), me);
  await store.saveDraft('c', { key: 'key:a', rev: 1, by: 'tab-1', message: message('a', 'so far') });
  await store.close();
  return name;
}

function edit(id: string, parent: string, rev: number): ReturnType<typeof only> {
  return only({ messages: [said(id, parent, { versions: [words(id, 'new', { rev })] })] });
}

describe('a record that the browser has and does not give out', () => {
  let unreadable: Unreadable;
  beforeEach(() => {
    unreadable = new Unreadable();
  });
  afterEach(() => unreadable.remove());

  /** A store on a chat of which the `at`-th record of a table can't be read; undefined where there are fewer. */
  async function without(
    table: Table,
    at: number,
    why: 'gone' | 'short' | 'connection',
  ): Promise<[IndexedDBContextStore, string] | undefined> {
    const name = await given();
    const db = await openDB(name);
    const key = (await db.getAllKeys(table))[at];
    if (key !== undefined) unreadable.lose(db as unknown as IDBDatabase, table, [key], why);
    db.close();
    return key === undefined ? undefined : [new IndexedDBContextStore(name), name];
  }

  /** How many messages have words, growing ones included. */
  async function wordsIn(store: IndexedDBContextStore): Promise<number> {
    const keys = [...IDS, 'a'].map((id) => `key:${id}`);
    return (await store.bodies('c', keys)).size;
  }

  const losses = COSTS.flatMap(([table, most]) =>
    (['gone', 'short'] as const).map((why) => [table, most, why] as const),
  );
  it.each(losses)(
    'costs no more than itself: one of %s, at most the words of %i, its file is %s',
    async (table, most, why) => {
      for (const at of [0, 1]) {
        const found = await without(table, at, why);
        if (!found) continue;
        const [store] = found;
        await store.load('c');
        await store.revisions('c', 'key:m129');
        expect(await wordsIn(store)).toBeGreaterThanOrEqual(COUNT + 1 - most);
        expect(unreadable.failed).toBeGreaterThan(0);
        await store.close();
      }
    },
  );

  it.each(COSTS)('lets everything be written, and deleted: one of %s', async (table) => {
    const [store, name] = (await without(table, 0, 'gone')) as [IndexedDBContextStore, string];
    const turn = oneMore('q', 'm129', { record: 'r1' });
    const other = { ...begun('me', 'q1'), ends: [] };
    const writes: Readonly<Record<string, () => Promise<unknown>>> = {
      turn: () => store.commit('c', turn, me),
      edit: () => store.commit('c', edit('m0', 'm0', 3), me),
      'edit of the last': () => store.commit('c', edit('m129', 'm128', 3), me),
      draft: () => store.saveDraft('c', { key: 'key:a', rev: 1, by: 'tab-1', message: message('a', 'on') }),
      settle: () => store.commit('c', edit('a', 'm129', 2), me),
      other: () => store.commit('d', other, me),
      value: () => store.set('unsent', 'words'),
      search: () => store.searchMessages('c', 'm9'),
    };
    const failed: unknown[] = [];
    for (const [what, write] of Object.entries(writes))
      await write().catch((error: unknown) =>
        failed.push([what, isContextError(error) ? error.code : error]),
      );
    expect(failed).toEqual([]);
    await store.deleteChat('c');
    unreadable.giveBack();
    const db = await openDB(name);
    const tables = ['bodies', 'packs', 'revisions', 'drafts'] as const;
    const left = await Promise.all(tables.map((each) => db.count(each, IDBKeyRange.bound(['c'], ['c', []]))));
    db.close();
    expect(left).toEqual([0, 0, 0, 0]);
    await store.close();
  });

  it.each(COSTS)('loses nothing where only the connection failed: one of %s', async (table) => {
    const [store] = (await without(table, 0, 'connection')) as [IndexedDBContextStore, string];
    unreadable.isPassing = true;
    expect(await wordsIn(store)).toBe(COUNT + 1);
    await store.close();
  });

  it('is not taken for a chat that is gone while the connection fails, also twice', async () => {
    const [store] = (await without('chats', 0, 'connection')) as [IndexedDBContextStore, string];
    await expect(store.load('c')).rejects.toMatchObject({ code: 'store-closed' });
    await expect(store.commit('c', edit('m0', 'm0', 3), me)).rejects.toMatchObject({ code: 'store-closed' });
    unreadable.giveBack();
    expect((await store.load('c')).messages).toHaveLength(COUNT + 1);
    await store.close();
  });
});
