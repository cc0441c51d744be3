import { openDB } from 'idb';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { isContextError } from '../../src/errors.ts';
import { IndexedDBContextStore, type IndexedDBOptions } from '../../src/store/indexeddb/store.ts';
import { hashOfText, isWritable, openFolder } from '../../src/store/indexeddb/journalFiles.ts';
import type { DataLoss } from '../../src/store/loss.ts';
import type { ContextStore, StoreNotice } from '../../src/store/store.ts';
import { given, insert, line, me, message, turn } from './graph.ts';

/**
 * The day on which the database is gone. It is really deleted here, behind the store's back, in whatever browser this
 * runs; the parts about the journal run where a page can have files.
 */
export function lossSuite(freshName: () => string): void {
  describe('IndexedDBContextStore after a wipe', () => {
    let name: string;
    const opened: ContextStore[] = [];
    const losses: DataLoss[] = [];

    const open = (options: IndexedDBOptions = {}): IndexedDBContextStore => {
      const store = new IndexedDBContextStore(name, { onDataLoss: (loss) => losses.push(loss), ...options });
      opened.push(store);
      return store;
    };
    /** What lies in `localStorage` for this database. */
    const mark = (): string | null => localStorage.getItem(`contextree:${name}:mark`);
    /** Closed as a tab is closed that had time to write its note. */
    const leave = async (store: ContextStore): Promise<void> => {
      await expect.poll(mark).not.toBeNull();
      await store.close();
    };

    beforeEach(() => {
      name = freshName();
    });
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((store) => store.close()));
      losses.splice(0);
    });

    it('says that everything is gone, how much it was, and until somebody has taken note of it', async () => {
      const before = open();
      await given(before, 'q1 > a1');
      await leave(before);
      await wipe(name);
      const after = open();
      expect(await after.listChats()).toEqual([]);
      await expect.poll(() => losses.length).toBe(1);
      const lost = { kind: 'all', database: name, noticedBy: 'marker', chats: 1, canRestore: false };
      expect(losses[0]).toMatchObject(lost);
      expect(after.dataLoss).toBe(losses[0]);
      await after.close();

      const again = open();
      await again.listChats();
      await expect.poll(() => losses.length).toBe(2);
      await again.dataLoss?.dismiss();
      expect(again.dataLoss).toBeUndefined();
      await again.close();
      const last = open();
      await last.listChats();
      await passed();
      expect(losses).toHaveLength(2);
    });

    it('tells how much there was, also where a page went before its note, and the next one only read', async () => {
      const before = open();
      await given(before, 'q1 > a1');
      await expect.poll(mark).toMatch(/"messages":2/);
      const early = mark() ?? '';
      await append(before, turn('q2', 'a1'));
      await before.close();
      // As it lies there when the page is closed in the second in which the note is late.
      localStorage.setItem(`contextree:${name}:mark`, early);
      const reader = open();
      await reader.listChats();
      await expect.poll(mark, { timeout: 5000 }).toMatch(/"messages":3/);
      await reader.close();
      await wipe(name);
      await open().listChats();
      await expect.poll(() => losses.map(({ messages }) => messages)).toEqual([3]);
    });

    it('notices it while it is open, tells who listens, and counts on', async () => {
      const store = open();
      const { seq } = await append(store, turn('q1', null));
      const heard: StoreNotice[] = [];
      store.subscribe((notice) => heard.push(notice));
      await expect.poll(mark).not.toBeNull();
      await wipe(name);
      expect(await store.getChat('c')).toBeUndefined();
      await expect.poll(() => heard.map(({ kind }) => kind)).toEqual(['loss']);
      expect((await append(store, turn('q2', null))).seq).toBeGreaterThan(seq);
    });

    it('is told of by the next page, too, when the note was to be written anew just then', async () => {
      const store = open();
      await append(store, turn('q1', null));
      await expect.poll(mark).toMatch(/"messages":1/);
      await append(store, turn('q2', 'q1'));
      await wipe(name);
      await store.listChats();
      await expect.poll(() => losses).toHaveLength(1);
      // The note is a second late.
      await new Promise((resolve) => setTimeout(resolve, 1200));
      expect(mark()).toMatch(/"messages":1/);
      await store.close();
      await open().listChats();
      await expect.poll(() => losses).toHaveLength(2);
    });

    it('notices it when a person comes back to the page', async () => {
      const store = open();
      await append(store, turn('q1', null));
      const heard: StoreNotice[] = [];
      store.subscribe((notice) => heard.push(notice));
      await expect.poll(mark).not.toBeNull();
      await wipe(name);
      await passed();
      expect(heard).toEqual([]);
      window.dispatchEvent(new Event('focus'));
      await expect.poll(() => heard.map(({ kind }) => kind)).toContain('loss');
    });

    it('says that the last changes are gone, when the disk took the database back to an earlier day', async () => {
      const store = open();
      await given(store, 'q1 > a1');
      await leave(store);
      const db = await openDB(name);
      const meta = await db.get('meta', 'self');
      await db.put('meta', { ...meta, seq: 1 }, 'self');
      db.close();
      await open().listChats();
      await expect.poll(() => losses.map(({ kind }) => kind)).toEqual(['latest']);
    });

    it('believes the browser, when it says that it began a new database in place of a damaged one', async () => {
      const native = Object.getOwnPropertyDescriptor(IDBVersionChangeEvent.prototype, 'dataLoss');
      Object.defineProperty(IDBVersionChangeEvent.prototype, 'dataLoss', {
        configurable: true,
        get: () => 'total',
      });
      try {
        await open().listChats();
        await expect
          .poll(() => losses.map(({ kind, noticedBy }) => [kind, noticedBy]))
          .toEqual([['all', 'browser']]);
      } finally {
        if (native) Object.defineProperty(IDBVersionChangeEvent.prototype, 'dataLoss', native);
        else Reflect.deleteProperty(IDBVersionChangeEvent.prototype, 'dataLoss');
      }
    });

    it('finds no loss where nothing was, nor after clearing, nor after the last chat was deleted', async () => {
      const store = open();
      await given(store, 'q1');
      await expect.poll(mark).not.toBeNull();
      await store.clear();
      expect(mark()).toBeNull();
      await store.close();
      await open().listChats();
      await wipe(name);
      const second = open();
      await given(second, 'q1');
      await expect.poll(mark).not.toBeNull();
      await second.deleteChat('c');
      await expect.poll(mark, { timeout: 15_000 }).toBeNull();
      await second.close();
      await wipe(name);
      await open().listChats();
      await passed();
      expect(losses).toEqual([]);
    });

    it('works as ever where nothing can be kept beside the database, and notices what it can by itself', async () => {
      const native = Object.getOwnPropertyDescriptor(globalThis, 'localStorage');
      Object.defineProperty(globalThis, 'localStorage', {
        configurable: true,
        get() {
          throw new DOMException('refused', 'SecurityError');
        },
      });
      try {
        const store = open();
        await given(store, 'q1 > a1');
        await expect.poll(() => store.getMessages('c').then(({ length }) => length)).toBe(2);
        await passed();
        await wipe(name);
        expect(await store.getChat('c')).toBeUndefined();
        await expect.poll(() => losses.length).toBe(1);
      } finally {
        if (native) Object.defineProperty(globalThis, 'localStorage', native);
      }
    });

    it('refuses to restore where there is no journal, and says why', async () => {
      const store = open();
      await given(store, 'q1');
      await leave(store);
      await wipe(name);
      await open().listChats();
      await expect.poll(() => losses.length).toBe(1);
      const refusal = await losses[0]?.restore().catch((error: unknown) => error);
      expect(isContextError(refusal, 'data-loss')).toBe(true);
    });

    it('tells how much there is, with what the browser tells', async () => {
      const store = open();
      await given(store, line(200));
      const figures = await store.storage();
      expect(figures).toMatchObject({
        persistence: 'indexeddb',
        chats: 1,
        messages: 200,
        blobs: { count: 0, bytes: 0 },
      });
      expect((figures.packs ?? 0) * 64 + (figures.singles ?? 0)).toBe(200);
    });

    it('asks the browser to keep what is there, and tells what it says', async () => {
      const store = open();
      const answers = [true, false];
      Object.defineProperty(navigator, 'storage', {
        configurable: true,
        value: { persist: async () => answers.shift() },
      });
      try {
        expect([await store.persist(), await store.persist(), answers]).toEqual([true, false, []]);
      } finally {
        Reflect.deleteProperty(navigator, 'storage');
      }
      expect(typeof (await store.persist())).toBe('boolean');
    });

    describe.runIf(isWritable())('with a journal', () => {
      const journaled = (): IndexedDBContextStore => open({ journal: true });
      /** Everything that was written down, once the journal has caught up. */
      const written = async (): Promise<string> => textIn(await openFolder(name));
      /** Figures are told when the journal has caught up. */
      const caughtUp = (store: IndexedDBContextStore): Promise<unknown> => store.storage();

      it('notices the loss by it where the note is gone too, and nobody has written since', async () => {
        const store = journaled();
        await given(store, 'q1 > a1');
        await store.storage();
        await store.close();
        await wipe(name);
        localStorage.removeItem(`contextree:${name}:mark`);
        await journaled().listChats();
        await expect
          .poll(() => losses.map(({ noticedBy, canRestore }) => [noticedBy, canRestore]))
          .toEqual([['journal', true]]);
      });

      it('brings every chat back: messages, versions, branches, checkpoints, attachments, fragments, and what the app kept', async () => {
        const store = journaled();
        const hash = await store.putBlob(new Uint8Array([7, 8, 9]));
        await given(store, 'q1 > a1 > q2', 'q1 > b1');
        await append(store, [
          insert('pic', 'q2', `see contextree-blob:${hash}`),
          { op: 'replace', id: 'pic', data: message('pic', `contextree-blob:${hash}`) },
          { op: 'replace', id: 'a1', data: message('a1', 'a better answer') },
          { op: 'checkpoint', id: 'k', name: 'here', messageId: 'b1' },
          { op: 'chat', title: 'Trees', usage: { tokens: 3 } },
          { op: 'set', key: 'contextree:fragments:c', value: [{ name: 'role' }] },
        ]);
        await store.append('d', turn('x', null), me);
        await store.set('unsent', { words: ['not yet said'], at: 1.5, no: null });
        await store.set('later', 'written in time');
        await store.set('made', new Date(0));
        const [c, d, chats] = [await store.load('c'), await store.load('d'), await store.listChats()];
        const chain = await store.getMessageChain('c', 'pic');
        await caughtUp(store);
        await store.close();
        await wipe(name);

        const after = journaled();
        expect(await after.listChats()).toEqual([]);
        await after.set('later', 'written since');
        await expect.poll(() => after.dataLoss?.canRestore, { timeout: 15_000 }).toBe(true);
        const heard: StoreNotice[] = [];
        after.subscribe((notice) => heard.push(notice));
        expect(await after.dataLoss?.restore()).toEqual({ chats: 2, messages: 6, damaged: 0, left: 0 });
        expect(heard.map(({ kind }) => kind).toSorted()).toEqual(['change', 'change', 'loss']);
        expect(after.dataLoss).toBeUndefined();
        expect(butForNumbers(await after.load('c'))).toEqual(butForNumbers(c));
        expect(butForNumbers(await after.load('d'))).toEqual(butForNumbers(d));
        expect(await after.listChats()).toEqual(chats);
        expect(await after.getMessageChain('c', 'pic')).toEqual(chain);
        expect(await after.getBlob(hash)).toEqual(new Uint8Array([7, 8, 9]));
        expect(await after.get('contextree:fragments:c')).toEqual([{ name: 'role' }]);
        expect(await after.get('unsent')).toEqual({ words: ['not yet said'], at: 1.5, no: null });
        // What JSON can't hold is not brought back as something else.
        expect([await after.get('later'), await after.get('made')]).toEqual(['written since', undefined]);
        const db = await openDB(name);
        expect(await db.getAllKeys('revisions')).toEqual([['c', 'a1', 1]]);
        db.close();
        await after.close();
        await wipe(name);
        const third = journaled();
        await third.listChats();
        await expect.poll(() => third.dataLoss?.canRestore, { timeout: 15_000 }).toBe(true);
      });

      it('brings chats back whose ids, and whose database’s name, are no whole characters', async () => {
        // Firefox opens no database of such a name.
        if (await canOpen(`${name}\ud800`)) name += '\ud800';
        const ids = ['\ud800', '\ud801', '\ufffd', 'é'];
        const store = journaled();
        for (const id of ids) await store.append(id, turn('q1', null), me);
        await store.set('\ud800', 'kept');
        await caughtUp(store);
        await store.close();
        await wipe(name);
        const after = journaled();
        await after.listChats();
        await expect.poll(() => after.dataLoss?.canRestore, { timeout: 15_000 }).toBe(true);
        expect(await after.dataLoss?.restore()).toEqual({ chats: 4, messages: 4, damaged: 0, left: 0 });
        for (const id of ids) expect(await after.getMessages(id)).toHaveLength(1);
        expect(await after.get('\ud800')).toBe('kept');
      });

      it('finds the folders of ordinary names where they always were', async () => {
        const folders = ['c', 'ünï/../50%:x'].map(hashOfText);
        expect(await Promise.all(folders)).toEqual([
          '2e7d2c03a9507ae265ecf5b5356885a53393a2029d241394997265a1a25aefc6',
          '666fde82e295fe7935ed86b77c05ffd526aa4db39043da07f02ffaeaaa84341a',
        ]);
      });

      it('keeps what was written since beside what comes back', async () => {
        const store = journaled();
        await append(store, [...turn('q1', null), ...turn('q2', 'q1')]);
        await caughtUp(store);
        await store.close();
        await wipe(name);
        const after = journaled();
        await append(after, turn('new', null));
        await expect.poll(() => after.dataLoss?.canRestore, { timeout: 15_000 }).toBe(true);
        await after.dataLoss?.restore();
        const branches = await after.listBranches('c');
        const chains = await Promise.all(
          branches.map(({ headMessageId }) => after.getMessageChain('c', headMessageId ?? '')),
        );
        expect(chains.map((nodes) => nodes.map(({ id }) => id).join(' ')).toSorted()).toEqual([
          'new',
          'q1 q2',
        ]);
        expect(new Set(branches.map((branch) => branch.name)).size).toBe(branches.length);
        expect((await after.getChat('c'))?.messageCount).toBe(3);
        await append(after, turn('q3', 'q2', branches.find((one) => one.headMessageId === 'q2')?.id));
      });

      it('forgets what is deleted, with every word of it, at once and everywhere', async () => {
        const store = journaled();
        await append(store, [insert('q1', null, 'a zebra in the first chat'), ...turn('q2', 'q1')]);
        await store.append('d', [insert('x', null, 'a walrus')], me);
        await store.set('mine', 'an okapi');
        await caughtUp(store);
        expect(await written()).toMatch(/zebra[^]*walrus|walrus[^]*zebra/);
        expect(await written()).toContain('okapi');
        await store.delete('mine');
        await expect.poll(written, { timeout: 15_000 }).not.toContain('okapi');
        await store.deleteChat('c');
        await expect.poll(written, { timeout: 15_000 }).not.toContain('zebra');
        expect(await written()).toContain('walrus');
        await store.clear();
        expect(await written()).not.toContain('walrus');
      });

      it('is cleared also where another tab has taken its folder away', async () => {
        const store = journaled();
        await append(store, turn('q1', null));
        await caughtUp(store);
        const handle = Object.getPrototypeOf(await openFolder(name)) as FileSystemDirectoryHandle;
        // The other one has taken the folder away that they share.
        const gone = new DOMException('A requested file or directory could not be found.', 'NotFoundError');
        const looks = vi.spyOn(handle, 'keys').mockImplementationOnce(() => {
          throw gone;
        });
        await store.clear();
        expect(looks).toHaveBeenCalled();
        looks.mockRestore();
        expect(await store.listChats()).toEqual([]);
      });

      it('says why its folder can not be deleted when it is cleared, and has let the chats go', async () => {
        const store = journaled();
        await append(store, turn('q1', null));
        await caughtUp(store);
        const handle = Object.getPrototypeOf(await openFolder(name)) as FileSystemDirectoryHandle;
        const refusal = new DOMException('A file is in use.', 'NoModificationAllowedError');
        const removals = vi.spyOn(handle, 'removeEntry').mockRejectedValueOnce(refusal);
        await expect(store.clear()).rejects.toMatchObject({ code: 'store-unavailable', cause: refusal });
        removals.mockRestore();
        expect(await store.listChats()).toEqual([]);
      });

      it('stays small however often a chat changes, and leaves out lines that were cut short', async () => {
        const store = journaled();
        await append(store, turn('q1', null));
        await caughtUp(store);
        for (let i = 0; i < 4; i += 1) {
          await append(store, [{ op: 'chat', title: `${i}`.repeat(200_000) }]);
          await caughtUp(store);
        }
        expect((await store.storage()).journal?.bytes).toBeLessThan(500_000);
        await append(store, turn('q2', 'q1'));
        await caughtUp(store);
        await store.close();
        const folder = await chatFolder(await openFolder(name), 'c');
        const last = (await filesOf(folder)).filter((file) => /^\d/.test(file.name)).at(-1);
        const text = (await last?.text()) ?? '';
        await overwrite(folder, last?.name ?? '', `${text}0badc0de {"t":"nonsense"}\n${text.slice(0, 30)}`);
        await wipe(name);
        const after = journaled();
        await after.listChats();
        await expect.poll(() => after.dataLoss?.canRestore, { timeout: 15_000 }).toBe(true);
        expect(await after.dataLoss?.restore()).toEqual({ chats: 1, messages: 2, damaged: 2, left: 0 });
        expect((await after.getMessages('c')).map(({ id }) => id)).toEqual(['q1', 'q2']);
      });

      it('is written by two tabs at once, and misses nothing', async () => {
        const [one, two] = [journaled(), journaled()];
        await append(one, turn('q0', null));
        await Promise.all(
          Array.from({ length: 20 }, (_, i) => append(i % 2 === 0 ? one : two, turn(`m${i}`, 'q0'))),
        );
        await caughtUp(one);
        await Promise.all([one.close(), two.close()]);
        await wipe(name);
        const after = journaled();
        await after.listChats();
        await expect.poll(() => after.dataLoss?.canRestore, { timeout: 15_000 }).toBe(true);
        expect(await after.dataLoss?.restore()).toMatchObject({ messages: 21, damaged: 0 });
      });

      it('never costs a turn: a failure is said once, and what was missed is written later', async () => {
        const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
        const broken = vi
          .spyOn(FileSystemFileHandle.prototype, 'createWritable')
          .mockRejectedValue(new DOMException('injected', 'QuotaExceededError'));
        const store = journaled();
        await append(store, turn('q1', null));
        await expect.poll(() => warn.mock.calls.length, { timeout: 15_000 }).toBe(1);
        await append(store, turn('q2', 'q1'));
        await expect.poll(() => store.storage().then(({ journal }) => journal?.state)).toBe('failed');
        expect(warn).toHaveBeenCalledTimes(1);
        broken.mockRestore();
        await append(store, turn('q3', 'q2'));
        await caughtUp(store);
        expect(await written()).toContain('"q1"');
        expect((await store.storage()).journal).toMatchObject({ state: 'on' });
        warn.mockRestore();
      });
    });
  });
}

const append = (store: ContextStore, ops: Parameters<ContextStore['append']>[1]) =>
  store.append('c', ops, me);

/** Whether the browser has databases of such a name. Leaves none. */
async function canOpen(name: string): Promise<boolean> {
  try {
    (await openDB(name)).close();
    await wipe(name);
    return true;
  } catch {
    return false;
  }
}

/** Deletes the database as something else than the store would. */
async function wipe(name: string): Promise<void> {
  await new Promise((resolve, reject) => {
    const request = indexedDB.deleteDatabase(name);
    request.onsuccess = resolve;
    request.onerror = reject;
  });
}

/** Long enough for what nobody waits for, had it been there. */
function passed(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 50));
}

/** Records of a chat without what counts changes. */
function butForNumbers(records: Awaited<ReturnType<ContextStore['load']>>): unknown {
  const { seq: _, chat, ...rest } = records;
  return { ...rest, chat: { ...chat, rev: 0 } };
}

async function textIn(folder: FileSystemDirectoryHandle): Promise<string> {
  let all = '';
  for await (const entry of folder.values())
    all += entry.kind === 'file' ? await (await entry.getFile()).text() : await textIn(entry);
  return all;
}

/** The folder of a chat, in whichever database of these it is. */
async function chatFolder(
  root: FileSystemDirectoryHandle,
  chatId: string,
): Promise<FileSystemDirectoryHandle> {
  for await (const database of root.values())
    if (database.kind === 'directory') return database.getDirectoryHandle(await hashOfText(chatId));
  throw new Error('no journal');
}

async function filesOf(folder: FileSystemDirectoryHandle): Promise<File[]> {
  const files: File[] = [];
  for await (const entry of folder.values()) if (entry.kind === 'file') files.push(await entry.getFile());
  return files.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

async function overwrite(folder: FileSystemDirectoryHandle, name: string, text: string): Promise<void> {
  const file = await (await folder.getFileHandle(name)).createWritable();
  await file.write(text);
  await file.close();
}
