import { afterEach, describe, expect, it } from 'vitest';
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

/** The only browser that takes no value of such a size; what it says is of itself. */
describe.runIf(navigator.userAgent.includes('Chrome'))('what is larger than Chromium takes', () => {
  const store = new IndexedDBContextStore(freshName());
  afterEach(() => store.close());

  it(
    'is refused in words, and nothing of it is there: it was told as saved, and was gone',
    { timeout: 60_000 },
    async () => {
      const turn = (text: string): Promise<unknown> => {
        const question = said('q2', 'a1', { versions: [words('q2', text)] });
        return store.commit('c', only({ messages: [question], ends: [endsOf('main', ['q2'])] }), me);
      };
      await store.commit('c', begun('me', 'q1 > a1'), me);
      const large = 'x'.repeat(128 * 2 ** 20);
      for (const write of [
        () => turn(large),
        () => store.set('large', large),
        () => store.putBlob(new Uint8Array(large.length)),
      ])
        await expect(write()).rejects.toMatchObject({ code: 'quota-exceeded' });
      expect(await store.getMessages('c')).toHaveLength(2);
      await turn('shorter');
      expect(await store.getMessages('c')).toHaveLength(3);
    },
  );
});
