import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isContextError } from '../../src/errors.ts';
import { IndexedDBContextStore } from '../../src/store/indexeddb/store.ts';
import { Faults, type Fault } from './faults.ts';
import { asRead, begun, endsOf, me, only, said } from './storeRecords.ts';

/** The result of a turn that is hit by a fault: an error's code, or that all is saved. */
const ANSWERS: readonly (readonly [fault: Fault, answer: string, forEver: string])[] = [
  ['throw', 'invariant', 'invariant'],
  ['refuse', 'quota-exceeded', 'quota-exceeded'],
  ['blobs', 'quota-exceeded', 'quota-exceeded'],
  ['late', 'quota-exceeded', 'quota-exceeded'],
  ['abort', 'saved', 'store-closed'],
  ['dead', 'saved', 'store-closed'],
  ['closed', 'saved', 'store-closed'],
  ['unheard', 'saved', 'store-closed'],
];

/** What a failing disk does to a turn: it is stored whole, or not at all, and its author knows which. */
export function faultSuite(name: () => string): void {
  describe('a turn on a disk that fails', () => {
    let faults: Faults;
    beforeEach(() => {
      faults = new Faults();
    });
    afterEach(() => faults.remove());

    const turn = only({
      messages: [said('q2', 'a1'), said('a2', 'q2')],
      ends: [endsOf('main', ['a2'])],
    });

    /** Writes a turn that is hit at its `at`-th request; false if it has fewer. */
    const write = async (fault: Fault, at: number, forEver: boolean, expected: string): Promise<boolean> => {
      const store = new IndexedDBContextStore(name());
      await store.commit('c', begun('me', 'q1 > a1'), me);
      const here = await asRead(store);
      faults.order(fault, at, forEver);
      const answer = await store.commit('c', turn, here).then(
        () => 'saved',
        (error: unknown) => (isContextError(error) ? error.code : String(error)),
      );
      const { struck } = faults;
      faults.cease();
      // The answer of a complete transaction may get lost twice: then the turn is stored, and nobody knows.
      const isThere = answer === 'saved' || fault === 'unheard';
      const ids = (await store.load('c')).messages.map(({ id }) => id).toSorted();
      const told = { at, answer, ids: ids.join(' ') };
      const words = isThere ? 'a1 a2 q1 q2' : 'a1 q1';
      expect(told).toEqual({ at, answer: struck ? expected : 'saved', ids: words });
      await store.commit('c', turn, here);
      expect(await store.getMessages('c')).toHaveLength(4);
      await store.close();
      return struck;
    };

    test.each(ANSWERS)('is saved or refused: %s, once: %s', async (fault, answer) => {
      let at = 1;
      while (await write(fault, at, false, answer)) at += 1;
      expect(at).toBeGreaterThan(1);
    });

    test.each(ANSWERS)('is refused as long as it lasts: %s (%s), for ever: %s', async (fault, _, answer) => {
      expect(await write(fault, 1, true, answer)).toBe(true);
    });
  });
}
