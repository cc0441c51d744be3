import { expect, test } from 'vitest';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import { givenChat, line } from '../support/graph.ts';
import { storeSuite } from '../support/storeSuite.ts';

storeSuite('InMemoryContextStore', async () => new InMemoryContextStore());

test('a long chat is deleted in less time than it took to write, whatever else is kept', async () => {
  const store = new InMemoryContextStore();
  const timed = async (work: () => Promise<unknown>): Promise<number> => {
    const start = performance.now();
    await work();
    return performance.now() - start;
  };
  const ops = line(20_000);
  await givenChat(store, 'a', ops);
  const written = await timed(() => givenChat(store, 'b', ops));
  expect(await timed(() => store.deleteChat('b'))).toBeLessThan(written / 2);
  expect(await store.getMessages('a')).toHaveLength(20_000);
  expect(await store.listChats()).toHaveLength(1);
}, 60_000);
