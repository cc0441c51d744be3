import { IndexedDBContextStore, type ContextEngine, type ContextStore } from 'contextree';
import { Faults } from '../../test/support/faults.ts';
import { CHAT, tell } from './earlier.ts';

/** The same store on a disk that was asked for a chat and has not answered yet. The list of chats is there. */
export function thatIsSlow(store: ContextStore): ContextStore {
  return new Proxy(store, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== 'function') return value;
      return key === 'load' || key === 'getMessageChain' ? notYet : value.bind(target);
    },
  });
}

function notYet(): Promise<never> {
  return new Promise(() => {});
}

/** A store whose database the browser lost after this was said; a journal was kept. */
export async function lostAfter(said: (engine: ContextEngine) => Promise<unknown>): Promise<ContextStore> {
  const name = `contextree-story-${crypto.randomUUID()}`;
  const before = new IndexedDBContextStore(name, { journal: true });
  await tell(before, CHAT, said);
  // Answers when the journal has caught up.
  await before.storage();
  await before.close();
  await new Promise((resolve) => {
    indexedDB.deleteDatabase(name).onsuccess = resolve;
  });
  return new IndexedDBContextStore(name, { journal: true });
}

/** From now on the browser's disk is full for every database of this page. Call the result to make room. */
export function fillDisk(): () => void {
  const faults = new Faults();
  faults.order('refuse', 1, true);
  return () => faults.remove();
}

/** From now on the browser refuses databases, as one that blocks cookies does. Call the result to allow them again. */
export function refuseDatabases(): () => void {
  Object.defineProperty(indexedDB, 'open', { configurable: true, value: denied });
  return () => Reflect.deleteProperty(indexedDB, 'open');
}

function denied(): never {
  throw new DOMException('The user denied permission to access the database.', 'SecurityError');
}
