import 'fake-indexeddb/auto';
import { expect, it } from 'vitest';
import { given, node } from '../support/graph.ts';
import { IndexedDBContextStore } from '../../src/store/indexeddb/store.ts';
import { purgeChat, type RemovedChat } from '../../src/store/removal.ts';
import type { StoreTransaction } from '../../src/store/store.ts';

// Between the look for deleted chats and the transaction that takes their content, another tab may have begun one anew
// and deleted it for a while.
it.each([
  [1000, true],
  [1001, false],
])('a deleted chat that is kept until %i is buried at 1000: %s', async (purgeAt, isBuried) => {
  const { chatId: id, deviceId } = node('q1');
  const chat = { id, userId: 'me', rev: 1, epoch: 0, deletedAt: 1, purgeAt } as RemovedChat;
  const done: string[] = [];
  const tx: Pick<StoreTransaction, 'chat' | 'seq' | 'purge' | 'putChat' | 'putChanges'> = {
    chat: async () => chat,
    seq: async () => 1,
    purge: () => done.push('purge'),
    putChat: () => done.push('chat'),
    putChanges: () => done.push('changes'),
  };
  await purgeChat({ ...tx, chatId: id, deviceId } as StoreTransaction, 1000);
  expect(done).toEqual(isBuried ? ['purge', 'chat', 'changes'] : []);
});

it('a chat that another tab deleted is buried in time, also when the chats were listed a moment before, and not again', async () => {
  const [one, two] = [new IndexedDBContextStore('removal'), new IndexedDBContextStore('removal')];
  await given(one, 'q1 > a1');
  two.subscribe(() => undefined);
  await two.listChats();
  await one.deleteChat('c', { keepFor: 60 });
  await one.close();
  await two.listChats();
  const ops = async (): Promise<string[]> =>
    (await two.changesSince(0)).map(({ op, kind }) => `${op} ${kind}`);
  expect(await ops()).toContain('put node');
  await expect.poll(ops, { timeout: 5000 }).toEqual(['delete chat']);
  await two.close();
});
