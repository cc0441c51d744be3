import { IDBFactory } from 'fake-indexeddb';
import 'fake-indexeddb/auto';
import { openDB } from 'idb';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { IndexedDBContextStore } from '../../src/store/indexeddb/store.ts';
import type { AppendResult } from '../../src/store/store.ts';
import { given, head, insert, line, me } from '../support/graph.ts';

/** What an append asks of the database, and that it asks again where somebody else has written. */
describe('an append behind an append', () => {
  const reads: string[] = [];
  beforeEach(() => {
    globalThis.indexedDB = new IDBFactory();
    for (const source of [IDBObjectStore.prototype, IDBIndex.prototype]) {
      for (const name of ['get', 'getAll'] as const) {
        const original = source[name];
        vi.spyOn(source, name).mockImplementation(function (
          this: IDBObjectStore & IDBIndex,
          ...args: unknown[]
        ) {
          if ((this.objectStore ?? this).transaction.mode === 'readwrite') reads.push(this.name);
          return Reflect.apply(original, this, args) as IDBRequest;
        });
      }
    }
  });
  afterEach(() => void vi.restoreAllMocks());

  async function next(store: IndexedDBContextStore, after: string, id: string): Promise<AppendResult> {
    return store.append('c', [insert(id, after), head(after, id)], me);
  }

  it('reads the counter, and whether the message is new', async () => {
    const store = new IndexedDBContextStore('requests');
    await given(store, line(3));
    await next(store, 'm2', 'a');
    reads.length = 0;
    await next(store, 'a', 'b');
    expect(reads).toEqual(['meta', 'id', 'id']);
    await store.close();
  });

  it('puts five records: the message, its words, its branch, its chat and the counter', async () => {
    const store = new IndexedDBContextStore('requests');
    await given(store, line(3));
    const put = vi.spyOn(IDBObjectStore.prototype, 'put');
    await next(store, 'm2', 'a');
    const tables = put.mock.contexts.map((table) => (table as IDBObjectStore).name);
    put.mockRestore();
    expect(tables.toSorted()).toEqual(['bodies', 'branches', 'chats', 'meta', 'nodes']);
    await store.close();
  });

  it('finds what another tab wrote in between', async () => {
    const [one, two] = [new IndexedDBContextStore('requests'), new IndexedDBContextStore('requests')];
    await given(one, line(3));
    await next(one, 'm2', 'a');
    await next(two, 'a', 'b');
    const { conflict, nodes } = await next(one, 'a', 'late');
    expect(conflict?.policy).toBe('fork');
    expect(nodes.map(({ seq }) => seq)).toEqual([5]);
    const { conflict: none } = await next(two, 'b', 'c');
    expect(none).toBeUndefined();
    expect((await one.load('c')).nodes.map(({ seq, id }) => `${seq} ${id}`)).toEqual(
      ['m0', 'm1', 'm2', 'a', 'b', 'late', 'c'].map((id, seq) => `${seq} ${id}`),
    );
    await Promise.all([one.close(), two.close()]);
  });

  it.each(['meta', 'chats'] as const)('looks again when the row in %s counts wrongly', async (table) => {
    const store = new IndexedDBContextStore('requests');
    await given(store, line(3));
    await next(store, 'm2', 'a');
    const db = await openDB('requests');
    if (table === 'meta') await db.put('meta', { ...(await db.get('meta', 'self')), seq: 1 }, 'self');
    else await db.put('chats', { ...(await db.get('chats', 'c')), nextSeq: 1 });
    db.close();
    const { seq } = await next(store, 'a', 'b');
    await store.close();
    const again = new IndexedDBContextStore('requests');
    await next(again, 'b', 'c');
    expect((await again.load('c')).nodes.map(({ id }) => id)).toEqual(['m0', 'm1', 'm2', 'a', 'b', 'c']);
    const numbers = (await again.changesSince(0)).map((change) => change.seq);
    expect(new Set(numbers).size).toBe(numbers.length);
    expect(seq).toBeGreaterThan(5);
    await again.close();
  });
});
