import { afterEach, describe, expect, it } from 'vitest';
import { textOf } from '../../src/reminded.ts';
import { IndexedDBContextStore } from '../../src/store/indexeddb/store.ts';
import { faultSuite } from '../support/faultSuite.ts';
import { packSuite } from '../support/packSuite.ts';
import { begun, endsOf, me, only, said, words } from '../support/storeRecords.ts';
import { storeSuite } from '../support/storeSuite.ts';

const freshName = (): string => `test-${crypto.randomUUID()}`;

storeSuite('IndexedDBContextStore', async () => {
  const name = freshName();
  return { store: new IndexedDBContextStore(name), other: async () => new IndexedDBContextStore(name) };
});
packSuite(freshName);
faultSuite(freshName);

/** The only browser that refused values of such a size; version 150 takes them. */
describe.runIf(navigator.userAgent.includes('Chrome'))('what is larger than Chromium may take', () => {
  const name = freshName();
  const store = new IndexedDBContextStore(name);
  afterEach(() => store.close());

  it(
    'is there whole, or is refused in words and leaves nothing: it was told as saved, and was gone',
    // A busy machine takes a minute to write that much.
    { timeout: 180_000 },
    async () => {
      const turn = (id: string, text: string): Promise<unknown> => {
        const question = said(id, 'a1', { versions: [words(id, text)] });
        return store.commit('c', only({ messages: [question], ends: [endsOf('main', [id])] }), me);
      };
      await store.commit('c', begun('me', 'q1 > a1'), me);
      const large = 'x'.repeat(128 * 2 ** 20);
      const isSaved = (write: Promise<unknown>): Promise<boolean> =>
        write.then(
          () => true,
          (error: unknown) => {
            expect(error).toMatchObject({ code: 'quota-exceeded' });
            return false;
          },
        );
      const saved = [await isSaved(turn('q2', large)), await isSaved(store.set('large', large))];
      const reader = new IndexedDBContextStore(name);
      const last = (await reader.getMessages('c')).slice(2).map(({ data }) => textOf(data).length);
      const value = await reader.get<string>('large');
      expect(last).toEqual(saved[0] ? [large.length] : []);
      expect(value?.length).toBe(saved[1] ? large.length : undefined);
      await reader.close();
      await turn('q3', 'shorter');
      expect((await store.getMessages('c')).map(({ id }) => id)).toEqual(['q1', 'a1', 'q3']);
    },
  );
});
