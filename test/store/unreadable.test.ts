import { IDBFactory } from 'fake-indexeddb';
import 'fake-indexeddb/auto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { isContextError } from '../../src/errors.ts';
import { Connection, type Database } from '../../src/store/indexeddb/connection.ts';
import { IndexedDBContextStore } from '../../src/store/indexeddb/store.ts';
import type { ContextStore } from '../../src/store/store.ts';
import type { Table } from '../../src/store/layout.ts';
import { contentOf, type Disk, givenDatabase, mutated, noteUnhandled, tell } from '../support/damage.ts';
import { type DatabaseDump, dumpDatabase, loadDatabase, openDatabase } from '../support/dump.ts';
import { engineOn } from '../support/engine.ts';
import { Folder, MemoryFiles } from '../support/files.ts';
import { given, head, line, me, message, turn } from '../support/graph.ts';
import { countRecords, sealAll } from '../support/sealing.ts';
import { quickenDisk } from '../support/quickDisk.ts';
import { Unreadable } from '../support/unreadable.ts';

// Blocks of four, so that a chat that a test can look through is sealed, too, all but its end.
vi.mock('../../src/store/layout.ts', async (original) => ({
  ...(await original<object>()),
  BLOCK: 4,
  GROUP: 2,
}));

afterAll(quickenDisk());
beforeEach(() => {
  globalThis.indexedDB = new IDBFactory();
});

describe('a record that the browser has and does not give out', () => {
  const unhandled = noteUnhandled();
  let unreadable: Unreadable;
  let whole: DatabaseDump;
  beforeAll(async () => {
    whole = await givenDatabase();
  });
  beforeEach(() => {
    unreadable = new Unreadable();
  });
  afterEach(() => unreadable.remove());

  /** The database as it was, of which those records can't be read that are not in the damaged one. */
  function diskThat(why: 'gone' | 'short'): Disk {
    return async (damaged) => {
      globalThis.indexedDB = new IDBFactory();
      await loadDatabase('damaged', whole);
      const db = await openDatabase('damaged');
      const lost = lostIn(whole, damaged);
      for (const { table, key } of lost) unreadable.lose(db, table, [key], why);
      db.close();
      const dump = async (): Promise<DatabaseDump> => {
        unreadable.giveBack();
        return dumpDatabase('damaged');
      };
      return { store: new IndexedDBContextStore('damaged'), dump };
    };
  }

  it.each([
    ['gone', 'gone'],
    ['too short', 'short'],
  ] as const)(
    'costs no more than itself, whichever it is: its file is %s',
    { timeout: 120_000 },
    async (_, why) => {
      let named = 0;
      const seen = new Set<string>();
      for (let at = 0; ; at += 1) {
        const mutant = { kind: 'delete', pick: [at, 0, 0, 0] } as const;
        const content = contentOf(whole, mutated(whole, mutant));
        if (seen.has(content)) break;
        seen.add(content);
        if ((await tell(whole, mutant, diskThat(why))) === 'named') named += 1;
        expect(unhandled).toEqual([]);
      }
      expect(seen.size).toBeGreaterThan(25);
      expect(unreadable.failed).toBeGreaterThan(seen.size);
      expect(named).toBeGreaterThan(seen.size / 3);
    },
  );

  it('lets everything be written, and deleted, whichever it is', { timeout: 120_000 }, async () => {
    const file = message('picture');
    const url = `data:image/png;base64,${'A'.repeat(6000)}`;
    const picture = { ...file, parts: [{ type: 'file' as const, mediaType: 'image/png', url }] };
    const writes: Readonly<Record<string, (store: ContextStore) => Promise<unknown>>> = {
      edit: (store) => store.append('c', [{ op: 'replace', id: 'm1', data: message('m1', 'new') }], me),
      turn: (store) => store.append('c', turn('q-new', 'm5'), me),
      fork: (store) => store.append('c', [{ op: 'branch', id: 'b-new', base: 'main', messageId: 'm6' }], me),
      switch: (store) => store.append('c', [{ op: 'use', branchId: 'b-w5' }], me),
      checkpoint: (store) =>
        store.append('c', [{ op: 'checkpoint', id: 'k', name: 'there', messageId: 'm6' }], me),
      draft: (store) => store.saveDraft('c', 'grows', message('grows', 'so far and on')),
      settle: (store) => store.append('c', [{ op: 'replace', id: 'grows', status: 'complete' }], me),
      file: (store) => store.append('c', [{ op: 'replace', id: 'm2', data: picture }], me),
      bytes: (store) => store.putBlob(new Uint8Array([1, 2, 3])),
      value: (store) => store.set('unsent', 'words'),
      chat: (store) => store.append('c', [{ op: 'chat', title: 'A title' }], me),
      other: (store) => store.append('other', turn('q-other', 'm9'), me),
      search: (store) => store.searchMessages('c', 'm9'),
      seal: () => sealAll('damaged'),
    };
    for (const record of recordsIn(whole)) {
      const failed: unknown[] = [];
      await visit(whole, [record], async (store) => {
        for (const [name, write] of Object.entries(writes))
          await write(store).catch((error: unknown) => {
            const isTold = isContextError(error) && error.code.endsWith('-not-found');
            if (!isTold) failed.push([name, String(error)]);
          });
        await store.deleteChat('c');
      });
      unreadable.giveBack();
      const { stores } = await dumpDatabase('damaged');
      const left = stores.filter(({ name }) => ['packs', 'bodies', 'revisions', 'drafts'].includes(name));
      const words = left.flatMap(({ rows }) => rows.filter(({ key }) => (key as unknown[])[0] === 'c'));
      expect([record, failed, words]).toEqual([record, [], []]);
    }
    expect(unreadable.failed).toBeGreaterThan(100);
  });

  it('keeps nobody from writing who met it while others did: each closes the connection of the others', async () => {
    const connection = new Connection('shared', 5000);
    const met = async (): Promise<never> => Promise.reject(new DOMException('', 'NotReadableError'));
    let others = 3;
    const count = (db: Database): Promise<number> => db.count('chats');
    const write = connection.run(async (db, { isRepeat }) => {
      if (!isRepeat) return met();
      others -= 1;
      if (others > 0) await connection.run((same, attempt) => (attempt.isRepeat ? count(same) : met()));
      return count(db);
    });
    expect(await write).toBe(0);
    expect(others).toBe(0);
    // A connection that the browser closes counts, as ever.
    let tries = 0;
    const hopeless = connection.run((db) => {
      tries += 1;
      db.close();
      return count(db);
    });
    await expect(hopeless).rejects.toMatchObject({ code: 'store-closed', details: { mayBeSaved: true } });
    expect(tries).toBe(2);
    connection.close();
  });

  it('keeps its block and those behind it from being sealed, until it is written anew', async () => {
    const store = new IndexedDBContextStore('grown');
    await given(store, 'm0');
    for (let i = 1; i < 20; i += 1) await store.append('c', turn(`m${i}`, `m${i - 1}`), me);
    const db = await openDatabase('grown');
    unreadable.lose(db, 'bodies', [['c', 5]]);
    db.close();
    await sealAll('grown');
    expect(await countRecords('grown')).toMatchObject({ packs: 1, bodies: 16 });
    const words = (await everyWord(store)).filter((text) => text.includes('"text"'));
    expect(words).toHaveLength(19);
    await store.append('c', [{ op: 'replace', id: 'm5', data: message('m5', 'anew') }], me);
    await sealAll('grown');
    expect(await countRecords('grown')).toMatchObject({ packs: 4, bodies: 4 });
    expect((await everyWord(store)).filter((text) => text.includes('"text"'))).toHaveLength(20);
    await store.close();
  });

  it('costs nothing where that was for the connection, whichever it is', { timeout: 120_000 }, async () => {
    const words = await visit(whole, [], everyWord);
    for (const { table, key } of recordsIn(whole)) {
      unreadable.isPassing = true;
      unreadable.failed = 0;
      const told = await visit(whole, [{ table, key }], async (store) => {
        await store.append('c', turn('q-new', 'm17', 'b-v4'), { ...me, onConflict: 'fork' });
        return everyWord(store);
      });
      expect([table, key, told.slice(0, -1)]).toEqual([table, key, words]);
    }
  });

  describe('in all tables that tell of a chat', () => {
    const ALL: readonly Table[] = ['chats', 'branches', 'nodes', 'bodies'];

    /** A chat, and a store that can't read these tables of it. */
    async function silent(tables: readonly Table[], why: 'gone' | 'connection'): Promise<ContextStore> {
      const store = new IndexedDBContextStore('silent');
      await given(store, line(6));
      await store.append('c', [{ op: 'chat', title: 'A title' }], me);
      await store.close();
      const records = recordsIn(await dumpDatabase('silent')).filter(({ table }) => tables.includes(table));
      const db = await openDatabase('silent');
      for (const { table, key } of records) unreadable.lose(db, table, [key], why);
      db.close();
      return new IndexedDBContextStore('silent');
    }

    it.each([
      ['its row', ['chats'] as const],
      ['all of them', ALL],
    ])('is not taken for lost while the connection fails, also twice: %s', async (_, tables) => {
      const store = await silent(tables, 'connection');
      await expect(store.load('c')).rejects.toMatchObject({ code: 'store-closed' });
      await expect(store.append('c', turn('new', null), me)).rejects.toMatchObject({ code: 'store-closed' });
      unreadable.giveBack();
      const { chat, nodes } = await store.load('c');
      expect([chat?.title, nodes.length]).toEqual(['A title', 6]);
      await store.close();
    });

    it('is not swept away by a write that finds nothing of the chat', async () => {
      const store = await silent(ALL, 'gone');
      await store.append('c', turn('new', null), me);
      unreadable.giveBack();
      const ids = (await everyWord(store)).map((words) => words.split(' ')[0]);
      expect(ids).toEqual(['m0', 'm1', 'm2', 'm3', 'm4', 'm5', 'new']);
      await store.close();
    });
  });

  it('takes what two tabs write in its place at the same moment', async () => {
    const pack = [{ table: 'packs' as const, key: ['c', 0] }];
    await visit(whole, pack, async (one) => {
      const two = new IndexedDBContextStore('damaged');
      // Both have met it, so that neither opens its connection again on the way.
      expect((await one.getMessage('c', 'm1'))?.data.parts).toEqual([]);
      expect((await two.getMessage('c', 'm1'))?.data.parts).toEqual([]);
      await Promise.all([
        one.append('c', [{ op: 'replace', id: 'm1', data: message('m1', 'one') }], me),
        two.append('c', [{ op: 'replace', id: 'm2', data: message('m2', 'two') }], me),
      ]);
      const nodes = await one.getNodes('c', ['m1', 'm2']);
      expect(nodes.map(({ data }) => data)).toEqual([message('m1', 'one'), message('m2', 'two')]);
      await two.close();
    });
  });

  /** Does something with a database of which some records can't be read. */
  async function visit<T>(
    dump: DatabaseDump,
    lost: readonly { readonly table: Table; readonly key: IDBValidKey }[],
    act: (store: ContextStore) => Promise<T>,
  ): Promise<T> {
    globalThis.indexedDB = new IDBFactory();
    await loadDatabase('damaged', dump);
    const db = await openDatabase('damaged');
    for (const { table, key } of lost) unreadable.lose(db, table, [key]);
    db.close();
    const store = new IndexedDBContextStore('damaged');
    try {
      return await act(store);
    } finally {
      await store.close();
    }
  }

  describe('with a journal', () => {
    const files = new MemoryFiles();
    beforeAll(() => files.install());
    afterAll(() => files.remove());
    beforeEach(() => files.lay(new Folder()));

    const open = (): IndexedDBContextStore => new IndexedDBContextStore('journaled', { journal: true });

    /** A chat of which no word can be read, beside a journal that is up to date. */
    async function wordless(): Promise<string[]> {
      const store = open();
      await given(store, line(18), 'm0 > m1 > v2');
      await store.append('c', [{ op: 'replace', id: 'm7', data: message('m7', 'better') }], me);
      const url = `data:image/png;base64,${'A'.repeat(6000)}`;
      const picture = { ...message('p'), parts: [{ type: 'file' as const, mediaType: 'image/png', url }] };
      await store.append(
        'c',
        [
          { op: 'insert', id: 'p', parentId: 'v2', data: picture, status: 'complete' },
          head('v2', 'p', 'b-v2'),
        ],
        me,
      );
      await sealAll('journaled');
      const words = await everyWord(store);
      await store.storage();
      await store.close();
      const db = await openDatabase('journaled');
      const places = Array.from({ length: 20 }, (_, i) => ['c', i]);
      const files = recordsIn(await dumpDatabase('journaled')).filter(({ table }) => table === 'blobs');
      for (const table of ['packs', 'bodies'] as const) unreadable.lose(db, table, places);
      for (const { table, key } of files) unreadable.lose(db, table, [key]);
      db.close();
      return words;
    }

    it('gives its words back: verify() says so, and repair() does it', async () => {
      const words = await wordless();
      const engine = engineOn(open(), { userId: 'me' });
      const told = await engine.verify();
      expect(told.filter(({ kind }) => ['missing-body', 'missing-file'].includes(kind))).toEqual([]);
      expect(told.filter(({ mends }) => mends).map(({ text }) => text)).toEqual([
        'The journal has the words of 20 messages, "m0" to "p": they come back.',
        'The journal has a lost file: it comes back.',
      ]);
      await engine.repair();
      expect(await engine.verify()).toEqual([]);
      const next = open();
      expect(await everyWord(next)).toEqual(words);
      await next.close();
    });

    it('gives back what the app keeps, by itself', async () => {
      const store = open();
      await given(store, 'q1');
      await store.set('unsent', { words: 'not sent yet' });
      await store.storage();
      await store.close();
      const db = await openDatabase('journaled');
      unreadable.lose(db, 'values', ['unsent']);
      db.close();
      const next = open();
      expect(await next.get('unsent')).toBeUndefined();
      await next.storage();
      expect(await next.get('unsent')).toEqual({ words: 'not sent yet' });
      await next.close();
    });

    it('gives them back as well when the chat was written down anew since', async () => {
      const words = await wordless();
      const store = open();
      await store.load('c');
      await store.append('c', turn('long', 'm17'), me);
      const long = message('long', 'x'.repeat(700_000));
      await store.append('c', [{ op: 'replace', id: 'long', data: long }], me);
      await store.storage();
      await store.append('c', [{ op: 'replace', id: 'long', data: message('long', 'short') }], me);
      await store.storage();
      const bases = (await namesIn(files.copy())).filter((name) => name.endsWith('-base'));
      expect(bases).not.toContain('00000001-0-base');
      const engine = engineOn(store, { userId: 'me' });
      await engine.repair();
      expect(await engine.verify()).toEqual([]);
      expect((await everyWord(store)).slice(0, -1)).toEqual(words);
      await store.close();
    });
  });
});

/** The names of all files. */
async function namesIn(folder: Folder): Promise<string[]> {
  const names: string[] = [];
  for await (const entry of folder.values())
    names.push(...(entry instanceof Folder ? await namesIn(entry) : [entry.name]));
  return names;
}

/** What each message says, in the order in which they were written. */
async function everyWord(store: ContextStore): Promise<string[]> {
  const { nodes } = await store.load('c');
  const ids = nodes.map(({ id }) => id);
  return (await store.getNodes('c', ids)).map(({ id, data }) => `${id} ${JSON.stringify(data)}`);
}

function recordsIn({ stores }: DatabaseDump): { table: Table; key: IDBValidKey }[] {
  return stores.flatMap(({ name, rows }) => rows.map(({ key }) => ({ table: name as Table, key })));
}

/** The records of a database that are not in the damaged one. */
function lostIn(whole: DatabaseDump, damaged: DatabaseDump): { table: Table; key: IDBValidKey }[] {
  return whole.stores.flatMap(({ name, rows }, i) => {
    const there = new Set(damaged.stores[i]?.rows.map(({ key }) => JSON.stringify(key)));
    const gone = rows.filter(({ key }) => !there.has(JSON.stringify(key)));
    return gone.map(({ key }) => ({ table: name as Table, key }));
  });
}
