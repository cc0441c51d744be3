import type { UIMessage } from 'ai';
import { deleteDB, openDB } from 'idb';
import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from 'vitest';
import { isContextError } from '../../src/errors.ts';
import { IndexedDBContextStore } from '../../src/store/indexeddb/store.ts';
import type { ContextStore, StoreNotice, StoreOp } from '../../src/store/store.ts';
import { ALL_POINTS, Faults, pointsOf, WRITE_FAULTS, type Points } from './faults.ts';
import { engineOn, say, texts } from './engine.ts';
import { given, head, insert, line, me, message, turn } from './graph.ts';

/**
 * What only a database can do wrong: several connections, lost ones, a full disk, a newer version, and every write
 * failing at every point. Runs on fake-indexeddb and in browsers. `freshName` gives the name of a new database, `points`
 * where its writes fail.
 */
export function indexedDBSuite(freshName: () => string, points: Points = ALL_POINTS): void {
  describe('IndexedDBContextStore as a database', () => {
    let name: string;
    const opened: ContextStore[] = [];
    const unhandled: unknown[] = [];

    const open = (options = {}): IndexedDBContextStore => {
      const store = new IndexedDBContextStore(name, options);
      opened.push(store);
      return store;
    };
    const append = (store: ContextStore, ops: readonly StoreOp[], options = {}) =>
      store.append('c', ops, { ...me, ...options });
    const codeOf = (work: Promise<unknown>): Promise<string> =>
      work.then(
        () => 'none',
        (error: unknown) => (isContextError(error) ? error.code : `not ours: ${String(error)}`),
      );
    const dump = async (): Promise<string> => {
      const db = await openDB(name);
      const tx = db.transaction([...db.objectStoreNames]);
      const rows = await Promise.all(
        [...db.objectStoreNames].map(async (store) => [store, await tx.objectStore(store).getAll()]),
      );
      db.close();
      return JSON.stringify(rows);
    };

    const stopListening = listenForUnhandled(unhandled);

    beforeEach(() => {
      name = freshName();
    });
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((store) => store.close()));
      await new Promise((resolve) => setTimeout(resolve));
      expect(unhandled.splice(0)).toEqual([]);
    });

    it('keeps everything for the next visit', async () => {
      const first = open();
      await given(first, 'q1 > a1', 'q1 > b1');
      await first.set('mine', { draft: 'words' });
      const before = await first.load('c');
      await first.close();
      const second = open();
      expect(await second.load('c')).toEqual(before);
      expect(await second.get('mine')).toEqual({ draft: 'words' });
      for (const version of ['a1', 'b1']) {
        const chain = await second.getMessageChain('c', version);
        expect(chain.map((node) => node.data)).toEqual([message('q1'), message(version)]);
      }
    });

    describe('that is closed', () => {
      const connections = new Set<IDBDatabase>();
      const left = (): Promise<unknown> => new Promise((resolve) => setTimeout(resolve, 30));
      let opens: MockInstance<IDBFactory['open']>;

      beforeEach(() => {
        const request = Reflect.get(IDBFactory.prototype, 'open');
        const close = Reflect.get(IDBDatabase.prototype, 'close');
        opens = vi.spyOn(IDBFactory.prototype, 'open').mockImplementation(function (
          this: IDBFactory,
          ...args
        ) {
          const opening = Reflect.apply(request, this, args);
          opening.addEventListener('success', () => void connections.add(opening.result));
          return opening;
        });
        vi.spyOn(IDBDatabase.prototype, 'close').mockImplementation(function (this: IDBDatabase) {
          connections.delete(this);
          Reflect.apply(close, this, []);
        });
      });
      afterEach(() => {
        vi.restoreAllMocks();
        connections.clear();
      });

      it('refuses who still waits for it, and what is deleted behind it stays deleted', async () => {
        const store = open();
        await given(store, 'q1');
        await store.close();
        const calls = [
          store.load('c'),
          append(store, turn('a1', 'q1')),
          store.listChats(),
          store.set('k', 1),
        ].map(codeOf);
        await store.close();
        await deleteDB(name);
        expect(await Promise.all(calls)).toEqual(calls.map(() => 'store-closed'));
        await left();
        expect((await indexedDB.databases()).map((database) => database.name)).not.toContain(name);
      });

      it('is not opened again by what was under way, whatever that was and whenever it is closed', async () => {
        const file = {
          type: 'file',
          mediaType: 'image/png',
          url: `data:image/png;base64,${btoa('x'.repeat(5000))}`,
        };
        for (let wait = 0; wait < 12; wait += 1) {
          name = freshName();
          const before = open();
          await given(before, 'q1');
          await append(before, [insert('a1', 'q1', '', 'streaming')]);
          await before.append('due', turn('d1', null), me);
          await before.deleteChat('due', { keepFor: 1 });
          await before.close();
          await left();
          const store = open();
          const pictured = (id: string): UIMessage => ({ ...message(id), parts: [file] }) as UIMessage;
          const calls = [
            store.listChats(),
            append(store, [
              { op: 'insert', id: 'q2', data: pictured('q2'), parentId: 'q1', status: 'complete' },
            ]),
            append(store, turn('q3', 'q1')),
            store.saveDraft('c', 'a1', pictured('a1'), { isDurable: true }),
            store.putBlob(new Uint8Array([1])),
            store.searchMessages('c', 'q1'),
            store.salvage('c'),
            store.set('k', 1),
            store.storage(),
          ].map(codeOf);
          for (let i = 0; i < wait; i += 1) await new Promise((resolve) => setTimeout(resolve));
          await store.close();
          const asked = opens.mock.calls.length;
          const codes = await Promise.all(calls);
          expect(codes.filter((code) => code !== 'none' && code !== 'store-closed')).toEqual([]);
          await left();
          expect([wait, opens.mock.calls.length - asked, connections.size]).toEqual([wait, 0, 0]);
          // Whoever uses it again opens it again.
          expect(await store.getMessage('c', 'q1')).toBeDefined();
          await store.close();
        }
      });

      it.each(['its code comes', 'it opens'])(
        'while %s, opens again for who uses it at once, on one connection',
        async (when) => {
          const store = open();
          if (when === 'it opens') await store.get('k').then(() => store.close());
          const early = codeOf(store.load('c'));
          void store.close();
          const later = [store.load('c'), store.listChats()];
          expect(await early).toMatch(/none|store-closed/);
          expect(await Promise.all([...later, store.get('k')].map(codeOf))).toEqual(['none', 'none', 'none']);
          await left();
          expect(connections.size).toBe(1);
          await store.close();
          expect(connections.size).toBe(0);
        },
      );

      it('while its code comes, tells who listens from then on', async () => {
        const store = open();
        const early = codeOf(store.load('c'));
        const closing = store.close();
        const heard: StoreNotice[] = [];
        store.subscribe((notice) => heard.push(notice));
        await early;
        await closing;
        await given(store, 'q1');
        expect(heard).toMatchObject([{ kind: 'change' }]);
      });
    });

    it('reads long chains, bushy ones and their ends', async () => {
      const store = open();
      await given(store, line(700));
      const side = Array.from({ length: 60 }, (_, i) => insert(`s${i}`, i === 0 ? 'm10' : `s${i - 1}`));
      const main = Array.from({ length: 60 }, (_, i) => insert(`m${700 + i}`, `m${699 + i}`));
      await append(
        store,
        side.flatMap((op, i) => [op, main[i] as StoreOp]),
      );
      const ids = (nodes: readonly { readonly id: string }[]): string[] => nodes.map(({ id }) => id);
      const whole = ids(await store.getMessageChain('c', 'm759'));
      expect(whole).toEqual(Array.from({ length: 760 }, (_, i) => `m${i}`));
      expect(ids(await store.getMessageChain('c', 's59'))).toEqual([
        ...whole.slice(0, 11),
        ...Array.from({ length: 60 }, (_, i) => `s${i}`),
      ]);
      expect(ids(await store.getMessageChain('c', 'm759', { limit: 100 }))).toEqual(whole.slice(-100));
      expect(ids(await store.getNodes('c', whole.toReversed()))).toEqual(whole.toReversed());
      expect((await store.getNodes('c', whole)).every((node) => node.data.id === node.id)).toBe(true);
    });

    it('waits for the disk with every write, but not with drafts', async () => {
      const store = open();
      await append(store, [insert('a1', null, '', 'streaming')]);
      const transactions = vi.spyOn(IDBDatabase.prototype, 'transaction');
      const durabilityOf = async (work: () => Promise<unknown>): Promise<unknown> => {
        transactions.mockClear();
        await work();
        return transactions.mock.calls.find(([, mode]) => mode === 'readwrite')?.[2]?.durability;
      };
      expect(await durabilityOf(() => append(store, turn('q1', null)))).toBe('strict');
      expect(await durabilityOf(() => store.saveDraft('c', 'a1', message('a1', 'w')))).toBe('relaxed');
      const draft = { isDurable: true };
      expect(await durabilityOf(() => store.saveDraft('c', 'a1', message('a1', 'w w'), draft))).toBe(
        'strict',
      );
      for (const write of [
        () => store.set('k', 1),
        () => store.delete('k'),
        () => store.putBlob(new Uint8Array([1])),
        () => store.deleteChat('c', { keepFor: 60_000 }),
        () => store.restoreChat('c'),
        () => store.deleteChat('c'),
        () => store.clear(),
      ])
        expect([String(write), await durabilityOf(write)]).toEqual([String(write), 'strict']);
      transactions.mockRestore();
    });

    describe('with two connections', () => {
      it('keeps every turn of both, 150 each on one branch', async () => {
        const [one, two] = [open(), open()];
        await given(one, 'q0');
        const write = async (store: ContextStore, prefix: string): Promise<void> => {
          let last: string | null = 'q0';
          let branchId = me.mainBranchId;
          for (let i = 0; i < 150; i += 1) {
            const result = await append(store, turn(`${prefix}${i}`, last, branchId));
            branchId = result.conflict?.to.id ?? branchId;
            last = `${prefix}${i}`;
          }
        };
        await Promise.all([write(one, 'x'), write(two, 'y')]);
        const branches = await one.listBranches('c');
        const chains = await Promise.all(
          branches.map((branch) => one.getMessageChain('c', branch.headMessageId ?? '')),
        );
        const reached = new Set(chains.flat().map((node) => node.id));
        expect(reached.size).toBe(301);
        expect(branches).toHaveLength(2);
      });

      it('keeps every turn on one branch, when both rebase', async () => {
        const [one, two] = [open(), open()];
        await given(one, 'q0');
        const write = async (store: ContextStore, prefix: string): Promise<void> => {
          for (let i = 0; i < 40; i += 1)
            await append(store, turn(`${prefix}${i}`, 'q0'), { onConflict: 'rebase' });
        };
        await Promise.all([write(one, 'x'), write(two, 'y')]);
        expect(await two.listBranches('c')).toHaveLength(1);
        expect(await two.getMessages('c')).toHaveLength(81);
      });

      it('tells the other of changes, drafts and clearing, and never of content', async () => {
        const [one, two] = [open(), open()];
        const heard: StoreNotice[] = [];
        two.subscribe((notice) => heard.push(notice));
        const wire = new BroadcastChannel(`contextree:${name}`);
        const posted: unknown[] = [];
        wire.onmessage = ({ data }) => posted.push(data);
        const { seq } = await append(one, [
          insert('q1', null),
          insert('a1', 'q1', '', 'streaming'),
          head(null, 'a1'),
        ]);
        await one.saveDraft('c', 'a1', message('a1', 'secret words'));
        await one.clear();
        await expect.poll(() => heard.length).toBe(3);
        expect(heard).toEqual([
          { kind: 'change', chatId: 'c', seq, remote: true },
          { kind: 'draft', chatId: 'c', id: 'a1', seq, remote: true },
          { kind: 'clear', seq: seq + 1, remote: true },
        ]);
        await expect.poll(() => posted.length).toBe(3);
        wire.close();
        const told = posted.flatMap((data) => Object.entries(data as object));
        expect(new Set(told.map(([field]) => field))).toEqual(new Set(['v', 'kind', 'chatId', 'id', 'seq']));
        expect(told.filter(([, value]) => /words|q1/.test(String(value)))).toEqual([]);
      });

      it('hears only notices', async () => {
        const store = open();
        const heard: StoreNotice[] = [];
        store.subscribe((notice) => heard.push(notice));
        const junk = new BroadcastChannel(`contextree:${name}`);
        const fine = { v: 1, kind: 'change', chatId: 'c', seq: 4 };
        const messages = [
          null,
          'change',
          7,
          [],
          {},
          { ...fine, v: 2 },
          { ...fine, kind: 'x' },
          { ...fine, seq: '4' },
          { ...fine, chatId: {} },
          { ...fine, id: 1 },
          fine,
        ];
        await store.getChat('c');
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel reaches one origin only
        for (const data of messages) junk.postMessage(data);
        await expect.poll(() => heard.length).toBe(1);
        expect(heard).toEqual([{ kind: 'change', chatId: 'c', seq: 4, remote: true }]);
        junk.close();
      });

      describe('where tabs have no channel', () => {
        const page = globalThis.window ?? new EventTarget();
        const comeBack = (event = 'focus'): void => void page.dispatchEvent(new Event(event));

        beforeEach(() => {
          vi.stubGlobal('BroadcastChannel', undefined);
          if (page === globalThis.window) return;
          vi.stubGlobal('window', page);
          vi.stubGlobal('document', {
            get visibilityState() {
              return 'visible';
            },
          });
        });
        afterEach(async () => {
          await Promise.all(opened.splice(0).map((store) => store.close()));
          vi.unstubAllGlobals();
        });

        it.each(['focus', 'visibilitychange'])('looks for what the other did on %s, once', async (event) => {
          const [one, two] = [open(), open()];
          const heard: StoreNotice[] = [];
          await two.load('c');
          two.subscribe((notice) => heard.push(notice));
          const { seq } = await append(one, turn('q1', null));
          await one.getChat('c');
          expect(heard).toEqual([]);
          comeBack(event);
          await expect.poll(() => heard).toEqual([{ kind: 'change', seq, remote: true }]);
          comeBack(event);
          await append(two, turn('q2', 'q1'));
          comeBack(event);
          await two.getChat('c');
          expect(heard.filter(({ remote }) => remote)).toHaveLength(1);
        });

        it('looks for what the other did before a write of its own', async () => {
          const [one, two] = [open(), open()];
          const heard: StoreNotice[] = [];
          two.subscribe((notice) => heard.push(notice));
          await append(one, turn('q1', null));
          await append(two, turn('q2', 'q1'));
          comeBack();
          await expect.poll(() => heard.at(-1)?.remote).toBe(true);
        });

        it('looks for nothing when it is closed, in the background, or shown for the first time', async () => {
          const [one, two] = [open(), open()];
          await two.load('c');
          const heard: StoreNotice[] = [];
          two.subscribe((notice) => heard.push(notice));
          await append(one, turn('q1', null));
          comeBack('pageshow');
          const visibility = vi.spyOn(document, 'visibilityState', 'get').mockReturnValue('hidden');
          comeBack('visibilitychange');
          visibility.mockRestore();
          const third = open();
          await third.load('c');
          third.subscribe((notice) => heard.push(notice));
          await third.close();
          await two.getChat('c');
          expect(heard).toEqual([]);
        });

        it('shows in an open page what another one wrote, when somebody comes back to it', async () => {
          const [here, there] = [engineOn(open()), engineOn(open())];
          await say(there, 'q1');
          await here.ready();
          await say(there, 'a1', 'q2');
          expect(texts(here.state.getState().messages)).toBe('q1');
          comeBack();
          await expect.poll(() => texts(here.state.getState().messages)).toBe('q1 > a1 > q2');
          here.dispose();
          there.dispose();
        });
      });

      it('keeps telling the others when one listener throws, and does not hide the error', async () => {
        const store = open();
        const heard: StoreNotice[] = [];
        const errors: unknown[] = [];
        vi.spyOn(globalThis, 'queueMicrotask').mockImplementation((report) => {
          expect(report).toThrow('from a listener');
          errors.push('reported');
        });
        store.subscribe(() => {
          throw new Error('from a listener');
        });
        store.subscribe((notice) => heard.push(notice));
        await given(store, 'q1');
        vi.restoreAllMocks();
        expect([heard.length, errors]).toEqual([1, ['reported']]);
      });

      it('forgets a deleted chat in time, also when the tab that deleted it is gone', async () => {
        const one = open();
        await given(one, 'q1 > a1');
        await one.deleteChat('c', { keepFor: 60 });
        await one.close();
        await new Promise((resolve) => setTimeout(resolve, 80));
        const two = open();
        await two.listChats();
        await expect.poll(dump).not.toContain('"parts"');
        expect(await two.restoreChat('c')).toBe(false);
      });

      it('brings a chat back that the other one deleted', async () => {
        const [one, two] = [open(), open()];
        await given(one, 'q1 > a1');
        await one.deleteChat('c', { keepFor: 5000 });
        expect(await two.getChat('c')).toBeUndefined();
        expect(await two.restoreChat('c')).toBe(true);
        expect(await one.getMessages('c')).toHaveLength(2);
      });
    });

    describe('leaves no word behind', () => {
      it('after clearing', async () => {
        const store = open();
        await append(store, [
          insert('q1', null, 'secret'),
          insert('a1', 'q1', '', 'streaming'),
          head(null, 'a1'),
        ]);
        await store.saveDraft('c', 'a1', message('a1', 'secret'));
        await append(store, [{ op: 'replace', id: 'q1', data: message('q1', 'secret two') }]);
        await store.set('mine', 'secret');
        expect(await dump()).toContain('secret');
        await store.clear();
        expect(await dump()).not.toContain('secret');
      });

      it('after deleting the chat: drafts, revisions, previews and fragments go, too', async () => {
        const store = open();
        await append(store, [
          insert('q1', null, 'secret'),
          insert('a1', 'q1', '', 'streaming'),
          head(null, 'a1'),
          { op: 'chat', title: 'secret' },
          { op: 'set', key: 'contextree:fragments:c', value: [{ name: 'role', data: 'secret' }] },
        ]);
        await store.saveDraft('c', 'a1', message('a1', 'secret'));
        await append(store, [{ op: 'replace', id: 'q1', data: message('q1', 'secret two') }]);
        await store.deleteChat('c');
        expect(await dump()).not.toContain('secret');
      });
    });

    describe('when something fails', () => {
      let faults: Faults;
      beforeEach(() => {
        faults = new Faults();
      });
      afterEach(() => {
        faults.remove();
      });

      it('undoes what was put before a value that cannot be cloned', async () => {
        const store = open();
        await given(store, 'q1 > a1');
        const before = await dump();
        faults.order('throw', 4);
        expect(await codeOf(append(store, turn('q2', 'a1')))).toBe('invariant');
        faults.cease();
        expect(await dump()).toBe(before);
      });

      it('says that the disk is full, and goes on when it no longer is', async () => {
        const store = open();
        await given(store, 'q1 > a1');
        faults.order('refuse', 1, true);
        expect(await codeOf(append(store, turn('q2', 'a1')))).toBe('quota-exceeded');
        expect(await codeOf(store.set('k', 1))).toBe('quota-exceeded');
        faults.cease();
        await append(store, turn('q2', 'a1'));
        expect(await store.getMessages('c')).toHaveLength(3);
      });

      it('says the same where Chromium calls it something else: large values that find no room beside the database', async () => {
        const store = open();
        await given(store, 'q1 > a1');
        faults.order('blobs', 1);
        expect(await codeOf(append(store, turn('q2', 'a1')))).toBe('quota-exceeded');
        expect(faults.struck).toBe(true);
        await append(store, turn('q2', 'a1'));
        expect(await store.getMessages('c')).toHaveLength(3);
      });

      it('opens one connection, however many ask at once', async () => {
        const opens = vi.spyOn(IDBFactory.prototype, 'open');
        const store = open();
        await Promise.all(Array.from({ length: 20 }, (_, i) => store.getChat(`c${i}`)));
        await given(store, 'q1 > a1');
        expect(opens).toHaveBeenCalledTimes(1);
        opens.mockRestore();
      });

      it('is not told to commit what may be too large for it: Chromium would leave that out, and say that all is done', async () => {
        const store = open();
        const commits = vi.spyOn(IDBTransaction.prototype, 'commit');
        await append(store, turn('q1', null));
        expect(commits).toHaveBeenCalledTimes(1);
        await append(store, [insert('q2', 'q1', 'x'.repeat(2 ** 24)), head('q1', 'q2')]);
        await store.putBlob(new Uint8Array(2 ** 24 + 1));
        await store.set('large', ['x'.repeat(2 ** 24 + 1)]);
        await store.set('unknown', { map: new Map() });
        const own: Record<string, unknown> = { name: 'own' };
        own['own'] = own;
        await store.set('endless', own);
        expect(commits).toHaveBeenCalledTimes(1);
        await store.set('small', { list: ['said', 1, null, undefined] });
        expect(commits).toHaveBeenCalledTimes(2);
        commits.mockRestore();
        expect(await store.getMessages('c')).toHaveLength(2);
      });

      it('tells of nothing that was not committed', async () => {
        const store = open();
        await given(store, 'q1 > a1');
        const heard: StoreNotice[] = [];
        store.subscribe((notice) => heard.push(notice));
        faults.order('late', 1);
        expect(await codeOf(append(store, turn('q2', 'a1')))).toBe('quota-exceeded');
        expect(heard).toEqual([]);
      });

      it('opens a dead connection again, once, without anybody noticing', async () => {
        const store = open();
        await given(store, 'q1 > a1');
        faults.order('dead', 1);
        await append(store, turn('q2', 'a1'));
        expect(faults.struck).toBe(true);
        expect(await store.getMessages('c')).toHaveLength(3);
        faults.order('dead', 1, true);
        expect(await codeOf(append(store, turn('q3', 'q2')))).toBe('store-closed');
        faults.cease();
        await append(store, turn('q3', 'q2'));
        expect(await store.getMessages('c')).toHaveLength(4);
      });

      it('writes a turn once, and counts its usage once, when the answer to the first try got lost', async () => {
        const store = open();
        await given(store, 'q1 > a1');
        faults.order('unheard', 1);
        const result = await append(store, [...turn('q2', 'a1'), { op: 'chat', usage: { tokens: 3 } }]);
        expect(faults.struck).toBe(true);
        expect(result).toMatchObject({
          branches: [{ headMessageId: 'q2' }],
          written: [{ id: 'q2', rev: 1 }],
        });
        expect(await store.getMessages('c')).toHaveLength(3);
        expect(await store.getChat('c')).toMatchObject({
          messageCount: 3,
          metadata: { usage: { tokens: 3 } },
        });
      });

      it('opens a database again that does not open at first, before it takes memory for it', async () => {
        const store = open();
        faults.order('shut', 1);
        await given(store, 'q1 > a1');
        expect([faults.struck, store.persistence]).toEqual([true, 'indexeddb']);
        expect(await open().getMessages('c')).toHaveLength(2);
      });

      it('reads again when a read is torn', async () => {
        const store = open();
        await given(store, 'q1 > a1');
        faults.order('torn', 1);
        expect(await store.getMessages('c')).toHaveLength(2);
        expect(faults.struck).toBe(true);
      });

      it.each(WRITE_FAULTS)('writes a turn whole or not at all, wherever it fails: %s', async (fault) => {
        const ops: StoreOp[] = [
          insert('q2', 'a1'),
          insert('a2', 'q2'),
          head('a1', 'a2'),
          { op: 'chat', title: 'T', usage: { tokens: 3 } },
          { op: 'checkpoint', id: 'k', name: 'k', messageId: 'q2' },
          { op: 'replace', id: 'q1', data: message('q1', 'better') },
          { op: 'set', key: 'v', value: 1 },
        ];
        for (const forEver of [false, true]) {
          const { first, every } = pointsOf(fault, points);
          for (let at = first; ; at += every) {
            const store = open();
            await store.clear();
            await given(store, 'q1 > a1');
            const before = await dump();
            faults.order(fault, at, forEver);
            const code = await codeOf(append(store, ops));
            faults.cease();
            const after = await dump();
            expect({ undone: after === before, refused: code !== 'none' && faults.struck }).toEqual({
              undone: code !== 'none',
              refused: code !== 'none',
            });
            await append(store, ops);
            const chain = await store.getMessages('c');
            expect(chain.map((node) => node.id)).toEqual(['q1', 'a1', 'q2', 'a2']);
            expect(await store.getChat('c')).toMatchObject({
              messageCount: 4,
              metadata: { usage: { tokens: 3 } },
            });
            await store.close();
            if (!faults.struck) break;
          }
        }
      });
    });

    describe('when the database is someone else’s', () => {
      it('steps aside for a newer version, and says so', async () => {
        const store = open();
        await given(store, 'q1');
        const newer = await openDB(name, 99, { blocked: () => expect.unreachable('it did not step aside') });
        expect(await codeOf(store.getChat('c'))).toBe('newer-format');
        expect(await codeOf(append(store, []))).toBe('newer-format');
        newer.close();
      });

      it('steps aside when the database is deleted, and begins anew', async () => {
        const store = open();
        await given(store, 'q1');
        await new Promise((resolve, reject) => {
          const request = indexedDB.deleteDatabase(name);
          request.onsuccess = resolve;
          request.onerror = reject;
          request.onblocked = reject;
        });
        expect(await store.getChat('c')).toBeUndefined();
        await given(store, 'q1');
        expect(await store.getMessages('c')).toHaveLength(1);
      });

      it('does not wait for ever behind a tab that does not step aside', async () => {
        const rude = await openDB(name, 1);
        const deletion = indexedDB.deleteDatabase(name);
        const store = open({ patience: 1500 });
        expect(await codeOf(store.getChat('c'))).toBe('store-blocked');
        const patient = store.getChat('c').then(
          () => 'opened',
          () => 'blocked',
        );
        rude.close();
        await new Promise((resolve) => {
          deletion.onsuccess = resolve;
        });
        expect(await patient).toBe('opened');
      });

      it('is memory where the browser has no database, and says so; what it took is there', async () => {
        const factory = Object.getOwnPropertyDescriptor(globalThis, 'indexedDB');
        const store = open();
        expect(store.persistence).toBe('indexeddb');
        Object.defineProperty(globalThis, 'indexedDB', { configurable: true, value: undefined });
        expect(await store.getChat('c')).toBeUndefined();
        expect(store.persistence).toBe('memory');
        await given(store, 'q1');
        if (factory) Object.defineProperty(globalThis, 'indexedDB', factory);
        else Reflect.deleteProperty(globalThis, 'indexedDB');
        expect((await store.getMessages('c')).map(({ id }) => id)).toEqual(['q1']);
        expect(store.persistence).toBe('memory');
      });

      it.each<[string, (store: IndexedDBContextStore) => Promise<unknown>]>([
        ['a lock is taken', (store) => store.hold('c', 'a1')],
        ['locks are looked at', (store) => store.held('c')],
        ['figures are asked for', (store) => store.storage()],
      ])('is memory in a frame that may keep nothing, also when %s first', async (_, call) => {
        const denied = (): Promise<never> =>
          Promise.reject(new DOMException('The Locks API is denied.', 'SecurityError'));
        const before = (['indexedDB', 'navigator'] as const).map(
          (part) => [part, Object.getOwnPropertyDescriptor(globalThis, part)] as const,
        );
        for (const locks of [{ request: denied, query: denied }, undefined]) {
          const store = open();
          Object.defineProperty(globalThis, 'indexedDB', { configurable: true, value: undefined });
          Object.defineProperty(globalThis, 'navigator', { configurable: true, value: { locks } });
          const outcomes = [await codeOf(call(store)), await codeOf(append(store, turn('q1', null)))];
          for (const [part, descriptor] of before)
            if (descriptor) Object.defineProperty(globalThis, part, descriptor);
            else Reflect.deleteProperty(globalThis, part);
          expect(outcomes).toEqual(['none', 'none']);
          expect(store.persistence).toBe('memory');
        }
      });

      it('tells the tabs of the database nothing of what it does in memory, and hears nothing of theirs', async () => {
        const [well, fallen] = [open(), open()];
        await given(well, 'q1');
        const [heard, overheard]: StoreNotice[][] = [[], []];
        well.subscribe((notice) => heard?.push(notice));
        fallen.subscribe((notice) => overheard?.push(notice));
        const factory = Object.getOwnPropertyDescriptor(globalThis, 'indexedDB');
        Object.defineProperty(globalThis, 'indexedDB', { configurable: true, value: undefined });
        await fallen.clear();
        if (factory) Object.defineProperty(globalThis, 'indexedDB', factory);
        else Reflect.deleteProperty(globalThis, 'indexedDB');
        await given(fallen, 'x1');
        const { seq } = await append(open(), turn('a1', 'q1'));
        await expect.poll(() => heard?.length).toBeGreaterThan(0);
        expect(heard).toEqual([{ kind: 'change', chatId: 'c', seq, remote: true }]);
        expect(overheard?.map(({ kind, remote }) => [kind, remote])).toEqual([
          ['clear', false],
          ['change', false],
        ]);
      });

      it('stays with a database that has answered once, even when it is refused later', async () => {
        const store = open();
        await given(store, 'q1');
        await store.close();
        const factory = Object.getOwnPropertyDescriptor(globalThis, 'indexedDB');
        Object.defineProperty(globalThis, 'indexedDB', { configurable: true, value: undefined });
        expect(await codeOf(store.getChat('c'))).toBe('store-unavailable');
        expect(store.persistence).toBe('indexeddb');
        if (factory) Object.defineProperty(globalThis, 'indexedDB', factory);
        else Reflect.deleteProperty(globalThis, 'indexedDB');
        expect(await store.getChat('c')).toBeDefined();
      });
    });

    describe('without Web Locks', () => {
      const navigatorBefore = Object.getOwnPropertyDescriptor(globalThis, 'navigator');

      beforeEach(() => {
        Object.defineProperty(globalThis, 'navigator', { configurable: true, value: {} });
      });

      afterEach(() => {
        if (navigatorBefore) Object.defineProperty(globalThis, 'navigator', navigatorBefore);
      });

      it('holds nodes by leases, which end when they are let go, or grow old', async () => {
        const [one, two] = [open(), open()];
        const release = await one.hold('c', 'a1');
        const beaten = await two.hold('c', 'a1');
        expect(await two.held('c')).toEqual(new Set(['a1']));
        expect(await two.held('d')).toEqual(new Set());
        beaten();
        await two.set('later', true);
        expect(await two.held('c')).toEqual(new Set(['a1']));
        release();
        await expect.poll(() => two.held('c')).toEqual(new Set());
        const db = await openDB(name);
        await db.put('leases', { chatId: 'c', id: 'a2:1', until: Date.now() - 1 });
        db.close();
        expect(await two.held('c')).toEqual(new Set());
      });

      it('believes no lease from before the clock was set back: its tab may be gone for long', async () => {
        const store = open();
        await store.held('c');
        const db = await openDB(name);
        await db.put('leases', { chatId: 'c', id: 'a1:1', until: Date.now() + 3_600_000 });
        await db.put('leases', { chatId: 'c', id: 'a2:1', until: Date.now() + 9000 });
        db.close();
        expect(await store.held('c')).toEqual(new Set(['a2']));
      });

      it('holds the first answer of a chat, which is held before the chat is there', async () => {
        const [one, two] = [open(), open()];
        const release = await one.hold('c', 'a1');
        await append(one, [...turn('q1', null), insert('a1', 'q1', '', 'streaming')]);
        expect(await two.held('c')).toEqual(new Set(['a1']));
        release();
      });
    });

    it('leaves no rejection unhandled', () => {
      stopListening();
      expect(unhandled).toEqual([]);
    });
  });
}

function listenForUnhandled(seen: unknown[]): () => void {
  const process = (globalThis as { process?: { on?: Function; off?: Function } }).process;
  const note = (reason: unknown): void => void seen.push(reason);
  if (typeof window === 'undefined') {
    process?.on?.('unhandledRejection', note);
    return () => process?.off?.('unhandledRejection', note);
  }
  const noteEvent = (event: PromiseRejectionEvent): void => void seen.push(event.reason);
  window.addEventListener('unhandledrejection', noteEvent);
  return () => window.removeEventListener('unhandledrejection', noteEvent);
}
