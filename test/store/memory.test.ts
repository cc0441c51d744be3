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
  const messages = Array.from({ length: 140_000 }, (_, i) => said(`m${i}`, i === 0 ? null : `m${i - 1}`));
  await store.commit('c', { messages, ends: [endsOf('main', ['m139999'])], marks: [beginning('me')] }, me);
  expect((await store.getChat('c'))?.messageCount).toBe(140_000);
  expect((await store.changesSince(0, 139_000)).length).toBe(139_000);
});
