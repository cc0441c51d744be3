import { describe, expect, it } from 'vitest';
import { isContextError } from '../../src/errors.ts';
import { isWritable } from '../../src/store/indexeddb/journalFiles.ts';
import { IndexedDBContextStore } from '../../src/store/indexeddb/store.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import { given, head, insert, me } from '../support/graph.ts';
import { indexedDBSuite } from '../support/indexedDBSuite.ts';
import { lossSuite } from '../support/lossSuite.ts';
import { packSuite } from '../support/packSuite.ts';
import { storeSuite } from '../support/storeSuite.ts';

/** Every request fails once in some browser, and every one in test/store: each engine takes its third of them. */
const points = {
  first: 2 + ['Firefox', 'Chrome'].findIndex((name) => navigator.userAgent.includes(name)),
  every: 3,
};

const freshName = (): string => `test-${crypto.randomUUID()}`;

storeSuite('InMemoryContextStore', async () => new InMemoryContextStore());
storeSuite('IndexedDBContextStore', async () => new IndexedDBContextStore(freshName()));
indexedDBSuite(freshName, points);
packSuite(freshName, points);
lossSuite(freshName);

// Where a page has none, the tests of the journal are left out.
it('has files for a journal, but in WebKitGTK', () => {
  expect(isWritable()).toBe(/Firefox|Chrome/.test(navigator.userAgent));
});

/** The only browser that takes no value of such a size; what it says is of itself. */
describe.runIf(navigator.userAgent.includes('Chrome'))('what is larger than Chromium takes', () => {
  it('is refused in words, and nothing of it is there: it was told as saved, and was gone', async () => {
    const store = new IndexedDBContextStore(freshName());
    const codeOf = (write: Promise<unknown>): Promise<string> =>
      write.then(
        () => 'saved',
        (error: unknown) => (isContextError(error) ? error.code : String(error)),
      );
    await given(store, 'q1 > a1');
    const words = 'x'.repeat(128 * 2 ** 20);
    const ops = [insert('q2', 'a1', words), head('a1', 'q2')];
    expect(await codeOf(store.append('c', ops, me))).toBe('quota-exceeded');
    expect(await codeOf(store.set('large', words))).toBe('quota-exceeded');
    expect(await codeOf(store.putBlob(new Uint8Array(words.length)))).toBe('quota-exceeded');
    expect(await store.getMessages('c')).toHaveLength(2);
    await store.append('c', [insert('q2', 'a1', 'shorter'), head('a1', 'q2')], me);
    expect(await store.getMessages('c')).toHaveLength(3);
    await store.close();
  });
});
