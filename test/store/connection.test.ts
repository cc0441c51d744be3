import 'fake-indexeddb/auto';
import { forceCloseDatabase } from 'fake-indexeddb';
import { openDB } from 'idb';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { IndexedDBContextStore } from '../../src/store/indexeddb/store.ts';
import { asRead, begun, me, oneMore, only, said } from '../support/storeRecords.ts';

let made = 0;

function open(name = `connection-${(made += 1)}`): { name: string; store: IndexedDBContextStore } {
  const store = new IndexedDBContextStore(name, { patience: 20_000 });
  onTestFinished(() => store.close());
  return { name, store };
}

/** Notes that outlive a page. */
function withLocalStorage(): Map<string, string> {
  const notes = new Map<string, string>();
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => notes.get(key) ?? null,
    setItem: (key: string, value: string) => void notes.set(key, value),
    removeItem: (key: string) => void notes.delete(key),
  });
  return notes;
}

/** The next so many requests to open a database fail. */
function refuseToOpen(times: number, name = 'UnknownError'): void {
  let left = times;
  const native = indexedDB.open.bind(indexedDB);
  vi.spyOn(indexedDB, 'open').mockImplementation((...args) => {
    if ((left -= 1) >= 0) throw new DOMException('Internal error.', name);
    return native(...args);
  });
}

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

const code = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'none',
    (error: { code?: string }) => error.code,
  );

test('a database that opens at the third time is no reason to forget', async () => {
  const { store } = open();
  refuseToOpen(2);
  await store.commit('c', begun('me', 'q1 > a1'), me);
  expect(store.persistence).toBe('indexeddb');
  expect((await store.load('c')).messages).toHaveLength(2);
});

test('where databases are refused and none is known, the store is memory and says so', async () => {
  const { store } = open();
  refuseToOpen(Infinity, 'SecurityError');
  await store.commit('c', begun('me', 'q1 > a1'), me);
  expect(store.persistence).toBe('memory');
  expect((await store.load('c')).messages).toHaveLength(2);
});

test('where one is known, calls reject until somebody chooses memory', async () => {
  const notes = withLocalStorage();
  const { name, store } = open();
  await store.commit('c', begun('me', 'q1 > a1'), me);
  await expect.poll(() => notes.size).toBe(1);
  await store.close();
  const later = open(name).store;
  refuseToOpen(Infinity, 'SecurityError');
  expect(await code(later.load('c'))).toBe('store-unavailable');
  expect(later.persistence).toBe('indexeddb');
  await later.useMemory();
  expect(later.persistence).toBe('memory');
  expect((await later.load('c')).messages).toEqual([]);
});

test('a database that was cleared is told, and takes what a page still has', async () => {
  const notes = withLocalStorage();
  const { name, store } = open();
  await store.commit('c', begun('me', 'q1 > a1'), me);
  await expect.poll(() => notes.size).toBe(1);
  const here = await asRead(store);
  await store.close();
  indexedDB.deleteDatabase(name);
  const losses: unknown[] = [];
  const later = new IndexedDBContextStore(name, { onDataLoss: (loss) => losses.push(loss) });
  onTestFinished(() => later.close());
  expect(await code(later.commit('c', only({ messages: [said('q2', 'a1')] }), here))).toBe('data-loss');
  expect(losses).toMatchObject([{ kind: 'all', noticedBy: 'marker', messages: 2 }]);
});

test('a database without its last changes has another id from then on, in each chat', async () => {
  const notes = withLocalStorage();
  const { name, store } = open();
  await store.commit('c', begun('me', 'q1 > a1'), me);
  await expect.poll(() => notes.size, { timeout: 5000 }).toBe(1);
  const here = await asRead(store);
  await store.close();
  const [[place, note] = ['', '']] = notes;
  notes.set(place, JSON.stringify({ ...JSON.parse(note), seq: here.since + 5 }));
  const losses: unknown[] = [];
  const later = new IndexedDBContextStore(name, { onDataLoss: (loss) => losses.push(loss) });
  onTestFinished(() => later.close());
  expect(await code(later.commit('c', only({ messages: [said('q2', 'a1')] }), here))).toBe('data-loss');
  expect(losses).toMatchObject([{ kind: 'latest', noticedBy: 'marker' }]);
  const { database } = await asRead(later);
  await later.commit('other', begun('me', 'q1 > a1'), { ...me, database });
  expect(await code(later.commit('c', only({ messages: [said('q2', 'a1')] }), here))).toBe('data-loss');
  expect((await later.load('c')).database).toBe(database);
});

test('work in flight is done again when the browser closes the database by force', async () => {
  const { store } = open();
  const first = await store.commit('c', begun('me', 'q1 > a1'), me);
  const databases: IDBDatabase[] = [];
  const native = Object.getOwnPropertyDescriptor(IDBDatabase.prototype, 'transaction')?.value as (
    this: IDBDatabase,
    ...args: unknown[]
  ) => IDBTransaction;
  let isDeaf = true;
  vi.spyOn(IDBDatabase.prototype, 'transaction').mockImplementation(function (
    this: IDBDatabase,
    ...args: unknown[]
  ) {
    databases.push(this);
    const tx = native.apply(this, args);
    // Such a transaction is never answered.
    if (isDeaf)
      for (const event of ['complete', 'abort'])
        tx.addEventListener(event, (one) => one.stopImmediatePropagation());
    return tx;
  });
  const here = { ...me, database: first.database, since: first.seq };
  const turn = oneMore('q2', 'a1');
  const saving = store.commit('c', turn, here);
  await expect.poll(() => databases.length).toBe(1);
  isDeaf = false;
  forceCloseDatabase(databases[0] as never);
  expect((await saving).messages.map(({ id }) => id)).toEqual(['q2']);
  expect((await store.load('c')).messages).toHaveLength(3);
});

test('a newer database is left alone', async () => {
  const { name, store } = open();
  (await openDB(name, 2)).close();
  expect(await code(store.load('c'))).toBe('newer-format');
});

test('a tab that wants to upgrade or delete the database is not held up', async () => {
  const { name, store } = open();
  await store.commit('c', begun('me', 'q1 > a1'), me);
  const request = indexedDB.deleteDatabase(name);
  await new Promise((resolve, reject) => {
    request.addEventListener('success', resolve);
    request.addEventListener('blocked', reject);
  });
  expect((await store.load('c')).messages).toEqual([]);
});
