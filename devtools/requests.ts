import type { ContextEngine } from 'contextree';
import { useCallback, useSyncExternalStore } from 'react';

/** A recorded request, as `record()` keeps it. */
export type RecordedRequest = ReturnType<ContextEngine['requests']>[number];
export type CacheVerdict = Awaited<ReturnType<ContextEngine['explainCache']>>;

/** The recorded requests, followed while mounted. Chunks of a growing one make no new list. */
export function useRequests(engine: ContextEngine): readonly RecordedRequest[] {
  const subscribe = useCallback(
    (notify: () => void) => engine.subscribe((event) => event.type === 'request' && notify()),
    [engine],
  );
  return useSyncExternalStore(subscribe, () => engine.requests());
}
