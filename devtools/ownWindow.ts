import { useEffect, useState } from 'react';
import { loadTools } from './Dressed.tsx';
import type { Opened } from './openWindow.ts';

/** A window of the panel's own, and how to open and close it. */
export interface OwnWindow {
  /** Null while the panel stands in the page. */
  readonly window: Window | null;
  /** To be called from a click. Stays in the page where the browser refuses. */
  readonly open: () => void;
  readonly close: () => void;
}

/**
 * A window of its own for what stands in the page. It goes with the page; whoever closes it finds the panel in the page
 * again.
 */
export function useOwnWindow(): OwnWindow {
  const [own, setOwn] = useState<Opened | null>(null);
  useEffect(() => own?.close, [own]);
  const close = (): void => setOwn(null);
  const open = (): void => {
    void loadTools()
      .then(({ openWindow }) => openWindow(close))
      .then(setOwn);
  };
  return { window: own && own.window, open, close };
}
