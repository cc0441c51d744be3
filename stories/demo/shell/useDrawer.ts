import { useEffect, useRef, useState, type RefObject } from 'react';

/** The drawer of chats, on screens that have no room for a column: open or not, and where the focus goes. */
export interface Drawer {
  readonly isOpen: boolean;
  readonly open: () => void;
  readonly close: () => void;
  /** The button that opens it; it has the focus back when the drawer closes. */
  readonly opener: RefObject<HTMLButtonElement | null>;
}

/** A closed drawer. Escape closes it, and a screen that gets room for a column. */
export function useDrawer(): Drawer {
  const [isOpen, setOpen] = useState(false);
  const opener = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!isOpen) return;
    const button = opener.current;
    const wide = matchMedia('(width > 48rem)');
    const close = (): void => setOpen(false);
    const press = (event: KeyboardEvent): void => {
      if (event.key === 'Escape' && !isInside(event.target)) close();
    };
    wide.addEventListener('change', close);
    document.addEventListener('keydown', press);
    return () => {
      wide.removeEventListener('change', close);
      document.removeEventListener('keydown', press);
      button?.focus();
    };
  }, [isOpen]);
  return { isOpen, open: () => setOpen(true), close: () => setOpen(false), opener };
}

/** What was opened from the drawer closes alone. */
function isInside(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('dialog, .menu') !== null;
}
