import { openDB } from 'idb';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { isContextError } from '../../src/errors.ts';
import type { NodeInfo } from '../../src/graph/graph.ts';
import { marksOf } from '../../src/store/indexeddb/marks.ts';
import { BLOCK, type MarkRecord, type Topology } from '../../src/store/layout.ts';
import { IndexedDBContextStore } from '../../src/store/indexeddb/store.ts';
import { Sealer } from '../../src/store/indexeddb/seal.ts';
import type { Change, ContextStore, StoreOp } from '../../src/store/store.ts';
import { type DatabaseDump, dumpDatabase, dumpOf, loadDatabase, openDatabase } from './dump.ts';
import { engineOn } from './engine.ts';
import { ALL_POINTS, Faults, pointsOf, WRITE_FAULTS, type Points } from './faults.ts';
import { given, givenChat, head, insert, line, me, message, turn } from './graph.ts';
import { same } from './same.ts';
import { connected, countRecords, sealAll, sealOne, sealOver } from './sealing.ts';
import { sumOf, textSum } from '../../src/store/sum.ts';
import old from '../store/fixtures/format-1.json' with { type: 'json' };
import packed from '../store/fixtures/format-2.json' with { type: 'json' };
import summed from '../store/fixtures/format-3.json' with { type: 'json' };
import numbered from '../store/fixtures/format-4.json' with { type: 'json' };
import listed from '../store/fixtures/format-5.json' with { type: 'json' };
import marked from '../store/fixtures/format-6.json' with { type: 'json' };
import joined from '../store/fixtures/format-7.json' with { type: 'json' };

type Put = (this: IDBObjectStore, row: unknown, key?: IDBValidKey) => IDBRequest<IDBValidKey>;

/** Whoever waits for a tab to be idle waits for more than a second; each look opens the database. */
const SELDOM = { timeout: 25_000, interval: 250 } as const;

/**
 * Packs in their real size, and databases of older formats. Runs on fake-indexeddb and in browsers. `freshName` gives
 * the name of a new database, `points` where its writes fail.
 */
export function packSuite(freshName: () => string, points: Points = ALL_POINTS): void {
  // Tabs are never idle but where a test waits for it, so that each sees what it has made.
  beforeEach(() => {
    vi.spyOn(Sealer.prototype, 'note').mockReturnValue();
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  describe('sealed messages', () => {
    let name: string;
    const opened: ContextStore[] = [];

    const open = (): IndexedDBContextStore => {
      const store = new IndexedDBContextStore(name);
      opened.push(store);
      return store;
    };
    const append = (store: ContextStore, ops: readonly StoreOp[], chatId = 'c') =>
      store.append(chatId, ops, me);
    /** Messages `m0` on, fifty at a time, so that none is packed at once. */
    const grow = async (store: ContextStore, count: number, begin = 0): Promise<void> => {
      for (let from = begin; from < count; from += 50) {
        const ids = Array.from({ length: Math.min(50, count - from) }, (_, i) => `m${from + i}`);
        const before = from === 0 ? null : `m${from - 1}`;
        await append(store, [
          ...ids.map((id, i) => insert(id, ids[i - 1] ?? before, `the words of ${id}`)),
          head(before, ids.at(-1) ?? null),
        ]);
      }
    };

    beforeEach(() => {
      name = freshName();
    });
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((store) => store.close()));
    });

    it('are the oldest full blocks; a tail of 64 to 127 stays as it is', async () => {
      const store = open();
      await grow(store, 300);
      const before = await everything(store);
      expect(await countRecords(name)).toMatchObject({ nodes: 300, bodies: 300, topologies: 0, packs: 0 });
      await sealAll(name);
      expect(await countRecords(name)).toMatchObject({ nodes: 108, bodies: 108, topologies: 3, packs: 3 });
      expect((await countRecords(name))['changes']).toBe(0);
      same(await everything(store), before);
      expect(await sealOne(name)).toBe(false);
    });

    it(
      'are sealed by a tab that is idle, after it wrote or opened a long chat',
      { timeout: 60_000 },
      async () => {
        vi.restoreAllMocks();
        const store = open();
        await grow(store, 200);
        await expect.poll(() => countRecords(name), SELDOM).toMatchObject({ packs: 2, nodes: 72 });
        await store.close();
        const [early, late] = [open(), open()];
        await append(
          early,
          Array.from({ length: 60 }, (_, i) => insert(`x${i}`, `m${i}`)),
        );
        await early.close();
        expect(await countRecords(name)).toMatchObject({ packs: 2 });
        await late.load('c');
        await expect.poll(() => countRecords(name), SELDOM).toMatchObject({ packs: 3 });
      },
    );

    it('come from an import at once, all but its end', async () => {
      const [store, single] = [open(), new IndexedDBContextStore(`${name}-single`)];
      opened.push(single);
      await given(store, line(1000));
      expect(await countRecords(name)).toMatchObject({ packs: 14, nodes: 104, bodies: 104, changes: 0 });
      for (let from = 0; from < 1000; from += 50) await append(single, imported(from, 50));
      expect((await countRecords(`${name}-single`))['nodes']).toBe(1000);
      expect((await store.getMessages('c')).map(({ id, data }) => [id, data])).toEqual(
        (await single.getMessages('c')).map(({ id, data }) => [id, data]),
      );
    });

    it('are no large ones, which are passed over, or stay single when they are imported', async () => {
      const store = open();
      const ids = Array.from({ length: 200 }, (_, i) => `m${i}`);
      // Each much smaller than a browser would refuse; a record of sixty-four of them would be lost.
      const large = 'much said '.repeat(30_000);
      const wordsOf = (i: number): string => (i < BLOCK ? `${i} ${large}` : `the words of m${i}`);
      const ops = ids.map((id, i) => insert(id, ids[i - 1] ?? null, wordsOf(i)));
      await append(store, [...ops, head(null, 'm199')]);
      expect(await countRecords(name)).toMatchObject({ packs: 1, nodes: 200 - BLOCK });
      expect(await sealOne(name)).toBe(false);
      for (const [from, to] of [
        [0, 100],
        [100, 150],
        [150, 200],
      ] as const)
        await append(store, [...ops.slice(from, to), head(ids[from - 1] ?? null, `m${to - 1}`)], 'slowly');
      await sealAll(name);
      expect(await countRecords(name)).toMatchObject({ packs: 2, nodes: 2 * (200 - BLOCK) });
      for (const chatId of ['c', 'slowly']) {
        const chain = await store.getMessageChain(chatId, 'm199');
        expect(chain.map(({ data }) => data)).toEqual(ids.map((id, i) => message(id, wordsOf(i))));
        expect((await store.salvage(chatId)).findings).toEqual([]);
      }
    });

    it('go to the disk while the next ones are put together', async () => {
      const store = open();
      // A store's first call copies what it is handed, and so makes each text once before.
      await store.get('nothing');
      const told: string[] = [];
      const put = Reflect.get(IDBObjectStore.prototype, 'put') as Put;
      const { stringify } = JSON;
      const puts = vi.spyOn(IDBObjectStore.prototype, 'put').mockImplementation(function (
        this: IDBObjectStore,
        row: unknown,
        key?: IDBValidKey,
      ) {
        told.push(`${this.name} ${(row as { readonly block?: number }).block}`);
        return put.call(this, row, key);
      });
      const texts = vi.spyOn(JSON, 'stringify').mockImplementation((value: unknown, ...more: unknown[]) => {
        told.push(String((Object(value) as { readonly id?: unknown }).id));
        return stringify(value, ...(more as []));
      });
      await append(store, imported(0, 400, null)).finally(() => {
        puts.mockRestore();
        texts.mockRestore();
      });
      for (const block of [4, 3, 2, 1]) {
        const at = told.indexOf(`packs ${block}`);
        expect(at).toBeGreaterThan(told.indexOf(`m${block * 64}`));
        expect(at).toBeLessThan(told.indexOf(`m${block * 64 - 1}`));
      }
      // Single rows take a database longest, so they are there while all else is put together.
      for (const table of ['nodes', 'bodies'])
        expect(told.lastIndexOf(`${table} undefined`)).toBeLessThan(told.indexOf('packs 4'));
    });

    it('are put whole or not at all, though the first are sent before the last are made', async () => {
      const store = open();
      const put = Reflect.get(IDBObjectStore.prototype, 'put') as Put;
      const puts = vi.spyOn(IDBObjectStore.prototype, 'put').mockImplementation(function (
        this: IDBObjectStore,
        row: unknown,
        key?: IDBValidKey,
      ) {
        const isThird = this.name === 'packs' && (row as { readonly block: number }).block === 2;
        if (isThird) throw new DOMException('It is full.', 'QuotaExceededError');
        return put.call(this, row, key);
      });
      await expect(
        append(store, imported(0, 400, null)).finally(() => puts.mockRestore()),
      ).rejects.toMatchObject({ code: 'quota-exceeded' });
      expect(await countRecords(name)).toMatchObject({ packs: 0, topologies: 0, nodes: 0, chats: 0 });
      await append(store, imported(0, 400, null));
      expect(await store.getMessageChain('c', 'm399')).toHaveLength(400);
      expect(await countRecords(name)).toMatchObject({ packs: 5, nodes: 80 });
    });

    it('change like others, one block is written anew', async () => {
      const store = open();
      await grow(store, 200);
      await sealAll(name);
      const puts = vi.spyOn(IDBObjectStore.prototype, 'put');
      await append(store, [{ op: 'replace', id: 'm5', data: message('m5', 'better'), status: 'streaming' }]);
      const tables = puts.mock.contexts.map((table) => (table as IDBObjectStore).name);
      puts.mockRestore();
      // A store of another story may still renew a lease.
      const written = tables.filter((table) => table !== 'leases');
      expect(written.toSorted()).toEqual(['chats', 'meta', 'packs', 'revisions', 'topologies']);
      await store.saveDraft('c', 'm5', message('m5', 'better and better'));
      expect((await store.getMessage('c', 'm5'))?.data).toEqual(message('m5', 'better and better'));
      await append(store, [{ op: 'replace', id: 'm5', status: 'complete' }]);
      expect(await store.getMessage('c', 'm5')).toMatchObject({
        rev: 3,
        status: 'complete',
        data: message('m5', 'better and better'),
      });
      expect(await countRecords(name)).toMatchObject({ packs: 2, nodes: 72, revisions: 2, drafts: 0 });
    });

    it('go when they are taken back, and may come again', async () => {
      const store = open();
      await append(store, [insert('lost', null), ...imported(0, 200, null)]);
      await sealAll(name);
      await append(store, [{ op: 'replace', id: 'lost', data: message('lost', ''), status: 'streaming' }]);
      expect((await append(store, [{ op: 'drop', id: 'lost' }])).dropped).toEqual(['lost']);
      expect(await store.getMessage('c', 'lost')).toBeUndefined();
      expect((await store.load('c')).nodes).toHaveLength(200);
      expect((await store.getMessageChain('c', 'm199')).length).toBe(200);
      const { seq } = await store.load('c');
      await append(store, [insert('lost', 'm0', 'found'), ...imported(200, 200)]);
      expect((await store.changesSince(0)).filter(({ id }) => id === 'lost')).toMatchObject([{ op: 'put' }]);
      expect((await store.load('c', seq)).dropped).toEqual([]);
    });

    it('are mended like others: what is cut out goes, what hung elsewhere moves', async () => {
      const store = open();
      await append(store, imported(0, 200, null));
      const { seq, nodes } = await store.load('c');
      const [cut, moved] = [nodes[10], nodes[11]];
      const mended = moved && { ...moved, parentId: 'm9', depth: 11 };
      await append(store, [
        {
          op: 'mend',
          seq,
          nodes: mended ? [mended] : [],
          chat: undefined,
          dropped: cut ? [cut] : [],
          branches: [],
          checkpoints: [],
        },
      ]);
      expect(await store.getMessage('c', 'm10')).toBeUndefined();
      const chain = (await store.getMessageChain('c', 'm199')).map(({ id }) => id);
      expect(chain.slice(8, 12)).toEqual(['m8', 'm9', 'm11', 'm12']);
      expect(chain).toHaveLength(199);
      expect(await countRecords(name)).toMatchObject({ packs: 2, nodes: 72, bodies: 72 });
    });

    it('leave no word behind when their chat is deleted', async () => {
      const store = open();
      await grow(store, 200);
      await givenChat(store, 'other', line(200));
      await sealAll(name);
      await append(store, [{ op: 'replace', id: 'm5', data: message('m5', 'secret') }]);
      await store.deleteChat('c');
      expect(JSON.stringify(await dumpDatabase(name))).not.toMatch(/the words of|secret/);
      expect(await countRecords(name)).toMatchObject({ packs: 2, topologies: 2 });
      expect(await store.getMessages('other')).toHaveLength(200);
      await store.clear();
      expect(await countRecords(name)).toMatchObject({ packs: 0, topologies: 0, nodes: 0 });
    });

    it('stay apart from those of other chats, whatever their ids look like', async () => {
      const store = open();
      const chats = ['c', 'c1', '1:c', ''];
      for (const chatId of chats) await append(store, imported(0, 200, null, chatId), chatId);
      for (const chatId of chats) {
        expect((await store.getMessage(chatId, 'm7'))?.data).toEqual(message('m7', chatId));
        expect((await store.getMessageChain(chatId, 'm199')).map((node) => node.chatId)).toEqual(
          Array.from({ length: 200 }, () => chatId),
        );
      }
      await append(store, [insert('1:cm7', 'm0', 'odd')], 'c');
      expect(await store.getMessage('1:c', 'cm7')).toBeUndefined();
    });

    it('may hold anything that JSON holds', async () => {
      const store = open();
      const odd = { ...message('m3', 'a\u0000 \ud800 🌳'), metadata: { ['__proto__']: 1, n: null } };
      await append(store, [
        { op: 'insert', id: 'odd/\u0000', parentId: null, data: odd, status: 'complete', sources: ['x'] },
        ...imported(0, 200, 'odd/\u0000'),
      ]);
      const stored = await store.getMessage('c', 'odd/\u0000');
      expect(await countRecords(name)).toMatchObject({ packs: 2 });
      expect(JSON.stringify(stored?.data)).toBe(JSON.stringify({ ...odd, id: 'odd/\u0000' }));
      expect(stored?.sources).toEqual(['x']);
    });

    it('read as messages without parts when their pack is damaged', async () => {
      const store = open();
      await append(store, imported(0, 200, null));
      const db = await openDB(name);
      await db.put('packs', { chatId: 'c', block: 0, text: '[{"id":' });
      await db.delete('packs', ['c', 1]);
      db.close();
      const chain = await store.getMessages('c');
      expect(chain).toHaveLength(200);
      expect([chain[0], chain[64], chain[128]].map((node) => node?.data.parts.length)).toEqual([0, 0, 1]);
      expect(chain[64]?.data).toEqual({ id: 'm64', role: 'assistant', parts: [] });
    });

    it('keep what could not be read of their records when their block is written anew', async () => {
      const first = open();
      await append(first, imported(0, 200, null));
      await first.close();
      const db = await openDB(name);
      const spoilt: string[] = [];
      for (const [table, spoil] of [
        ['topologies', (text: string) => `${text} `],
        ['packs', (text: string) => text.slice(0, -10)],
      ] as const) {
        const record = await db.get(table, ['c', 0]);
        spoilt.push(spoil(record.text));
        await db.put(table, { ...record, text: spoil(record.text) });
      }
      const store = open();
      await append(store, [{ op: 'replace', id: 'm1', data: message('m1', 'new') }]);
      const kept = ['topologies', 'packs'].map(async (table) => (await db.get(table, ['c', 0])).lost);
      expect(await Promise.all(kept)).toEqual(spoilt.map((text) => [text]));
      db.close();
      expect((await store.getMessage('c', 'm1'))?.data).toEqual(message('m1', 'new'));
      expect((await store.getMessage('c', 'm2'))?.data).toEqual(message('m2'));
    });

    it('are named when one of them is not found by its id any more, and read with all others', async () => {
      const store = open();
      await append(store, imported(0, 200, null));
      const db = await openDB(name);
      const record: MarkRecord = await db.get('marks', ['c', 0]);
      const text = `${record.text.slice(0, 20)}here${record.text.slice(24)}`;
      await db.put('marks', withSum({ ...record, text }));
      db.close();
      expect((await store.getMessages('c')).map(({ id }) => id)[5]).toBe('m5');
      const { findings, nodes } = await store.salvage('c');
      expect(findings).toMatchObject([{ kind: 'damaged-record', id: 'm0', mends: true }]);
      expect(nodes.map(({ id }) => id)).toContain('m5');
      await engineOn(store, { userId: 'me' }).repair();
      expect(await store.salvage('c')).toMatchObject({ findings: [] });
      expect((await store.getMessage('c', 'm5'))?.data).toEqual(message('m5'));
    });

    it.each<[string, (record: MarkRecord) => object | undefined]>([
      ['gone', () => undefined],
      ['cut', (record) => ({ ...record, text: record.text.slice(0, 300) })],
      ['another chat’s', (record) => ({ ...record, text: 'abcd'.repeat(128) })],
      [
        'of a time when there were fewer',
        (record) => withSum({ ...record, text: record.text.slice(0, 256) }),
      ],
    ])('are found by their ids when what they are found by is %s', async (_, damage) => {
      const first = open();
      await append(first, imported(0, 200, null));
      await first.close();
      const db = await openDB(name);
      const after = damage(await db.get('marks', ['c', 0]));
      await (after ? db.put('marks', after) : db.delete('marks', ['c', 0]));
      db.close();
      const [reader, writer] = [open(), open()];
      for (const id of ['m3', 'm70', 'm127', 'm150'])
        expect((await reader.getMessage('c', id))?.data).toEqual(message(id));
      const again = append(writer, [insert('m70', 'm199', 'other words')]);
      await expect(again).rejects.toMatchObject({ details: { reason: 'id-taken' } });
      const engine = engineOn(writer, { userId: 'me' });
      expect((await engine.verify()).filter(({ mends }) => !mends)).toEqual([]);
      expect(await engine.verify()).not.toEqual([]);
      await engine.repair();
      expect(await engine.verify()).toEqual([]);
      const mended: MarkRecord = (await rowsOf(name, 'marks'))[0] as MarkRecord;
      expect(mended.text).toHaveLength(2 * 64 * 4);
      expect((await open().getNodes('c', ['m3', 'm70', 'm127'])).map(({ id }) => id)).toEqual([
        'm3',
        'm70',
        'm127',
      ]);
    });

    it('are told apart where two are found by the same mark', async () => {
      const seen = new Map<string, string>();
      let pair: string[] = [];
      for (let i = 0; pair.length === 0; i += 1) {
        const mark = marksOf({ infos: [{ id: `id ${i}`, seq: 0 } as NodeInfo] });
        pair = seen.has(mark) ? [seen.get(mark) as string, `id ${i}`] : [];
        seen.set(mark, `id ${i}`);
      }
      const [one = '', other = ''] = pair;
      const store = open();
      await append(store, [insert(one, null, 'one'), ...imported(0, 200, one)]);
      expect(await store.getMessage('c', other)).toBeUndefined();
      await append(store, [insert(other, 'm199', 'other'), ...imported(200, 200, other)]);
      for (const again of [store, open()]) {
        expect((await again.getMessage('c', one))?.data).toEqual(message(one, 'one'));
        expect((await again.getMessage('c', other))?.data).toEqual(message(other, 'other'));
      }
    });

    it('are looked up in one record for all, and then in the one block in which they lie', async () => {
      const first = open();
      await append(first, imported(0, 5000, null));
      await first.close();
      const store = open();
      await store.get('nothing');
      const asked: string[] = [];
      for (const kind of ['get', 'getAll'] as const) {
        const original = Reflect.get(IDBObjectStore.prototype, kind) as (...args: unknown[]) => IDBRequest;
        vi.spyOn(IDBObjectStore.prototype, kind).mockImplementation(function (
          this: IDBObjectStore,
          ...args: unknown[]
        ) {
          asked.push(`${kind} ${this.name}`);
          return original.apply(this, args);
        });
      }
      const lookups = (): string[] =>
        asked.splice(0).filter((one) => one.endsWith('marks') || one.endsWith('topologies'));
      await store.getMessage('c', 'm10');
      expect(lookups()).toEqual(['getAll marks', 'get topologies']);
      // Where it was is where it is looked for first.
      await store.getMessage('c', 'm4000');
      expect(lookups()).toEqual(['get topologies']);
      await store.getNodes(
        'c',
        Array.from({ length: 10 }, (_, i) => `m${i * 200}`),
      );
      expect(lookups()).toEqual(Array.from({ length: 10 }, () => 'get topologies'));
    });

    it('are found by a tab that had looked before another one sealed them', async () => {
      const [one, two] = [open(), open()];
      await grow(one, 150);
      const ids = (await two.load('c')).nodes.map(({ id }) => id);
      expect(await two.getMessage('c', 'nothing')).toBeUndefined();
      expect(await sealOne(name)).toBe(true);
      await grow(one, 300, 150);
      expect(await sealOne(name)).toBe(true);
      for (const id of ids) expect((await two.getMessage('c', id))?.id).toBe(id);
      const again = append(two, [insert('m3', 'm149', 'other words')]);
      await expect(again).rejects.toMatchObject({ details: { reason: 'id-taken' } });
    });

    it('are read as they are by a tab that read their chain before another one mended it', async () => {
      const [one, two] = [open(), open()];
      await append(one, imported(0, 400, null));
      const ids = async (store: ContextStore, limit?: number): Promise<string[]> =>
        (await store.getMessageChain('c', 'm150', limit === undefined ? {} : { limit })).map(({ id }) => id);
      const before = Array.from({ length: 151 }, (_, i) => `m${i}`);
      // The second time it knows where they lay.
      for (let i = 0; i < 2; i += 1) expect(await ids(two)).toEqual(before);
      const { seq, nodes } = await one.load('c');
      const cut = nodes.filter((node) => node.seq >= 60 && node.seq < 70);
      const moved = { ...(nodes[70] as NodeInfo), parentId: 'm20', depth: 22 };
      await append(one, [
        { op: 'mend', seq, nodes: [moved], chat: undefined, dropped: cut, branches: [], checkpoints: [] },
      ]);
      const after = [...before.slice(0, 21), ...before.slice(70)];
      for (let i = 0; i < 2; i += 1) expect(await ids(two)).toEqual(after);
      expect(await ids(two, 90)).toEqual(after.slice(-90));
      const changed = message('m150', 'other words');
      await append(one, [{ op: 'replace', id: 'm150', data: changed, status: 'complete' }]);
      expect((await two.getMessageChain('c', 'm150')).at(-1)?.data).toEqual(changed);
    });

    it('are read as they are by a tab that read their chain before their chat was begun anew', async () => {
      const [one, two] = [open(), open()];
      await append(one, imported(0, 400, null));
      for (let i = 0; i < 2; i += 1) expect((await two.getMessageChain('c', 'm150')).length).toBe(151);
      await one.deleteChat('c');
      expect(await two.getMessageChain('c', 'm150')).toEqual([]);
      const again = ['m150', ...Array.from({ length: 200 }, (_, i) => `m${i + 400}`), 'm0'];
      await one.append(
        'c',
        again.map((id, i) => insert(id, again[i - 1] ?? null)),
        { ...me, epoch: 1 },
      );
      expect((await two.getMessageChain('c', 'm0')).map(({ id }) => id)).toEqual(again);
      expect((await two.getMessageChain('c', 'm150')).map(({ id }) => id)).toEqual(['m150']);
    });

    it('end where damage made a ring of them, however often they are read', async () => {
      const store = open();
      await append(store, imported(0, 300, null));
      const db = await openDB(name);
      const record: Topology = await db.get('topologies', ['c', 0]);
      const text = record.text.replace('[0,null,1]', '[0,"m20",1]');
      expect(text).not.toBe(record.text);
      await db.put('topologies', { ...record, text, sum: textSum(text, record.v) });
      db.close();
      for (let i = 0; i < 3; i += 1)
        expect((await store.getMessageChain('c', 'm70')).map(({ id }) => id)).toEqual(
          Array.from({ length: 71 }, (_, seq) => `m${seq}`),
        );
    });

    it('are told from their words when the record of their places is gone', async () => {
      const first = open();
      await append(first, imported(0, 300, null));
      const chain = await first.getMessages('c');
      await first.close();
      const db = await openDB(name);
      for (const block of [1, 2]) await db.delete('topologies', ['c', block]);
      db.close();
      const store = open();
      expect((await store.load('c')).nodes.map(({ id }) => id)).toEqual(chain.map(({ id }) => id));
      expect((await store.getMessages('c')).map(({ data }) => data)).toEqual(chain.map(({ data }) => data));
      expect((await store.getMessage('c', 'm70'))?.data).toEqual(message('m70'));
      expect(await store.getMessageChain('c', 'm150', { limit: 100 })).toHaveLength(100);
      await append(store, [{ op: 'replace', id: 'm70', data: message('m70', 'new') }, ...turn('q', 'm299')]);
      expect((await store.getMessages('c')).filter(({ data }) => data.parts.length > 0)).toHaveLength(301);
      expect((await store.getMessage('c', 'm70'))?.data).toEqual(message('m70', 'new'));
    });

    it('tell the first changes without being read all, in the order in which they came', async () => {
      const store = open();
      const slow = ['s0', 's1', 's2', 's3'];
      for (let round = 0; round < 5; round += 1) {
        for (const chatId of slow) await append(store, imported(26 * round, 26), chatId);
        await append(store, imported(160 * round, 160));
      }
      await append(store, [{ op: 'replace', id: 'm70', data: message('m70', 'new') }]);
      await sealAll(name);
      const all = await store.changesSince(0);
      same(await changesBy(90, store), all);
      const gets = vi.spyOn(IDBObjectStore.prototype, 'get');
      const lists = vi.spyOn(IDBIndex.prototype, 'getAll');
      expect(await store.changesSince(0, 5)).toEqual(all.slice(0, 5));
      expect(gets.mock.calls.length).toBeLessThan(5);
      expect(lists.mock.contexts.map((index) => (index as IDBIndex).objectStore.name)).not.toContain(
        'topologies',
      );
      expect(Math.max(...lists.mock.calls.map(([, count = Infinity]) => count))).toBeLessThan(20);
      [gets, lists].forEach((calls) => calls.mockRestore());
    });

    it('are refused when a newer version wrote them', async () => {
      const store = open();
      await append(store, imported(0, 200, null));
      const db = await openDB(name);
      const topology = await db.get('topologies', ['c', 0]);
      await db.put('topologies', { ...topology, v: 6, stamp: 'new', sum: textSum(topology.text, 6) });
      db.close();
      expect(await codeOf(store.load('c'))).toBe('newer-format');
      expect(await codeOf(store.getMessages('c'))).toBe('newer-format');
      expect(await codeOf(store.getMessage('c', 'm1'))).toBe('newer-format');
      expect(await codeOf(append(store, [{ op: 'replace', id: 'm1', status: 'interrupted' }]))).toBe(
        'newer-format',
      );
    });

    it('are sealed once by two tabs at the same moment, while both write', async () => {
      const [one, two] = [open(), open()];
      await grow(one, 300);
      const write = async (store: ContextStore, prefix: string): Promise<void> => {
        for (let i = 0; i < 30; i += 1) await append(store, [insert(`${prefix}${i}`, `m${i}`)]);
      };
      await Promise.all([write(one, 'x'), sealAll(name), write(two, 'y'), sealAll(name), sealAll(name)]);
      await sealAll(name);
      const { nodes } = await two.load('c');
      expect(nodes.map(({ seq }) => seq)).toEqual(Array.from({ length: 360 }, (_, i) => i));
      expect(await two.getMessages('c')).toHaveLength(300);
      expect((await two.getNodes('c', ['x29', 'y29'])).map(({ data }) => data.id)).toEqual(['x29', 'y29']);
      expect(await countRecords(name)).toMatchObject({ packs: 4, topologies: 4, nodes: 104, bodies: 104 });
    });

    describe('when something fails', () => {
      let faults: Faults;
      beforeEach(() => {
        faults = new Faults();
      });
      afterEach(() => {
        faults.remove();
      });

      it.each(WRITE_FAULTS)(
        'are sealed whole or not at all, wherever it is killed: %s',
        { timeout: 30_000 },
        async (fault) => {
          const store = open();
          await grow(store, 140);
          const before = await everything(store);
          const db = await openDatabase(name);
          const dump = JSON.stringify(await dumpOf(db));
          let kills = 0;
          const { first, every } = pointsOf(fault, points);
          await connected(name, async (connection) => {
            for (let at = first; ; at += every) {
              faults.order(fault, at, true);
              const sealed = await sealOver(connection).catch(() => undefined);
              faults.cease();
              if (sealed) break;
              kills += 1;
              expect(JSON.stringify(await dumpOf(db)) === dump).toBe(true);
            }
          });
          db.close();
          expect(kills).toBeGreaterThan(0);
          same(await everything(store), before);
          await sealAll(name);
          expect(await countRecords(name)).toMatchObject({ packs: 1, nodes: 76 });
          same(await everything(store), before);
        },
      );

      it.each(WRITE_FAULTS)('are changed whole or not at all, wherever it fails: %s', async (fault) => {
        const store = open();
        await grow(store, 200);
        await sealAll(name);
        const ops: StoreOp[] = [
          { op: 'replace', id: 'm5', data: message('m5', 'better') },
          { op: 'replace', id: 'm70', status: 'interrupted' },
          ...turn('q', 'm199'),
        ];
        const db = await openDatabase(name);
        let before = JSON.stringify(await dumpOf(db));
        const { first, every } = pointsOf(fault, points);
        for (let at = first; ; at += every) {
          faults.order(fault, at, true);
          const code = await codeOf(store.append('c', ops, me));
          const { struck } = faults;
          faults.cease();
          const after = JSON.stringify(await dumpOf(db));
          expect(code === 'none' || after === before).toBe(true);
          before = after;
          if (!struck) break;
        }
        db.close();
        expect(await store.getMessage('c', 'm5')).toMatchObject({ rev: 2, data: message('m5', 'better') });
        expect(await store.getMessages('c')).toHaveLength(201);
      });

      it('are left alone when the disk is full, and nobody is told', { timeout: 60_000 }, async () => {
        vi.restoreAllMocks();
        const store = open();
        await grow(store, 140);
        faults.order('refuse', 1, true);
        await expect.poll(() => faults.struck, { timeout: 25_000 }).toBe(true);
        faults.cease();
        expect(await countRecords(name)).toMatchObject({ packs: 0, nodes: 140 });
        expect(await store.getMessages('c')).toHaveLength(140);
      });
    });
  });

  describe('a database of format 1', () => {
    let name: string;
    let store: IndexedDBContextStore;
    const chats = ['long', 'short', 'gone', 'leaving'] as const;
    const dump = old.dump as DatabaseDump;

    beforeEach(async () => {
      name = freshName();
      await loadDatabase(name, dump);
      store = new IndexedDBContextStore(name);
    });
    afterEach(() => store.close());

    const expectAll = async (): Promise<void> => {
      for (const id of chats) {
        const { records, chains, difference } = old.expected[id];
        const { chat, ...others } = await store.load(id);
        same(json({ ...others, chat: chat ?? null }), records);
        expect(
          await Promise.all(records.branches.map((branch) => chainIds(id, branch.headMessageId))),
        ).toEqual(chains);
        same(idsOf(await store.load(id, 300)), idsOf(difference));
      }
      same(json(await store.listChats()), old.expected.chats);
      expect([await store.get('theme'), await store.get('contextree:fragments:long')]).toEqual(
        old.expected.values,
      );
      same(
        json(await store.changesSince(0)),
        rowsOf('changes').toSorted((a, b) => seqOf(a) - seqOf(b)),
      );
      const ids = old.expected.long.records.nodes.map(({ id }) => id);
      const bodies = rowsOf('bodies', 'long') as string[];
      const stored = await store.getNodes('long', ids.slice(0, -1));
      same(
        stored.map(({ data }) => JSON.stringify(data)),
        bodies.slice(0, -1),
      );
      expect((await store.getMessage('long', 'grows'))?.data).toEqual(
        message('grows', 'what was said so far'),
      );
    };
    const chainIds = async (chatId: string, headId: string | null): Promise<string[]> =>
      (await store.getMessageChain(chatId, headId ?? '')).map(({ id }) => id);
    const rowsOf = (table: string, chatId?: string): unknown[] =>
      (dump.stores.find((one) => one.name === table)?.rows ?? [])
        .filter(({ key }) => chatId === undefined || (key as string[])[0] === chatId)
        .map(({ value }) => value);

    it('reads as it was written, before it is sealed, at each step, and after', async () => {
      await expectAll();
      expect(await countRecords(name)).toMatchObject({ nodes: 305, packs: 0 });
      while (await sealOne(name, 'long')) await expectAll();
      expect(await countRecords(name)).toMatchObject({ nodes: 114, packs: 3, topologies: 3 });
      await store.close();
      await expectAll();
    });

    it('keeps fields that nobody knows', async () => {
      await sealAll(name);
      const { chat, nodes, branches } = await store.load('long');
      expect([chat, nodes[20], branches.find(({ id }) => id === 'side')]).toMatchObject([
        { later: 'kept' },
        { later: { kept: [1] } },
        { later: 'kept' },
      ]);
      await append(nodes[20]?.id ?? '');
      expect((await store.load('long')).nodes[20]).toMatchObject({ rev: 2, later: { kept: [1] } });
    });
    const append = (id: string) =>
      store.append('long', [{ op: 'replace', id, data: message(id, 'new') }], { ...me, userId: 'ann' });

    it('is written on, and brought up to date in the background', { timeout: 60_000 }, async () => {
      vi.restoreAllMocks();
      const head = old.expected.long.chains[0]?.at(-1) ?? '';
      await store.append('long', [{ op: 'replace', id: head, status: 'complete' }, ...turn('next', head)], {
        ...me,
        userId: 'ann',
      });
      await expect.poll(() => countRecords(name), SELDOM).toMatchObject({ packs: 3 });
      expect(await chainIds('long', 'next')).toEqual([...(old.expected.long.chains[0] ?? []), 'next']);
      expect(await store.restoreChat('leaving')).toBe(true);
      expect(await chainIds('leaving', 'q1')).toEqual(['q1']);
    });

    it.each(['throw', 'refuse', 'abort', 'late'] as const)(
      'is as good as before when a step is killed: %s',
      { timeout: 30_000 },
      async (fault) => {
        const faults = new Faults();
        const { first, every } = pointsOf(fault, points);
        await connected(name, async (connection) => {
          for (let at = first; ; at += 7 * every) {
            faults.order(fault, at, true);
            const sealed = await sealOver(connection, 'long').catch(() => undefined);
            if (sealed) break;
            expect(await countRecords(name)).toMatchObject({
              nodes: 305,
              bodies: 305,
              topologies: 0,
              packs: 0,
            });
          }
        });
        faults.remove();
        await expectAll();
        await sealAll(name);
        await expectAll();
      },
    );

    it('is opened although an older tab has it open, if that steps aside', async () => {
      await store.close();
      name = freshName();
      await loadDatabase(name, dump);
      let isAside = false;
      const older = await openDB(name, 1, {
        blocking: () => {
          isAside = true;
          older.close();
        },
      });
      store = new IndexedDBContextStore(name);
      await expectAll();
      expect(isAside).toBe(true);
      await expect(openDB(name, 1)).rejects.toThrow(/version/i);
    });
  });

  describe('a database of format 2', () => {
    let name: string;
    let store: IndexedDBContextStore;
    const chats = ['long', 'short', 'gone', 'leaving', 'imported'] as const;

    beforeEach(async () => {
      name = freshName();
      await loadDatabase(name, packed.dump);
      store = new IndexedDBContextStore(name);
    });
    afterEach(() => store.close());

    const expectAll = (): Promise<void> => expectAsWritten(store, packed.expected, chats);

    it('reads as it was written, and nothing is found wrong with it', async () => {
      await expectAll();
      expect(await store.salvage('imported')).toMatchObject({ findings: [], nodes: [], bodies: [] });
      while (await sealOne(name, 'imported')) await expectAll();
      await store.close();
      await expectAll();
    });

    it('is brought up to date block by block, as it is written to', async () => {
      const sums = async (): Promise<boolean[]> => {
        const db = await openDB(name);
        const records: { readonly sum?: number }[] = await db.getAll('topologies');
        db.close();
        return records.map(({ sum }) => sum !== undefined);
      };
      expect((await sums()).filter(Boolean)).toEqual([]);
      const [ben, head] = [{ ...me, userId: 'ben' }, 'grows'];
      await store.append('imported', [{ op: 'replace', id: 'm3', data: message('m3', 'new') }], ben);
      await store.append(
        'imported',
        [{ op: 'replace', id: head, status: 'complete' }, ...turn('more', head)],
        ben,
      );
      expect((await sums()).filter(Boolean)).toEqual([true]);
      const chain = await store.getMessageChain('imported', 'more');
      expect(chain.map(({ id }) => id)).toEqual([...(packed.expected.imported.chains[0] ?? []), 'more']);
      expect([chain[3]?.data, chain.at(-2)?.data]).toEqual([
        message('m3', 'new'),
        message('grows', 'what was said so far'),
      ]);
      expect(await store.salvage('imported')).toMatchObject({ findings: [], nodes: [], bodies: [] });
      expect((await store.searchMessages('imported', 'way')).map(({ message: { id } }) => id)).toEqual([
        'v20',
      ]);
      const again = packed.expected.imported.chains[0]?.at(-2) ?? '';
      await store.append('imported', [{ op: 'replace', id: again, data: message(again, 'new') }], ben);
      const before = (packed.expected.changes.find(({ id }) => id === again)?.seq ?? 0) - 1;
      expect(await store.changesSince(before, 1)).toEqual((await store.changesSince(before)).slice(0, 1));
    });
  });

  describe('a database of format 3', () => {
    let name: string;
    let store: IndexedDBContextStore;
    const ben = { ...me, userId: 'ben' };
    const chats = ['imported', 'grown', 'gone', 'leaving'] as const;
    const { expected } = summed;

    beforeEach(async () => {
      name = freshName();
      await loadDatabase(name, summed.dump);
      store = new IndexedDBContextStore(name);
    });
    afterEach(() => store.close());

    const expectAll = (): Promise<void> => expectAsWritten(store, expected, chats);

    it('reads as it was written, at each step of sealing, and nothing is found wrong with it', async () => {
      await expectAll();
      await store.append(
        'imported',
        Array.from({ length: 60 }, (_, i) => insert(`x${i}`, 'q')),
        ben,
      );
      const changes = await store.changesSince(0);
      while (await sealOne(name, 'imported')) same(await store.changesSince(0), changes);
      expect(await store.salvage('imported')).toMatchObject({ findings: [], nodes: [], bodies: [] });
      expect(await countRecords(name)).toMatchObject({ packs: 4 });
    });

    it('tells each change once, by the row that was written last, as it is written to', async () => {
      const { seq } = await store.load('imported');
      const ops: StoreOp[] = [
        { op: 'replace', id: 'm3', data: message('m3', 'new') },
        { op: 'replace', id: 'grows', status: 'complete' },
        { op: 'checkpoint', id: 'k', name: 'here', messageId: 'm61' },
        { op: 'restore-branch', id: 'old' },
        insert('dropped', 'grows', 'back again'),
        head('grows', 'dropped'),
        ...turn('next', 'dropped'),
      ];
      await store.append('imported', ops, ben);
      await store.append('imported', turn('more', 'next'), ben);
      const changes = await store.changesSince(0);
      const names = changes.map(({ kind, chatId, id }) => `${kind} ${chatId} ${id}`);
      expect(new Set(names).size).toBe(names.length);
      expect(changes).toHaveLength(expected.changes.length + 2);
      const later = changes
        .filter((change) => change.seq > seq)
        .map(({ kind, op, id }) => `${op} ${kind} ${id}`);
      expect(later.toSorted()).toEqual([
        'put branch b-main',
        'put branch old',
        'put chat imported',
        'put checkpoint k',
        ...['dropped', 'grows', 'm3', 'more', 'next'].map((id) => `put node ${id}`),
      ]);
      const { chat, ...difference } = await store.load('imported', seq);
      expect([chat?.rev, difference.dropped, difference.branches.map(({ id }) => id)]).toEqual([
        (expected.imported.records.chat?.rev ?? 0) + 2,
        [],
        ['b-main', 'old'],
      ]);
      // Page by page, as who reads them in parts, nothing is told twice or left out.
      const pages: unknown[] = [];
      for (let page = await store.changesSince(0, 7); page.length > 0;) {
        pages.push(...page);
        page = await store.changesSince(page.at(-1)?.seq ?? 0, 7);
      }
      expect(pages).toEqual(changes);
      expect(await store.salvage('imported')).toMatchObject({ findings: [], nodes: [], bodies: [] });
    });
  });

  describe.each([
    [4, numbered],
    [5, listed],
    [6, marked],
    [7, joined],
  ])('a database of format %i', (_, { dump, expected }) => {
    let name: string;
    let store: IndexedDBContextStore;
    const ben = { ...me, userId: 'ben' };
    const chats = ['imported', 'grown', 'gone', 'leaving'] as const;

    beforeEach(async () => {
      name = freshName();
      await loadDatabase(name, dump);
      store = new IndexedDBContextStore(name);
    });
    afterEach(() => store.close());

    const expectAll = (): Promise<void> => expectAsWritten(store, expected, chats);

    it('reads as it was written, and is written and sealed on', async () => {
      await expectAll();
      expect(await store.salvage('imported')).toMatchObject({ findings: [], nodes: [], bodies: [] });
      const more = Array.from({ length: 60 }, (_, i) => insert(`x${i}`, 'grows'));
      await store.append('imported', more, ben);
      const changes = await store.changesSince(0);
      while (await sealOne(name, 'imported')) same(await store.changesSince(0), changes);
      expect(await store.salvage('imported')).toMatchObject({ findings: [], nodes: [], bodies: [] });
      expect((await store.getMessage('imported', 'p'))?.sources).toEqual(['m1', 'm2']);
    });
  });

  describe('a database of format 4 that a tab of its time has open', () => {
    let name: string;
    let old: IDBDatabase;
    let store: IndexedDBContextStore;
    const list = (): Promise<readonly unknown[]> => store.listChats({ userId: 'ben', limit: 1 });

    beforeEach(async () => {
      name = freshName();
      await loadDatabase(name, numbered.dump);
      old = await openDatabase(name);
      store = new IndexedDBContextStore(name, { patience: 300 });
    });
    afterEach(async () => {
      old.close();
      await store.close();
    });

    it('is brought up to date when that steps aside', async () => {
      old.addEventListener('versionchange', () => old.close());
      expect(await list()).toHaveLength(1);
      expect((await dumpDatabase(name)).version).toBe(joined.dump.version);
    });

    it('is not waited for longer than a call waits, and is brought up to date when that is gone', async () => {
      expect(await codeOf(list())).toBe('store-blocked');
      expect(old.objectStoreNames).toContain('chats');
      expect(store.persistence).toBe('indexeddb');
      old.close();
      await expect.poll(() => codeOf(list())).toBe('none');
      expect((await dumpDatabase(name)).version).toBe(joined.dump.version);
    });
  });
}

async function rowsOf(name: string, table: string): Promise<unknown[]> {
  const db = await openDB(name);
  const rows = await db.getAll(table);
  db.close();
  return rows;
}

/** A record as a program with a fault would write it. */
function withSum(record: MarkRecord): MarkRecord {
  return { ...record, sum: sumOf(record.text, sumOf(`${record.chatId} ${record.group} `)) };
}

/** So many messages from `m{from}` on, and the head moved behind them. */
function imported(from: number, count: number, parent?: string | null, text?: string): StoreOp[] {
  const before = parent === undefined && from > 0 ? `m${from - 1}` : (parent ?? null);
  const ids = Array.from({ length: count }, (_, i) => `m${from + i}`);
  return [
    ...ids.map((id, i) => insert(id, ids[i - 1] ?? before, text)),
    head(from === 0 ? null : before, ids.at(-1) ?? null),
  ];
}

async function everything(store: ContextStore, chatId = 'c'): Promise<unknown> {
  const { chat, ...records } = await store.load(chatId);
  const ids = records.nodes.map(({ id }) => id);
  return json({
    records,
    chat,
    chains: await Promise.all(
      records.branches.map((branch) => store.getMessageChain(chatId, branch.headMessageId ?? '')),
    ),
    nodes: await store.getNodes(chatId, ids.toReversed()),
    each: await Promise.all(ids.filter((_, i) => i % 40 === 7).map((id) => store.getMessage(chatId, id))),
    changes: await store.changesSince(0),
    feed: await store.changesSince(30, 50),
    difference: await store.load(chatId, 100),
  });
}

/** All changes, so many at a time. */
async function changesBy(limit: number, store: ContextStore): Promise<Change[]> {
  const all: Change[] = [];
  for (let isDone = false; !isDone;) {
    const some = await store.changesSince(all.at(-1)?.seq ?? 0, limit);
    all.push(...some);
    isDone = some.length < limit;
  }
  return all;
}

/** What a database of an older version held, and what is to be read from it. */
interface Written {
  readonly records: {
    readonly nodes: readonly { readonly id: string }[];
    readonly branches: readonly { readonly headMessageId?: string | null }[];
  };
  readonly chains: readonly (readonly string[])[];
  readonly difference: object;
}

/** Reads chats of such a database, by every way there is. */
async function expectAsWritten<Id extends string>(
  store: ContextStore,
  expected: Readonly<Record<Id, Written>> & {
    readonly imported: Written & { readonly bodies: readonly string[] };
    readonly chats: readonly object[];
    readonly changes: readonly object[];
  },
  ids: readonly Id[],
): Promise<void> {
  for (const id of ids) {
    const { records, chains, difference } = expected[id];
    const { chat, ...others } = await store.load(id);
    same(json({ ...others, chat: chat ?? null }), records);
    const heads = records.branches.map(({ headMessageId }) => headMessageId ?? '');
    const read = await Promise.all(heads.map((one) => store.getMessageChain(id, one)));
    same(
      read.map((chain) => chain.map((node) => node.id)),
      chains,
    );
    same(idsOf(await store.load(id, 300)), idsOf(difference));
  }
  const { records, bodies } = expected.imported;
  const nodes = await store.getNodes(
    'imported',
    records.nodes.map(({ id }) => id),
  );
  same(
    nodes.map(({ data }) => JSON.stringify(data)),
    bodies,
  );
  same(json(await store.listChats()), expected.chats);
  same(json(await store.listChats({ limit: 1 })), expected.chats.slice(0, 1));
  same(json(await store.changesSince(0)), expected.changes);
}

const json = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

const seqOf = (row: unknown): number => (row as { seq: number }).seq;

function idsOf(records: object): unknown {
  const { chat: _chat, ...lists } = json(records) as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(lists).map(([name, list]) => [
      name,
      Array.isArray(list)
        ? list.map((one: string | { id: string }) => (typeof one === 'string' ? one : one.id))
        : list,
    ]),
  );
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'none';
  } catch (error) {
    return isContextError(error) ? error.code : `not ours: ${String(error)}`;
  }
}
