import { expect, it } from 'vitest';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import { beginning, endsOf, me, said } from '../support/storeRecords.ts';
import { storeSuite } from '../support/storeSuite.ts';

storeSuite('InMemoryContextStore', async () => {
  const store = new InMemoryContextStore();
  return { store, other: async () => store };
});

it('a commit may bring more messages than a call has room for arguments', { timeout: 60_000 }, async () => {
  const store = new InMemoryContextStore();
  // The threads of these tests have a small stack, so that a few are too many.
  const messages = Array.from({ length: 33_000 }, (_, i) => said(`m${i}`, i === 0 ? null : `m${i - 1}`));
  expect(() => [...messages].push(...messages.slice(1_000))).toThrow(RangeError);
  await store.commit('c', { messages, ends: [endsOf('main', ['m32999'])], marks: [beginning('me')] }, me);
  expect((await store.getChat('c'))?.messageCount).toBe(33_000);
  expect((await store.changesSince(0, 32_000)).length).toBe(32_000);
});
