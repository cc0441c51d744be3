import { IDBFactory } from 'fake-indexeddb';
import 'fake-indexeddb/auto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { IndexedDBContextStore } from '../../src/store/indexeddb/store.ts';
import type { Table } from '../../src/store/layout.ts';
import { contentOf, type Disk, givenDatabase, mutated, noteUnhandled, tell } from '../support/damage.ts';
import { type DatabaseDump, dumpDatabase, loadDatabase, openDatabase } from '../support/dump.ts';
import { quickenDisk } from '../support/quickDisk.ts';
import { Unreadable } from '../support/unreadable.ts';

// Blocks of four, so that a chat that a test can look through is sealed, too, all but its end.
vi.mock('../../src/store/layout.ts', async (original) => ({ ...(await original<object>()), BLOCK: 4 }));

afterAll(quickenDisk());
beforeEach(() => {
  globalThis.indexedDB = new IDBFactory();
});

describe('a record that the browser has and does not give out', () => {
  const unhandled = noteUnhandled();
  let unreadable: Unreadable;
  let whole: DatabaseDump;
  beforeAll(async () => {
    whole = await givenDatabase();
  });
  beforeEach(() => {
    unreadable = new Unreadable();
  });
  afterEach(() => unreadable.remove());

  /** The database as it was, of which those records can't be read that are not in the damaged one. */
  function diskThat(isShort: boolean): Disk {
    return async (damaged) => {
      globalThis.indexedDB = new IDBFactory();
      await loadDatabase('damaged', whole);
      const db = await openDatabase('damaged');
      const lost = lostIn(whole, damaged);
      for (const { table, key } of lost) unreadable.lose(db, table, [key], isShort);
      db.close();
      const dump = async (): Promise<DatabaseDump> => {
        unreadable.giveBack();
        return dumpDatabase('damaged');
      };
      return { store: new IndexedDBContextStore('damaged'), dump };
    };
  }

  it.each([
    ['gone', false],
    ['too short', true],
  ])(
    'costs no more than itself, whichever it is: its file is %s',
    { timeout: 120_000 },
    async (_, isShort) => {
      let named = 0;
      const seen = new Set<string>();
      for (let at = 0; ; at += 1) {
        const mutant = { kind: 'delete', pick: [at, 0, 0, 0] } as const;
        const content = contentOf(whole, mutated(whole, mutant));
        if (seen.has(content)) break;
        seen.add(content);
        if ((await tell(whole, mutant, diskThat(isShort))) === 'named') named += 1;
        expect(unhandled).toEqual([]);
      }
      expect(seen.size).toBeGreaterThan(25);
      expect(unreadable.failed).toBeGreaterThan(seen.size);
      expect(named).toBeGreaterThan(seen.size / 3);
    },
  );
});

/** The records of a database that are not in the damaged one. */
function lostIn(whole: DatabaseDump, damaged: DatabaseDump): { table: Table; key: IDBValidKey }[] {
  return whole.stores.flatMap(({ name, rows }, i) => {
    const there = new Set(damaged.stores[i]?.rows.map(({ key }) => JSON.stringify(key)));
    const gone = rows.filter(({ key }) => !there.has(JSON.stringify(key)));
    return gone.map(({ key }) => ({ table: name as Table, key }));
  });
}
