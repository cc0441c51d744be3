import { IDBFactory } from 'fake-indexeddb';
import 'fake-indexeddb/auto';
import { type IDBPDatabase, openDB } from 'idb';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { Marks } from '../../src/store/indexeddb/marks.ts';
import { IndexedDBContextStore } from '../../src/store/indexeddb/store.ts';
import type { AppendResult, StoreOp } from '../../src/store/store.ts';
import { given, head, insert, line, me } from '../support/graph.ts';

/** What an append asks of the database, and that it asks again where somebody else has written. */
describe('an append behind an append', () => {
  const requests: string[] = [];
  const reads = (): string[] => requests.filter((request) => request.startsWith('get'));
  beforeEach(() => {
    globalThis.indexedDB = new IDBFactory();
    for (const source of [IDBObjectStore.prototype, IDBIndex.prototype])
      for (const name of ['get', 'getAll', 'put'] as const) {
        const original = Reflect.get(source, name) as IDBObjectStore['get'] | undefined;
        if (original) vi.spyOn(source as IDBObjectStore, name).mockImplementation(noting(name, original));
      }
  });
  afterEach(() => void vi.restoreAllMocks());

  function noting(name: string, original: (...args: never[]) => IDBRequest): IDBObjectStore['get'] {
    return function (this: IDBObjectStore, ...args: unknown[]) {
      const request = Reflect.apply(original, this, args) as IDBRequest;
      const table = (Reflect.get(this, 'objectStore') as IDBObjectStore | undefined) ?? this;
      if (table.transaction.mode !== 'readwrite') return request;
      requests.push(`${name} ${table.name}`);
      if (name !== 'put') request.addEventListener('success', () => requests.push('answer'));
      return request;
    };
  }

  async function next(store: IndexedDBContextStore, after: string, id: string): Promise<AppendResult> {
    return store.append('c', [insert(id, after), head(after, id)], me);
  }

  it('reads the counter, and waits for it with all that it puts', async () => {
    const store = new IndexedDBContextStore('requests');
    await given(store, line(3));
    await next(store, 'm2', 'a');
    requests.length = 0;
    await next(store, 'a', 'b');
    expect(requests).toEqual([
      'get meta',
      'put meta',
      'put chats',
      'put branches',
      'put nodes',
      'put bodies',
      'answer',
    ]);
    await store.close();
  });

  it('knows from reading a chat which branches there are, and which messages are new', async () => {
    const writer = new IndexedDBContextStore('requests');
    await given(writer, line(300));
    await writer.close();
    const store = new IndexedDBContextStore('requests');
    await store.load('c');
    requests.length = 0;
    await store.append('c', [{ op: 'use', branchId: me.mainBranchId }], me);
    expect(reads()).toEqual(['get meta']);
    requests.length = 0;
    await next(store, 'm299', 'a');
    expect(reads()).toEqual(['get meta', 'get nodes', 'getAll topologies', 'getAll marks']);
    requests.length = 0;
    await next(store, 'a', 'b');
    expect(reads()).toEqual(['get meta']);
    await store.close();
  });

  it('writes a message under an id that is there already only once', async () => {
    const store = new IndexedDBContextStore('requests');
    await given(store, line(300));
    await next(store, 'm299', 'a');
    await store.append('c', [insert('b', 'a')], me);
    const again = store.append('c', [insert('m7', 'b', 'other words')], me);
    await expect(again).rejects.toMatchObject({ code: 'head-moved', details: { reason: 'id-taken' } });
    expect((await store.append('c', [insert('m7', 'm6')], me)).changed).toBe(false);
    expect((await store.load('c')).nodes.length).toBe(302);
    await store.close();
  });

  it('of two at once, the second one waits for what the first one leaves', async () => {
    const store = new IndexedDBContextStore('requests');
    await given(store, line(3));
    await next(store, 'm2', 'a');
    requests.length = 0;
    await Promise.all([next(store, 'a', 'b'), next(store, 'b', 'c')]);
    expect(requests.filter((request) => request === 'put bodies').length).toBe(2);
    expect((await store.load('c')).nodes.map(({ id }) => id)).toEqual(['m0', 'm1', 'm2', 'a', 'b', 'c']);
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

  it('reads first where it has heard that another tab wrote', async () => {
    const [one, two] = [new IndexedDBContextStore('requests'), new IndexedDBContextStore('requests')];
    const heard = new Promise((resolve) => one.subscribe((notice) => notice.remote && resolve(notice)));
    await given(one, line(3));
    await two.append('c', [insert('a', 'm2'), head('m2', 'a')], me);
    await heard;
    requests.length = 0;
    await next(one, 'a', 'b');
    expect(requests.filter((request) => request === 'get meta').length).toBe(1);
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

/** What the words of a chain are asked from, where it is scattered over a long chat. */
describe('a chain of 200 in a bush of 2,000', () => {
  beforeEach(() => {
    globalThis.indexedDB = new IDBFactory();
  });
  afterEach(() => void vi.restoreAllMocks());

  const ids = (name: string): string[] => Array.from({ length: 100 }, (_, i) => `${name}${i}`);
  const trunk = Array.from({ length: 100 }, (_, i) => insert(`m${i}`, i === 0 ? null : `m${i - 1}`));
  const branches = Array.from({ length: 19 }, (_b, b) =>
    Array.from({ length: 100 }, (_, i) => insert(`b${b}-${i}`, i === 0 ? 'm99' : `b${b}-${i - 1}`)),
  );

  it('takes each pack once', async () => {
    const store = new IndexedDBContextStore('requests');
    await store.append('c', [], me);
    await store.append('c', [...trunk, ...branches.flat(), head(null, 'b18-99')], me);
    const asked = noteRequests();
    const chain = await store.getMessageChain('c', 'b10-99');
    expect(chain.map(({ id }) => id)).toEqual([...ids('m'), ...ids('b10-')]);
    // The trunk is 0 to 99, the branch 1100 to 1199.
    const words = asked.filter((each) => / (?:packs|bodies) /.test(each));
    expect(words.toSorted()).toEqual(['get packs c,0', 'get packs c,1', 'get packs c,17', 'get packs c,18']);
    asked.length = 0;
    expect((await store.getMessageChain('c', 'b18-99', { limit: 20 })).length).toBe(20);
    expect(asked.filter((each) => / (?:packs|bodies) /.test(each))).toEqual(['getAll bodies 1980 to 1999']);
    await store.close();
  });

  it('is asked for in one go where its messages lay when somebody last looked', async () => {
    const store = new IndexedDBContextStore('requests');
    await store.append('c', [], me);
    await store.append('c', [...trunk, ...branches.flat(), head(null, 'b18-99')], me);
    await store.getMessageChain('c', 'b10-99');
    const asked = noteRequests();
    expect((await store.getMessageChain('c', 'b10-99')).length).toBe(200);
    expect(asked).toEqual([
      'get chats c',
      'getAll nodes 0 to 99',
      'get topologies c,0',
      'get topologies c,1',
      'getAll nodes 1100 to 1199',
      'get topologies c,17',
      'get topologies c,18',
      'get packs c,18',
      'get packs c,17',
      'get packs c,1',
      'get packs c,0',
    ]);
    asked.length = 0;
    expect((await store.getMessageChain('c', 'b10-99', { limit: 50 })).map(({ id }) => id)).toEqual(
      ids('b10-').slice(50),
    );
    expect(asked).toEqual([
      'get chats c',
      'getAll nodes 1150 to 1199',
      'get topologies c,17',
      'get topologies c,18',
      'get packs c,18',
      'get packs c,17',
    ]);
    await store.close();
  });
});

/** What a chain is asked from that lies here and there. */
describe('a scattered chain', () => {
  beforeEach(() => {
    globalThis.indexedDB = new IDBFactory();
  });
  afterEach(() => void vi.restoreAllMocks());

  const chainOf = async (store: IndexedDBContextStore, id: string): Promise<string[]> =>
    (await store.getMessageChain('c', id)).map((node) => node.id);

  it('of two that were written by turns takes each block once, known or not', async () => {
    const store = new IndexedDBContextStore('requests');
    const both = Array.from({ length: 640 }, (_, i) =>
      ['a', 'b'].map((name) => insert(`${name}${i}`, i === 0 ? null : `${name}${i - 1}`)),
    );
    await store.append('c', both.flat(), me);
    await store.close();
    await store.get('nothing');
    const asked = noteRequests();
    const wanted = Array.from({ length: 512 }, (_, i) => `b${i}`);
    for (let i = 0; i < 2; i += 1) {
      asked.length = 0;
      expect(await chainOf(store, 'b511')).toEqual(wanted);
      expect(asked.filter((each) => each.startsWith('get packs')).length).toBe(16);
      // The other half of it: the topology, and what it takes to begin.
      expect(asked.length).toBeLessThan(48);
    }
    await store.close();
  });

  it('of two that were written by turns is found where it is known to lie in few requests', async () => {
    const store = new IndexedDBContextStore('requests');
    const both = Array.from({ length: 640 }, (_, i) =>
      ['a', 'b'].map((name) => insert(`${name}${i}`, i === 0 ? null : `${name}${i - 1}`)),
    );
    await store.append('c', both.flat(), me);
    const asked = noteRequests();
    const places = Array.from({ length: 200 }, (_, i) => i);
    const [ids, seqs] = [places.map((i) => `b${i}`), places.map((i) => 2 * i + 1)];
    expect((await store.getNodes('c', ids, seqs)).map(({ id, seq }) => [id, seq])).toEqual(
      places.map((i) => [ids[i], seqs[i]]),
    );
    expect(asked.length).toBeLessThan(24);
    await store.close();
  });

  it('is looked for by marks only where it jumps', async () => {
    const store = new IndexedDBContextStore('requests');
    await given(store, line(2000));
    await chainOf(store, 'm1500');
    const seqsOf = vi.spyOn(Marks.prototype, 'seqsOf');
    expect((await chainOf(store, 'm1500')).length).toBe(1501);
    expect(seqsOf.mock.calls).toEqual([['m1500']]);
    await store.close();
  });

  it('that goes elsewhere at every message than where it went is not looked for there each time', async () => {
    const [one, two] = [new IndexedDBContextStore('requests'), new IndexedDBContextStore('requests')];
    const FAR = 70;
    const MANY = 80;
    /** Each message of the chain follows the one so many before it; between them are others. */
    const apart = (by: number): StoreOp[] =>
      Array.from({ length: FAR * MANY }, (_, i) => {
        const isFiller = i % FAR > 0;
        const parent = isFiller ? i - 1 : i - by * FAR;
        return insert(`m${i}`, parent < 0 ? null : `m${parent}`);
      });
    const last = (parity: number): string => `m${(MANY - 2 + parity) * FAR}`;
    await one.append('c', apart(2), me);
    expect((await chainOf(two, last(0))).concat(await chainOf(two, last(1))).length).toBe(MANY);
    await one.deleteChat('c');
    // In turns so short that nothing is sealed, and nobody who reads them learns of a block.
    const again = apart(1);
    for (let at = 0; at < again.length; at += 100)
      await one.append('c', again.slice(at, at + 100), { ...me, epoch: 1 });
    const asked = noteRequests();
    expect(await chainOf(two, last(1))).toEqual(Array.from({ length: MANY }, (_, i) => `m${i * FAR}`));
    expect(asked.length).toBeLessThan(12 * MANY);
    await Promise.all([one.close(), two.close()]);
  });
});

/** Notes what is read from now on. */
function noteRequests(): string[] {
  const asked: string[] = [];
  for (const source of [IDBObjectStore.prototype, IDBIndex.prototype])
    for (const name of ['get', 'getAll', 'getAllKeys'] as const) {
      const original = Reflect.get(source, name) as (...args: never[]) => IDBRequest;
      vi.spyOn(source as IDBObjectStore, name).mockImplementation(function (
        this: IDBObjectStore,
        ...args: unknown[]
      ) {
        const [key] = args as [string | { readonly lower: number[]; readonly upper: number[] }];
        const where = typeof key === 'object' && 'lower' in key ? `${key.lower[1]} to ${key.upper[1]}` : key;
        asked.push(`${name} ${this.name} ${where}`);
        return Reflect.apply(original, this, args);
      });
    }
  return asked;
}

/** Whether topologies are lost is told by the keys of the words, which may be many. */
describe('a chat that is opened', () => {
  beforeEach(() => {
    globalThis.indexedDB = new IDBFactory();
  });
  afterEach(() => void vi.restoreAllMocks());

  async function opened(many: number, damage?: (db: IDBPDatabase) => Promise<unknown>): Promise<string[]> {
    const name = `opened-${many}`;
    const store = new IndexedDBContextStore(name);
    await given(store, line(many));
    await store.close();
    const db = await openDB(name);
    await damage?.(db);
    db.close();
    await store.get('nothing');
    const asked = noteRequests();
    expect((await store.load('c')).nodes.length).toBe(many);
    vi.restoreAllMocks();
    await store.close();
    return asked;
  }

  it('asks for its row first, and looks for words only where a message could be that is not there', async () => {
    const asked = await opened(1300);
    expect(asked.slice(0, 2)).toEqual(['get meta self', 'get chats c']);
    expect(asked.filter((each) => each.startsWith('getAllKeys'))).toEqual([
      'getAllKeys packs 20 to Infinity',
    ]);
  });

  it('looks where messages of the last block are still to come', async () => {
    const asked = await opened(300);
    expect(asked.filter((each) => each.startsWith('getAllKeys'))).toEqual([
      'getAllKeys packs 16 to Infinity',
      'getAllKeys packs 4 to 15',
    ]);
  });

  it('asks once for each block of which only words are left, and for none of their messages alone', async () => {
    const asked = await opened(1280, (db) => db.clear('topologies'));
    expect(asked.filter((each) => each.startsWith('get packs')).length).toBe(19);
    // Of 1,216 messages.
    expect(asked.length).toBeLessThan(200);
  });
});

/** How many rows a list of chats reads. */
describe('a page of a list of three hundred chats', () => {
  const NAME = 'pages';
  let store: IndexedDBContextStore;
  let rows = 0;

  beforeAll(async () => {
    globalThis.indexedDB = new IDBFactory();
    store = new IndexedDBContextStore(NAME);
    vi.useFakeTimers({ toFake: ['Date'], now: 1_000_000 });
    for (let i = 0; i < 300; i += 1) {
      vi.setSystemTime(1_000_000 + i);
      const metadata = { tag: i % 10 };
      await store.append(`c${i}`, [{ op: 'chat', metadata }], { ...me, userId: i % 3 === 0 ? 'ann' : 'bob' });
    }
    vi.useRealTimers();
    for (const source of [IDBObjectStore.prototype, IDBIndex.prototype]) {
      const original = Reflect.get(source, 'getAll') as IDBIndex['getAll'];
      vi.spyOn(source as IDBIndex, 'getAll').mockImplementation(function (this: IDBIndex, ...args) {
        const request = Reflect.apply(original, this, args) as IDBRequest<unknown[]>;
        const table = (Reflect.get(this, 'objectStore') as IDBObjectStore | undefined) ?? this;
        if (table.name === 'chats')
          request.addEventListener('success', () => void (rows += request.result.length));
        return request;
      });
    }
  });
  afterAll(async () => {
    vi.restoreAllMocks();
    await store.close();
  });

  // Of all users, their names are found by one row each, and as many chats of each as are asked for.
  it.each([
    [{ userId: 'ann', limit: 10 }, 10, 10],
    [{ userId: 'bob', limit: 10, offset: 20 }, 10, 30],
    [{ limit: 10 }, 10, 22],
    [{ userId: 'ann', metadata: { key: 'tag', value: 3 }, limit: 2 }, 2, 2 + 8 + 32],
  ])('%j reads what it needs', async (filter, found, read) => {
    rows = 0;
    expect(await store.listChats(filter)).toHaveLength(found);
    expect(rows).toBe(read);
  });

  it('reads all where there is no more', async () => {
    rows = 0;
    expect(await store.listChats({ userId: 'ann', limit: 101 })).toHaveLength(100);
    expect(rows).toBe(200);
  });
});
