import { useSyncExternalStore } from 'react';

/** Whether the page is used with a finger: nothing can be pointed at without pressing it. */
export function useIsTouch(): boolean {
  return useSyncExternalStore(listen, () => touch().matches);
}

let query: MediaQueryList | undefined;

function touch(): MediaQueryList {
  return (query ??= matchMedia('(hover: none), (pointer: coarse)'));
}

function listen(changed: () => void): () => void {
  touch().addEventListener('change', changed);
  return () => touch().removeEventListener('change', changed);
}
