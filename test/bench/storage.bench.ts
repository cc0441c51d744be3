import type { UIMessage } from 'ai';
import { IndexedDBContextStore, type StoreOp } from 'contextree/core';
import { expect, test } from 'vitest';

/**
 * What the store's layout buys, on a real IndexedDB: reads of a long chat against one `getAll` of the same messages as
 * single objects, imports, appends and bytes on disk. `npm run bench` runs it; RESULTS.md keeps the last figures.
 */
const LONG = 10_000;
const me = { userId: 'u', epoch: 0, mainBranchId: 'main' };

/** About 1 kB of words that do not repeat more than words do. */
function message(id: string, i: number): UIMessage {
  let seed = i + 1;
  const next = (): number => (seed = (seed * 48_271) % 2_147_483_647);
  const word = (): string => (next() % 46_656).toString(36).padStart(3, 'e') + 'naeo'.charAt(next() % 4);
  const text = Array.from({ length: 190 }, word).join(' ');
  return { id, role: i % 2 === 0 ? 'user' : 'assistant', parts: [{ type: 'text', text }] };
}

function inserts(from: number, until: number): StoreOp[] {
  return Array.from({ length: until - from }, (_, k) => {
    const i = from + k;
    const parentId = i === 0 ? null : `m${i - 1}`;
    return { op: 'insert', id: `m${i}`, parentId, data: message(`m${i}`, i), status: 'complete' };
  });
}

function head(from: number, until: number): StoreOp {
  const expected = from === 0 ? null : `m${from - 1}`;
  return { op: 'head', branchId: 'main', expected, messageId: `m${until - 1}`, forkId: `f${until}` };
}

async function timed<T>(run: () => Promise<T>): Promise<[number, T]> {
  const start = performance.now();
  const result = await run();
  return [performance.now() - start, result];
}

const median = (times: readonly number[]): number =>
  times.toSorted((a, b) => a - b)[times.length >> 1] as number;

/** The median of some runs, each on a store that was opened anew. */
async function fresh(
  name: string,
  read: (store: IndexedDBContextStore) => Promise<unknown>,
): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < 9; round += 1) {
    const store = new IndexedDBContextStore(name);
    await store.get('warm');
    times.push((await timed(() => read(store)))[0]);
    await store.close();
  }
  return median(times);
}

/** The same messages as objects, one record each: what a store without a layout keeps. */
async function rawDatabase(messages: readonly UIMessage[]): Promise<IDBDatabase> {
  const request = indexedDB.open(`raw-${crypto.randomUUID()}`, 1);
  request.onupgradeneeded = () => request.result.createObjectStore('messages');
  const db = await new Promise<IDBDatabase>((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  const tx = db.transaction('messages', 'readwrite');
  messages.forEach((each, i) => tx.objectStore('messages').put(each, ['c', i]));
  await new Promise((resolve) => {
    tx.oncomplete = resolve;
  });
  return db;
}

const getAll = (db: IDBDatabase): Promise<unknown> =>
  new Promise((resolve) => {
    const request = db.transaction('messages').objectStore('messages').getAll();
    request.onsuccess = () => resolve(request.result);
  });

test('a chat of 10,000 messages', { timeout: 300_000 }, async () => {
  const name = `bench-${crypto.randomUUID()}`;
  const store = new IndexedDBContextStore(name);
  await store.append('c', [], me);
  const [imported] = await timed(() => store.append('c', [...inserts(0, LONG), head(0, LONG)], me));
  report('import of 10,000 messages in one append', imported);
  const raw = await rawDatabase(Array.from({ length: LONG }, (_, i) => message(`m${i}`, i)));
  const one: number[] = [];
  for (let round = 0; round < 9; round += 1) one.push((await timed(() => getAll(raw)))[0]);
  const base = median(one);
  report('getAll of 10,000 single objects', base);
  const last = `m${LONG - 1}`;
  const ids = Array.from({ length: 200 }, (_, i) => `m${LONG - 200 + i}`);
  const middle = Array.from({ length: 200 }, (_, i) => `m${5000 + i}`);
  const graph = await fresh(name, (each) => each.load('c'));
  report('load(): the graph without bodies', graph, base);
  report(
    'load() and the last 200 bodies: the first open',
    await fresh(name, async (each) => {
      await each.load('c');
      await each.getNodes('c', ids);
    }),
    base,
  );
  report('the last 200 by id', await fresh(name, (each) => each.getNodes('c', ids)), base);
  report('200 in the middle by id', await fresh(name, (each) => each.getNodes('c', middle)), base);
  report('one in the middle by id', await fresh(name, (each) => each.getMessage('c', 'm4321')), base);
  report(
    'the last 50 of the chain',
    await fresh(name, (each) => each.getMessageChain('c', last, { limit: 50 })),
    base,
  );
  report(
    'the last 200 of the chain',
    await fresh(name, (each) => each.getMessageChain('c', last, { limit: 200 })),
    base,
  );
  report('the whole chain', await fresh(name, (each) => each.getMessageChain('c', last)), base);
  expect((await store.getMessageChain('c', last)).length).toBe(LONG);
  raw.close();
});

function report(what: string, ms: number, base?: number): void {
  console.log(
    `| ${what} | ${ms.toFixed(1)} ms | ${base === undefined ? '' : `${(ms / base).toFixed(3)}x`} |`,
  );
}
