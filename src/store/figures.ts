import type { Table } from './layout.ts';
import type { Backing } from './rows.ts';
import type { Persistence } from './store.ts';

/** How much a store holds, and how safe the browser says it is. */
export interface StorageFigures {
  readonly persistence: Persistence;
  /** Bytes that this site takes in the browser, all its databases and caches; absent where the browser does not tell. */
  readonly usage?: number;
  /** Bytes that this site may take; absent where the browser does not tell. */
  readonly quota?: number;
  /** Whether the browser has promised not to clear this site's data by itself; absent where it does not tell. */
  readonly persisted?: boolean;
  /** Chats that are not deleted. */
  readonly chats: number;
  /** Messages in them. */
  readonly messages: number;
  /** Packs of sealed messages; absent in memory. */
  readonly packs?: number;
  /** Messages that lie in records of their own; absent in memory. */
  readonly singles?: number;
  /** Attachments, and their bytes. */
  readonly blobs: { readonly count: number; readonly bytes: number };
  /** The journal, where one is kept: bytes, and why it can't be written, if it can't. */
  readonly journal?: JournalFigures;
}

/** How a journal stands. */
export interface JournalFigures {
  /** `unsupported`: this browser has no files to keep one in. */
  readonly state: 'on' | 'failed' | 'unsupported';
  readonly bytes?: number;
  readonly error?: Error;
}

/** What only a database can tell about itself. */
export interface BackingFigures {
  readonly packs?: number;
  readonly singles?: number;
  readonly journal?: JournalFigures;
}

/** Counts. Reads the rows of the chats and, one after another, the attachments: for a page of figures, not for a loop. */
export async function figuresOf(backing: Backing): Promise<StorageFigures> {
  const [all, blobs, own, site] = await Promise.all([
    backing.read(['chats'], (rows) => rows.list('chats')),
    weighBlobs(backing),
    backing.figures?.(),
    siteFigures(),
  ]);
  const chats = all.filter(({ deletedAt }) => deletedAt === undefined);
  const messages = chats.reduce((sum, { messageCount }) => sum + messageCount, 0);
  return { persistence: backing.persistence, chats: chats.length, messages, blobs, ...own, ...site };
}

/** So many attachments are in memory at a time. */
const FEW = 8;

async function weighBlobs(backing: Backing): Promise<StorageFigures['blobs']> {
  let [count, bytes, after] = [0, 0, ''];
  for (;;) {
    const span = { from: `${after}\0`, to: [] };
    const some = await backing.read(BLOBS, (rows) => rows.list('blobs', span, undefined, FEW));
    count += some.length;
    for (const blob of some) bytes += blob.bytes.length;
    after = some.at(-1)?.hash ?? after;
    if (some.length < FEW) return { count, bytes };
  }
}

const BLOBS: readonly Table[] = ['blobs'];

/** What the browser tells of the whole site; nothing where it does not. */
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

/** Asks the browser not to clear this site's data by itself; whether it promised. Never rejects. */
export async function askToPersist(): Promise<boolean> {
  return (await settled(() => siteStorage()?.persist?.())) ?? false;
}

/** The site's storage, any part of which a browser may lack. */
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
