import 'fake-indexeddb/auto';
import { expect, it } from 'vitest';
import { IndexedDBContextStore } from '../../src/store/indexeddb/store.ts';
import { beginning, endsOf, me, said } from '../support/storeRecords.ts';

it('a commit may bring more messages than a call has room for arguments', { timeout: 60_000 }, async () => {
  const store = new IndexedDBContextStore('many');
  const messages = Array.from({ length: 140_000 }, (_, i) => said(`m${i}`, i === 0 ? null : `m${i - 1}`));
  await store.commit('c', { messages, ends: [endsOf('main', ['m139999'])], marks: [beginning('me')] }, me);
  expect((await store.getChat('c'))?.messageCount).toBe(140_000);
  expect((await store.changesSince(0, 139_000)).length).toBe(139_000);
  await store.close();
});
