import 'fake-indexeddb/auto';
import type { UIMessage } from 'ai';
import fc from 'fast-check';
import { openDB } from 'idb';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ContextEngine } from '../../src/engine/engine.ts';
import { IndexedDBContextStore } from '../../src/store/indexeddb/store.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import type { ContextStore } from '../../src/store/store.ts';
import { anyText } from '../support/anyText.ts';
import { campaign } from '../support/campaign.ts';
import { beginning, endsOf, me, oneMore, reserved, said, versionOf } from '../support/storeRecords.ts';

/** A picture of so many bytes, as an app attaches it. */
function picture(size: number, first = 0): string {
  const bytes = Uint8Array.from({ length: size }, (_, i) => (i * 7 + first) % 256);
  return `data:image/png;base64,${btoa(String.fromCharCode(...bytes))}`;
}

function showing(id: string, ...urls: string[]): UIMessage {
  const files = urls.map((url, i) => ({
    type: 'file' as const,
    mediaType: 'image/png',
    filename: `${i}.png`,
    url,
  }));
  return { id, role: 'user', parts: [...files, { type: 'text', text: 'Look.' }] };
}

const BIG = picture(4000);
let name = '';
let store: ContextStore;

/** What lies in a table, without the store that reads it. */
async function lying(table: string): Promise<unknown[]> {
  const db = await openDB(name);
  const rows: unknown[] = await db.getAll(table);
  db.close();
  return rows;
}

async function read(id = 'q1', chatId = 'c', from = store): Promise<UIMessage | undefined> {
  return (await from.bodies(chatId, [`key:${id}`])).get(`key:${id}`)?.message;
}

/** Says something in the chat of this id, whose chat key is its own; `rev` for other words. */
async function say(
  body: UIMessage,
  { chatId = 'c', after = null as string | null, rev = 1, to = store } = {},
) {
  const chat = `chat of ${chatId}`;
  const message = { ...said(body.id, after, { versions: [versionOf(body, { rev })] }), chat };
  const ends = { ...endsOf('main', [body.id]), chat };
  return to.commit(chatId, { messages: [message], ends: [ends], marks: [beginning('me', chat)] }, me);
}

/** The next call opens the database again, and has nothing in mind. */
async function reopen(): Promise<void> {
  await store.close();
  store = new IndexedDBContextStore(name);
}

beforeEach(() => {
  name = `files-${Math.random()}`;
  store = new IndexedDBContextStore(name);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await store.close();
});

describe('a file in a message', () => {
  it('lies beside it, as bytes, and is read as it came', async () => {
    const data = showing('q1', BIG);
    await say(data);
    expect(await read()).toEqual(data);
    expect(JSON.stringify(await lying('bodies')).length).toBeLessThan(600);
    expect(await lying('blobs')).toMatchObject([{ byteLength: 4000 }]);
    await reopen();
    expect(await read()).toEqual(data);
  });

  it('is not found by its hash when the disk has changed its bytes', async () => {
    const hash = await store.putBlob(new Uint8Array([1, 2, 3]));
    const db = await openDB(name);
    await db.put('blobs', new Uint8Array([1, 2, 4]), hash);
    db.close();
    expect(await store.getBlob(hash)).toBeUndefined();
  });

  it('is there once, in however many messages, chats and versions', async () => {
    await say(showing('q1', BIG, BIG));
    await say(showing('q2', BIG), { after: 'q1' });
    await say(showing('q1', BIG.replace('image/png', 'image/x-png')), { chatId: 'd' });
    await say(showing('q2', BIG, picture(4100)), { after: 'q1', rev: 2 });
    expect(await lying('blobs')).toHaveLength(2);
    expect((await store.getMessages('c')).map(({ data }) => data)).toEqual([
      showing('q1', BIG, BIG),
      showing('q2', BIG, picture(4100)),
    ]);
    const [before] = await store.revisions('c', 'key:q2');
    expect(before?.message).toEqual(showing('q2', BIG));
  });

  it('goes with the last chat that shows it', async () => {
    await say(showing('q1', BIG));
    await say(showing('q1', BIG), { chatId: 'd' });
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 25 * 3_600_000 });
    await store.deleteChat('c');
    expect(await read('q1', 'd')).toEqual(showing('q1', BIG));
    await store.deleteChat('d');
    expect([await lying('blobs'), await lying('uses')]).toEqual([[], []]);
    vi.useRealTimers();
    await say(showing('q1', BIG), { chatId: 'e' });
    await store.clear();
    expect(await lying('blobs')).toEqual([]);
  });

  it('is drafted by its name, once', async () => {
    const draft = { ...showing('a1', BIG), role: 'assistant' as const };
    const longer = { ...draft, parts: [...draft.parts, { type: 'text' as const, text: 'A cat.' }] };
    await say(showing('q1'));
    await store.commit('c', oneMore('a1', 'q1', { versions: [reserved] }), me);
    for (const message of [draft, longer]) {
      await store.saveDraft('c', { key: 'key:a1', rev: 1, by: 'tab-1', message });
      expect(await read('a1')).toEqual(message);
    }
    expect(JSON.stringify(await lying('drafts')).length).toBeLessThan(700);
    expect(await lying('blobs')).toHaveLength(1);
  });

  it('is not written at all when its message is not', async () => {
    await say(showing('q1'));
    const late = store.commit('c', oneMore('q2', 'q1', { versions: [versionOf(showing('q2', BIG))] }), {
      ...me,
      userId: 'you',
    });
    await expect(late).rejects.toMatchObject({ code: 'wrong-user' });
    expect(await lying('blobs')).toEqual([]);
  });

  it('that is lost is told in its place, named by verify(), and comes back from whoever has it', async () => {
    await say(showing('q1', BIG));
    const db = await openDB(name);
    await db.clear('blobs');
    db.close();
    await reopen();
    const told = await read();
    expect(told?.parts[0]).toMatchObject({ type: 'text', text: '[The file "0.png" (image/png) is lost.]' });
    expect(told?.parts[1]).toEqual({ type: 'text', text: 'Look.' });
    const engine = new ContextEngine({ store, chatId: 'c', userId: 'me' });
    const lost = { kind: 'missing-file', id: 'q1', mends: false };
    expect(await engine.verify()).toEqual([expect.objectContaining(lost)]);
    engine.dispose();
    await say({ ...(told as UIMessage), metadata: { seen: true } }, { rev: 2 });
    await say(showing('q1', BIG), { chatId: 'd' });
    expect(await read()).toEqual({ ...showing('q1', BIG), metadata: { seen: true } });
  });

  it('comes back to the letter, whatever its URL is', async () => {
    const memory = new InMemoryContextStore();
    const long = (unit: string): string => unit.repeat(Math.ceil(4200 / (unit.length || 1)));
    const words = anyText({ minLength: 1, maxLength: 20 });
    const base64 = fc
      .uint8Array({ maxLength: 20 })
      .map((bytes) => btoa(long(String.fromCharCode(...bytes, 1))));
    const url = fc.oneof(
      base64.map((body) => `data:image/png;base64,${body}`),
      base64.map((body) => `data:;charset=utf-8;base64,${body.slice(1)}`),
      base64.map((body) => `data:image/png;base64,${body}\n=`),
      words.map((text) => `data:text/plain,${long(text)}`),
      words.map((text) => `data:${long(text)}`),
      words.map((text) => `data:text/plain;base64,${text}`),
      fc.constantFrom(...['', '?more'].map((end) => `contextree-blob:${'0'.repeat(64)}${end}`)),
      fc.webUrl(),
      words,
    );
    const part = fc.oneof(
      fc.record(
        { type: fc.constantFrom('file', 'reasoning-file'), mediaType: words, url, filename: words },
        { requiredKeys: ['type', 'mediaType', 'url'] },
      ),
      words.map((text) => ({ type: 'text', text })),
    );
    const all: UIMessage[] = [];
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 4 }), async (parts) => {
        const data = { id: `q${all.length}`, role: 'user', parts } as UIMessage;
        for (const one of [memory, store]) {
          await say(data, { to: one });
          expect(await read(data.id, 'c', one)).toEqual(data);
        }
        all.push(data);
      }),
      campaign(60),
    );
    // A store that was opened anew remembers no URL.
    await reopen();
    const keys = all.map(({ id }) => `key:${id}`);
    const bodies = await store.bodies('c', keys);
    expect(keys.map((key) => bodies.get(key)?.message)).toEqual(all);
  });
});
