import 'fake-indexeddb/auto';
import { expect, it } from 'vitest';
import { IndexedDBContextStore } from '../../src/store/indexeddb/store.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import type { StoreOp } from '../../src/store/store.ts';
import { head, insert, me, message } from '../support/graph.ts';

it('an append may bring more messages than a call has room for arguments', { timeout: 60_000 }, async () => {
  const store = new IndexedDBContextStore('many');
  await store.append('c', [], me);
  const ops = Array.from({ length: 140_000 }, (_, i) => insert(`m${i}`, i === 0 ? null : `m${i - 1}`));
  await store.append('c', [...ops, head(null, 'm139999')], me);
  expect((await store.getChat('c'))?.messageCount).toBe(140_000);
  expect((await store.changesSince(0, 139_000)).length).toBe(139_000);
  await store.close();
});

it.each([
  ['IndexedDB', () => new IndexedDBContextStore('pointers')],
  ['memory', () => new InMemoryContextStore()],
])('so may branches and checkpoints come, each of which asks for a free name: %s', async (_where, open) => {
  const store = open();
  const timed = async (ops: readonly StoreOp[]): Promise<number> => {
    const start = performance.now();
    await store.append('c', ops, me);
    return performance.now() - start;
  };
  const many = <T>(make: (i: number) => T): T[] => Array.from({ length: 2000 }, (_, i) => make(i));
  await store.append('c', [insert('m', null)], me);
  const unit = await timed(many((i) => ({ ...insert(`m${i}`, 'm'), data: message(`m${i}`) })));
  const calls: readonly ((i: number) => StoreOp)[] = [
    (i) => ({ op: 'branch', id: `b${i}`, base: 'main', messageId: 'm' }),
    (i) => ({ op: 'branch', id: `n${i}`, name: `n${i}`, messageId: 'm' }),
    (i) => ({ op: 'rename-branch', id: `n${i}`, name: `o${i}` }),
    (i) => ({ op: 'delete-branch', id: `n${i}` }),
    (i) => ({ op: 'restore-branch', id: `n${i}` }),
    (i) => ({ op: 'checkpoint', id: `k${i}`, name: `k${i}`, messageId: 'm' }),
    (i) => ({ op: 'rename-checkpoint', id: `k${i}`, name: `l${i}` }),
  ];
  for (const call of calls) expect(await timed(many(call))).toBeLessThan(Math.max(unit, 100) * 10);
  const names = (await store.listBranches('c')).map(({ name }) => name);
  expect(names).toEqual(['main', ...many((i) => `main-v${i + 2}`), ...many((i) => `o${i}`)]);
  expect((await store.listCheckpoints('c')).map(({ name }) => name)).toEqual(
    many((i) => `l${i}`).toReversed(),
  );
  await store.close();
});
