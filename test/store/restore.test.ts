import { IDBFactory } from 'fake-indexeddb';
import 'fake-indexeddb/auto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { isContextError } from '../../src/errors.ts';
import type { Chat } from '../../src/graph/graph.ts';
import { RecordTransaction } from '../../src/store/append.ts';
import { IndexedDBBacking } from '../../src/store/indexeddb/backing.ts';
import { Journal } from '../../src/store/indexeddb/journal.ts';
import { hashOfText } from '../../src/store/indexeddb/journalFiles.ts';
import { Sealer } from '../../src/store/indexeddb/seal.ts';
import { IndexedDBContextStore } from '../../src/store/indexeddb/store.ts';
import type { DataLoss } from '../../src/store/loss.ts';
import type { ContextStore } from '../../src/store/store.ts';
import { type DatabaseDump, dumpDatabase, loadDatabase } from '../support/dump.ts';
import { Faults, WRITE_FAULTS } from '../support/faults.ts';
import { Folder, Handle, MemoryFiles } from '../support/files.ts';
import { given, head, insert, line, me, message, turn } from '../support/graph.ts';
import { unhandledRejections } from '../support/unhandled.ts';

/** Each way to fail, once and from there on; what fails for ever does so until the visit is over. */
const KINDS = WRITE_FAULTS.flatMap((fault) => [
  [fault, 'once', false] as const,
  [fault, 'for ever', true] as const,
]);

/**
 * Bringing chats back from their journal, failing at every request and at every file on the way: each chat is there whole
 * or not at all, what is not there yet can be brought back still, on this visit and on the next one, and the second try
 * brings all of it.
 */
describe('a restore that fails', () => {
  const faults = new Faults();
  const files = new MemoryFiles();
  const unhandled = unhandledRejections();
  const opened: ContextStore[] = [];
  /** The looks that were taken at a journal: whether it holds what is lost. */
  const looks = vi.spyOn(Journal.prototype, 'holdsLost');
  /** The database and its journal, as that is written behind it. */
  let written: DatabaseDump;
  let journal: Folder;
  let whole: string;

  const open = (): IndexedDBContextStore => {
    const store = new IndexedDBContextStore('restored', { journal: true });
    opened.push(store);
    return store;
  };
  const closeAll = (): Promise<unknown> => Promise.all(opened.splice(0).map((store) => store.close()));

  beforeAll(async () => {
    vi.spyOn(Sealer.prototype, 'note').mockReturnValue();
    files.install();
    globalThis.indexedDB = new IDBFactory();
    const store = open();
    await given(store, line(5), 'm0 > b1');
    await store.append('c', [{ op: 'replace', id: 'm1', data: message('m1', 'better') }], me);
    const url = `data:image/png;base64,${'A'.repeat(6000)}`;
    const data = { ...message('p'), parts: [{ type: 'file' as const, mediaType: 'image/png', url }] };
    await store.append('d', [{ op: 'insert', id: 'p', parentId: null, data, status: 'complete' }], me);
    await store.append('d', turn('q', 'p', 'b-d'), { ...me, mainBranchId: 'b-d' });
    await store.set('unsent', ['some words']);
    await store.storage();
    whole = await textOf(store);
    await closeAll();
    journal = files.copy();
    written = await dumpDatabase('restored');
  });
  beforeEach(() => {
    vi.spyOn(console, 'warn').mockReturnValue();
  });
  afterEach(async () => {
    faults.cease();
    files.failAt(Infinity);
    await closeAll();
  });
  afterAll(() => {
    faults.remove();
    files.remove();
    vi.restoreAllMocks();
  });

  /** Both chats, without what counts changes, and what the app keeps. */
  async function textOf(store: ContextStore): Promise<string> {
    const chats = ['c', 'd'].map((chatId) => partOf(store, chatId));
    const value = store.get('unsent').then((words) => JSON.stringify(words) ?? '');
    return JSON.stringify(await Promise.all([...chats, value]));
  }

  async function partOf(store: ContextStore, chatId: string): Promise<string> {
    const { chat, branches, checkpoints, nodes } = await store.load(chatId);
    if (!chat) return '';
    const bodies = await store.getNodes(
      chatId,
      nodes.map(({ id }) => id),
    );
    return JSON.stringify([{ ...chat, rev: 0 }, branches, checkpoints, nodes, bodies]);
  }

  /** A visit after the wipe: what the store says is lost. */
  async function visit(): Promise<{ store: IndexedDBContextStore; loss: DataLoss | undefined }> {
    const store = open();
    await store.listChats();
    // It looks at the files while nobody waits, and has begun to when the figures are told.
    await store.storage();
    await Promise.allSettled(looks.mock.results.map(({ value }) => value as Promise<boolean>));
    await new Promise((resolve) => setTimeout(resolve));
    return { store, loss: store.dataLoss };
  }

  /** Whether it came to the failure that was ordered. */
  async function strike(order: () => void, where: string): Promise<boolean> {
    await closeAll();
    globalThis.indexedDB = new IDBFactory();
    files.lay(journal);
    const { store, loss } = await visit();
    expect([where, loss?.canRestore]).toEqual([where, true]);
    order();
    const told = await loss?.restore().then(
      () => 'kept',
      (error: unknown) => (isContextError(error) ? error.code : String(error)),
    );
    const isStruck = faults.struck || files.struck;
    faults.cease();
    files.failAt(Infinity);
    const wanted = JSON.parse(whole) as string[];
    const found = JSON.parse(await textOf(store)) as string[];
    const wrong = found.filter((part, i) => part !== wanted[i] && (part !== '' || told === 'kept'));
    expect([where, wrong]).toEqual([where, []]);
    const next = await visit();
    expect([where, next.loss?.canRestore ?? false]).toEqual([where, told !== 'kept']);
    await next.loss?.restore();
    expect([where, await textOf(next.store)]).toEqual([where, whole]);
    return isStruck;
  }

  it.each(KINDS)(
    'at a request of the database brings back whole chats only: %s, %s',
    { timeout: 120_000 },
    async (fault, _, forEver) => {
      let at = 1;
      while (await strike(() => faults.order(fault, at, forEver), `${fault} at ${at}`)) at += 1;
      expect(at).toBeGreaterThan(2);
    },
  );

  it('at a file does so, too', { timeout: 120_000 }, async () => {
    faults.order('shut', Infinity);
    let at = 1;
    while (await strike(() => files.failAt(at), `file ${at}`)) at += 1;
    expect(at).toBeGreaterThan(2);
  });

  it.each([
    ['a file', (at: number) => files.failAt(at)],
    ['a read of the database', (at: number) => faults.order('torn', at)],
  ])(
    'is no matter once somebody has taken note of it, also if that failed first: at %s',
    async (_, order) => {
      for (let at = 1, isStruck = true; isStruck; at += 1) {
        await closeAll();
        globalThis.indexedDB = new IDBFactory();
        files.lay(journal);
        const { loss } = await visit();
        expect([at, loss?.canRestore]).toEqual([at, true]);
        faults.cease();
        order(at);
        const isTaken = await loss?.dismiss().then(
          () => true,
          () => false,
        );
        isStruck = faults.struck || files.struck;
        faults.cease();
        files.failAt(Infinity);
        await closeAll();
        const next = await visit();
        expect([at, isTaken === true && next.loss !== undefined]).toEqual([at, false]);
        await next.loss?.dismiss();
        await closeAll();
        expect([at, (await visit()).loss]).toEqual([at, undefined]);
      }
    },
  );

  it('misses nothing of what could not be written down at first, at whichever file', async () => {
    for (let at = 1, isStruck = true; isStruck; at += 1) {
      await closeAll();
      globalThis.indexedDB = new IDBFactory();
      files.lay(new Folder());
      files.failAt(at);
      const store = open();
      await given(store, line(3));
      await store.append('d', turn('q', null), me);
      await store.set('unsent', ['some words']);
      await store.storage();
      isStruck = files.struck;
      files.failAt(Infinity);
      await store.storage();
      const written = await textOf(store);
      await closeAll();
      globalThis.indexedDB = new IDBFactory();
      const next = await visit();
      await next.loss?.restore();
      expect([at, await textOf(next.store)]).toEqual([at, written]);
    }
  });

  it('overwrites nothing that was written since and is newer', async () => {
    globalThis.indexedDB = new IDBFactory();
    files.lay(journal);
    const { store, loss } = await visit();
    await given(store, 'm0 > m1');
    for (const words of ['good', 'best'])
      await store.append('c', [{ op: 'replace', id: 'm1', data: message('m1', words) }], me);
    await loss?.restore();
    expect((await store.getMessage('c', 'm1'))?.data).toEqual(message('m1', 'best'));
    expect((await store.getMessageChain('c', 'm4')).map(({ id }) => id)).toEqual(line(5).split(' > '));
  });

  it('puts what was written again in its place, at the words that were written down last', async () => {
    globalThis.indexedDB = new IDBFactory();
    files.lay(journal);
    const { store, loss } = await visit();
    await given(store, 'm1 > n1', 'm3 > n3');
    await loss?.restore();
    expect((await store.getMessage('c', 'm1'))?.data).toEqual(message('m1', 'better'));
    const branches = await store.listBranches('c');
    const chains = branches.map(async ({ name, headMessageId, messageCount }) => {
      const chain = await store.getMessageChain('c', headMessageId ?? '');
      expect(chain.map(({ depth }) => depth)).toEqual(chain.map((_, i) => i + 1));
      return `${name}, ${messageCount}: ${chain.map(({ id }) => id).join(' ')}`;
    });
    expect((await Promise.all(chains)).toSorted()).toEqual([
      'main, 3: m0 m1 n1',
      'main-v2, 5: m0 m1 m2 m3 n3',
      'main-v2-v2, 2: m0 b1',
      'main-v3, 5: m0 m1 m2 m3 m4',
    ]);
  });

  /** A visit after the wipe, with this journal. */
  async function visitWith(folder: Folder): ReturnType<typeof visit> {
    globalThis.indexedDB = new IDBFactory();
    files.lay(folder);
    return visit();
  }

  it.each([
    ['whose it is', /"t":"chat","chat":{"id":"c"/, 1, 'me'],
    ['nobody’s', /"t":"(chat|owner)","chat(":{"id|Id)":"c"/, 2, ''],
  ])(
    'brings a chat back whose own line the disk changed, told from its other lines: %s',
    async (_, spoils, damaged, userId) => {
      const { store, loss } = await visitWith(await spoilt(journal, spoils));
      expect(await loss?.restore()).toEqual({ chats: 2, messages: 8, damaged, left: 0 });
      expect((await store.getMessageChain('c', 'm4')).map(({ id }) => id)).toEqual(line(5).split(' > '));
      expect((await store.listBranches('c')).map(({ name }) => name)).toEqual(['main', 'main-v2']);
      expect(await store.getChat('c')).toMatchObject({ userId, messageCount: 6, nextSeq: 6 });
      await store.append('c', turn('q1', 'b1', 'b-b1'), me);
      expect(await store.getChat('c')).toMatchObject({ userId: 'me', messageCount: 7, nextSeq: 7 });
      await closeAll();
      expect((await visit()).loss).toBeUndefined();
    },
  );

  it('keeps the files of a chat of which it can make nothing, and says so, until somebody takes note of it', async () => {
    const { store, loss } = await visitWith(await spoilt(journal, /"chatId":"c"|"chat":{"id":"c"/));
    expect(await loss?.restore()).toMatchObject({ chats: 1, messages: 2, left: 1 });
    expect(await store.getMessageChain('d', 'q')).toHaveLength(2);
    expect(store.dataLoss?.canRestore).toBe(true);
    await closeAll();
    const next = await visit();
    expect(await next.loss?.restore()).toMatchObject({ chats: 0, left: 1 });
    await next.store.dataLoss?.dismiss();
    expect(await textIn(files.copy())).not.toContain('better');
    await closeAll();
    expect((await visit()).loss).toBeUndefined();
  });

  it('is of no database but the one that there is, also when that gets its name while values are written down', async () => {
    globalThis.indexedDB = new IDBFactory();
    files.lay(new Folder());
    const store = open();
    await store.storage();
    const find = navigator.storage.getDirectory.bind(navigator.storage);
    vi.spyOn(navigator.storage, 'getDirectory').mockImplementationOnce(async () => {
      await given(store, 'q1');
      return find();
    });
    await store.set('unsent', ['some words']);
    await store.storage();
    await closeAll();
    const next = await visit();
    expect(next.loss).toBeUndefined();
    globalThis.indexedDB = new IDBFactory();
    const after = await visit();
    await after.loss?.restore();
    expect(await after.store.get('unsent')).toEqual(['some words']);
  });

  it('brings back no answer that was taken back', async () => {
    globalThis.indexedDB = new IDBFactory();
    files.lay(new Folder());
    const store = open();
    await given(store, 'q1 > a1');
    await store.append('c', [insert('a2', 'a1', '', 'streaming'), head('a1', 'a2')], me);
    await store.storage();
    await store.append('c', [{ op: 'drop', id: 'a2' }], me);
    await store.storage();
    await closeAll();
    const next = await visitWith(files.copy());
    await next.loss?.restore();
    expect((await next.store.load('c')).nodes.map(({ id }) => id)).toEqual(['q1', 'a1']);
  });

  it('brings back nothing of a chat that was deleted, and begun anew before the files heard of it', async () => {
    globalThis.indexedDB = new IDBFactory();
    files.lay(new Folder());
    const before = open();
    await given(before, 'old1 > old2');
    await before.storage();
    await closeAll();
    // A tab that keeps no journal.
    const other = new IndexedDBContextStore('restored');
    await other.deleteChat('c');
    await other.append('c', turn('new1', null), { ...me, epoch: 1 });
    await other.close();
    await open().storage();
    await closeAll();
    const { store, loss } = await visitWith(files.copy());
    await loss?.restore();
    expect((await store.load('c')).nodes.map(({ id }) => id)).toEqual(['new1']);
    expect(await textIn(files.copy())).not.toContain('old');
  });

  it('has all of a chat that was deleted and brought back while it was written down, at whichever read', async () => {
    for (let at = 1, isStruck = true; isStruck; at += 1) {
      globalThis.indexedDB = new IDBFactory();
      files.lay(new Folder());
      const store = new IndexedDBContextStore('restored');
      opened.push(store);
      await given(store, line(600));
      const behind = new IndexedDBBacking('restored', 2000);
      let reads = 0;
      const journal = new Journal('restored', {
        write: (...args) => behind.write(...args),
        read: async (...args) => {
          reads += 1;
          if (reads === at) await store.deleteChat('c', { keepFor: 10_000 });
          if (reads === at + 1) await store.restoreChat('c');
          return behind.read(...args);
        },
      });
      await journal.follow();
      isStruck = reads > at;
      await store.restoreChat('c');
      await journal.follow();
      behind.close();
      await closeAll();
      const { store: next, loss } = await visitWith(files.copy());
      expect([at, await loss?.restore()]).toMatchObject([at, { chats: 1, messages: 600, damaged: 0 }]);
      expect([at, (await next.getMessages('c')).map(({ id }) => id)]).toEqual([at, line(600).split(' > ')]);
      await closeAll();
    }
  });

  type Then = (store: ContextStore, early: DatabaseDump) => Promise<unknown>;
  describe.each<[string, Then]>([
    ['and nothing is said since', async () => undefined],
    ['and its chat is begun anew', (store) => store.append('c', turn('new', null), me)],
    ['and comes back as it was one day', (_, early) => loadDatabase('restored', early)],
  ])('loses nothing when the database is lost while it is written on, %s', (_, then) => {
    it.each([
      ['by a new page', true],
      ['by the page that began it', false],
    ])('%s, at whichever read', async (__, isNew) => {
      for (let at = 1, isStruck = true; isStruck; at += 1) {
        globalThis.indexedDB = new IDBFactory();
        files.lay(new Folder());
        const store = new IndexedDBContextStore('restored');
        opened.push(store);
        await store.append('d', turn('first', null), me);
        const early = await dumpDatabase('restored');
        await given(store, line(5));
        await store.set('unsent', ['some words']);
        const behind = new IndexedDBBacking('restored', 2000);
        let reads = -Infinity;
        const begin = (): Journal =>
          new Journal('restored', {
            write: (...args) => behind.write(...args),
            read: async (...args) => {
              reads += 1;
              if (reads === at) await wipe().then(() => then(store, early));
              return behind.read(...args);
            },
          });
        const first = begin();
        await first.follow();
        await store.append('c', turn('last', 'm4'), me);
        await store.set('theme', 'dark');
        reads = 0;
        const following = (isNew ? begin() : first).follow(new Set(['theme', 'unsent']));
        const told = await following.then(
          () => 'kept',
          (error: unknown) => (isContextError(error) ? error.code : String(error)),
        );
        isStruck = reads >= at;
        expect([at, told]).toEqual([at, expect.toBeOneOf(isStruck ? ['kept', 'data-loss'] : ['kept'])]);
        behind.close();
        await closeAll();
        const { store: next, loss } = await visitWith(files.copy());
        expect([at, await loss?.restore()]).toMatchObject([at, { damaged: 0 }]);
        const chain = await next.getMessageChain('c', 'm4');
        expect([at, chain.map(({ id }) => id)]).toEqual([at, line(5).split(' > ')]);
        expect([at, await next.get('unsent')]).toEqual([at, ['some words']]);
        await closeAll();
      }
    });
  });

  async function wipe(): Promise<void> {
    await new Promise((resolve) => {
      indexedDB.deleteDatabase('restored').addEventListener('success', resolve);
    });
  }

  it('loses nothing when the database is lost once more while they come back, at whichever step', async () => {
    for (let at = 1, isStruck = true; isStruck; at += 1) {
      globalThis.indexedDB = new IDBFactory();
      files.lay(journal);
      const behind = new IndexedDBBacking('restored', 2000);
      let steps = 0;
      const step = async (): Promise<void> => {
        steps += 1;
        if (steps === at) await wipe();
      };
      const store = new Journal('restored', {
        read: (...args) => step().then(() => behind.read(...args)),
        write: (...args) => step().then(() => behind.write(...args)),
      });
      await store.restore();
      isStruck = steps >= at;
      behind.close();
      const { store: next, loss } = await visit();
      await loss?.restore();
      expect([at, await textOf(next)]).toEqual([at, whole]);
      await closeAll();
    }
  });

  it('has the file of a message though a page was killed as it began to write it', async () => {
    globalThis.indexedDB = new IDBFactory();
    await loadDatabase('restored', written);
    const begun = journal.copy();
    const chat = await findFolder(begun, await hashOfText('d'));
    const names: string[] = [];
    for await (const name of chat.keys()) if (name.startsWith('blob-')) names.push(name);
    for (const name of names) chat.put(new Handle(name));
    await rewrite(await positionIn(begun), '');
    files.lay(begun);
    await open().storage();
    await closeAll();
    const { store, loss } = await visitWith(files.copy());
    expect([names.length, await loss?.restore()]).toMatchObject([1, { chats: 2, damaged: 0 }]);
    expect(await textOf(store)).toEqual(whole);
  });

  it.each([
    ['the last one', async () => undefined],
    ['one of two', (store: ContextStore) => store.set('theme', 'dark')],
  ])('brings back no value that a page without a journal deleted: %s', async (_, more) => {
    globalThis.indexedDB = new IDBFactory();
    await loadDatabase('restored', written);
    files.lay(journal);
    const other = new IndexedDBContextStore('restored');
    await other.delete('unsent');
    await more(other);
    await other.close();
    await open().storage();
    await closeAll();
    const { store, loss } = await visitWith(files.copy());
    await loss?.restore();
    expect(await store.get('unsent')).toBeUndefined();
    expect(await textIn(files.copy())).not.toContain('some words');
  });

  it('forgets a chat for good that is deleted after a loss, before anything was brought back', async () => {
    const { store } = await visitWith(journal);
    await given(store, 'm0 > m1');
    await store.deleteChat('c', { keepFor: 60_000 });
    await store.storage();
    expect(await textIn(files.copy())).toContain('better');
    await store.restoreChat('c');
    await store.deleteChat('c');
    await store.storage();
    expect(await textIn(files.copy())).not.toContain('better');
    await closeAll();
    const { store: next, loss } = await visitWith(files.copy());
    expect(await loss?.restore()).toMatchObject({ chats: 1, damaged: 0, left: 0 });
    expect((await next.listChats()).map(({ id }) => id)).toEqual(['d']);
  });

  // Chromium writes beside a file, and shows what it has there when it was killed.
  it('takes nothing that a kill left beside its files for damaged, and lets go of it', async () => {
    const left = journal.copy();
    for (const name of [await hashOfText('c'), await hashOfText('d'), 'values']) {
      const folder = await findFolder(left, name);
      const names: string[] = [];
      for await (const one of folder.keys()) names.push(one);
      for (const one of names) folder.put(new Handle(`${one}.crswap`, new TextEncoder().encode('half')));
    }
    const { store, loss } = await visitWith(left);
    expect(await loss?.restore()).toMatchObject({ chats: 2, damaged: 0, left: 0 });
    expect(await textOf(store)).toEqual(whole);
    await closeAll();
    globalThis.indexedDB = new IDBFactory();
    await loadDatabase('restored', written);
    files.lay(left);
    const next = open();
    const title = 'x'.repeat(600_000);
    for (const id of ['c', 'd'])
      for (const end of ['1', '2']) {
        await next.append(id, [{ op: 'chat', title: title + end }], me);
        await next.storage();
      }
    expect(await textIn(files.copy())).not.toContain('half');
  });

  it('has what an app keeps also where there was no chat yet', async () => {
    globalThis.indexedDB = new IDBFactory();
    files.lay(new Folder());
    const before = open();
    await before.listChats();
    await before.storage();
    await before.set('unsent', ['some words']);
    await before.storage();
    await closeAll();
    expect((await visit()).loss).toBeUndefined();
    await closeAll();
    const { store, loss } = await visitWith(files.copy());
    expect(await loss?.restore()).toMatchObject({ chats: 0, damaged: 0, left: 0 });
    expect(await store.get('unsent')).toEqual(['some words']);
    await closeAll();
    expect((await visit()).loss).toBeUndefined();
  });

  it('is news to a page that knew the chats before', async () => {
    globalThis.indexedDB = new IDBFactory();
    await loadDatabase('restored', written);
    const before = await open().load('c');
    await closeAll();
    const { store, loss } = await visitWith(journal);
    await loss?.restore();
    const { seq, ...news } = await store.load('c', before.seq);
    expect(seq).toBeGreaterThan(before.seq);
    expect([news.chat?.id, news.nodes, news.branches]).toEqual(['c', before.nodes, before.branches]);
  });

  it('goes by the files before where the chat was not written down anew to its end', async () => {
    const torn = journal.copy();
    const folder = await findFolder(torn, await hashOfText('c'));
    const text = await (await (await folder.getFileHandle('00000001-0-base')).getFile()).text();
    const writable = await (await folder.getFileHandle('00000009-0-base', { create: true })).createWritable();
    await writable.write(text.slice(0, text.length / 3));
    await writable.close();
    const { store, loss } = await visitWith(torn);
    await loss?.restore();
    expect(await textOf(store)).toEqual(whole);
  });

  it('loses nothing with a letter of its position, whichever and where it was cut, and counts on as before', async () => {
    const said = await (await positionIn(journal)).getFile().then((file) => file.text());
    const mutants = said.split('').flatMap((letter, at) => {
      const others = ['0', '9'].filter((other) => other !== letter);
      return ['', ...others.map((other) => other + said.slice(at + 1))].map((end) => said.slice(0, at) + end);
    });
    for (const text of [...mutants, 'null', '[]', '{"v":1,"seq":1e999}', '{"v":1,"seq":-1}']) {
      const garbled = journal.copy();
      await rewrite(await positionIn(garbled), text);
      // The wipe comes at once, or when more was written behind it.
      const { store: wiped, loss } = await visitWith(garbled);
      expect([text, await loss?.restore()]).toMatchObject([text, { chats: 2, damaged: 0, left: 0 }]);
      expect([text, await textOf(wiped)]).toEqual([text, whole]);
      expect((await wiped.load('c')).seq).toBeLessThan(100);
      await closeAll();
      globalThis.indexedDB = new IDBFactory();
      await loadDatabase('restored', written);
      files.lay(garbled);
      const store = open();
      await store.append('c', turn('next', 'm4'), me);
      expect([text, (await store.storage()).journal?.state]).toEqual([text, 'on']);
      await closeAll();
      const after = await visitWith(files.copy());
      expect([text, await after.loss?.restore()]).toMatchObject([text, { chats: 2, damaged: 0, left: 0 }]);
      expect([text, (await after.store.getMessages('c')).at(-1)?.id]).toEqual([text, 'next']);
      await closeAll();
    }
  });

  it('is of what a database lost that went back a little, which nobody noticed, and what follows is written down, too', async () => {
    globalThis.indexedDB = new IDBFactory();
    files.lay(new Folder());
    const before = open();
    await given(before, 'q1');
    const early = await dumpDatabase('restored');
    for (const [id, parentId] of [
      ['a1', 'q1'],
      ['a2', 'a1'],
      ['a3', 'a2'],
    ] as const)
      await before.append('c', turn(id, parentId), me);
    await before.storage();
    await closeAll();
    globalThis.indexedDB = new IDBFactory();
    await loadDatabase('restored', early);
    const store = open();
    await store.append('c', turn('b1', 'q1'), me);
    await store.storage();
    await closeAll();
    const { store: next, loss } = await visit();
    expect(await loss?.restore()).toMatchObject({ chats: 1, messages: 3, damaged: 0, left: 0 });
    const chains = async (one: ContextStore): Promise<string[]> => {
      const branches = await one.listBranches('c');
      const nodes = branches.map(({ headMessageId }) => one.getMessageChain('c', headMessageId ?? ''));
      return (await Promise.all(nodes)).map((chain) => chain.map(({ id }) => id).join(' > '));
    };
    expect((await chains(next)).toSorted()).toEqual(['q1 > a1 > a2 > a3', 'q1 > b1']);
    await closeAll();
    expect((await visit()).loss).toBeUndefined();
    await closeAll();
    const after = await visitWith(files.copy());
    await after.loss?.restore();
    expect((await chains(after.store)).toSorted()).toEqual(['q1 > a1 > a2 > a3', 'q1 > b1']);
  });

  it('keeps the files of a chat whose id is another person’s by now, until that one is deleted', async () => {
    const { store, loss } = await visitWith(journal);
    await store.append('d', turn('x', null), { ...me, userId: 'other' });
    expect(await loss?.restore()).toEqual({ chats: 1, messages: 6, damaged: 0, left: 1 });
    expect((await store.getMessages('d')).map(({ id }) => id)).toEqual(['x']);
    await store.deleteChat('d');
    expect(await store.dataLoss?.restore()).toMatchObject({ chats: 0, left: 0 });
    expect(store.dataLoss).toBeUndefined();
  });

  it.each(['c', 'd'])(
    'brings back all chats but one that fails, and that one the next time: %s',
    async (id) => {
      const { store, loss } = await visitWith(journal);
      const heard: (string | undefined)[] = [];
      store.subscribe(({ kind, chatId }) => kind === 'change' && heard.push(chatId));
      const putChat: (chat: Chat) => void = Reflect.get(RecordTransaction.prototype, 'putChat');
      const failing = vi.spyOn(RecordTransaction.prototype, 'putChat').mockImplementation(function put(
        this: RecordTransaction,
        chat,
      ) {
        if (chat.id === id) throw new RangeError('too long');
        putChat.call(this, chat);
      });
      await expect(loss?.restore()).rejects.toMatchObject({ code: 'invariant', details: {} });
      failing.mockRestore();
      const other = id === 'c' ? 'd' : 'c';
      expect(heard).toEqual([other]);
      expect((await store.listChats()).map((chat) => chat.id)).toEqual([other]);
      expect(await store.dataLoss?.restore()).toMatchObject({ chats: 1, damaged: 0, left: 0 });
      expect(await textOf(store)).toEqual(whole);
      expect(store.dataLoss).toBeUndefined();
      await closeAll();
      expect((await visit()).loss).toBeUndefined();
    },
  );

  it('leaves no rejection unhandled', async () => expect(await unhandled()).toEqual([]));
});

/** The file that says how far the journal has come. */
async function positionIn(all: Folder): Promise<Handle> {
  for await (const file of filesIn(all)) if (file.name === 'position.json') return file;
  return expect.unreachable('there is no position');
}

async function rewrite(file: Handle, text: string): Promise<void> {
  const writable = await file.createWritable();
  await writable.write(text);
  await writable.close();
}

/** The folder of this name, however deep it lies. */
async function findFolder(all: Folder, name: string): Promise<Folder> {
  const open = [all];
  for (const folder of open)
    for await (const entry of folder.values()) {
      if (entry.kind === 'file') continue;
      if (entry.name === name) return entry;
      open.push(entry);
    }
  return expect.unreachable(`there is no folder ${name}`);
}

/** The files with one letter changed in each line that says this. */
async function spoilt(folder: Folder, said: RegExp): Promise<Folder> {
  const copy = folder.copy();
  for await (const file of filesIn(copy)) {
    const lines = (await (await file.getFile()).text()).split('\n');
    const writable = await file.createWritable();
    await writable.write(
      lines.map((text) => (said.test(text) ? text.replace('"t"', '"T"') : text)).join('\n'),
    );
    await writable.close();
  }
  return copy;
}

async function textIn(folder: Folder): Promise<string> {
  let all = '';
  for await (const file of filesIn(folder)) all += await (await file.getFile()).text();
  return all;
}

async function* filesIn(folder: Folder): AsyncGenerator<Handle> {
  for await (const entry of folder.values()) {
    if (entry.kind === 'file') yield entry;
    else yield* filesIn(entry);
  }
}
