import { IDBFactory } from 'fake-indexeddb';
import 'fake-indexeddb/auto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { Journal } from '../../src/store/indexeddb/journal.ts';
import { IndexedDBContextStore } from '../../src/store/indexeddb/store.ts';
import type { DataLoss } from '../../src/store/loss.ts';
import { folderOf, MemoryFiles, type Tree, treeOf } from '../support/files.ts';
import { given, me, turn } from '../support/graph.ts';
import { unhandledRejections } from '../support/unhandled.ts';
import first from './fixtures/journal-1.json' with { type: 'json' };

/** A journal of each version is kept for ever, beside the databases. The first one does not tell its version. */
const VERSIONS = [[1, first]] as const;

describe('a journal', () => {
  const files = new MemoryFiles();
  const unhandled = unhandledRejections();
  const looks = vi.spyOn(Journal.prototype, 'holdsLost');
  let store: IndexedDBContextStore;

  beforeAll(() => files.install());
  beforeEach(() => {
    vi.spyOn(console, 'warn').mockReturnValue();
    globalThis.indexedDB = new IDBFactory();
    store = new IndexedDBContextStore('kept', { journal: true });
  });
  afterEach(() => store.close());
  afterAll(() => {
    files.remove();
    vi.restoreAllMocks();
  });

  /** A visit to an empty database with these files beside it: what the store says is lost. */
  async function visit(tree: Tree): Promise<DataLoss | undefined> {
    files.lay(folderOf(tree));
    await store.listChats();
    await store.storage();
    await Promise.allSettled(looks.mock.results.map(({ value }) => value as Promise<boolean>));
    await new Promise((resolve) => setTimeout(resolve));
    return store.dataLoss;
  }

  /** All of a chat but what counts changes and places. */
  async function partOf(chatId: string): Promise<unknown> {
    const { chat, branches, checkpoints, nodes } = await store.load(chatId);
    const ids = nodes.map(({ id }) => id);
    const bodies = await store.getNodes(chatId, ids);
    const own = { ...chat, rev: undefined, nextSeq: undefined };
    return JSON.parse(JSON.stringify({ chat: own, branches, checkpoints, nodes, bodies })) as unknown;
  }

  it.each(VERSIONS)(
    'of format %i brings back all that was written to it',
    async (_, { files: tree, expected }) => {
      const loss = await visit(tree);
      expect(await loss?.restore()).toEqual({ chats: 2, messages: 7, damaged: 0, left: 0 });
      expect(await Promise.all(['c', 'd'].map(partOf))).toEqual([expected.c, expected.d]);
      expect(await store.get('contextree:fragments:c')).toEqual(expected.fragments);
      expect(await store.get('unsent')).toEqual(expected.unsent);
      expect(store.dataLoss).toBeUndefined();
    },
  );

  it('of a newer version is refused in words and left as it is, and keeps no other away', async () => {
    const [[, later] = ['', {}]] = databasesIn(asNewer(first.files));
    const flat: Tree = { 'position.json': '{"v":99}', chats: 'as nobody knows today' };
    const newer: [string, Tree][] = [
      ['later', later],
      ['flat', flat],
    ];
    const loss = await visit(withJournals(first.files, [...newer, ...databasesIn(first.files)]));
    await expect(loss?.restore()).rejects.toMatchObject({
      code: 'newer-format',
      message: expect.stringContaining('"kept"') as string,
      details: { format: 99, known: VERSIONS.length },
    });
    expect(await Promise.all(['c', 'd'].map(partOf))).toEqual([first.expected.c, first.expected.d]);
    expect(store.dataLoss?.canRestore).toBe(true);
    const left = async (): Promise<unknown> => Object.fromEntries(databasesIn(await treeOf(files.copy())));
    expect(await left()).toMatchObject({ later, flat });
    await expect(store.dataLoss?.dismiss()).rejects.toMatchObject({ code: 'newer-format' });
    expect(await left()).toMatchObject({ later, flat });
  });

  it('of a newer version is not written on, which the figures say, and no turn is refused for it', async () => {
    files.lay(folderOf({}));
    await given(store, 'q1 > a1');
    await store.storage();
    const later = asNewer(await treeOf(files.copy()));
    files.lay(folderOf(later));
    await store.append('c', turn('q2', 'a1'), me);
    expect((await store.storage()).journal).toMatchObject({
      state: 'failed',
      error: { code: 'newer-format' },
    });
    expect(await treeOf(files.copy())).toEqual(later);
    expect((await store.getMessages('c')).map(({ id }) => id)).toEqual(['q1', 'a1', 'q2']);
  });

  it('leaves no rejection unhandled', async () => expect(await unhandled()).toEqual([]));
});

/** The journals of a tree, by the ids of their databases. */
function databasesIn(tree: Tree): [id: string, journal: Tree][] {
  const [all] = Object.values(tree['contextree'] as Tree);
  return Object.entries(all as Tree) as [string, Tree][];
}

/** A tree with these journals in place of its own. */
function withJournals(tree: Tree, journals: readonly [id: string, journal: Tree][]): Tree {
  const [name = ''] = Object.keys(tree['contextree'] as Tree);
  return { contextree: { [name]: Object.fromEntries(journals) } };
}

/** The same as a later version would have left it. */
function asNewer(tree: Tree): Tree {
  const later = ({ 'position.json': position, ...chats }: Tree): Tree => ({
    'position.json': JSON.stringify({ ...(JSON.parse(position as string) as object), v: 99, sum: undefined }),
    ...chats,
  });
  return withJournals(
    tree,
    databasesIn(tree).map(([id, journal]) => [id, later(journal)]),
  );
}
