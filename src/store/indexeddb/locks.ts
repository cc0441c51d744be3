import { ContextError } from '../../errors.ts';
import { createHexId } from '../hexId.ts';
import { ofChat, only } from '../layout.ts';
import type { Backing } from '../rows.ts';

/**
 * Who writes an answer right now.
 *
 * A streaming message whose tab was closed stays streaming for ever, unless somebody can tell that nobody writes it any
 * more. A Web Lock can: it falls when its tab does, however the tab ended. It is taken in shared mode, because it says
 * something and keeps nobody out. Pages without Web Locks stamp a lease into the database instead, and renew it; one
 * that is older than ten seconds counts for nothing.
 */
export class NodeLocks {
  readonly #prefix: string;
  readonly #backing: Pick<Backing, 'read' | 'write'>;

  constructor(database: string, backing: Pick<Backing, 'read' | 'write'>) {
    this.#prefix = `contextree:${escapeName(database)}:`;
    this.#backing = backing;
  }

  /** Takes the lock of a node; call the result to let go. */
  hold(chatId: string, id: string): Promise<() => void> {
    const locks = webLocks();
    return locks ? lock(locks, this.#nameOf(chatId) + escapeName(id)) : this.#lease(chatId, id);
  }

  /** The nodes of the chat that some tab holds. */
  async held(chatId: string): Promise<ReadonlySet<string>> {
    const locks = webLocks();
    if (!locks) return this.#leased(chatId);
    const prefix = this.#nameOf(chatId);
    const names = ((await locks.query().catch(refused)).held ?? []).map(({ name = '' }) => name);
    const own = names.filter((name) => name.startsWith(prefix));
    return new Set(own.map((name) => unescapeName(name.slice(prefix.length))));
  }

  #nameOf(chatId: string): string {
    return `${this.#prefix}${escapeName(chatId)}:`;
  }

  /** Two tabs may say so of one node, as with locks, until it is decided which of them writes it: each has a row. */
  async #lease(chatId: string, node: string): Promise<() => void> {
    const id = `${node}:${createHexId()}`;
    const stamp = (): Promise<void> => {
      const lease = { chatId, id, until: Date.now() + LEASE };
      return this.#backing
        .write(['leases'], async (rows) => rows.put('leases', lease), true)
        .catch(() => undefined);
    };
    await stamp();
    const timer = setInterval(stamp, LEASE / 3);
    return () => {
      clearInterval(timer);
      this.#backing
        .write(['leases'], async (rows) => rows.delete('leases', only([chatId, id])))
        .catch(() => undefined);
    };
  }

  async #leased(chatId: string): Promise<ReadonlySet<string>> {
    const leases = await this.#backing.read(['leases'], (rows) => rows.list('leases', ofChat(chatId)));
    const now = Date.now();
    // One that ends later than any could was stamped before the clock was set back: who still writes stamps it anew.
    const alive = leases.filter(({ until }) => until > now && until <= now + LEASE);
    return new Set(alive.map(({ id }) => id.slice(0, id.lastIndexOf(':'))));
  }
}

/** How long a lease counts, ms. */
const LEASE = 10_000;

/** The platform’s locks, where it has them. */
export function webLocks(): LockManager | undefined {
  return typeof navigator === 'undefined' ? undefined : (navigator as { locks?: LockManager }).locks;
}

function lock(locks: LockManager, name: string): Promise<() => void> {
  return new Promise<() => void>((resolve, reject) => {
    locks
      .request(name, { mode: 'shared' }, () => new Promise<void>((release) => resolve(release)))
      .catch(reject);
  }).catch(refused);
}

/** A page that may keep nothing, like one in a sandboxed frame, has no locks either. */
function refused(cause: unknown): never {
  if (!(cause instanceof DOMException && cause.name === 'SecurityError')) throw cause;
  throw new ContextError('store-unavailable', `This page may take no locks: ${String(cause)}`, { cause });
}

/**
 * A name in which no colon is left, so that two names with a colon between them can't be read in another way; nor half a
 * character (a lone surrogate), which has no bytes: one is taken for the other.
 */
export function escapeName(name: string): string {
  return name.replace(/[%:]|\p{Surrogate}/gu, (unit) => {
    const hex = unit.charCodeAt(0).toString(16).toUpperCase();
    return hex.length > 2 ? `%u${hex}` : `%${hex}`;
  });
}

function unescapeName(name: string): string {
  return name.replace(/%(?:u(.{4})|(..))/g, (_, unit?: string, byte?: string) =>
    String.fromCharCode(Number.parseInt(unit ?? byte ?? '', 16)),
  );
}
