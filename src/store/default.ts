import { IndexedDBContextStore } from './indexeddb/store.ts';
import type { ContextStore } from './store.ts';

let shared: ContextStore | undefined;

/** The store for a page that gives none: one IndexedDB database named `contextree`, opened on first use. */
export function defaultStore(): ContextStore {
  shared ??= new IndexedDBContextStore();
  return shared;
}
