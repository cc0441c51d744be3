import 'fake-indexeddb/auto';
import { openDB, type IDBPDatabase } from 'idb';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { IndexedDBContextStore } from '../../src/store/indexeddb/store.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import { engineOn, said, texts } from '../support/engine.ts';
import { given, head, insert, line, me, turn } from '../support/graph.ts';
import { countRecords, sealAll } from '../support/sealing.ts';

// What a disk can do to a chat, and what is left of it.

let name = '';
let count = 0;

beforeEach(() => {
  name = `damaged-${(count += 1)}`;
});

/** A chat of these paths in a database, and then what happens to its rows. */
async function damaged(
  paths: readonly string[],
  damage: (db: IDBPDatabase) => Promise<unknown>,
): Promise<void> {
  const store = new IndexedDBContextStore(name);
  await given(store, ...paths);
  await store.close();
  const db = await openDB(name);
  await damage(db);
  db.close();
}

async function change(db: IDBPDatabase, id: string, fields: object): Promise<void> {
  const info = (await db.getFromIndex('nodes', 'id', ['c', id])) as object;
  await db.put('nodes', { ...info, ...fields });
}

async function lose(db: IDBPDatabase, id: string): Promise<void> {
  const { seq } = (await db.getFromIndex('nodes', 'id', ['c', id])) as { seq: number };
  await db.delete('nodes', ['c', seq]);
}

async function copyPack(db: IDBPDatabase, block: number): Promise<void> {
  await db.put('packs', { ...(await db.get('packs', ['c', 0])), block });
}

const open = (): ReturnType<typeof engineOn> => engineOn(new IndexedDBContextStore(name), { userId: 'me' });

async function opened(): Promise<ReturnType<typeof engineOn>> {
  const engine = open();
  await engine.ready();
  return engine;
}

async function branches(engine: ReturnType<typeof engineOn>): Promise<Record<string, string>> {
  const { branches: all } = engine.state.getState();
  const chains = all.map(async (branch) => {
    const { messages } = await engine.resolve({ branch: branch.name });
    return [branch.name, texts(messages)] as const;
  });
  return Object.fromEntries(await Promise.all(chains));
}

describe('a damaged chat', () => {
  test('says what is wrong, and a preview changes nothing', async () => {
    await damaged(['q1 > a1 > q2 > a2'], (db) => lose(db, 'a1'));
    const engine = open();
    const kinds = (await engine.verify()).map(({ kind, id }) => `${kind} ${id}`);
    expect(kinds).toEqual(['damaged-record a1']);
    const plan = await engine.repair({ preview: true });
    expect(plan).toMatchObject({ messages: ['a1'], checkpoints: [] });
    expect((await engine.verify()).map(({ kind, id }) => `${kind} ${id}`)).toEqual(kinds);
  });

  test('has all of its words in reach after a repair, here and in the next session', async () => {
    await damaged(['q1 > a1 > q2 > a2', 'q1 > b1'], (db) => lose(db, 'q1'));
    const engine = open();
    await engine.ready();
    const { findings } = await engine.repair();
    expect(findings.filter(({ mends }) => mends).length).toBeGreaterThan(0);
    expect(await engine.verify()).toEqual([]);
    const after = { main: 'q1 > a1 > q2 > a2', 'main-v2': 'q1 > b1' };
    expect(await branches(engine)).toEqual(after);
    const next = open();
    await next.ready();
    expect(await branches(next)).toEqual(after);
  });

  test('answers all that is asked of a ring, and says that it is one', { timeout: 20_000 }, async () => {
    await damaged([line(6), 'm0 > m1 > b2'], (db) => change(db, 'm1', { parentId: 'm3' }));
    const store = new IndexedDBContextStore(name);
    const engine = engineOn(store, { userId: 'me' });
    await engine.ready();
    expect(texts((await engine.resolve()).messages)).toBe('m1 > m2 > m3 > m4 > m5');
    const { graph } = await engine.inspect();
    expect(graph.nodes.map(({ id, parentId }) => [id, parentId])).toContainEqual(['m1', null]);
    expect((await engine.estimate()).tokens).toBeGreaterThan(0);
    expect(engine.siblings('m2').ids).toEqual(['m2', 'b2']);
    expect((await store.getMessageChain('c', 'm5')).map(({ id }) => id)).toContain('m2');
    await engine.continue(said('q6'), { id: 'a6' });
    // Who repeats a write asks whether it is there already: on the way from a head to the root.
    const turn = [insert('q7', null), head(null, 'q7')];
    for (let times = 0; times < 2; times += 1) await store.append('c', turn, me);
    expect((await engine.verify()).map(({ kind, id }) => `${kind} ${id}`)).toContain('cycle m1');
    await engine.repair();
    expect((await engine.verify()).filter(({ mends }) => mends)).toEqual([]);
    expect(texts((await open().resolve()).messages)).toBe('m1 > m2 > m3 > m4 > m5 > q6');
  });

  test('stops turning in a ring', async () => {
    await damaged(['q1 > a1 > q2'], (db) => change(db, 'q1', { parentId: 'q2' }));
    const engine = open();
    await engine.repair();
    expect(await branches(engine)).toEqual({ main: 'q1 > a1 > q2' });
  });

  test('opens on a branch that is there, and goes on from it', async () => {
    await damaged(['q1 > a1'], (db) => db.delete('branches', ['c', 'b-main']));
    const engine = open();
    await engine.repair();
    expect(await engine.verify()).toEqual([]);
    expect([engine.branch, await branches(engine)]).toEqual(['main', { main: 'q1 > a1' }]);
    await engine.continue({ id: 'q2', role: 'user', parts: [{ type: 'text', text: 'q2' }] }, { id: 'a2' });
    expect(await branches(engine)).toEqual({ main: 'q1 > a1 > q2' });
  });

  test('has a branch again where a disk says that all of them are deleted', async () => {
    await damaged(['q1 > a1'], async (db) =>
      db.put('branches', { ...(await db.get('branches', ['c', 'b-main'])), deletedAt: 5 }),
    );
    const engine = open();
    await engine.ready();
    expect((await engine.resolve()).messages).toEqual([]);
    expect((await engine.verify()).map(({ kind, id }) => `${kind} ${id}`)).toEqual(['lost-branch b-main']);
    await engine.repair();
    expect(await engine.verify()).toEqual([]);
    expect(await branches(engine)).toEqual({ main: 'q1 > a1' });
    expect(await branches(await opened())).toEqual({ main: 'q1 > a1' });
  });

  test('names words that are gone, and keeps what stands around them', async () => {
    await damaged(['q1 > a1 > q2'], (db) => db.delete('bodies', ['c', 1]));
    const engine = open();
    const { findings } = await engine.repair();
    expect(findings.map(({ kind, id, mends }) => [kind, id, mends])).toEqual([['missing-body', 'a1', false]]);
    expect(texts((await engine.resolve()).messages)).toBe('q1 > q2');
  });

  test('gets the record of a sealed block back from its words', async () => {
    await damaged([line(200)], (db) => db.delete('topologies', ['c', 1]));
    const engine = open();
    const before = (await engine.resolve()).messages;
    expect(before.map(({ id }) => id)).toEqual(line(200).split(' > '));
    const told = (await engine.verify()).map(({ kind, id, text, mends }) => [kind, id, text, mends]);
    const text = 'The record of messages "m64" to "m127" is gone: it is told from their words.';
    expect(told).toEqual([['damaged-record', 'm64', text, true]]);
    await engine.repair();
    expect(await engine.verify()).toEqual([]);
    const db = await openDB(name);
    expect(await db.count('topologies', ['c', 1])).toBe(1);
    db.close();
    expect((await open().resolve()).messages).toEqual(before);
  });

  test('keeps words whose record is gone until a repair, also when its block is sealed meanwhile', async () => {
    await damaged([line(100)], (db) => lose(db, 'm30'));
    const store = new IndexedDBContextStore(name);
    await given(store, line(200, 100));
    await sealAll(name);
    const engine = open();
    await engine.repair();
    expect(Object.values(await branches(engine))).toContain(line(100));
    await sealAll(name);
    const db = await openDB(name);
    expect(await db.count('packs')).toBeGreaterThan(2);
    db.close();
    await store.close();
  });

  test('says that a checkpoint is lost, of which nothing is left', async () => {
    await damaged(['q1 > a1'], async () => undefined);
    const first = open();
    for (const point of ['one', 'two', 'three']) await first.checkpoint(point);
    await first.deleteCheckpoint('two');
    expect(await first.verify()).toEqual([]);
    await damaged([], async (db) => {
      const [lost] = await db.getAll('checkpoints');
      await db.delete('checkpoints', ['c', lost.id]);
    });
    const engine = open();
    await engine.checkpoint('four');
    expect((await engine.verify()).map(({ text }) => text)).toEqual([
      'A checkpoint is lost: the chat counts those that are left.',
    ]);
    await engine.repair();
    expect(await engine.verify()).toEqual([]);
  });

  // What thousands of damaged records found once (`test/store/damage.test.ts`), told by itself.
  test.each<[string, (db: IDBPDatabase) => Promise<unknown>, string[]]>([
    [
      'words that go by the name of another message',
      async (db) => {
        const pack = await db.get('packs', ['c', 0]);
        await db.put('packs', { ...pack, text: pack.text.replace('"id":"m3"', '"id":"m70"') });
      },
      ['missing-body m3'],
    ],
    ['the words of a block a second time, among others', (db) => copyPack(db, 2), []],
    ['the words of a block a second time, where there is no block', (db) => copyPack(db, 9), []],
    [
      'a block whose messages are not found by their ids',
      async (db) => {
        const marks = await db.get('marks', ['c', 0]);
        await db.put('marks', { ...marks, text: marks.text.slice(0, 256) });
      },
      [],
    ],
  ])('shows each message with its own words beside %s', async (_, damage, left) => {
    await damaged([line(200)], damage);
    const engine = open();
    const chain = (await engine.resolve()).messages;
    expect(chain.filter(({ id, parts }) => texts([{ id, role: 'user', parts }]) !== id)).toEqual([]);
    await engine.repair();
    expect((await engine.verify()).map(({ kind, id }) => `${kind} ${id}`)).toEqual(left);
    expect((await open().resolve()).messages).toEqual(chain);
  });

  test('is examined again when somebody writes to it meanwhile', async () => {
    await damaged(['q1 > a1 > q2'], (db) => change(db, 'q1', { parentId: 'q2' }));
    const [engine, other] = [open(), open()];
    await Promise.all([engine.ready(), other.ready()]);
    await Promise.all([engine.repair(), other.updateChat({ title: 'A' }), other.updateChat({ title: 'B' })]);
    expect(await engine.verify()).toEqual([]);
    expect(await branches(engine)).toEqual({ main: 'q1 > a1 > q2' });
  });

  test.each<[string, (other: IndexedDBContextStore) => Promise<unknown>]>([
    ['is deleted', (other) => other.deleteChat('c')],
    ['is cleared with all others', (other) => other.clear()],
    ['has an answer that is taken back', (other) => other.append('c', [{ op: 'drop', id: 'a2' }], me)],
  ])('lacks no words where it %s meanwhile, whatever else is wrong', async (_, meanwhile) => {
    const [store, other] = [new IndexedDBContextStore(name), new IndexedDBContextStore(name)];
    await given(store, 'q1 > a1 > q2');
    await store.append('c', [insert('a2', 'q2', '', 'streaming'), head('q2', 'a2')], me);
    const db = await openDB(name);
    const [branch] = (await db.getAll('branches')) as object[];
    await db.put('branches', { ...branch, messageCount: 7 });
    db.close();
    const release = await other.hold('c', 'a2');
    const engine = engineOn(store, { userId: 'me' });
    await engine.ready();
    const getNodes = store.getNodes.bind(store);
    const asked = vi.spyOn(store, 'getNodes').mockImplementationOnce(async (...args) => {
      await meanwhile(other);
      return getNodes(...args);
    });
    const kinds = (await engine.verify()).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind !== 'wrong-count')).toEqual([]);
    expect(asked).toHaveBeenCalled();
    release();
  });

  test('takes nothing back that was said after it was examined', async () => {
    await damaged(['q1 > a1'], async (db) => {
      const [branch] = await db.getAll('branches');
      await db.put('branches', { ...branch, messageCount: 7 });
    });
    const [store, other] = [new IndexedDBContextStore(name), new IndexedDBContextStore(name)];
    const append = store.append.bind(store);
    const asked = vi.spyOn(store, 'append').mockImplementationOnce(async (...args) => {
      await other.append('c', turn('q2', 'a1'), me);
      return append(...args);
    });
    const engine = engineOn(store, { userId: 'me' });
    await engine.repair();
    expect(asked).toHaveBeenCalled();
    expect(await engine.verify()).toEqual([]);
    expect(await branches(await opened())).toEqual({ main: 'q1 > a1 > q2' });
    await other.close();
  });

  test('is told to the other tabs when it is mended', async () => {
    await damaged(['q1 > a1 > q2'], (db) => change(db, 'q1', { parentId: 'q2' }));
    const [engine, other] = [open(), open()];
    await other.ready();
    await engine.repair();
    await expect.poll(() => other.node('q1')?.parentId).toBe(null);
    expect(await branches(other)).toEqual({ main: 'q1 > a1 > q2' });
  });
});

test('a whole chat has nothing to mend, one that is not there neither, and nothing is written', async () => {
  const store = new IndexedDBContextStore(name);
  const engine = engineOn(store, { userId: 'me' });
  expect(await engine.repair()).toEqual({ findings: [], messages: [], branches: [], checkpoints: [] });
  expect(await store.getChat('c')).toBeUndefined();
  await given(store, 'q1 > a1', 'q1 > b1');
  const { seq } = await store.load('c');
  expect(await open().repair()).toEqual({ findings: [], messages: [], branches: [], checkpoints: [] });
  expect((await store.load('c')).seq).toBe(seq);
});

test('a chat whose row is lost is named, and comes back into the list', async () => {
  await damaged(['q1 > a1'], (db) => db.delete('chats', 'c'));
  const engine = open();
  expect((await engine.verify()).map(({ kind, id, mends }) => [kind, id, mends])).toEqual([
    ['damaged-record', 'c', true],
  ]);
  await engine.repair();
  expect((await new IndexedDBContextStore(name).listChats()).map(({ id }) => id)).toEqual(['c']);
});

test('a chat of which only the words are left is named, and has them again after a repair', async () => {
  const gone = ['chats', 'nodes', 'branches', 'checkpoints', 'meta', 'changes'];
  await damaged(['q1 > a1 > q2'], (db) => Promise.all(gone.map((table) => db.clear(table))));
  const engine = await opened();
  expect((await engine.verify()).map(({ kind, id, mends }) => [kind, id, mends])).toContainEqual([
    'damaged-record',
    'c',
    true,
  ]);
  await engine.repair();
  expect(await engine.verify()).toEqual([]);
  for (const each of [engine, await opened()]) {
    expect(await branches(each)).toEqual({ main: 'q1 > a1 > q2' });
    expect([each.branch, texts((await each.resolve()).messages)]).toEqual(['main', 'q1 > a1 > q2']);
  }
  await engine.continue(said('q3'), { id: 'a3' });
  expect(await branches(await opened())).toEqual({ main: 'q1 > a1 > q2 > q3' });
});

test('a chat of which only the words are left leaves none of them when it is deleted', async () => {
  const gone = ['chats', 'nodes', 'branches', 'checkpoints', 'meta', 'changes'];
  await damaged(['q1 > a1'], (db) => Promise.all(gone.map((table) => db.clear(table))));
  const store = new IndexedDBContextStore(name);
  expect(await store.deleteChat('c', { userId: 'other' })).toBe(false);
  expect(await countRecords(name)).toMatchObject({ bodies: 2 });
  expect(await store.deleteChat('c')).toBe(false);
  expect(await countRecords(name)).toMatchObject({ bodies: 0 });
  await store.close();
});

test('a chat of which only the words are left keeps them until a repair, whatever is written to it before', async () => {
  const gone = ['chats', 'nodes', 'branches', 'checkpoints', 'meta', 'changes'];
  await damaged([line(100)], (db) => Promise.all(gone.map((table) => db.clear(table))));
  const store = new IndexedDBContextStore(name);
  const engine = engineOn(store, { userId: 'me' });
  await engine.continue(said('q-new'), { id: 'a-new' });
  await engine.updateMessage('a-new', said('a-new'), 'complete');
  expect(await branches(engine)).toEqual({ main: 'q-new > a-new' });
  await given(store, line(150, 100));
  await sealAll(name);
  await engine.repair();
  const all = Object.values(await branches(await opened()));
  expect(all).toContain('q-new > a-new');
  expect(all).toContain(line(100));
  expect((await engine.verify()).filter(({ mends }) => mends)).toEqual([]);
  await store.deleteChat('c');
  const db = await openDB(name);
  expect(await db.count('bodies')).toBe(0);
  db.close();
});

test('a check that takes long lets the page go on between its steps', async () => {
  const store = new InMemoryContextStore();
  await given(store, 'q1 > a1');
  const engine = engineOn(store, { userId: 'me' });
  await engine.verify();
  let time = performance.now();
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (time += 20));
  let turns = 0;
  const page = new MessageChannel();
  page.port1.addEventListener('message', () => page.port2.postMessage((turns += 1)));
  page.port1.start();
  page.port2.postMessage(turns);
  await engine.verify();
  page.port1.close();
  clock.mockRestore();
  expect(turns).toBeGreaterThanOrEqual(5);
});
