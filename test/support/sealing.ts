import { openDB } from 'idb';
import { TopologyCache } from '../../src/store/indexeddb/cache.ts';
import { Connection } from '../../src/store/indexeddb/connection.ts';
import { SEALED, sealNext } from '../../src/store/indexeddb/seal.ts';
import { read, write } from '../../src/store/indexeddb/transaction.ts';
import type { ContextStore } from '../../src/store/store.ts';

/** Seals the next block of a chat, as a tab does when it is idle; false when nothing is due. */
export function sealOne(name: string, chatId = 'c'): Promise<boolean> {
  return connected(name, (connection) => sealOver(connection, chatId));
}

/** The same over a connection that is there already. */
export function sealOver(connection: Connection, chatId = 'c'): Promise<boolean> {
  return connection.run((db, attempt) =>
    write(db, SEALED, 'relaxed', (rows) => sealNext(rows, chatId, new TopologyCache()), attempt),
  );
}

/** Seals all that is due, in all chats. */
export function sealAll(name: string): Promise<void> {
  return connected(name, async (connection) => {
    const chats = await connection.run((db, attempt) =>
      read(db, ['chats'], (rows) => rows.list('chats'), attempt),
    );
    for (const { id } of chats) while (await sealOver(connection, id));
  });
}

/** Does some work with a connection of its own. */
export async function connected<T>(name: string, work: (connection: Connection) => Promise<T>): Promise<T> {
  const connection = new Connection(name, 5000);
  try {
    return await work(connection);
  } finally {
    connection.close();
  }
}

/** How many records of each kind a database holds. */
export async function countRecords(name: string): Promise<Record<string, number>> {
  const db = await openDB(name);
  const tx = db.transaction([...db.objectStoreNames]);
  const counts = await Promise.all(
    [...db.objectStoreNames].map(async (table) => [table, await tx.objectStore(table).count()] as const),
  );
  db.close();
  return Object.fromEntries(counts);
}

/** A store whose chats are sealed behind its back after every write. */
export function sealingAlways(store: ContextStore, name: string): ContextStore {
  return new Proxy(store, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== 'function') return value;
      if (key !== 'append' && key !== 'restoreChat') return value.bind(target);
      return async (...args: unknown[]) => {
        const result: unknown = await value.apply(target, args);
        await sealAll(name);
        return result;
      };
    },
  });
}
