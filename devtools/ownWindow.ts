import { useEffect, useState } from 'react';
import { loadTools } from './Dressed.tsx';
import type { Opened } from './openWindow.ts';

/** The panel's own window, and how to open and close it. */
export interface OwnWindow {
  /** Null while the panel is in the page. */
  readonly window: Window | null;
  /** Opens the window; to be called from a click. Without effect where the browser refuses. */
  readonly open: () => void;
  readonly close: () => void;
}

/** A window for a part of the page. It closes with the page; after a person closes it, the panel is in the page again. */
export function useOwnWindow(): OwnWindow {
  const [own, setOwn] = useState<Opened | null>(null);
  useEffect(() => own?.close, [own]);
  const close = (): void => setOwn(null);
  const open = (): void => {
    // A popup is opened once: the second would be the first, and close with it.
    if (own) return;
    void loadTools()
      .then(({ openWindow }) => openWindow(close))
      .then(setOwn);
  };
  return { window: own && own.window, open, close };
}
