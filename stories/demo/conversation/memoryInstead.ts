import { IndexedDBContextStore, useEngineState, type ContextStore } from 'contextree';
import { useWorkspace } from '../shell/Workspace.ts';

/** Whether memory stands in place of a database that this browser refuses: nobody knows what is in that then. */
export function useIsMemoryInstead(): boolean {
  const { store } = useWorkspace();
  return useEngineState(({ persistence }) => persistence === 'memory' && isDatabase(store));
}

/** Whether a store lives in a database, which a person may leave for memory. */
export function isDatabase(store: ContextStore): store is IndexedDBContextStore {
  return store instanceof IndexedDBContextStore;
}

/** Leaves a database that does not open, for memory. */
export async function leaveForMemory(database: IndexedDBContextStore): Promise<void> {
  await database.useMemory();
}
