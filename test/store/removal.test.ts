import 'fake-indexeddb/auto';
import { openDB } from 'idb';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { IndexedDBContextStore } from '../../src/store/indexeddb/store.ts';
import { begun, me, message, oneMore, only, reserved, said } from '../support/storeRecords.ts';

afterEach(() => vi.useRealTimers());

/** How many records of each table lie in a database. */
async function countIn(name: string, tables: readonly string[]): Promise<number[]> {
  const db = await openDB(name);
  const counts = await Promise.all(tables.map((table) => db.count(table)));
  db.close();
  return counts;
}

const CONTENT = ['nodes', 'bodies', 'topologies', 'packs', 'facts', 'drafts', 'revisions'];

function opened(name: string): IndexedDBContextStore {
  const store = new IndexedDBContextStore(name);
  onTestFinished(() => store.close());
  return store;
}

describe('a chat that is deleted for a while', () => {
  it(
    'leaves nothing on the disk when that is over, also where another tab deleted it',
    { timeout: 30_000 },
    async () => {
      vi.useFakeTimers({ toFake: ['Date'] });
      const [one, two] = [opened('removal'), new IndexedDBContextStore('removal')];
      await two.commit('c', begun('me', 'q1 > a1'), me);
      await two.deleteChat('c', { keepFor: 1000 });
      await two.close();
      expect((await countIn('removal', CONTENT)).some((count) => count > 0)).toBe(true);
      vi.setSystemTime(Date.now() + 1000);
      await one.listChats();
      await expect.poll(() => countIn('removal', CONTENT), { timeout: 15_000 }).toEqual(CONTENT.map(() => 0));
    },
  );
});

// A page that is about to go writes the words of its answer last, and can't look first whether the chat is still there.
it('what a page said last in a chat that was deleted meanwhile is not told by the next one of its id', async () => {
  const store = opened('leaving');
  const answer = oneMore('a1', 'q1', { versions: [reserved] });
  await store.commit('c', begun('me', 'q1'), me);
  await store.commit('c', answer, me);
  await store.deleteChat('c');
  const draft = { key: 'key:a1', rev: 1, by: 'tab-1', message: message('a1', 'last words') };
  await store.saveDraft('c', draft, { isLeaving: true });
  const words = async (): Promise<unknown> => [
    (await store.load('c')).growing,
    (await store.bodies('c', ['key:a1'])).size,
  ];
  expect(await words()).toEqual([[], 0]);
  const anew = begun('me', 'n1');
  const chat = { chat: 'anew' };
  await store.commit(
    'c',
    {
      messages: anew.messages.map((one) => ({ ...one, ...chat })),
      ends: anew.ends.map((one) => ({ ...one, ...chat })),
      marks: [{ ...anew.marks[0]!, ...chat, id: 'beginning anew' }],
    },
    me,
  );
  expect(await words()).toEqual([[], 0]);
});

/**
 * As Chromium has it when a site's share is used up: what only deletes is taken, and nothing is that puts a byte. The first
 * `refusals` transactions that put something are refused.
 */
function full(refusals: number): { readonly mockRestore: () => void } {
  const put = Reflect.get(IDBObjectStore.prototype, 'put');
  const refused = new Set<IDBTransaction>();
  return vi.spyOn(IDBObjectStore.prototype, 'put').mockImplementation(function (
    this: IDBObjectStore,
    ...args: Parameters<IDBObjectStore['put']>
  ) {
    const request = put.apply(this, args);
    const { transaction } = this;
    if (refused.has(transaction) || refused.size === refusals) return request;
    refused.add(transaction);
    transaction.abort();
    const error = new DOMException('no room', 'QuotaExceededError');
    Object.defineProperty(transaction, 'error', { get: () => error });
    return request;
  });
}

describe('on a full disk', () => {
  it('a chat that is deleted for good goes, makes room, and late writers stay out', async () => {
    const [store, other] = [opened('full'), opened('full')];
    await store.commit('c', begun('me', 'q1 > a1'), me);
    await other.load('c');
    const disk = full(1);
    expect(await store.deleteChat('c')).toBe(true);
    disk.mockRestore();
    expect([await store.listChats(), await countIn('full', CONTENT)]).toEqual([[], CONTENT.map(() => 0)]);
    const late = other.commit('c', only({ messages: [said('q2', 'a1')] }), me);
    await expect(late).rejects.toMatchObject({ code: 'chat-deleted' });
  });

  it('a chat that would be deleted for a while stays as it was', async () => {
    const store = opened('kept on a full disk');
    await store.commit('c', begun('me', 'q1 > a1'), me);
    const disk = full(Infinity);
    await expect(store.deleteChat('c', { keepFor: 1000 })).rejects.toMatchObject({ code: 'quota-exceeded' });
    expect((await store.getMessages('c')).map(({ id }) => id)).toEqual(['q1', 'a1']);
    disk.mockRestore();
  });
});
