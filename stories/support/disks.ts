import { IndexedDBContextStore, type ContextStore } from 'contextree';
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

/** The browser clears this database, and another tab begins a new one with a word to the chat that is open here. */
export async function clearData(name: string): Promise<void> {
  await new Promise((resolve) => {
    indexedDB.deleteDatabase(name).onsuccess = resolve;
  });
  const store = new IndexedDBContextStore(name);
  await tell(store, CHAT, (engine) => engine.updateChat({ metadata: { titled: 'question' } }));
  await store.close();
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
