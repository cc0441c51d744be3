import 'fake-indexeddb/auto';
import fc from 'fast-check';
import type { UIMessage } from 'ai';
import { openDB } from 'idb';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ContextEngine } from '../../src/engine/engine.ts';
import { openIndexedDB, openMemory } from '../../src/store/open.ts';
import type { ContextStore, StoreOp } from '../../src/store/store.ts';
import { anyText } from '../support/anyText.ts';
import { campaign } from '../support/campaign.ts';
import { head, me, message } from '../support/graph.ts';

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

function insert(data: UIMessage, parentId: string | null = null): StoreOp {
  return { op: 'insert', id: data.id, parentId, data, status: 'complete' };
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

async function read(id = 'q1'): Promise<UIMessage | undefined> {
  return (await store.getMessage('c', id))?.data;
}

async function lose(): Promise<void> {
  const db = await openDB(name);
  await db.clear('blobs');
  db.close();
}

beforeEach(async () => {
  name = `files-${Math.random()}`;
  store = openIndexedDB(name, { patience: 5000 });
});
afterEach(async () => {
  vi.restoreAllMocks();
  await store.close();
});

describe('a file in a message', () => {
  it('lies beside it, as bytes, and is read as it came', async () => {
    const data = showing('q1', BIG);
    const { written } = await store.append('c', [insert(data)], me);
    expect(written[0]?.data).toEqual(data);
    expect(await read()).toEqual(data);
    expect(JSON.stringify(await lying('bodies')).length).toBeLessThan(400);
    expect(await lying('blobs')).toMatchObject([{ bytes: { byteLength: 4000 } }]);
    await store.close();
    store = openIndexedDB(name, { patience: 5000 });
    expect(await read()).toEqual(data);
  });

  it('is not told of by its name when the disk has changed it', async () => {
    const hash = await store.putBlob(new Uint8Array([1, 2, 3]));
    const db = await openDB(name);
    await db.put('blobs', { hash, bytes: new Uint8Array([1, 2, 4]) });
    expect(await store.getBlob(hash)).toBeUndefined();
    await db.put('blobs', { hash, bytes: new Uint8Array([1, 2, 3]) });
    expect(await store.getBlob(hash)).toEqual(new Uint8Array([1, 2, 3]));
    db.close();
  });

  it('is there once, in however many messages, chats and versions', async () => {
    await store.append(
      'c',
      [insert(showing('q1', BIG, BIG)), insert(showing('q2', BIG), 'q1'), head(null, 'q2')],
      me,
    );
    await store.append('d', [insert(showing('q1', BIG.replace('image/png', 'image/x-png')))], me);
    await store.append('c', [{ op: 'replace', id: 'q2', data: showing('q2', BIG, picture(4100)) }], me);
    expect(await lying('blobs')).toHaveLength(2);
    expect((await store.getMessages('c')).map(({ data }) => data)).toEqual([
      showing('q1', BIG, BIG),
      showing('q2', BIG, picture(4100)),
    ]);
  });

  it('goes with the last chat that shows it', async () => {
    await store.append('c', [insert(showing('q1', BIG))], me);
    await store.append('d', [insert(showing('q1', BIG))], me);
    await store.deleteChat('c');
    expect((await store.getMessage('d', 'q1'))?.data).toEqual(showing('q1', BIG));
    await store.deleteChat('d');
    expect(await lying('blobs')).toEqual([]);
    expect(await lying('uses')).toEqual([]);
    await store.append('e', [insert(showing('q1', BIG))], me);
    expect((await store.getMessage('e', 'q1'))?.data).toEqual(showing('q1', BIG));
    await store.clear();
    expect(await lying('blobs')).toEqual([]);
  });

  it('is drafted by its name, once', async () => {
    const draft = { ...showing('a1', BIG), role: 'assistant' as const };
    await store.append(
      'c',
      [
        insert(message('q1')),
        { ...insert(message('a1'), 'q1'), data: { ...draft, parts: [] }, status: 'streaming' } as StoreOp,
      ],
      me,
    );
    await store.saveDraft('c', 'a1', draft);
    expect(await read('a1')).toEqual(draft);
    const longer = {
      ...draft,
      parts: [...draft.parts.slice(0, -1), { type: 'text' as const, text: 'Look. A cat.' }],
    };
    await store.saveDraft('c', 'a1', longer);
    expect(await read('a1')).toEqual(longer);
    expect(JSON.stringify(await lying('drafts')).length).toBeLessThan(500);
    await store.append('c', [{ op: 'replace', id: 'a1', status: 'interrupted' }], me);
    expect(await read('a1')).toEqual(longer);
    expect(await lying('blobs')).toHaveLength(1);
    await store.deleteChat('c');
    expect(await lying('blobs')).toEqual([]);
  });

  it('is not written at all when its message is not', async () => {
    const lost = { ...insert(showing('q1', BIG)), parentId: 'nowhere' } as StoreOp;
    await expect(store.append('c', [lost], me)).rejects.toMatchObject({ code: 'message-not-found' });
    expect(await lying('blobs')).toEqual([]);
  });

  it('can be sent again without a change', async () => {
    await store.append('c', [insert(showing('q1', BIG))], me);
    const again = await store.append('c', [insert(showing('q1', BIG))], me);
    expect(again.changed).toBe(false);
    expect(again.written[0]?.data).toEqual(showing('q1', BIG));
  });

  it('that is lost is told in its place, found again, and named by verify()', async () => {
    await store.append(
      'c',
      [insert(showing('q1', BIG)), insert(showing('q2', 'data:,hi'), 'q1'), head(null, 'q2')],
      me,
    );
    await lose();
    await store.close();
    store = openIndexedDB(name, { patience: 5000 });
    const told = await read();
    expect(told?.parts[0]).toMatchObject({ type: 'text', text: '[The file "0.png" (image/png) is lost.]' });
    expect(told?.parts[1]).toEqual({ type: 'text', text: 'Look.' });
    const engine = new ContextEngine({ store, chatId: 'c', userId: me.userId });
    expect(await engine.verify()).toMatchObject([{ kind: 'missing-file', id: 'q1', mends: false }]);
    engine.dispose();
    await store.append('c', [{ op: 'replace', id: 'q1', data: { ...told!, metadata: { seen: true } } }], me);
    await store.append('d', [insert(showing('q1', BIG))], me);
    expect(await read()).toEqual({ ...showing('q1', BIG), metadata: { seen: true } });
  });

  it('is found by its name, and is no word', async () => {
    await store.append('c', [insert(showing('q1', BIG)), head(null, 'q1')], me);
    expect(await store.searchMessages('c', '0.png')).toMatchObject([
      { message: { data: showing('q1', BIG) } },
    ]);
    expect(await store.searchMessages('c', 'base64')).toEqual([]);
  });

  it('is kept on a page that is not secure', async () => {
    vi.spyOn(crypto, 'subtle', 'get').mockReturnValue(undefined as never);
    await store.append('c', [insert(showing('q1', BIG))], me);
    vi.restoreAllMocks();
    await store.append('d', [insert(showing('q1', BIG))], me);
    expect(await lying('blobs')).toHaveLength(1);
    expect(await read()).toEqual(showing('q1', BIG));
  });

  it('comes back to the letter, whatever its URL is', async () => {
    const memory = openMemory();
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
      fc.constantFrom(
        ...['base64=data:x,', 'url=', 'more'].map((end) => `contextree-blob:${'0'.repeat(64)}?${end}`),
      ),
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
          const { written } = await one.append('c', [insert(data)], me);
          expect(written[0]?.data).toEqual(data);
          expect((await one.getMessage('c', data.id))?.data).toEqual(data);
        }
        all.push(data);
      }),
      campaign(60),
    );
    // A store that was opened anew remembers no URL.
    await store.close();
    store = openIndexedDB(name, { patience: 5000 });
    expect(
      (
        await store.getNodes(
          'c',
          all.map(({ id }) => id),
        )
      ).map(({ data }) => data),
    ).toEqual(all);
  });
});
