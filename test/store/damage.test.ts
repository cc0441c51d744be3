import 'fake-indexeddb/auto';
import { openDB } from 'idb';
import { expect, onTestFinished, test } from 'vitest';
import { ContextEngine } from '../../src/engine/engine.ts';
import { IndexedDBContextStore } from '../../src/store/indexeddb/store.ts';
import { asRead, begun, CHAT, me, oneMore, only, said } from '../support/storeRecords.ts';

let made = 0;

/** A chat of so many messages in a row in a database of its own. */
async function given(count: number) {
  const name = `damage-${(made += 1)}`;
  const store = new IndexedDBContextStore(name);
  onTestFinished(() => store.close());
  const chain = Array.from({ length: count }, (_, i) => `m${i}`).join(' > ');
  await store.commit('c', begun('me', chain), me);
  /** What a disk does to a record. */
  const spoil = async (
    table: string,
    key: unknown[] | string,
    change: (record: string & Readonly<Record<'text', string>>) => unknown,
  ) => {
    const db = await openDB(name);
    const record = change((await db.get(table, key as IDBValidKey)) as Parameters<typeof change>[0]);
    const isInline = db.transaction(table).store.keyPath !== null;
    if (record === undefined) await db.delete(table, key as IDBValidKey);
    else await db.put(table, record, isInline ? undefined : (key as IDBValidKey));
    db.close();
  };
  const keys = async () => (await store.load('c')).messages.map(({ key }) => key).toSorted();
  return { name, store, spoil, keys };
}

const told = (damages: readonly { kind: string; id: string; isMended: boolean }[]) =>
  damages.map(({ kind, id, isMended }) => `${kind} ${id}${isMended ? '' : ' (lost)'}`);

test('nothing is damaged in a chat as it was written', async () => {
  const { store } = await given(200);
  expect(await store.examine('c')).toEqual([]);
});

test('a message whose record is damaged is left out and named, and rebuilt from its words by repair', async () => {
  const { store, spoil, keys } = await given(3);
  await spoil('nodes', ['c', 2], (text: string) => `${text.slice(0, 20)}#${text.slice(22)}`);
  const read = await store.load('c');
  expect(read.messages).toHaveLength(2);
  expect(told(await store.examine('c'))).toEqual(['message key:m1']);
  await store.examine('c', { repair: true });
  expect(await keys()).toEqual(['key:m0', 'key:m1', 'key:m2']);
  const back = await store.load('c');
  expect(back.messages.find(({ key }) => key === 'key:m1')).toMatchObject({ parent: 'key:m0', id: 'm1' });
  expect((await store.bodies('c', ['key:m1'])).size).toBe(1);
  expect(await store.examine('c')).toEqual([]);
  expect(await store.getChat('c')).toMatchObject({ messageCount: 3, branchCount: 1 });
});

test('words that are lost are named, and come back from whoever has them', async () => {
  const { store, spoil } = await given(3);
  await spoil('bodies', ['c', 2], () => undefined);
  expect([...(await store.bodies('c', ['key:m0', 'key:m1'])).keys()]).toEqual(['key:m0']);
  expect(told(await store.examine('c', { repair: true }))).toEqual(['body key:m1 (lost)']);
  await store.commit('c', only({ messages: [said('m1', 'm0')] }), await asRead(store));
  expect((await store.bodies('c', ['key:m1'])).size).toBe(1);
  expect(await store.examine('c')).toEqual([]);
});

test('a pack of messages whose topology is damaged is rebuilt from their words', async () => {
  const { store, spoil, keys } = await given(200);
  await spoil('topologies', ['c', 64], (record) => ({ ...(record as object), text: record.text.slice(5) }));
  expect(await keys()).toHaveLength(136);
  expect((await store.examine('c', { repair: true })).length).toBe(65);
  expect(await keys()).toHaveLength(200);
  const back = await store.load('c');
  expect(back.messages.find(({ key }) => key === 'key:m40')?.parent).toBe('key:m39');
  expect((await store.bodies('c', await keys())).size).toBe(200);
  expect(await store.examine('c')).toEqual([]);
});

test('of a pack whose words can not be read as a whole, the lines can', async () => {
  const { store, spoil, keys } = await given(200);
  await spoil('packs', ['c', 64], (record) => ({
    ...(record as object),
    text: record.text.replace('"m7"', '"m7'),
  }));
  expect((await store.bodies('c', await keys())).size).toBe(199);
  expect(told(await store.examine('c'))).toEqual(['body key:m7 (lost)']);
});

test('messages whose branch record is lost get another one, which a repair makes', async () => {
  const { store, spoil } = await given(4);
  await spoil('facts', ['c', 'ends', 'main', CHAT], (fact) => ({ ...(fact as object), text: 'nothing' }));
  expect(await store.load('c')).toMatchObject({ ends: [] });
  const engine = new ContextEngine({ store, chatId: 'c', userId: 'me' });
  onTestFinished(() => engine.dispose());
  const { findings } = await engine.repair();
  expect(findings.map(({ kind, mends }) => [kind, mends])).toEqual([
    ['damaged-record', true],
    ['unreached', true],
  ]);
  expect(await engine.verify()).toEqual([]);
  expect(await store.listBranches('c')).toMatchObject([{ name: 'main', headKey: 'key:m3' }]);
});

test('the row of a chat that is lost is rebuilt from its records, and what comes next overwrites nothing', async () => {
  const { store, spoil, keys } = await given(4);
  await spoil('chats', 'c', () => undefined);
  const next = oneMore('m4', 'm3');
  await store.commit('c', next, await asRead(store));
  expect(await keys()).toHaveLength(5);
  await spoil('chats', 'c', () => undefined);
  expect(told(await store.examine('c', { repair: true }))).toEqual(['chat c']);
  expect(await store.getChat('c')).toMatchObject({ userId: 'me', messageCount: 5, branchCount: 1 });
});
