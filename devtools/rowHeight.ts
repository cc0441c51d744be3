import { useSyncExternalStore } from 'react';

/**
 * The height of a row in the graph and in the snapshot, in CSS pixels: one for all, because rows are windowed; larger for
 * touch.
 */
export function useRowHeight(): number {
  return useSyncExternalStore(subscribe, () => (fingers()?.matches ? ROOMY : COMPACT));
}

const COMPACT = 24;
const ROOMY = 44;

function fingers(): MediaQueryList | undefined {
  return typeof matchMedia === 'function' ? matchMedia('(pointer:coarse)') : undefined;
}

function subscribe(onChange: () => void): () => void {
  const query = fingers();
  query?.addEventListener('change', onChange);
  return () => query?.removeEventListener('change', onChange);
}
