import { expect, it } from 'vitest';
import { isWritable } from '../../src/store/indexeddb/journalFiles.ts';
import { IndexedDBContextStore } from '../../src/store/indexeddb/store.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import { indexedDBSuite } from '../support/indexedDBSuite.ts';
import { lossSuite } from '../support/lossSuite.ts';
import { packSuite } from '../support/packSuite.ts';
import { storeSuite } from '../support/storeSuite.ts';

/** Every request fails once in some browser, and every one in test/store: each browser takes its third of them. */
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
