import 'fake-indexeddb/auto';
import { expect, it } from 'vitest';
import { IndexedDBContextStore } from '../../src/store/indexeddb/store.ts';
import { head, insert, me } from '../support/graph.ts';

it('an append may bring more messages than a call has room for arguments', { timeout: 60_000 }, async () => {
  const store = new IndexedDBContextStore('many');
  await store.append('c', [], me);
  const ops = Array.from({ length: 140_000 }, (_, i) => insert(`m${i}`, i === 0 ? null : `m${i - 1}`));
  await store.append('c', [...ops, head(null, 'm139999')], me);
  expect((await store.getChat('c'))?.messageCount).toBe(140_000);
  expect((await store.changesSince(0, 139_000)).length).toBe(139_000);
  await store.close();
});
