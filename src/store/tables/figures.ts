import type { StorageFigures } from '../store.ts';
import { type Database, type Rows, type StoredChat, type Table } from './layout.ts';

/** Counts records. Reads the rows of the chats and, one after another, the attachments. */
export async function figuresOf(db: Database): Promise<StorageFigures> {
  const isDisk = db.persistence === 'indexeddb';
  const [figures, site] = await Promise.all([
    db.read(async (rows) => {
      const [chats, packs, singles, hashes] = await Promise.all([
        rows.all<StoredChat>('chats'),
        rows.keys('packs'),
        rows.keys('nodes'),
        rows.keys('blobs'),
      ]);
      let bytes = 0;
      for (const hash of hashes) bytes += (await rows.get<Uint8Array>('blobs', hash))?.length ?? 0;
      const blobs = { count: hashes.length, bytes };
      const totals = chats.flatMap((chat) => chat.totals ?? []);
      const messages = totals.reduce((sum, each) => sum + each.messages, 0);
      return {
        chats: totals.length,
        messages,
        ...(isDisk ? { packs: packs.length, singles: singles.length } : {}),
        blobs,
      };
    }),
    isDisk ? siteFigures() : {},
  ]);
  return { persistence: db.persistence, ...figures, ...site };
}

const KINDS: Readonly<Record<string, readonly Table[]>> = {
  messages: ['nodes', 'bodies', 'topologies', 'packs'],
  'branches, checkpoints, names': ['facts'],
  'earlier words': ['revisions'],
  drafts: ['drafts'],
  attachments: ['blobs', 'uses'],
  'views and operations': ['local'],
  'values of the app': ['values'],
  chats: ['chats', 'meta'],
};

/** The size of each kind of record. Reads a hundred records in a transaction. */
export async function weigh(db: Database): Promise<NonNullable<StorageFigures['kinds']>> {
  const kinds: { kind: string; rows: number; bytes: number }[] = [];
  for (const [kind, tables] of Object.entries(KINDS)) {
    const weight = { kind, rows: 0, bytes: 0 };
    for (const table of tables) {
      const keys = await db.read((rows) => rows.keys(table));
      weight.rows += keys.length;
      for (let from = 0; from < keys.length; from += AT_A_TIME) {
        const some = keys.slice(from, from + AT_A_TIME);
        const read = (rows: Rows): Promise<unknown[]> => Promise.all(some.map((key) => rows.get(table, key)));
        for (const value of await db.read(read)) weight.bytes += bytesOf(value);
      }
    }
    kinds.push(weight);
  }
  return kinds;
}

const AT_A_TIME = 100;

/** About how many bytes a value takes on the disk. */
function bytesOf(value: unknown): number {
  if (typeof value === 'string') return value.length * (/[\u0100-\uffff]/.test(value) ? 2 : 1);
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return value.byteLength;
  if (typeof value !== 'object' || value === null) return 8;
  return Object.entries(value).reduce<number>((sum, [key, inner]) => sum + key.length + bytesOf(inner), 0);
}

/** What the browser reports of the whole site; empty where it reports nothing. */
async function siteFigures(): Promise<Pick<StorageFigures, 'usage' | 'quota' | 'persisted'>> {
  const storage = siteStorage();
  const [estimate, persisted] = await Promise.all([
    settled(() => storage?.estimate?.()),
    settled(() => storage?.persisted?.()),
  ]);
  return {
    ...(estimate?.usage === undefined ? {} : { usage: estimate.usage }),
    ...(estimate?.quota === undefined ? {} : { quota: estimate.quota }),
    ...(persisted === undefined ? {} : { persisted }),
  };
}

/** Asks the browser not to clear this site's data by itself; resolves to whether it agreed. Never rejects. */
export async function askToPersist(): Promise<boolean> {
  return (await settled(() => siteStorage()?.persist?.())) ?? false;
}

function siteStorage(): Partial<StorageManager> | undefined {
  return typeof navigator === 'undefined' ? undefined : (navigator as { storage?: StorageManager }).storage;
}

async function settled<T>(ask: () => Promise<T> | undefined): Promise<T | undefined> {
  try {
    return await ask();
  } catch {
    return undefined;
  }
}
