import { ContextError, refuseToLoad } from '../../errors.ts';
import type { Database } from '../tables/layout.ts';
import type * as Leases from './leases.ts';

/**
 * Which tab writes an answer right now. A Web Lock ends with its tab, however that ended; it is taken in shared mode, because
 * it excludes nobody. Pages without Web Locks store a lease in the database instead (`leases.ts`).
 *
 * A lock's name is `contextree:` and database, chat and message as JSON: unambiguous, and lone surrogates are escaped. Call the
 * result to release it.
 */
export async function hold(database: string, db: Database, chatId: string, key: string): Promise<() => void> {
  const locks = webLocks();
  const name = `contextree:${JSON.stringify([database, chatId, key])}`;
  return locks ? lock(locks, name) : (await loadLeases()).lease(db, name);
}

/** The keys of the chat's messages whose locks some tab holds. */
export async function held(database: string, db: Database, chatId: string): Promise<ReadonlySet<string>> {
  const locks = webLocks();
  const prefix = `contextree:${JSON.stringify([database, chatId]).slice(0, -1)},`;
  const names = locks
    ? ((await locks.query().catch(refused)).held ?? []).map(({ name = '' }) => name)
    : await (await loadLeases()).leased(db, prefix);
  const own = names.filter((name) => name.startsWith(prefix));
  return new Set(own.map((name) => JSON.parse(name.slice(prefix.length, -1)) as string));
}

function loadLeases(): Promise<typeof Leases> {
  return import('./leases.ts').catch(refuseToLoad);
}

function webLocks(): LockManager | undefined {
  return typeof navigator === 'undefined' ? undefined : (navigator as { locks?: LockManager }).locks;
}

function lock(locks: LockManager, name: string): Promise<() => void> {
  return new Promise<() => void>((resolve, reject) => {
    locks
      .request(name, { mode: 'shared' }, () => new Promise<void>((release) => resolve(release)))
      .catch(reject);
  }).catch(refused);
}

/** A page without storage, such as a sandboxed frame, has no locks either. */
function refused(cause: unknown): never {
  if (!(cause instanceof DOMException && cause.name === 'SecurityError')) throw cause;
  throw new ContextError('store-unavailable', `This page may take no locks: ${String(cause)}`, { cause });
}
