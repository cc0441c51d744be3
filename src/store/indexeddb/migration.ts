import type { IDBPDatabase, IDBPTransaction } from 'idb';
import { LAYOUT, type Shape } from '../layout.ts';

/**
 * How a database of an older version becomes one of this version.
 *
 * An upgrade holds up every tab of the site, and a kill in its midst must not cost anything. So it only ever adds empty
 * tables, and indexes of fields that no record has yet, or of chats, whose rows are few and small. For an index Chromium
 * goes through the table, 0.1 ms a row; since format 2 only the newest messages of a chat are rows. Records stay as they
 * are: every format that was ever written can be read, and is brought up to date chat by chat, later, in small
 * transactions.
 *
 * - Format 1: a record per message in `nodes`, `bodies` and `changes`.
 * - Format 2: the same for the newest messages of a chat; `topologies` and `packs` for the others.
 * - Format 3: the same tables; blocks that are written from now on have sums, are found by numbers instead of texts, and
 *   keep a line for each body, and messages tell the sum of their words.
 * - Format 4: rows tell the numbers of their last changes (`changedRows.ts`), blocks that of their first, too, and
 *   indexes find them. What was written before has them in `changes`; blocks are found by the last one, as before.
 *   Databases of version 3 lack the index of the first one.
 * - Format 5: an index finds the chats of a user by their last save (`recent`), and blocks that are written from now on keep
 *   the few values of a column once.
 * - Format 6: blocks that are written from now on are found by marks (`marks.ts`) and have no keys. Those that were
 *   written before are found by their keys, as before.
 * - Format 7: the same tables; blocks that are written from now on keep short texts of a column as one, and are summed by
 *   their bytes, as bodies are.
 *
 * These are versions of the database. The text of a topology has a version of its own (`VERSION` in `pack.ts`), which goes
 * up only when that text changes: 5 is what format 7 writes.
 *
 * A chat of format 1 is therefore one of format 2 whose tail is long, and to bring it up to date is to seal it
 * (`seal.ts`): when it is opened or written, a block at a time. One that is half sealed is as good as any other.
 *
 * A database of a newer format is refused by the browser itself, because its version is higher, and a record of a newer
 * format by its `v` (`pack.ts`); both become `newer-format`. A database of each format is kept in
 * `test/store/fixtures` for ever.
 */
export const DATABASE_VERSION = 7;

/** Adds what a database of an older version lacks; for a new one, everything. */
export function upgrade(db: IDBPDatabase, tx: IDBPTransaction<unknown, string[], 'versionchange'>): void {
  for (const [table, { key, indexes = {}, multiple }] of Object.entries<Shape>(LAYOUT)) {
    const store = db.objectStoreNames.contains(table)
      ? tx.objectStore(table)
      : db.createObjectStore(table, key === undefined ? {} : { keyPath: key as string });
    for (const [index, path] of Object.entries(indexes)) {
      if (store.indexNames.contains(index)) continue;
      const multiEntry = index === multiple;
      store.createIndex(index, path as string, { unique: index === 'id' && !multiEntry, multiEntry });
    }
  }
}
