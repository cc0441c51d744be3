import { useEffect, useRef, useState, type RefObject } from 'react';

/** The drawer of chats, on screens that have no room for a column: open or not, and where the focus goes. */
export interface Drawer {
  readonly isOpen: boolean;
  readonly open: () => void;
  readonly close: () => void;
  /** The button that opens it; it has the focus back when the drawer closes. */
  readonly opener: RefObject<HTMLButtonElement | null>;
}

/** A closed drawer. It closes by itself when the screen gets room for a column. */
export function useDrawer(): Drawer {
  const [isOpen, setOpen] = useState(false);
  const opener = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!isOpen) return;
    const button = opener.current;
    const wide = matchMedia('(width > 48rem)');
    const widened = (): void => setOpen(false);
    wide.addEventListener('change', widened);
    return () => {
      wide.removeEventListener('change', widened);
      button?.focus();
    };
  }, [isOpen]);
  return { isOpen, open: () => setOpen(true), close: () => setOpen(false), opener };
}
