import 'fake-indexeddb/auto';
import { expect, it, vi } from 'vitest';
import { openDB } from 'idb';
import { given, head, insert, me, message, node } from '../support/graph.ts';
import { IndexedDBContextStore } from '../../src/store/indexeddb/store.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import { purge, type RemovedChat } from '../../src/store/removal.ts';
import type { StoreTransaction } from '../../src/store/store.ts';

// Between the look for deleted chats and the transaction that takes their content, another tab may have begun one anew
// and deleted it for a while.
it.each([
  [1000, true],
  [1001, false],
])('a deleted chat that is kept until %i is buried at 1000: %s', async (purgeAt, isBuried) => {
  const { chatId: id, deviceId } = node('q1');
  const chat = { id, userId: 'me', rev: 1, epoch: 0, deletedAt: 1, purgeAt } as RemovedChat;
  const tx: Pick<StoreTransaction, 'chat'> = { chat: async () => chat };
  const left = await purge(1000)({ ...tx, chatId: id, deviceId } as StoreTransaction);
  expect(left && { id, epoch: left.epoch, purgeAt: left.purgeAt }).toEqual(
    isBuried ? { id, epoch: 0, purgeAt: undefined } : undefined,
  );
});

it('a chat that another tab deleted is buried in time, also when the chats were listed a moment before, and not again', async () => {
  const [one, two] = [new IndexedDBContextStore('removal'), new IndexedDBContextStore('removal')];
  await given(one, 'q1 > a1');
  two.subscribe(() => undefined);
  await two.listChats();
  await one.deleteChat('c', { keepFor: 1000 });
  await one.close();
  await two.listChats();
  const ops = async (): Promise<string[]> =>
    (await two.changesSince(0)).map(({ op, kind }) => `${op} ${kind}`);
  expect(await ops()).toContain('put node');
  await expect.poll(ops).toEqual(['delete chat']);
  await two.close();
});

it('a chat whose time is over comes back no more, though nobody has buried it yet', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  try {
    for (const store of [new IndexedDBContextStore('over'), new InMemoryContextStore()]) {
      await given(store, 'q1 > a1');
      await store.deleteChat('c', { keepFor: 60_000 });
      vi.setSystemTime(Date.now() + 59_999);
      expect(await store.restoreChat('c')).toBe(true);
      await store.deleteChat('c', { keepFor: 60_000 });
      vi.setSystemTime(Date.now() + 60_000);
      expect(await store.restoreChat('c')).toBe(false);
      await store.close();
    }
  } finally {
    vi.useRealTimers();
  }
});

// A page that is about to go writes the words of its answer last, and can't look first whether the chat is still there.
it('what a page said last in a chat that was deleted meanwhile goes with it, and no other words', async () => {
  const store = new IndexedDBContextStore('leaving');
  const chats = ['deleted', 'kept for a while', 'growing', 'lost'];
  for (const chatId of chats)
    await store.append(
      chatId,
      [insert('q1', null), insert('a1', 'q1', '', 'streaming'), head(null, 'a1')],
      me,
    );
  await store.deleteChat('deleted');
  await store.deleteChat('kept for a while', { keepFor: 60_000 });
  for (const chatId of chats)
    await store.saveDraft(chatId, 'a1', message('a1', 'last words'), { isLeaving: true });
  const db = await openDB('leaving');
  const drafted = async (): Promise<unknown[]> =>
    (await db.getAllKeys('drafts')).map((key) => Object(key)[0] as unknown);
  expect(await drafted()).toEqual(chats.toSorted());
  await db.delete('chats', 'lost');
  await db.delete('nodes', IDBKeyRange.bound(['lost'], ['lost', []]));
  await db.delete('branches', IDBKeyRange.bound(['lost'], ['lost', []]));
  await store.close();

  await store.listChats();
  await expect.poll(drafted).toEqual(['growing', 'kept for a while', 'lost']);
  await store.clear();
  await store.saveDraft('growing', 'a1', message('a1', 'last words'), { isLeaving: true });
  await store.close();
  await store.listChats();
  await expect.poll(drafted).toEqual([]);
  db.close();
  await store.close();
});

/**
 * As Chromium has it when a site's share is used up: what only deletes is taken, and nothing is that puts a byte. The first
 * `refusals` writes that put something are refused.
 */
function full(refusals: number): { readonly mockRestore: () => void } {
  const put = Reflect.get(IDBObjectStore.prototype, 'put');
  const refused = new Set<IDBTransaction>();
  return vi.spyOn(IDBObjectStore.prototype, 'put').mockImplementation(function (
    this: IDBObjectStore,
    ...args: Parameters<IDBObjectStore['put']>
  ) {
    const request = put.apply(this, args);
    const { transaction } = this;
    if (refused.has(transaction) || refused.size === refusals) return request;
    refused.add(transaction);
    transaction.abort();
    const error = new DOMException('no room', 'QuotaExceededError');
    Object.defineProperty(transaction, 'error', { get: () => error });
    return request;
  });
}

it.each([
  ['goes first and makes room for the note of it, which other pages read', 1, true],
  ['goes also where there is never room for that', Infinity, false],
])('all that a full disk holds %s', async (name, refusals, isNoted) => {
  const store = new IndexedDBContextStore(name);
  await given(store, 'q1 > a1');
  await store.set('theme', 'dark');
  const heard: string[] = [];
  store.subscribe(({ kind }) => heard.push(kind));
  const { seq } = await store.load('c');
  const disk = full(refusals);
  await store.clear();
  disk.mockRestore();
  const { clearedSeq, nodes } = await store.load('c');
  expect([await store.get('theme'), nodes, heard]).toEqual([undefined, [], ['clear']]);
  expect(clearedSeq).toBe(isNoted ? seq + 1 : undefined);
  await given(store, 'q2');
  expect((await store.load('c')).nodes.map(({ id }) => id)).toEqual(['q2']);
  await store.close();
});

it.each([
  ['goes first and makes room for its tombstone, which keeps late writers out', 1, true],
  ['goes also where there is never room for that', Infinity, false],
])('a chat that is deleted on a full disk %s', async (name, refusals, isNoted) => {
  const [store, other] = [
    new IndexedDBContextStore(`chat ${name}`),
    new IndexedDBContextStore(`chat ${name}`),
  ];
  await given(store, 'q1 > a1');
  await other.load('c');
  const heard: string[] = [];
  store.subscribe(({ kind, chatId }) => heard.push(`${kind} ${chatId}`));
  const disk = full(refusals);
  expect(await store.deleteChat('c')).toBe(true);
  disk.mockRestore();
  const { chat, nodes, branches } = await store.load('c');
  expect([nodes, branches, heard, await store.listChats()]).toEqual([[], [], ['change c'], []]);
  expect(chat?.deletedAt !== undefined).toBe(isNoted);
  const late = other.append('c', [insert('q2', 'a1'), head('q2', 'a1')], me);
  await expect(late).rejects.toMatchObject({ code: isNoted ? 'chat-deleted' : 'message-not-found' });
  expect((await store.load('c')).nodes).toEqual([]);
  expect(await store.deleteChat('c')).toBe(false);
  await Promise.all([store.close(), other.close()]);
});

it('a chat that is deleted for a while on a full disk stays as it was, and one whose time is over goes', async () => {
  const store = new IndexedDBContextStore('kept on a full disk');
  await given(store, 'q1 > a1');
  const disk = full(Infinity);
  await expect(store.deleteChat('c', { keepFor: 1000 })).rejects.toMatchObject({ code: 'quota-exceeded' });
  expect((await store.getMessages('c')).map(({ id }) => id)).toEqual(['q1', 'a1']);
  disk.mockRestore();
  await store.deleteChat('c', { keepFor: 50 });
  // What only deletes makes room.
  const fuller = full(1);
  const bodies = async (): Promise<number> => {
    const db = await openDB('kept on a full disk');
    const count = await db.count('bodies');
    db.close();
    return count;
  };
  await vi.waitFor(async () => expect(await bodies()).toBe(0));
  fuller.mockRestore();
  expect(await store.restoreChat('c')).toBe(false);
  await store.close();
});
