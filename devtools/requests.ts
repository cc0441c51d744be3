import type { ContextEngine } from 'contextree';
import { useCallback, useSyncExternalStore } from 'react';

/** What `record()` keeps of a request, and what `explainCache()` says of it. */
export type RecordedRequest = ReturnType<ContextEngine['requests']>[number];
export type CacheVerdict = Awaited<ReturnType<ContextEngine['explainCache']>>;

/** The requests that are recorded, followed while mounted. Chunks of one that grows make no new list. */
export function useRequests(engine: ContextEngine): readonly RecordedRequest[] {
  const subscribe = useCallback(
    (notify: () => void) => engine.subscribe((event) => event.type === 'request' && notify()),
    [engine],
  );
  const requests = (): readonly RecordedRequest[] => engine.requests();
  return useSyncExternalStore(subscribe, requests, requests);
}
