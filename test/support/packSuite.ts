import type { UIMessage } from 'ai';
import { afterEach, describe, expect, test } from 'vitest';
import type { EndsRecord, MessageRecord } from '../../src/graph/graph.ts';
import { IndexedDBContextStore } from '../../src/store/indexeddb/store.ts';
import type { ChatRecords, CommitOptions, StoreDelta } from '../../src/store/store.ts';

const NEW: CommitOptions = { userId: 'u', database: '', generation: 0, since: 0 };

function place({ database, generation, seq: since }: ChatRecords): CommitOptions {
  return { userId: 'u', database, generation, since };
}

function body(i: number, words = `words ${i}`): UIMessage {
  return { id: `m${i}`, role: i % 2 ? 'assistant' : 'user', parts: [{ type: 'text', text: words }] };
}

function message(
  i: number,
  extra: Partial<MessageRecord> & { words?: string; rev?: number } = {},
): MessageRecord {
  const { words = `words ${i}`, rev = 1, ...rest } = extra;
  const sum = `${words.length}${words}`;
  const version = { rev, by: 'a', status: 'complete', sum, parts: 1, preview: words } as const;
  return {
    key: `key:${i}`,
    id: `m${i}`,
    parent: i === 0 ? null : `key:${i - 1}`,
    role: i % 2 ? 'assistant' : 'user',
    at: 1000 + i,
    createdAt: 1000 + i,
    chat: 'chat1',
    versions: [{ ...version, body: body(i, words) }],
    ...rest,
  };
}

function ends(...keys: string[]): EndsRecord {
  return { id: 'main', at: 1, createdAt: 1, chat: 'chat1', keys };
}

function chain(from: number, to: number): StoreDelta {
  const messages = Array.from({ length: to - from }, (_, i) => message(from + i));
  return { messages, ends: [ends(`key:${to - 1}`)], marks: [] };
}

/**
 * How messages lie in packs: seen by how many records there are, and by what is read of them. `name` gives the name of a new
 * database.
 */
export function packSuite(name: () => string): void {
  describe('packed messages', () => {
    const opened: IndexedDBContextStore[] = [];
    const open = (): IndexedDBContextStore => {
      const store = new IndexedDBContextStore(name());
      opened.push(store);
      return store;
    };
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((store) => store.close()));
    });

    test('hold an import, and are found by key and by number', async () => {
      const store = open();
      const done = await store.commit('c', chain(0, 300), NEW);
      expect(await store.storage()).toMatchObject({ packs: 3, singles: 108, messages: 300 });
      expect(await store.storage()).not.toHaveProperty('kinds');
      const { kinds = [] } = await store.storage({ weigh: true });
      const words = JSON.stringify(chain(0, 300).messages).length;
      const messages = kinds.find(({ kind }) => kind === 'messages');
      // Topology and words of 108, and three records of each for the others.
      expect(messages?.rows).toBe(2 * 108 + 2 * 3);
      expect(messages?.bytes).toBeGreaterThan(words / 8);
      expect(kinds.find(({ kind }) => kind === 'attachments')).toMatchObject({ rows: 0, bytes: 0 });
      await store.close();
      const read = await store.load('c');
      expect(read.messages).toHaveLength(300);
      const bare = chain(0, 300).messages.map((record, i) => ({
        ...record,
        seq: i + 1,
        versions: record.versions.map(({ body: _body, ...version }) => version),
      }));
      expect(read.messages.toSorted((a, b) => a.at - b.at)).toEqual(bare);
      const keys = ['key:3', 'key:70', 'key:250', 'key:nobody'];
      const hinted = await store.bodies('c', keys, done.messages);
      expect([...hinted.keys()]).toEqual(keys.slice(0, 3));
      expect(await store.bodies('c', keys)).toEqual(hinted);
      const all = bare.map(({ key }) => key);
      expect((await store.bodies('c', all, read.messages)).size).toBe(300);
    });

    test('a packed message that changes lies at its new number', async () => {
      const store = open();
      const done = await store.commit('c', chain(0, 300), NEW);
      const next = message(5, { rev: 2, words: 'better', seq: 6 });
      const after = await store.commit('c', { messages: [next], ends: [], marks: [] }, place(done));
      expect(after.messages).toHaveLength(1);
      const read = await store.load('c');
      expect(read.messages).toHaveLength(300);
      expect(read.messages.find(({ key }) => key === 'key:5')?.versions[0]?.rev).toBe(2);
      const bodies = await store.bodies('c', ['key:5', 'key:6']);
      expect(bodies.get('key:5')?.message).toEqual(body(5, 'better'));
      expect(bodies.get('key:6')?.message).toEqual(body(6));
      expect((await store.revisions('c', 'key:5'))[0]?.message).toEqual(body(5));
    });

    test('are made of single rows while nobody waits', async () => {
      const store = open();
      let last = await store.commit('c', chain(0, 20), NEW);
      for (let at = 20; at < 160; at += 20) last = await store.commit('c', chain(at, at + 20), place(last));
      await expect.poll(() => store.storage()).toMatchObject({ packs: 1, singles: 96, messages: 160 });
      await store.close();
      expect((await store.load('c')).messages).toHaveLength(160);
      const all = chain(0, 160).messages.map(({ key }) => key);
      const bodies = await store.bodies('c', all);
      expect(all.map((key) => bodies.get(key)?.message)).toEqual(all.map((_, i) => body(i)));
    });
  });
}
