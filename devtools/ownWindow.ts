import { type ReactNode, useEffect, useState } from 'react';
import { useAttempt } from './attempt.tsx';
import { loadTools } from './Dressed.tsx';
import type { Opened } from './openWindow.ts';

/** The panel's own window, and how to open and close it. */
export interface OwnWindow {
  /** Null while the panel is in the page. */
  readonly window: Window | null;
  /** Opens the window; to be called from a click. */
  readonly open: () => void;
  /** Says why the browser refused. */
  readonly alert: ReactNode;
  readonly close: () => void;
}

/** A window for a part of the page. It closes with the page; after a person closes it, the panel is in the page again. */
export function useOwnWindow(): OwnWindow {
  const [own, setOwn] = useState<Opened | null>(null);
  const { alert, attempt } = useAttempt();
  useEffect(() => own?.close, [own]);
  const close = (): void => setOwn(null);
  const open = (): void => {
    // A popup is opened once: the second would be the first, and close with it.
    if (own) return;
    attempt(async () => setOwn(await (await loadTools()).openWindow(close)));
  };
  return { window: own && own.window, open, close, alert };
}
