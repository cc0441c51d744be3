import { IndexedDBContextStore } from './indexeddb/store.ts';
import type { ContextStore } from './store.ts';

let shared: ContextStore | undefined;

/** The store of a page that was given none: one IndexedDB database named `contextree`, opened when first used. */
export function defaultStore(): ContextStore {
  shared ??= new IndexedDBContextStore();
  return shared;
}
