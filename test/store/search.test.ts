import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openMemory } from '../../src/store/open.ts';
import { MessageSearch } from '../../src/store/search.ts';
import type { ContextStore } from '../../src/store/store.ts';
import { anyText } from '../support/anyText.ts';
import { givenChat, head, insert, line, me, message } from '../support/graph.ts';

// What the search answers is in the store suite; here is what it costs, and what it keeps.
describe('a search', () => {
  let store: ContextStore;
  let read: string[];
  let search: MessageSearch;

  beforeEach(async () => {
    vi.useFakeTimers();
    store = openMemory();
    read = [];
    const readNodes: ContextStore['getNodes'] = (chatId, ids) => {
      read.push(...ids);
      return store.getNodes(chatId, ids);
    };
    search = new MessageSearch({
      getChat: (chatId) => store.getChat(chatId),
      load: (chatId, since) => store.load(chatId, since),
      getNodes: readNodes,
      readLight: readNodes,
    });
    await givenChat(store, 'c', line(300));
  });
  afterEach(async () => {
    search.letGo();
    await store.close();
    vi.useRealTimers();
  });

  /** The ids that a query finds, and those of the bodies that it took. */
  const ask = async (query: string, chatId = 'c') => {
    read = [];
    const found = await search.find(chatId, query);
    return { found: found.map((hit) => hit.message.id), read };
  };

  it('reads the chat once, and after that only what it shows', async () => {
    expect((await ask('m299')).read).toHaveLength(301);
    expect(await ask('m7 ')).toEqual({ found: ['m7'], read: ['m7'] });
    expect(await ask('nothing')).toEqual({ found: [], read: [] });
  });

  it('reads again what changed, and what grows', async () => {
    await ask('m299');
    await store.append('c', [{ op: 'replace', id: 'm7', data: message('m7', 'oak') }], me);
    expect(await ask('oak')).toEqual({ found: ['m7'], read: ['m7', 'm7'] });
    await store.append('c', [insert('a1', 'm299', 'elm', 'streaming'), head('m299', 'a1')], me);
    expect(await ask('oak')).toEqual({ found: ['m7'], read: ['a1', 'm7'] });
    expect(await ask('oak')).toEqual({ found: ['m7'], read: ['a1', 'm7'] });
    await store.append('c', [{ op: 'replace', id: 'a1', status: 'complete' }], me);
    expect(await ask('oak')).toEqual({ found: ['m7'], read: ['a1', 'm7'] });
    expect(await ask('oak')).toEqual({ found: ['m7'], read: ['m7'] });
  });

  it('does not look again for a message that was taken back', async () => {
    await store.append('c', [insert('a1', 'm299', '', 'streaming'), head('m299', 'a1')], me);
    expect((await ask('nothing')).read).toHaveLength(301);
    await store.append('c', [{ op: 'drop', id: 'a1' }], me);
    expect(await ask('nothing')).toEqual({ found: [], read: [] });
  });

  it('reads once where two people ask at the same time', async () => {
    read = [];
    await Promise.all([search.find('c', 'nothing'), search.find('c', 'nowhere')]);
    expect(read).toHaveLength(300);
  });

  it('lets the words go when nobody has asked for a while', async () => {
    await ask('nothing');
    await vi.advanceTimersByTimeAsync(4 * 60_000);
    expect((await ask('nothing')).read).toHaveLength(0);
    await vi.advanceTimersByTimeAsync(4 * 60_000);
    expect((await ask('nothing')).read).toHaveLength(0);
    await vi.advanceTimersByTimeAsync(6 * 60_000);
    expect((await ask('nothing')).read).toHaveLength(300);
  });

  it('keeps the words of the four chats that were searched last', async () => {
    for (const id of ['d', 'e', 'f', 'g']) await givenChat(store, id, 'q1');
    for (const id of ['c', 'd', 'e', 'f', 'c', 'g']) await ask('nothing', id);
    expect((await ask('nothing', 'c')).read).toHaveLength(0);
    expect((await ask('nothing', 'd')).read).toHaveLength(1);
  });

  it('tells what keeps it from reading, and goes on where it was when that is over', async () => {
    const load = vi.spyOn(store, 'load').mockRejectedValueOnce(new Error('the disk is away'));
    await expect(search.find('c', 'm7')).rejects.toThrow('the disk is away');
    expect((await ask('m7 ')).found).toEqual(['m7']);
    expect(load).toHaveBeenCalledTimes(2);
  });

  it('forgets a chat that began anew under its id, also in the same millisecond', async () => {
    await ask('m7 ');
    await store.deleteChat('c');
    await store.append('c', [insert('n1', null, 'elm'), head(null, 'n1')], { ...me, epoch: 1 });
    expect((await ask('m7 ')).found).toEqual([]);
    expect(await ask('elm')).toEqual({ found: ['n1'], read: ['n1'] });
  });

  it('has an answer to whatever is asked', async () => {
    const words = anyText({ maxLength: 60 });
    const odd = fc.constantFrom<unknown>(
      null,
      undefined,
      7,
      {},
      [],
      '"',
      '*',
      '(',
      '\\',
      '^m[',
      '\ud800',
      '-',
      'm7"',
    );
    const limits = fc.constantFrom(undefined, 0, -1, 1, Number.NaN, Infinity);
    await fc.assert(
      fc.asyncProperty(fc.oneof(words, odd), limits, async (query, limit) => {
        const hits = await search.find('c', query, limit === undefined ? {} : { limit });
        expect(hits.length).toBeLessThanOrEqual(300);
      }),
      { numRuns: 100 },
    );
  });

  it('lets the page go on while it reads a long chat from memory', async () => {
    vi.useRealTimers();
    await givenChat(store, 'long', line(6000));
    let turns = 0;
    const turn = setInterval(() => (turns += 1), 1);
    await search.find('long', 'nothing');
    clearInterval(turn);
    expect(turns).toBeGreaterThan(1);
  });

  it(
    'reads a message of megabytes once, with pauses, and finds the place in it at little cost',
    { timeout: 60_000 },
    async () => {
      vi.useRealTimers();
      const words = Array.from({ length: 600_000 }, (_, i) =>
        i % 5 === 0 ? 'the' : (i * 7919).toString(36),
      );
      await store.append('long', [insert('q1', null, words.join(' ')), head(null, 'q1')], me);
      let turns = 0;
      const turn = setInterval(() => (turns += 1), 1);
      await search.find('long', 'nothing');
      clearInterval(turn);
      expect(turns).toBeGreaterThan(3);
      // The best of some: whatever else the machine does only adds to it.
      const best = async (query: string, hits: number, before = (): void => undefined): Promise<number> => {
        const times: number[] = [];
        for (let i = 0; i < 3; i += 1) {
          before();
          const start = performance.now();
          expect(await search.find('long', query)).toHaveLength(hits);
          times.push(performance.now() - start);
        }
        return Math.min(...times);
      };
      const first = await best('nothing', 0, () => search.letGo());
      expect(await best('the', 1)).toBeLessThan(first / 3);
      expect(await best('the 6', 1)).toBeLessThan(first / 2);
    },
  );
});
